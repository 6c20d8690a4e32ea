"""Which boxes hold the rows of exactly one owner.

A box is a range of whole numbers in each of a few columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_LOOK = 64  # rows tested first: most boxes hold two of them and are done
NOBODY = np.iinfo(np.int64).max
BLOCK_CELLS = 500_000  # rows tested at a time, over all boxes
COMPILED_ROWS = 2**15  # from so many rows on, compiled code is worth the time to load it
FEW_BOXES = 16  # for each column: so few are tested on every row sooner than columns are sorted


class Boxes(NamedTuple):
    """Many boxes over the same number of columns.

    Attributes
    ----------
    columns : ndarray of int, shape (boxes, width)
        The columns of each box; at least one.
    low, high : ndarray of int, shape (boxes, width)
        Ends of the range in each column, both inside.
    """

    columns: NDArray[np.integer]
    low: NDArray[np.integer]
    high: NDArray[np.integer]

    def part(self, which: slice | NDArray[np.generic] | tuple[NDArray[np.intp], ...]) -> Boxes:
        """Return the boxes at the given places, or those that are marked."""
        return Boxes(self.columns[which], self.low[which], self.high[which])


class Ends(NamedTuple):
    """Whose the rows in each box are, as far as some rows of a table tell.

    Attributes
    ----------
    least, greatest : ndarray of int64, shape (boxes,)
        The least and the greatest owner that was met; `NOBODY` and -1 where none was. Once two
        different ones are met, no more are sought.
    """

    least: NDArray[np.int64]
    greatest: NDArray[np.int64]

    @property
    def only(self) -> NDArray[np.int64]:
        """The one owner of each box, -1 where there is none or more than one."""
        return np.where(self.least == self.greatest, self.least, -1)

    def part(self, which: NDArray[np.generic]) -> Ends:
        """Return those of some boxes."""
        return Ends(self.least[which], self.greatest[which])

    @property
    def open(self) -> NDArray[np.bool_]:
        """Whether more rows can still tell something: no two owners were met."""
        return np.asarray(self.least >= self.greatest)


def merged(first: Ends, second: Ends) -> Ends:
    """Return whose the rows in each box are by the rows of both; `only` fits any order."""
    return Ends(np.minimum(first.least, second.least), np.maximum(first.greatest, second.greatest))


class SortedRows:
    """Rows made ready for many boxes: a column is sorted once, when a box first asks for it.

    Parameters
    ----------
    cells : ndarray of int, shape (rows, columns)
    owner : ndarray of int64, shape (rows,), optional
        Whose each row is, from 0 up; each its own number if left out.

    Examples
    --------
    >>> rows = SortedRows(np.array([[1, 5], [2, 5], [3, 6]], np.int32))
    >>> ends = np.array([[2, 0], [1, 5]]), np.array([[9, 5], [9, 5]])
    >>> rows.only(Boxes(np.array([[0, 1], [0, 1]]), *ends)).tolist()
    [1, -1]
    """

    def __init__(self, cells: NDArray[np.integer], owner: NDArray[np.int64] | None = None) -> None:
        self._columns = np.ascontiguousarray(cells.T)
        self._owner = np.arange(len(cells)) if owner is None else owner
        self._sorted: dict[int, tuple[NDArray[np.int32], NDArray[np.integer]]] = {}

    def only(self, boxes: Boxes) -> NDArray[np.int64]:
        """Return for each box the one owner of the rows in it.

        Parameters
        ----------
        boxes : Boxes

        Returns
        -------
        ndarray of int64, shape (boxes,)
            -1 where a box holds no row, or rows of more than one.
        """
        return self.ends(boxes).only

    def ends(self, boxes: Boxes) -> Ends:
        """Return whose the rows in each box are, ready to be merged with those of other rows.

        Parameters
        ----------
        boxes : Boxes

        Returns
        -------
        Ends
        """
        if len(self._owner) >= COMPILED_ROWS:
            return self._compiled_ends(boxes)
        by_width, start, stop = self._by_width(boxes)
        least, greatest = np.full(len(start), NOBODY), np.full(len(start), -1)
        alive, look = np.flatnonzero(start < stop), FIRST_LOOK
        while alive.size:
            for block in np.array_split(alive, 1 + alive.size * look // BLOCK_CELLS):
                side = self._side_rows(by_width.columns[block, 0], start[block], look)
                inside = self._inside(by_width.part(block), side)
                inside &= np.arange(look) < (stop - start)[block, None]
                owner = self._owner[side]
                low = np.where(inside, owner, NOBODY).min(axis=1)
                high = np.where(inside, owner, -1).max(axis=1)
                least[block] = np.minimum(least[block], low)
                greatest[block] = np.maximum(greatest[block], high)
            start[alive] += look
            alive = alive[(least[alive] >= greatest[alive]) & (start[alive] < stop[alive])]
            look = min(8 * look, int((stop - start)[alive].max(initial=1)))
        return Ends(least, greatest)

    def _compiled_ends(self, boxes: Boxes) -> Ends:
        """Return the same as `ends`."""
        from evalkit.kernels.loops_boxes import scan

        size, rows = len(boxes.columns), len(self._owner)

        def scanned(
            order: NDArray[np.int32],
            which: Boxes,
            start: NDArray[np.integer],
            stop: NDArray[np.integer],
        ) -> Ends:
            found = Ends(np.empty(len(start), np.int64), np.empty(len(start), np.int64))
            columns, low, high = (side.astype(np.int64, copy=False) for side in which)
            cells, owner = self._columns, self._owner
            scan(order, start, stop, columns, low, high, cells, owner, *found)
            return found

        if size <= FEW_BOXES * len(self._columns):
            every = np.arange(rows, dtype=np.int32)
            return scanned(every, boxes, np.zeros(size, np.int64), np.full(size, rows))
        by_width, start, stop = self._by_width(boxes)
        least, greatest = np.empty(size, np.int64), np.empty(size, np.int64)
        for column in np.unique(by_width.columns[:, 0]):
            here = np.flatnonzero(by_width.columns[:, 0] == column)
            order = self._side(int(column))[0]
            found = scanned(order, by_width.part(here), start[here], stop[here])
            least[here], greatest[here] = found
        return Ends(least, greatest)

    def _by_width(self, boxes: Boxes) -> tuple[Boxes, NDArray[np.integer], NDArray[np.integer]]:
        """Return the boxes with their narrowest side first, and where that begins and ends."""
        starts, stops = self._slices(boxes)
        order = np.argsort(stops - starts, axis=1, kind="stable")
        first = np.arange(len(order)), order[:, 0]
        by_width = boxes.part((np.arange(len(order))[:, None], order))
        return by_width, starts[first], stops[first]

    def _side_rows(
        self, column: NDArray[np.integer], start: NDArray[np.integer], look: int
    ) -> NDArray[np.int32]:
        """Return the next rows of the narrowest side of each box; past its end any row."""
        places = np.minimum(start[:, None] + np.arange(look), self._columns.shape[1] - 1)
        rows = np.empty(places.shape, np.int32)
        for one in np.unique(column):
            here = column == one
            rows[here] = self._side(int(one))[0][places[here]]
        return rows

    def _inside(self, boxes: Boxes, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of the rows lie inside the other sides of their box."""
        inside = np.ones(rows.shape, np.bool_)
        for k in range(1, boxes.columns.shape[1]):
            cells = self._columns[boxes.columns[:, [k]], rows]
            inside &= (cells >= boxes.low[:, [k]]) & (cells <= boxes.high[:, [k]])
        return inside

    def _slices(self, boxes: Boxes) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return where each range begins and ends in its sorted column."""
        starts, stops = np.empty_like(boxes.columns), np.empty_like(boxes.columns)
        for column in np.unique(boxes.columns):
            here = boxes.columns == column
            cells = self._side(int(column))[1]
            starts[here] = cells.searchsorted(boxes.low[here], "left")
            stops[here] = cells.searchsorted(boxes.high[here], "right")
        return starts, np.maximum(starts, stops)

    def _side(self, column: int) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        """Return the order of the rows in a column, and its cells in that order."""
        if column not in self._sorted:
            cells = self._columns[column]
            order = np.argsort(cells, kind="stable").astype(np.int32)
            self._sorted[column] = order, cells[order]
        return self._sorted[column]
