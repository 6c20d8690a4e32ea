"""From the cells of a column to numbers that give exact distances.

A numeric column becomes whole numbers from 0 up wherever its cells are integers or decimals with
at most six places: sums of whole numbers have no rounding, so ties are ties.
A categorical column keeps only the levels that both sides know. A level that the other side never
carries can match nothing, so all such levels of one side are one level: the distances stay the
same, and rows that differed only there become equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.kernels.cell_facts import Cells
from evalkit.kernels.frames import LevelFrame, frame_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evalkit.kernels.columns import Column
    from evalkit.kernels.frames import Frame


@dataclass(frozen=True, eq=False, repr=False)
class NumericCells:
    """A numeric column, counted from its least cell.

    Attributes
    ----------
    query, target : ndarray, shapes (n,) and (m,)
        Whole numbers in units of the last decimal place, or float64 in shares of the range.
    scale : int or float
        The range in the same unit; more than 0. 1.0 for shares.
    span : int or float
        The largest cell of either side.
    base : int or float
        Where the caller's `low` lies in this count.
    limit : int or float or None
        A difference above it counts as one whole range; None if none can be above it.
    missing : bool
        Whether a cell is missing. Such a cell holds `2 * span + scale`.
    whole : bool
        Whether the cells are whole numbers: int32, or int64 where the range asks for it.
    """

    query: Cells
    target: Cells
    scale: float
    span: float
    base: float
    limit: float | None
    missing: bool
    whole: bool


@dataclass(frozen=True, eq=False, repr=False)
class LevelCells:
    """A categorical column, or one in which cells are only equal or different.

    Attributes
    ----------
    query, target : ndarray of int32, shapes (n,) and (m,)
        Codes from 0 to `levels - 1`; equal codes match.
    levels : int
    """

    query: NDArray[np.int32]
    target: NDArray[np.int32]
    levels: int


def encode(column: Column, *, capped: bool) -> NumericCells | LevelCells:
    """Cells of one column in the form the search works on, worked out once for each column.

    Parameters
    ----------
    column : Column
    capped : bool
        Whether a difference counts at most 1, and a column of range 0 gives 0 if equal, else 1.
        Without it a column of range 0 gives 0 between filled cells.

    Returns
    -------
    NumericCells or LevelCells
    """
    if capped not in column.encoded:
        column.encoded[capped] = _encode(column, capped=capped)
    found: NumericCells | LevelCells = column.encoded[capped]
    return found


def _encode(column: Column, *, capped: bool) -> NumericCells | LevelCells:
    ends = None if column.low is None or column.high is None else (column.low, column.high)
    frame = frame_of(
        [column.query], column.target, numeric=column.numeric, ends=ends, capped=capped
    )
    query, target = frame.encode(column.query, "query"), frame.encode(column.target, "target")
    return cells_of(frame, query, target)


def cells_of(frame: Frame, query: Cells, target: Cells) -> NumericCells | LevelCells:
    """Put encoded cells of both sides beside what is known of their column.

    Parameters
    ----------
    frame : NumericFrame or LevelFrame
    query, target : ndarray
        From `frame.encode`.

    Returns
    -------
    NumericCells or LevelCells
    """
    if isinstance(frame, LevelFrame):
        return LevelCells(query, target, frame.levels)
    return NumericCells(
        query,
        target,
        frame.scale,
        frame.span,
        frame.base,
        frame.limit,
        frame.missing,
        frame.whole,
    )


__all__ = ["Cells", "LevelCells", "NumericCells", "cells_of", "encode"]
