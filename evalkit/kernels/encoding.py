"""From the cells of a column to numbers that give exact distances.

A numeric column becomes whole numbers from 0 up wherever its cells are integers or decimals with
at most six places: sums of whole numbers have no rounding, so ties are ties.
A categorical column keeps only the levels that both sides know. A level that the other side never
carries can match nothing, so all such levels of one side are one level: the distances stay the
same, and rows that differed only there become equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from evalkit.kernels.columns import Column

Cells = NDArray[Any]

MOST_DECIMALS = 6
LARGEST_WHOLE = 2**53  # beyond it float64 skips integers
LARGEST_SPAN = 2**59  # leaves room for the mark of a missing cell in int64
FIRST_LOOK = 64  # cells tried before a whole column is tested for decimals


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
    if not column.numeric:
        return _levels(column.query, column.target)
    low, high = column.low, column.high
    if low is None or high is None or low == high:
        return _constant(column.query, column.target, capped=capped)
    whole = _in_whole_numbers(column, low, high)
    if whole is not None:
        query, target, first, last = whole
        counted = _count(query, target, first, last, capped=capped)
        if max(counted.span, counted.scale) <= LARGEST_SPAN:
            return counted
    query, target = (_split(c.astype(np.float64)) for c in (column.query, column.target))
    return _in_shares(_count(query, target, float(low), float(high), capped=capped))


@dataclass(frozen=True, eq=False, repr=False)
class _Side:
    """The filled cells of one table, and where the others are."""

    filled: Cells
    gap: NDArray[np.bool_] | None


def _one_dtype(query: Cells, target: Cells) -> tuple[Cells, Cells]:
    if query.dtype.kind == target.dtype.kind:
        return query, target
    return query.astype(np.float64), target.astype(np.float64)


def _split(cells: Cells) -> _Side:
    if cells.dtype.kind == "i":
        return _Side(cells.astype(np.int64, copy=False), None)
    gap = np.isnan(cells)
    return _Side(cells[~gap], gap) if gap.any() else _Side(cells, None)


def _levels(query: Cells, target: Cells) -> LevelCells:
    low = int(min(query.min(initial=0), target.min(initial=0)))
    high = int(max(query.max(initial=0), target.max(initial=0)))
    if high - low > 4 * (len(query) + len(target)) + 65_536:
        joined = np.unique(np.concatenate([query, target]), return_inverse=True)[1]
        return _levels(joined[: len(query)], joined[len(query) :])
    query_place, target_place = query.astype(np.intp) - low, target.astype(np.intp) - low
    in_query = np.zeros(high - low + 1, np.bool_)
    in_target = np.zeros(high - low + 1, np.bool_)
    in_query[query_place] = True
    in_target[target_place] = True
    shared = in_query & in_target
    count = int(shared.sum())
    code = np.cumsum(shared, dtype=np.int32) - np.int32(1)
    query_strays, target_strays = bool((in_query > shared).any()), bool((in_target > shared).any())
    query_code = np.where(shared, code, np.int32(count))
    target_code = np.where(shared, code, np.int32(count + query_strays))
    levels = count + query_strays + target_strays
    return LevelCells(query_code[query_place], target_code[target_place], levels)


def _constant(query: Cells, target: Cells, *, capped: bool) -> LevelCells:
    """Range 0, or no range at all: only equal or not is left to say."""
    joined = np.concatenate([query, target])
    filled = np.ones(len(joined), np.bool_) if joined.dtype.kind == "i" else ~np.isnan(joined)
    codes = np.full(len(joined), -1, np.int64)
    codes[filled] = np.unique(joined[filled], return_inverse=True)[1] if capped else 0
    return _levels(codes[: len(query)], codes[len(query) :])


def _in_whole_numbers(
    column: Column, low: float, high: float
) -> tuple[_Side, _Side, int, int] | None:
    """Both sides and the range in units of the last decimal place; None if there is none."""
    query, target = (_split(side) for side in _one_dtype(column.query, column.target))
    cells = [query.filled, target.filled]
    fractions = [c for c in cells if c.dtype.kind == "f"]
    if fractions or not (isinstance(low, int) and isinstance(high, int)):
        fractions.append(np.array([low, high], np.float64))
    places = _decimals(fractions)
    if places is None or (places > 0 and any(c.dtype.kind == "i" for c in cells)):
        return None
    query, target = (_Side(_units(s.filled, places), s.gap) for s in (query, target))
    first, last = (round(end * 10**places) for end in (low, high))
    return query, target, first, last


def _decimals(arrays: list[Cells]) -> int | None:
    """Fewest decimal places that write every cell exactly, None if more than six."""
    for places in range(MOST_DECIMALS + 1):
        if all(_written(cells[:FIRST_LOOK], places) for cells in arrays) and all(
            _written(cells, places) for cells in arrays
        ):
            return places
    return None


def _written(cells: Cells, places: int) -> bool:
    """Whether each cell is the float64 closest to a decimal with so many places."""
    power = 10.0**places
    if float(np.abs(cells).max(initial=0.0)) * power >= LARGEST_WHOLE:
        return False
    return bool((np.rint(cells * power) / power == cells).all())


def _units(cells: Cells, places: int) -> NDArray[np.int64]:
    return cells if cells.dtype.kind == "i" else np.rint(cells * 10.0**places).astype(np.int64)


def _count(query: _Side, target: _Side, low: float, high: float, *, capped: bool) -> NumericCells:
    """Count the cells from the least one, and mark the missing ones."""
    scale = high - low
    sides = [query, target]
    if capped and len(query.filled) and len(target.filled):
        sides = _pull_in(query, target, scale)
    filled = [side.filled for side in sides if len(side.filled)]
    least = min((cells.min().item() for cells in filled), default=low)
    span = max((cells.max().item() for cells in filled), default=low) - least
    missing = any(side.gap is not None for side in sides)
    whole = isinstance(scale, int)
    if whole and span > LARGEST_SPAN:
        return NumericCells(query.filled, target.filled, scale, span, 0, None, missing, whole)
    limit: float | None = span if missing else None
    if capped:
        limit = scale if missing or span > scale else None
    cells = [_filled_up(side, least, 2 * span + scale) for side in sides]
    return NumericCells(cells[0], cells[1], scale, span, low - least, limit, missing, whole)


def _filled_up(side: _Side, least: float, mark: float) -> Cells:
    counted: Cells = side.filled - least
    if isinstance(mark, int) and mark <= np.iinfo(np.int32).max:
        counted = counted.astype(np.int32)  # half the memory of a million rows
    if side.gap is None:
        return counted
    full = np.full(len(side.gap), mark, counted.dtype)
    full[~side.gap] = counted
    return full


def _pull_in(query: _Side, target: _Side, scale: float) -> list[_Side]:
    """Move cells over one range away from every cell of the other side to one range away.

    A capped difference stays the same, and far cells, which cannot be told apart, become equal.
    """
    near_target = _Side(_clip(target.filled, query.filled, scale), target.gap)
    return [_Side(_clip(query.filled, near_target.filled, scale), query.gap), near_target]


def _clip(cells: Cells, others: Cells, scale: float) -> Cells:
    low, high = others.min().item() - scale, others.max().item() + scale
    if cells.dtype.kind == "i":
        ends = np.iinfo(np.int64)
        low, high = max(low, int(ends.min)), min(high, int(ends.max))
    clipped: Cells = np.clip(cells, low, high)
    return clipped


def _in_shares(cells: NumericCells) -> NumericCells:
    """Divide by the range, which loses the exact sums, so it comes last."""
    return NumericCells(
        cells.query / cells.scale,
        cells.target / cells.scale,
        1.0,
        cells.span / cells.scale,
        cells.base / cells.scale,
        None if cells.limit is None else cells.limit / cells.scale,
        cells.missing,
        whole=False,
    )
