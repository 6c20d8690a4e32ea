from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from test_contract import people

import evalkit
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
        (("name: our-policy", "name: !!python/object/apply:os.system ['true']"), "YAML"),
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
