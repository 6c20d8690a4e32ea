"""What the nearest targets answer: the share of each tie set whose value lies in a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.grouping import concatenated_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evalkit.kernels.sets import NearestSets

BLOCK_PAIRS = 2_000_000  # pairs of a query and a tied group in one block


def answered_share(
    sets: NearestSets,
    value: NDArray[np.integer],
    low: NDArray[np.integer],
    high: NDArray[np.integer],
) -> NDArray[np.float64]:
    """For each query the share of its nearest targets with `low <= value <= high`.

    It is the chance that one nearest target, drawn at random among the ties, has such a value.

    Parameters
    ----------
    sets : NearestSets
        Of n queries among m targets.
    value : ndarray of int, shape (m,)
        A whole number for each target, from 0 up.
    low, high : ndarray of int, shape (n,)
        The range of each query; empty where `low > high`.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 to 1.

    Examples
    --------
    >>> from evalkit.kernels import Column, nearest
    >>> sex = Column(np.array([0, 1]), np.array([0, 0, 1]), numeric=False)
    >>> answered_share(nearest([sex]), np.array([7, 8, 9]), np.array([7, 7]), np.array([7, 7]))
    array([0.5, 0. ])
    """
    counter = _Counter(sets, value)
    low, high = np.maximum(low, 0), np.minimum(high, counter.span - 1)
    right = np.zeros(len(low), np.int64)
    group = sets.query.of_row.astype(np.int64)
    length = sets.starts[1:] - sets.starts[:-1]
    listed = np.flatnonzero(sets.listed[group] & (low <= high))
    for rows in _blocks(listed, length[group[listed]]):
        count = length[group[rows]]
        places = concatenated_ranges(sets.starts[group[rows]], count)
        of = np.repeat(rows, count)
        hits = counter.count(sets.groups[places], low[of], high[of])
        ends = np.cumsum(count)
        total = np.concatenate([[0], np.cumsum(hits)])
        right[rows] = total[ends] - total[ends - count]
    _count_unlisted(sets, counter, (low, high), right)
    share: NDArray[np.float64] = right / sets.size
    return share


class _Counter:
    """Counts targets of a group by value, through one sorted list."""

    def __init__(self, sets: NearestSets, value: NDArray[np.integer]) -> None:
        self.span = int(value.max()) + 1
        self._keys = np.sort(sets.target.of_row.astype(np.int64) * self.span + value)

    def count(
        self, group: NDArray[np.integer], low: NDArray[np.integer], high: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """How many targets of each `group` have a value from `low` to `high`."""
        start = group.astype(np.int64) * self.span
        first = self._keys.searchsorted(start + low, "left")
        last = self._keys.searchsorted(start + high, "right")
        return last - first


def _blocks(rows: NDArray[np.intp], lengths: NDArray[np.integer]) -> Iterator[NDArray[np.intp]]:
    """Cut rows into blocks whose tie sets together stay short."""
    block = np.cumsum(lengths) // BLOCK_PAIRS
    for first, last in _runs(block):
        yield rows[first:last]


def _runs(block: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """First and one past the last place of each run of equal numbers."""
    ends = [*np.flatnonzero(np.diff(block)) + 1, len(block)] if len(block) else []
    start = 0
    for end in ends:
        yield start, int(end)
        start = int(end)


def _count_unlisted(
    sets: NearestSets,
    counter: _Counter,
    ranges: tuple[NDArray[np.integer], NDArray[np.integer]],
    right: NDArray[np.int64],
) -> None:
    """Fill in the queries whose tie sets were too long to keep: they are measured anew."""
    low, high = ranges
    asked = np.flatnonzero(~sets.listed[sets.query.of_row] & (low <= high))
    if not asked.size:
        return
    dense = sets.measure()
    order = asked[np.argsort(sets.query.of_row[asked], kind="stable")]
    for first, last in _runs(sets.query.of_row[order]):
        rows = order[first:last]
        tied = np.flatnonzero(sets.tied(int(sets.query.of_row[rows[0]]), dense))
        # Equal ranges are asked once: rows of one group are often many, their ranges few.
        pairs, of_row = np.unique(np.stack([low[rows], high[rows]]), axis=1, return_inverse=True)
        counts = [int(counter.count(tied, *pair).sum()) for pair in pairs.T]
        right[rows] = np.asarray(counts)[of_row.ravel()]
