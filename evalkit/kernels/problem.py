"""All columns of one search in one unit, so that a distance is a plain sum.

Gower's distance is the mean over the columns of |x - y| / range (numeric) or 1[x != y].
Multiplied by the number of columns and by L, the least common multiple of the ranges, it is a sum
of whole numbers.
Where L gets too large for int64, or a column is no decimal, L is 1 and the sum is float64, taken
in the fixed order of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalkit.kernels.blocks import side_by_side
from evalkit.kernels.encoding import LevelCells, NumericCells, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.columns import Column
    from evalkit.kernels.encoding import Cells

Side = Literal["query", "target"]

TIE_SHARE = (
    10**9
)  # a tie is a distance within 1 / TIE_SHARE of the least one, after division by |V|


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Two tables in one unit of distance.

    Attributes
    ----------
    numerics : tuple of NumericCells
        Those without a limit first.
    plain : int
        How many of them have no limit.
    levels : tuple of LevelCells
    width : int
        |V|, the number of columns before any was left out.
    unit : int or float
        What a mismatch adds to a sum: L, or 1.0.
    tolerance : int or float
        Sums up to this much above the least one are ties.
    dtype : numpy dtype
        Of the sums: int32, int64 or float64.
    """

    numerics: tuple[NumericCells, ...]
    plain: int
    levels: tuple[LevelCells, ...]
    width: int
    unit: float
    tolerance: float
    dtype: np.dtype[Any]

    def values(self, side: Side, rows: NDArray[np.integer]) -> list[Cells]:
        """Numeric cells of some rows, one array a column, so that differences are parts of a sum.

        Parameters
        ----------
        side : {"query", "target"}
        rows : ndarray of int, shape (k,)

        Returns
        -------
        list of ndarray, shape (k,)
            In `dtype`.
        """
        return [
            self._scaled(cells, cells.query[rows] if side == "query" else cells.target[rows])
            for cells in self.numerics
        ]

    def codes(self, side: Side, rows: NDArray[np.integer]) -> list[NDArray[np.int32]]:
        """Level codes of some rows, one array a column.

        Parameters
        ----------
        side : {"query", "target"}
        rows : ndarray of int, shape (k,)

        Returns
        -------
        list of ndarray of int32, shape (k,)
        """
        return [
            cells.query[rows] if side == "query" else cells.target[rows] for cells in self.levels
        ]

    def limits(self) -> list[float | None]:
        """Give the limit of each numeric column: a larger difference counts as `unit`."""
        return [
            None if c.limit is None else self._scaled(c, np.array([c.limit]))[0].item()
            for c in self.numerics
        ]

    def distance(self, sums: Cells) -> NDArray[np.float64]:
        """Gower's distance of sums.

        Parameters
        ----------
        sums : ndarray of `dtype`

        Returns
        -------
        ndarray of float64
        """
        shares: NDArray[np.float64] = sums / (self.unit * self.width)
        return shares

    def joinable(self) -> bool:
        """Whether equal rows can be paired off: no other row ties with a distance of 0."""
        return all(c.whole and c.scale * self.width < 0.99 * TIE_SHARE for c in self.numerics)

    def _scaled(self, cells: NumericCells, counts: Cells) -> Cells:
        if self.dtype.kind == "i":
            return counts.astype(self.dtype) * (int(self.unit) // int(cells.scale))
        return counts / cells.scale


def pose(columns: Sequence[Column], *, capped: bool, crew: Crew) -> Problem:
    """Bring the columns of a search to one unit.

    Parameters
    ----------
    columns : sequence of Column
    capped : bool
        As in `encode`.
    crew : Crew

    Returns
    -------
    Problem
    """
    tasks = [partial(encode, column, capped=capped) for column in columns]
    return posed(side_by_side(tasks, crew, len(columns[0].query) + len(columns[0].target)))


def posed(cells: Sequence[NumericCells | LevelCells]) -> Problem:
    """Bring encoded columns to one unit.

    Parameters
    ----------
    cells : sequence of NumericCells or LevelCells
        Both sides of each column.

    Returns
    -------
    Problem
        The same for any part of the queries.
    """
    numerics = [c for c in cells if isinstance(c, NumericCells)]
    numerics.sort(key=lambda c: c.limit is not None)
    levels = tuple(c for c in cells if isinstance(c, LevelCells) and c.levels > 1)
    width = len(cells)
    unit, tolerance, dtype = _unit(numerics, len(levels), width)
    plain = sum(c.limit is None for c in numerics)
    return Problem(tuple(numerics), plain, levels, width, unit, tolerance, dtype)


def _unit(
    numerics: Sequence[NumericCells], n_levels: int, width: int
) -> tuple[float, float, np.dtype[Any]]:
    """L, the tolerance and the dtype in which no sum overflows."""
    if all(c.whole for c in numerics):
        unit = lcm(*(int(c.scale) for c in numerics))
        tolerance = unit * width // TIE_SHARE
        cells_end = [(2 * int(c.span) + int(c.scale)) * (unit // int(c.scale)) for c in numerics]
        most = sum(cells_end) + (n_levels + 1) * unit + tolerance
        for dtype in (np.int32, np.int64):
            if most < np.iinfo(dtype).max // 2:
                return unit, tolerance, np.dtype(dtype)
    return 1.0, width / TIE_SHARE, np.dtype(np.float64)
