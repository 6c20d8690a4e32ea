"""What two or more metrics need from a release, computed once and shared.

One search per (table pair, variable set, ranges), however many metrics ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from evalkit.engine import limits
from evalkit.kernels import Column, NearestSets, link_probability, nearest
from evalkit.kernels.correlations import Deals, correlations, filled_pairs
from evalkit.kernels.prepared import PIECE_QUERIES
from evalkit.quantities_order import order_of
from evalkit.quantities_searching import QueryPiece, Search
from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.release import Release
    from evalkit.schema import Schema

Ranges: TypeAlias = "dict[str, tuple[float | int, float | int] | None]"
Cells: TypeAlias = "NDArray[np.int64] | NDArray[np.float64]"
TableName: TypeAlias = Literal["original", "avatars", "holdout"]
Found = TypeVar("Found")

TIE = 1e-9  # Gower distances that differ by no more are equal (metrics.md, rule 4)

_CACHES: WeakKeyDictionary[Release, dict[Any, Any]] = WeakKeyDictionary()


def cells(frame: pd.DataFrame, schema: Schema, name: str) -> Cells:
    """Return one column as the kernels read it.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    name : str
        A used column.

    Returns
    -------
    ndarray, shape (rows,)
        Numbers as int64 or float64 with NaN for missing; levels as int64 codes, -1 for missing.
    """
    column = frame[name]
    if schema[name].is_number:
        numbers: Cells = column.to_numpy()
        return numbers
    return column.cat.codes.to_numpy().astype(np.int64)


def ranges(schema: Schema, frames: Sequence[pd.DataFrame], names: Sequence[str]) -> Ranges:
    """Return the least and greatest filled value of each number column over all `frames`.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    frames : sequence of DataFrame
        Tables that set the range.
    names : sequence of str
        Used columns; those that are no numbers are skipped.

    Returns
    -------
    dict
        Name to (low, high), or to None where no cell is filled.
    """
    found: Ranges = {}
    for name in schema.number_names(names):
        ends = [end for frame in frames for end in _ends(frame[name].to_numpy())]
        found[name] = (min(ends), max(ends)) if ends else None
    return found


def _ends(values: NDArray[np.generic]) -> list[Any]:
    """Return the least and greatest filled value, or nothing."""
    filled = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return [filled.min().item(), filled.max().item()] if filled.size else []


class Pairing:
    """Two tables made ready for many searches, each on other variables.

    A column is encoded once, however many searches use it.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    queries, targets : DataFrame
        Tables of a release, or parts of them.
    column_ranges : dict
        From `ranges`, over the tables that the metric names.
    capped : bool
        Whether a difference counts at most 1 (metrics.md, rule 3).
    """

    def __init__(
        self,
        schema: Schema,
        queries: pd.DataFrame,
        targets: pd.DataFrame,
        column_ranges: Ranges,
        *,
        capped: bool = False,
    ) -> None:
        self._schema = schema
        self._tables = queries, targets
        self._ranges = column_ranges
        self._capped = capped
        self._columns: dict[str, Column] = {}
        self._found: dict[frozenset[str], NearestSets] = {}
        self._search: Search | None = None

    def nearest(self, names: Iterable[str]) -> NearestSets:
        """Return the sets of nearest targets of each query on the variables `names`."""
        # Sorted: with fractions of a range the last digit of a sum depends on its order.
        columns = [self._column(name) for name in sorted(names)]
        return nearest(columns, capped=self._capped)

    def shared(self, names: Iterable[str]) -> NearestSets:
        """Return the same as `nearest`, searched only once for each set of variables."""
        key = frozenset(names)
        if key not in self._found:
            self._found[key] = self.nearest(key)
        return self._found[key]

    def answers(
        self,
        names: Iterable[str],
        take: Callable[[NearestSets, QueryPiece], Mapping[str, NDArray[Any]]],
        *,
        beside: Mapping[str, NDArray[Any]] | None = None,
        shared: Any = None,
        merge: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Return what `take` reads off the sets of nearest targets, piece of queries by piece.

        Parameters
        ----------
        names : iterable of str
            Variables of the search.
        take : callable
            ``take(sets, piece)`` gives arrays by name, of one entry for each query of the piece,
            or as `merge` says. A function of a module or a `functools.partial` of one, because it
            may run in another process. `sets` holds the queries of the piece and all targets.
        beside : mapping of str to ndarray, optional
            What else belongs to each query, shape (queries, ...); a piece gets its part.
        shared : object, optional
            What every piece needs, such as a mark of each target; sent to a process once.
        merge : mapping of str to callable, optional
            For arrays that hold no entry for each query but, say, one for each target: how those
            of two pieces become one, such as `numpy.logical_or` or `numpy.add`.

        Returns
        -------
        dict of str to ndarray
            In the order of the queries; the same however the queries are cut.
        """
        queries, targets = self._tables
        if len(queries) <= PIECE_QUERIES:
            sets = self.nearest(names)
            piece = QueryPiece(0, len(sets.size), dict(beside or {}), shared)
            return dict(take(sets, piece))
        if self._search is None:
            tables = self._schema, [queries], targets, self._ranges
            self._search = Search(*tables, capped=self._capped)
        return self._search.answers(names, take, beside=beside, shared=shared, merge=merge)

    def _column(self, name: str) -> Column:
        """Return one column of both tables as the kernels read it."""
        if name not in self._columns:
            query, target = (cells(table, self._schema, name) for table in self._tables)
            numeric = self._schema[name].is_number
            low, high = (self._ranges[name] or (None, None)) if numeric else (None, None)
            self._columns[name] = Column(query, target, numeric, low, high)
        return self._columns[name]


def remembered(release: Release, key: Any, make: Callable[[], Found]) -> Found:
    """Return what `make` gives, made once for a release and then kept as long as the release.

    Parameters
    ----------
    release : Release
        The tables.
    key : hashable
        What tells it from all other quantities of the release.
    make : callable
        Called without arguments the first time.

    Returns
    -------
    object
    """
    kept = _CACHES.setdefault(release, {})
    # What was sampled to save time is not what a run asks for that may sample nothing.
    place = key, limits()
    if place not in kept:
        kept[place] = make()
    found: Found = kept[place]
    return found


def shared_pairing(release: Release, query: TableName, target: TableName) -> Pairing:
    """Return two whole tables of a release, paired once for all metrics.

    Ranges are those of linkability: over originals and avatars together.

    Parameters
    ----------
    release : Release
        The tables.
    query, target : str
        ``"original"``, ``"avatars"`` or ``"holdout"``.

    Returns
    -------
    Pairing
    """

    def make() -> Pairing:
        together = ranges(schema, (release.original, release.avatars), schema.used_names())
        return Pairing(schema, *tables, together)

    schema, tables = release.schema, (getattr(release, query), getattr(release, target))
    return remembered(release, ("pairing", query, target), make)


def in_content_order(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the order of the rows by the content of the columns `names`, sorted by name.

    Of a large table and all its columns it is found once, however many metrics ask.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        Columns to order by.

    Returns
    -------
    ndarray of intp, shape (rows,)
    """
    del schema  # a column says itself whether it holds levels
    return order_of(frame, names)


def number_matrix(frame: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Return number columns as one matrix, NaN for missing, shape (rows, names).

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    names : sequence of str
        Number columns.

    Returns
    -------
    ndarray of float64, shape (rows, len(names))
    """
    return frame[list(names)].to_numpy(dtype=np.float64, na_value=np.nan)


def varying(frame: pd.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return those number columns of `frame` that hold at least two different filled values.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    names : sequence of str
        Number columns.

    Returns
    -------
    tuple of str
        In the order of `names`.
    """
    ends = {name: _ends(frame[name].to_numpy()) for name in names}
    return tuple(name for name in names if ends[name] and ends[name][0] < ends[name][1])


__all__ = [
    "Column",
    "Deals",
    "NearestSets",
    "Pairing",
    "QueryPiece",
    "Ranges",
    "cells",
    "content_order",
    "correlations",
    "filled_pairs",
    "in_content_order",
    "link_probability",
    "nearest",
    "number_matrix",
    "ranges",
    "remembered",
    "shared_pairing",
    "varying",
]
