"""Cells of several tables as whole numbers that no change of units or names moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells

MISSING = -1


def number_ranks(tables: Sequence[Cells]) -> list[NDArray[np.int32]]:
    """Give each number its rank among the different numbers of all tables.

    Parameters
    ----------
    tables : sequence of ndarray
        One column of each table; NaN for missing.

    Returns
    -------
    list of ndarray of int32
        From 0 up, -1 for missing, one array for each table.

    Examples
    --------
    >>> [ranks.tolist() for ranks in number_ranks([np.array([30, 20]), np.array([25.0, np.nan])])]
    [[2, 0], [1, -1]]
    """
    together = np.concatenate(tables)
    values = np.unique(together[~np.isnan(together)])
    return [
        np.where(np.isnan(cells), MISSING, np.searchsorted(values, cells)).astype(np.int32)
        for cells in tables
    ]


def level_ranks(tables: Sequence[Cells]) -> list[NDArray[np.int32]]:
    """Give each level its rank by how often it occurs in the tables, the commonest first.

    The counts in the first table lead, those in the others break ties, and only where all are
    equal does the given order of the levels decide: a level's name does not matter.

    Parameters
    ----------
    tables : sequence of ndarray
        Codes of one column of each table, from 0 up; -1 for missing.

    Returns
    -------
    list of ndarray of int32
        From 0 up, -1 for missing, one array for each table.

    Examples
    --------
    >>> [ranks.tolist() for ranks in level_ranks([np.array([0, 1, 1]), np.array([2, -1])])]
    [[1, 0, 0], [2, -1]]
    """
    codes = [np.asarray(cells).astype(np.int64) for cells in tables]
    size = 1 + max((int(one.max()) for one in codes if one.size), default=MISSING)
    counts = [np.bincount(one[one >= 0], minlength=size) for one in codes]
    order = np.lexsort([np.arange(size), *(-count for count in reversed(counts))])
    rank = np.full(size + 1, MISSING, np.int32)  # the last place is read by the mark for missing
    rank[order] = np.arange(size, dtype=np.int32)
    return [rank[one] for one in codes]
