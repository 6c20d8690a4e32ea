"""Nearest points and the rank of the own point, against one pair of points at a time."""

from __future__ import annotations

from math import dist
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evalkit.kernels import euclidean
from evalkit.kernels.euclidean import closest
from evalkit.kernels.own_ranks import own_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]


def slow_distances(queries: Points, targets: Points) -> list[list[float]]:
    return [[dist(x, y) for y in targets.tolist()] for x in queries.tolist()]


def tables(seed: int) -> tuple[Points, Points]:
    """Points on a coarse grid, so that many tie, and some that lie on none."""
    r = np.random.default_rng(seed)
    n, p = int(r.integers(1, 40)), int(r.integers(1, 6))
    queries, targets = r.integers(-2, 3, (2, n, p)) / 3
    loose = r.random(n) < 0.3
    targets[loose] += r.normal(size=(int(loose.sum()), p))
    return queries, targets


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_points_are_those_of_the_slow_way(seed: int) -> None:
    queries, targets = tables(seed)
    found = closest(queries, targets[: max(1, len(targets) // 2)])
    for i, row in enumerate(slow_distances(queries, targets[: max(1, len(targets) // 2)])):
        assert found.distance[i] == pytest.approx(min(row), abs=1e-15)
        assert found.size[i] == sum(d <= min(row) + 1e-9 for d in row)


@pytest.mark.parametrize("seed", range(30))
def test_the_rank_of_the_own_point_is_that_of_the_slow_way(seed: int) -> None:
    queries, targets = tables(seed)
    rank = own_rank(queries, targets)
    for i, row in enumerate(slow_distances(queries, targets)):
        assert rank.nearer[i] == sum(d < row[i] - 1e-9 for d in row)
        assert rank.tied[i] == sum(abs(d - row[i]) <= 1e-9 for d in row)


@pytest.mark.parametrize("seed", range(10))
def test_the_own_point_may_stand_in_any_row(seed: int) -> None:
    r = np.random.default_rng(seed)
    queries, targets = tables(seed)
    places = r.permutation(len(targets))
    moved, whole = (
        own_rank(queries, targets[places], own=np.argsort(places)),
        own_rank(queries, targets),
    )
    assert moved.nearer.tolist() == whole.nearer.tolist()
    assert moved.tied.tolist() == whole.tied.tolist()
    few = own_rank(queries[:3], targets, own=np.arange(len(queries[:3])))
    assert few.nearer.tolist() == whole.nearer[:3].tolist()


def test_copies_that_differ_in_the_last_digit_are_the_nearest() -> None:
    r = np.random.default_rng(1)
    points = r.normal(size=(50, 5))
    rank = own_rank(points, points * (1 + 3e-16))
    assert not rank.nearer.any()
    assert (rank.tied == 1).all()


def test_distances_that_only_rounding_tells_apart_tie() -> None:
    targets = np.array([[0.1 + 0.2], [0.3], [-0.3], [0.3 + 1e-6]])
    found = closest(np.array([[0.0]]), targets)
    assert found.size.tolist() == [3]
    rank = own_rank(np.zeros((4, 1)), targets)
    assert rank.tied.tolist() == [3, 3, 3, 1]
    assert rank.nearer.tolist() == [0, 0, 0, 3]


@pytest.mark.parametrize(("cells", "threads"), [(1, 1), (57, 2), (10**6, 3)])
def test_blocks_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch, cells: int, threads: int
) -> None:
    queries, targets = np.random.default_rng(2).integers(0, 4, (2, 80, 3)) / 7
    before = closest(queries, targets), own_rank(queries, targets)
    monkeypatch.setattr(euclidean, "BLOCK_CELLS", cells)
    after = closest(queries, targets, threads=threads), own_rank(queries, targets, threads=threads)
    assert np.array_equal(before[0].distance, after[0].distance)
    assert np.array_equal(before[0].size, after[0].size)
    assert np.array_equal(before[1].nearer, after[1].nearer)
    assert np.array_equal(before[1].tied, after[1].tied)


def test_a_far_target_does_not_change_what_ties() -> None:
    """The threshold comes from the queries, so that no target can stretch it."""
    r = np.random.default_rng(3)
    queries, targets = r.normal(size=(2, 30, 2))
    before = closest(queries, targets)
    after = closest(queries, np.vstack([targets, [1e12, 1e12]]))
    assert np.array_equal(before.distance, after.distance)
    assert np.array_equal(before.size, after.size)


def test_no_queries_and_no_columns_are_no_fault() -> None:
    assert closest(np.zeros((0, 2)), np.zeros((1, 2))).size.tolist() == []
    assert own_rank(np.zeros((0, 2)), np.zeros((0, 2))).tied.tolist() == []
    assert closest(np.zeros((2, 0)), np.zeros((3, 0))).size.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("queries", "targets", "words"),
    [
        (np.zeros((2, 2)), np.zeros((2, 3)), "same number of columns"),
        (np.zeros(2), np.zeros(2), "matrices"),
        (np.zeros((2, 2)), np.zeros((0, 2)), "no target row"),
        (np.zeros((1, 1)), np.array([[np.nan]]), "missing or infinite"),
    ],
)
def test_points_that_make_no_sense_are_refused(
    queries: Points, targets: Points, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        closest(queries, targets)


def test_own_targets_need_the_same_shape() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        own_rank(np.zeros((2, 1)), np.zeros((3, 1)))


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("groups", [None, 900])
@pytest.mark.parametrize("seed", range(3))
def test_compiled_counts_are_those_of_numpy(seed: int, groups: int | None, spread: float) -> None:
    r = np.random.default_rng(seed)
    queries = r.normal(size=(5_000, 3 + seed)) * [10.0, *[1.0] * (2 + seed)]
    queries[::7] = queries[3]  # equal points, on a coarse grid below
    targets = np.round(queries + spread * r.normal(size=queries.shape), 1)
    owner = None if groups is None else np.r_[r.integers(0, groups, 4_100), np.arange(900)]
    asked = r.choice(len(queries), 300, replace=False)
    own = asked if owner is None else owner[asked]
    ways = [
        own_rank(queries[asked], targets, own=own, owner=owner, path=path, threads=threads)
        for path, threads in (("dense", 2), ("compiled", 1), ("compiled", 2))
    ]
    for one in ways[1:]:
        assert np.array_equal(ways[0].nearer, one.nearer)
        assert np.array_equal(ways[0].tied, one.tied)


def test_one_far_target_and_equal_targets_are_no_fault_of_the_tree() -> None:
    r = np.random.default_rng(5)
    queries = r.normal(size=(2_000, 2))
    queries[1_000:] = 0.5
    targets = queries.copy()
    targets[7] = 1e100
    plain, compiled = (own_rank(queries, targets, path=path) for path in ("dense", "compiled"))
    assert np.array_equal(plain.nearer, compiled.nearer)
    assert np.array_equal(plain.tied, compiled.tied)
