"""Which rows of which tables hold the same cells: exact matches, over all rows.

Each piece of a table gives one hash a row, and the hashes of all pieces are sorted once. Whole
columns are read one at a time, to compare the cells of rows that share a hash.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evalkit.engine import gather
from evalkit.kernels.equal_rows import equal_rows, hashes, same_words, words
from evalkit.quantities_pieces import pieces
from evalkit.quantities_shuffled import ShuffledTable, read_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities_pieces import Piece
    from evalkit.schema import Schema

    Table: TypeAlias = pd.DataFrame | ShuffledTable


class RowIndex:
    """The distinct rows of some tables, ready to be looked up.

    Parameters
    ----------
    tables : sequence of DataFrame
        Tables of one release, at least one.
    schema : Schema
        Types of the columns.
    names : sequence of str
        The columns that are compared; missing equals missing.
    beside : sequence of DataFrame
        Further tables whose rows will be looked up.

    Attributes
    ----------
    keys : list of ndarray of int64, one of shape (rows,) for each table
        From 0 to `count` - 1, the same for rows with the same cells in any of the tables.
    count : int
        Number of distinct rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_rows import RowIndex
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"),))
    >>> table = pd.DataFrame({"age": [20, 30, 20]})
    >>> index = RowIndex([table], schema, ["age"])
    >>> index.count, (index.find(pd.DataFrame({"age": [30, 40]})) >= 0).tolist()
    (2, [True, False])
    """

    def __init__(
        self,
        tables: Sequence[pd.DataFrame],
        schema: Schema,
        names: Sequence[str],
        beside: Sequence[pd.DataFrame] = (),
    ) -> None:
        self._tables, self._schema = tables, schema
        # Where a column holds floats in one table, its numbers are compared as floats in all.
        self._fractions = {
            name: schema[name].is_number
            and any(table[name].dtype.kind == "f" for table in (*tables, *beside))
            for name in sorted(names)
        }
        groups, self._attempt = equal_rows(self._hashed, self._columns)
        self._hash, self._first = groups.key, groups.first
        ends = np.cumsum([len(table) for table in tables])
        self.keys = np.split(groups.of_row.astype(np.int64), ends[:-1])
        self.count = len(groups.key)

    def find(self, table: Table) -> NDArray[np.int64]:
        """Return for each row the key of the equal rows, -1 where no row of the index is equal.

        Parameters
        ----------
        table : DataFrame or ShuffledTable

        Returns
        -------
        ndarray of int64, shape (rows,)
        """
        if not self.count:
            return np.full(len(table), -1)
        hashed = self._hash_of(table, self._attempt)
        order = np.argsort(hashed)  # in order, look-ups walk through the index once
        place = np.empty(len(hashed), np.int64)
        place[order] = self._hash.searchsorted(hashed[order])
        place = np.minimum(place, self.count - 1)
        rows = np.flatnonzero(self._hash[place] == hashed)
        found = np.full(len(hashed), -1)
        if rows.size:
            firsts = self._first[place[rows]]
            same = same_words(self._words_of(table), rows, self._columns(), firsts)
            found[rows[same]] = place[rows[same]]
        return found

    def _hashed(self, attempt: int) -> NDArray[np.int64]:
        """Return the hashes of the tables of the index, one below the other."""
        return np.concatenate([self._hash_of(table, attempt) for table in self._tables])

    def _hash_of(self, table: Table, attempt: int) -> NDArray[np.int64]:
        """Return the hashes of one table."""
        if isinstance(table, ShuffledTable):
            return hashes(self._words_of(table), len(table), attempt)
        states = gather(
            partial(hashes_of_piece, attempt=attempt),
            pieces(table, self._schema, list(self._fractions)),
            self._fractions,
        )
        return np.concatenate(states)

    def _words_of(self, table: Table) -> Iterator[NDArray[np.int64]]:
        """Yield the columns of one table as words."""
        found = read_columns(table, self._schema, self._fractions)
        return (words(values, fractions=self._fractions[name]) for name, values in found)

    def _columns(self) -> Iterator[NDArray[np.int64]]:
        """Yield the columns of the tables of the index as words, one below the other."""
        each = [self._words_of(table) for table in self._tables]
        return (np.concatenate(parts) for parts in zip(*each, strict=True))


def hashes_of_piece(piece: Piece, fractions: Mapping[str, bool], attempt: int) -> NDArray[np.int64]:
    """Return the hash of each row of a piece, on the columns that `fractions` names, in order."""
    columns = (words(piece.columns[name], fractions=one) for name, one in fractions.items())
    return hashes(columns, piece.stop - piece.start, attempt)


def holders(key: NDArray[np.int64], owner: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Return how many persons hold each key, however many of their rows do.

    Parameters
    ----------
    key : ndarray of int64, shape (rows,)
        From `row_keys`.
    owner : ndarray of int64, shape (rows,)
        The person of each row.
    total : int
        Over the largest key.

    Returns
    -------
    ndarray of int64, shape (total,)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_rows import holders
    >>> holders(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6]), 3).tolist()
    [1, 2, 0]
    """
    people = 1 + int(owner.max(initial=0))
    if people == len(owner) and np.bincount(owner).max(initial=0) <= 1:
        return np.bincount(key, minlength=total)  # each person has one row
    pairs = np.sort(key * people + owner)
    first = np.ones(len(pairs), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
    return np.bincount(pairs[first] // people, minlength=total)


def row_keys(
    tables: Sequence[pd.DataFrame], schema: Schema, names: Sequence[str]
) -> list[NDArray[np.int64]]:
    """Return a number for each row, the same for rows with the same cells in any of the tables.

    Parameters
    ----------
    tables : sequence of DataFrame
        Tables of one release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        The columns that are compared; missing equals missing.

    Returns
    -------
    list of ndarray of int64, one of shape (rows,) for each table
        From 0 up, none left out.
    """
    return RowIndex(tables, schema, names).keys
