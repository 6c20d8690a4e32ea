"""Values without a type, as notebooks and callers hand them over, give one clear line."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.errors import InputError
from evalkit.given_values import plain_fields, shown

TABLE = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
SLUG = "correlation_difference_ratio"
HALF = "\ud800"


def one_line(caught: pytest.ExceptionInfo[InputError]) -> str:
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": [","]}, "delimiter"),
        ({"delimiter": 5}, "delimiter"),
        ({"encoding": 5}, "encoding: 5 is no text"),
        ({"encoding": "x" * 10**5}, "is unknown"),
        ({"encoding": "rot13"}, "is unknown"),
        ({"encoding": "a\0b"}, "is unknown"),
        ({"decimal": [1]}, "decimal"),
        ({"on_mismatch": {}}, "on-mismatch"),
        ({"row_link": "yes"}, "row_link: 'yes' is neither true nor false"),
        ({"row_link": 1}, "row_link"),
        ({"axes": "5"}, "axes"),
        ({"axes": np.float64(5.0)}, "axes"),
        ({"seed": 10**5000}, "seed"),
        ({"ignore": "x" * 10**5}, "ignore: give a list"),
        ({"ignore": ["x" * 10**5]}, "no column"),
        ({"missing": [HALF]}, "missing: holds characters that are not valid text"),
        ({"schema": {"columns": {1: {"type": 10**5000}}}}, "type of column 1"),
        ({"schema": {1: 2}}, "unknown key 1"),
    ],
)
def test_load_refuses_options_of_the_wrong_type(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        evalkit.load(TABLE, TABLE, **options)
    assert said in one_line(caught)


@pytest.mark.parametrize("role", ["original", "avatars"])
@pytest.mark.parametrize("source", [None, 5, [1, 2], "a\0b", "x" * 300, HALF])
def test_load_refuses_what_is_no_table(role: str, source: Any) -> None:
    tables = {"original": TABLE, "avatars": TABLE, role: source}
    with pytest.raises(InputError) as caught:
        evalkit.load(tables["original"], tables["avatars"])
    one_line(caught)


@pytest.mark.parametrize(
    "options",
    [
        {"name": 5},
        {"name": HALF},
        {"known": "age"},
        {"known": [5]},
        {"known": 5},
        {"known": [HALF]},
        {"sensitive": 5},
        {"sensitive": ["age"]},
        {"context": []},
        {"context": "x" * 10**5},
        {"min_count": 1},
        {"min_count": True},
        {"min_count": 11.0},
        {"seed": -1},
        {"seed": "1"},
        {"seed": 10**5000},
    ],
)
def test_a_scenario_refuses_values_of_the_wrong_type(options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        evalkit.Scenario(**options)
    assert next(iter(options)) in one_line(caught)


def test_whole_numbers_and_truth_values_of_numpy_are_accepted() -> None:
    scenario = evalkit.Scenario(seed=np.int64(3), min_count=np.int32(5))
    assert (type(scenario.seed), type(scenario.min_count)) == (int, int)
    release = evalkit.load(TABLE, TABLE, axes=np.int64(2), seed=np.uint8(4), row_link=np.True_)
    assert (release.axes, release.seed, release.row_link) == (2, 4, True)
    assert evalkit.measure(SLUG, TABLE, TABLE, TABLE, seed=np.int64(1)).score == 100.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"title": 5}, "title: 5 is no text"),
        ({"title": HALF}, "title: holds characters that are not valid text"),
        ({"assessor": None}, "assessor"),
        ({"reviewer": 5}, "reviewer"),
        ({"language": 5}, "language"),
        ({"metrics": [1]}, "metrics: give a list of texts"),
        ({"metrics": SLUG}, "metrics: give a list of texts"),
        ({"metrics": 5}, "metrics: give a list of texts"),
        ({"profile": 5}, "profile: 5 is no text"),
        ({"profile": None}, "profile: None is no text"),
        ({"profile": "x" * 10**5}, "profile"),
        ({"declared": [1]}, "declared: [1] is no mapping"),
        ({"declared": {"a": {1, 2}}}, "declared: may hold"),
        ({"declared": {"a": float("nan")}}, "declared: may hold"),
        ({"declared": {"a": HALF}}, "declared: may hold"),
        ({"declared": {(1, 2): "a"}}, "declared: may hold"),
        ({"options": 5}, "options: 5 is no mapping"),
        ({"scenario": "x"}, "scenario: 'x' is neither"),
        ({"scenario": ["x"]}, "scenario: ['x'] is neither"),
    ],
)
def test_assess_refuses_values_of_the_wrong_type(options: dict[str, Any], said: str) -> None:
    release = evalkit.load(TABLE, TABLE, holdout=TABLE)
    with pytest.raises(InputError) as caught:
        evalkit.assess(release, **{"metrics": [SLUG], **options})
    assert said in one_line(caught)


def test_assess_refuses_what_load_did_not_return() -> None:
    with pytest.raises(InputError, match=r"give what evalkit\.load returns"):
        evalkit.assess(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("frame", [None, 5, "people.csv"])
def test_split_refuses_what_is_no_frame(frame: Any) -> None:
    with pytest.raises(InputError, match="is no DataFrame"):
        evalkit.split(frame)


@pytest.mark.parametrize("slug", [5, None, [SLUG]])
def test_measure_refuses_a_slug_that_is_no_text(slug: Any) -> None:
    with pytest.raises(InputError, match="metrics: give a list of texts"):
        evalkit.measure(slug, TABLE, TABLE, TABLE)


def test_metrics_may_come_one_by_one_for_several_scenarios() -> None:
    scenarios = [evalkit.Scenario("a", known=["age"]), evalkit.Scenario("b", known=["size"])]
    release = evalkit.load(TABLE, TABLE, holdout=TABLE)
    slugs = (slug for slug in ["linkability_protection_rate"])
    found = evalkit.assess(release, scenarios, metrics=slugs)
    assert list(found.more_scenarios[0].results) == ["linkability_protection_rate"]


def test_declared_values_are_archived_in_plain_types() -> None:
    given = {"rows": np.int64(3), "share": np.float32(0.5), "on": dt.date(2026, 1, 2), 7: (True,)}
    plain = {"rows": 3, "share": 0.5, "on": "2026-01-02", "7": [True]}
    assert plain_fields("declared", given) == plain
    assert plain_fields("declared", None) == {}


def test_a_long_value_is_cut_where_it_is_shown() -> None:
    assert len(shown("x" * 10**5)) < 70
    assert shown(10**5000) == "a value of type int"


def test_a_cell_with_half_a_character_is_refused_by_its_column() -> None:
    table = pd.DataFrame({"note": pd.Series(["a", HALF], dtype=object)})
    with pytest.raises(InputError, match="original, column 'note': a cell holds characters"):
        evalkit.load(table, table)


def test_an_ignored_column_that_is_known_or_sensitive_is_called_ignored() -> None:
    table = pd.DataFrame({"sex": ["f", "m"] * 30, "age": range(60), "n": [1, 2, 3] * 20})
    release = evalkit.load(table, table, ignore=["sex", "age"])
    for name in ("sex", "age"):
        for scenario in (evalkit.Scenario(known=[name]), evalkit.Scenario(sensitive=name)):
            with pytest.raises(InputError) as caught:
                scenario.settled(release.schema)
            assert f"column '{name}' is ignored, as asked" in one_line(caught)
            assert "type" not in one_line(caught)


def test_a_left_out_identifier_is_called_one() -> None:
    table = pd.DataFrame({"patient_id": range(60), "n": [1, 2, 3] * 20})
    with pytest.raises(InputError, match=r"was left out \(identifier\)"):
        evalkit.Scenario(known=["patient_id"]).settled(evalkit.load(table, table).schema)
