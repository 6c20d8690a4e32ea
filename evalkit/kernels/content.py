"""The order of many rows by their content, without sorting by every column in turn.

Each column becomes whole numbers of as few bits as its range needs, and a row a string of bits.
Rows are sorted by as many of the first bits as a number of 64 bits holds beside their place, and
only those that are equal in these and differ later on are sorted by the next ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Bits = NDArray[np.uint64]

KEY_BITS = 64
SIGN = np.uint64(1 << 63)
SMALL = 2  # bytes
EXACT = 2.0**53  # up to here every whole number is a float


def sorted_rows(columns: Sequence[NDArray[np.generic]]) -> NDArray[np.intp]:
    """Return the rows by the first column, then the second, and so on.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (n,)
        Integers, truth values or float64; NaN sorts last.

    Returns
    -------
    ndarray of intp, shape (n,)
        As ``numpy.lexsort`` gives it: rows that are equal stay in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.content import sorted_rows
    >>> sorted_rows([np.array([2.0, 1.0, 1.0]), np.array([0, 9, 3])])
    array([2, 1, 0])
    """
    size = len(columns[0])
    if not size or all(one.dtype.itemsize <= SMALL for one in columns):
        return np.lexsort(tuple(reversed(columns)))  # counts numbers so small, and sorts nothing
    order = np.arange(size)
    places = order.copy()  # of the rows that are equal to another so far, (tied,)
    group = np.zeros(size, np.uint64)  # which of these are equal, (tied,)
    waiting = _digits(columns)
    while len(places) and waiting:
        rows = order[places]
        stay = len(places).bit_length()  # a place beside the bits keeps equal rows in their order
        room = KEY_BITS - stay - int(group[-1]).bit_length()
        key, waiting = _packed(group, rows, waiting, room)
        key <<= np.uint64(stay)
        key |= np.arange(len(places), dtype=np.uint64)
        key.sort()
        order[places] = rows[(key & np.uint64((1 << stay) - 1)).astype(np.intp)]
        key >>= np.uint64(stay)
        places, group = _undecided(order, places, key, waiting)
    return order


def can_be_sorted(columns: Sequence[NDArray[np.generic]]) -> bool:
    """Return whether `sorted_rows` knows the kinds of all columns."""
    return all(one.dtype.kind in "iub" or one.dtype == np.float64 for one in columns)


@dataclass(frozen=True)
class _Digits:
    """A column, or its lower bits, as whole numbers from 0 up in the same order."""

    cells: NDArray[np.generic]
    least: int
    bits: int
    missing: int  # the number of a missing cell
    scaled: bool  # whether floats are whole numbers

    @classmethod
    def of(cls, cells: NDArray[np.generic]) -> _Digits:
        floats = cells.dtype.kind == "f"
        scaled = floats and _are_whole(cells)
        ends = _ends(cells)
        if ends is None:
            return cls(cells, 0, 1, 0, scaled)
        low, high = (_mapped(np.array([end], cells.dtype), scaled=scaled)[0] for end in ends)
        span = int(high) - int(low) + floats
        return cls(cells, int(low), span.bit_length(), span, scaled)

    def numbers(self, rows: NDArray[np.intp]) -> Bits:
        """Return the numbers of some rows."""
        cells = self.cells if len(rows) == len(self.cells) else self.cells[rows]
        found = _mapped(cells, scaled=self.scaled) - np.uint64(self.least)
        if cells.dtype.kind == "f":
            found[np.isnan(cells)] = self.missing
        return found if cells is not self.cells else found[rows]


def _digits(columns: Sequence[NDArray[np.generic]]) -> list[tuple[_Digits, int]]:
    """Return each column that is not constant, and how many of its bits are still to be seen."""
    found = [_Digits.of(cells) for cells in columns]
    return [(one, one.bits) for one in found if one.bits]


def _ends(cells: NDArray[np.generic]) -> tuple[Any, Any] | None:
    """Return the least and the greatest filled cell."""
    if cells.dtype.kind != "f":
        return cells.min(), cells.max()
    low, high = np.fmin.reduce(cells), np.fmax.reduce(cells)
    return None if np.isnan(low) else (low, high)


def _are_whole(cells: NDArray[Any]) -> bool:
    """Return whether all filled cells are whole numbers that an integer holds exactly."""
    return all(
        bool(np.all(np.isnan(part) | ((np.abs(part) <= EXACT) & (part == np.rint(part)))))
        for part in _blocks(cells)
    )


def _blocks(cells: NDArray[Any]) -> Iterator[NDArray[Any]]:
    step = 2**18
    return (cells[at : at + step] for at in range(0, len(cells), step))


def _mapped(cells: NDArray[Any], *, scaled: bool) -> Bits:
    """Return unsigned numbers in the order of the cells, whatever those of missing ones."""
    if cells.dtype.kind != "f":
        if cells.dtype == np.uint64:
            return cells.copy()
        return cells.astype(np.int64).view(np.uint64) ^ SIGN
    if scaled:
        return _mapped(np.nan_to_num(cells).astype(np.int64), scaled=False)
    # IEEE 754: positive floats are ordered as their bits are, negative ones the other way round.
    bits: Bits = (cells + 0.0).view(np.uint64)  # adding 0 makes -0 equal to 0
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _packed(
    group: Bits, rows: NDArray[np.intp], waiting: list[tuple[_Digits, int]], room: int
) -> tuple[Bits, list[tuple[_Digits, int]]]:
    """Return the group of each row with the next bits of its columns, and what is still waiting."""
    key = group.copy()
    for place, (digits, unseen) in enumerate(waiting):
        taken = min(room, unseen)
        if not taken:
            return key, waiting[place:]
        numbers = digits.numbers(rows)
        numbers >>= np.uint64(unseen - taken)
        numbers &= np.uint64((1 << taken) - 1)
        key <<= np.uint64(taken)
        key |= numbers
        room -= taken
        if taken < unseen:
            return key, [(digits, unseen - taken), *waiting[place + 1 :]]
    return key, []


def _undecided(
    order: NDArray[np.intp],
    places: NDArray[np.intp],
    key: Bits,
    waiting: list[tuple[_Digits, int]],
) -> tuple[NDArray[np.intp], Bits]:
    """Return the places where rows of one key differ further on, and a number for each such key."""
    first = np.flatnonzero(_differs(key))  # where rows of a new key begin
    lengths = np.diff(np.append(first, len(key)))
    tied = np.repeat(lengths > 1, lengths)
    places, lengths = places[tied], lengths[lengths > 1]
    if not len(places) or not waiting:
        return places[:0], key[:0]
    rows, starts = order[places], np.cumsum(lengths) - lengths
    other = np.zeros(len(places), np.bool_)
    for digits, _ in waiting:
        other |= _differs(digits.numbers(rows))
    other[starts] = False  # of the first of a key nothing is asked
    mixed = np.logical_or.reduceat(other, starts)
    kept = np.repeat(mixed, lengths)
    numbers = np.repeat(np.arange(int(mixed.sum()), dtype=np.uint64), lengths[mixed])
    return places[kept], numbers


def _differs(key: Bits) -> NDArray[np.bool_]:
    """Return whether each number is another one than that before it."""
    found = np.ones(len(key), np.bool_)
    np.not_equal(key[1:], key[:-1], out=found[1:])
    return found
