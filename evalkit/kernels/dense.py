"""Every distance, block by block, with NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalkit.kernels.blocks import in_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.problem import Problem

BLOCK_CELLS = 131_072  # distances in one block: two such arrays stay in the processor's cache
BYTE_LEVELS = 255  # mismatches that a byte can count


class Ties(NamedTuple):
    """What some queries found.

    Attributes
    ----------
    least : ndarray of the problem's dtype, shape (k,)
        Least sum of each query.
    rows : ndarray of int64, shape (k,)
        Target rows in its tie set.
    listed : ndarray of int64, shape (k,)
        Groups of its tie set that are listed; -1 where there are too many to list.
    groups : ndarray of int32
        The listed groups, query after query, each list increasing.
    """

    least: Cells
    rows: NDArray[np.int64]
    listed: NDArray[np.int64]
    groups: NDArray[np.int32]


class Dense:
    """Distances from any queries to one row of each group of targets.

    Parameters
    ----------
    problem : Problem
    first : ndarray of int, shape (groups,)
        One target row of each group.
    count : ndarray of int64, shape (groups,)
        Target rows in each group.
    """

    def __init__(
        self, problem: Problem, first: NDArray[np.integer], count: NDArray[np.int64]
    ) -> None:
        self.problem = problem
        self.values = problem.values("target", first)
        self.codes = problem.codes("target", first)
        self.limits = problem.limits()
        self.count = count

    def sums(self, rows: NDArray[np.integer]) -> Cells:
        """Distances of some queries to all groups.

        Parameters
        ----------
        rows : ndarray of int, shape (k,)
            Rows of the queries.

        Returns
        -------
        ndarray of the problem's dtype, shape (k, groups)
        """
        total = np.zeros((len(rows), len(self.count)), self.problem.dtype)
        part = np.empty_like(total)
        unit = total.dtype.type(self.problem.unit)
        for x, y, limit in zip(
            self.problem.values("query", rows), self.values, self.limits, strict=True
        ):
            np.subtract(x[:, None], y, out=part)
            np.abs(part, out=part)
            if limit == unit:
                np.minimum(part, unit, out=part)
            elif limit is not None:
                np.copyto(part, unit, where=part > limit)
            total += part
        if self.codes:
            narrow = np.uint8 if len(self.codes) <= BYTE_LEVELS else np.int32
            mismatches: NDArray[Any] = np.zeros(total.shape, narrow)
            for code, codes in zip(self.problem.codes("query", rows), self.codes, strict=True):
                mismatches += code[:, None] != codes
            total += np.multiply(mismatches, unit, out=part)
        return total

    def ties(self, rows: NDArray[np.integer], longest: int) -> Ties:
        """Tie sets of some queries.

        Parameters
        ----------
        rows : ndarray of int, shape (k,)
        longest : int
            Groups up to which a tie set is listed.

        Returns
        -------
        Ties
        """
        sums = self.sums(rows)
        least = sums.min(axis=1)
        query, group = np.nonzero(sums <= (least + self._tolerance())[:, None])
        listed = np.bincount(query, minlength=len(rows))
        tied_rows = np.bincount(query, weights=self.count[group], minlength=len(rows))
        short = listed <= longest
        if not short.all():
            group = group[short[query]]
        return Ties(
            least,
            tied_rows.astype(np.int64),
            np.where(short, listed, -1),
            group.astype(np.int32),
        )

    def tied(self, row: int, least: float) -> NDArray[np.bool_]:
        """Whether each group lies within the tolerance of a query's least sum.

        Parameters
        ----------
        row : int
            Row of the query.
        least : int or float

        Returns
        -------
        ndarray of bool, shape (groups,)
        """
        within: NDArray[np.bool_] = self.sums(np.array([row]))[0] <= least + self._tolerance()
        return within

    def _tolerance(self) -> Any:
        return self.problem.dtype.type(self.problem.tolerance)


def search_all(dense: Dense, rows: NDArray[np.integer], longest: int, crew: Crew) -> Ties:
    """Tie sets of many queries, in blocks of bounded memory.

    Parameters
    ----------
    dense : Dense
    rows : ndarray of int, shape (k,)
        Rows of the queries.
    longest : int
        Groups up to which a tie set is listed.
    crew : Crew

    Returns
    -------
    Ties
    """
    size = max(1, BLOCK_CELLS // len(dense.count))
    answers = in_blocks(
        lambda start, end: dense.ties(rows[start:end], longest), len(rows), size, crew
    )
    return Ties(*(np.concatenate(parts) for parts in zip(*answers, strict=True)))
