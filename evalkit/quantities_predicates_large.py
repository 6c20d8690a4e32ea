"""Descriptions learnt on avatars, for tables of which no matrix of all cells can be made.

One column at a time is read to learn descriptions, one piece of a table at a time to find the
rows that they fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.boxes import Boxes
from evalkit.kernels.equal_rows import MISSING_WORD, words
from evalkit.quantities import cells
from evalkit.quantities_boxes import OwnedRows
from evalkit.quantities_order import order_of
from evalkit.quantities_pieces import PIECE_ROWS
from evalkit.quantities_predicates import (
    CONDITIONS,
    MOST_LANDED,
    MOST_TRIED,
    Bets,
    chosen_columns,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.schema import Schema

    Words = NDArray[np.int64]

LEAST, GREATEST = MISSING_WORD + 1, np.iinfo(np.int64).max  # ends of all filled cells


@dataclass(frozen=True, eq=False)
class LargeTables:
    """Avatars, originals and holdout as they lie in memory or on disk.

    Attributes
    ----------
    schema : Schema
        Types of the columns.
    avatars : DataFrame
        WA.
    pool : tuple of DataFrame
        WO and HO.
    persons : tuple of Persons
        Whose the rows of these are.
    rows : int
        Of a piece.
    """

    schema: Schema
    avatars: pd.DataFrame
    pool: tuple[pd.DataFrame, pd.DataFrame]
    persons: tuple[Persons, Persons]
    rows: int = PIECE_ROWS

    def attack(self, rng: np.random.Generator) -> dict[str, Bets]:
        """Return what came of the predicates of either kind.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        dict
            ``"univariate"`` and ``"multivariate"``.
        """
        single, is_kept = self.univariate(rng)
        joined = self.multivariate(rng)
        owners = [self.persons[0].code, self.persons[1].code + self.persons[0].count]
        learnt = OwnedRows([self.avatars], [self._place], self.schema, self._fractions, self.rows)
        pool = OwnedRows(self.pool, owners, self.schema, self._fractions, self.rows)
        return {
            "univariate": settled(single, is_kept, pool),
            "multivariate": settled(joined, learnt.only(joined) >= 0, pool),
        }

    def univariate(self, rng: np.random.Generator) -> tuple[Boxes, NDArray[np.bool_]]:
        """Return predicates on one column, in random order, and which fit one distinct avatar.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        Boxes
            20,000 drawn from all, or all if there are fewer.
        ndarray of bool, shape (boxes,)
        """
        sizes, parts = [], []
        for column, name in enumerate(self._fractions):
            low, high, is_kept = self._on_one(name)
            some = rng.choice(len(low), min(len(low), MOST_TRIED), replace=False)
            sizes.append(len(low))
            whose = np.full(len(some), column)
            parts.append(np.stack([whose, low[some], high[some], is_kept[some]], axis=1))
        total = min(sum(sizes), MOST_TRIED)
        # As many of each column as a draw from all of them would hold, which are never put in one.
        places = rng.choice(sum(sizes), total, replace=False) if total else np.zeros(0, np.int64)
        each = np.bincount(np.cumsum(sizes).searchsorted(places, "right"), minlength=len(sizes))
        taken = [part[:size] for part, size in zip(parts, each, strict=True)]
        drawn = np.concatenate([np.zeros((0, 4), np.int64), *taken])[rng.permutation(total)]
        return Boxes(drawn[:, [0]], drawn[:, [1]], drawn[:, [2]]), drawn[:, 3] == 1

    def multivariate(self, rng: np.random.Generator) -> Boxes:
        """Return conjunctions over 4 random columns of random avatars; none comes twice.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        Boxes
            With the conditions of `quantities_predicates.multivariate`.
        """
        size = len(self._fractions)
        width = min(CONDITIONS, size)
        subsets = math.comb(size, width) if width > 1 else 0
        total = len(self._first) * subsets
        if total == 0:
            nothing = np.zeros((0, 1), np.int64)
            return Boxes(nothing, nothing, nothing)
        drawn = rng.choice(total, size=min(total, MOST_TRIED), replace=False)
        columns = chosen_columns(drawn % subsets, size, width)  # (tried, width)
        rows = np.broadcast_to((drawn // subsets)[:, None], columns.shape)
        low, high = np.empty_like(columns), np.empty_like(columns)
        for column, name in enumerate(self._fractions):
            here = columns == column
            low[here], high[here] = self._conditions(name, rows[here])
        return Boxes(columns, low, high)

    def _on_one(self, name: str) -> tuple[Words, Words, NDArray[np.bool_]]:
        """Return the ends of each predicate on one column, and whether one distinct avatar fits."""
        values, counts = _counted(self._distinct(name))
        low = high = values[counts == 1]
        is_kept = np.ones(len(low), np.bool_)
        first = int(values.searchsorted(LEAST))  # of the filled ones
        if self.schema[name].is_number and first < len(values):
            low = np.append(low, [LEAST, values[-1]])
            high = np.append(high, [values[first], GREATEST])
            is_kept = np.append(is_kept, counts[[first, -1]] == 1)
        return low, high, is_kept

    def _conditions(self, name: str, rows: NDArray[np.integer]) -> tuple[Words, Words]:
        """Return the ends of the condition that some distinct avatars set on one column."""
        found = self._distinct(name)
        chosen = found[rows]
        if not self.schema[name].is_number:
            return chosen, chosen
        filled = found[found > MISSING_WORD]
        place = (len(filled) - 1) // 2
        median = np.partition(filled, place)[place] if filled.size else MISSING_WORD
        above = chosen > median
        low = np.where(above | (chosen == MISSING_WORD), chosen, LEAST)
        return low, np.where(above, GREATEST, chosen)

    def _distinct(self, name: str) -> Words:
        """Return the words of one column of the distinct avatars, in the order of content."""
        return self._words(self.avatars, name)[self._first]

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The avatars in the order of their content."""
        return order_of(self.avatars, tuple(self.avatars.columns))

    @cached_property
    def _is_first(self) -> NDArray[np.bool_]:
        """Whether each avatar, in that order, is another one than that before it."""
        is_first = np.zeros(len(self._order), np.bool_)
        is_first[:1] = True
        for name in self._fractions:
            ordered = self._words(self.avatars, name)[self._order]
            is_first[1:] |= ordered[1:] != ordered[:-1]
        return is_first

    @cached_property
    def _first(self) -> NDArray[np.intp]:
        """One row of each distinct avatar, in the order of content."""
        return self._order[self._is_first]

    @cached_property
    def _place(self) -> NDArray[np.int32]:
        """Which of the distinct avatars each avatar is."""
        place = np.empty(len(self._order), np.int32)
        place[self._order] = np.cumsum(self._is_first, dtype=np.int32) - np.int32(1)
        return place

    @cached_property
    def _fractions(self) -> dict[str, bool]:
        """The columns that do not hold one value everywhere, and whether each holds floats."""
        frames = (self.avatars, *self.pool)
        found = {}
        for name in sorted(self.schema.used_names()):
            is_number = self.schema[name].is_number
            fractions = is_number and any(frame[name].dtype.kind == "f" for frame in frames)
            ends: set[int] = set()
            for frame in frames:
                cell = words(cells(frame, self.schema, name), fractions=fractions)
                ends |= {int(cell.min()), int(cell.max())} if cell.size else set()
            if len(ends) > 1:
                found[name] = fractions
        return found

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which of the columns that do not hold one value everywhere are numbers."""
        return tuple(self.schema[name].is_number for name in self._fractions)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that do not hold one value everywhere, as predicates number them."""
        return tuple(self._fractions)

    def _words(self, frame: pd.DataFrame, name: str) -> Words:
        """Return one column of a table as words."""
        return words(cells(frame, self.schema, name), fractions=self._fractions[name])


def settled(predicates: Boxes, is_kept: NDArray[np.bool_], pool: OwnedRows) -> Bets:
    """Return what comes of predicates, in their order until 500 have landed.

    Parameters
    ----------
    predicates : Boxes
    is_kept : ndarray of bool, shape (boxes,)
        Whether each fits exactly one distinct avatar.
    pool : OwnedRows
        The originals and the holdout with their persons.

    Returns
    -------
    Bets
    """
    hit = np.full(len(is_kept), -1)
    hit[is_kept] = pool.only(predicates.part(is_kept))
    landed = np.flatnonzero(hit >= 0)[:MOST_LANDED]
    # With the last bet that may land the attack is over.
    tried = int(landed[-1]) + 1 if len(landed) == MOST_LANDED else len(hit)
    columns = predicates.columns[landed, 0]
    return Bets(tried, int(is_kept[:tried].sum()), hit[landed], columns)


def _counted(column: Words) -> tuple[Words, NDArray[np.int64]]:
    """Return the different words in order, and how often each occurs."""
    ordered = np.sort(column)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return ordered[starts], np.diff(starts, append=len(ordered))
