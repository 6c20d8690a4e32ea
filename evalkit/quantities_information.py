"""Mutual information of all pairs of variables, in tables cut to one number of rows.

The mean difference of two samples shrinks with their rows, so unequal tables cannot be compared
as they are: each is cut to the smallest, at random and many times. Where people have several rows,
tables are cut to one number of people and dealt by whole persons, all of whose rows are counted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.information import pair_information
from evalkit.randomness import content_order, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.quantities_levels import Codes, LevelTables

    Rows = NDArray[np.int32]
    Choices = Rows | list[NDArray[np.intp]] | None  # a list: of whole persons, any number of rows
    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

PAIRS_AT_ONCE = 50_000  # pairs whose values over all cuts are held together


@dataclass(frozen=True, eq=False)
class Information:
    """Normalised mutual information in WO, WA and HO, over cuts to the smallest of them.

    Attributes
    ----------
    pairs : tuple of two ndarray of intp
        First and second variable of each pair.
    working, avatars, holdout : ndarray of float64, shape (pairs,)
        Mean over the cuts, 0 to 1.
    reference_difference, avatar_difference : float
        Delta of WO and HO, and of WO and WA: mean over pairs and cuts, in percent.
    floor_difference : float
        The same of WO and avatars whose columns were shuffled, each by itself.
    """

    pairs: Pairs
    working: NDArray[np.float64]
    avatars: NDArray[np.float64]
    holdout: NDArray[np.float64]
    reference_difference: float
    avatar_difference: float
    floor_difference: float


def information(
    tables: LevelTables, rng: np.random.Generator, *, cuts: int, shuffles: int
) -> Information:
    """Return the relations in three tables and how far they lie apart.

    Parameters
    ----------
    tables : LevelTables
        With two variables or more.
    rng : Generator
        Draws the cuts and the shuffles. Tables of the same content are cut alike, so that a copy
        of the originals differs from them in nothing.
    cuts : int
        Cuts of a table that is larger than the smallest one.
    shuffles : int
        Shuffles of the avatars' columns, at most `cuts`; 0 gives a floor difference of 0.

    Returns
    -------
    Information
    """
    parts = tables.working, tables.avatars, tables.holdout
    size = min(tables.people)
    seed = int(rng.integers(2**31))
    by_row = tables.are_rows
    chosen: list[Choices] = [
        _cut_rows(part, size, seed, cuts)
        if by_row
        else _cut_persons(whose, round(size / worth), seed, cuts)
        for part, whose, worth in zip(parts, tables.persons, (1.0, tables.worth, 1.0), strict=True)
    ]
    rows = size if by_row else round(size / (tables.worth * tables.persons[1].per_row))
    shuffled = [rng.permuted(tables.avatars, axis=1)[:, :rows].copy() for _ in range(shuffles)]
    people = None if by_row else size
    means: list[NDArray[np.float64]] = []
    gaps = np.zeros(3)  # summed over pairs: WO to HO, WO to WA, WO to shuffled
    pairs = np.triu_indices(len(tables.names), k=1)
    for block in _blocks(pairs):
        working, avatars, holdout = (
            _measured(part, tables.levels, block, choices, people)
            for part, choices in zip(parts, chosen, strict=True)
        )  # each (cuts or 1, pairs)
        means.append(np.stack([found.mean(axis=0) for found in (working, avatars, holdout)]))
        gaps[0] += np.abs(working - holdout).mean(axis=0).sum()
        gaps[1] += np.abs(working - avatars).mean(axis=0).sum()
        for k, table in enumerate(shuffled):
            found = pair_information(table, tables.levels, block, people=people)[0]
            gaps[2] += np.abs(working[k % len(working)] - found).sum() / len(shuffled)
    return Information(
        pairs, *np.concatenate(means, axis=1), *(float(gap) for gap in 100 * gaps / len(pairs[0]))
    )


def dealt_differences(
    tables: LevelTables, rng: np.random.Generator, deals: int
) -> NDArray[np.float64]:
    """Return Delta between two real samples of the cut size, for each re-deal of WO and HO.

    Parameters
    ----------
    tables : LevelTables
        With two variables or more.
    rng : Generator
        Deals the rows, those of a person together.
    deals : int
        Number of re-deals, each cut once.

    Returns
    -------
    ndarray of float64, shape (deals,)
        In percent.
    """
    size = min(tables.people)
    pool = np.concatenate([tables.working, tables.holdout], axis=1)  # (p, rows of WO and HO)
    order = content_order(list(pool))
    pool = np.ascontiguousarray(pool[:, order])
    if not tables.are_rows:
        whose = tables.persons[0].followed_by(tables.persons[2]).part(order)
        return _dealt_persons(tables, pool, whose, rng, deals)
    # To deal in the recorded sizes and to cut both parts is to draw two parts of the cut size.
    drawn = np.stack([rng.permutation(pool.shape[1]) for _ in range(deals)])
    first, second = (np.sort(drawn[:, k * size : (k + 1) * size]) for k in (0, 1))
    rest = 2 * size == pool.shape[1]  # the second part is what the first leaves
    rows = (first if rest else np.concatenate([first, second])).astype(np.int32)
    gaps = np.zeros(deals)
    pairs = np.triu_indices(len(tables.names), k=1)
    for block in _blocks(pairs):
        found = pair_information(pool, tables.levels, block, rows, rest=rest)
        gaps += np.abs(found[:deals] - found[deals:]).sum(axis=1)
    return 100 * gaps / len(pairs[0])


def _dealt_persons(
    tables: LevelTables, pool: Codes, persons: Persons, rng: np.random.Generator, deals: int
) -> NDArray[np.float64]:
    """Return what `dealt_differences` does, of samples of whole persons."""
    size = min(tables.people)
    drawn = [rng.permutation(persons.count) for _ in range(deals)]
    sides = [[_rows_of(one[k * size : (k + 1) * size], persons) for one in drawn] for k in (0, 1)]
    gaps = np.zeros(deals)
    pairs = np.triu_indices(len(tables.names), k=1)
    for block in _blocks(pairs):
        first, second = (_measured(pool, tables.levels, block, side, size) for side in sides)
        gaps += np.abs(first - second).sum(axis=1)
    return 100 * gaps / len(pairs[0])


def _measured(
    codes: Codes, levels: NDArray[np.int64], block: Pairs, choices: Choices, people: int | None
) -> NDArray[np.float64]:
    """Return the information of pairs for each choice of rows, shape (choices, pairs)."""
    if not isinstance(choices, list):
        return pair_information(codes, levels, block, choices, people=people)
    found = [
        pair_information(np.ascontiguousarray(codes[:, rows]), levels, block, people=people)
        for rows in choices
    ]
    return np.concatenate(found)


def _cut_persons(
    persons: Persons, size: int, seed: int, cuts: int
) -> list[NDArray[np.intp]] | None:
    """Return the rows of `size` persons for each cut; None where nothing is cut."""
    if size >= persons.count:
        return None
    rng = stream(seed, "persons")
    return [_rows_of(rng.permutation(persons.count)[:size], persons) for _ in range(cuts)]


def _rows_of(drawn: NDArray[np.intp], persons: Persons) -> NDArray[np.intp]:
    """Return the places of all rows of the persons drawn."""
    chosen = np.zeros(persons.count, np.bool_)
    chosen[drawn] = True
    return np.flatnonzero(chosen[persons.code])


def _cut_rows(codes: Codes, size: int, seed: int, cuts: int) -> Rows | None:
    """Return the rows of each cut of a table, shape (cuts, size); None where nothing is cut."""
    rows = codes.shape[1]
    if rows == size:
        return None
    rng = stream(seed, hashlib.sha256(codes.tobytes()).hexdigest())
    drawn = [np.sort(rng.permutation(rows)[:size]) for _ in range(cuts)]
    return np.stack(drawn).astype(np.int32)


def _blocks(pairs: Pairs) -> Iterator[Pairs]:
    """Yield the pairs in blocks of bounded size."""
    first, second = pairs
    for start in range(0, len(first), PAIRS_AT_ONCE):
        yield first[start : start + PAIRS_AT_ONCE], second[start : start + PAIRS_AT_ONCE]
