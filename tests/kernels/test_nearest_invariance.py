"""The answer does not depend on how it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from kernels.random_columns import LEVELS, NUMBERS, numeric, shuffled

from evalkit.kernels import Column, blocks, dense, link_probability, nearest, pruned
from evalkit.kernels.grouping import group_both
from evalkit.kernels.layouts import Shelf
from evalkit.kernels.problem import pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels import NearestSets
    from evalkit.kernels.layouts import Tree
    from evalkit.kernels.search import Path

ALONE = blocks.Crew(1)
MIXES = {
    "whole numbers in 16 bits": ["few integers", "levels", "levels with gaps"],
    "whole numbers in 64 bits": ["integers", "decimals", "decimals with gaps", "levels", "levels"],
    "shares": ["floats", "floats with gaps", "integers", "levels with gaps", "wide range"],
    "plain numbers only": ["integers", "decimals", "floats", "floats", "floats", "integers"],
    "levels only": ["levels", "levels", "levels with gaps", "half-shared keys", "levels"],
}


def mixed(kinds: Sequence[str], n: int = 700, m: int = 900) -> list[Column]:
    r = np.random.default_rng(len(kinds) + n)
    columns = []
    for kind in kinds:
        cells = (NUMBERS | LEVELS)[kind](r, n + m)
        if kind in NUMBERS:
            columns.append(numeric(cells[:n], cells[n:], cells))
        else:
            columns.append(Column(cells[:n], cells[n:], numeric=False))
    return columns


def assert_same(left: NearestSets, right: NearestSets) -> None:
    assert np.array_equal(left.distance, right.distance)
    assert np.array_equal(left.size, right.size)
    assert np.array_equal(left.starts, right.starts)
    assert np.array_equal(left.groups, right.groups)


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("capped", [False, True])
def test_numpy_and_compiled_code_agree_to_the_last_bit(mix: str, capped: bool) -> None:
    columns = mixed(MIXES[mix])
    assert_same(
        nearest(columns, capped=capped, path="dense"),
        nearest(columns, capped=capped, path="compiled"),
    )


@pytest.mark.parametrize("mix", MIXES)
def test_threads_blocks_and_the_shape_of_the_search_change_nothing(mix: str) -> None:
    problem = pose(mixed(MIXES[mix]), capped=False, crew=ALONE)
    query, target = group_both(problem, 700, 900, ALONE)
    plans = [
        (pruned.Plan(1024, shape="scan", block=700), 1),
        (pruned.Plan(1024, shape="scan", block=17), 2),
        (pruned.Plan(1024, shape="tree", leaf=16, block=1), 5),
        (pruned.Plan(1024, shape="tree", leaf=100), 2),
        (pruned.Plan(1024), 1),
    ]
    answers = [
        pruned.search_pruned(problem, query.first, target, plan, blocks.Crew(threads))
        for plan, threads in plans
    ]
    for answer in answers[1:]:
        for left, right in zip(answers[0], answer, strict=True):
            assert np.array_equal(left, right)


def test_the_block_size_of_the_dense_path_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = mixed(MIXES["shares"])
    before = nearest(columns, path="dense", threads=1)
    monkeypatch.setattr(dense, "BLOCK_CELLS", 1_801)
    assert_same(before, nearest(columns, path="dense", threads=3))


@pytest.mark.parametrize("path", ["dense", "compiled"])
def test_the_order_of_rows_and_columns_changes_nothing(path: Path) -> None:
    columns = mixed(MIXES["whole numbers in 64 bits"])
    r = np.random.default_rng(5)
    rows, targets = r.permutation(700), r.permutation(900)
    before = nearest(columns, path=path)
    after = nearest(shuffled(columns, rows, targets)[::-1], path=path)
    assert np.array_equal(after.distance, before.distance[rows])
    assert np.array_equal(after.size, before.size[rows])
    for i in range(0, 700, 70):
        assert set(targets[after.members(i)]) == set(before.members(rows[i]))


def test_the_chance_of_a_link_does_not_depend_on_the_order_of_rows() -> None:
    columns = mixed(MIXES["levels only"] + MIXES["whole numbers in 64 bits"])
    r = np.random.default_rng(6)
    rows, targets = r.permutation(700), r.permutation(900)
    moved = shuffled(columns, rows, targets)
    before = link_probability(nearest(columns[:5]), nearest(columns[5:]))
    after = link_probability(nearest(moved[:5]), nearest(moved[5:]))
    assert np.array_equal(after.probability, before.probability[rows])


def test_a_column_of_70_000_shared_levels_is_searched_right() -> None:
    """Beyond 65,536 levels two of them look alike to the 16-bit screen."""
    levels = 70_000
    r = np.random.default_rng(1)
    numbers = r.integers(0, 1000, levels)
    targets = np.arange(levels)
    rows = np.concatenate([[3, 3 + 65_536], r.integers(0, levels, 30)])
    key = Column(np.concatenate([rows, targets]), targets, numeric=False)
    number = numeric(
        np.concatenate([r.integers(0, 1000, len(rows)), (numbers + 500) % 1000]), numbers, numbers
    )
    problem = pose([number, key], capped=False, crew=ALONE)
    query, target = group_both(problem, len(rows) + levels, levels, ALONE)
    some = np.arange(len(rows))
    all_rows = dense.Dense(problem, target.first, target.count).ties(some, 1024)
    for shape in ("scan", "tree"):
        found = pruned.search_pruned(
            problem, some, target, pruned.Plan(1024, shape=shape), blocks.Crew(1)
        )
        for left, right in zip(all_rows, found, strict=True):
            assert np.array_equal(left, right)
    assert len(query.count) >= levels


def test_repeated_rows_count_as_rows_and_not_as_groups() -> None:
    age = Column(np.array([30]), np.array([31, 31, 29, 40]), numeric=True, low=29, high=40)
    sets = nearest([age])
    assert sets.size.tolist() == [3]
    assert sets.members(0).tolist() == [0, 1, 2]
    assert sets.distance.tolist() == [1 / 11]


def rows_that_cannot_be_ruled_out(
    tree: Tree, cells: NDArray[np.int64], most: int, unit: int
) -> int:
    """Count the rows of the leaves whose boxes and masks lie no further away than `most`."""
    leaves = tree.nodes[:, 2] < 0
    numerics = tree.boxes.shape[1] // 2
    low, high = tree.boxes[leaves, ::2], tree.boxes[leaves, 1::2]
    numbers, codes = cells[:numerics], cells[numerics:]
    gaps = np.clip(np.maximum(low - numbers, numbers - high), 0, unit).sum(axis=1)
    word = tree.words[:-1] + (codes >> 6) % np.diff(tree.words)
    bits = np.uint64(1) << (codes & 63).astype(np.uint64)
    closest = gaps + unit * ((tree.masks[leaves][:, word] & bits) == 0).sum(axis=1)
    return int((tree.nodes[leaves, 1] - tree.nodes[leaves, 0])[closest <= most].sum())


@pytest.mark.parametrize("mix", MIXES)
def test_no_leaf_is_shown_that_the_nearest_row_rules_out(mix: str) -> None:
    problem = pose(mixed(MIXES[mix], n=300, m=6_000), capped=False, crew=ALONE)
    query, target = group_both(problem, 300, 6_000, ALONE)
    shelf = Shelf()
    plan = pruned.Plan(6_000, shape="tree", leaf=16, shelf=shelf)
    found = pruned.search_pruned(problem, query.first, target, plan, ALONE)
    assert shelf.laid is not None
    measure = pruned._measure(problem)
    cells = pruned._screened(problem, "query", query.first, measure).astype(np.int64).T
    most = np.minimum((found.least + measure.tolerance) * measure.shrink, 65_535) + measure.slack
    needed = [
        rows_that_cannot_be_ruled_out(shelf.laid.tree, one, int(limit), int(measure.screen_unit))
        for one, limit in zip(cells, most, strict=True)
    ]
    assert 0 < shelf.shown <= sum(needed)
