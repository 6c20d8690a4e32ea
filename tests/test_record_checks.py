"""A file of an assessment that was changed by hand is refused in one line, never shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from sample_assessment import sample

import evalkit
from evalkit.cli import main
from evalkit.records import Assessment, decode
from evalkit.report.document import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SLUG = "linkability_protection_rate"


def changed(path: str, value: Any) -> bytes:
    """Return the JSON of the sample with one field changed; ``delete`` takes it away."""
    content = json.loads(sample().json())
    place = content
    *way, last = path.split(".")
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value == "delete":
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("created", "yesterday"),
        (f"results.{SLUG}.status", "foo"),
        (f"results.{SLUG}.verdict", "foo"),
        (f"results.{SLUG}.section", "foo"),
        (f"results.{SLUG}.basis", "foo"),
        (f"results.{SLUG}.criterion", None),
        (f"results.{SLUG}.criterion", "unknown"),
        (f"results.{SLUG}.level", "bivariate"),
        (f"results.{SLUG}.unit", "miles"),
        (f"results.{SLUG}.direction", "lower"),
        (f"results.{SLUG}.target.operator", "<"),
        (f"results.{SLUG}.target.value", 1e300),
        (f"results.{SLUG}.score", 1e308),
        (f"results.{SLUG}.score", -5),
        (f"results.{SLUG}.score", None),
        (f"results.{SLUG}.status", "not applicable"),
        (f"results.{SLUG}.interval", [90, 10]),
        (f"results.{SLUG}.interval", [-1e9, 10]),
        ("release.original.rows", -5),
        ("release.avatars.columns", -1),
        ("release.n_working", -1),
        ("release.holdout_kind", "foo"),
        ("release.variables.0.missing_share", 7),
        ("scenario.min_count", 0),
        ("scenario.min_count", -(10**15)),
        (f"profile.targets.{SLUG}", {"operator": "x", "value": 1, "issuer": "", "definition": ""}),
    ],
)
def test_a_value_that_no_run_can_have_produced_is_refused(path: str, value: object) -> None:
    with pytest.raises(evalkit.InputError, match=r"^assessment\.json: ") as caught:
        decode(changed(path, value), "assessment.json")
    assert any(key in str(caught.value) for key in path.rsplit(".", maxsplit=2)[-2:])
    assert "another version" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_linked", "delete"),
        ("n_linked", "x"),
        ("excess_interval", [0.1, None]),
        ("excess_interval", "x"),
        ("success_share", "x"),
        ("known_a", 5),
        ("expected_score", "x"),
    ],
)
def test_facts_that_a_page_cannot_use_are_one_line_naming_the_result(
    key: str, value: object
) -> None:
    if key == "known_a" and key not in sample().results[SLUG].facts:
        pytest.skip("the sample has no such fact")
    found = decode(changed(f"results.{SLUG}.facts.{key}", value), "assessment.json")
    with pytest.raises(evalkit.InputError) as caught:
        Report(found).html()
    assert str(caught.value) == (
        f"assessment.json: result {SLUG} does not hold what its page needs; the file was changed "
        "or is of another version."
    )


def test_the_same_facts_without_a_file_are_an_error_of_ours() -> None:
    first = sample()
    broken = replace(first.results[SLUG], facts={})
    with pytest.raises(Exception) as caught:  # noqa: PT011 - anything but what blames a file
        Report(replace(first, results={SLUG: broken})).html()
    assert not isinstance(caught.value, evalkit.InputError)


def test_the_command_line_tells_it_in_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "assessment.json"
    path.write_bytes(changed(f"results.{SLUG}.facts", {}))
    assert main(["render", str(path), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"evalkit: assessment.json: result {SLUG} does not hold")
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_read_back_is_never_written(tmp_path: Path) -> None:
    first = sample()
    result = replace(first.results[SLUG], score=float("nan"))
    unreadable = replace(first, results={SLUG: result})
    writers: list[Callable[[], object]] = [
        lambda: unreadable.save(tmp_path / "a.json"),
        lambda: Report(unreadable).save(tmp_path),
        lambda: replace(first, title="\ud800").json(),
    ]
    for write in writers:
        with pytest.raises(evalkit.InputError):
            write()
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalkit.records.LARGEST_FILE_BYTES", 1000)
    with pytest.raises(evalkit.InputError, match="too many for an assessment"):
        Assessment.read("/dev/zero")
    with pytest.raises(evalkit.InputError, match="cannot be read"):
        Assessment.read("a\0b")


def test_an_unknown_slug_or_scenario_is_told_with_those_that_there_are() -> None:
    with pytest.raises(KeyError, match=f"no result 'x'; there is: .*{SLUG}"):
        sample()["x"]
    with pytest.raises(KeyError, match="no scenario 'x'; there is: "):
        sample()[SLUG, "x"]


def test_the_frame_shows_the_number_that_the_interval_belongs_to() -> None:
    first = sample()
    facts = {**first.results[SLUG].facts, "expected_score": 81.5}
    result = replace(first.results[SLUG], score=70.0, interval=(80.0, 83.0), facts=facts)
    row = replace(first, results={SLUG: result}).frame().iloc[0]
    assert row["low"] <= row["score"] == 81.5 <= row["high"]


BINS = {"name": "age", "type": "numeric", "bins": ["up to 1", "over 1"], "edges": [1.0]} | {
    "original": [0.5, 0.5],
    "avatars": [0.4, 0.6],
    "holdout": None,
    "original_missing": 0.0,
    "avatars_missing": 0.1,
    "holdout_missing": None,
}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"original": [0.5, 1.5]}, "original is no share"),
        ({"avatars": [0.5]}, "avatars has another number of shares"),
        ({"avatars": None}, "shows originals or avatars alone"),
        ({"avatars_missing": -0.1}, "avatars is no share"),
        ({"edges": [1.0, 2.0]}, "edges has another number"),
        ({"bins": ["a"] * 3, "edges": [2.0, 1.0]} | {"original": [0.3] * 3, "avatars": [0.3] * 3},
         "edges does not ascend"),
    ],
)  # fmt: skip
def test_a_distribution_that_cannot_be_is_refused(changes: dict[str, Any], field: str) -> None:
    assert decode(changed("distributions", [BINS]), "a.json").distributions[0].name == "age"
    with pytest.raises(evalkit.InputError, match=field):
        decode(changed("distributions", [BINS | changes]), "a.json")


def analysed(times: int = 1, **changes: Any) -> bytes:
    """Return the JSON of the sample with an analysis, something in it changed."""
    estimate = {"value": 2.0, "low": 1.0, "high": 3.0, "p_value": 0.01}
    term = {"name": "age", "original": estimate, "avatars": dict(estimate), "holdout": None}
    term |= {"overlap": 1.0, "holdout_overlap": None, "same_sign": True, "same_finding": True}
    record: dict[str, Any] = {"name": "A", "kind": "linear", "formula": "income ~ age"}
    record |= {"status": "measured", "reason": None, "rows": {"original": 40}, "terms": [term]}
    for key, value in changes.items():
        place = estimate if key in estimate else term if key in term else record
        place[key] = value
    content = json.loads(sample().json())
    content["analyses"] = [record] * times
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "magic"}, "analyses\\[0\\].kind is none of"),
        ({"status": "foo"}, "status is none of"),
        ({"rows": {"original": -4}}, "rows is no count"),
        ({"rows": {"nobody": 4}}, "rows is no count"),
        ({"terms": []}, "terms must be there"),
        ({"low": 9.0}, "terms\\[0\\].original lies outside its own interval"),
        ({"p_value": 1e308}, "original.p_value is no share"),
        ({"overlap": -1.0}, "overlap is no share"),
        ({"times": 51}, "analyses holds more than 50"),
    ],
)
def test_an_analysis_that_cannot_be_is_refused(changes: dict[str, Any], field: str) -> None:
    """The user's own analyses are checked like every other number of the file."""
    decode(analysed(), "assessment.json")
    with pytest.raises(evalkit.InputError, match=field):
        decode(analysed(**changes), "assessment.json")
