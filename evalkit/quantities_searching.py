"""Searches among targets that are made ready once and asked by pieces of queries.

Encodings are decided over the whole tables, so that an answer depends neither on which queries
share a piece nor on where a piece is searched.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import length_hint
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from evalkit.engine import Announced, gather, limits
from evalkit.kernels.blocks import gather_crew, side_by_side
from evalkit.kernels.frames import frame_of
from evalkit.kernels.prepared import PIECE_QUERIES, prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels import NearestSets
    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.frames import Frame
    from evalkit.kernels.prepared import Prepared
    from evalkit.schema import Schema

    Places: TypeAlias = "range | NDArray[np.intp]"
    Ranges: TypeAlias = "dict[str, tuple[float | int, float | int] | None]"

KEPT = 2  # sets of variables whose targets stay ready: both halves of an attack


@dataclass(frozen=True, eq=False)
class QueryPiece:
    """Some of the queries of a search, one below the other.

    Attributes
    ----------
    start, stop : int
        Their places among all queries that are asked.
    beside : dict of str to ndarray, each of shape (stop - start, ...)
        What else belongs to each query.
    shared : object
        What all pieces need.
    """

    start: int
    stop: int
    beside: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    shared: Any = None


class Search:
    """Queries of one or several tables, and the targets among which they look.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    queries : sequence of DataFrame
        Tables of a release. Their rows are counted one table after the other.
    targets : DataFrame
        A table of the release.
    column_ranges : dict
        From `quantities.ranges`, over the tables that the metric names.
    capped : bool
        Whether a difference counts at most 1 (metrics.md, rule 3).

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_searching import Search
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"),))
    >>> people, targets = pd.DataFrame({"age": [20, 40]}), pd.DataFrame({"age": [25, 30, 50]})
    >>> search = Search(schema, [people], targets, {"age": (20, 50)})
    >>> search.sets([["age"]], range(2))[0].size.tolist()
    [1, 2]
    """

    def __init__(
        self,
        schema: Schema,
        queries: Sequence[pd.DataFrame],
        targets: pd.DataFrame,
        column_ranges: Ranges,
        *,
        capped: bool = False,
    ) -> None:
        self.schema, self.queries, self.targets = schema, tuple(queries), targets
        self.ranges, self.capped = column_ranges, capped
        self.frames: dict[str, Frame] = {}
        self._cells: dict[str, Cells] = {}
        self._ordered: dict[str, Cells] = {}
        self._ready: dict[frozenset[str], Prepared] = {}

    @property
    def rows(self) -> range:
        """The places of all queries."""
        return range(sum(len(table) for table in self.queries))

    def frame(self, name: str) -> Frame:
        """Return how a column is encoded, decided over all queries and all targets."""
        if name not in self.frames:
            numeric = self.schema[name].is_number
            self.frames[name] = frame_of(
                [raw_cells(table, name) for table in self.queries],
                raw_cells(self.targets, name),
                numeric=numeric,
                ends=self.ranges[name] if numeric else None,
                capped=self.capped,
            )
        return self.frames[name]

    def cells(self, name: str) -> Cells:
        """Return the encoded cells of the targets in one column."""
        if name not in self._cells:
            self._cells[name] = self.encoded(name)
        return self._cells[name]

    def encoded(self, name: str) -> Cells:
        """Encode the cells of the targets in one column."""
        return self.frame(name).encode(raw_cells(self.targets, name), "target")

    def ready(self, names: Iterable[str]) -> Prepared:
        """Return the targets ready for queries on some variables; the last two are kept."""
        key = frozenset(names)
        # Popped and put back: the one that was asked for longest ago goes first.
        found = self._ready.pop(key, None) or self.prepare(sorted(key))
        self._ready[key] = found
        while len(self._ready) > KEPT:
            del self._ready[next(iter(self._ready))]
        return found

    def both_ready(self, halves: Sequence[Iterable[str]]) -> list[Prepared]:
        """Return the targets ready for queries on each half, made so side by side."""
        tasks = [partial(self.ready, half) for half in halves]
        return side_by_side(tasks, gather_crew(None), len(self.targets))

    def forget(self) -> None:
        """Give the memory of targets that are ready back: some 150 bytes for each of them."""
        self._ready.clear()

    def prepare(self, names: Sequence[str]) -> Prepared:
        """Make the targets ready for queries on some variables, given by name."""
        crew = gather_crew(None)
        # Sorted: with fractions of a range the last digit of a sum depends on its order.
        cells = side_by_side([partial(self.cells, name) for name in names], crew, len(self.targets))
        return prepared([self.frame(name) for name in names], cells, len(self.rows))

    def shuffled(self, names: Iterable[str], rng: np.random.Generator) -> Search:
        """Return the same search among targets each of whose columns is in an order of its own.

        The draw is the same for any order of the rows: each column is sorted before.
        """
        names = list(names)
        tasks = [partial(self._in_order, name) for name in names]
        ordered = side_by_side(tasks, gather_crew(None), len(self.targets))
        cells_of = {
            name: cells[rng.permutation(len(self.targets))]
            for name, cells in zip(names, ordered, strict=True)
        }
        return _Mixed(self, cells_of)

    def _in_order(self, name: str) -> Cells:
        """Return the encoded cells of the targets in one column, sorted once."""
        if name not in self._ordered:
            cells = in_order(raw_cells(self.targets, name), levels=self.has_levels(name))
            self._ordered[name] = self.frame(name).encode(cells, "target")
        return self._ordered[name]

    def among(self, rows: NDArray[np.integer]) -> Search:
        """Return the same search among some of the targets, one of each kind at least."""
        return _Among(self, rows)

    def has_levels(self, name: str) -> bool:
        """Return whether a column holds levels."""
        return not self.schema[name].is_number

    def raw(self, names: Iterable[str], places: Places) -> list[Cells]:
        """Return the cells of some queries as they are, of each variable by name."""
        return [self._raw(name, places) for name in sorted(names)]

    def _raw(self, name: str, places: Places) -> Cells:
        columns = [raw_cells(table, name) for table in self.queries]
        starts = np.cumsum([0, *(len(column) for column in columns)]).tolist()
        if isinstance(places, range):
            spans = zip(columns, starts, strict=False)
            parts = [c[max(0, places.start - s) : max(0, places.stop - s)] for c, s in spans]
            filled = [part for part in parts if len(part)] or parts[:1]
            return filled[0] if len(filled) == 1 else np.concatenate(filled)
        found = np.empty(len(places), np.result_type(*columns))
        for column, start in zip(columns, starts, strict=False):
            here = (places >= start) & (places < start + len(column))
            found[here] = column[places[here] - start]
        return found

    def sets(self, halves: Sequence[Iterable[str]], places: Places) -> list[NearestSets]:
        """Return the sets of nearest targets of some queries on each half, all queries at once."""
        halves = [list(half) for half in halves]
        return both_nearest(self.both_ready(halves), [self.raw(half, places) for half in halves])

    def cost(self, halves: Sequence[Iterable[str]], places: Places) -> float:
        """Return how many targets a query is compared with, as some queries show.

        It is 0 for one that some target equals, and all distinct targets where nothing prunes; of
        the halves the dearer one counts.
        """
        halves = [list(half) for half in halves]
        shelves = [ready.way.shelf for ready in self.both_ready(halves)]
        before = [shelf.shown for shelf in shelves]
        self.sets(halves, places)
        shown = [shelf.shown - was for shelf, was in zip(shelves, before, strict=True)]
        return max(shown) / len(places)

    def answers(  # noqa: PLR0913 - what belongs to a piece is given by name
        self,
        names: Iterable[str],
        take: Callable[[NearestSets, QueryPiece], Mapping[str, NDArray[Any]]],
        *,
        places: Places | None = None,
        beside: Mapping[str, NDArray[Any]] | None = None,
        shared: Any = None,
        merge: Mapping[str, Callable[[Any, Any], Any]] | None = None,
        piece_rows: int | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Return what `take` reads off the sets of nearest targets: see `Pairing.answers`."""
        names = sorted(names)
        asked = self.rows if places is None else places
        cut = query_pieces(len(asked), piece_rows or PIECE_QUERIES, beside or {})
        raw = ((piece, self.raw(names, asked[piece.start : piece.stop])) for piece in cut)
        pieces = Announced(raw, length_hint(cut))
        states = gather(_taken, pieces, (take, self.ready(names), shared))
        return _put_together(states, merge or {})


def affordable_queries(queries: int, targets: int) -> int:
    """Return how many queries may each be compared with so many targets in the run at hand."""
    return limits().queries(queries, targets)


class _Like(Search):
    """A search like another one, with the same frames."""

    def __init__(self, whole: Search) -> None:
        tables = whole.schema, whole.queries, whole.targets, whole.ranges
        super().__init__(*tables, capped=whole.capped)
        self.frames = whole.frames


class _Mixed(_Like):
    """A search among targets of other cells, which the columns of another search hold."""

    def __init__(self, whole: Search, cells: dict[str, Cells]) -> None:
        super().__init__(whole)
        self._mixed = cells

    def encoded(self, name: str) -> Cells:
        """Return the encoded cells of the targets in one column."""
        return self._mixed[name]


class _Among(_Like):
    """A search among some of the targets of another one, each kind of which is still there."""

    def __init__(self, whole: Search, rows: NDArray[np.integer]) -> None:
        super().__init__(whole)
        self._whole, self._rows = whole, rows

    def prepare(self, names: Sequence[str]) -> Prepared:
        """Make the targets ready for queries on some variables, given by name."""
        found = self._whole.ready(names)
        of_row = found.target.of_row[self._rows]
        return found.weighed(np.bincount(of_row, minlength=len(found.target.count)), of_row)


def in_order(cells: Cells, *, levels: bool) -> Cells:
    """Return cells in increasing order, missing ones last."""
    found = np.sort(cells)
    missing = int(found.searchsorted(0)) if levels else 0
    return np.roll(found, -missing) if missing else found


def raw_cells(frame: pd.DataFrame, name: str) -> Cells:
    """Return the cells of a column as they lie in memory, levels as their small codes."""
    column = frame[name]
    if column.dtype == "category":
        return column.cat.codes.to_numpy()
    return column.to_numpy()


def query_pieces(asked: int, rows: int, beside: Mapping[str, NDArray[Any]]) -> Iterator[QueryPiece]:
    """Return the pieces of so many queries, with what belongs to each of them."""
    starts = range(0, max(1, asked), rows)

    def piece(start: int) -> QueryPiece:
        stop = min(start + rows, asked)
        parts = {name: values[start:stop] for name, values in beside.items()}
        return QueryPiece(start, stop, parts)

    return Announced(map(piece, starts), len(starts))


def _taken(given: tuple[QueryPiece, list[Cells]], shared: Any) -> dict[str, NDArray[Any]]:
    """Search a piece and let the caller's function read it: a partial."""
    piece, raw = given
    take, ready, beside_all = shared
    return dict(take(ready.nearest(raw), replace(piece, shared=beside_all)))


def both_nearest(halves: Sequence[Prepared], raw: Sequence[list[Cells]]) -> list[NearestSets]:
    """Search halves side by side: each has parts that use one processor only."""
    crew = gather_crew(None)
    tasks = [partial(half.nearest, cells) for half, cells in zip(halves, raw, strict=True)]
    # The first queries bring targets in order, which is more work than the search of a few.
    unlaid = [len(half.target.count) for half in halves if half.way.shelf.laid is None]
    return side_by_side(tasks, crew, max([*unlaid, *(len(cells[0]) for cells in raw)], default=0))


def _put_together(
    states: Sequence[dict[str, NDArray[Any]]], merge: Mapping[str, Callable[[Any, Any], Any]]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of all pieces: merged where it is said how, else one below the other."""
    found = {}
    for name in states[0]:
        parts = [state[name] for state in states]
        found[name] = reduce(merge[name], parts) if name in merge else np.concatenate(parts)
    return found
