"""What a search hands back: for each query a distance and the set of its nearest targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.dense import Dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class NearestSets:
    """For each query the least distance and the targets that have it.

    Attributes
    ----------
    distance : ndarray of float64, shape (n,)
        Gower's distance to the nearest target, 0 to 1 where differences are inside the ranges.
    size : ndarray of int64, shape (n,)
        How many target rows tie for it; at least 1.
    problem : Problem
    query, target : Groups
        Equal rows of either side.
    least : ndarray, shape (groups of queries,)
        The least sum of each group of queries, in the problem's unit.
    starts : ndarray of int64, shape (groups of queries + 1,)
        Where the list of each group of queries begins in `groups`.
    groups : ndarray of int32
        Tied groups of targets, list after list, each increasing.
    listed : ndarray of bool, shape (groups of queries,)
        False where the tie set was too long to keep; its members are measured anew when needed.
    """

    distance: NDArray[np.float64]
    size: NDArray[np.int64]
    problem: Problem
    query: Groups
    target: Groups
    least: Cells
    starts: NDArray[np.int64]
    groups: NDArray[np.int32]
    listed: NDArray[np.bool_]

    @property
    def width(self) -> int:
        """Number of columns that were compared."""
        return self.problem.width

    def members(self, i: int) -> NDArray[np.int64]:
        """Target rows that tie for nearest to one query.

        Parameters
        ----------
        i : int
            Row of the query.

        Returns
        -------
        ndarray of int64, shape (size[i],)
            Increasing row numbers.
        """
        group = int(self.query.of_row[i])
        return np.flatnonzero(self.tied(group)[self.target.of_row])

    def tied(self, group: int, dense: Dense | None = None) -> NDArray[np.bool_]:
        """Which groups of targets tie for nearest to a group of queries.

        Parameters
        ----------
        group : int
            Group of queries.
        dense : Dense, optional
            What `measure` gave, if it is at hand.

        Returns
        -------
        ndarray of bool, shape (groups of targets,)
        """
        if not self.listed[group]:
            dense = self.measure() if dense is None else dense
            return dense.tied(int(self.query.first[group]), self.least[group])
        within = np.zeros(len(self.target.count), np.bool_)
        within[self.groups[self.starts[group] : self.starts[group + 1]]] = True
        return within

    def measure(self) -> Dense:
        """Prepare the distances themselves, for tie sets that are not listed.

        Returns
        -------
        Dense
        """
        return Dense(self.problem, self.target.first, self.target.count)
