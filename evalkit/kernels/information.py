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


class PairCells:
    """Where the cells of some pairs and the levels of all columns stand in one row of counts.

    Parameters
    ----------
    levels : ndarray of int64, shape (p,)
        Number of levels of each column.
    pairs : tuple of two ndarray of intp
        First and second column of each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.information import PairCells
    >>> cells = PairCells(np.array([2, 2]), (np.array([0]), np.array([1])))
    >>> codes = np.array([[0, 1], [1, 0]] * 50, dtype=np.uint16)
    >>> counts = cells.counts(codes, np.zeros(100, np.int32), 1)
    >>> counts.tolist()
    [[0, 50, 50, 0, 50, 50, 50, 50]]
    >>> cells.information(counts, np.array([100.0])).round(4)
    array([[0.9928]])
    """

    def __init__(self, levels: NDArray[np.int64], pairs: Pairs) -> None:
        first, second = pairs
        sizes = levels[first] * levels[second]
        self.pairs = pairs
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[: len(sizes)]
        self.widths = levels[second].astype(np.int64)
        self.cells = int(sizes.sum())
        self.level_starts = self.cells + np.cumsum([0, *levels[:-1]]).astype(np.int64)
        self.total = self.cells + int(levels.sum())

    def counts(self, codes: Codes, group: NDArray[np.int32], groups: int) -> NDArray[np.int32]:
        """Return the rows in each cell and level for each group, shape (groups, total).

        Parameters
        ----------
        codes : ndarray of uint16, shape (n, p)
        group : ndarray of int32, shape (n,)
            Best in increasing order: the counts of a group then stay in the cache.
        groups : int
        """
        from evalkit.kernels.loops_information import add_counts

        found = np.zeros((groups, self.total), np.int32)
        where = self.starts, self.widths, self.level_starts
        add_counts(codes, group, *self.pairs, *where, found)
        return found

    def levels_of(
        self, counts: NDArray[np.generic]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """Return the sum of c log c over the levels of each column, how many occur, and rows."""
        levels, starts = counts[:, self.cells :], self.level_starts - self.cells
        sums = np.add.reduceat(_weighted(levels), starts, axis=1)  # (k, p)
        occur = np.add.reduceat(np.not_equal(levels, 0).astype(np.int64), starts, axis=1)
        ends = starts[1] if len(starts) > 1 else levels.shape[1]
        return sums, occur, levels[:, :ends].sum(axis=1).astype(np.float64)

    def information(
        self, counts: NDArray[np.generic], people: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the normalised mutual information of each pair, shape (k, pairs).

        Parameters
        ----------
        counts : ndarray, shape (k, total)
            Of k choices of rows.
        people : ndarray of float64, shape (k,)
            For how many people the rows of each choice count.
        """
        sums, occur, rows = self.levels_of(counts)
        first, second = self.pairs
        if not len(first):
            return np.zeros((len(counts), 0))
        joint = np.add.reduceat(_weighted(counts[:, : self.cells]), self.starts, axis=1)
        all_rows, n = _weighted(rows)[:, None], rows[:, None]
        x, y = sums[:, first], sums[:, second]
        taken_off = (occur[:, first] - 1) * (occur[:, second] - 1) / (2 * people[:, None])
        shared = (joint - x - y + all_rows) / n - taken_off
        varies = (occur[:, first] > 1) & (occur[:, second] > 1) & (shared > 0)
        scale = np.sqrt(np.where(varies, (all_rows - x) * (all_rows - y), 1.0)) / n
        return np.where(varies, shared / scale, 0.0)


def _weighted(counts: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return c log c."""
    found = counts.astype(np.float64)
    return np.asarray(found * np.log(np.maximum(found, 1.0)))


def _complements(rows: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Return for each choice the rows that are not in it."""
    outside = np.ones((len(rows), n), np.bool_)
    np.put_along_axis(outside, rows.astype(np.int64), values=False, axis=1)
    return np.nonzero(outside)[1].astype(np.int32).reshape(len(rows), n - rows.shape[1])
