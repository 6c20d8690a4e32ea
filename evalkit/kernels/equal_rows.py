"""Which rows hold the same cells, one column in memory at a time.

A row is hashed to 62 bits, column after column. Rows of one hash are then compared cell by cell,
and another hash function is taken should two of them differ: no collision goes unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.grouping import KEY_SPACE, MIXER, group_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.grouping import Groups

MISSING_WORD = np.iinfo(np.int64).min  # below the word of any number
_MOST_ATTEMPTS = 64


def words(cells: Cells, *, fractions: bool) -> NDArray[np.int64]:
    """Return cells as whole numbers in the order of the cells, equal where these are equal.

    Parameters
    ----------
    cells : ndarray, shape (n,)
        Numbers with NaN for missing, or codes of levels.
    fractions : bool
        Whether the column holds floats in any of the tables that are compared.

    Returns
    -------
    ndarray of int64, shape (n,)
        A missing number is `MISSING_WORD`; codes and whole numbers stay what they are.

    Examples
    --------
    >>> found = words(np.array([-1.5, -0.0, 0.0, 2.5, np.nan]), fractions=True)
    >>> np.argsort(found, kind="stable").tolist(), bool(found[1] == found[2])
    ([4, 0, 1, 2, 3], True)
    """
    if not fractions:
        return cells.astype(np.int64, copy=False)
    numbers = cells.astype(np.float64) + 0.0  # adding 0 makes -0.0 and 0.0 one number
    bits = numbers.view(np.int64)
    # The bits of negative numbers grow with their size: all but the sign are turned round.
    found = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    found[np.isnan(numbers)] = MISSING_WORD
    return found


def hashes(columns: Iterable[NDArray[np.int64]], rows: int, attempt: int) -> NDArray[np.int64]:
    """Return 62 bits for each row, the same for rows of the same words.

    Parameters
    ----------
    columns : iterable of ndarray of int64, each of shape (rows,)
        Taken one by one.
    rows : int
        Their length, where there may be no column.
    attempt : int
        From 0 up, chooses another function.

    Returns
    -------
    ndarray of int64, shape (rows,)
        From 0 to `KEY_SPACE` - 1.
    """
    key = np.full(rows, 2 * attempt + 1, np.uint64)
    for one in columns:
        key ^= one.view(np.uint64)
        key *= np.uint64(MIXER + 2 * attempt)
        key ^= key >> np.uint64(29)
        key *= np.uint64(MIXER)
        key ^= key >> np.uint64(32)
    return (key >> np.uint64(2)).view(np.int64)


def equal_rows(
    hashed: Callable[[int], NDArray[np.int64]],
    columns: Callable[[], Iterable[NDArray[np.int64]]],
) -> tuple[Groups, int]:
    """Return the groups of equal rows, and the attempt whose hashes tell them apart.

    Parameters
    ----------
    hashed : callable
        Gives the hashes of all rows for an attempt.
    columns : callable
        Gives the words of each column of the same rows, one column at a time.

    Returns
    -------
    Groups
        In the order of their hashes.
    int
    """
    for attempt in range(_MOST_ATTEMPTS):
        groups = group_keys(hashed(attempt), KEY_SPACE)
        likeness = groups.first[groups.of_row]
        repeated = np.flatnonzero(likeness != np.arange(len(likeness)))
        if all_equal(columns(), repeated, columns(), likeness[repeated]):
            return groups, attempt
    raise RuntimeError("64 hash functions in a row gave two different rows one key")


def all_equal(
    columns: Iterable[NDArray[np.int64]],
    rows: NDArray[np.integer],
    others: Iterable[NDArray[np.int64]],
    other_rows: NDArray[np.integer],
) -> bool:
    """Return whether each of the rows has the words of the other row at the same place."""
    return not rows.size or bool(same_words(columns, rows, others, other_rows).all())


def same_words(
    columns: Iterable[NDArray[np.int64]],
    rows: NDArray[np.integer],
    others: Iterable[NDArray[np.int64]],
    other_rows: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Return which of the rows have the words of the other row at the same place.

    Parameters
    ----------
    columns, others : iterable of ndarray of int64
        The same columns of two tables, one by one.
    rows, other_rows : ndarray of int, shape (k,)

    Returns
    -------
    ndarray of bool, shape (k,)
    """
    same = np.ones(len(rows), np.bool_)
    for one, other in zip(columns, others, strict=True):
        same &= one[rows] == other[other_rows]
    return same
