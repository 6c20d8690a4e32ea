"""Principal axes of mixed tables: fitted on the originals, other tables are projected.

Numeric columns only give PCA, categorical columns only MCA, both together FAMD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    ColumnCells = NDArray[np.int64] | NDArray[np.float64]


SIGN_TIE = 1e-9  # of entries that are as large the first one fixes the sign of an axis
FARTHEST = 1e100  # deviations from the mean at which a cell is held: its square is a number


@dataclass(frozen=True, eq=False)
class NumericCoding:
    """How a numeric column becomes one column, and a second one where cells are missing.

    Attributes
    ----------
    mean, deviation : float
        Mean and population standard deviation of the filled cells of the originals.
    missing_share : float
        Share of missing cells in the originals; 0 gives no second column.
    """

    mean: float
    deviation: float
    missing_share: float

    def columns(self, cells: ColumnCells) -> list[NDArray[np.float64]]:
        """Return the coded columns of a table, each of shape (rows,)."""
        missing = np.isnan(cells)
        with np.errstate(over="ignore"):
            scaled = np.clip((cells - self.mean) / self.deviation, -FARTHEST, FARTHEST)
        scaled = np.where(missing, 0.0, scaled)
        if self.missing_share == 0:
            return [scaled]
        return [scaled, _centred(missing, self.missing_share)]


@dataclass(frozen=True, eq=False)
class LevelCoding:
    """How a categorical column becomes one column for each level of the originals.

    Attributes
    ----------
    levels : ndarray of int64, shape (levels,)
        Codes that the originals carry; -1, a missing cell, is one more level.
    shares : ndarray of float64, shape (levels,)
        Their shares p among the originals.
    """

    levels: NDArray[np.int64]
    shares: NDArray[np.float64]

    def columns(self, cells: ColumnCells) -> list[NDArray[np.float64]]:
        """Return the coded columns of a table; a level unknown to the originals is in none."""
        return [
            _centred(cells == level, share)
            for level, share in zip(self.levels, self.shares, strict=True)
        ]


Coding = NumericCoding | LevelCoding


def _centred(indicator: NDArray[np.bool_], share: float) -> NDArray[np.float64]:
    """Return (1[level] - p) / sqrt(p)."""
    return np.asarray((indicator - share) / np.sqrt(share))


def code_columns(columns: Sequence[ColumnCells], numeric: Sequence[bool]) -> list[Coding | None]:
    """Return the coding of each column of the originals.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (n,)
        Numbers with NaN for missing, or level codes with -1 for missing.
    numeric : sequence of bool
        Which of them are numbers.

    Returns
    -------
    list of Coding or None
        None where a numeric column does not vary: it spans no axis.
    """
    return [
        _numeric_coding(cells.astype(np.float64)) if is_number else _level_coding(cells)
        for cells, is_number in zip(columns, numeric, strict=True)
    ]


def _numeric_coding(cells: NDArray[np.float64]) -> NumericCoding | None:
    """Return mean, spread and missing share, or nothing for a constant column."""
    filled = cells[~np.isnan(cells)]
    if filled.size == 0 or filled.min() == filled.max():
        return None
    # Divided by a power of two, which is exact: squares of very large or small numbers have none.
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(filled).max())[1]) - 1))
    mean, deviation = float((filled / unit).mean()) * unit, float((filled / unit).std()) * unit
    return NumericCoding(mean, deviation, 1 - len(filled) / len(cells))


def _level_coding(cells: ColumnCells) -> LevelCoding:
    """Return the levels of a categorical column with their shares."""
    levels, counts = np.unique(cells, return_counts=True)
    return LevelCoding(levels.astype(np.int64), counts / len(cells))


def coded_matrix(columns: Sequence[ColumnCells], codings: Sequence[Coding | None]) -> Matrix:
    """Return the coded columns of a table side by side, shape (rows, coded columns).

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (rows,)
        In the order in which the codings were made.
    codings : sequence of Coding or None
        From `code_columns`.

    Returns
    -------
    ndarray of float64, shape (rows, q)
        q is 0 where no column varies.
    """
    parts = [
        part
        for cells, coding in zip(columns, codings, strict=True)
        if coding is not None
        for part in coding.columns(cells)
    ]
    return np.column_stack(parts) if parts else np.zeros((len(columns[0]), 0))


def coordinates_by_column(
    columns: Sequence[ColumnCells], codings: Sequence[Coding | None], loadings: Matrix
) -> Matrix:
    """Return the coordinates of rows, what each column adds looked up by its level.

    The same as ``coded_matrix(columns, codings) @ loadings`` to the last digits, without a column
    for each level; equal rows have equal coordinates whatever rows stand beside them.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (rows,)
        In the order in which the codings were made.
    codings : sequence of Coding or None
        From `code_columns`.
    loadings : ndarray of float64, shape (q, axes)

    Returns
    -------
    ndarray of float64, shape (rows, axes)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.axes import code_columns, coded_matrix, coordinates_by_column
    >>> columns = [np.array([0.0, 2.0, np.nan]), np.array([0, 1, 1])]
    >>> codings = code_columns(columns, [True, False])
    >>> loadings = np.arange(8.0).reshape(4, 2)
    >>> found = coordinates_by_column(columns, codings, loadings)
    >>> np.allclose(found, coded_matrix(columns, codings) @ loadings)
    True
    """
    found = np.zeros((len(columns[0]), loadings.shape[1]))
    start = 0
    for cells, coding in zip(columns, codings, strict=True):
        if isinstance(coding, LevelCoding):
            own = loadings[start : start + len(coding.levels)]
            found += _looked_up(cells, coding, own)
            start += len(own)
        elif coding is not None:
            for part in coding.columns(cells):
                found += part[:, None] * loadings[start]
                start += 1
    return found


def _looked_up(cells: ColumnCells, coding: LevelCoding, loadings: Matrix) -> Matrix:
    """Return what a categorical column adds to each coordinate; an unknown level has a row too."""
    absent = -np.sqrt(coding.shares)[:, None] * loadings  # a level that a cell does not carry
    table = np.zeros((len(loadings) + 1, loadings.shape[1]))
    table[:-1] = loadings / np.sqrt(coding.shares)[:, None]
    table += absent.sum(axis=0)
    places = np.minimum(np.searchsorted(coding.levels, cells), len(loadings) - 1)
    places[coding.levels[places] != cells] = len(loadings)
    return np.asarray(table[places])


def axes_of_products(products: Matrix, count: int) -> tuple[Matrix, NDArray[np.float64]]:
    """Return the first axes from X'X, which can be added up over parts of X, and their shares.

    Parameters
    ----------
    products : ndarray of float64, shape (q, q)
        X'X of the coded originals X.
    count : int
        Number of axes wanted; fewer come back where X has fewer columns.

    Returns
    -------
    ndarray of float64, shape (q, axes)
        Orthonormal loadings. In each, the first entry of largest size is positive, so that the
        sign is the same on every machine.
    ndarray of float64, shape (axes,)
        Shares of the total variance, 0 to 1, largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.axes import axes_of_products
    >>> loadings, shares = axes_of_products(np.array([[8.0, 0.0], [0.0, 0.0]]), 1)
    >>> loadings.ravel().tolist(), shares.tolist()
    ([1.0, 0.0], [1.0])
    """
    if len(products) == 0:
        return np.zeros((0, 0)), np.zeros(0)
    # The eigenvectors of X'X are the right singular vectors of X.
    values, vectors = np.linalg.eigh(products)
    kept = min(count, len(products))
    loadings = vectors[:, ::-1][:, :kept]  # (q, axes)
    sizes = np.abs(loadings)
    largest = np.argmax(sizes >= sizes.max(axis=0) - SIGN_TIE, axis=0)
    signs = np.sign(loadings[largest, np.arange(kept)])
    total = values.sum()
    shares = np.maximum(values[::-1][:kept], 0.0) / (total if total > 0 else 1.0)
    return loadings * signs, shares
