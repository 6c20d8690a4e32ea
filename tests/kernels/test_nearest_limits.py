"""Memory, interrupts, small tables without a compiler, and input that makes no sense."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from kernels.random_columns import numeric

from evalkit.kernels import Column, blocks, link_probability, linking, nearest, search

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evalkit.kernels import NearestSets

ONE_ROW = np.zeros(1, np.int64)


def peak_megabytes(work: Callable[[], NearestSets]) -> tuple[NearestSets, float]:
    # What a compiler takes to be loaded is not what the search takes.
    nearest([keys(30, 30)], path="compiled")
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return result, peak


def keys(n: int, shift: int) -> Column:
    return Column(np.arange(n), np.arange(n) + shift, numeric=False)


def on_a_line(n: int) -> list[Column]:
    """Targets on a falling line, queries below it: every target ties for every query."""
    r = np.random.default_rng(0)
    end = 10**7
    x = np.linspace(end // 10, end, n).astype(np.int64)
    below = r.integers(0, end // 10, (2, n))
    ends = np.array([0, end])
    return [numeric(below[0], x, ends), numeric(below[1], end + end // 10 - x, ends)]


@pytest.mark.parametrize("path", ["dense", "compiled"])
def test_a_key_that_nobody_shares_makes_no_list_of_everything(path: search.Path) -> None:
    n = 20_000
    sex = Column(np.arange(n) % 2, np.arange(n) % 2, numeric=False)
    sets, peak = peak_megabytes(lambda: nearest([keys(n, n), sex], path=path))
    assert sets.size.tolist() == [n // 2] * n
    assert peak < 20


def test_a_key_that_half_of_them_share_makes_no_list_of_everything() -> None:
    n = 4_000
    sex = Column(np.arange(n) % 2, np.arange(n) // 2 % 2, numeric=False)
    sets, peak = peak_megabytes(lambda: nearest([keys(n, n // 2), sex]))
    assert int(sets.size.max()) > n // 4
    assert peak < 40


@pytest.mark.parametrize("path", ["dense", "compiled"])
def test_tie_sets_too_long_to_list_are_counted_and_measured_again(path: search.Path) -> None:
    n = 1_500
    line = on_a_line(n)
    sets, peak = peak_megabytes(lambda: nearest(line, path=path))
    assert not sets.listed.any()
    assert sets.size.tolist() == [n] * n
    assert sets.members(7).tolist() == list(range(n))
    assert peak < 40
    group = Column(np.arange(n) % 3, np.arange(n) % 3, numeric=False)
    chance = link_probability(sets, nearest([group]))
    assert chance.exact
    assert chance.probability == pytest.approx(np.full(n, 1 / n))


def test_a_long_list_that_the_last_row_makes_worthless_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "LONGEST_LIST", 16)
    target = np.concatenate([np.arange(1, 200), [5000]])
    line = [
        numeric(np.array([0]), target, np.array([0, 10**6])),
        numeric(np.array([0]), np.where(target < 5000, 200 - target, 0), np.array([0, 10**6])),
    ]
    near = [numeric(np.array([0]), np.where(target < 5000, 900_000, 0), np.array([0, 10**6]))]
    for path in ("dense", "compiled"):
        assert nearest(line, path=path).size.tolist() == [199]
        assert nearest(line + near, path=path).size.tolist() == [1]


def test_where_measuring_costs_too_much_a_seeded_estimate_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "LONGEST_LIST", 16)
    n = 1_200
    r = np.random.default_rng(3)
    sex = Column(np.arange(n) % 2, np.arange(1, n + 1) % 2, numeric=False)
    town = Column(r.integers(0, 5, n), np.arange(n) % 2 + r.integers(0, 4, n), numeric=False)
    a, b = nearest([keys(n, n // 2), sex]), nearest([town])
    exact = link_probability(a, b)
    monkeypatch.setattr(linking, "MEASURED_CELLS", 1)
    estimate = link_probability(a, b)
    assert exact.exact
    assert not estimate.exact
    assert estimate.standard_error > 0
    difference = abs(estimate.probability.mean() - exact.probability.mean())
    assert difference < 4 * estimate.standard_error
    assert np.array_equal(estimate.probability, link_probability(a, b).probability)


def test_wide_tables_and_tables_of_one_row_are_searched() -> None:
    r = np.random.default_rng(4)
    wide = [Column(*r.integers(0, 4, (2, 60)), numeric=False) for _ in range(400)]
    assert np.array_equal(nearest(wide, path="dense").size, nearest(wide, path="compiled").size)
    single = Column(np.arange(9), ONE_ROW, numeric=True, low=0, high=8)
    assert nearest([single], path="compiled").distance.tolist() == [k / 8 for k in range(9)]


def test_a_table_in_which_nothing_differs_ties_everywhere() -> None:
    same = Column(np.full(3, 5), np.full(4, 5), numeric=True, low=5, high=5)
    for path in ("dense", "compiled"):
        sets = nearest([same, same], path=path)
        assert sets.size.tolist() == [4, 4, 4]
        assert sets.distance.tolist() == [0, 0, 0]


def test_no_queries_give_empty_arrays() -> None:
    nobody = Column(np.zeros(0, np.int64), np.arange(3), numeric=True, low=0, high=2)
    sets = nearest([nobody])
    assert sets.distance.shape == sets.size.shape == (0,)
    assert link_probability(sets, sets).probability.shape == (0,)


def test_small_tables_do_not_wait_for_a_compiler() -> None:
    program = (
        "import sys, numpy as np; from evalkit.kernels import Column, nearest, link_probability;"
        "r = np.random.default_rng(0);"
        "a = [Column(*r.integers(0, 50, (2, 1000)), True, 0, 49) for _ in range(10)];"
        "link_probability(nearest(a[:5]), nearest(a[5:]));"
        "sys.exit('numba' in sys.modules or 'pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_stops_the_search_before_the_other_blocks(threads: int) -> None:
    begun = []

    def work(start: int, _end: int) -> None:
        begun.append(start)
        time.sleep(0.001)

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        blocks.in_blocks(work, 2_000, 1, blocks.Crew(threads, interrupt))
    assert len(begun) < 2_000


def test_progress_is_told_up_to_the_end() -> None:
    told = []
    column = Column(np.arange(500), np.arange(500) + 1, numeric=True, low=0, high=10**9)
    nearest([column], path="dense", progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ([], {}, "at least one column"),
        ([Column(ONE_ROW, np.zeros(0, np.int64), numeric=False)], {}, "no target row"),
        ([keys(2, 0), keys(3, 0)], {}, "differ in length"),
        ([keys(2, 0)], {"path": "quick"}, "path must be"),
        ([keys(2, 0)], {"threads": 0}, "threads must be"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(
    columns: list[Column], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        nearest(columns, **options)


@pytest.mark.parametrize(
    ("query", "ends", "words"),
    [
        (np.array([np.inf]), (0, 1), "infinite"),
        (np.array(["a"]), (0, 1), "int64 or float64"),
        (np.zeros((1, 1)), (0, 1), "one-dimensional"),
        (ONE_ROW, (1, 0), "low is above high"),
        (ONE_ROW, (0, float("nan")), "not finite"),
        (ONE_ROW, (0, None), "together"),
    ],
)
def test_a_column_that_makes_no_sense_is_refused(
    query: NDArray[Any], ends: tuple[float, float | None], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Column(query, ONE_ROW, numeric=True, low=ends[0], high=ends[1])


def test_two_searches_over_different_tables_cannot_be_linked() -> None:
    with pytest.raises(ValueError, match="different tables"):
        link_probability(nearest([keys(2, 0)]), nearest([keys(3, 0)]))
