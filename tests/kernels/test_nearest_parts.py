"""The parts: exact units, groups of equal rows, the decorator, and what compiled code may call."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
from kernels.random_columns import numeric, random_columns

from evalkit.kernels import Column, compiling, grouping, linking, nearest
from evalkit.kernels.blocks import Crew
from evalkit.kernels.encoding import encode
from evalkit.kernels.problem import pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.problem import Problem, Side

ALONE = Crew(1)
KERNELS = Path(compiling.__file__).parent


def test_decimals_are_counted_in_whole_units() -> None:
    cells = np.array([0.1, 0.7, 0.07])
    encoded = encode(numeric(cells, cells, cells), capped=False)
    assert encoded.whole
    assert encoded.query.tolist() == [3, 63, 0]
    assert encoded.scale == 63


def test_a_sum_of_floats_is_no_decimal() -> None:
    cells = np.array([0.1 + 0.2, 0.5])
    assert not encode(numeric(cells, cells, cells), capped=False).whole


def test_numbers_close_together_far_from_zero_are_not_put_on_a_grid() -> None:
    cells = 1e9 + np.random.default_rng(0).random(50)
    assert not encode(numeric(cells, cells, cells), capped=False).whole


def test_integers_beside_decimals_are_read_as_one_column() -> None:
    encoded = encode(Column(np.array([1, 2]), np.array([1.5, 2.0]), numeric=True, low=1, high=2),
                     capped=False)  # fmt: skip
    assert encoded.whole
    assert encoded.target.tolist() == [5, 10]


def test_levels_of_one_side_only_become_one_level() -> None:
    encoded = encode(Column(np.array([0, 7, 8]), np.array([0, 9, 5]), numeric=False), capped=False)
    assert encoded.query.tolist() == [0, 1, 1]
    assert encoded.target.tolist() == [0, 2, 2]


def test_codes_far_apart_need_no_table_of_that_size() -> None:
    codes = np.array([-1, 2**60, 17])
    sets = nearest([Column(codes, codes[::-1].copy(), numeric=False)])
    assert [sets.members(i).tolist() for i in range(3)] == [[2], [1], [0]]


@pytest.mark.parametrize("kind", ["decimals with gaps", "floats with gaps"])
def test_rows_are_in_one_group_exactly_if_they_are_equal(kind: str) -> None:
    for seed in range(300, 320):
        columns = random_columns(seed, ["levels", "few integers", kind])
        n, m = len(columns[0].query), len(columns[0].target)
        problem = pose(columns, capped=False, crew=ALONE)
        query, target = grouping.group_both(problem, n, m, ALONE)
        rows = zip(*(c.tolist() for c in grouping._digits(problem, "target")), strict=True)
        assert len(set(rows)) == len(target.count)
        assert target.count.sum() == m
        assert (target.of_row[target.first] == np.arange(len(target.count))).all()
        assert query.count.sum() == n


def test_a_hash_that_gives_two_rows_one_key_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    real, tried = grouping._hashed, []

    def poor(problem: Problem, side: Side, rows: int, attempt: int) -> NDArray[np.int64]:
        tried.append(attempt)
        return np.zeros(rows, np.int64) if attempt == 0 else real(problem, side, rows, attempt)

    monkeypatch.setattr(grouping, "_hashed", poor)
    cells = np.random.default_rng(0).normal(size=(2, 30))
    columns = [numeric(cells[0], cells[1], cells.ravel())]
    _, target = grouping.group_both(pose(columns, capped=False, crew=ALONE), 30, 30, ALONE)
    assert len(target.count) == 30
    assert max(tried) == 1


def test_equal_rows_are_not_paired_off_where_others_tie_with_them() -> None:
    """One unit in 1e9 is within the threshold of a tie."""
    number = Column(np.array([5]), np.array([5, 6, 8]), numeric=True, low=0, high=10**9)
    assert nearest([number]).members(0).tolist() == [0, 1]


def test_the_threshold_uses_all_columns_and_not_only_those_that_vary() -> None:
    number = Column(np.array([0]), np.array([1, 3, 4]), numeric=True, low=0, high=10**9)
    constant = Column(np.array([0]), np.zeros(3, np.int64), numeric=False)
    assert nearest([number]).members(0).tolist() == [0]
    assert nearest([number, constant]).members(0).tolist() == [0, 1]


@pytest.mark.parametrize("compiled_from", [0, 10**9])
def test_long_lists_are_compared_alike_with_and_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch, compiled_from: int
) -> None:
    monkeypatch.setattr(linking, "NUMPY_CELLS", compiled_from)
    monkeypatch.setattr(linking, "BLOCK_CELLS", 500)
    r = np.random.default_rng(2)
    columns = [Column(*r.integers(0, 6, (2, 400)), numeric=False) for _ in range(6)]
    a, b = nearest(columns[:3]), nearest(columns[3:])
    result = linking.link_probability(a, b).probability
    for i in range(0, 400, 20):
        shared = len(set(a.members(i)) & set(b.members(i)))
        assert result[i] == shared / (a.size[i] * b.size[i])


def test_without_a_folder_for_the_cache_functions_are_compiled_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = numba.njit

    def njit(**options: Any) -> Any:
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", njit)
    assert compiling.compiled(lambda x: x + 1)(2) == 3


def test_compiled_functions_call_only_compiled_functions_of_their_own_file() -> None:
    """The cache on disk does not notice a change in another file."""
    files = [p for p in KERNELS.glob("*.py") if "compiling import" in p.read_text("utf-8")]
    assert len(files) >= 3
    for path in files:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evalkit"):
                assert node.module == "evalkit.kernels.compiling", path.name


def test_what_is_printed_of_a_search_holds_no_cell() -> None:
    """A traceback or a log may print it."""
    column = Column(np.array([123_456]), np.array([654_321]), numeric=False)
    sets = nearest([column])
    printed = " ".join(map(repr, (column, sets, sets.problem, sets.query)))
    assert "123456" not in printed
    assert "654321" not in printed
