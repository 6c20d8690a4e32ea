"""Whose rows lie in each of many boxes, over tables of any length, piece by piece.

A piece tells the least and the greatest owner of the rows in each box; those of two pieces are
merged by taking the lesser and the greater. A box in which two owners were met is decided, so the
pieces are read in rounds, each of twice as many, with the boxes that are still open.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalkit.engine import fold
from evalkit.kernels.boxes import NOBODY, Ends, SortedRows, merged
from evalkit.kernels.equal_rows import words
from evalkit.quantities_pieces import PIECE_ROWS, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels.boxes import Boxes
    from evalkit.quantities_pieces import Piece
    from evalkit.schema import Schema


class Asked(NamedTuple):
    """What each piece is asked.

    Attributes
    ----------
    boxes : Boxes
        Their columns are places among the names, their ends words of the cells.
    fractions : dict of str to bool
        For each name whether its words are those of floats.
    """

    boxes: Boxes
    fractions: Mapping[str, bool]


def ends_of_piece(piece: Piece, asked: Asked) -> Ends:
    """Return whose the rows of a piece in each box are; beside the rows stand their owners."""
    columns = [words(piece.columns[name], fractions=one) for name, one in asked.fractions.items()]
    owner = piece.beside
    assert owner is not None, "every row has an owner"
    return SortedRows(np.stack(columns).T, owner.astype(np.int64)).ends(asked.boxes)


@dataclass(frozen=True, eq=False)
class OwnedRows:
    """Tables one below the other, with the owner of each row.

    Attributes
    ----------
    tables : sequence of DataFrame
        Tables of one release.
    owners : sequence of ndarray of int, one of shape (rows,) for each table
        From 0 up.
    schema : Schema
        Types of the columns.
    fractions : dict of str to bool
        The columns, and whether each holds floats in any of the tables that are compared.
    rows : int
        Of a piece.
    """

    tables: Sequence[pd.DataFrame]
    owners: Sequence[NDArray[np.integer]]
    schema: Schema
    fractions: Mapping[str, bool]
    rows: int = PIECE_ROWS

    def only(self, boxes: Boxes) -> NDArray[np.int64]:
        """Return for each box the one owner of the rows in it.

        Parameters
        ----------
        boxes : Boxes
            Their columns are places among the names of `fractions`.

        Returns
        -------
        ndarray of int64, shape (boxes,)
            -1 where a box holds no row, or rows of more than one.
        """
        size = len(boxes.columns)
        found = Ends(np.full(size, NOBODY), np.full(size, -1))
        left, count = self._pieces(), 1
        undecided = np.arange(size)
        while undecided.size and (first := next(left, None)) is not None:
            asked = Asked(boxes.part(undecided), self.fractions)
            taken = chain([first], islice(left, count - 1))
            more = fold(ends_of_piece, taken, merged, asked)
            for sofar, new in zip(found, merged(found.part(undecided), more), strict=True):
                sofar[undecided] = new
            undecided, count = np.flatnonzero(found.open), 2 * count
        return found.only

    def _pieces(self) -> Iterator[Piece]:
        """Yield the pieces of all tables with the owners beside."""
        names = list(self.fractions)
        for table, owner in zip(self.tables, self.owners, strict=True):
            yield from pieces(table, self.schema, names, beside=owner, rows=self.rows)
