"""The nearest target of each query, and the nearest of another owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks
from evalkit.kernels.columns import check_shapes
from evalkit.kernels.dense import BLOCK_CELLS, Dense
from evalkit.kernels.grouping import group_both
from evalkit.kernels.problem import pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.columns import Column
    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem

Path = Literal["auto", "dense", "compiled"]

DENSE_CELLS = 150_000_000  # cell comparisons up to which NumPy is done before a compiler is loaded
MOST_SCREENED = 32_500  # columns that the screen of the compiled path can hold
BLOCK_QUERIES = 256
LEAF = 256  # rows of a leaf of the tree


class TwoNearest(NamedTuple):
    """Distances to the nearest target and to the nearest of another owner.

    Attributes
    ----------
    first, second : ndarray of float64, shape (n,)
        Gower's distances, first <= second; `second` is infinite with one owner only.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]


def nearest_two(
    columns: Sequence[Column],
    owner: NDArray[np.integer] | None = None,
    *,
    capped: bool = False,
    threads: int | None = None,
    path: Path = "auto",
) -> TwoNearest:
    """For each query the distances to its nearest target and to the nearest of another owner.

    If no owners are given, target rows with the same cells have one owner, and others another:
    missing equals missing. Targets of two owners at one distance give `first` equal to `second`.

    Parameters
    ----------
    columns : sequence of Column
        At least one; all with n queries and m >= 1 targets.
    owner : ndarray of int, shape (m,), optional
        A number from 0 up for whose each target is.
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
        Empty arrays if n is 0; `second` is infinite where all targets have one owner.

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
    >>> nearest_two([age], np.array([0, 1, 0])).second.tolist()
    [0.05, 0.5]
    """
    n, m = check_shapes(columns)
    if path not in {"auto", "dense", "compiled"}:
        raise ValueError("path must be auto, dense or compiled")
    if owner is not None and len(owner) != m:
        raise ValueError("one owner for each target row is needed")
    crew = gather_crew(threads)
    problem = pose(columns, capped=capped, crew=crew)
    query, target = group_both(problem, n, m, crew)
    whose = _owners(columns, target, owner)
    rows = query.first
    width = len(problem.numerics) + len(problem.levels)
    cells = len(rows) * len(target.count) * width
    screened = 0 < width <= MOST_SCREENED and path != "dense"
    if not screened or (path == "auto" and cells <= DENSE_CELLS):
        work: Any = _dense_block(problem, rows, target, whose)
        size = max(1, BLOCK_CELLS // len(target.count))
    else:
        work, size = _compiled_block(problem, rows, target, whose), BLOCK_QUERIES
    answers = in_blocks(work, len(rows), size, crew)
    sums = np.concatenate([*answers, np.zeros((0, 2), problem.dtype)])
    distances = problem.distance(sums)
    if not whose.several.any() and (whose.code == whose.code[0]).all():
        distances[:, 1] = np.inf
    return TwoNearest(distances[query.of_row, 0], distances[query.of_row, 1])


class Owners(NamedTuple):
    """Whose the groups of targets are."""

    code: NDArray[np.int64]  # (groups,) its own where there are several
    several: NDArray[np.bool_]  # (groups,) whether its rows have two owners or more


def _owners(columns: Sequence[Column], target: Groups, owner: NDArray[np.integer] | None) -> Owners:
    """Tell whose each group of targets is: rows in it may differ where no query can tell."""
    likeness = target.first[target.of_row]
    differs = np.zeros(len(likeness), np.bool_)
    for cells in [column.target for column in columns] if owner is None else [owner]:
        missing = np.isnan(cells)
        differs |= (cells != cells[likeness]) & ~(missing & missing[likeness])
    groups = len(target.count)
    several = np.zeros(groups, np.bool_)
    several[target.of_row[differs]] = True
    if owner is None:
        return Owners(np.arange(groups), several)
    own_codes = np.arange(groups) + 1 + int(owner.max())
    return Owners(np.where(several, own_codes, owner[target.first]), several)


def _dense_block(problem: Problem, rows: NDArray[np.integer], target: Groups, whose: Owners) -> Any:
    """Give the search of a block of queries in NumPy."""
    dense = Dense(problem, target.first, target.count)
    beyond = np.iinfo(problem.dtype).max if problem.dtype.kind == "i" else np.inf

    def search(start: int, end: int) -> Cells:
        sums = dense.sums(rows[start:end])
        nearest = sums.argmin(axis=1)
        first = sums[np.arange(end - start), nearest]
        sums[whose.code == whose.code[nearest][:, None]] = beyond
        second = np.where(whose.several[nearest], first, sums.min(axis=1))
        return np.stack([first, second], axis=1)

    return search


def _compiled_block(
    problem: Problem, rows: NDArray[np.integer], target: Groups, whose: Owners
) -> Any:
    """Give the search of a block of queries in compiled code."""
    from evalkit.kernels import loops_two
    from evalkit.kernels.pruned import _flat, _grown, _measure, _rows, _screened

    measure = _measure(problem)
    exact = measure.limits.dtype.type
    beyond = exact(np.iinfo(np.int64).max // 2 if problem.dtype.kind == "i" else np.inf)
    screen = np.ascontiguousarray(_screened(problem, "query", rows, measure).T)
    queries = _rows(problem, "query", rows, screen, np.ones_like(rows))
    screen = _screened(problem, "target", target.first, measure)
    if len(target.first) <= LEAF:
        found = _flat(problem, target, screen)
    else:
        found = _grown(problem, target, screen, measure, LEAF)
    order = slice(None) if found.group is None else found.group
    owners = loops_two.Owners(whose.code[order], whose.several[order])

    def search(start: int, end: int) -> Cells:
        answer = np.empty((end - start, 2), exact)
        loops_two.two_least(
            start, end, queries, found.rows, found.tree, owners, measure, beyond, answer
        )
        return answer

    return search
