"""What samples of random groups hold of one column: levels, and exact quantiles.

A quantile of a sample of a large pool lies close to that of the pool. Only the cells around it are
told apart; of all others it is enough how many of each group lie below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import fold
from evalkit.quantities_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.quantities import Cells
    from evalkit.quantities_dealt_groups import DealtGroups
    from evalkit.quantities_pieces import Piece
    from evalkit.schema import Schema

    Times = NDArray[np.float64]
    Ranges = NDArray[np.float64]

ROUNDING = 1e-9
STANDARD_ERRORS = 8.0
"""How far the quantile of a sample is looked for at first; where one lies beyond, farther."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Tables whose people are dealt in groups.

    Attributes
    ----------
    frames : sequence of DataFrame
        Tables of a release, one below the other.
    persons : sequence of Persons
        Whose the rows of each table are.
    schema : Schema
        Types of the columns.
    groups : DealtGroups
        Of the rows of these tables.
    """

    frames: Sequence[pd.DataFrame]
    persons: Sequence[Persons]
    schema: Schema
    groups: DealtGroups

    def carriers(self, name: str, levels: int) -> NDArray[np.int64]:
        """Return how many people of each group carry each level, shape (groups, levels)."""
        total = np.zeros((self.groups.total, levels), np.int64)
        for frame, persons, rows in zip(
            self.frames, self.persons, self.groups.of_rows, strict=True
        ):
            if persons.are_rows:
                cut = pieces(frame, self.schema, [name], beside=rows)
                total += fold(carriers_of_piece, cut, np.add, (name, total.shape))
            else:
                total += _carriers(frame, name, persons, rows, total.shape)
        return total

    def ranges(
        self, name: str, samples: Sequence[Times], shares: tuple[float, float]
    ) -> list[Ranges]:
        """Return two quantiles of the filled cells of a number column in each sample of each deal.

        Parameters
        ----------
        name : str
            A number column.
        samples : sequence of ndarray, each of shape (deals, groups)
            How often each group is in the sample.
        shares : tuple of two float
            A quantile is the least value of the sample that the share of its cells does not pass.

        Returns
        -------
        list of ndarray of float64, each of shape (deals, 2)
            One for each of the samples; NaN where a sample has no filled cell.
        """
        columns = [frame[name].to_numpy() for frame in self.frames]
        filled = np.concatenate([one[~np.isnan(one)] for one in columns])
        wide = _width(len(filled), self.groups, shares)
        while True:
            edges, known = window_edges(filled, shares, wide)
            held = self._held(name, edges)
            found = [_quantiles(held, edges, known, times, shares) for times in samples]
            if all(one is not None for one in found):
                return [one for one in found if one is not None]
            wide *= 4

    def _held(self, name: str, edges: Cells) -> Held:
        """Return how many cells of each group lie between two edges."""
        states = [
            fold(
                held_of_piece,
                pieces(frame, self.schema, [name], beside=rows),
                merged,
                (name, edges, self.groups.total),
            )
            for frame, rows in zip(self.frames, self.groups.of_rows, strict=True)
        ]
        total = states[0]
        for one in states[1:]:
            total = merged(total, one)
        return Held(total, len(edges) + 1, self.groups.total)


State = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


@dataclass(frozen=True, eq=False)
class Held:
    """How many cells of each group lie in each bin, only bins that hold some.

    Attributes
    ----------
    state : tuple of two ndarray of int64
        Number of the bin times `groups` plus that of the group, ascending, and the count.
    bins, groups : int
    """

    state: State
    bins: int
    groups: int

    def of(self, times: Times) -> NDArray[np.float64]:
        """Return how many cells a sample holds up to each bin, shape (bins,)."""
        keys, counts = self.state
        found = np.bincount(keys // self.groups, times[keys % self.groups] * counts, self.bins)
        return np.cumsum(found)


def carriers_of_piece(piece: Piece, shared: tuple[str, tuple[int, int]]) -> NDArray[np.int64]:
    """Return how many rows of each group carry each level, shape (groups, levels): a partial."""
    name, shape = shared
    codes, groups = piece.columns[name].astype(np.int64), np.asarray(piece.beside)
    filled = codes >= 0
    keys = groups[filled].astype(np.int64) * shape[1] + codes[filled]
    return np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)


def _carriers(
    frame: pd.DataFrame,
    name: str,
    persons: Persons,
    rows: NDArray[np.int32],
    shape: tuple[int, int],
) -> NDArray[np.int64]:
    """Return how many people of each group carry each level in one of their rows."""
    codes = frame[name].cat.codes.to_numpy().astype(np.int64)
    filled = np.flatnonzero(codes >= 0)
    carried = persons.code[filled] * shape[1] + codes[filled]
    once = filled[np.unique(carried, return_index=True)[1]]
    keys = rows[once].astype(np.int64) * shape[1] + codes[once]
    return np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)


def held_of_piece(piece: Piece, shared: tuple[str, Cells, int]) -> State:
    """Return how many cells of each group lie in each bin: a partial."""
    name, edges, groups = shared
    values, group = piece.columns[name], np.asarray(piece.beside)
    filled = ~np.isnan(values)
    bins = np.searchsorted(edges, values[filled], side="left")
    keys, counts = np.unique(bins.astype(np.int64) * groups + group[filled], return_counts=True)
    return keys, counts.astype(np.int64)


def merged(first: State, second: State) -> State:
    """Return the counts of two pieces together."""
    keys, places = np.unique(np.concatenate([first[0], second[0]]), return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    np.add.at(counts, places, np.concatenate([first[1], second[1]]))
    return keys, counts


def window_edges(
    filled: Cells, shares: tuple[float, float], wide: int
) -> tuple[Cells, NDArray[np.bool_]]:
    """Return the different cells of a column around two of its quantiles.

    Parameters
    ----------
    filled : ndarray, shape (n,)
        All filled cells.
    shares : tuple of two float
        Which quantiles.
    wide : int
        How many cells on either side of each.

    Returns
    -------
    edges : ndarray
        Ascending: the cells around the quantiles, and a number right below each lot of them.
    known : ndarray of bool
        Whether all cells up to this edge and over the one before it are equal to the edge. Not so
        for the numbers below.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_dealt_cells import window_edges
    >>> edges, known = window_edges(np.arange(100), (0.05, 0.95), 1)
    >>> edges.tolist()
    [3, 4, 5, 6, 93, 94, 95, 96]
    >>> known.tolist()
    [False, True, True, True, False, True, True, True]
    """
    if not len(filled):
        return filled, np.zeros(0, np.bool_)
    last = len(filled) - 1
    middle = [int(share * len(filled)) for share in shares]
    ends = [(max(0, one - wide), min(last, one + wide)) for one in middle]
    ordered = np.partition(filled, sorted({place for pair in ends for place in pair}))
    inside = np.unique(np.concatenate([ordered[low : high + 1] for low, high in ends]))
    below = [_just_below(ordered[low]) for low, _ in ends if low > 0]
    edges = np.union1d(inside, np.array(below, dtype=filled.dtype))
    return edges, np.isin(edges, inside)


def _just_below(value: np.float64 | np.int64) -> float | int:
    """Return the next smaller number of the same kind, or the number where there is none."""
    if isinstance(value, np.floating):
        return float(np.nextafter(value, -np.inf))
    return max(int(value) - 1, np.iinfo(np.int64).min)


def _width(cells: int, groups: DealtGroups, shares: tuple[float, float]) -> int:
    """Return how many places away the quantile of a sample may lie from that of the pool."""
    smallest = max(1e-9, min(groups.dealt) / groups.equal) * cells
    spread = max(math.sqrt(share * (1 - share)) for share in shares)
    return 10 + math.ceil(STANDARD_ERRORS * spread / math.sqrt(max(1.0, smallest)) * cells)


def _quantiles(
    held: Held,
    edges: Cells,
    known: NDArray[np.bool_],
    samples: Times,
    shares: tuple[float, float],
) -> Ranges | None:
    """Return the quantiles of each deal, or None where one lies outside what is told apart."""
    found = np.full((len(samples), len(shares)), np.nan)
    for deal, times in enumerate(samples):
        upto = held.of(times)
        if not upto[-1]:
            continue
        wanted = [max(1, math.ceil(share * int(upto[-1]) - ROUNDING)) for share in shares]
        places = np.searchsorted(upto, wanted)
        if places.max() >= len(edges) or not known[places].all():
            return None
        found[deal] = edges[places]
    return found
