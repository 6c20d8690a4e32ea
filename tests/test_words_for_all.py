"""Words that stand for everything, and what the controller declares under any spelling."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import yaml

import evalkit
from evalkit import InputError, cli
from evalkit.commands import assess as assess_command
from evalkit.report.declared import declared_keys, field_key, unknown_fields
from evalkit.report.subject import by_key
from evalkit.running import parameters
from evalkit.targets import read_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
TABLE = pd.DataFrame(
    {
        "age": [20, 31, 42, 53, 64] * 8,
        "sex": ["f", "m"] * 20,
        "town": ["Nice", "Lyon", "Brest", "Nice"] * 10,
    }
)


def known(frame: pd.DataFrame, *given: str) -> list[tuple[str, Any]]:
    release = evalkit.load(frame, frame, frame)
    found = evalkit.assess(release, parameters.scenarios(given), metrics=["hidden_rate"])
    return [(one.scenario.name, tuple(one.scenario.known)) for one in found.scenarios()]


def test_all_stands_for_every_column_and_is_declared() -> None:
    every = ("age", "sex", "town")
    assert known(TABLE, "all", "worst=all", "age,sex") == [
        ("all columns", every),
        ("worst", every),
        ("known columns", ("age", "sex")),
    ]
    schema = evalkit.load(TABLE, TABLE).schema
    settled = evalkit.Scenario(known="all").settled(schema)
    assert settled.known == every
    assert settled.known_declared
    assert not evalkit.Scenario().settled(schema).known_declared


def test_a_column_that_is_called_all_comes_first() -> None:
    assert known(TABLE.rename(columns={"sex": "all"}), "all") == [("known columns", ("all",))]


def test_all_beside_a_name_is_a_column_like_any_other() -> None:
    with pytest.raises(InputError, match="--known: there is no column 'all'"):
        known(TABLE, "all,age")
    with pytest.raises(InputError, match="known: give a list of column names, not the text 'age'"):
        evalkit.Scenario(known="age")


@pytest.mark.parametrize("given", ["all", ["all"], ["all", "hellinger"]])
def test_all_metrics_are_all_of_them(given: Any) -> None:
    from evalkit.assessment import _chosen

    assert _chosen(given) == list(evalkit.metrics.all())
    assert len(_chosen(None)) < len(evalkit.metrics.all())


def test_an_unknown_metric_is_told_where_the_names_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(InputError, match=r"^There is no metric 'h'; 'evalkit metrics' lists"):
        evalkit.metrics.get("h")
    assert cli.main(["metrics"]) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    marked = {block.partition(":")[0] for block in blocks if "only where it is asked for" in block}
    assert marked == {metric.slug for metric in evalkit.metrics.all() if metric.legacy}


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("harm to groups", "group_harm"),
        ("Harm-to-groups", "group_harm"),
        ("group harm", "group_harm"),
        ("Sensitivity", "sensitivity"),
        ("Préjudice pour des groupes", "group_harm"),
        ("Purpose", "purpose"),
        ("treatment", "treatment"),
        ("colour of the sky", "colour_of_the_sky"),
    ],
)
def test_a_field_fills_its_row_under_any_spelling(written: str, key: str) -> None:
    assert field_key(written) == key
    assert by_key({written: "none"}) == {key: "none"}


def test_every_field_is_found_under_the_name_that_the_report_prints() -> None:
    for language in ("en", "fr"):
        path = ROOT / f"report_templates/technical_assessment/{language}/context.yaml"
        words = yaml.safe_load(path.read_text(encoding="utf-8"))
        pairs = [pair for group in words.values() if isinstance(group, list) for pair in group]
        assert len(pairs) > 30
        assert [(key, label) for key, label in pairs if field_key(label) != key] == []


def test_the_command_says_which_declared_field_has_no_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    declared = {"Harm to groups": "none", "colour of the sky": "blue"}
    assert unknown_fields(declared) == ["colour of the sky"]
    release = evalkit.load(TABLE, TABLE, TABLE)
    made = evalkit.assess(release, metrics=["hellinger"], declared=declared)

    def run(_: object, *, finished: Any, **__: object) -> None:
        made.save(tmp_path / "assessment.json")
        finished(tmp_path)

    monkeypatch.setattr("evalkit.running.run", run)
    assert assess_command.assess_and_print({}, tmp_path) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("evalkit: declared: 'colour of the sky' is no field of the report")


def test_the_page_on_declaring_lists_every_field() -> None:
    page = (ROOT / "docs" / "declaring.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == declared_keys()


def test_the_profile_on_the_page_of_targets_can_be_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
    path = tmp_path / "ours.yaml"
    path.write_text(next(fenced(page, "yaml")), encoding="utf-8")
    profile = read_profile(str(path))
    assert profile is not None
    assert len(profile.targets) == 2
    shipped = {one.stem for one in (ROOT / "report_templates" / "targets").glob("*.yaml")}
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) >= shipped


def test_the_snippet_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("original", "avatars", "holdout")):
        frame = TABLE.assign(age=(TABLE["age"] + number * 7 + TABLE.index) % 90)
        frame.assign(size=frame["age"] * 2).to_csv(f"{name}.csv", index=False)
    snippet = next(fenced((ROOT / "README.md").read_text(encoding="utf-8"), "python"))
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102 - the page's own code
    assert (tmp_path / "reports" / "mine" / "assessment.json").exists()


def fenced(page: str, language: str) -> Iterator[str]:
    """Yield what stands in fences of a language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
