from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from reference import singling_out_oracle as oracle

import evalkit
from evalkit.kernels.boxes import Boxes, SortedRows
from evalkit.metrics.singling_out_protection import _kind, _tables, score_of
from evalkit.quantities_predicates import (
    MOST_LANDED,
    Bets,
    chosen_columns,
    multivariate,
    place_bets,
    univariate,
)

SLUG = "singling_out_protection"


def people(rows: int, seed: int, *, missing: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "income": rng.normal(3, 1, rows).round(2),
            "town": rng.choice(["Aix", "Brest", "Caen", "Dole"], rows),
            "visits": rng.poisson(2, rows),
            "weight": rng.normal(70, 9, rows).round(1),
        }
    )
    if missing:
        table.loc[rng.random(rows) < 0.2, "income"] = np.nan
        table["town"] = table["town"].where(rng.random(rows) >= 0.2, "")
    return table


def rows_of(table: pd.DataFrame) -> list[oracle.Row]:
    ordered = table[sorted(table.columns)]
    cells = ordered.astype(object).where(ordered.notna() & (ordered != ""), None)
    return [tuple(row) for row in cells.itertuples(index=False)]


@pytest.mark.parametrize("seed", range(4))
def test_both_kinds_land_where_slow_code_says(seed: int) -> None:
    original, avatars, holdout = (people(24, seed + k, missing=True) for k in (0, 50, 90))
    release = evalkit.load(original, avatars, holdout, numeric=["age", "income", "visits"])
    found = _tables(release).attack(np.random.default_rng(0))
    rows, pool = rows_of(avatars), rows_of(original) + rows_of(holdout)
    numeric = {0, 1, 3, 4}
    for kind, predicates in (
        ("univariate", list(oracle.univariate(rows, numeric))),
        ("multivariate", oracle.multivariate(rows, numeric, 4)),
    ):
        kept, records = oracle.landed(predicates, rows, pool)
        assert found[kind].tried == len(predicates)
        assert found[kind].kept == kept
        assert sorted(found[kind].records.tolist()) == records
        assert records


@pytest.mark.parametrize("seed", range(5))
def test_the_one_row_of_a_box_is_found_however_wide_its_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.integers(-1, [4, 300, 40, 3], (5000, 4)).astype(np.int32)
    columns = chosen_columns(rng.integers(0, 4, 300), 4, 3)
    low = cells[rng.integers(0, 5000, 300)[:, None], columns]
    high = low + rng.integers(0, 3, low.shape) ** 4
    found = SortedRows(cells).only(Boxes(columns, low, high))
    for one, (side, first, last) in zip(found, zip(columns, low, high, strict=True), strict=True):
        inside = np.flatnonzero(((cells[:, side] >= first) & (cells[:, side] <= last)).all(axis=1))
        assert one == (inside[0] if len(inside) == 1 else -1)
    assert (found >= 0).any()
    assert (found < 0).any()


@pytest.mark.parametrize("few", [0, 1000])
def test_compiled_code_finds_the_same_owners(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    rng = np.random.default_rng(few)
    cells = rng.integers(-1, [4, 300, 40, 3], (3000, 4)).astype(np.int32)
    columns = chosen_columns(rng.integers(0, 4, 300), 4, 3)
    low = cells[rng.integers(0, 3000, 300)[:, None], columns]
    boxes = Boxes(columns, low, low + rng.integers(0, 3, low.shape) ** 4)
    rows = SortedRows(cells, np.arange(3000) // 2)
    expected = rows.only(boxes)
    monkeypatch.setattr("evalkit.kernels.boxes.COMPILED_ROWS", 1)
    monkeypatch.setattr("evalkit.kernels.boxes.FEW_BOXES", few)
    assert rows.only(boxes).tolist() == expected.tolist()
    assert (expected >= 0).any()
    assert (expected < 0).any()


def test_a_box_that_nothing_fits_has_no_row() -> None:
    rows = SortedRows(np.array([[1], [2]], np.int32))
    empty = np.array([[0]]), np.array([[5]]), np.array([[4]])
    assert rows.only(Boxes(*empty)).tolist() == [-1]


def test_every_subset_of_columns_has_a_number_of_its_own() -> None:
    found = chosen_columns(np.arange(math.comb(7, 4)), 7, 4)
    assert len({tuple(row) for row in found}) == 35
    assert (np.diff(found, axis=1) > 0).all()
    assert found.min() == 0
    assert found.max() == 6


def test_the_example_of_the_page() -> None:
    kind = _kind(Bets(70, 65, np.array([*range(45), *range(100, 115)])), n=100, pi=0.5)
    assert (kind["landed"], kind["landed_in_original"], kind["people"]) == (60, 45, 60)
    assert kind["share"] == 0.75
    assert kind["score"] == 50
    low, high = evalkit.intervals.wilson(45, 60)
    assert kind["interval"] == pytest.approx([100 * (2 - 2 * high), 100 * (2 - 2 * low)])


def test_a_kind_with_under_50_landed_is_not_scored() -> None:
    assert _kind(Bets(60, 60, np.arange(49)), n=100, pi=0.5)["score"] is None
    assert _kind(Bets(60, 60, np.arange(50)), n=100, pi=0.5)["score"] == 0


def test_the_interval_counts_hits_on_one_person_for_less() -> None:
    many = _kind(Bets(200, 200, np.arange(200) % 100), n=75, pi=0.5)
    few = _kind(Bets(200, 200, np.arange(200) % 20), n=15, pi=0.5)
    assert many["score"] == few["score"] == 50
    widths = [kind["interval"][1] - kind["interval"][0] for kind in (many, few)]
    assert widths[1] > 1.8 * widths[0]


def test_luck_or_less_scores_100() -> None:
    assert score_of(0.5, 0.5) == score_of(0.2, 0.5) == 100
    assert score_of(1.0, 0.7) == pytest.approx(0)


def test_bets_end_with_the_500th_that_lands() -> None:
    cells = np.arange(2000, dtype=np.int32)[:, None]
    boxes = Boxes(np.zeros((2000, 1), np.int64), cells, cells)
    learnt, pool = SortedRows(cells), SortedRows(cells[::2])
    bets = place_bets(boxes, learnt, pool)
    assert len(bets.records) == MOST_LANDED
    assert bets.tried == bets.kept == 999  # the even ones land, the first at once


def test_no_conjunction_comes_twice_and_a_single_column_has_none() -> None:
    distinct = np.unique(np.random.default_rng(0).integers(0, 9, (60, 6)), axis=0).astype(np.int32)
    boxes = multivariate(distinct, (True,) * 6, np.random.default_rng(1))
    assert len(boxes.columns) == len(distinct) * 15
    alone = multivariate(distinct[:, :1], (True,), np.random.default_rng(1))
    assert len(alone.columns) == 0


def test_one_column_gives_values_that_occur_once_and_both_ends() -> None:
    distinct = np.array([[0], [1], [1], [2], [-1]], np.int32)
    boxes = univariate(distinct, (True,), np.random.default_rng(0))
    ends = sorted(zip(boxes.low[:, 0].tolist(), boxes.high[:, 0].tolist(), strict=True))
    assert ends[:3] == [(-1, -1), (0, 0), (0, 0)]
    assert ends[3][0] == ends[4][0] == 2
    levels = univariate(distinct, (False,), np.random.default_rng(0))
    assert len(levels.columns) == 3


def test_a_copy_of_distinct_rows_scores_0_and_repeating_it_gains_nothing() -> None:
    original, holdout = people(300, 1), people(300, 2)
    once = evalkit.measure(SLUG, original, original, holdout)
    five = evalkit.measure(SLUG, original, pd.concat([original] * 5), holdout)
    assert once.score == five.score == 0
    assert once.facts["self_score"] == 0
    assert once.facts["excess_interval"][0] > 0
    assert once.interval[0] == 0


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess(n: int, n_holdout: int) -> None:
    result = evalkit.measure(SLUG, people(n, 31), people(n, 32), people(n_holdout, 33))
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.interval[1] == 100


def test_coarse_tables_are_too_weak_to_tell() -> None:
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({name: rng.choice(["x", "y"], 200) for name in "abcd"}) for _ in range(3)
    ]
    result = evalkit.measure(SLUG, *tables)
    assert result.status == "not applicable"
    assert result.reason.text.startswith("Attack too weak to tell")


def test_columns_that_are_the_same_everywhere_never_matter() -> None:
    tables = people(200, 1), people(200, 2), people(200, 3)
    wider = [table.assign(country="France", dose=4) for table in tables]
    assert evalkit.measure(SLUG, *wider).score == evalkit.measure(SLUG, *tables).score


def test_an_approximate_holdout_is_no_control() -> None:
    result = evalkit.measure(SLUG, people(100, 1), people(100, 2))
    assert result.reason.code == "no_real_holdout"


def test_no_predicate_leaves() -> None:
    result = evalkit.measure(SLUG, people(200, 1), people(200, 1), people(200, 3))
    text = {value for value in result.facts.values() if isinstance(value, str)}
    # The name of a column is no record.
    assert text <= {"univariate", "multivariate", result.facts.get("leading_column")}


@pytest.mark.parametrize("leaked", [0, 20, 60, 300])
def test_excess_and_score_come_from_one_interval_and_never_disagree(leaked: int) -> None:
    original, holdout = people(300, 1), people(300, 2)
    avatars = pd.concat([original.head(leaked), people(300, 5).iloc[leaked:]])
    result = evalkit.measure(SLUG, original, avatars, holdout)
    low, high = result.facts["excess_interval"]
    pi = result.facts["pool_share"]
    assert (low > 0) == (result.interval[1] < 100)
    assert result.interval[0] == pytest.approx(100 * (1 - max(0, high) / (1 - pi)))
    assert result.facts["excess"] == pytest.approx(result.facts["landed_share"] - pi)


def test_the_column_that_singles_out_alone_is_named() -> None:
    original, holdout = people(300, 1), people(300, 2)
    exact = [
        table.assign(weight=np.random.default_rng(seed).normal(70, 9, 300))
        for seed, table in enumerate((original, holdout, people(300, 5)))
    ]
    avatars = exact[2].assign(weight=exact[0]["weight"])
    facts = evalkit.measure(SLUG, exact[0], avatars, exact[1]).facts
    assert facts["kind"] == "univariate"
    assert facts["leading_column"] == "weight"
    assert 0.9 < facts["leading_column_share"] <= 1
