"""Tables as counts of bins, each variable by itself, and how far two tables differ in them.

Bins are those of the working originals, so an avatar can move into a bin but never make one,
and every variable keeps its bins whatever other columns stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import fold
from evalkit.quantities import cells
from evalkit.quantities_pieces import pieces
from evalkit.quantities_univariate import inner_edges, missing_cells, number_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities import Cells
    from evalkit.quantities_pieces import Piece
    from evalkit.schema import Schema

    Counts = NDArray[np.int64]
    Shares = NDArray[np.float64]
    Groups = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NumberBins:
    """Bins of a number column between quantiles of the originals, and one for missing cells.

    Attributes
    ----------
    edges : ndarray
        From `inner_edges`; empty where no original is filled: no cell says then where bins should
        be, and filled against missing is all there is.
    least : float
        The least filled value of the originals.
    """

    edges: Cells
    least: float

    @property
    def size(self) -> int:
        """How many bins there may be."""
        return len(self.edges) + 3 if len(self.edges) else 2

    def codes(self, values: Cells) -> NDArray[np.int32]:
        """Return the bin of each cell, shape (rows,)."""
        if not len(self.edges):
            return missing_cells(values).astype(np.int32)
        return number_codes(values, self.edges, self.least)


@dataclass(frozen=True)
class LevelBins:
    """One bin for each level, the missing one first."""

    size: int

    def codes(self, values: Cells) -> NDArray[np.int32]:
        """Return the bin of each cell, shape (rows,)."""
        return values.astype(np.int32) + 1


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of each variable, numbered through.

    Attributes
    ----------
    names : tuple of str
        Sorted.
    columns : tuple of NumberBins or LevelBins
        In that order.
    starts : ndarray of int64, shape (variables,)
        Where the bins of each variable begin among all bins.
    total : int
        Bins of all variables together.
    """

    names: tuple[str, ...]
    columns: tuple[NumberBins | LevelBins, ...]
    starts: Counts
    total: int

    @classmethod
    def of(cls, schema: Schema, names: Sequence[str], originals: pd.DataFrame, bins: int) -> Bins:
        """Return `bins` quantile bins of each number column of a table, and its levels."""
        ordered = tuple(sorted(names))
        columns = tuple(_column_bins(schema, name, originals, bins) for name in ordered)
        sizes = [one.size for one in columns]
        starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        return cls(ordered, columns, starts, sum(sizes))

    def matrix(self, columns: dict[str, Cells]) -> NDArray[np.int32]:
        """Return the number of each cell's bin among all bins, shape (rows, variables)."""
        return np.stack(
            [
                one.codes(columns[name]) + np.int32(start)
                for name, one, start in zip(self.names, self.columns, self.starts, strict=True)
            ],
            axis=1,
        )

    def counts(self, frame: pd.DataFrame, schema: Schema) -> Counts:
        """Return how many rows of a table are in each bin, shape (total,)."""
        found: Counts = fold(counts_of_piece, pieces(frame, schema, self.names), np.add, (self, 0))
        return found

    def counts_of_groups(
        self, frame: pd.DataFrame, schema: Schema, groups: Groups, total: int
    ) -> Counts:
        """Return how many rows of each of `total` groups are in each bin, shape (groups, bins)."""
        cut = pieces(frame, schema, self.names, beside=groups)
        return np.asarray(fold(counts_of_piece, cut, np.add, (self, total)))

    def shares(self, counts: NDArray[np.generic]) -> Shares:
        """Return the shares of the rows of one table, shape (total,), from its counts."""
        rows = counts[: self.columns[0].size].sum()
        return np.asarray(counts / rows)

    def distances(self, first: Shares, second: Shares) -> NDArray[np.float64]:
        """Return Hellinger's H of each variable, 0 to 1, from two sets of shares.

        H² = 1 - Σ sqrt(p q), written as half the sum of (sqrt p - sqrt q)², which is exactly 0
        where all shares are equal.
        """
        gaps = (np.sqrt(first) - np.sqrt(second)) ** 2  # (total,)
        halves = np.add.reduceat(gaps, self.starts) / 2  # (variables,)
        return np.sqrt(np.clip(halves, 0.0, 1.0))

    def filled(self, *counts: Counts) -> Counts:
        """Return how many bins of each variable hold a row of any of the tables."""
        held = np.any([one > 0 for one in counts], axis=0)
        return np.add.reduceat(held.astype(np.int64), self.starts)


def counts_of_piece(piece: Piece, shared: tuple[Bins, int]) -> Counts:
    """Return the rows of a piece in each bin: a partial, whose states are added.

    Parameters
    ----------
    piece : Piece
        Beside it the group of each row, where there are groups.
    shared : tuple of (Bins, int)
        How many groups there are; 0 for none.

    Returns
    -------
    ndarray of int64, shape (total,) or (groups, total)
    """
    bins, groups = shared
    codes = bins.matrix(piece.columns)  # (rows, variables)
    if piece.beside is None:
        return np.bincount(codes.ravel(), minlength=bins.total).astype(np.int64)
    numbers = piece.beside.astype(np.int64)[:, None] * bins.total + codes
    found = np.bincount(numbers.ravel(), minlength=groups * bins.total)
    return found.reshape(groups, bins.total).astype(np.int64)


def _column_bins(
    schema: Schema, name: str, originals: pd.DataFrame, bins: int
) -> NumberBins | LevelBins:
    """Return the bins of one column."""
    if not schema[name].is_number:
        return LevelBins(1 + len(originals[name].cat.categories))
    values = cells(originals, schema, name)
    filled = values[~missing_cells(values)]
    if not len(filled):
        return NumberBins(filled, 0.0)
    return NumberBins(inner_edges(filled, bins), filled.min().item())
