"""Which part of each tie set belongs to chosen target rows, and which rows are in any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks
from evalkit.kernels.dense import BLOCK_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evalkit.kernels.sets import NearestSets


def tie_share(sets: NearestSets, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each query the share of its nearest targets that are chosen rows, exactly.

    Parameters
    ----------
    sets : NearestSets
        From `nearest`.
    chosen : ndarray of bool, shape (m,)
        Target rows that count.

    Returns
    -------
    ndarray of float64, shape (n,)
        0 to 1; a set of equal distances counts each of its rows once.

    Raises
    ------
    ValueError
        If `chosen` has not one entry for each target row.

    Notes
    -----
    Tie sets that were too long to list are measured again, all of them, in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column, nearest
    >>> from evalkit.kernels.sharing import tie_share
    >>> age = Column(np.array([30, 41]), np.array([29, 50, 31]), numeric=True, low=29, high=50)
    >>> tie_share(nearest([age]), np.array([True, True, False])).tolist()
    [0.5, 1.0]
    """
    if chosen.shape != sets.target.of_row.shape:
        raise ValueError("one entry for each target row is needed")
    groups = len(sets.target.count)
    # Whole numbers up to 2**53: sums in float64 are exact.
    weight = np.bincount(sets.target.of_row, weights=chosen, minlength=groups)
    until = np.concatenate([[0.0], np.cumsum(weight[sets.groups])])
    within = until[sets.starts[1:]] - until[sets.starts[:-1]]
    long = np.flatnonzero(~sets.listed)

    def measure(near: NDArray[np.bool_]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = near.astype(np.float64) @ weight
        return found

    if len(long):
        within[long] = np.concatenate(_measured(sets, long, measure))
    rows = sets.size[sets.query.first]
    share: NDArray[np.float64] = (within / rows)[sets.query.of_row]
    return share


def ever_nearest(sets: NearestSets) -> NDArray[np.bool_]:
    """Which target rows are among the nearest to at least one query.

    Parameters
    ----------
    sets : NearestSets
        From `nearest`.

    Returns
    -------
    ndarray of bool, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column, nearest
    >>> from evalkit.kernels.sharing import ever_nearest
    >>> age = Column(np.array([30, 30]), np.array([29, 50, 31]), numeric=True, low=29, high=50)
    >>> ever_nearest(nearest([age])).tolist()
    [True, False, True]
    """
    hit = np.zeros(len(sets.target.count), np.bool_)
    hit[sets.groups] = True
    long = np.flatnonzero(~sets.listed)
    if len(long):
        for found in _measured(sets, long, lambda near: near.any(axis=0)):
            hit |= found
    rows: NDArray[np.bool_] = hit[sets.target.of_row]
    return rows


def hit_weights(sets: NearestSets, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of the queries falls to each target row: a tie set shares what its query weighs.

    Parameters
    ----------
    sets : NearestSets
        From `nearest`.
    weights : ndarray of float64, shape (n,)
        What each query weighs, 0 or more.

    Returns
    -------
    ndarray of float64, shape (m,)
        Their sum is that of the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column, nearest
    >>> from evalkit.kernels.sharing import hit_weights
    >>> age = Column(np.array([30, 30]), np.array([29, 50, 31]), numeric=True, low=29, high=50)
    >>> hit_weights(nearest([age]), np.ones(2)).tolist()
    [1.0, 0.0, 1.0]
    """
    groups = len(sets.target.count)
    weight = np.bincount(sets.query.of_row, weights, minlength=len(sets.query.count))
    each = weight / sets.size[sets.query.first]  # a target row's part of each group of queries
    lengths = np.diff(sets.starts)
    found = np.bincount(sets.groups, np.repeat(each, lengths), minlength=groups)
    long = np.flatnonzero(~sets.listed)
    if len(long):
        dense, tolerance = sets.measure(), sets.problem.dtype.type(sets.problem.tolerance)
        for some in np.array_split(long, -(-len(long) * groups // BLOCK_CELLS)):
            sums = dense.sums(sets.query.first[some])
            near = sums <= (sets.least[some] + tolerance)[:, None]
            found += each[some] @ near.astype(np.float64)
    rows: NDArray[np.float64] = found[sets.target.of_row]
    return rows


def _measured(
    sets: NearestSets,
    groups: NDArray[np.intp],
    measure: Callable[[NDArray[np.bool_]], Any],
) -> list[Any]:
    """Measure groups of queries whose tie sets are not listed, block by block."""
    dense = sets.measure()
    tolerance = sets.problem.dtype.type(sets.problem.tolerance)

    def block(start: int, end: int) -> Any:
        some = groups[start:end]
        near = dense.sums(sets.query.first[some]) <= (sets.least[some] + tolerance)[:, None]
        return measure(near)

    size = max(1, BLOCK_CELLS // len(sets.target.count))
    return in_blocks(block, len(groups), size, gather_crew(None))
