"""Mutual information of all pairs of variables in large tables: counts, and groups of people.

The same as `quantities_information` gives, with cuts and deals of random groups of people instead
of people. Pairs are counted in blocks, so that the counts of all groups stay within a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import fold, limits
from evalkit.kernels.information import PairCells, pair_information
from evalkit.quantities import cells
from evalkit.quantities_content import table_keys
from evalkit.quantities_dealt_groups import GROUP_CELLS, LINKED, dealt_groups
from evalkit.quantities_information import Information
from evalkit.quantities_levels import Levels
from evalkit.quantities_pieces import pieces
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities_pieces import Piece
    from evalkit.release import Release
    from evalkit.schema import Schema

    Matrix = NDArray[np.float64]
    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

ROLES = ("working", "working_avatars", "reference")
FLOOR_ROWS = 100_000
"""Rows of a shuffled table: columns that go together by chance only need no more to show it."""
WIDE_CELLS = 100_000
"""Cells of a pair over which its rows are counted for each choice, not its cells for each group."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Random groups of the rows of one table or pool, and how often each choice takes them.

    Attributes
    ----------
    frames : tuple of DataFrame
    groups : tuple of ndarray of int32
        Group of each row of each table.
    times : ndarray of float64, shape (choices, groups)
    people : float
        For how many people the rows of each choice count.
    """

    frames: tuple[pd.DataFrame, ...]
    groups: tuple[NDArray[np.int32], ...]
    times: Matrix
    people: int


@dataclass(frozen=True, eq=False)
class GroupedTables:
    """WO, WA and HO of a large release, and how their columns become few levels.

    Attributes
    ----------
    release : Release
    found : Levels
    single : dict of str to tuple of str
        The columns that hold one level only in WA ("avatars"), and those in HO ("holdout").
    """

    release: Release
    found: Levels
    single: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, release: Release, bins: int) -> GroupedTables:
        """Return the tables of a release in `bins` quantile bins of WO and in its levels."""
        frames = tuple(getattr(release, role) for role in ROLES)
        found = Levels.of(release.schema, frames, bins, release.persons_of("working"))
        single = {
            table: _single(found, frame, release.schema)
            for table, frame in zip(("avatars", "holdout"), frames[1:], strict=True)
        }
        return cls(release, found, single)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that hold two levels or more in WO, sorted."""
        return self.found.names

    @property
    def left_out(self) -> tuple[str, ...]:
        """The other columns."""
        return self.found.left_out

    @property
    def people(self) -> tuple[int, int, int]:
        """For how many people WO, WA and HO count."""
        working, avatars, holdout = (self.release.persons_of(role).count for role in ROLES)
        return working, round(avatars * self.release.avatar_worth), holdout

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Levels of each column, whether or not they occur."""
        return np.array([one.size for one in self.found.columns], np.int64)

    @property
    def pairs(self) -> Pairs:
        """First and second variable of each pair."""
        first, second = np.triu_indices(len(self.names), k=1)
        return first, second

    def width(self) -> int:
        """Return how many counts are kept for each group, all pairs together."""
        first, second = self.pairs
        table = self.sizes[first] * self.sizes[second]
        return int(table[table <= WIDE_CELLS].sum())

    def floor_rows(self) -> tuple[int, int]:
        """Return the rows of a shuffled table of avatars, and those of a cut of the avatars."""
        persons, people = self.release.persons_of(ROLES[1]), min(self.people)
        rows = round(people / self.release.avatar_worth / persons.per_row)
        rows = max(1, min(len(self.release.working_avatars), rows))
        return (rows if limits().exact else min(rows, FLOOR_ROWS)), rows

    def measured(self, choices: Choices, block: Pairs) -> Matrix:
        """Return the information of some pairs in each choice of groups, (choices, pairs)."""
        sizes = self.sizes
        if len(block[0]) == 1 and sizes[block[0]] * sizes[block[1]] > WIDE_CELLS:
            return self._wide(choices, int(block[0][0]), int(block[1][0]))
        where, total = PairCells(sizes, block), choices.times.shape[1]
        counts = np.zeros((total, where.total), np.int32)
        for frame, groups in zip(choices.frames, choices.groups, strict=True):
            cut = pieces(frame, self.release.schema, self.names, beside=groups)
            counts += fold(counts_of_piece, cut, np.add, (self.found, where, total))
        held = counts.astype(np.float64)
        step = max(1, GROUP_CELLS // where.total)
        found = [
            where.information(times @ held, np.full(len(times), float(choices.people)))
            for times in np.array_split(choices.times, -(-len(choices.times) // step))
        ]
        return np.concatenate(found)

    def _wide(self, choices: Choices, first: int, second: int) -> Matrix:
        """Return the information of a pair of many levels, its rows counted for each choice."""
        codes = np.concatenate(
            [
                np.stack(
                    [
                        self.found.columns[k].codes(
                            cells(frame, self.release.schema, self.names[k])
                        )
                        for k in (first, second)
                    ]
                )
                for frame in choices.frames
            ],
            axis=1,
        )  # (2, rows)
        group, pair = np.concatenate(choices.groups), (np.array([0]), np.array([1]))
        found = []
        for times in choices.times:
            rows = np.flatnonzero(times[group])
            part = np.ascontiguousarray(codes[:, rows])
            levels, people = self.sizes[[first, second]], choices.people
            found.append(pair_information(part, levels, pair, people=people)[0])
        return np.array(found)


def counts_of_piece(piece: Piece, shared: tuple[Levels, PairCells, int]) -> NDArray[np.int32]:
    """Return the counts of a piece for each group: a partial, whose states are added.

    Parameters
    ----------
    piece : Piece
        Beside it the group of each row.
    shared : tuple of (Levels, PairCells, int)
        How columns become levels, what is counted, and how many groups there are.

    Returns
    -------
    ndarray of int32, shape (groups, total)
    """
    found, where, groups = shared
    group = np.asarray(piece.beside, np.int32)
    order = np.argsort(group, kind="stable")
    codes = np.ascontiguousarray(found.matrix(piece.columns).T[order])  # (rows, p)
    return where.counts(codes, group[order], groups)


def information(
    tables: GroupedTables, rng: np.random.Generator, *, cuts: int, shuffles: int
) -> Information:
    """Return the relations in three tables and how far they lie apart.

    Parameters
    ----------
    tables : GroupedTables
        With two variables or more.
    rng : numpy.random.Generator
        Draws the cuts and the shuffles. Tables of the same content are cut alike, so that a copy
        of the originals differs from them in nothing.
    cuts : int
        Cuts of a table that is larger than the smallest one.
    shuffles : int
        Shuffles of the avatars' columns, at most `cuts`, of `FLOOR_ROWS` rows at most.

    Returns
    -------
    Information
    """
    size, seed = min(tables.people), int(rng.integers(2**31))
    chosen = [_cut(tables, role, size, seed, cuts) for role in ROLES]
    shuffled, people = _shuffled(tables, size, shuffles, rng)
    means: list[Matrix] = []
    gaps = np.zeros(3)  # summed over pairs: WO to HO, WO to WA, WO to shuffled
    for block in _blocks(tables, chosen[0].times.shape[1]):
        working, avatars, holdout = (tables.measured(one, block) for one in chosen)
        means.append(np.stack([one.mean(axis=0) for one in (working, avatars, holdout)]))
        gaps[0] += np.abs(working - holdout).mean(axis=0).sum()
        gaps[1] += np.abs(working - avatars).mean(axis=0).sum()
        for k, table in enumerate(shuffled):
            found = pair_information(table, tables.sizes, block, people=people)[0]
            gaps[2] += np.abs(working[k % len(working)] - found).sum() / len(shuffled)
    each = (float(gap) for gap in 100 * gaps / len(tables.pairs[0]))
    return Information(tables.pairs, *np.concatenate(means, axis=1), *each)


def dealt_differences(
    tables: GroupedTables, rng: np.random.Generator, deals: int
) -> tuple[NDArray[np.float64], int]:
    """Return Delta between two real samples of the cut size for each re-deal, and the groups dealt.

    Parameters
    ----------
    tables : GroupedTables
        With two variables or more.
    rng : numpy.random.Generator
        Deals the groups.
    deals : int
        Number of re-deals, each cut once.

    Returns
    -------
    ndarray of float64, shape (deals,)
        In percent.
    int
        Random groups of people that are dealt instead of people.
    """
    release, size = tables.release, min(tables.people)
    groups = dealt_groups(release, (ROLES[0], ROLES[2]), (size, size), rng, tables.width())
    frames = release.working, release.reference
    sides = [Choices(frames, groups.of_rows, times, size) for times in groups.deals(deals, rng)]
    gaps = np.zeros(deals)
    for block in _blocks(tables, groups.total):
        first, second = (tables.measured(side, block) for side in sides)
        gaps += np.abs(first - second).sum(axis=1)
    return 100 * gaps / len(tables.pairs[0]), groups.equal


def differences_of_halves(
    tables: GroupedTables, rng: np.random.Generator, draws: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both Delta for other draws of an approximate holdout, bins and levels kept.

    Parameters
    ----------
    tables : GroupedTables
        With two variables or more, of a release without a real holdout.
    rng : numpy.random.Generator
        Draws random groups of people.
    draws : int
        Number of draws.

    Returns
    -------
    tuple of two ndarray of float64, each of shape (draws,)
        Of WO and HO, and of WO and WA; in percent.
    """
    release, size, width = tables.release, min(tables.people), tables.width()
    linked = release.row_link
    role = LINKED if linked else "original"
    groups = dealt_groups(release, [role], (size, size), rng, width)
    working, holdout = groups.deals(draws, rng)
    avatars, others = working, groups
    if not linked:
        drawn = round(size / release.avatar_worth)
        others = dealt_groups(release, ["avatars"], (drawn, 0), rng, width)
        avatars = others.deals(draws, rng)[0]
    sides = [
        Choices((release.original,), groups.of_rows, working, size),
        Choices((release.avatars,), others.of_rows, avatars, size),
        Choices((release.original,), groups.of_rows, holdout, size),
    ]
    gaps = np.zeros((2, draws))
    for block in _blocks(tables, max(groups.total, others.total)):
        first, second, third = (tables.measured(side, block) for side in sides)
        gaps[0] += np.abs(first - third).sum(axis=1)
        gaps[1] += np.abs(first - second).sum(axis=1)
    to_holdout, to_avatars = 100 * gaps / len(tables.pairs[0])
    return to_holdout, to_avatars


def _single(found: Levels, frame: pd.DataFrame, schema: Schema) -> tuple[str, ...]:
    """Return the columns that hold one level only in a table."""
    coded = zip(found.names, found.columns, strict=True)
    return tuple(name for name, one in coded if np.ptp(one.codes(cells(frame, schema, name))) == 0)


def _cut(tables: GroupedTables, role: str, size: int, seed: int, cuts: int) -> Choices:
    """Return random cuts of a table to `size` people, or all of it where nothing is cut."""
    release, frame = tables.release, getattr(tables.release, role)
    worth = release.avatar_worth if role == ROLES[1] else 1.0
    persons, drawn = release.persons_of(role), round(size / worth)
    if drawn >= persons.count:
        groups = np.zeros(len(frame), np.int32)
        return Choices((frame,), (groups,), np.ones((1, 1)), size)
    # Tables of the same content are cut alike: the sum of its rows' numbers tells a content.
    content = str(int(table_keys(release, role).sum())) if persons.are_rows else "persons"
    rng = stream(seed, content)
    found = dealt_groups(release, [role], (drawn, 0), rng, tables.width())
    times, _ = found.deals(cuts, rng)
    return Choices((frame,), found.of_rows, times, size)


def _shuffled(
    tables: GroupedTables, size: int, shuffles: int, rng: np.random.Generator
) -> tuple[list[NDArray[np.uint16]], int]:
    """Return avatars whose columns are shuffled, each by itself, and how many people they are.

    A shuffled column is as many cells as wanted of all of it, in any order.
    """
    frame, schema = tables.release.working_avatars, tables.release.schema
    rows, all_rows = tables.floor_rows()
    counts = [
        np.bincount(one.codes(cells(frame, schema, name)), minlength=one.size)
        for name, one in zip(tables.names, tables.found.columns, strict=True)
    ]
    found = [np.stack([_drawn(one, rows, rng) for one in counts]) for _ in range(shuffles)]
    return found, max(1, round(size * rows / all_rows))


def _drawn(counts: NDArray[np.int64], rows: int, rng: np.random.Generator) -> NDArray[np.uint16]:
    """Return so many cells of a column, without replacement and in any order."""
    taken = rng.multivariate_hypergeometric(counts, rows, method="marginals")
    return rng.permutation(np.repeat(np.arange(len(counts), dtype=np.uint16), taken))


def _blocks(tables: GroupedTables, groups: int) -> Iterator[Pairs]:
    """Yield the pairs in order, in blocks whose counts for all groups are bounded.

    A pair of very many cells stands alone.
    """
    first, second = tables.pairs
    sizes = tables.sizes[first] * tables.sizes[second]
    most = max(WIDE_CELLS, 4 * GROUP_CELLS // max(1, groups))
    held, start = 0, 0
    for end, size in enumerate(sizes.tolist()):
        if end > start and (held + size > most or size > WIDE_CELLS):
            yield first[start:end], second[start:end]
            held, start = 0, end
        held += most if size > WIDE_CELLS else size
    yield first[start:], second[start:]
