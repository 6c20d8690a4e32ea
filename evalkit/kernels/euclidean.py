"""Euclidean distances between points, such as rows projected on principal axes.

Coordinates are results of long sums, so equal rows can differ in their last digits.
Two distances d and e of a query therefore tie if they differ by no more than
`1e-9 * d + 1e-12 * E`, d the smaller (or the query's own) and E the root mean square of all
coordinates of the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Points = NDArray[np.float64]

TIE_SHARE = 1e-9  # of the distance ...
TIE_FLOOR = 1e-12  # ... and of the usual size of a coordinate
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
    check_points(queries, targets)
    if len(queries) == 0:
        return Closest(np.zeros(0), np.zeros(0, np.int64))
    floor = tie_floor(queries)

    def work(start: int, end: int) -> tuple[Points, NDArray[np.int64]]:
        squares = squares_between(queries[start:end], targets)
        least = np.sqrt(squares.min(axis=1))
        reach = least + TIE_SHARE * least + floor
        return least, np.count_nonzero(squares <= (reach**2)[:, None], axis=1)

    crew = gather_crew(threads, progress)
    answers = in_blocks(work, len(queries), rows_a_block(targets), crew)
    distance, size = (np.concatenate(parts) for parts in zip(*answers, strict=True))
    return Closest(distance, size.astype(np.int64))


def check_points(queries: Points, targets: Points) -> None:
    """Refuse points among which there is no distance.

    Parameters
    ----------
    queries, targets : ndarray of float64, shapes (n, p) and (m, p)

    Raises
    ------
    ValueError
        If the shapes do not fit, there is no target, or a coordinate is missing or infinite.
    """
    shapes = queries.shape, targets.shape
    if any(len(shape) != 2 for shape in shapes) or shapes[0][1] != shapes[1][1]:  # noqa: PLR2004 - a matrix has two
        raise ValueError("queries and targets must be matrices with the same number of columns")
    if len(targets) == 0:
        raise ValueError("there is no target row, so nothing can be nearest")
    if not (np.isfinite(queries).all() and np.isfinite(targets).all()):
        raise ValueError("a coordinate is missing or infinite")


def tie_floor(queries: Points) -> float:
    """Give what ties may differ by however near they are."""
    return TIE_FLOOR * float(np.sqrt(np.mean(queries**2))) if queries.size else 0.0


def rows_a_block(targets: Points) -> int:
    """Return how many queries are compared with all targets at once."""
    return max(1, BLOCK_CELLS // len(targets))


def squares_between(queries: Points, targets: Points) -> Points:
    """Square distances from differences: |x|^2 + |y|^2 - 2xy would lose close pairs to rounding."""
    total = np.zeros((len(queries), len(targets)))
    part = np.empty_like(total)
    for x, y in zip(queries.T, targets.T, strict=True):
        np.subtract(x[:, None], y, out=part)
        np.square(part, out=part)
        total += part
    return total
