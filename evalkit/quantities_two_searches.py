"""How likely two searches, on other variables, end at the same target: by pieces of queries."""

from __future__ import annotations

from dataclasses import dataclass
from operator import length_hint
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from evalkit.engine import Announced, gather
from evalkit.kernels import link_probability
from evalkit.kernels.linking import (
    crossing,
    estimated,
    listed_chances,
    measured_at_most,
    measured_chances,
    to_measure,
)
from evalkit.kernels.prepared import PIECE_QUERIES
from evalkit.quantities_searching import both_nearest, query_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.linking import LongPairs, Pairs
    from evalkit.kernels.prepared import Prepared
    from evalkit.quantities_searching import Places, QueryPiece, Search

    Halves: TypeAlias = "tuple[Prepared, Prepared, Pairs]"

MEASURED_PIECES = 64  # queries that are measured again are spread over so many pieces


@dataclass(frozen=True, eq=False)
class Linked:
    """What two searches, each breaking its ties at random, have in common.

    Attributes
    ----------
    probability : ndarray of float64, shape (n,)
        That both pick the same target row.
    size_a, size_b : ndarray of int64, shape (n,)
        Target rows in the tie sets.
    standard_error : float
        Of the mean probability; 0 where each is exact.
    """

    probability: NDArray[np.float64]
    size_a: NDArray[np.int64]
    size_b: NDArray[np.int64]
    standard_error: float


def linked(
    search: Search,
    names_a: Iterable[str],
    names_b: Iterable[str],
    places: Places | None = None,
    piece_rows: int | None = None,
) -> Linked:
    """Return how likely two searches, on other variables, end at the same target.

    Parameters
    ----------
    search : Search
        The queries and the targets.
    names_a, names_b : iterable of str
        Variables of either search.
    places : range or ndarray of intp, optional
        Which queries; default all.
    piece_rows : int, optional
        Queries of a piece; default `PIECE_QUERIES`.

    Returns
    -------
    Linked
        In the order of `places`; the same however the queries are cut.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_searching import Search
    >>> from evalkit.quantities_two_searches import linked
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"), Variable("size", "numeric")))
    >>> people = pd.DataFrame({"age": [20, 40], "size": [1, 2]})
    >>> search = Search(schema, [people], people, {"age": (20, 40), "size": (1, 2)})
    >>> linked(search, ["age"], ["size"]).probability.tolist()
    [1.0, 1.0]
    """
    halves = sorted(names_a), sorted(names_b)
    asked = search.rows if places is None else places
    a, b = search.both_ready(halves)
    piece_rows = piece_rows or PIECE_QUERIES
    if len(asked) <= piece_rows:
        raw = [search.raw(half, asked) for half in halves]
        in_a, in_b = both_nearest((a, b), raw)
        found = link_probability(in_a, in_b)
        return Linked(found.probability, in_a.size, in_b.size, found.standard_error)
    ready = a, b, crossing(a.target, b.target)
    states = gather(_linked_piece, _pieces_of(search, halves, asked, piece_rows), ready)
    probability, size_a, size_b = (np.concatenate([state[k] for state in states]) for k in range(3))
    error = 0.0
    if any(state[3] is not None for state in states):
        measure = lambda first: _measured(search, halves, np.asarray(asked)[first], ready)  # noqa: E731
        error = _fill_in(probability, [state[3] for state in states], ready, measure)
    return Linked(probability, size_a, size_b, error)


def _measured(
    search: Search, halves: Sequence[Sequence[str]], places: NDArray[np.intp], ready: Halves
) -> NDArray[np.float64]:
    """Return the chance of a link of queries whose tie sets are too long to list."""
    pieces = _pieces_of(search, halves, places, max(1, -(-len(places) // MEASURED_PIECES)))
    return np.concatenate(gather(_measured_piece, pieces, ready))


def _pieces_of(
    search: Search, halves: Sequence[Sequence[str]], asked: Places, rows: int
) -> Iterator[tuple[QueryPiece, list[list[Cells]]]]:
    cut = query_pieces(len(asked), rows, {})
    places = ((piece, asked[piece.start : piece.stop]) for piece in cut)
    raw = ((piece, [search.raw(half, chosen) for half in halves]) for piece, chosen in places)
    return Announced(raw, length_hint(cut))


def _linked_piece(
    given: tuple[QueryPiece, list[list[Cells]]], ready: Halves
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], LongPairs | None]:
    """Link a piece of the queries: a partial."""
    piece, raw = given
    in_a, in_b = both_nearest(ready[:2], raw)
    chances, long = listed_chances(in_a, in_b, ready[2])
    if not len(long.rows):
        return chances, in_a.size, in_b.size, None
    return chances, in_a.size, in_b.size, long._replace(first=long.first + piece.start)


def _measured_piece(
    given: tuple[QueryPiece, list[list[Cells]]], ready: Halves
) -> NDArray[np.float64]:
    """Link a piece of queries whose tie sets are too long to list: a partial."""
    in_a, in_b = both_nearest(ready[:2], given[1])
    return measured_chances(in_a, in_b, ready[2])


def _fill_in(
    probability: NDArray[np.float64],
    found: Sequence[LongPairs | None],
    ready: Halves,
    measure: Callable[[NDArray[np.integer]], NDArray[np.float64]],
) -> float:
    """Fill in queries whose tie sets were too long to list, all or a sample; its error."""
    some = [long for long in found if long is not None]
    key_a, key_b, rows, first, most = (np.concatenate([one[k] for one in some]) for k in range(5))
    order = np.lexsort((first, key_b, key_a))
    changes = (np.diff(key_a[order]) != 0) | (np.diff(key_b[order]) != 0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    kind = np.empty(len(order), np.intp)
    kind[order] = np.cumsum(np.concatenate([[0], changes]))
    once = order[starts]
    chosen = to_measure(key_a[once], key_b[once], measured_at_most(*ready[:2]))
    chances = np.full(len(once), np.nan)
    chances[chosen] = measure(first[once[chosen]])
    error = 0.0
    unlisted = np.isnan(probability)
    if len(chosen) < len(once):
        count = np.append(np.add.reduceat(rows[order], starts), np.count_nonzero(~unlisted))
        found_most = most[once[chosen]]
        mean, error = estimated(count, np.arange(len(once)), chosen, chances[chosen], found_most)
        chances[np.isnan(chances)] = mean
    offsets = np.cumsum([0, *(len(long.rows) for long in some[:-1])])
    places = [long.of_row + offset for long, offset in zip(some, offsets, strict=True)]
    probability[unlisted] = chances[kind[np.concatenate(places)]]
    return error
