"""Counts and sums of the utility metrics: the same however a table is cut, and in groups."""

from __future__ import annotations

import tracemalloc
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit import (
    quantities_axes,
    quantities_bins,
    quantities_correlations,
    quantities_dealt_groups,
    quantities_information_groups,
)
from evalkit.engine import fold
from evalkit.kernels.correlations import correlations, correlations_of_products, filled_pairs
from evalkit.kernels.information import PairCells, pair_information
from evalkit.metrics import multivariate_hellinger
from evalkit.persons import Persons
from evalkit.quantities import number_matrix
from evalkit.quantities_content import keys_of_piece
from evalkit.quantities_levels import Levels
from evalkit.quantities_pieces import pieces
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalkit.quantities_pieces import Piece

ROWS = 240
SLUGS = [
    "hellinger",
    "correlation_difference_ratio",
    "mutual_information_ratio",
    "multivariate_hellinger",
]
RATIOS = SLUGS[1:3]


def _table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, rows).round(1)
    table = pd.DataFrame(
        {
            "age": age,
            "hours": age * 0.5 + rng.normal(0, 5, rows),
            "children": rng.integers(0, 4, rows),
            "town": rng.choice(["Aix", "Brest", "Caen"], rows, p=[0.6, 0.3, 0.1]),
            "work": rng.choice(["office", "field"], rows),
        }
    )
    table.loc[rng.random(rows) < 0.1, "hours"] = np.nan
    table.loc[rng.random(rows) < 0.1, "town"] = None
    return table


@pytest.fixture(scope="module")
def release() -> evalkit.Release:
    whole = _table(ROWS + 120, 1)
    return evalkit.load(whole[:ROWS], _table(ROWS, 2), whole[ROWS:].reset_index(drop=True))


def cut_anyhow(cut: Callable[[int, int], Any], rng: np.random.Generator) -> Iterator[Any]:
    """Yield the pieces of a random partition of the rows, in a random order."""
    inner = np.sort(rng.integers(0, ROWS + 1, rng.integers(0, 9)))
    ends = [0, *inner.tolist(), ROWS]
    bounds = list(pairwise(ends))
    for place in rng.permutation(len(bounds)):
        yield cut(*bounds[place])


def merged(states: list[Any], merge: Callable[[Any, Any], Any], rng: np.random.Generator) -> Any:
    """Return the states merged two by two, in a random order."""
    while len(states) > 1:
        first, second = rng.permutation(len(states))[:2]
        rest = [one for k, one in enumerate(states) if k not in {first, second}]
        states = [*rest, merge(states[first], states[second])]
    return states[0]


def part(frame: pd.DataFrame, release: evalkit.Release, names: tuple[str, ...], groups: Any) -> Any:
    """Return a function that cuts a piece out of a table."""

    def cut(start: int, stop: int) -> Piece:
        beside = None if groups is None else groups[start:stop]
        (piece,) = pieces(frame.iloc[start:stop], release.schema, names, beside)
        return piece

    return cut


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("in_groups", [False, True])
def test_counts_of_bins_are_the_same_for_any_partition(
    release: evalkit.Release, seed: int, in_groups: bool
) -> None:
    rng = np.random.default_rng(seed)
    schema, groups = release.schema, rng.integers(0, 7, ROWS) if in_groups else None
    bins = quantities_bins.Bins.of(schema, schema.used_names(), release.original, 5)
    cut = part(release.avatars, release, bins.names, groups)
    shared = bins, 7
    whole = quantities_bins.counts_of_piece(cut(0, ROWS), shared)
    states = [quantities_bins.counts_of_piece(piece, shared) for piece in cut_anyhow(cut, rng)]
    assert np.array_equal(merged(states, np.add, rng), whole)
    assert whole.sum() == ROWS * len(bins.names)
    if in_groups:
        assert np.array_equal(whole.sum(axis=0), bins.counts(release.avatars, schema))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("names", [("age", "children"), ("age", "children", "hours")])
def test_sums_of_products_are_the_same_for_any_partition(
    release: evalkit.Release, seed: int, names: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(seed)
    schema, groups = release.schema, rng.integers(0, 7, ROWS)
    origin = quantities_correlations.Origin.of([release.avatars], schema, names)
    assert origin.complete == ("hours" not in names)
    cut, partial = part(release.avatars, release, names, groups), (origin, 7)
    whole = quantities_correlations.products_of_piece(cut(0, ROWS), partial)
    states = [
        quantities_correlations.products_of_piece(piece, partial) for piece in cut_anyhow(cut, rng)
    ]
    assert merged(states, np.add, rng) == pytest.approx(whole, rel=1e-12, abs=1e-12)
    matrix = number_matrix(release.avatars, names)
    found = correlations_of_products(whole.sum(axis=0), len(names))
    assert found == pytest.approx(correlations(matrix), abs=1e-12)
    related = quantities_correlations.Related.of(release.avatars, schema, names)
    assert np.array_equal(related.filled, filled_pairs(matrix))


@pytest.mark.parametrize("slug", RATIOS)
@pytest.mark.parametrize("linked", [False, True])
def test_other_halves_in_groups_score_as_other_halves_of_rows(
    slug: str, linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = _table(ROWS, 1)
    avatars = originals.copy() if linked else _table(ROWS, 2)
    avatars["hours"] = np.roll(avatars["hours"], 60)
    tables = evalkit.load(originals, avatars, row_link=linked)
    by_rows = _result(tables, slug)
    monkeypatch.setattr(quantities_dealt_groups, "LARGE_POOL", 0)
    by_groups = _result(tables, slug)
    found = [
        np.array([one.facts["split_low"], one.facts["split_high"]]) for one in (by_rows, by_groups)
    ]
    assert np.abs(found[0] - found[1]).max() < 0.5 * np.ptp(found[0])
    assert np.ptp(found[1]) > 0.5 * np.ptp(found[0])


def test_whether_enough_people_are_filled_is_counted_by_person() -> None:
    table = pd.DataFrame({"key": np.repeat(np.arange(40), 3), "age": np.arange(120) % 70})
    table["size"] = np.where(table["key"] < 12, table["age"] * 1.5, np.nan)
    table["weight"] = np.where((table["key"] < 13) & (table.index % 3 == 0), table["age"], np.nan)
    release = evalkit.load(table, table.drop(columns="key"), individual="key", row_link=True)
    names = ("age", "size", "weight")
    found = quantities_correlations.Related.of(release.original, release.schema, names)
    columns = [release.original[name].to_numpy() for name in names]
    persons = release.persons_of("original")
    enough = quantities_correlations.enough_people(found, persons, columns, 13)
    assert enough.tolist() == [[True, False, True], [False, False, False], [True, False, True]]


@pytest.mark.parametrize("seed", range(8))
def test_counts_of_pairs_are_the_same_for_any_partition(
    release: evalkit.Release, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 7, ROWS)
    tables = quantities_information_groups.GroupedTables.of(release, 4)
    where = PairCells(tables.sizes, tables.pairs)
    cut, shared = part(release.working, release, tables.names, groups), (tables.found, where, 7)
    whole = quantities_information_groups.counts_of_piece(cut(0, ROWS), shared)
    states = [
        quantities_information_groups.counts_of_piece(piece, shared)
        for piece in cut_anyhow(cut, rng)
    ]
    assert np.array_equal(merged(states, np.add, rng), whole)
    codes = tables.found.matrix(cut(0, ROWS).columns)
    slow = pair_information(codes, tables.sizes, tables.pairs, people=100)
    found = where.information(whole.sum(axis=0)[None], np.array([100.0]))
    assert found == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("widest", [100_000, 20, 0])
def test_pairs_of_many_levels_and_blocks_of_pairs_give_the_same(
    release: evalkit.Release, widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = quantities_information_groups
    tables = groups.GroupedTables.of(release, 4)

    def found() -> list[float]:
        one = groups.information(tables, np.random.default_rng(4), cuts=3, shuffles=1)
        return [*one.working, *one.avatars, *one.holdout, one.reference_difference]

    monkeypatch.setattr(groups.GroupedTables, "width", lambda _: 1)  # the same groups throughout
    expected = found()
    monkeypatch.setattr(groups, "WIDE_CELLS", widest)
    monkeypatch.setattr(groups, "GROUP_CELLS", 50)
    assert found() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_products_of_coded_columns_are_the_same_for_any_partition(
    release: evalkit.Release, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    axes = quantities_axes.fitted_axes(release.original, release.schema, 4)
    cut, shared = part(release.avatars, release, axes.names, None), (axes.names, axes.codings)
    whole = quantities_axes.products_of_piece(cut(0, ROWS), shared)
    states = [quantities_axes.products_of_piece(one, shared) for one in cut_anyhow(cut, rng)]
    assert merged(states, np.add, rng) == pytest.approx(whole, rel=1e-12, abs=1e-10)


def test_axes_of_pieces_are_those_of_the_whole_table(
    release: evalkit.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = quantities_axes.fitted_axes(release.original, release.schema, 4)
    monkeypatch.setattr(quantities_axes, "ROWS_IN_ORDER", 0)
    large = quantities_axes.fitted_axes(release.original, release.schema, 4)
    shuffled = release.original.sample(frac=1, random_state=2)
    other = quantities_axes.fitted_axes(shuffled, release.schema, 4)
    assert large.loadings == pytest.approx(small.loadings, abs=1e-10)
    assert large.variance_shares == pytest.approx(small.variance_shares, abs=1e-10)
    assert np.array_equal(other.loadings, large.loadings)
    for table in (release.original, release.avatars, release.holdout):
        assert large.project(table) == pytest.approx(small.project(table), abs=1e-9)


def test_no_table_of_all_cells_is_made() -> None:
    rows, columns = 400_000, 12
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"v{k}": rng.normal(size=rows) for k in range(columns)})
    schema = Schema(tuple(Variable(name, "numeric") for name in table))
    levels = Levels.of(schema, [table] * 3, 4, Persons.one_row_each(rows))
    where = PairCells(np.full(columns, 5), np.triu_indices(columns, 1))

    def peak(work: Callable[[], object]) -> int:
        tracemalloc.start()
        work()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    bins = quantities_bins.Bins.of(schema, tuple(table), table, 10)
    cut, counts = pieces(table, schema, levels.names, np.zeros(rows, np.int32)), (levels, where, 1)
    found = [
        peak(lambda: bins.counts(table, schema)),
        peak(lambda: quantities_correlations.Related.of(table, schema, tuple(table))),
        peak(lambda: fold(quantities_information_groups.counts_of_piece, cut, np.add, counts)),
    ]
    assert max(found) < 0.6 * rows * columns * 8


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_rows_are_the_same_for_any_partition(
    release: evalkit.Release, seed: int
) -> None:
    names = release.schema.used_names()
    cut = part(release.avatars, release, names, None)
    whole = keys_of_piece(cut(0, ROWS))
    found = {
        piece.start: keys_of_piece(piece)
        for piece in pieces(release.avatars, release.schema, names, rows=31 + seed)
    }
    assert np.array_equal(reduce(np.append, found.values()), whole)


@pytest.mark.parametrize("slug", SLUGS)
def test_deals_of_groups_score_as_deals_of_rows(
    release: evalkit.Release, slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_rows = _result(release, slug)
    monkeypatch.setattr(quantities_dealt_groups, "LARGE_POOL", 0)
    monkeypatch.setattr(multivariate_hellinger, "DEALT_PEOPLE", 300)
    monkeypatch.setattr(multivariate_hellinger, "FLOOR_ROWS", 200)
    by_groups = _result(release, slug)
    assert by_groups.score == pytest.approx(by_rows.score, abs=1e-9)
    low, high = _band(by_rows)
    assert by_groups.facts["real_score"] == pytest.approx(
        by_rows.facts["real_score"], abs=(high - low) / 4
    )
    spread = np.subtract(*_band(by_groups)) / (low - high)
    assert 0.6 < spread < 1.6


def _result(release: evalkit.Release, slug: str) -> Any:
    return evalkit.assess(release, evalkit.Scenario(), metrics=[slug]).results[slug]


def _band(result: Any) -> Any:
    if "real_band" in result.facts:
        return result.facts["real_band"]
    if "real_low" in result.facts:
        return result.facts["real_low"], result.facts["real_high"]
    return result.interval
