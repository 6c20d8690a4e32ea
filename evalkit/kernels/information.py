"""Normalised mutual information of all pairs of coded columns: arrays in, arrays out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.blocks import WORTH_A_THREAD, gather_crew, in_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.uint16]
    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

PAIRS_AT_ONCE = 512


def pair_information(  # noqa: PLR0913 - what is measured, in which rows, for how many people
    codes: Codes,
    levels: NDArray[np.int64],
    pairs: Pairs,
    rows: NDArray[np.int32] | None = None,
    *,
    rest: bool = False,
    people: int | None = None,
) -> NDArray[np.float64]:
    """Return the normalised mutual information of pairs of columns, for many choices of rows.

    NMI = max(0, I - (r-1)(c-1)/2n) / sqrt(H_x H_y), with I and H in natural logarithms from the
    shares among the n chosen rows, r and c the levels that occur among them.

    Parameters
    ----------
    codes : ndarray of uint16, shape (p, n)
        Levels as 0, 1, ... of p columns; a missing cell is a level like any other.
    levels : ndarray of int64, shape (p,)
        Number of levels of each column.
    pairs : tuple of two ndarray of intp, each of shape (pairs,)
        First and second column of each pair.
    rows : ndarray of int32, shape (k, m), optional
        Chosen rows, each at most once in a choice; all rows, one choice, if not given.
    rest : bool
        Whether the rows that are not chosen are measured too.
    people : int, optional
        The n of the correction: for how many people the chosen rows count, themselves if left out.

    Returns
    -------
    ndarray of float64, shape (k, pairs), with `rest` (2 k, pairs)
        0 to 1; 0 where a column does not vary among the rows. With `rest` the second half belongs
        to the rows not chosen.

    Notes
    -----
    Source of the correction: Miller (1955) and Madow; see the page of the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.information import pair_information
    >>> codes = np.array([[0, 1] * 50, [1, 0] * 50], dtype=np.uint16)
    >>> pair_information(codes, np.array([2, 2]), (np.array([0]), np.array([1]))).round(4)
    array([[0.9928]])
    """
    from evalkit.kernels.loops_information import Choice, Columns, marginals, pairs_information

    n = codes.shape[1]
    chosen = np.arange(n, dtype=np.int32)[None] if rows is None else rows
    left_out = not rest and 2 * chosen.shape[1] > n
    if left_out:  # the counts of all rows less those of the fewer rows left out
        chosen = _complements(chosen, n)
    columns, choice = Columns(codes, levels), Choice(np.ascontiguousarray(chosen), left_out, rest)
    weight = np.arange(n + 1) * np.log(np.maximum(np.arange(n + 1), 1))  # c log c
    sums, occur = marginals(columns, choice, weight)

    def block(start: int, end: int) -> NDArray[np.float64]:
        first, second = (side[start:end] for side in pairs)
        return pairs_information(columns, choice, first, second, weight, sums, occur, worth)

    worth = 1.0 if people is None else people / (n if rows is None else rows.shape[1])
    work = len(pairs[0]) * (n + chosen.size)
    crew = gather_crew(None if work > 100 * WORTH_A_THREAD else 1)
    found = in_blocks(block, len(pairs[0]), PAIRS_AT_ONCE, crew)
    return np.concatenate(found, axis=1) if found else np.zeros((len(sums), 0))


def _complements(rows: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Return for each choice the rows that are not in it."""
    outside = np.ones((len(rows), n), np.bool_)
    np.put_along_axis(outside, rows.astype(np.int64), values=False, axis=1)
    return np.nonzero(outside)[1].astype(np.int32).reshape(len(rows), n - rows.shape[1])
