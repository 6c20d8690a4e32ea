"""Pearson correlations with missing cells: arrays in, arrays out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sums = tuple[NDArray[np.float64], ...]

ROUNDING = 1e-12
"""A variance below this share of the mean square is rounding: the rows count as constant."""


def correlations(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Pearson correlations over the rows in which both columns are filled.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, p)
        NaN marks a missing cell.

    Returns
    -------
    ndarray of float64, shape (p, p)
        1 on the diagonal; 0 for a pair with fewer than 2 filled rows or constant on them.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.correlations import correlations
    >>> correlations(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, np.nan]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return _from_sums(_sums(*_standardised(matrix)))


def filled_pairs(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each pair of columns the number of rows in which both are filled.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, p)
        NaN marks a missing cell.

    Returns
    -------
    ndarray of int64, shape (p, p)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.correlations import filled_pairs
    >>> filled_pairs(np.array([[1.0, 2.0], [2.0, np.nan]]))
    array([[2, 1],
           [1, 1]])
    """
    filled = (~np.isnan(matrix)).astype(np.float64)
    return np.rint(filled.T @ filled).astype(np.int64)


def products_of(
    values: NDArray[np.float64], filled: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    """Return all sums that the correlations of some rows need, to be added to those of others.

    Parameters
    ----------
    values : ndarray of float64, shape (n, p)
        Columns around one origin near the middle of the whole table, 0 where missing.
    filled : ndarray of bool, shape (n, p), optional
        Where a cell is filled; left out where no cell of the whole table is missing.

    Returns
    -------
    ndarray of float64, shape (3 p, 2 p), or (p + 1, p + 1) without `filled`
        For `correlations_of_products`.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.correlations import correlations_of_products, products_of
    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]])
    >>> both = products_of(table[:1], None) + products_of(table[1:], None)
    >>> correlations_of_products(both, 2)[0, 1].round(4)
    np.float64(0.982)
    """
    if filled is None:
        beside = np.column_stack([values, np.ones(len(values))])  # (n, p + 1)
        return np.asarray(beside.T @ beside)
    mask = filled.astype(np.float64)
    return np.asarray(np.hstack([values, values**2, mask]).T @ np.hstack([values, mask]))


def correlations_of_products(products: NDArray[np.float64], p: int) -> NDArray[np.float64]:
    """Return the Pearson correlations from sums of `products_of`, shape (p, p).

    Parameters
    ----------
    products : ndarray of float64
        Added up over the rows.
    p : int
        Number of columns.

    Returns
    -------
    ndarray of float64, shape (p, p)
        As `correlations` gives them.
    """
    if len(products) == p + 1:
        inner = products[:p, :p]
        total = np.repeat(products[:p, p:], p, axis=1)
        squares = np.repeat(np.diag(inner)[:, None], p, axis=1)
        return _from_sums((filled_of_products(products, p), total, squares, inner))
    count, total, squares = products[2 * p :, p:], products[:p, p:], products[p : 2 * p, p:]
    return _from_sums((count, total, squares, products[:p, :p]))


def filled_of_products(products: NDArray[np.float64], p: int) -> NDArray[np.float64]:
    """Return the number of rows in which both columns of a pair are filled, shape (p, p)."""
    if len(products) == p + 1:
        return np.full((p, p), products[p, p])
    return products[2 * p :, p:]


class Deals:
    """Correlations of two parts of one table, for many ways to deal its rows.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n, p)
        NaN marks a missing cell. Standardised once, not at each deal.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.correlations import Deals
    >>> table = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0], [5.0, 1.0]])
    >>> part, rest = Deals(table).correlations_of(np.array([True, True, False, False]))
    >>> part[0, 1].round(6), rest[0, 1].round(6)
    (np.float64(1.0), np.float64(-1.0))
    """

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self._values, self._filled = _standardised(matrix)

    def correlations_of(
        self, dealt: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the correlation matrices of the `dealt` rows and of the rest, each (p, p)."""
        # Both are summed from their rows: the rest as "total less part" would lose its digits
        # where one huge value lies in the part.
        part, rest = (
            _from_sums(_sums(self._values[rows], self._filled[rows])) for rows in (dealt, ~dealt)
        )
        return part, rest


def _standardised(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the columns centred and scaled, 0 where missing, and where they are filled.

    A correlation does not change by this, and sums of squares keep their digits.
    """
    filled = ~np.isnan(matrix)  # (n, p)
    values = np.where(filled, matrix - _medians(matrix, filled), 0.0)
    # The largest first: sums of squares of huge values stay finite.
    largest = np.max(np.abs(values), axis=0, initial=0.0)
    values /= np.where(largest > 0, largest, 1.0)
    values[:, _constant(matrix, filled)] = 0.0
    return values, filled


def _medians(matrix: NDArray[np.float64], filled: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the median of the filled cells of each column, 0 for an empty one.

    A mean as the origin would lie far from all rows but one where one value is huge, and the
    deals without that row would lose their digits.
    """
    return np.array(
        [
            np.median(column[known]) if known.any() else 0.0
            for column, known in zip(matrix.T, filled.T, strict=True)
        ]
    )  # (p,)


def _constant(matrix: NDArray[np.float64], filled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each column whether its filled cells are all equal, decided exactly."""
    low = np.min(np.where(filled, matrix, np.inf), axis=0, initial=np.inf)
    high = np.max(np.where(filled, matrix, -np.inf), axis=0, initial=-np.inf)
    return np.asarray(low >= high)  # (p,)


def _sums(values: NDArray[np.float64], filled: NDArray[np.bool_]) -> Sums:
    """Return count, sum, sum of squares and sum of products for each pair of columns.

    Sum and sum of squares belong to the first column of the pair, over the rows in which both
    are filled; those of the second are the transpose.
    """
    products = values.T @ values  # (p, p)
    if filled.all():
        p = values.shape[1]
        count = np.full((p, p), float(len(values)))
        total = np.repeat(values.sum(axis=0)[:, None], p, axis=1)
        squares = np.repeat(np.diag(products)[:, None], p, axis=1)
        return count, total, squares, products
    mask = filled.astype(np.float64)
    return mask.T @ mask, values.T @ mask, (values**2).T @ mask, products


def _from_sums(sums: Sums) -> NDArray[np.float64]:
    """Return the correlations, 0 where a pair has no two rows or no variance."""
    count, total, squares, products = sums
    safe = np.maximum(count, 1.0)
    variance = squares / safe - (total / safe) ** 2  # (p, p), of the first of the pair
    covariance = products / safe - total * total.T / safe**2
    varies = (count > 1) & (variance > ROUNDING * squares / safe)
    good = varies & varies.T
    scale = np.sqrt(np.where(good, variance * variance.T, 1.0))
    found = np.where(good, np.clip(covariance / scale, -1.0, 1.0), 0.0)
    np.fill_diagonal(found, 1.0)
    return found
