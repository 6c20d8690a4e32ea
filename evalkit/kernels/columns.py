"""What a caller hands to the search: one column of two tables at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """One column, as the queries and the targets carry it.

    Parameters
    ----------
    query : ndarray, shape (n,)
        The cells of the rows that look for their nearest target.
        Numeric: int64 or float64, NaN where a cell is missing.
        Categorical: integer codes, -1 where a cell is missing.
    target : ndarray, shape (m,)
        The cells of the rows that are looked at, in the same coding.
    numeric : bool
        Whether differences count by their size (true) or only as equal or not (false).
    low, high : int or float, optional
        The ends of the range that a difference is divided by, in the unit of the cells.
        Numeric columns only.
        The caller decides over which tables they are taken; None if every cell there is missing.

    Raises
    ------
    ValueError
        If an array is not one-dimensional, has the wrong dtype, holds an infinite number, or
        if the range is turned round or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> Column(np.array([30, 41]), np.array([29, 50, 41]), numeric=True, low=29, high=50).numeric
    True
    """

    query: NDArray[np.int64] | NDArray[np.float64] | NDArray[np.int32]
    target: NDArray[np.int64] | NDArray[np.float64] | NDArray[np.int32]
    numeric: bool
    low: float | None = None
    high: float | None = None
    # Cells as the search works on them, by `capped`: one column serves many searches.
    encoded: dict[bool, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for cells in (self.query, self.target):
            if cells.ndim != 1:
                raise ValueError("a column is a one-dimensional array")
            if cells.dtype.kind not in ("if" if self.numeric else "i"):
                raise ValueError("numeric cells are int64 or float64, categorical ones are codes")
            if cells.dtype.kind == "f" and np.isinf(cells).any():
                raise ValueError("a numeric column holds an infinite number")
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high are given together or not at all")
        if self.low is None or self.high is None:
            return
        if not 0 <= self.high - self.low < np.inf:
            raise ValueError("low is above high, or their difference is not finite")


def check_shapes(columns: Sequence[Column]) -> tuple[int, int]:
    """Check that the columns belong together; the number of queries and of targets.

    Parameters
    ----------
    columns : sequence of Column

    Returns
    -------
    tuple of int
        Queries n, targets m.

    Raises
    ------
    ValueError
        If there is no column, no target, or the lengths differ.
    """
    if not columns:
        raise ValueError("at least one column is needed to measure a distance")
    n, m = len(columns[0].query), len(columns[0].target)
    if any(len(c.query) != n or len(c.target) != m for c in columns):
        raise ValueError("the columns of one search differ in length")
    if m == 0:
        raise ValueError("there is no target row, so nothing can be nearest")
    return n, m
