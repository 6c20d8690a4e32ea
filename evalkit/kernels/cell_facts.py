"""What must be known of all cells of a column before one of them can be encoded.

The facts of a part of the cells merge exactly, so they do not depend on how a table is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Cells = NDArray[Any]

MOST_DECIMALS = 6
LARGEST_WHOLE = 2**53  # beyond it float64 skips integers
SURELY_WRITTEN = 2**50  # below it a decimal of k places is one of k + 1 places, rounding and all
ALL_PLACES = (1 << MOST_DECIMALS + 1) - 1
FIRST_LOOK = 64  # cells tried before all are tested for decimals
PART = 2**16  # cells at a time: they stay in the processor's cache


@dataclass(frozen=True)
class NumberFacts:
    """Of the cells of one side of a numeric column.

    Attributes
    ----------
    kind : str
        Of the dtype: ``"i"`` or ``"f"``.
    least, greatest : int or float or None
        Of the filled cells; None if there is none.
    missing : bool
        Whether a cell is missing.
    places : int
        Bit p is set where every filled cell is a decimal with p places, p from 0 to 6.
    """

    kind: str
    least: float | None
    greatest: float | None
    missing: bool
    places: int

    def merged(self, other: NumberFacts) -> NumberFacts:
        """Return the facts of the cells of both."""
        lows = [f.least for f in (self, other) if f.least is not None]
        highs = [f.greatest for f in (self, other) if f.greatest is not None]
        return NumberFacts(
            self.kind,
            min(lows, default=None),
            max(highs, default=None),
            self.missing or other.missing,
            self.places & other.places,
        )


@dataclass(frozen=True, eq=False)
class LevelFacts:
    """Of the cells of one side of a column in which cells are only equal or different.

    Attributes
    ----------
    present : ndarray
        The different filled cells, increasing.
    missing : bool
        Whether a number is missing.
    rows : int
    """

    present: Cells
    missing: bool
    rows: int


def number_facts(cells: Cells) -> NumberFacts:
    """Return the facts of numbers, NaN where one is missing.

    Parameters
    ----------
    cells : ndarray of int or float64

    Returns
    -------
    NumberFacts

    Examples
    --------
    >>> facts = number_facts(np.array([0.5, np.nan, 2.25]))
    >>> facts.least, facts.greatest, facts.missing, bin(facts.places)
    (0.5, 2.25, True, '0b1111100')
    """
    return _in_parts(cells, _number_facts, NumberFacts.merged)


def _number_facts(cells: Cells) -> NumberFacts:
    if cells.dtype.kind == "i":
        low, high = (int(cells.min()), int(cells.max())) if len(cells) else (None, None)
        return NumberFacts("i", low, high, missing=False, places=whole_places(low, high))
    gaps = np.isnan(cells)
    missing = bool(gaps.any())
    filled = cells[~gaps] if missing else cells
    if not len(filled):
        return NumberFacts("f", None, None, missing, ALL_PLACES)
    least, greatest = filled.min().item(), filled.max().item()
    return NumberFacts("f", least, greatest, missing, decimal_places(filled))


def whole_places(least: float | None, greatest: float | None) -> int:
    """Return which numbers of places write whole numbers between two ends, as float64."""
    if least is None or greatest is None:
        return ALL_PLACES
    largest = float(max(abs(least), abs(greatest)))
    return sum(1 << p for p in range(MOST_DECIMALS + 1) if largest * 10.0**p < LARGEST_WHOLE)


def decimal_places(cells: NDArray[np.float64]) -> int:
    """Return which numbers of decimal places write every cell exactly, bit by bit.

    Parameters
    ----------
    cells : ndarray of float64
        Filled.

    Returns
    -------
    int
        0 if none does.
    """
    found = 0
    near = float(np.abs(cells).max(initial=0.0)) * 10.0**MOST_DECIMALS < SURELY_WRITTEN
    for places in range(MOST_DECIMALS + 1):
        if _written(cells[:FIRST_LOOK], places) and _written(cells, places):
            if near:
                return ALL_PLACES - (1 << places) + 1
            found |= 1 << places
    return found


def _written(cells: Cells, places: int) -> bool:
    """Whether each cell is the float64 closest to a decimal with so many places."""
    power = 10.0**places
    if float(np.abs(cells).max(initial=0.0)) * power >= LARGEST_WHOLE:
        return False
    return bool((np.rint(cells * power) / power == cells).all())


def level_facts(codes: Cells) -> LevelFacts:
    """Return the facts of integer codes.

    Parameters
    ----------
    codes : ndarray of int

    Returns
    -------
    LevelFacts
    """
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if high - low > 4 * len(codes) + 65_536:
        return LevelFacts(np.unique(codes), missing=False, rows=len(codes))
    marks = np.zeros(high - low + 1, np.bool_)
    for start in range(0, len(codes), PART):
        marks[codes[start : start + PART].astype(np.intp) - low] = True
    return LevelFacts(np.flatnonzero(marks) + low, missing=False, rows=len(codes))


def value_facts(cells: Cells) -> LevelFacts:
    """Return the facts of numbers that are only compared for equality.

    Parameters
    ----------
    cells : ndarray of int or float64

    Returns
    -------
    LevelFacts
    """
    filled = cells if cells.dtype.kind == "i" else cells[~np.isnan(cells)]
    return LevelFacts(np.unique(filled), len(filled) < len(cells), len(cells))


def _in_parts(
    cells: Cells,
    facts: Callable[[Cells], NumberFacts],
    merged: Callable[[NumberFacts, NumberFacts], NumberFacts],
) -> NumberFacts:
    starts = range(0, max(1, len(cells)), PART)
    return reduce(merged, (facts(cells[start : start + PART]) for start in starts))
