"""Sums behind the correlations of large tables, added up over pieces and random groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from evalkit.engine import fold
from evalkit.kernels.correlations import (
    correlations_of_products,
    filled_of_products,
    products_of,
)
from evalkit.quantities import cells
from evalkit.quantities_dealt_groups import LINKED, added, dealt_groups
from evalkit.quantities_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.quantities import Cells
    from evalkit.quantities_pieces import Piece
    from evalkit.release import Release
    from evalkit.schema import Schema

    Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the sums of each column are counted from, and in what unit.

    A correlation does not change by this, and sums of squares keep their digits. The origin is the
    median: a mean would lie far from all rows but one where one value is huge, and sums without
    that row would lose their digits.

    Attributes
    ----------
    names : tuple of str
        Number columns.
    middle, unit : ndarray of float64, shape (p,)
        Median of the filled cells, and the largest distance from it.
    complete : bool
        Whether no cell is missing.
    """

    names: tuple[str, ...]
    middle: NDArray[np.float64]
    unit: NDArray[np.float64]
    complete: bool

    @classmethod
    def of(cls, frames: Sequence[pd.DataFrame], schema: Schema, names: Sequence[str]) -> Origin:
        """Return the origin of some tables put together, one column at a time."""
        found = [_middle([cells(frame, schema, name) for frame in frames]) for name in names]
        middle, unit, complete = zip(*found, strict=True)
        return cls(tuple(names), np.array(middle), np.array(unit), all(complete))

    def width(self) -> int:
        """Return how many sums there are."""
        p = len(self.names)
        return (p + 1) ** 2 if self.complete else 6 * p * p


def _middle(parts: Sequence[Cells]) -> tuple[float, float, bool]:
    """Return median, largest distance from it, and whether no cell is missing, of one column."""
    values = np.concatenate(parts).astype(np.float64)
    filled = values[~np.isnan(values)]
    if not len(filled):
        return 0.0, 1.0, not len(values)
    low, high = float(filled.min()), float(filled.max())
    # Exactly one value: the median of huge ones could be infinite.
    middle = low if low == high else float(np.median(filled))
    return middle, max(high - middle, middle - low) or 1.0, len(filled) == len(values)


def products_of_piece(piece: Piece, shared: tuple[Origin, int]) -> Matrix:
    """Return the sums of a piece: a partial, whose states are added.

    Parameters
    ----------
    piece : Piece
        Beside it the group of each row, where there are groups.
    shared : tuple of (Origin, int)
        How many groups there are.

    Returns
    -------
    ndarray of float64, shape (groups, ...)
        From `kernels.correlations.products_of`.
    """
    origin, groups = shared
    matrix = np.column_stack([piece.columns[name].astype(np.float64) for name in origin.names])
    matrix = (matrix - origin.middle) / origin.unit  # (rows, p)
    filled = None if origin.complete else ~np.isnan(matrix)
    if filled is not None:
        matrix[~filled] = 0.0
    with threadpool_limits(1):  # sums in one order, however many processors there are
        if piece.beside is None:
            return products_of(matrix, filled)[None]
        order = np.argsort(piece.beside, kind="stable")
        matrix, filled = matrix[order], None if filled is None else filled[order]
        ends = np.searchsorted(piece.beside[order], np.arange(groups + 1))
        found = np.zeros((groups, *products_of(matrix[:0], _rows(filled, 0, 0)).shape))
        for group in np.flatnonzero(np.diff(ends)):
            start, end = ends[group], ends[group + 1]
            found[group] = products_of(matrix[start:end], _rows(filled, start, end))
    return found


def _rows(filled: NDArray[np.bool_] | None, start: int, end: int) -> NDArray[np.bool_] | None:
    """Return some rows, where there are any to tell apart."""
    return None if filled is None else filled[start:end]


def products(
    frame: pd.DataFrame,
    schema: Schema,
    origin: Origin,
    groups: NDArray[np.int32] | None = None,
    total: int = 1,
) -> Matrix:
    """Return the sums of a table for each of `total` groups of its rows, shape (total, ...).

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    origin : Origin
        Of this table, perhaps with others.
    groups : ndarray of int32, shape (rows,), optional
        Group of each row; one group if left out.
    total : int
        Number of groups.

    Returns
    -------
    ndarray of float64
    """
    cut = pieces(frame, schema, origin.names, beside=groups)
    return np.asarray(fold(products_of_piece, cut, np.add, (origin, total)))


@dataclass(frozen=True, eq=False)
class Related:
    """The correlations of a table's number columns.

    Attributes
    ----------
    correlations : ndarray of float64, shape (p, p)
    filled : ndarray of int64, shape (p, p)
        Rows in which both columns are filled.
    """

    correlations: Matrix
    filled: NDArray[np.int64]

    @classmethod
    def of(cls, frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> Related:
        """Return the correlations of a table, added up over its pieces."""
        p = len(names)
        (sums,) = products(frame, schema, Origin.of([frame], schema, names))
        counts = np.rint(filled_of_products(sums, p)).astype(np.int64)
        return cls(correlations_of_products(sums, p), counts)


def dealt_pairs(
    release: Release, names: Sequence[str], count: int, rng: np.random.Generator
) -> tuple[Iterator[tuple[Matrix, Matrix]], int]:
    """Return the correlations of WO and HO dealt anew in their sizes, and from how many groups.

    Parameters
    ----------
    release : Release
    names : sequence of str
        Number columns.
    count : int
        Deals.
    rng : numpy.random.Generator

    Returns
    -------
    iterator of tuple of two ndarray of float64, each of shape (p, p)
    int
        Random groups of people that are dealt instead of people.
    """
    roles, schema = ("working", "reference"), release.schema
    frames = [release.working, release.reference]
    sizes = release.persons_of(roles[0]).count, release.persons_of(roles[1]).count
    origin = Origin.of(frames, schema, names)
    groups = dealt_groups(release, roles, sizes, rng, origin.width())
    working, holdout = (
        products(frame, schema, origin, rows, groups.total)
        for frame, rows in zip(frames, groups.of_rows, strict=True)
    )
    sums = working + holdout
    dealt = zip(*groups.deals(count, rng), strict=True)
    found = (
        (_correlated(first, sums, origin), _correlated(second, sums, origin))
        for first, second in dealt
    )
    return found, groups.equal


def dealt_halves(
    release: Release, names: Sequence[str], count: int, rng: np.random.Generator
) -> Iterator[tuple[Matrix, Matrix, Matrix]]:
    """Yield the correlations of WO, WA and HO for other draws of an approximate holdout.

    Parameters
    ----------
    release : Release
        Without a real holdout.
    names : sequence of str
        Number columns.
    count : int
        Draws of random groups of people.
    rng : numpy.random.Generator

    Yields
    ------
    tuple of three ndarray of float64, each of shape (p, p)
    """
    frames, linked = (release.original, release.avatars), release.row_link
    origins = [Origin.of([frame], release.schema, names) for frame in frames]
    width = max(origin.width() for origin in origins)
    first = dealt_groups(
        release, [LINKED if linked else "original"], _halves(release, "original"), rng, width
    )
    second = (
        first
        if linked
        else dealt_groups(release, ["avatars"], _halves(release, "avatars"), rng, width)
    )
    sums = [
        products(frame, release.schema, origin, groups.of_rows[0], groups.total)
        for frame, origin, groups in zip(frames, origins, (first, second), strict=True)
    ]
    working, holdout = first.deals(count, rng)
    avatars = working if linked else second.deals(count, rng)[0]
    for k in range(count):
        yield (
            _correlated(working[k], sums[0], origins[0]),
            _correlated(avatars[k], sums[1], origins[1]),
            _correlated(holdout[k], sums[0], origins[0]),
        )


def _halves(release: Release, role: str) -> tuple[int, int]:
    """Return the people of two halves of a table; the first takes the extra one."""
    count = release.persons_of(role).count
    return (count + 1) // 2, count // 2


def _correlated(times: NDArray[np.float64], sums: Matrix, origin: Origin) -> Matrix:
    """Return the correlations of the groups dealt."""
    return correlations_of_products(added(times, sums), len(origin.names))


def enough_people(
    found: Related,
    persons: Persons,
    columns: Sequence[Cells],
    fewest: int,
) -> NDArray[np.bool_]:
    """Return whether so many people have a row filled in both columns, for each pair of columns.

    Parameters
    ----------
    found : Related
        Of the table.
    persons : Persons
        Whose its rows are.
    columns : sequence of ndarray, each of shape (rows,)
        The table's cells, NaN for missing.
    fewest : int
        People.

    Returns
    -------
    ndarray of bool, shape (p, p)
    """
    enough = found.filled >= fewest
    if persons.are_rows:
        return enough
    most = int(np.bincount(persons.code).max(initial=1))
    # So many rows belong to enough people, whoever has how many of them.
    sure = found.filled >= fewest * most
    for i, j in zip(*np.nonzero(enough & ~sure), strict=True):
        both = ~(np.isnan(columns[i]) | np.isnan(columns[j]))
        enough[i, j] = len(np.unique(persons.code[both])) >= fewest
    return enough
