"""Which cells of a table are missing, counted piece by piece, alone and together."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import fold
from evalkit.quantities_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities_pieces import Piece
    from evalkit.schema import Schema

    Gone = NDArray[np.bool_]
    Counts = NDArray[np.int64]
    Patterns = Mapping[bytes, int]

WORD = 8  # bytes


def gone(piece: Piece, is_number: Mapping[str, bool]) -> Gone:
    """Return which cells of a piece are missing, shape (rows, names)."""
    found = [
        np.isnan(piece.columns[name]) if number else piece.columns[name] < 0
        for name, number in is_number.items()
    ]
    return np.stack(found, axis=1)


def missing_cells_of(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> Gone:
    """Return which cells of a small table are missing, shape (rows, names)."""
    (whole,) = pieces(frame, schema, names, rows=max(1, len(frame)))
    return gone(whole, _kinds(schema, names))


def missing_counts(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> Counts:
    """Return how many cells of each column are missing.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        Columns to look at, at least one.

    Returns
    -------
    ndarray of int64, shape (names,)

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_missing import missing_counts
    >>> from evalkit.schema import Schema, Variable
    >>> table = pd.DataFrame({"age": [20.0, None, None]})
    >>> missing_counts(table, Schema((Variable("age", "numeric"),)), ["age"]).tolist()
    [2]
    """
    return fold(counts_of_piece, pieces(frame, schema, names), np.add, _kinds(schema, names))


def counts_of_piece(piece: Piece, is_number: Mapping[str, bool]) -> Counts:
    """Return how many cells of each column of a piece are missing: a partial."""
    found: Counts = gone(piece, is_number).sum(axis=0, dtype=np.int64)
    return found


def pattern_counts(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> Patterns:
    """Return how many rows have each pattern of missing cells over the columns `names`."""
    return fold(patterns_of_piece, pieces(frame, schema, names), _both, _kinds(schema, names))


def patterns_of_piece(piece: Piece, is_number: Mapping[str, bool]) -> Counter[bytes]:
    """Return how many rows of a piece have each pattern, eight columns to a byte: a partial."""
    packed = np.packbits(gone(piece, is_number), axis=1)  # (rows, ceil(names / 8))
    if packed.shape[1] > WORD:
        found, counts = np.unique(packed, axis=0, return_counts=True)
    else:  # numbers are sorted much sooner than rows
        words = np.zeros((len(packed), WORD), np.uint8)
        words[:, : packed.shape[1]] = packed
        found, counts = np.unique(words.view(np.uint64).ravel(), return_counts=True)
    return Counter({row.tobytes(): int(count) for row, count in zip(found, counts, strict=True)})


def _both(first: Counter[bytes], second: Counter[bytes]) -> Counter[bytes]:
    """Return the counts of two pieces together."""
    return first + second


def distance_of_patterns(first: Patterns, second: Patterns) -> float:
    """Return the total variation distance of the joint patterns of two tables, 0 to 1.

    Parameters
    ----------
    first, second : mapping of bytes to int
        Rows with each pattern, at least one row each.

    Returns
    -------
    float

    Examples
    --------
    >>> from evalkit.quantities_missing import distance_of_patterns
    >>> distance_of_patterns({b"a": 1}, {b"a": 1, b"b": 1})
    0.5
    """
    rows = sum(first.values()), sum(second.values())
    gaps = (
        abs(first.get(pattern, 0) / rows[0] - second.get(pattern, 0) / rows[1])
        for pattern in {*first, *second}
    )
    return math.fsum(gaps) / 2


def counts_of_groups(
    frame: pd.DataFrame,
    schema: Schema,
    names: Sequence[str],
    groups: NDArray[np.int32],
    total: int,
) -> Counts:
    """Return how many rows each group has and how many cells of each column it lacks.

    Parameters
    ----------
    frame, schema, names
        As for `missing_counts`.
    groups : ndarray of int32, shape (rows,)
        Group of each row, from 0 up.
    total : int
        Number of groups.

    Returns
    -------
    ndarray of int64, shape (total, 1 + names)
        Rows first.
    """
    cut = pieces(frame, schema, names, beside=groups)
    return fold(groups_of_piece, cut, np.add, (_kinds(schema, names), total))


def groups_of_piece(piece: Piece, shared: tuple[Mapping[str, bool], int]) -> Counts:
    """Return what `counts_of_groups` does, of one piece: a partial."""
    is_number, total = shared
    groups = np.asarray(piece.beside)
    lost = gone(piece, is_number)
    counts = [np.bincount(groups, minlength=total)]
    counts += [np.bincount(groups[column], minlength=total) for column in lost.T]
    return np.stack(counts, axis=1).astype(np.int64)


def _kinds(schema: Schema, names: Sequence[str]) -> dict[str, bool]:
    """Return which columns are numbers, in the order of `names`."""
    return {name: schema[name].is_number for name in names}
