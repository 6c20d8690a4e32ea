from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference import correlation_oracle as oracle
from vectors import cases, real_table

import evalkit
from evalkit.figures.sets import full_square
from evalkit.kernels.correlations import Deals, correlations
from evalkit.metrics.correlation_difference_ratio import ratio
from evalkit.quantities_matrices import block_order, shown_matrices

SLUG = "correlation_difference_ratio"


def correlated(rows: int, seed: int, *, strength: float = 0.7, columns: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(rows, 1))
    own = rng.normal(size=(rows, columns))
    values = strength * shared + (1 - strength) * own
    return pd.DataFrame(values.round(3), columns=list("abcdefgh"[:columns]))


def as_lists(table: pd.DataFrame) -> oracle.Table:
    return {
        name: [None if math.isnan(value) else float(value) for value in table[name]]
        for name in table.columns
    }


def tables_of(case: dict[str, Any]) -> list[pd.DataFrame]:
    names = case["variables"]
    if "files" in case:
        return [pd.read_csv(real_table(file))[names] for file in case["files"]]
    keys = ("working", "holdout", "working_avatars")
    return [pd.DataFrame(case[key], dtype=float)[names] for key in keys]


@pytest.mark.parametrize("case", cases(SLUG))
def test_the_score_equals_that_of_slow_independent_code(case: dict[str, Any]) -> None:
    working, holdout, avatars = tables_of(case)
    result = evalkit.measure(SLUG, working, avatars, holdout, numeric=case["variables"])
    facts = result.facts
    assert result.score == pytest.approx(case["score"], abs=1e-8)
    assert facts["reference_difference"] == pytest.approx(case["reference_difference"], abs=1e-8)
    assert facts["avatar_difference"] == pytest.approx(case["avatar_difference"], abs=1e-8)
    assert facts["kappa"] == pytest.approx(case["kappa"], abs=1e-8)
    assert facts["variables"] == sorted(case["variables"])
    assert (facts["n_working"], facts["n_holdout"]) == (case["n_working"], case["n_holdout"])


@pytest.mark.parametrize("seed", range(6))
def test_the_score_equals_the_oracle_with_missing_cells_and_constants(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = [correlated(rows, seed + k) for k, rows in enumerate((40, 30, 35))]
    for table in tables:
        table[rng.random(table.shape) < 0.2] = np.nan
    tables[2]["c"] = 5.0
    working, holdout, avatars = tables
    found = evalkit.measure(SLUG, working, avatars, holdout, numeric=list("abcd"))
    expected = oracle.score(as_lists(working), as_lists(holdout), as_lists(avatars))
    assert found.score == pytest.approx(expected, abs=1e-8)


def test_the_reference_is_scaled_up_from_2000_rows_on() -> None:
    working, holdout, avatars = (correlated(rows, rows) for rows in (2420, 300, 500))
    found = evalkit.measure(SLUG, working, avatars, holdout)
    assert found.facts["kappa"] == pytest.approx(1.1)
    expected = oracle.score(as_lists(working), as_lists(holdout), as_lists(avatars))
    assert found.score == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("reference", "avatar", "kappa", "expected"),
    [(1, 2, 1, 50), (3, 2, 1, 100), (1, 4, 2, 50), (1, 0, 1, 100), (0, 1, 1, 0), (0, 0, 1, 100)],
)
def test_the_ratio_by_hand(reference: float, avatar: float, kappa: float, expected: float) -> None:
    assert ratio(reference, avatar, kappa) == expected


def test_a_copy_scores_100() -> None:
    table = correlated(60, 1)
    assert evalkit.measure(SLUG, table, table, correlated(60, 2)).score == 100


def test_a_holdout_equal_to_the_originals_scores_0_without_a_verdict() -> None:
    table = correlated(60, 1)
    result = evalkit.measure(SLUG, table, correlated(60, 2), table)
    assert result.score == 0
    assert result.verdict == "not applicable"
    assert result.reason.code == "holdout_equals_originals"


def test_a_variable_constant_in_the_originals_is_left_out_by_name() -> None:
    working = correlated(60, 1).assign(dose=4)
    result = evalkit.measure(
        SLUG, working, correlated(60, 2).assign(dose=5), correlated(60, 3).assign(dose=4)
    )
    assert result.facts["left_out"] == ["dose"]
    assert result.facts["variables"] == list("abcd")


def test_an_avatar_column_that_collapsed_counts_as_0_and_is_named() -> None:
    avatars = correlated(60, 2).assign(b=1.0)
    result = evalkit.measure(SLUG, correlated(60, 1), avatars, correlated(60, 3))
    assert result.facts["collapsed"] == [{"variable": "b", "table": "avatars"}]
    assert "collapsed_column" in [warning.code for warning in result.warnings]


def test_one_numeric_variable_is_not_applicable_with_the_remedy() -> None:
    table = pd.DataFrame({"a": range(30), "town": ["x", "y", "z"] * 10})
    result = evalkit.measure(SLUG, table, table, table)
    assert result.status == "not applicable"
    assert "--numeric" in result.reason.text


def test_the_interval_holds_what_other_deals_of_the_same_people_would_give() -> None:
    # The holdout is one of the deals, so the score lies among the scores of the re-deals.
    result = evalkit.measure(
        SLUG, correlated(300, 1), correlated(300, 2, strength=0.5), correlated(300, 3)
    )
    low, high = result.interval
    assert 0 <= low <= result.score <= high <= 100
    assert result.interval_method == "redeal"
    assert high - low > 1


def test_the_interval_covers_the_ratio_of_the_expected_differences() -> None:
    # Over fresh samples of one population the interval should hold the ratio of the means.
    avatars = correlated(150, 999, strength=0.45)
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(40):
        working, holdout, other = (
            correlated(150, int(seed)) for seed in rng.integers(10**6, size=3)
        )
        result = evalkit.measure(SLUG, working, avatars, holdout)
        fresh = evalkit.measure(SLUG, working, avatars, other)
        low, high = result.interval
        covered += low <= fresh.score <= high
    assert covered >= 34


def test_unseen_real_rows_score_near_100_and_independent_columns_sit_at_the_floor() -> None:
    working, holdout, unseen = (correlated(400, seed) for seed in (1, 2, 3))
    found = evalkit.measure(SLUG, working, unseen, holdout).facts
    assert found["real_score"] > 80
    shuffled = unseen.apply(lambda column: column.sample(frac=1, random_state=3).to_numpy())
    for number, name in enumerate(shuffled):
        shuffled[name] = np.roll(shuffled[name], 7 * number)
    score = evalkit.measure(SLUG, working, shuffled, holdout).score
    assert score == pytest.approx(found["floor_score"], abs=2)


def test_a_small_holdout_is_said_and_the_score_at_equal_sizes_is_lower() -> None:
    working, avatars = correlated(400, 1), correlated(400, 2, strength=0.5)
    result = evalkit.measure(SLUG, working, avatars, correlated(40, 3))
    assert "small_holdout" in [warning.code for warning in result.warnings]
    assert result.facts["score_at_equal_sizes"] < result.score
    large = evalkit.measure(SLUG, *(correlated(rows, rows) for rows in (2600, 2600, 1100)))
    said = next(warning for warning in large.warnings if warning.code == "small_holdout")
    assert "has 1,100 rows against 2,600" in said.text


def test_an_approximate_holdout_gives_a_range_over_50_splits() -> None:
    facts = evalkit.measure(SLUG, correlated(120, 1), correlated(120, 2, strength=0.5)).facts
    assert (facts["n_working"], facts["n_holdout"]) == (60, 60)
    assert facts["split_count"] == 50
    assert 0 <= facts["split_low"] < facts["split_high"] <= 100


def test_the_worst_pairs_come_first_and_only_where_enough_rows_are_filled() -> None:
    working, avatars, holdout = (correlated(200, seed) for seed in (1, 2, 3))
    avatars["d"] = np.random.default_rng(0).normal(size=200).round(3)
    working.loc[8:, "a"] = np.nan
    facts = evalkit.measure(SLUG, working, avatars, holdout, numeric=list("abcd")).facts
    pairs = [{pair["first"], pair["second"]} for pair in facts["worst_pairs"]]
    assert all("d" in pair for pair in pairs[:2])
    assert all("a" not in pair for pair in pairs)
    changes = [abs(pair["change"]) for pair in facts["worst_pairs"]]
    assert changes == sorted(changes, reverse=True)
    assert len(facts["matrix_variables"]) == 4
    place = facts["matrix_variables"].index("a")
    shown = full_square(facts["matrix_working"], 4)
    assert [value for value in shown[place] if value != 1.0] == [None] * 3


def test_few_rows_are_said_to_be_unstable() -> None:
    result = evalkit.measure(SLUG, correlated(50, 1), correlated(50, 2), correlated(50, 3))
    assert "few_rows_unstable" in [warning.code for warning in result.warnings]


def test_a_holdout_of_other_people_is_noticed() -> None:
    result = evalkit.measure(
        SLUG, correlated(300, 1), correlated(300, 2), correlated(300, 3, strength=0.2)
    )
    assert "holdout_differs" in [warning.code for warning in result.warnings]


def test_a_huge_value_or_a_far_origin_does_not_cost_the_digits() -> None:
    table = correlated(50, 1).to_numpy(copy=True)
    assert correlations(table * 1e3 + 1.7e9) == pytest.approx(correlations(table), abs=1e-6)
    table[0, 0] = 1e9
    rest = Deals(table).correlations_of(np.arange(50) < 1)[1]
    assert rest == pytest.approx(correlations(table[1:]), abs=1e-4)


def noise(seed: int, columns: int, rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(rows, columns)).round(2)).add_prefix("v")


def test_up_to_120_variables_are_shown_all_with_two_decimals_beyond_12() -> None:
    facts = evalkit.measure(SLUG, noise(1, 20), noise(2, 20), noise(3, 20)).facts
    assert sorted(facts["matrix_variables"]) == facts["variables"]
    assert facts["matrix_is_part"] is False
    assert [len(row) for row in facts["matrix_working"]] == list(range(19, 0, -1))
    values = [value for row in facts["matrix_holdout"] for value in row]
    assert values == [round(value, 2) for value in values]


def test_over_120_variables_only_the_60_of_the_worst_pairs_are_shown() -> None:
    names = [f"v{place:03d}" for place in range(130)]
    rng = np.random.default_rng(0)
    tables = [np.corrcoef(rng.normal(size=(130, 40))) for _ in range(3)]
    facts = shown_matrices(names, (tables[0], tables[1], tables[2]), np.ones((130, 130), bool))
    assert len(facts["matrix_variables"]) == 60
    assert facts["matrix_is_part"] is True
    worst = {pair[end] for pair in facts["worst_pairs"] for end in ("first", "second")}
    assert worst <= set(facts["matrix_variables"])


def test_variables_of_one_block_stand_together_whatever_their_names() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(500, 2))
    table = pd.DataFrame(
        {
            name: factors[:, place % 2] + 0.2 * rng.normal(size=500)
            for place, name in enumerate("abcdef")
        }
    ).round(3)
    order = evalkit.measure(SLUG, table, noise_like(table), table[::-1]).facts["matrix_variables"]
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset("ace"), frozenset("bdf")}


def noise_like(table: pd.DataFrame) -> pd.DataFrame:
    return table + np.random.default_rng(9).normal(size=table.shape).round(3)


def test_a_pair_that_may_not_be_shown_does_not_speak_through_the_order() -> None:
    related = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.1], [0.9, 0.1, 1.0]])
    enough = np.ones((3, 3), bool)
    enough[0, 2] = enough[2, 0] = False
    other = related.copy()
    other[0, 2] = other[2, 0] = 0.0
    assert block_order(related, enough) == block_order(other, enough)
