"""The two nearest distinct targets, and shares of tie sets, against exact fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from kernels.random_columns import NUMBERS, numeric, random_columns, shuffled
from reference import nearest_oracle as oracle

from evalkit.kernels import Column, nearest, search
from evalkit.kernels.blocks import gather_crew
from evalkit.kernels.frames import frame_of
from evalkit.kernels.prepared import prepared
from evalkit.kernels.sharing import ever_nearest, hit_weights, tie_share
from evalkit.kernels.two_nearest import rivals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.prepared import Prepared
    from evalkit.kernels.two_nearest import TwoNearest


def nearest_two(
    columns: list[Column],
    owner: NDArray[np.integer] | None = None,
    *,
    capped: bool = False,
    threads: int | None = None,
    path: str = "dense",
) -> TwoNearest:
    """Ask all queries of some columns at once."""
    ready = targets_of(columns, capped=capped)
    told = [c.target for c in columns] if owner is None else [owner]
    found = rivals(
        ready, told, len(columns[0].query), owned=owner is not None, compiled=path == "compiled"
    )
    return found.two_nearest([c.query for c in columns], gather_crew(threads))


def targets_of(columns: list[Column], *, capped: bool) -> Prepared:
    """Make the targets of some columns ready."""
    frames = [
        frame_of(
            [c.query],
            c.target,
            numeric=c.numeric,
            ends=None if c.low is None or c.high is None else (c.low, c.high),
            capped=capped,
        )
        for c in columns
    ]
    cells = [
        frame.encode(column.target, "target") for frame, column in zip(frames, columns, strict=True)
    ]
    return prepared(frames, cells, len(columns[0].query))


def two_by_fractions(columns: list[Column], *, capped: bool) -> list[list[float]]:
    """Return for each query the distances to all distinct targets, sorted."""
    rows = zip(*(map(repr, c.target.tolist()) for c in columns), strict=True)
    distinct = sorted({row: j for j, row in enumerate(rows)}.values())
    kept = [Column(c.query, c.target[distinct], c.numeric, c.low, c.high) for c in columns]
    cells = [(c, c.query.tolist(), c.target.tolist()) for c in kept]
    return [
        sorted(
            float(sum(oracle.delta(x[i], y[j], c, capped=capped) for c, x, y in cells))
            / len(columns)
            for j in range(len(distinct))
        )
        for i in range(len(columns[0].query))
    ]


@pytest.mark.parametrize("path", ["dense", "compiled"])
@pytest.mark.parametrize("seed", range(300, 360))
def test_both_distances_are_those_of_exact_fractions(seed: int, path: str) -> None:
    columns, capped = random_columns(seed), bool(seed % 2)
    found = nearest_two(columns, capped=capped, path=path)
    for i, distances in enumerate(two_by_fractions(columns, capped=capped)):
        assert found.first[i] == pytest.approx(distances[0], rel=1e-12, abs=1e-14)
        second = distances[1] if len(distances) > 1 else np.inf
        assert found.second[i] == pytest.approx(second, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("seed", range(400, 440))
def test_both_paths_and_any_order_of_rows_give_the_same_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = random_columns(seed)
    n, m = len(columns[0].query), len(columns[0].target)
    order = rng.permutation(n)
    dense = nearest_two(columns, capped=True, path="dense")
    compiled = nearest_two(
        shuffled(columns, order, rng.permutation(m)), capped=True, path="compiled", threads=1
    )
    assert np.array_equal(dense.first[order], compiled.first)
    assert np.array_equal(dense.second[order], compiled.second)


def test_the_first_distance_is_that_of_the_nearest_target() -> None:
    columns = random_columns(500, kinds=["decimals", "levels", "few integers", "floats"])
    found = nearest_two(columns, capped=True)
    assert np.array_equal(found.first, nearest(columns, capped=True).distance)


@pytest.mark.parametrize("path", ["dense", "compiled"])
@pytest.mark.parametrize("seed", range(600, 640))
def test_the_second_distance_is_to_a_target_of_another_owner(seed: int, path: str) -> None:
    columns, capped = random_columns(seed), bool(seed % 2)
    owner = np.random.default_rng(seed).integers(0, 1 + seed % 4, len(columns[0].target))
    found = nearest_two(columns, owner, capped=capped, path=path)
    cells = [(c, c.query.tolist(), c.target.tolist()) for c in columns]
    for i in range(len(columns[0].query)):
        distances = [
            float(sum(oracle.delta(x[i], y[j], c, capped=capped) for c, x, y in cells))
            / len(columns)
            for j in range(len(owner))
        ]
        least = {
            one: min(d for d, o in zip(distances, owner, strict=True) if o == one) for one in owner
        }
        ends = [*sorted(least.values()), np.inf]
        assert found.first[i] == pytest.approx(ends[0], rel=1e-12, abs=1e-14)
        assert found.second[i] == pytest.approx(ends[1], rel=1e-12, abs=1e-14)


def test_one_owner_for_each_target_is_needed() -> None:
    age = Column(np.array([1]), np.array([1, 2]), numeric=True, low=1, high=2)
    with pytest.raises(ValueError, match="each target row"):
        nearest_two([age], np.array([0]))


@pytest.mark.parametrize("path", ["dense", "compiled"])
def test_equal_targets_count_once_and_one_alone_has_no_second(path: str) -> None:
    age = Column(np.array([30, 40]), np.array([30, 30, 30]), numeric=True, low=20, high=40)
    found = nearest_two([age], path=path)
    assert found.first.tolist() == [0.0, 0.5]
    assert np.isinf(found.second).all()


@pytest.mark.parametrize("path", ["dense", "compiled"])
def test_targets_that_differ_only_in_levels_no_query_has_are_two_targets(path: str) -> None:
    town = Column(np.array([0]), np.array([1, 2]), numeric=False)
    age = Column(np.array([30]), np.array([30, 30]), numeric=True, low=20, high=40)
    found = nearest_two([town, age], path=path)
    assert found.first.tolist() == found.second.tolist() == [0.5]


def test_no_query_gives_empty_arrays() -> None:
    age = Column(np.zeros(0, np.int64), np.array([1, 2]), numeric=True, low=1, high=2)
    for path in ("dense", "compiled"):
        found = nearest_two([age], path=path)
        assert len(found.first) == len(found.second) == 0


@pytest.mark.parametrize("longest", [1, 1024])
@pytest.mark.parametrize("seed", range(500, 540))
def test_shares_of_tie_sets_are_exact_also_for_long_sets(
    monkeypatch: pytest.MonkeyPatch, seed: int, longest: int
) -> None:
    real = search.search_all
    monkeypatch.setattr(search, "search_all", lambda d, r, _, c: real(d, r, longest, c))
    columns = random_columns(seed)
    chosen = np.random.default_rng(seed).random(len(columns[0].target)) < 0.5
    sets = nearest(columns, capped=True, path="dense")
    share, hit = tie_share(sets, chosen), ever_nearest(sets)
    weights = np.random.default_rng(seed + 1).random(len(columns[0].query))
    every, falling = set(), np.zeros(len(chosen))
    for i, (_, near) in enumerate(oracle.nearest_targets(columns, capped=True)):
        assert share[i] == sum(chosen[j] for j in near) / len(near)
        every |= near
        falling[list(near)] += weights[i] / len(near)
    assert hit_weights(sets, weights) == pytest.approx(falling)
    assert set(np.flatnonzero(hit).tolist()) == every


def test_one_mark_for_each_target_is_needed() -> None:
    age = Column(np.array([1]), np.array([1, 2]), numeric=True, low=1, high=2)
    with pytest.raises(ValueError, match="each target row"):
        tie_share(nearest([age]), np.array([True]))


@pytest.mark.parametrize("kind", ["floats with gaps", "decimals", "wide range", "few integers"])
def test_both_paths_agree_over_more_targets_than_are_screened_at_once(kind: str) -> None:
    rng = np.random.default_rng(8)
    n, m = 30, 5_000
    cells = [NUMBERS[kind](rng, n + m) for _ in range(3)]
    columns = [numeric(one[:n], one[n:], one[:n]) for one in cells]
    codes = rng.integers(-1, 3, n + m)
    columns.append(Column(codes[:n], codes[n:], numeric=False))
    dense = nearest_two(columns, capped=True, path="dense")
    compiled = nearest_two(columns, capped=True, path="compiled")
    assert np.array_equal(dense.first, compiled.first)
    assert np.array_equal(dense.second, compiled.second)
