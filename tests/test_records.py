from __future__ import annotations

import runpy
from pathlib import Path

import pandas as pd
import pytest

import evalkit
from evalkit.records import LARGEST_FILE_BYTES, decode

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def assessment() -> evalkit.Assessment:
    table = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [2, 1, 4, 3, 6, 5]})
    scenarios = [evalkit.Scenario(), evalkit.Scenario(name="clinic", known=["a", "b"])]
    slugs = ["linkability_protection_rate", "correlation_difference_ratio"]
    return evalkit.assess(evalkit.load(table, table, holdout=table), scenarios, metrics=slugs)


def test_the_published_schema_is_made_from_the_records() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_json_schema.py"))["json_schema"]()
    assert made == (ROOT / "evalkit" / "assessment.schema.json").read_bytes()


def test_an_assessment_follows_the_published_schema(assessment: evalkit.Assessment) -> None:
    import json

    import jsonschema

    schema = json.loads((ROOT / "evalkit" / "assessment.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(assessment.json()), schema)


def test_an_assessment_is_read_back_equal(assessment: evalkit.Assessment, tmp_path: Path) -> None:
    path = assessment.save(tmp_path / "assessment.json")
    assert evalkit.Assessment.read(path) == assessment
    assert [found.name for found in tmp_path.iterdir()] == ["assessment.json"]


def test_a_further_scenario_holds_only_what_depends_on_it(
    assessment: evalkit.Assessment,
) -> None:
    assert list(assessment.more_scenarios[0].results) == ["linkability_protection_rate"]
    assert assessment["linkability_protection_rate", "clinic"].status == "measured"
    with pytest.raises(KeyError):
        assessment["linkability_protection_rate", "nobody"]


def test_the_frame_has_a_row_for_each_result(assessment: evalkit.Assessment) -> None:
    frame = assessment.frame()
    assert list(frame["scenario"]) == ["all columns", "all columns", "clinic"]
    assert set(frame["verdict"]) == {"not applicable"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((b'"schema_version": 2', b'"schema_version": 99'), "newer evalkit"),
        ((b'"title":', b'"surprise": 1, "title":'), "unknown field"),
        ((b'"seed": 0', b'"seed": NaN'), "not valid JSON"),
        ((b'"seed": 0', b'"seed": 1e999'), "not"),
        ((b'"seed": 0', b'"seed": "0"'), "Expected `int`"),
        ((b"{", b"["), "got `array`"),
    ],
)
def test_a_tampered_file_gives_one_clear_line(
    assessment: evalkit.Assessment, change: tuple[bytes, bytes], said: str
) -> None:
    content = assessment.json()
    assert change[0] in content
    with pytest.raises(evalkit.InputError, match=r"assessment\.json") as caught:
        decode(content.replace(*change), "assessment.json")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(evalkit.InputError):
        decode(b"[" * 200_000, "deep.json")
    with pytest.raises(evalkit.InputError):
        decode(b'{"schema_version":' + b"[" * 200_000, "deep.json")


def test_a_missing_or_oversized_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(evalkit.InputError, match="cannot be read"):
        evalkit.Assessment.read(tmp_path / "absent.json")
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(LARGEST_FILE_BYTES + 1)
    with pytest.raises(evalkit.InputError, match="too many"):
        evalkit.Assessment.read(large)


def test_a_reproducible_build_has_a_fixed_time_and_no_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    table = pd.DataFrame({"a": range(30), "b": range(30)})
    release = evalkit.load(table, table, holdout=table)
    first, second = evalkit.assess(release), evalkit.assess(release)
    assert first.created == "2023-11-14T22:13:20Z"
    assert first.json() == second.json()
    assert all(result.seconds is None for result in first.results.values())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(evalkit.InputError, match="SOURCE_DATE_EPOCH"):
        evalkit.assess(release)
