"""Descriptions learnt on avatars that fit exactly one of them, and the real person each fits.

The tables stand in one matrix of ranks here; `quantities_predicates_large` does without one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.boxes import Boxes, SortedRows
from evalkit.kernels.ranks import level_ranks, number_ranks
from evalkit.quantities import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.schema import Schema

MOST_LANDED = 500
MOST_TRIED = 20_000
CONDITIONS = 4
BATCH = 1_000  # predicates that are evaluated at a time
NO_END = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Bets:
    """What came of the predicates of one kind.

    Attributes
    ----------
    tried, kept : int
        Predicates drawn, and those that fit exactly one of the distinct avatars.
    records : ndarray of int, shape (landed,)
        The person of the pool that each landed predicate fits; the originals come first.
    columns : ndarray of int, shape (landed,)
        The first column of each of these predicates.
    """

    tried: int
    kept: int
    records: NDArray[np.int64]
    columns: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def people(self) -> NDArray[np.int64]:
        """Return the different records that were hit."""
        return np.unique(self.records)


@dataclass(frozen=True, eq=False)
class MatrixTables:
    """The tables as ranks, one column of ranks for each variable in the order of the names."""

    avatars: NDArray[np.int32]  # (m, p)
    pool: NDArray[np.int32]  # (rows of WO and HO, p)
    owner: NDArray[np.int64]  # (rows of WO and HO,): the person of each, the originals' first
    numeric: tuple[bool, ...]  # p
    names: tuple[str, ...] = ()  # p

    def attack(self, rng: np.random.Generator) -> dict[str, Bets]:
        """Return what came of the predicates of either kind."""
        # Repeated rows must not hide behind each other; sorted, their order in the file is gone.
        distinct = _distinct_rows(self.avatars)
        learnt, pool = SortedRows(distinct), SortedRows(self.pool, self.owner)
        return {
            "univariate": place_bets(univariate(distinct, self.numeric, rng), learnt, pool),
            "multivariate": place_bets(multivariate(distinct, self.numeric, rng), learnt, pool),
        }


def _distinct_rows(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the different rows by the first column, then the second and so on."""
    if not table.size:
        return table[: min(1, len(table))]
    ordered = table[np.lexsort(table.T[::-1])]
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[is_first]


def place_bets(predicates: Boxes, learnt: SortedRows, pool: SortedRows) -> Bets:
    """Return what comes of predicates, tried in their order until 500 have landed.

    Parameters
    ----------
    predicates : Boxes
        The first 20,000 are tried.
    learnt, pool : SortedRows
        The distinct avatars, and the originals followed by the holdout with their persons.

    Returns
    -------
    Bets
    """
    tried, kept, records, columns = 0, 0, np.zeros(0, np.int64), np.zeros(0, np.int64)
    total = min(len(predicates.columns), MOST_TRIED)
    while tried < total and len(records) < MOST_LANDED:
        batch = predicates.part(slice(tried, min(tried + BATCH, total)))
        is_kept = learnt.only(batch) >= 0
        hit = np.full(len(is_kept), -1)
        hit[is_kept] = pool.only(batch.part(is_kept))
        landed = np.flatnonzero(hit >= 0)[: MOST_LANDED - len(records)]
        records = np.concatenate([records, hit[landed]])
        columns = np.concatenate([columns, batch.columns[landed, 0]])
        # With the last bet that may land the attack is over, though the batch goes on.
        used = int(landed[-1]) + 1 if len(records) == MOST_LANDED else len(hit)
        tried, kept = tried + used, kept + int(is_kept[:used].sum())
    return Bets(tried, kept, records, columns)


def univariate(
    distinct: NDArray[np.int32], numeric: tuple[bool, ...], rng: np.random.Generator
) -> Boxes:
    """Return the predicates on one column, in random order.

    A missing cell is a value like any other: "missing" is a predicate if it occurs once.

    Parameters
    ----------
    distinct : ndarray of int32, shape (avatars, columns)
        Ranks, -1 for missing.
    numeric : tuple of bool
        Whether a column has a minimum and a maximum.
    rng : numpy.random.Generator

    Returns
    -------
    Boxes
    """
    found: list[tuple[int, int, int]] = []  # column, lowest and highest rank
    for column, is_number in enumerate(numeric):
        values, counts = np.unique(distinct[:, column], return_counts=True)
        found += [(column, int(one), int(one)) for one in values[counts == 1]]
        filled = values[values >= 0]
        if is_number and filled.size:
            found += [(column, 0, int(filled[0])), (column, int(filled[-1]), NO_END)]
    drawn = np.array(found, np.int64).reshape(-1, 3)[rng.permutation(len(found))]
    return Boxes(drawn[:, [0]], drawn[:, [1]], drawn[:, [2]])


def multivariate(
    distinct: NDArray[np.int32], numeric: tuple[bool, ...], rng: np.random.Generator
) -> Boxes:
    """Return conjunctions over 4 random columns of random avatars; none comes twice.

    The condition on a number is "at least" where the avatar lies above the median, else "at
    most"; on a level, or a missing cell, it is "equal".

    Parameters
    ----------
    distinct : ndarray of int32, shape (avatars, columns)
        Ranks, -1 for missing.
    numeric : tuple of bool
        Which columns are numbers.
    rng : numpy.random.Generator

    Returns
    -------
    Boxes
        All columns are used where there are fewer than 4, none where there is one.
    """
    width = min(CONDITIONS, distinct.shape[1])
    subsets = math.comb(distinct.shape[1], width) if width > 1 else 0
    total = len(distinct) * subsets
    if total == 0:
        nothing = np.zeros((0, 1), np.int64)
        return Boxes(nothing, nothing, nothing)
    drawn = rng.choice(total, size=min(total, MOST_TRIED), replace=False)
    columns = chosen_columns(drawn % subsets, distinct.shape[1], width)  # (tried, width)
    cells = distinct[(drawn // subsets)[:, None], columns]
    is_number = np.array(numeric)[columns] & (cells >= 0)
    above = is_number & (cells > _medians(distinct)[columns])
    low = np.where(is_number & ~above, 0, cells)
    high = np.where(above, NO_END, cells)
    return Boxes(columns, low, high)


def _medians(distinct: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the lower median of the filled ranks of each column, -1 where none is filled."""
    ordered = np.sort(distinct, axis=0)
    missing = (distinct < 0).sum(axis=0)
    places = missing + (len(distinct) - missing - 1) // 2
    medians: NDArray[np.int32] = ordered[np.maximum(places, 0), np.arange(distinct.shape[1])]
    return medians


def chosen_columns(numbers: NDArray[np.int64], n_columns: int, width: int) -> NDArray[np.int64]:
    """Return the subset of columns that each number stands for, in the combinatorial system.

    Parameters
    ----------
    numbers : ndarray of int64, shape (k,)
        From 0 to the number of subsets less one.
    n_columns, width : int
        Size of the set and of each subset.

    Returns
    -------
    ndarray of int64, shape (k, width)
        Increasing in each row.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_predicates import chosen_columns
    >>> chosen_columns(np.arange(3), 3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    rest = numbers.copy()
    chosen = np.empty((len(numbers), width), np.int64)
    for size in range(width, 0, -1):
        below = np.array([math.comb(column, size) for column in range(n_columns)])
        chosen[:, size - 1] = below.searchsorted(rest, "right") - 1
        rest -= below[chosen[:, size - 1]]
    return chosen


def matrix_tables(
    schema: Schema, frames: Sequence[pd.DataFrame], persons: Sequence[Persons]
) -> MatrixTables:
    """Return avatars and pool as ranks; columns that hold one value everywhere are left out.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    frames : sequence of DataFrame
        WA, WO and HO, or samples of them.
    persons : sequence of Persons
        Whose the rows of WO and of HO are.

    Returns
    -------
    MatrixTables
    """
    columns, numeric, names = [], [], []
    for name in sorted(schema.used_names()):
        is_number = schema[name].is_number
        found = [cells(frame, schema, name) for frame in frames]
        ranks = number_ranks(found) if is_number else level_ranks(found)
        together = np.concatenate(ranks)
        if together.size and together.min() < together.max():
            columns.append(together)
            numeric.append(is_number)
            names.append(name)
    m = len(frames[0])
    rows = sum(map(len, frames))
    stacked = np.stack(columns, axis=1) if columns else np.zeros((rows, 0), np.int32)
    owner = persons[0].followed_by(persons[1]).code
    return MatrixTables(stacked[:m], stacked[m:], owner, tuple(numeric), tuple(names))
