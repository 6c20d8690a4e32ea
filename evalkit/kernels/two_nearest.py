"""The nearest target of each query, and the nearest of another owner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks
from evalkit.kernels.dense import BLOCK_CELLS, Dense
from evalkit.kernels.grouping import group_side
from evalkit.kernels.layouts import Owners
from evalkit.kernels.search import Way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.layouts import Targets
    from evalkit.kernels.prepared import Prepared
    from evalkit.kernels.problem import Problem

    Work = Callable[[int, int], Cells]

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


@dataclass(frozen=True, eq=False, repr=False)
class Rivals:
    """Targets of several owners, ready for any queries of the same frames.

    Attributes
    ----------
    ready : Prepared
        Different targets; without their cells where these are laid out.
    owners : Owners
        Of each of them.
    laid : Targets, optional
        The targets as compiled code reads them; None where NumPy alone searches.
    """

    ready: Prepared
    owners: Owners
    laid: Targets | None

    def two_nearest(self, cells: Sequence[Cells], crew: Crew | None = None) -> TwoNearest:
        """Return the distances to the nearest target and to the nearest of another owner.

        Targets of two owners at one distance give `first` equal to `second`.

        Parameters
        ----------
        cells : sequence of ndarray, each of shape (k,)
            Of each variable, the cells of some queries as they are, before encoding.
        crew : Crew, optional
            Default all processors.

        Returns
        -------
        TwoNearest
            Empty arrays if k is 0; `second` is infinite where all targets have one owner. The
            same however the queries are cut.
        """
        crew = crew or gather_crew(None)
        problem = self.ready.problem(cells, crew)
        query, _ = group_side(problem, "query", len(cells[0]), self.ready.attempt)
        if self.laid is None:
            work, size = self._dense(problem, query.first), self._rows_a_block
        else:
            work, size = _compiled(problem, query.first, self.laid, self.owners), BLOCK_QUERIES
        answers = in_blocks(work, len(query.first), size, crew)
        distances = problem.distance(np.concatenate([*answers, np.zeros((0, 2), problem.dtype)]))
        code, several = self.owners
        if not several.any() and (code == code[0]).all():
            distances[:, 1] = np.inf
        return TwoNearest(distances[query.of_row, 0], distances[query.of_row, 1])

    @property
    def _rows_a_block(self) -> int:
        return max(1, BLOCK_CELLS // len(self.ready.target.count))

    def _dense(self, problem: Problem, rows: NDArray[np.integer]) -> Work:
        """Give the search of a block of queries in NumPy."""
        target, whose = self.ready.target, self.owners
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


def rivals(
    ready: Prepared,
    told: Sequence[Cells],
    queries: int,
    *,
    owned: bool,
    compiled: bool | None = None,
) -> Rivals:
    """Return targets ready for queries that look for the nearest of two owners.

    Parameters
    ----------
    ready : Prepared
        The targets.
    told : sequence of ndarray, each of shape (m,)
        What tells whose each target is: a number from 0 up, or its cells as they are, with which
        target rows of the same cells have one owner, and others another (missing equals missing).
    queries : int
        How many will be asked in all.
    owned : bool
        Whether `told` is such a number.
    compiled : bool, optional
        Whether compiled code searches, or NumPy alone; default by the size of the tables. The
        answer is the same.

    Returns
    -------
    Rivals
        Small beside its targets: it can be sent to other processes.

    Raises
    ------
    ValueError
        If `told` has not one entry for each target.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.frames import frame_of
    >>> from evalkit.kernels.prepared import prepared
    >>> from evalkit.kernels.two_nearest import rivals
    >>> people, targets = np.array([30, 41]), np.array([31, 31, 50])
    >>> frame = frame_of([people], targets, numeric=True, ends=(30, 50), capped=True)
    >>> ready = prepared([frame], [frame.encode(targets, "target")], 2)
    >>> found = rivals(ready, [targets], 2, owned=False).two_nearest([people])
    >>> found.first.tolist(), found.second.tolist()
    ([0.05, 0.45], [1.0, 0.5])
    >>> owner = np.array([0, 1, 0])
    >>> rivals(ready, [owner], 2, owned=True).two_nearest([people]).second.tolist()
    [0.05, 0.5]
    """
    if any(len(one) != len(ready.target.of_row) for one in told):
        raise ValueError("one owner for each target row is needed")
    whose = _owners(ready, told, owned=owned)
    problem = ready.problem([cells[:0] for cells in ready.cells], gather_crew(1))
    width = len(problem.numerics) + len(problem.levels)
    if compiled is None:
        compiled = queries * len(ready.target.count) * width > DENSE_CELLS
    # Queries need neither the group of each row nor what was laid out for another search.
    target = replace(ready.target, of_row=ready.target.of_row[:0])
    bare = replace(ready, target=target, way=Way(ready.way.longest))
    if not compiled or not 0 < width <= MOST_SCREENED:
        return Rivals(bare, whose, None)
    laid = _laid(problem, ready)
    order = slice(None) if laid.group is None else laid.group
    bare = replace(bare, cells=tuple(cells[:0] for cells in ready.cells))
    return Rivals(bare, Owners(whose.code[order], whose.several[order]), laid)


def _owners(ready: Prepared, told: Sequence[Cells], *, owned: bool) -> Owners:
    """Tell whose each group of targets is: rows in it may differ where no query can tell."""
    of_row, groups = ready.target.of_row, len(ready.target.count)
    one = np.empty(groups, np.intp)  # a row of each group
    one[of_row] = np.arange(len(of_row))
    differs = np.zeros(len(of_row), np.bool_)
    for cells in told:
        alike = cells[one]
        missing = np.isnan(cells)
        differs |= (cells != alike[of_row]) & ~(missing & missing[one][of_row])
    several = np.zeros(groups, np.bool_)
    several[of_row[differs]] = True
    if not owned:
        return Owners(np.arange(groups), several)
    own_codes = np.arange(groups) + 1 + int(told[0].max())
    return Owners(np.where(several, own_codes, told[0][one]), several)


def _laid(problem: Problem, ready: Prepared) -> Targets:
    """Return the targets as compiled code reads them."""
    from evalkit.kernels.pruned import _flat, _grown, _measure, _screened

    measure, target = _measure(problem), ready.target
    screen = _screened(problem, "target", target.first, measure)
    if len(target.first) <= LEAF:
        return _flat(problem, target, screen)
    return _grown(problem, target, screen, measure, LEAF)


def _compiled(problem: Problem, rows: NDArray[np.integer], laid: Targets, owners: Owners) -> Work:
    """Give the search of a block of queries in compiled code."""
    from evalkit.kernels import loops_search
    from evalkit.kernels.pruned import CHUNK, _measure, _rows, _screened

    measure = _measure(problem)
    exact = measure.limits.dtype.type
    beyond = exact(np.iinfo(np.int64).max // 2 if problem.dtype.kind == "i" else np.inf)
    screen = np.ascontiguousarray(_screened(problem, "query", rows, measure).T)
    queries = _rows(problem, "query", rows, screen, np.ones_like(rows))

    def search(start: int, end: int) -> Cells:
        answer = np.empty((end - start, 2), exact)
        block = start, end, CHUNK
        loops_search.two_least(
            block, queries, laid.rows, laid.tree, owners, measure, beyond, answer
        )
        return answer

    return search
