"""Gower's distance of each row to the row of the same number in another table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.columns import check_shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.columns import Column
    from evalkit.kernels.encoding import Cells

LARGEST_WHOLE = 2**62  # the difference of two smaller numbers fits into 64 bits


def own_distances(columns: Sequence[Column], *, capped: bool = False) -> NDArray[np.float64]:
    """Return for each query its distance to the target of the same row number.

    Parameters
    ----------
    columns : sequence of Column
        The variables, at least one; as many queries as targets.
    capped : bool
        Whether a difference counts at most 1; a column without a range then counts 0 where
        both cells are equal and 1 elsewhere, instead of 0 throughout.

    Returns
    -------
    ndarray of float64, shape (n,)
        The mean over the variables, as in `nearest`.

    Raises
    ------
    ValueError
        If the columns do not belong together, or queries and targets differ in number.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column, own_distances
    >>> age = Column(np.array([20, 30]), np.array([25, 30]), numeric=True, low=20, high=30)
    >>> town = Column(np.array([0, 1]), np.array([1, 1]), numeric=False)
    >>> own_distances([age, town]).tolist()
    [0.75, 0.0]
    """
    n, m = check_shapes(columns)
    if n != m:
        raise ValueError("queries and their own targets differ in number")
    total = np.zeros(n)
    for column in columns:
        total += _differences(column, capped=capped)
    return total / len(columns)


def _subtracted(query: Cells, target: Cells) -> NDArray[np.float64]:
    """Return query minus target; whole numbers are subtracted as such unless that overflows."""
    whole = query.dtype.kind == target.dtype.kind == "i"
    if whole and all(abs(int(end)) < LARGEST_WHOLE for c in (query, target) for end in _ends(c)):
        return np.subtract(query, target).astype(np.float64)
    return np.asarray(query.astype(np.float64) - target)


def _ends(cells: Cells) -> tuple[np.number, np.number]:
    return cells.min(initial=0), cells.max(initial=0)


def _differences(column: Column, *, capped: bool) -> NDArray[np.float64]:
    """Return delta_v of each pair of rows."""
    query, target = column.query, column.target
    if not column.numeric:
        return np.asarray(query != target, np.float64)
    query_missing, target_missing = np.isnan(query), np.isnan(target)
    low, high = column.low or 0.0, column.high or 0.0
    if high > low:
        parts = np.abs(_subtracted(query, target)) / (high - low)
        difference = np.minimum(parts, 1.0) if capped else parts
    else:
        difference = (query != target).astype(np.float64) * capped
    both_filled = ~(query_missing | target_missing)
    gaps = (query_missing != target_missing).astype(np.float64)
    return np.asarray(np.where(both_filled, difference, gaps))
