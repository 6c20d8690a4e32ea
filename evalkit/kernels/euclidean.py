"""Euclidean distances between points, such as rows projected on principal axes.

Coordinates are results of long sums, so equal rows can differ in their last digits.
Two distances d and e of a query therefore tie if they differ by no more than
`1e-9 * d + 1e-12 * E`, d the smaller (or the query's own) and E the root mean square of all
coordinates of the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew

    Points = NDArray[np.float64]

Path = Literal["auto", "dense", "compiled"]

TIE_SHARE = 1e-9  # of the distance ...
TIE_FLOOR = 1e-12  # ... and of the usual size of a coordinate
DENSE_CELLS = 500_000_000  # coordinates compared before a compiler is loaded
BLOCK_CELLS = 131_072  # distances in one block: two such arrays stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Closest:
    """The nearest targets of each query.

    Attributes
    ----------
    distance : ndarray of float64, shape (n,)
        To the nearest target, in the unit of the coordinates.
    size : ndarray of int64, shape (n,)
        How many targets tie for it; at least 1.
    """

    distance: Points
    size: NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class Asked:
    """The points that look for their own target.

    Attributes
    ----------
    points : ndarray of float64, shape (n, p)
    own : ndarray of int, shape (n,)
        The target of each, or the group of targets.
    floor : float
        What ties may differ by however near they are.
    """

    points: Points
    own: NDArray[np.integer]
    floor: float

    def rings(self, squares: Points) -> tuple[Points, Points]:
        """Return the squares under which a target is nearer, and up to which it is as near.

        Parameters
        ----------
        squares : ndarray of float64, shape (k,)
            Square distances to the own targets.

        Returns
        -------
        tuple of ndarray of float64, each of shape (k,)
        """
        distance = np.sqrt(squares)
        slack = TIE_SHARE * distance + self.floor
        return np.maximum(distance - slack, 0.0) ** 2, (distance + slack) ** 2


def closest(
    queries: Points,
    targets: Points,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Closest:
    """Find for each query the Euclidean distance to its nearest target, and how many have it.

    Parameters
    ----------
    queries : ndarray of float64, shape (n, p)
    targets : ndarray of float64, shape (m, p)
    threads : int, optional
        None uses every processor that this process may run on.
    progress : callable, optional
        Called now and then with (queries done, queries in all).

    Returns
    -------
    Closest
        Ties as the module says; empty arrays if n is 0.

    Raises
    ------
    ValueError
        If the shapes do not fit, there is no target, or a coordinate is missing or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> found = closest(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [4.0, 3.0], [9.0, 9.0]]))
    >>> found.distance.tolist(), found.size.tolist()
    ([5.0], [2])
    """
    _check(queries, targets)
    if len(queries) == 0:
        return Closest(np.zeros(0), np.zeros(0, np.int64))
    floor = _floor(queries)

    def work(start: int, end: int) -> tuple[Points, NDArray[np.int64]]:
        squares = _squares(queries[start:end], targets)
        least = np.sqrt(squares.min(axis=1))
        reach = least + TIE_SHARE * least + floor
        return least, np.count_nonzero(squares <= (reach**2)[:, None], axis=1)

    crew = gather_crew(threads, progress)
    answers = in_blocks(work, len(queries), _rows_a_block(targets), crew)
    distance, size = (np.concatenate(parts) for parts in zip(*answers, strict=True))
    return Closest(distance, size.astype(np.int64))


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
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> rank = own_rank(line, line + 1.0)
    >>> rank.nearer.tolist(), rank.tied.tolist()
    ([0, 1, 1], [1, 1, 2])
    """
    if owner is not None and own is None:
        raise ValueError("with groups of targets each query needs its own group")
    if len(queries) != (len(targets) if own is None else len(own)):
        raise ValueError("queries and their own targets differ in number")
    if len(queries) == 0:
        return OwnRank(np.zeros(0, np.int64), np.zeros(0, np.int64))
    _check(queries, targets)
    asked = Asked(queries, np.arange(len(queries)) if own is None else own, _floor(queries))
    crew = gather_crew(threads, progress)
    cells = len(queries) * targets.size
    if path == "compiled" or (path == "auto" and cells > DENSE_CELLS):
        from evalkit.kernels.counted_ranks import counted_ranks

        nearer, within = counted_ranks(asked, targets, owner, crew)
    else:
        nearer, within = _all_ranks(asked, targets, owner, crew)
    return OwnRank(nearer, within - nearer)


def _all_ranks(
    asked: Asked, targets: Points, owner: NDArray[np.integer] | None, crew: Crew
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the targets nearer than the own one, and those nearer or as near, with NumPy alone."""
    starts = None
    if owner is not None:
        order = np.argsort(owner, kind="stable")
        targets, starts = targets[order], np.flatnonzero(np.diff(owner[order], prepend=-1))

    def work(start: int, end: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        squares = _squares(asked.points[start:end], targets)
        if starts is not None:
            squares = np.minimum.reduceat(squares, starts, axis=1)
        below, reach = asked.rings(squares[np.arange(end - start), asked.own[start:end]])
        nearer = np.count_nonzero(squares < below[:, None], axis=1)
        return nearer, np.count_nonzero(squares <= reach[:, None], axis=1)

    answers = in_blocks(work, len(asked.points), _rows_a_block(targets), crew)
    nearer, within = (
        np.concatenate(parts).astype(np.int64) for parts in zip(*answers, strict=True)
    )
    return nearer, within


def _check(queries: Points, targets: Points) -> None:
    shapes = queries.shape, targets.shape
    if any(len(shape) != 2 for shape in shapes) or shapes[0][1] != shapes[1][1]:  # noqa: PLR2004 - a matrix has two
        raise ValueError("queries and targets must be matrices with the same number of columns")
    if len(targets) == 0:
        raise ValueError("there is no target row, so nothing can be nearest")
    if not (np.isfinite(queries).all() and np.isfinite(targets).all()):
        raise ValueError("a coordinate is missing or infinite")


def _floor(queries: Points) -> float:
    """Give what ties may differ by however near they are."""
    return TIE_FLOOR * float(np.sqrt(np.mean(queries**2))) if queries.size else 0.0


def _rows_a_block(targets: Points) -> int:
    return max(1, BLOCK_CELLS // len(targets))


def _squares(queries: Points, targets: Points) -> Points:
    """Square distances from differences: |x|^2 + |y|^2 - 2xy would lose close pairs to rounding."""
    total = np.zeros((len(queries), len(targets)))
    part = np.empty_like(total)
    for x, y in zip(queries.T, targets.T, strict=True):
        np.subtract(x[:, None], y, out=part)
        np.square(part, out=part)
        total += part
    return total
