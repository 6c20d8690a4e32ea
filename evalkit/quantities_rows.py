"""Which rows of which tables hold the same cells: exact matches, over all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.quantities import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.schema import Schema


def row_counts(table: pd.DataFrame, schema: Schema, names: Sequence[str]) -> NDArray[np.int64]:
    """Return how many rows of the table have the cells of each row, its own included.

    Parameters
    ----------
    table : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        The columns that are compared; missing equals missing.

    Returns
    -------
    ndarray of int64, shape (rows,)
    """
    (keys,) = row_keys([table], schema, names)
    counts: NDArray[np.int64] = np.bincount(keys)[keys]
    return counts


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
    held = np.unique(key * (1 + owner.max(initial=0)) + owner) // (1 + owner.max(initial=0))
    return np.bincount(held, minlength=total)


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
    """
    ends = np.cumsum([len(table) for table in tables])
    key = np.zeros(ends[-1], np.int64)
    for name in names:
        column = np.concatenate([cells(table, schema, name) for table in tables])
        value = np.unique(column, return_inverse=True)[1]
        key = np.unique(key * len(key) + value, return_inverse=True)[1]
    return np.split(key, ends[:-1])
