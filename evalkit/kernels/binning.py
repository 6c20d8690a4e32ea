"""Columns as few levels: quantile bins of numbers, frequent levels of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64] | NDArray[np.int64]

AXIS_DECIMALS = 4  # in standard deviations: much finer than a cell, coarser than rounding
MOST_LEVELS = 65_535  # a code is an unsigned 16-bit integer


def quantile_cuts(values: Numbers, bins: int) -> NDArray[np.float64]:
    """Return where the quantile bins of a column begin: a value belongs above each cut it reaches.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The column that sets the bins; NaN for missing.
    bins : int
        Bins wanted; fewer come back where values repeat.

    Returns
    -------
    ndarray of float64, shape (cuts,)
        Increasing, at most bins - 1. The quantiles that are different, without the least value;
        a column of two values always has two bins, however rare one is. Empty where no cell is
        filled, or where the column does not vary.

    Notes
    -----
    A quantile is the value that follows its share of the sorted cells: a value of the column, so
    that the bins follow every increasing change of units, and even bins where no value repeats.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.binning import quantile_cuts
    >>> quantile_cuts(np.array([1, 2, 3, 4, 5, 6]), 3)
    array([3., 5.])
    >>> quantile_cuts(np.array([0, 0, 0, 0, 7]), 3)
    array([7.])
    """
    ordered = np.sort(values[~np.isnan(values)].astype(np.float64))
    if not ordered.size or ordered[0] == ordered[-1]:
        return np.zeros(0)
    places = np.arange(1, bins) * len(ordered) // bins  # (bins - 1,), cells below each quantile
    cuts = np.unique(ordered[places])
    cuts = cuts[cuts > ordered[0]]
    # Where one value fills every bin, whatever lies above it is the other bin.
    above: NDArray[np.float64] = ordered[ordered > ordered[0]][:1]
    return cuts if cuts.size else above


def bin_codes(values: Numbers, cuts: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Return the bin of each value, 0 to `len(cuts)`, and `len(cuts) + 1` for a missing cell.

    Parameters
    ----------
    values : ndarray, shape (n,)
        NaN for missing.
    cuts : ndarray of float64
        From `quantile_cuts`.

    Returns
    -------
    ndarray of uint16, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.binning import bin_codes
    >>> bin_codes(np.array([1.0, 2.0, 3.0, np.nan]), np.array([2.0])).tolist()
    [0, 1, 1, 2]
    """
    found = np.searchsorted(cuts, values.astype(np.float64), side="right")
    return np.where(np.isnan(values), len(cuts) + 1, found).astype(np.uint16)


def level_map(
    codes: NDArray[np.int64], others: tuple[NDArray[np.int64], ...], fewest: int
) -> NDArray[np.uint16]:
    """Return the new code of each level: the frequent ones by size, all others joined in one.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
        Levels of the column that decides; -1 for missing.
    others : tuple of ndarray of int64
        The same column of other tables.
    fewest : int
        Cells that a level must have to stay by itself.

    Returns
    -------
    ndarray of uint16, shape (levels + 1,)
        By old code; the last entry, which -1 points to, is that of a missing cell. It does not
        depend on the order of the old codes, unless levels are as frequent in every table.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.binning import level_map
    >>> level_map(np.array([0, 1, 1, 1, 2, 2, -1]), (), 2).tolist()
    [2, 0, 1, 3]
    """
    size = max(part.max(initial=-1) for part in (codes, *others)) + 1
    counts = [np.bincount(part[part >= 0], minlength=size) for part in (codes, *others)]
    order = np.lexsort(tuple(-count for count in reversed(counts)))
    kept = order[counts[0][order] >= fewest][: MOST_LEVELS - 2]
    found = np.full(size + 1, len(kept), np.uint16)
    found[kept] = np.arange(len(kept))
    found[-1] = len(kept) + 1
    return found


class AxisGrid:
    """Quantile cells on each axis of a cloud of points.

    Parameters
    ----------
    points : ndarray of float64, shape (n, axes)
        Coordinates whose quantiles cut the axes.
    grid : int
        Cells on an axis.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.binning import AxisGrid
    >>> grid = AxisGrid(np.array([[0.0], [1.0], [2.0], [3.0]]), 2)
    >>> grid.cells(np.array([[9.0], [1.0]]))
    array([[1, 0]])
    """

    def __init__(self, points: NDArray[np.float64], grid: int) -> None:
        # Equal rows may differ in the last digit once they are multiplied: a cut must not part
        # them.
        deviation = points.std(axis=0)
        self._unit = np.where(deviation > 0, deviation, 1.0)
        self._cuts = [
            quantile_cuts(self._rounded(points[:, k], k), grid) for k in range(points.shape[1])
        ]

    def cells(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the cell of each point on each axis, shape (axes, n); 0 to `grid` - 1."""
        codes = [
            bin_codes(self._rounded(points[:, k], k), cuts) for k, cuts in enumerate(self._cuts)
        ]
        return np.stack(codes).astype(np.intp)

    def _rounded(self, axis: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return the coordinates on one axis in deviations, rounded."""
        return np.asarray(np.round(axis / self._unit[k], AXIS_DECIMALS))


def cell_shares(rows: NDArray[np.intp], cells: int) -> NDArray[np.float64]:
    """Return the share of the rows in each cell, shape (cells,)."""
    return np.asarray(np.bincount(rows, minlength=cells) / len(rows))


def hellinger_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the Hellinger distance of two sets of shares, 0 to 1; exactly 0 for equal ones."""
    # 1 - sum sqrt(p q) is the same, but not 0 to the last digit for equal shares.
    return float(np.sqrt(min(1.0, np.sum((np.sqrt(first) - np.sqrt(second)) ** 2) / 2)))
