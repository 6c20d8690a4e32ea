from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from reference import information_oracle as oracle

import evalkit

SLUG = "mutual_information_ratio"
SIZES = [(500, 500, 500), (500, 100, 500), (500, 500, 125)]


def measured(
    working: pd.DataFrame,
    avatars: pd.DataFrame,
    holdout: pd.DataFrame | None = None,
    **options: Any,
) -> evalkit.Result:
    return evalkit.measure(SLUG, working, avatars, holdout, **options)


def resampled(table: pd.DataFrame, share: float, seed: int = 3) -> pd.DataFrame:
    """Return the table with a share of the cells of each column drawn from that column."""
    rng = np.random.default_rng(seed)
    return table.assign(
        **{
            name: np.where(rng.random(len(table)) < share, rng.permutation(column), column)
            for name, column in table.items()
        }
    )


def as_lists(table: pd.DataFrame) -> oracle.Table:
    return {
        str(name): [
            cell if isinstance(cell, str) else None if math.isnan(cell) else float(cell)
            for cell in column
        ]
        for name, column in table.items()
    }


def values_by_pair(facts: dict[str, Any]) -> dict[tuple[str, str], tuple[float, ...]]:
    names = ("working", "avatars", "holdout")
    variables = facts["matrix_variables"]
    return {
        (min(first, second), max(first, second)): tuple(
            facts[f"matrix_{key}"][i][j] for key in names
        )
        for i, first in enumerate(variables)
        for j, second in enumerate(variables[i + 1 :])
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_score_equals_the_oracle_with_missing_cells_and_rare_levels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = [people(150, 10 * seed + k) for k in range(3)]
    tables[1] = resampled(tables[1], 0.5)
    for k, table in enumerate(tables):
        table.loc[rng.random(150) < 0.2, "pressure"] = np.nan
        table.loc[rng.random(150) < 0.1, "smoker"] = np.nan
        table.loc[:5, "town"] = f"hamlet {k}"
        table["flag"] = (rng.random(150) < 0.15).astype(float)
    tables[2]["weight"] = 70.0
    found = measured(*tables)
    working, avatars, holdout = (as_lists(table) for table in tables)
    assert found.score == pytest.approx(oracle.score(working, holdout, avatars), abs=1e-8)
    assert 0 < found.score < 100


def test_the_example_of_the_page_by_hand() -> None:
    from evalkit.metrics.mutual_information_ratio import ratio

    assert ratio(100 * 0.01, 100 * 0.04, 1.0) == 25
    assert ratio(100 * 0.01, 100 * 0.01, 1.0) == 100


def test_the_reference_is_scaled_up_from_2000_rows_on() -> None:
    tables = [people(2420, seed) for seed in (1, 2, 3)]
    tables[1] = resampled(tables[1], 0.3)
    found = measured(*tables)
    assert found.facts["kappa"] == pytest.approx(1.1)
    working, avatars, holdout = (as_lists(table) for table in tables)
    assert found.score == pytest.approx(oracle.score(working, holdout, avatars), abs=1e-8)


@pytest.mark.parametrize("sizes", [(300, 300, 300), (400, 400, 120), (300, 500, 200)])
def test_a_copy_scores_100_at_any_size_of_the_holdout(sizes: tuple[int, int, int]) -> None:
    table = people(sizes[0], 1)
    result = measured(table, table.sample(frac=1, random_state=2), people(sizes[2], 3))
    assert result.score == 100
    assert result.facts["avatar_difference"] == 0


@pytest.mark.parametrize("sizes", SIZES)
def test_unseen_real_rows_reach_100_within_the_interval(sizes: tuple[int, int, int]) -> None:
    results = [
        measured(
            people(sizes[0], 100 * deal),
            people(sizes[2], 100 * deal + 1),
            people(sizes[1], 100 * deal + 2),
        )
        for deal in range(5)
    ]
    # One interval in 40 misses 100 by luck; two of five would not be luck.
    assert sum(result.interval[1] < 100 for result in results) <= 1
    assert np.mean([result.facts["real_score"] for result in results]) > 75


@pytest.mark.parametrize("sizes", SIZES)
def test_shuffled_columns_sit_at_the_floor(sizes: tuple[int, int, int]) -> None:
    working, holdout, avatars = (people(rows, rows + k) for k, rows in enumerate(sizes))
    scores = [measured(working, resampled(avatars, 1.0, seed), holdout).score for seed in range(4)]
    kept = measured(working, avatars, holdout)
    assert np.mean(scores) == pytest.approx(kept.facts["floor_score"], rel=0.15)
    assert max(scores) < kept.score


def test_the_number_of_rows_does_not_move_the_score_beyond_its_interval() -> None:
    avatars = resampled(people(900, 2), 0.4)
    results = [
        measured(people(600, 1), avatars.head(rows), people(holdout, 3))
        for rows, holdout in ((600, 600), (900, 600), (600, 250), (300, 600))
    ]
    for one in results[1:]:
        assert max(one.interval[0], results[0].interval[0]) <= min(
            one.interval[1], results[0].interval[1]
        )


@cache
def with_and_without() -> tuple[tuple[pd.DataFrame, ...], evalkit.Result]:
    tables = people(300, 1), resampled(people(300, 2), 0.3), people(200, 3)
    return tables, measured(*tables)


@pytest.mark.parametrize("kind", ["constant", "empty", "identifier", "rare levels only"])
def test_a_column_that_says_nothing_changes_no_score_and_no_pair(kind: str) -> None:
    tables, before = with_and_without()
    columns = {
        "constant": lambda rows, _: ["France"] * rows,
        "empty": lambda rows, _: [None] * rows,
        "identifier": lambda rows, k: [f"P{1000 * k + n:05d}x" for n in range(rows)],
        "rare levels only": lambda rows, _: [f"g{n % 60}" for n in range(rows)],
    }
    changed = [table.assign(added=columns[kind](len(table), k)) for k, table in enumerate(tables)]
    after = measured(*changed)
    assert after.score == before.score
    assert after.interval == before.interval
    assert values_by_pair(after.facts) == values_by_pair(before.facts)
    assert "added" not in after.facts["variables"]


def test_one_more_variable_changes_no_value_of_another_pair_at_equal_sizes() -> None:
    tables = people(200, 1), people(200, 2), people(200, 3)
    rng = np.random.default_rng(0)
    before = values_by_pair(measured(*tables).facts)
    changed = [table.assign(noise=rng.normal(size=200).round(3)) for table in tables]
    after = values_by_pair(measured(*changed).facts)
    assert {pair: after[pair] for pair in before} == before


def test_the_more_cells_are_resampled_the_lower_the_score() -> None:
    table, holdout = people(500, 41), people(500, 42)
    scores = [
        measured(table, resampled(table, share), holdout).score for share in (0.0, 0.1, 0.3, 0.6)
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 100
    assert scores[-1] < 60


def test_it_sees_a_curve_that_no_correlation_sees() -> None:
    def curved(rows: int, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=rows)
        return pd.DataFrame({"x": x.round(3), "y": (x**2 + rng.normal(0, 0.2, rows)).round(3)})

    working, holdout = curved(500, 1), curved(500, 2)
    shuffled = resampled(curved(500, 3), 1.0)
    assert measured(working, shuffled, holdout).score < 20
    slug = "correlation_difference_ratio"
    assert evalkit.measure(slug, working, shuffled, holdout).interval[1] == 100


def test_the_worst_pair_comes_first_and_facts_hold_no_level() -> None:
    tables, _ = with_and_without()
    original, _, holdout = tables
    avatars = original.assign(age=np.random.default_rng(0).permutation(original["age"]))
    facts = measured(original, avatars, holdout).facts
    pairs = facts["worst_pairs"]
    assert {"age", "pressure"} == {pairs[0]["first"], pairs[0]["second"]}
    sizes = [abs(pair["change"]) for pair in pairs]
    assert sizes == sorted(sizes, reverse=True)
    assert len(pairs) <= 10
    assert not any(town in str(facts) for town in ("Aix", "Brest", "Caen"))


def test_more_than_50_columns_are_dealt_20_times() -> None:
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame(rng.normal(size=(rows, 55)).round(2)).add_prefix("v")
        for rows in (130, 110, 100)
    ]
    result = measured(*tables)
    assert result.facts["redeal_count"] == 20
    assert result.facts["cut_count"] == 20
    assert len(result.facts["variables"]) == 55
    assert "fewer than the usual 200" in page_text(SLUG, result)


def test_a_holdout_equal_to_the_originals_gives_no_verdict() -> None:
    table = people(200, 1)
    result = measured(table, people(200, 2), table)
    assert result.score == 0
    assert result.verdict == "not applicable"
    assert "no independent reference" in page_text(SLUG, result)


def test_a_column_that_collapsed_counts_as_0_and_is_named() -> None:
    tables, _ = with_and_without()
    original, avatars, holdout = tables
    result = measured(original, avatars.assign(town="Aix"), holdout)
    assert result.facts["collapsed"] == [{"variable": "town", "table": "avatars"}]
    assert "collapsed_relations" in [warning.code for warning in result.warnings]
    assert "has a single level among the avatars" in page_text(SLUG, result)


def test_under_90_rows_and_with_one_variable_it_is_not_applicable() -> None:
    result = measured(people(200, 1), people(200, 2), people(89, 3))
    assert result.status == "not applicable"
    assert "90 rows" in result.reason.text
    one = [people(200, seed)[["town"]] for seed in range(3)]
    assert measured(*one).reason.code == "too_few_varying"
    assert measured(people(90, 1), people(90, 2), people(90, 3)).status == "measured"


def test_a_small_holdout_and_few_rows_are_said() -> None:
    result = measured(people(400, 1), people(400, 2), people(120, 3))
    codes = [warning.code for warning in result.warnings]
    assert "cut_to_small_holdout" in codes
    assert "few_rows_in_cut" in codes
    assert "cut to its size" in page_text(SLUG, result)


def test_an_approximate_holdout_gives_a_range_over_50_splits() -> None:
    result = measured(people(300, 1), resampled(people(300, 2), 0.5))
    facts = result.facts
    assert (facts["n_cut"], facts["split_count"]) == (150, 50)
    assert 0 <= facts["split_low"] < facts["split_high"] <= 100
    assert "range over splits" in page_text(SLUG, result, holdout_kind="approximate")


@pytest.mark.parametrize("avatars", ["copy", "unseen", "resampled", "two columns"])
def test_the_page_says_what_the_result_shows(avatars: str) -> None:
    tables, _ = with_and_without()
    original, moved, holdout = tables
    chosen = {"copy": original, "unseen": people(300, 5), "resampled": moved, "two columns": moved}
    names = ["age", "pressure"] if avatars == "two columns" else list(original)
    result = measured(original[names], chosen[avatars][names], holdout[names])
    said = page_text(SLUG, result)
    assert ("to the last digit" in said) == (avatars == "copy")
    assert "Miller" in said


def test_every_sentence_of_the_page_has_a_line_of_its_own() -> None:
    assert_one_sentence_a_line(SLUG)
