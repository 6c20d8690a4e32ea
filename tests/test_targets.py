from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from test_contract import linked, people

import evalkit
from evalkit import targets
from evalkit.resources import folder
from evalkit.scenario import CONTEXTS
from evalkit.targets import read_profile

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = """
name: our-policy
issuer: the hospital
issuer_role: controller
date: 2026-01-05
status: internal
targets:
  - {metric: linkability_protection_rate, operator: ">=", value: VALUE, definition: same}
  - {metric: correlation_difference_ratio, operator: ">", value: 70, definition: same}
"""


@pytest.fixture
def assess_with(tmp_path: Path):  # noqa: ANN201
    release = evalkit.load(people(160, 1), people(160, 2), holdout=people(150, 3))

    def assess(text: str) -> evalkit.Assessment:
        path = tmp_path / "our-policy.yaml"
        path.write_text(text, encoding="utf-8")
        return evalkit.assess(release, profile=str(path))

    return assess


def test_a_target_is_met_or_missed_by_the_average_over_ties(assess_with) -> None:  # noqa: ANN001
    result = assess_with(PROFILE.replace("VALUE", "50"))["linkability_protection_rate"]
    assert result.verdict == "met"
    assert result.target.issuer == "the hospital"
    expected = result.facts["expected_score"]
    missed = assess_with(PROFILE.replace("VALUE", str(expected + 0.01)))
    verdict = missed["linkability_protection_rate"]
    assert verdict.verdict in {"not met", "not applicable"}


def test_the_profile_is_recorded_with_its_hash_and_date(assess_with) -> None:  # noqa: ANN001
    profile = assess_with(PROFILE.replace("VALUE", "50")).profile
    assert (profile.name, profile.date, profile.issuer_role) == (
        "our-policy",
        "2026-01-05",
        "controller",
    )
    assert len(profile.sha256) == 64


def test_a_target_that_a_perfect_copy_would_meet_cannot_tell(assess_with) -> None:  # noqa: ANN001
    result = assess_with(PROFILE.replace("VALUE", "0"))["linkability_protection_rate"]
    assert result.verdict == "not applicable"
    assert result.reason.code == "target_met_by_worthless"


def test_without_a_profile_nothing_is_met() -> None:
    table = pd.DataFrame({"a": range(40), "b": range(40)})
    assessment = evalkit.assess(evalkit.load(table, table, holdout=table * 2))
    assert assessment.profile is None
    assert {result.verdict for result in assessment.results.values()} <= {
        "no target",
        "not applicable",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("issuer: the hospital\n", ""), "issuer"),
        (("VALUE", "high"), "float"),
        (("linkability_protection_rate", "k_anonymity"), "no metric 'k_anonymity'"),
        (("correlation_difference_ratio", "linkability_protection_rate"), "two targets"),
        (("definition: same}\n  -", "definition: same, unit: avatars}\n  -"), "measured in '%'"),
        (("name: our-policy", "name: !!python/object/apply:os.system ['true']"), "of the type"),
        (("name: our-policy", "name: &a x\nissuer_role: *a"), "aliases"),
        (("\nname", "\n- name"), "YAML"),
    ],
)
def test_a_bad_profile_gives_one_clear_line(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    path = tmp_path / "bad.yaml"
    text = PROFILE.replace(*change).replace("VALUE", "50")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(evalkit.InputError) as caught:
        read_profile(str(path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_profile_or_a_missing_file_is_said() -> None:
    for name in ("vendor", "../secret", "absent.yaml"):
        with pytest.raises(evalkit.InputError):
            read_profile(name)


SHIPPED = sorted(path.stem for path in (folder("report_templates") / "targets").glob("*.yaml"))
STATED = {  # metric, operator, value; nothing else was published that is measured here
    "vendor-2026": {
        ("hidden_rate", ">=", 50.0),
        ("hellinger", ">", 70.0),
        ("correlation_difference_ratio", ">", 70.0),
    },
    "vendor-legacy": {
        ("hidden_rate", ">", 90.0),
        ("local_cloaking", ">", 5.0),
        ("categorical_hidden_rate", ">", 90.0),
        ("row_direct_match_protection", ">", 90.0),
        ("column_direct_match_protection", ">", 50.0),
        ("correlation_protection_rate", ">", 95.0),
    },
}


def test_the_shipped_profiles_are_those_that_are_stated() -> None:
    assert set(SHIPPED) == set(STATED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_profile_states_its_issuer_source_and_caveat_in_both_languages(
    name: str,
) -> None:
    from evalkit.yaml_file import parse_yaml

    _, fields = parse_yaml(folder("report_templates") / "targets" / f"{name}.yaml", "profile")
    profile = read_profile(name)
    assert profile is not None
    record = profile.record
    assert (record.name, record.issuer, record.issuer_role) == (name, "Octopize", "vendor")
    assert set(fields["caveat"]) == set(fields["title"]) == {"en", "fr"}
    assert record.source["title"]
    assert record.source["read"]
    assert len(record.sha256) == 64
    found = {(slug, one.operator, one.value) for slug, one in record.targets.items()}
    assert found == STATED[name]


def test_a_target_whose_formula_is_not_published_is_for_a_similar_quantity() -> None:
    newer, older = read_profile("vendor-2026"), read_profile("vendor-legacy")
    assert newer is not None
    assert older is not None
    assert newer.record.targets["hellinger"].definition == "similar"
    assert newer.record.targets["hidden_rate"].definition == "same"
    assert (newer.record.status, older.record.status) == ("published", "superseded")
    assert older.record.targets["categorical_hidden_rate"].definition == "similar"


def test_a_shipped_profile_may_name_metrics_that_this_version_does_not_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(targets, "_slugs", lambda: ["hidden_rate"])
    profile = read_profile("vendor-2026")
    assert profile is not None
    assert set(profile.targets) == {"hidden_rate"}
    assert profile.record.unmeasured == ["hellinger", "correlation_difference_ratio"]
    assert set(profile.record.targets) == {
        "hidden_rate",
        "hellinger",
        "correlation_difference_ratio",
    }


def test_a_copy_of_a_shipped_profile_is_the_users_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = (folder("report_templates") / "targets" / "vendor-2026.yaml").read_bytes()
    (tmp_path / "vendor-2026.yaml").write_bytes(text)
    monkeypatch.setattr(targets, "_slugs", lambda: ["hidden_rate"])
    with pytest.raises(evalkit.InputError, match="no metric 'hellinger'"):
        read_profile(str(tmp_path / "vendor-2026.yaml"))


def test_a_profile_asks_for_the_legacy_metrics_that_it_names() -> None:
    original = people(60, 1)
    release = evalkit.load(original, linked(original, 2), row_link=True)
    found = evalkit.assess(release, profile="vendor-legacy")
    assert found["categorical_hidden_rate"].target.value == 90.0
    assert found["local_cloaking"].unit == "avatars"
    assert found["local_cloaking"].verdict in {"met", "not met"}
    assert "categorical_hidden_rate" not in evalkit.assess(release).results


def test_what_needs_a_row_link_is_not_judged_without_one() -> None:
    found = evalkit.assess(evalkit.load(people(60, 1), people(60, 2)), profile="vendor-legacy")
    assert found["hidden_rate"].verdict == "not applicable"


@pytest.mark.parametrize(
    ("recipient", "contexts", "code"),
    [
        ("contractual third party", ["public"], "other_recipient"),
        ("Contractual_Third-Party", ["contractual-third-party"], None),
        ("contractual third party", ["contractual-third-party", "internal"], "other_recipient"),
        ("contractual third party", [None], "recipient_not_named"),
        (None, ["public"], None),
        (None, [None], None),
        ("outside EU", ["outside-eu"], None),
    ],
)
def test_a_profile_for_another_recipient_is_judged_with_a_warning(
    tmp_path: Path, recipient: str | None, contexts: list[str | None], code: str | None
) -> None:
    assert set(contexts) - {None} <= set(CONTEXTS)
    path = tmp_path / "policy.yaml"
    context = f"context: {{recipient: {recipient or 'null'}}}\n"
    path.write_text(context + PROFILE.strip().replace("VALUE", "50"), encoding="utf-8")
    release = evalkit.load(people(60, 1), people(60, 2), people(60, 3))
    scenarios = [
        evalkit.Scenario(name=str(number), context=one) for number, one in enumerate(contexts)
    ]
    found = evalkit.assess(release, scenarios, profile=str(path))
    assert [message.code for message in found.profile.warnings] == ([code] if code else [])
    assert found["linkability_protection_rate"].target is not None
