"""Targets made ready once answer any piece of the queries as a search of all of them does."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from kernels.random_columns import LEVELS, NUMBERS, numeric, random_columns

from evalkit.kernels import Column, grouping, link_probability, nearest, search
from evalkit.kernels.cell_facts import decimal_places, number_facts
from evalkit.kernels.frames import frame_of
from evalkit.kernels.linking import crossing, listed_chances, measured_chances
from evalkit.kernels.prepared import prepared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.kernels import NearestSets
    from evalkit.kernels.prepared import Prepared


def ready(columns: Sequence[Column], *, capped: bool = False) -> Prepared:
    """Make the targets ready for the queries of these columns."""
    frames = []
    for c in columns:
        ends = None if c.low is None or c.high is None else (c.low, c.high)
        frames.append(frame_of([c.query], c.target, numeric=c.numeric, ends=ends, capped=capped))
    cells = [frame.encode(c.target, "target") for frame, c in zip(frames, columns, strict=True)]
    return prepared(frames, cells, len(columns[0].query))


def assert_equals(piece: NearestSets, whole: NearestSets, rows: np.ndarray) -> None:
    assert np.array_equal(piece.distance, whole.distance[rows])
    assert np.array_equal(piece.size, whole.size[rows])
    for k, row in enumerate(rows[:5]):
        assert np.array_equal(piece.members(k), whole.members(int(row)))


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("seed", range(700, 760))
def test_pieces_of_queries_find_what_all_of_them_find(seed: int, capped: bool) -> None:
    columns = random_columns(seed)
    whole = nearest(columns, capped=capped)
    r = np.random.default_rng(seed)
    targets = pickle.loads(pickle.dumps(ready(columns, capped=capped)))  # noqa: S301 - our own
    for rows in np.array_split(r.permutation(len(whole.size)), int(r.integers(1, 5))):
        found = targets.nearest([c.query[rows] for c in columns])
        assert_equals(found, whole, rows)


MIXES = {
    "whole": ["integers", "decimals", "decimals with gaps", "levels", "levels"],
    "shares": ["floats", "floats with gaps", "integers", "levels with gaps", "wide range"],
    "hashed": ["widest range", "floats", "decimals", "half-shared keys"],
}


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_tree_kept_from_piece_to_piece_changes_nothing(
    mix: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled:
        monkeypatch.setattr(search, "DENSE_CELLS", 0)
        monkeypatch.setattr(search, "WARM_DENSE_CELLS", 0)
    r, n, m = np.random.default_rng(3), 900, 1500
    columns = []
    for kind in MIXES[mix]:
        cells = (NUMBERS | LEVELS)[kind](r, n + m)
        cells[n : n + 50] = cells[:50]
        if kind in NUMBERS:
            columns.append(numeric(cells[:n], cells[n:], cells))
        else:
            columns.append(Column(cells[:n], cells[n:], numeric=False))
    whole, targets = nearest(columns), ready(columns)
    for rows in np.array_split(r.permutation(n), 4):
        assert_equals(targets.nearest([c.query[rows] for c in columns]), whole, rows)
    assert (targets.way.shelf.laid is not None) == compiled


def test_a_hash_that_joins_different_queries_still_finds_the_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    r = np.random.default_rng(0)
    cells = r.normal(size=(2, 40))
    columns = [numeric(cells[0], cells[1], cells.ravel())]
    whole, targets = nearest(columns), ready(columns)
    monkeypatch.setattr(grouping, "_hashed", lambda _problem, _side, rows, _: np.zeros(rows, int))
    assert targets.attempt == 0
    assert_equals(targets.nearest([columns[0].query]), whole, np.arange(40))


@pytest.mark.parametrize("seed", range(800, 830))
def test_chances_of_pieces_are_those_of_the_whole(seed: int) -> None:
    columns = [*random_columns(seed, ["levels", "few integers", "decimals", "levels with gaps"])]
    whole = link_probability(nearest(columns[:2]), nearest(columns[2:]))
    halves = ready(columns[:2]), ready(columns[2:])
    pairs = crossing(*(half.target for half in halves))
    r = np.random.default_rng(seed)
    for rows in np.array_split(r.permutation(len(whole.probability)), 3):
        sides = zip(halves, (columns[:2], columns[2:]), strict=True)
        a, b = (half.nearest([c.query[rows] for c in part]) for half, part in sides)
        chances, long = listed_chances(a, b, pairs)
        assert np.array_equal(chances, whole.probability[rows])
        assert len(long.rows) == 0
        assert np.array_equal(measured_chances(a, b, pairs), chances)


def test_targets_that_count_otherwise_are_weighed_anew() -> None:
    town = Column(np.array([1, 2]), np.array([1, 1, 1, 3]), numeric=False)
    age = Column(np.array([20, 40]), np.array([20, 20, 30, 41]), numeric=True, low=20, high=41)
    targets = ready([town, age])
    once = targets.weighed(np.ones(3, np.int64), np.arange(3))
    assert targets.nearest([town.query, age.query]).size.tolist() == [2, 1]
    assert once.nearest([town.query, age.query]).size.tolist() == [1, 1]


def test_nothing_to_search_in_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one column"):
        prepared([], [], 1)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e9, 1e12, 1e15])
def test_places_of_decimals_do_not_depend_on_how_cells_are_cut(scale: float) -> None:
    r = np.random.default_rng(int(scale) % 97)
    cells = np.round(r.normal(size=500) * scale, 3)
    parts = [decimal_places(part) for part in np.array_split(cells, 7)]
    assert decimal_places(cells) == np.bitwise_and.reduce(parts)
    facts = [number_facts(part) for part in np.array_split(cells, 7)]
    merged = facts[3].merged(facts[0])
    for other in (facts[6], facts[1], facts[5], facts[2], facts[4]):
        merged = other.merged(merged)
    assert merged == number_facts(cells)
