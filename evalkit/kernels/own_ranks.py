"""How each point's own target lies among all targets, by Euclidean distance.

Ties are those of `evalkit.kernels.euclidean`. Targets are made ready once; queries, of which each
knows how far its own target is, may then come in pieces and in any process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks
from evalkit.kernels.euclidean import (
    TIE_SHARE,
    check_points,
    rows_a_block,
    squares_between,
    tie_floor,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew

    Points = NDArray[np.float64]

Path = Literal["auto", "dense", "compiled"]

DENSE_CELLS = 500_000_000  # coordinates compared before a compiler is loaded


@dataclass(frozen=True, eq=False)
class OwnRank:
    """How a query's own target lies among all targets.

    Attributes
    ----------
    nearer : ndarray of int64, shape (n,)
        Targets strictly nearer to the query than its own; 0 to m - 1.
    tied : ndarray of int64, shape (n,)
        Targets as near as its own, the own one included; at least 1.
    """

    nearer: NDArray[np.int64]
    tied: NDArray[np.int64]


class Ringed(NamedTuple):
    """Points, each with two rings around it: within the first a target is nearer than its own.

    Attributes
    ----------
    points : ndarray of float64, shape (n, p)
    below : ndarray of float64, shape (n,)
        A target with a smaller square distance is nearer.
    reach : ndarray of float64, shape (n,)
        A target with a square distance up to here is nearer or as near.
    """

    points: Points
    below: Points
    reach: Points

    def part(self, start: int, stop: int) -> Ringed:
        """Return some of the points, with their rings."""
        return Ringed(*(one[start:stop] for one in self))


@dataclass(frozen=True, eq=False, repr=False)
class RankTargets:
    """Targets ready to be counted.

    Attributes
    ----------
    columns : ndarray of float64, shape (p, m)
        In the order of their groups, or of the leaves of the tree.
    whose : ndarray of int64, shape (m,) or (0,)
        The group of each, increasing; empty where each target counts by itself.
    boxes : Boxes, optional
        A tree over the targets; None where all of them are looked at.
    compiled : bool
        Whether compiled code counts, or NumPy alone.
    """

    columns: Points
    whose: NDArray[np.int64]
    boxes: Any
    compiled: bool

    def ranks(self, queries: Ringed, crew: Crew | None = None) -> OwnRank:
        """Count for each query the targets nearer than its own, and those as near.

        Parameters
        ----------
        queries : Ringed
            At least one.
        crew : Crew, optional
            Default all processors.

        Returns
        -------
        OwnRank
            The same however the queries are cut.
        """
        crew = crew or gather_crew(None)
        if self.compiled:
            from evalkit.kernels.counted_ranks import counted

            nearer, within = counted(queries, self, crew)
        else:
            nearer, within = self._all(queries, crew)
        return OwnRank(nearer, within - nearer)

    def _all(self, queries: Ringed, crew: Crew) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the targets nearer, and those nearer or as near, with NumPy alone."""
        targets = self.columns.T
        starts = np.flatnonzero(np.diff(self.whose, prepend=-1))

        def work(start: int, end: int) -> NDArray[np.int64]:
            points, below, reach = queries.part(start, end)
            squares = squares_between(points, targets)
            if len(starts):
                squares = np.minimum.reduceat(squares, starts, axis=1)
            nearer = np.count_nonzero(squares < below[:, None], axis=1)
            return np.stack([nearer, np.count_nonzero(squares <= reach[:, None], axis=1)])

        answers = in_blocks(work, len(queries.points), rows_a_block(targets), crew)
        nearer, within = np.concatenate(answers, axis=1)
        return nearer, within


def own_rank(  # noqa: PLR0913 - the last three say how, not what
    queries: Points,
    targets: Points,
    *,
    own: NDArray[np.integer] | None = None,
    owner: NDArray[np.integer] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    path: Path = "auto",
) -> OwnRank:
    """Count for each query the targets nearer than its own, and those as near.

    Parameters
    ----------
    queries : ndarray of float64, shape (n, p)
    targets : ndarray of float64, shape (m, p)
    own : ndarray of intp, shape (n,), optional
        Row of the own target of each query; row i for query i if left out, and m is n then.
    owner : ndarray of int, shape (m,), optional
        Which group each target belongs to, numbered from 0 without a gap: groups are then ranked
        instead of targets, each at the distance of its nearest member, and `own` is a group.
    threads : int, optional
        None uses every processor that this process may run on.
    progress : callable, optional
        Called now and then with (queries done, queries in all).
    path : {"auto", "dense", "compiled"}
        NumPy alone, compiled code, or the choice between them by the size of the tables. The
        answer is the same.

    Returns
    -------
    OwnRank
        Ties as the module says; empty arrays if n is 0.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a coordinate is missing or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import own_rank
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> rank = own_rank(line, line + 1.0)
    >>> rank.nearer.tolist(), rank.tied.tolist()
    ([0, 1, 1], [1, 1, 2])
    """
    if own is None:
        if owner is not None:
            raise ValueError("with groups of targets each query needs its own group")
        if len(queries) != len(targets):
            raise ValueError("queries and their own targets differ in number")
        own = np.arange(len(queries))
    if len(queries) == 0:
        return OwnRank(np.zeros(0, np.int64), np.zeros(0, np.int64))
    ready, ringed = rank_search(queries, targets, own, owner, path=path)
    return ready.ranks(ringed, gather_crew(threads, progress))


def rank_search(
    queries: Points,
    targets: Points,
    own: NDArray[np.integer],
    owner: NDArray[np.integer] | None = None,
    *,
    path: Path = "auto",
) -> tuple[RankTargets, Ringed]:
    """Return targets ready to be counted, and the queries with what they count.

    Parameters
    ----------
    queries, targets, own, owner, path
        As for `own_rank`; at least one query.

    Returns
    -------
    tuple of RankTargets and Ringed

    Raises
    ------
    ValueError
        If the shapes do not fit, or a coordinate is missing or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.own_ranks import rank_search
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> targets, queries = rank_search(line, line + 1.0, np.arange(3))
    >>> [targets.ranks(queries.part(k, k + 1)).nearer.item() for k in range(3)]
    [0, 1, 1]
    """
    if len(queries) != len(own):
        raise ValueError("queries and their own targets differ in number")
    check_points(queries, targets)
    if owner is None:
        columns, whose = np.ascontiguousarray(targets.T), np.zeros(0, np.int64)
        squares = _summed(queries - targets[own])
    else:
        order = np.argsort(owner, kind="stable")
        columns, whose = np.ascontiguousarray(targets[order].T), owner[order].astype(np.int64)
        squares = _nearest_own(queries, own, columns, whose)
    distance = np.sqrt(squares)
    slack = TIE_SHARE * distance + tie_floor(queries)
    rings = np.maximum(distance - slack, 0.0) ** 2, (distance + slack) ** 2
    ringed = Ringed(np.ascontiguousarray(queries), *rings)
    if path == "dense" or (path == "auto" and len(queries) * targets.size <= DENSE_CELLS):
        return RankTargets(columns, whose, None, compiled=False), ringed
    from evalkit.kernels.counted_ranks import laid_out

    return laid_out(ringed, columns, whose), ringed


def _summed(gaps: Points) -> Points:
    """Return the squares of the gaps, summed axis after axis, shape (n,)."""
    total = np.zeros(len(gaps))
    for one in gaps.T:
        total += one**2
    return total


def _nearest_own(
    queries: Points, own: NDArray[np.integer], columns: Points, whose: NDArray[np.int64]
) -> Points:
    """Return the square distance of each query to the nearest target of its own group."""
    starts, stops = whose.searchsorted(own, "left"), whose.searchsorted(own, "right")
    return np.array(
        [
            _summed((point[:, None] - columns[:, start:stop]).T).min()
            for point, start, stop in zip(queries, starts, stops, strict=True)
        ]
    )
