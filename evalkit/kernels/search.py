"""The search itself: equal rows are paired off, the rest goes to one of two paths."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalkit.kernels.blocks import gather_crew
from evalkit.kernels.columns import check_shapes
from evalkit.kernels.dense import Dense, Ties, search_all
from evalkit.kernels.grouping import concatenated_ranges, group_both, pair_off
from evalkit.kernels.layouts import Shelf
from evalkit.kernels.problem import pose
from evalkit.kernels.sets import NearestSets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.columns import Column
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem

Path = Literal["auto", "dense", "compiled"]

DENSE_CELLS = 150_000_000  # cell comparisons up to which NumPy is done before a compiler is loaded
WARM_DENSE_CELLS = 3_000_000  # the same once the compiled code is loaded
PATIENCE_CELLS = 1_000_000_000  # comparisons in NumPy, in all, after which loading it pays
MOST_SCREENED = 32_500  # columns that the screen of the compiled path can hold
LEAST_LIST = 16
LONGEST_LIST = 1_024  # groups up to which a tie set is listed ...
LISTED_IN_ALL = 2**25  # ... and what all lists together may hold: 128 MiB


def nearest(
    columns: Sequence[Column],
    *,
    capped: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    path: Path = "auto",
) -> NearestSets:
    """For each query the targets at the least Gower distance, ties included, exactly.

    The distance over the columns V is `1/|V| * sum of delta`: numeric `|x - y| / (high - low)`,
    categorical 1 if the levels differ, else 0.
    Missing against missing gives 0, missing against filled gives 1.
    The tie set holds every target with a distance up to 1e-9 above the least one.
    The answer does not depend on the order of rows, the path, the threads or the size of blocks.

    Parameters
    ----------
    columns : sequence of Column
        At least one; all with n queries and m >= 1 targets.
    capped : bool
        False: a column of range 0 gives 0, and a cell outside its range may give more than 1.
        True: delta is at most 1, and a column of range 0 gives 0 if equal, else 1.
    threads : int, optional
        None uses every processor that this process may run on.
    progress : callable, optional
        Called now and then with (queries done, queries in all); equal queries count once.
    path : {"auto", "dense", "compiled"}
        NumPy alone, compiled code, or the choice between them by the size of the tables.

    Returns
    -------
    NearestSets
        Empty arrays if n is 0.

    Raises
    ------
    ValueError
        If there is no column or no target, lengths differ, or `path` or `threads` is not allowed.

    Notes
    -----
    Integers and decimals are summed as whole numbers, without rounding.
    Other numbers, and ranges so large that such sums do not fit into 64 bits, are summed in
    float64: a target whose distance lies within some 1e-15 of the threshold itself may then fall
    on either side of it, on the same side on every path.

    References
    ----------
    .. [1] Gower, J. C. (1971). A general coefficient of similarity and some of its properties.
       Biometrics 27, 857-871.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column, nearest
    >>> age = Column(np.array([30, 41]), np.array([29, 50, 31]), numeric=True, low=29, high=50)
    >>> sets = nearest([age])
    >>> sets.size.tolist(), sets.members(0).tolist()
    ([2, 1], [0, 2])
    """
    n, m = check_shapes(columns)
    crew = gather_crew(threads, progress)
    if path not in {"auto", "dense", "compiled"}:
        raise ValueError("path must be auto, dense or compiled")
    problem = pose(columns, capped=capped, crew=crew)
    query, target = group_both(problem, n, m, crew)
    pair = pair_off(query, target) if problem.joinable() else np.full(len(query.count), -1)
    rest = query.first[np.flatnonzero(pair < 0)]
    longest = max(LEAST_LIST, min(LONGEST_LIST, LISTED_IN_ALL // max(1, len(rest))))
    ties = tie_sets(problem, rest, target, Way(longest, path), crew)
    return assembled(problem, query, target, pair, ties)


@dataclass(frozen=True, eq=False, repr=False)
class Way:
    """How queries that no target equals are searched.

    Attributes
    ----------
    longest : int
        Groups up to which a tie set is listed; the answer depends on nothing else here.
    path : {"auto", "dense", "compiled"}
    shelf : Shelf
        Keeps the targets as they were laid out for the next search in them.
    """

    longest: int
    path: Path = "auto"
    shelf: Shelf = field(default_factory=Shelf)


def tie_sets(
    problem: Problem, rows: NDArray[np.integer], target: Groups, way: Way, crew: Crew
) -> Ties:
    """Search the queries that no target equals.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int, shape (k,)
        Of the queries.
    target : Groups
    way : Way
    crew : Crew

    Returns
    -------
    Ties
    """
    if len(rows) == 0:
        nothing = np.zeros(0, np.int64)
        return Ties(np.zeros(0, problem.dtype), nothing, nothing, np.zeros(0, np.int32))
    columns = len(problem.numerics) + len(problem.levels)
    cells = len(rows) * len(target.count) * columns
    screened = 0 < columns <= MOST_SCREENED and way.path != "dense"
    if not screened or (
        way.shelf.laid is None and way.path == "auto" and _Effort.is_for_numpy(cells)
    ):
        dense = Dense(problem, target.first, target.count)
        way.shelf.shown += len(rows) * len(target.count)
        return search_all(dense, rows, way.longest, crew)
    from evalkit.kernels.pruned import Plan, search_pruned

    plan = Plan(way.longest, shelf=way.shelf)
    return search_pruned(problem, rows, target, plan, crew)


class _Effort:
    """Comparisons that NumPy has made so far in this process."""

    cells = 0

    @classmethod
    def is_for_numpy(cls, cells: int) -> bool:
        """Whether the next search is best done in NumPy; the answer is the same on both paths."""
        loaded = "evalkit.kernels.loops_search" in sys.modules
        impatient = loaded or cls.cells > PATIENCE_CELLS
        if cells > (WARM_DENSE_CELLS if impatient else DENSE_CELLS):
            return False
        cls.cells += cells
        return True


def assembled(
    problem: Problem, query: Groups, target: Groups, pair: NDArray[np.int64], ties: Ties
) -> NearestSets:
    """Pairs of equal rows and searched tie sets, put together group by group.

    Parameters
    ----------
    problem : Problem
    query, target : Groups
    pair : ndarray of int64, shape (groups of queries,)
        The equal group of targets, -1 where there is none.
    ties : Ties
        Of the groups without one, in their order.

    Returns
    -------
    NearestSets
    """
    equal = np.flatnonzero(pair >= 0)
    searched = np.flatnonzero(pair < 0)
    least = np.zeros(len(pair), problem.dtype)
    rows = np.empty(len(pair), np.int64)
    length = np.ones(len(pair), np.int64)
    least[searched], rows[searched] = ties.least, ties.rows
    rows[equal] = target.count[pair[equal]]
    length[searched] = np.maximum(ties.listed, 0)
    starts = np.concatenate([[0], np.cumsum(length)])
    groups = np.empty(starts[-1], np.int32)
    groups[starts[equal]] = pair[equal]
    groups[concatenated_ranges(starts[searched], length[searched])] = ties.groups
    listed = np.ones(len(pair), np.bool_)
    listed[searched] = ties.listed >= 0
    return NearestSets(
        problem.distance(least)[query.of_row],
        rows[query.of_row],
        problem,
        query,
        target,
        least,
        starts,
        groups,
        listed,
    )
