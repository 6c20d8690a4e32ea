"""How the cells of one column are encoded, decided once over both whole tables.

Each side, and each part of a side, is then encoded by itself, with the same numbers however it is
cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from evalkit.kernels.cell_facts import (
    MOST_DECIMALS,
    PART,
    LevelFacts,
    NumberFacts,
    decimal_places,
    level_facts,
    number_facts,
    value_facts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.cell_facts import Cells

    Side = Literal["query", "target"]
    Ends = tuple[float, float]

LARGEST_SPAN = 2**59  # leaves room for the mark of a missing cell in int64
LARGEST_SMALL = np.iinfo(np.int32).max


@dataclass(frozen=True)
class NumericFrame:
    """A numeric column, counted from its least cell.

    Attributes
    ----------
    scale : int or float
        The range in units of the last decimal place; more than 0. 1.0 for shares of the range.
    span : int or float
        The largest cell of either side.
    base : int or float
        Where the caller's `low` lies in this count.
    limit : int or float or None
        A difference above it counts as one whole range; None if none can be above it.
    missing : bool
        Whether a cell of either side is missing. Such a cell holds `2 * span + scale`.
    whole : bool
        Whether cells are whole numbers: int32, or int64 where the range asks for it.
    places : int
        Decimal places of a unit; 0 for shares.
    least : int or float
        What is taken off every cell, in units.
    ends : dict of str to tuple
        Where the cells of a side, query or target, are pulled in to; missing where they are not.
    divisor : float, optional
        What shares are divided by, last.
    """

    scale: float
    span: float
    base: float
    limit: float | None
    missing: bool
    whole: bool
    places: int
    least: float
    ends: dict[str, Ends]
    divisor: float | None = None

    def encode(self, cells: Cells, side: Side) -> Cells:
        """Return the cells of a side, or of a part of it, as the search works on them.

        Parameters
        ----------
        cells : ndarray of int or float64
        side : {"query", "target"}

        Returns
        -------
        ndarray of int32, int64 or float64
        """
        found = np.empty(len(cells), self._dtype)
        for start in range(0, len(cells), PART):
            part = cells[start : start + PART]
            gaps = np.isnan(part) if part.dtype.kind == "f" and self.missing else None
            if gaps is None or not gaps.any():
                found[start : start + PART] = self._counted(part, side)
            else:
                out = found[start : start + PART]
                out[~gaps] = self._counted(part[~gaps], side)
                out[gaps] = self._mark
        return found

    @property
    def _dtype(self) -> Any:
        if not self.whole:
            return np.float64
        return np.int32 if self._mark <= LARGEST_SMALL else np.int64  # half the memory

    @property
    def _mark(self) -> float:
        return 2 * self.span + self.scale

    def _counted(self, cells: Cells, side: Side) -> Cells:
        if self.whole and cells.dtype.kind == "f":
            cells = np.rint(cells * 10.0**self.places).astype(np.int64)
        else:
            cells = cells.astype(np.int64 if self.whole else np.float64, copy=False)
            if self.whole and self.places:
                cells = cells * 10**self.places
        if side in self.ends:
            cells = np.clip(cells, *self.ends[side])
        counted: Cells = cells - self.least
        return counted if self.divisor is None else counted / self.divisor


@dataclass(frozen=True, eq=False, repr=False)
class LevelFrame:
    """A column in which cells are only equal or different.

    A level that the other side never carries can match nothing, so all such levels of one side
    are one level: the distances stay the same, and rows that differed only there become equal.

    Attributes
    ----------
    shared : ndarray of int
        Levels of both sides, increasing; their places are their codes.
    strays : dict of str to int
        The code of a level that only the queries, or only the targets, carry.
    levels : int
        Codes go from 0 to `levels - 1`.
    span : tuple of int, optional
        Least and greatest level of either side, where a table between them is no large one.
    values : ndarray, optional
        The different numbers of both sides, where the cells are numbers: the place of a number is
        its level, and -1 that of a missing one. Empty where all filled cells are the same level.
    """

    shared: NDArray[np.integer]
    strays: dict[str, int]
    levels: int
    span: tuple[int, int] | None
    values: Cells | None = None

    def encode(self, cells: Cells, side: Side) -> NDArray[np.int32]:
        """Return the cells of a side, or of a part of it, as the search works on them.

        Parameters
        ----------
        cells : ndarray
            Codes, or numbers.
        side : {"query", "target"}

        Returns
        -------
        ndarray of int32
        """
        if self.values is not None:
            cells = _levels_of(cells, self.values)
        stray = np.int32(self.strays[side])
        if self.span is None or self.span[1] - self.span[0] > 16 * len(cells) + 65_536:
            place = np.minimum(np.searchsorted(self.shared, cells), max(0, len(self.shared) - 1))
            known = self.shared[place] == cells if len(self.shared) else np.zeros(len(cells), bool)
            return np.where(known, place.astype(np.int32), stray)
        low, high = self.span
        table = np.full(high - low + 1, stray)
        table[self.shared - low] = np.arange(len(self.shared), dtype=np.int32)
        found = np.empty(len(cells), np.int32)
        for start in range(0, len(cells), PART):
            place = cells[start : start + PART].astype(np.intp)
            place -= low
            np.take(table, place, out=found[start : start + PART])
        return found


Frame: TypeAlias = "NumericFrame | LevelFrame"


def frame_of(
    query: Sequence[Cells],
    target: Cells,
    *,
    numeric: bool,
    ends: Ends | None,
    capped: bool,
) -> Frame:
    """Return how the cells of a column are encoded.

    Parameters
    ----------
    query : sequence of ndarray
        All cells of the queries, in one or several arrays of one kind of dtype.
    target : ndarray
        All cells of the targets.
    numeric : bool
        Whether differences count by their size.
    ends : tuple of float, optional
        Low and high end of the range of a numeric column.
    capped : bool
        Whether a difference counts at most 1, and a column of range 0 gives 0 if equal, else 1.
        Without it a column of range 0 gives 0 between filled cells.

    Returns
    -------
    NumericFrame or LevelFrame
    """
    if not numeric:
        return _level_frame(_joined([level_facts(c) for c in query]), level_facts(target))
    if ends is None or ends[0] == ends[1]:
        facts = _joined([value_facts(c) for c in query]), value_facts(target)
        return _constant_frame(*facts, capped=capped)
    numbers = [number_facts(c) for c in query]
    together = numbers[0]
    for other in numbers[1:]:
        if other.kind != together.kind:  # one table of whole numbers, one of others
            together = NumberFacts("f", *_ends_of(together), together.missing, together.places)
        together = together.merged(other)
    return number_frame(together, number_facts(target), *ends, capped=capped)


def _ends_of(facts: NumberFacts) -> tuple[float | None, float | None]:
    return facts.least, facts.greatest


def _joined(facts: Sequence[LevelFacts]) -> LevelFacts:
    if len(facts) == 1:
        return facts[0]
    present = np.unique(np.concatenate([one.present for one in facts]))
    return LevelFacts(present, any(f.missing for f in facts), sum(f.rows for f in facts))


def _level_frame(query: LevelFacts, target: LevelFacts, values: Cells | None = None) -> LevelFrame:
    shared = np.intersect1d(query.present, target.present, assume_unique=True)
    query_stray, target_stray = (len(f.present) > len(shared) for f in (query, target))
    strays = {"query": len(shared), "target": len(shared) + query_stray}
    ends = [int(end) for f in (query, target) if len(f.present) for end in f.present[[0, -1]]]
    low, high = min(ends, default=0), max(ends, default=0)
    small = high - low <= 4 * (query.rows + target.rows) + 65_536
    levels = len(shared) + query_stray + target_stray
    return LevelFrame(shared, strays, levels, (low, high) if small else None, values)


def _constant_frame(query: LevelFacts, target: LevelFacts, *, capped: bool) -> LevelFrame:
    """Range 0, or no range at all: only equal or not is left to say."""
    values = np.zeros(0)
    if capped:
        values = np.unique(np.concatenate([query.present, target.present]))
    sides = []
    for facts in (query, target):
        present = np.unique(_levels_of(facts.present, values))
        if facts.missing:
            present = np.concatenate([[-1], present])
        sides.append(LevelFacts(present.astype(np.int64), missing=False, rows=facts.rows))
    return _level_frame(sides[0], sides[1], values)


def _levels_of(cells: Cells, values: Cells) -> NDArray[np.int64]:
    filled = np.ones(len(cells), np.bool_) if cells.dtype.kind == "i" else ~np.isnan(cells)
    codes = np.full(len(cells), -1, np.int64)
    codes[filled] = np.searchsorted(values, cells[filled]) if len(values) else 0
    return codes


def number_frame(
    query: NumberFacts, target: NumberFacts, low: float, high: float, *, capped: bool
) -> NumericFrame:
    """Return how the numbers of a column with a range are encoded.

    Parameters
    ----------
    query, target : NumberFacts
    low, high : float
        Different.
    capped : bool

    Returns
    -------
    NumericFrame
    """
    places, missing = _whole(query, target, low, high), query.missing or target.missing
    if places is not None:
        units = [_in_units(facts, places) for facts in (query, target)]
        first, last = (round(end * 10**places) for end in (low, high))
        frame = _counting(units, first, last - first, missing=missing, capped=capped)
        if max(frame.span, frame.scale) <= LARGEST_SPAN:
            return replace(frame, places=places)
    sides = [_as_floats(facts) for facts in (query, target)]
    scale = float(high) - float(low)
    return _in_shares(_counting(sides, float(low), scale, missing=missing, capped=capped))


def _whole(query: NumberFacts, target: NumberFacts, low: float, high: float) -> int | None:
    """Fewest decimal places that write every cell and the range exactly, None if over six."""
    whole_ends = isinstance(low, int) and isinstance(high, int)
    if query.kind == target.kind == "i":
        if whole_ends:
            return 0
        # Whole numbers need no places, so a range that needs some is on no grid of theirs.
        return 0 if decimal_places(np.array([low, high], np.float64)) & 1 else None
    possible = query.places & target.places & decimal_places(np.array([low, high], np.float64))
    return next((p for p in range(MOST_DECIMALS + 1) if possible >> p & 1), None)


def _in_units(facts: NumberFacts, places: int) -> Ends | None:
    if facts.least is None or facts.greatest is None:
        return None
    if facts.kind == "i":
        return int(facts.least) * 10**places, int(facts.greatest) * 10**places
    low, high = (int(np.rint(end * 10.0**places)) for end in (facts.least, facts.greatest))
    return low, high


def _as_floats(facts: NumberFacts) -> Ends | None:
    if facts.least is None or facts.greatest is None:
        return None
    return float(facts.least), float(facts.greatest)


def _counting(
    sides: Sequence[Ends | None], low: float, scale: float, *, missing: bool, capped: bool
) -> NumericFrame:
    """Count from the least cell, with the ends of both sides' filled cells (None: no cell)."""
    ends: dict[str, Ends] = {}
    filled = [side for side in sides if side is not None]
    if capped and len(filled) == len(sides):
        filled, ends = _pulled_in(filled[0], filled[1], scale)
    least = min((side[0] for side in filled), default=low)
    span = max((side[1] for side in filled), default=low) - least
    limit: float | None = span if missing else None
    if capped:
        limit = scale if missing or span > scale else None
    whole = isinstance(scale, int)
    return NumericFrame(scale, span, low - least, limit, missing, whole, 0, least, ends)


def _pulled_in(query: Ends, target: Ends, scale: float) -> tuple[list[Ends], dict[str, Ends]]:
    """Move cells over one range away from every cell of the other side to one range away.

    A capped difference stays the same, and far cells, which cannot be told apart, become equal.
    """
    for_target = _reach(query, scale)
    target = _clipped(target, for_target)
    for_query = _reach(target, scale)
    return [_clipped(query, for_query), target], {"query": for_query, "target": for_target}


def _reach(others: Ends, scale: float) -> Ends:
    low, high = others[0] - scale, others[1] + scale
    if isinstance(scale, int):
        limits = np.iinfo(np.int64)
        low, high = max(low, int(limits.min)), min(high, int(limits.max))
    return low, high


def _clipped(side: Ends, ends: Ends) -> Ends:
    low, high = (min(max(end, ends[0]), ends[1]) for end in side)
    return low, high


def _in_shares(frame: NumericFrame) -> NumericFrame:
    """Divide by the range, which loses the exact sums, so it comes last."""
    scale = frame.scale
    return NumericFrame(
        1.0,
        frame.span / scale,
        frame.base / scale,
        None if frame.limit is None else frame.limit / scale,
        frame.missing,
        whole=False,
        places=0,
        least=frame.least,
        ends=frame.ends,
        divisor=scale,
    )
