"""The tables of a release in principal axes, fitted on the originals and computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from evalkit.engine import fold, gather
from evalkit.kernels.axes import (
    axes_of_products,
    code_columns,
    coded_matrix,
    coordinates_by_column,
)
from evalkit.quantities import cells, in_content_order, remembered
from evalkit.quantities_pieces import PIECE_ROWS, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels.axes import Coding, ColumnCells
    from evalkit.quantities_pieces import Piece
    from evalkit.release import Release
    from evalkit.schema import Schema

    Points = NDArray[np.float64]

BLOCK_CELLS = 4_000_000  # coded cells that are held at once
ROWS_IN_ORDER = 100_000
"""Rows up to which a table is sorted by content before its products are added up."""
PRODUCT_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Axes:
    """Principal axes of one table (metrics.md, section 5).

    Attributes
    ----------
    schema : Schema
        Types of the columns.
    names : tuple of str
        The coded columns, sorted.
    codings : list
        How each column is coded; None where it does not vary.
    loadings : ndarray of float64, shape (q, axes)
        Orthonormal, signs fixed.
    variance_shares : ndarray of float64, shape (axes,)
        Share of the variance that each axis holds, 0 to 1, largest first.
    by_column : bool
        Whether coordinates are added up column by column, as those of large tables are.
    """

    schema: Schema
    names: tuple[str, ...]
    codings: list[Coding | None]
    loadings: Points
    variance_shares: NDArray[np.float64]
    by_column: bool = False

    def project(self, frame: pd.DataFrame) -> Points:
        """Return the coordinates of a table's rows, shape (rows, axes).

        Rows that the axes were not fitted on are supplementary: they move no axis, and a level
        unknown to the fitted table is in none of its indicators.
        """
        found = gather(coordinates_of_piece, pieces(frame, self.schema, self.names), self)
        return np.concatenate(found)

    def project_cells(self, columns: Sequence[ColumnCells]) -> Points:
        """Return the same of rows given as the cells of `names`, shape (rows, axes)."""
        starts = range(0, max(1, len(columns[0])), PIECE_ROWS)
        parts = ([one[start : start + PIECE_ROWS] for one in columns] for start in starts)
        return np.concatenate(gather(coordinates_of_cells, parts, self))

    def contributions(self) -> Points:
        """Return what share of each axis each column makes, shape (names, axes); sums are 1."""
        found = np.zeros((len(self.names), self.loadings.shape[1]))
        start = 0
        for k, coding in enumerate(self.codings):
            width = 0 if coding is None else len(coding.columns(np.zeros(1)))
            found[k] = np.sum(self.loadings[start : start + width] ** 2, axis=0)
            start += width
        return found

    def coordinates_of(self, columns: Sequence[ColumnCells]) -> Points:
        """Return the coordinates of rows given as the cells of `names`, shape (rows, axes)."""
        if self.by_column:
            return coordinates_by_column(columns, self.codings, self.loadings)
        found = np.empty((len(columns[0]), self.loadings.shape[1]))
        for start, end in _row_blocks(len(found), len(self.loadings)):
            part = coded_matrix([column[start:end] for column in columns], self.codings)
            found[start:end] = part @ self.loadings
        return found


def coordinates_of_piece(piece: Piece, axes: Axes) -> Points:
    """Return the coordinates of the rows of a piece, shape (rows, axes): a partial."""
    return axes.coordinates_of([piece.columns[name] for name in axes.names])


def coordinates_of_cells(columns: list[ColumnCells], axes: Axes) -> Points:
    """Return the coordinates of some rows, given column by column: a partial."""
    return axes.coordinates_of(columns)


def fitted_axes(frame: pd.DataFrame, schema: Schema, count: int) -> Axes:
    """Return the first principal axes of a table.

    Parameters
    ----------
    frame : DataFrame
        The table that the axes are fitted on, at least one row.
    schema : Schema
        Types of the columns.
    count : int
        Number of axes wanted; fewer come back where there are fewer coded columns.

    Returns
    -------
    Axes
        The same for any order of rows and columns.
    """
    names = tuple(sorted(frame.columns))
    if len(frame) > ROWS_IN_ORDER:
        return _axes_of_pieces(frame, schema, names, count)
    # Sums that differ in their last digit could turn axes of equal variance.
    order = in_content_order(frame, schema, names)
    columns = [cells(frame, schema, name)[order] for name in names]
    codings = code_columns(columns, [schema[name].is_number for name in names])
    loadings, shares = axes_of_products(_products(columns, codings), count)
    return Axes(schema, names, codings, loadings, shares)


def _axes_of_pieces(
    frame: pd.DataFrame, schema: Schema, names: tuple[str, ...], count: int
) -> Axes:
    """Return the axes of a large table, whose products are added up piece by piece."""
    codings = [
        code_columns([cells(frame, schema, name)], [schema[name].is_number])[0] for name in names
    ]
    products: Points = fold(
        products_of_piece, pieces(frame, schema, names), np.add, (names, codings)
    )
    # The rows stand in any order, which moves the last digits only: rounded, axes of equal
    # variance do not turn.
    unit = max(1.0, float(np.abs(products).max(initial=0.0)))
    loadings, shares = axes_of_products(np.round(products / unit, PRODUCT_DECIMALS), count)
    return Axes(schema, names, codings, loadings, shares, by_column=True)


def products_of_piece(piece: Piece, shared: tuple[tuple[str, ...], list[Coding | None]]) -> Points:
    """Return X'X of the coded rows of a piece: a partial, whose states are added.

    Parameters
    ----------
    piece : Piece
    shared : tuple of (tuple of str, list of Coding or None)
        The columns and how they are coded.

    Returns
    -------
    ndarray of float64, shape (q, q)
    """
    names, codings = shared
    with threadpool_limits(1):  # sums in one order, however many processors there are
        return _products([piece.columns[name] for name in names], codings)


def _products(columns: Sequence[ColumnCells], codings: list[Coding | None]) -> Points:
    """Return X'X of the coded columns, added up over blocks of rows."""
    width = coded_matrix([column[:1] for column in columns], codings).shape[1]
    total = np.zeros((width, width))
    for start, end in _row_blocks(len(columns[0]), width):
        part = coded_matrix([column[start:end] for column in columns], codings)
        total += part.T @ part
    return total


def _row_blocks(rows: int, width: int) -> list[tuple[int, int]]:
    """Return first and last row of blocks that hold a bounded number of coded cells."""
    step = max(1, BLOCK_CELLS // max(1, width))
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Three tables in the principal axes of the first.

    Attributes
    ----------
    original, avatars : ndarray of float64, shape (rows, axes)
    holdout : ndarray of float64, shape (rows, axes), optional
        None where there is no such table.
    axes : Axes
    """

    original: Points
    avatars: Points
    holdout: Points | None
    axes: Axes

    @property
    def variance_share(self) -> float:
        """Share of the variance of the originals that the axes hold together, 0 to 1."""
        return float(min(1.0, self.axes.variance_shares.sum()))


def coordinates(release: Release) -> Coordinates:
    """Return all originals, all avatars and the real holdout in the axes of the originals.

    Parameters
    ----------
    release : Release
        With at least one used column.

    Returns
    -------
    Coordinates
        Computed once for a release. Rows stand as in the tables.
    """

    def make() -> Coordinates:
        tables = release.original, release.avatars, release.holdout
        return _coordinates(release, *tables)

    return remembered(release, "coordinates", make)


def working_coordinates(release: Release) -> Coordinates:
    """Return WO, WA and HO in the axes of WO; the same as `coordinates` with a real holdout.

    Parameters
    ----------
    release : Release
        With at least one used column.

    Returns
    -------
    Coordinates
        Computed once for a release; `holdout` is never None.
    """
    if release.holdout is not None:
        return coordinates(release)

    def make() -> Coordinates:
        tables = release.working, release.working_avatars, release.reference
        return _coordinates(release, *tables)

    return remembered(release, "working coordinates", make)


def _coordinates(
    release: Release,
    original: pd.DataFrame,
    avatars: pd.DataFrame,
    holdout: pd.DataFrame | None,
) -> Coordinates:
    axes = fitted_axes(original, release.schema, release.axes)
    unseen = None if holdout is None else axes.project(holdout)
    return Coordinates(axes.project(original), axes.project(avatars), unseen, axes)
