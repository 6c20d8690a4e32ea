"""Targets made ready once, for queries that come piece by piece.

Encoding, grouping and the tree over the targets are the dear part of a search in large tables.
An answer does not depend on which queries come together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.blocks import gather_crew, side_by_side
from evalkit.kernels.encoding import cells_of
from evalkit.kernels.grouping import group_side, group_targets, pair_off_exactly
from evalkit.kernels.layouts import Shelf
from evalkit.kernels.problem import posed
from evalkit.kernels.search import LEAST_LIST, LISTED_IN_ALL, LONGEST_LIST, Way, assembled, tie_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.frames import Frame
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem
    from evalkit.kernels.sets import NearestSets

PIECE_QUERIES = 2**18  # always the same, so that sums over pieces are the same everywhere


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """The targets of a search on some variables, ready for any queries of the same frames.

    Attributes
    ----------
    frames : tuple of NumericFrame or LevelFrame
        Of each variable.
    cells : tuple of ndarray
        Of each variable, the encoded cells of the different targets.
    target : Groups
        Equal targets.
    attempt : int
        Which hash gave the keys of the groups, -1 where keys are exact.
    way : Way
        How queries are searched; it keeps the tree over the targets once there is one.
    """

    frames: tuple[Frame, ...]
    cells: tuple[Cells, ...]
    target: Groups
    attempt: int
    way: Way

    @property
    def width(self) -> int:
        """Number of variables."""
        return len(self.frames)

    def nearest(self, cells: Sequence[Cells], crew: Crew | None = None) -> NearestSets:
        """Return the sets of nearest targets of some queries.

        Parameters
        ----------
        cells : sequence of ndarray, each of shape (k,)
            Of each variable, the cells of the queries as they are, before encoding.
        crew : Crew, optional
            Default all processors.

        Returns
        -------
        NearestSets
            As `kernels.nearest` gives them for these queries, had it been asked all of them.
        """
        crew = crew or gather_crew(None)
        problem = self.problem(cells, crew)
        query, alike = group_side(problem, "query", len(cells[0]), self.attempt)
        pair = np.full(len(query.count), -1)
        if alike and problem.joinable():
            pair = pair_off_exactly(problem, query, self.target, hashed=self.attempt >= 0)
        rest = query.first[np.flatnonzero(pair < 0)]
        ties = tie_sets(problem, rest, self.target, self.way, crew)
        return assembled(problem, query, self.target, pair, ties)

    def problem(self, cells: Sequence[Cells], crew: Crew) -> Problem:
        """Return the problem of some queries and the different targets."""
        tasks = [
            lambda frame=frame, raw=raw: frame.encode(raw, "query")
            for frame, raw in zip(self.frames, cells, strict=True)
        ]
        encoded = side_by_side(tasks, crew, len(cells[0]))
        sides = zip(self.frames, encoded, self.cells, strict=True)
        return posed([cells_of(*side) for side in sides])

    def weighed(self, count: NDArray[np.int64], of_row: NDArray[np.integer]) -> Prepared:
        """Return the same targets, each group counting other rows.

        Parameters
        ----------
        count : ndarray of int64, shape (groups,)
            Rows of each group, at least 1.
        of_row : ndarray of int
            The group of each row.

        Returns
        -------
        Prepared
        """
        shelf = self.way.shelf
        laid = shelf.laid
        if laid is not None:
            weight = count if laid.group is None else count[laid.group]
            laid = laid._replace(rows=laid.rows._replace(weight=weight.astype(np.int64)))
        target = replace(self.target, count=count, of_row=of_row)
        return replace(self, target=target, way=replace(self.way, shelf=replace(shelf, laid=laid)))


def prepared(frames: Sequence[Frame], cells: Sequence[Cells], queries: int) -> Prepared:
    """Return targets ready for queries.

    Parameters
    ----------
    frames : sequence of NumericFrame or LevelFrame
        Of each variable, decided over all queries and all targets.
    cells : sequence of ndarray, each of shape (m,)
        The targets' cells of each variable, encoded.
    queries : int
        How many will be asked in all.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError
        If there is no variable or no target.
    """
    if not cells or not len(cells[0]):
        raise ValueError("a search needs at least one column and one target row")
    nobody = [
        frame.encode(column[:0], "query") for frame, column in zip(frames, cells, strict=True)
    ]
    sides = zip(frames, nobody, cells, strict=True)
    found, attempt = group_targets(posed([cells_of(*side) for side in sides]), len(cells[0]))
    different = tuple(column[found.first] for column in cells)
    target = replace(found, first=np.arange(len(found.count), dtype=np.int64))
    asked = max(1, min(queries, PIECE_QUERIES))
    longest = max(LEAST_LIST, min(LONGEST_LIST, LISTED_IN_ALL // asked))
    return Prepared(tuple(frames), different, target, attempt, Way(longest, shelf=Shelf(queries)))
