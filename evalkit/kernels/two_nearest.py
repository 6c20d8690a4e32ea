"""The nearest and the second nearest distinct target of each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks
from evalkit.kernels.columns import Column, check_shapes
from evalkit.kernels.dense import BLOCK_CELLS, Dense
from evalkit.kernels.grouping import group_both
from evalkit.kernels.problem import pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem

Path = Literal["auto", "dense", "compiled"]

DENSE_CELLS = 150_000_000  # cell comparisons up to which NumPy is done before a compiler is loaded
MOST_SCREENED = 32_500  # columns that the screen of the compiled path can hold
BLOCK_QUERIES = 256
MIX_SEED = 7


class TwoNearest(NamedTuple):
    """Distances to the two nearest distinct targets.

    Attributes
    ----------
    first, second : ndarray of float64, shape (n,)
        Gower's distances, first <= second; `second` is infinite with one distinct target only.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]


def nearest_two(
    columns: Sequence[Column],
    *,
    capped: bool = False,
    threads: int | None = None,
    path: Path = "auto",
) -> TwoNearest:
    """For each query the distances to its nearest and its second nearest distinct target row.

    Target rows with the same cells count once; missing equals missing. Two different targets at
    one distance give `first` equal to `second`.

    Parameters
    ----------
    columns : sequence of Column
        At least one; all with n queries and m >= 1 targets.
    capped : bool
        As in `nearest`: whether a difference counts at most 1, and a column of range 0 gives 0 if
        equal, else 1.
    threads : int, optional
        None uses every processor that this process may run on.
    path : {"auto", "dense", "compiled"}
        NumPy alone, compiled code, or the choice between them by the size of the tables. The
        answer is the same.

    Returns
    -------
    TwoNearest
        Empty arrays if n is 0; `second` is infinite where all targets are equal.

    Raises
    ------
    ValueError
        If there is no column or no target, lengths differ, or `path` or `threads` is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column
    >>> from evalkit.kernels.two_nearest import nearest_two
    >>> age = Column(np.array([30, 41]), np.array([31, 31, 50]), numeric=True, low=30, high=50)
    >>> found = nearest_two([age])
    >>> found.first.tolist(), found.second.tolist()
    ([0.05, 0.45], [1.0, 0.5])
    """
    check_shapes(columns)
    if path not in {"auto", "dense", "compiled"}:
        raise ValueError("path must be auto, dense or compiled")
    columns = _distinct_targets(columns)
    n, m = check_shapes(columns)
    crew = gather_crew(threads)
    problem = pose(columns, capped=capped, crew=crew)
    query, target = group_both(problem, n, m, crew)
    rows = query.first
    width = len(problem.numerics) + len(problem.levels)
    cells = len(rows) * len(target.count) * width
    screened = 0 < width <= MOST_SCREENED and path != "dense"
    if not screened or (path == "auto" and cells <= DENSE_CELLS):
        work: Any = _dense_block(problem, rows, target)
        size = max(1, BLOCK_CELLS // len(target.count))
    else:
        work, size = _compiled_block(problem, rows, target), BLOCK_QUERIES
    answers = in_blocks(work, len(rows), size, crew)
    sums = np.concatenate([*answers, np.zeros((0, 2), problem.dtype)])
    distances = problem.distance(sums)
    if m == 1:
        distances[:, 1] = np.inf
    return TwoNearest(distances[query.of_row, 0], distances[query.of_row, 1])


def _distinct_targets(columns: Sequence[Column]) -> list[Column]:
    """Keep one target of each kind, by its cells: the search itself joins rows more freely."""
    key = np.zeros(len(columns[0].target), np.int64)
    for column in columns:
        cells = np.unique(column.target, return_inverse=True)[1]
        key = np.unique(key * len(key) + cells, return_inverse=True)[1]
    first = np.unique(key, return_index=True)[1]
    return [Column(c.query, c.target[first], c.numeric, c.low, c.high) for c in columns]


def _dense_block(problem: Problem, rows: NDArray[np.integer], target: Groups) -> Any:
    """Give the search of a block of queries in NumPy."""
    dense = Dense(problem, target.first, target.count)
    # Rows that the search joins are at one distance from every query: they count twice.
    places = np.repeat(np.arange(len(target.count)), np.minimum(target.count, 2))
    joined = len(places) > len(target.count)

    def search(start: int, end: int) -> Cells:
        sums = dense.sums(rows[start:end])
        if joined:
            sums = sums[:, places]
        if sums.shape[1] == 1:
            return np.repeat(sums, 2, axis=1)
        return np.partition(sums, 1, axis=1)[:, :2]

    return search


def _compiled_block(problem: Problem, rows: NDArray[np.integer], target: Groups) -> Any:
    """Give the search of a block of queries in compiled code."""
    from evalkit.kernels.loops_two import Scale, Side, two_least
    from evalkit.kernels.pruned import _measure, _screened

    measure = _measure(problem)
    exact = measure.limits.dtype.type
    beyond = np.iinfo(np.int64).max // 2 if problem.dtype.kind == "i" else np.inf
    scale = Scale(
        measure.plain,
        measure.limits,
        measure.unit,
        exact(beyond),
        measure.screen_unit,
        measure.shrink,
        measure.slack,
    )
    # In a mixed order the first rows already give a good bound, however the table was sorted.
    mixed = np.random.default_rng(MIX_SEED).permutation(len(target.count))
    places, count = target.first[mixed], target.count[mixed]
    screen = np.ascontiguousarray(_screened(problem, "query", rows, measure).T)
    queries = Side(screen, *_cells(problem, "query", rows, exact))
    screen = _screened(problem, "target", places, measure)
    targets = Side(screen, *_cells(problem, "target", places, exact))

    def search(start: int, end: int) -> Cells:
        found = np.empty((end - start, 2), exact)
        two_least(start, end, queries, targets, count, scale, found)
        return found

    return search


def _cells(
    problem: Problem, side: Literal["query", "target"], rows: NDArray[np.integer], exact: Any
) -> tuple[Cells, NDArray[np.int32]]:
    """Give the cells of one side row by row, for the exact check."""
    values = np.empty((len(rows), len(problem.numerics)), exact)
    codes = np.empty((len(rows), len(problem.levels)), np.int32)
    for place, cells in enumerate(problem.values(side, rows)):
        values[:, place] = cells
    for place, levels in enumerate(problem.codes(side, rows)):
        codes[:, place] = levels
    return values, codes
