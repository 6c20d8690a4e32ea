from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from reference import inference_oracle as oracle

import evalkit
from evalkit.intervals import complement_ratio
from evalkit.kernels import Column, answers, nearest, search
from evalkit.kernels.answers import answered_share
from evalkit.metrics.inference_protection import Guesses, tolerance
from evalkit.quantities_control import Controlled

SLUG = "inference_protection"
NUMERIC = {"age", "income"}


def people(rows: int, seed: int, *, missing: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    health = rng.normal(size=rows)
    table = pd.DataFrame(
        {
            "age": (40 + 9 * health).round().astype(int),
            "income": np.round(3 - health + rng.normal(size=rows), 1),
            "town": rng.choice(["Aix", "Brest", "Caen"], rows),
            "sick": np.where(health + rng.normal(size=rows) > 0, "yes", "no"),
        }
    )
    if missing:
        table.loc[rng.random(rows) < 0.2, "income"] = np.nan
        table["sick"] = table["sick"].where(rng.random(rows) >= 0.2, "")
    return table


def rows_of(table: pd.DataFrame) -> list[oracle.Row]:
    cells = table.astype(object).where(table.notna() & (table != ""), None)
    return cells.to_dict("records")


@pytest.mark.parametrize("sensitive", ["sick", "income", "age"])
@pytest.mark.parametrize("seed", range(3))
def test_both_shares_equal_the_oracle_in_exact_fractions(seed: int, sensitive: str) -> None:
    original, avatars, holdout = (people(40, seed + k) for k in (0, 50, 90))
    facts = evalkit.measure(
        SLUG, original, avatars, holdout, sensitive=sensitive, numeric=list(NUMERIC)
    ).facts
    known = [name for name in original if name != sensitive]
    tables = [rows_of(table) for table in (original, avatars, holdout)]
    scale = oracle.ranges_of(tables[0] + tables[2], NUMERIC)
    reach = None
    if sensitive in NUMERIC:
        low, high = original[sensitive].quantile([0.05, 0.95])
        reach = Fraction(float(high - low)) / 20 + Fraction(1, 10**9)
    for share, table in (("success_share", tables[0]), ("control_share", tables[2])):
        expected = oracle.success(table, tables[1], known, sensitive, scale, reach)
        assert facts[share] == pytest.approx(float(expected), abs=1e-9)


def test_tie_sets_too_long_to_keep_are_counted_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    monkeypatch.setattr(search, "LONGEST_LIST", 16)
    b, target_b = rng.integers(0, 60, 60), rng.integers(0, 60, 3000)
    # No target equals a query in both columns, so those that share one tie: many groups.
    columns = [
        Column(b % 3, (target_b + rng.integers(1, 3, 3000)) % 3, numeric=False),
        Column(b, target_b, numeric=False),
    ]
    sets = nearest(columns, capped=True)
    assert not sets.listed.all()
    value = rng.integers(0, 7, 3000)
    low = rng.integers(0, 7, 60)
    high = low + rng.integers(-1, 3, 60)
    found = answered_share(sets, value, low, high)
    for i in range(60):
        inside = value[sets.members(i)]
        assert found[i] == pytest.approx(((inside >= low[i]) & (inside <= high[i])).mean())
    monkeypatch.setattr(answers, "BLOCK_PAIRS", 50)
    assert (answered_share(sets, value, low, high) == found).all()


def test_the_example_of_the_page() -> None:
    assert Controlled(140, 200, 120, 200).score == pytest.approx(75)


def test_a_small_table_by_hand() -> None:
    # 12 people each; avatars: "a" is sick, "b" ties between one sick and one well avatar.
    original = pd.DataFrame({"town": ["a"] * 6 + ["b"] * 6, "sick": ["yes"] * 12})
    holdout = pd.DataFrame({"town": ["a"] * 6 + ["b"] * 6, "sick": ["no"] * 12})
    avatars = pd.DataFrame({"town": ["a", "b", "b"] * 8, "sick": ["yes", "yes", "no"] * 8})
    result = evalkit.measure(SLUG, original, avatars, holdout, sensitive="sick")
    assert result.status == "not applicable"  # 9 of the holdout's guesses are wrong
    assert result.facts["success_share"] == pytest.approx(0.75)
    assert result.facts["control_share"] == pytest.approx(0.25)
    assert result.facts["control_wrong"] == pytest.approx(9)
    twice = pd.concat([holdout, holdout])
    found = evalkit.measure(SLUG, original, avatars, twice, sensitive="sick")
    assert found.score == pytest.approx(100 * (1 - 0.5 / 0.75))
    low, high = complement_ratio(9, 12, 6, 24)
    assert found.interval == pytest.approx((100 * low, min(100, 100 * high)))
    assert found.interval_method == "mover"
    assert found.facts["naive_share"] == 1  # most avatars are sick, and so are all originals


def test_a_number_is_right_within_five_percent_of_the_middle_range() -> None:
    assert tolerance(np.arange(101.0)) == pytest.approx(4.5)
    assert tolerance(np.array([np.nan, 3.0])) == 0
    assert tolerance(np.array([np.nan])) == 0
    guesses = Guesses.of(np.array([1.0, 5.0, np.nan, 9.5, 10.0]), 4.5)
    low, high = guesses.right(np.array([5.5, np.nan, 30.0]))
    assert guesses.rank.tolist() == [0, 1, 4, 2, 3]
    assert (low[0], high[0]) == (0, 3)  # 1 and 10 lie exactly at the border
    assert (low[1], high[1]) == (4, 4)
    assert low[2] > high[2]


def test_the_naive_guess_is_the_median_or_the_most_frequent_value() -> None:
    numbers = Guesses.of(np.array([1.0, 7.0, np.nan, 9.0]), 0.0)
    assert numbers.naive(numeric=True).tolist() == [1]
    levels = Guesses.of(np.array([0.0, 2.0, 2.0, np.nan, np.nan]), 0.0)
    assert levels.naive(numeric=False).tolist() == [1, 2]
    nothing = Guesses.of(np.array([np.nan]), 0.0)
    assert nothing.naive(numeric=True).tolist() == [0]


@pytest.mark.parametrize("sensitive", ["sick", "income"])
def test_a_copy_gives_everything_away_and_shuffled_columns_nothing(sensitive: str) -> None:
    original, holdout = people(300, 1, missing=False), people(300, 2, missing=False)
    original["weight"] = np.random.default_rng(0).permutation(300)
    holdout["weight"] = np.random.default_rng(1).permutation(300)
    result = evalkit.measure(SLUG, original, original, holdout, sensitive=sensitive)
    assert result.score == pytest.approx(0)
    assert result.facts["self_score"] == pytest.approx(0)
    assert result.facts["floor_score"] > 90
    assert result.facts["excess_interval"][0] > 0


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess(n: int, n_holdout: int) -> None:
    tables = people(n, 31), people(n, 32), people(n_holdout, 33)
    result = evalkit.measure(SLUG, *tables, sensitive="sick")
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.interval[1] == 100


def test_the_sensitive_variable_is_never_known() -> None:
    tables = people(200, 1), people(200, 2), people(200, 3)
    first = evalkit.measure(SLUG, *tables, sensitive="sick")
    known = ["age", "income", "town"]
    assert evalkit.measure(SLUG, *tables, sensitive="sick", known=known).score == first.score
    assert first.facts["known"] == known
    alone = evalkit.measure(SLUG, *tables, sensitive="sick", known=["sick"])
    assert alone.reason.code == "nothing_known"


def test_without_what_it_needs_it_says_what_to_supply() -> None:
    tables = people(50, 1), people(50, 2), people(50, 3)
    assert evalkit.measure(SLUG, *tables).reason.code == "no_sensitive"
    assert evalkit.measure(SLUG, *tables[:2], sensitive="sick").reason.code == "no_real_holdout"


def test_a_value_that_everybody_has_is_not_applicable() -> None:
    tables = [people(60, seed).assign(sick="yes") for seed in range(3)]
    result = evalkit.measure(SLUG, *tables, sensitive="sick")
    assert (result.status, result.reason.code) == ("not applicable", "too_few_wrong")
