"""How close avatars lie to the people used and to people never used, searched once.

The metrics that compare both groups share these distances: Gower's over all used variables, with
ranges over the real people only, a difference counting at most 1 (metrics.md, rule 3). Where a
person has several rows, another record is one of another person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalkit.intervals import median_ranks
from evalkit.kernels.sharing import ever_nearest, hit_weights, tie_share
from evalkit.kernels.two_nearest import nearest_two
from evalkit.persons import ROUNDING, Persons
from evalkit.quantities import Pairing, in_content_order, ranges, remembered
from evalkit.quantities_rows import holders, row_keys
from evalkit.quantities_shuffled import shuffled_samples
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels.two_nearest import TwoNearest
    from evalkit.quantities import Ranges
    from evalkit.release import Release
    from evalkit.schema import Schema

    Distances = NDArray[np.float64]

MOST_ATTACKED = 20_000  # records of each group whose isolation is measured
MOST_BETWEEN = 10_000  # rows of a table of which the two nearest originals are sought
MOST_SHUFFLED = 4_000  # rows of a table with shuffled columns
SHUFFLES = 5


class _Apart(Pairing):
    """Two tables whose distances are needed to more than the nearest row."""

    def two_nearest(
        self, names: Sequence[str], owner: NDArray[np.int64] | None = None
    ) -> TwoNearest:
        """Return the distances to the nearest target and to the nearest of another owner."""
        columns = [self._column(name) for name in sorted(names)]
        return nearest_two(columns, owner, capped=self._capped)


@dataclass(frozen=True, eq=False)
class RealPeople:
    """The people used, WO, and the people never used, HO, with what tells how rare each is.

    Attributes
    ----------
    schema : Schema
        Types of the columns.
    names : tuple of str
        All used columns.
    column_ranges : dict
        Over WO and HO.
    working, reference : DataFrame
        WO and HO.
    working_persons, reference_persons : Persons
        Whose rows these are.
    seed : int
        Draws the samples.
    """

    schema: Schema
    names: tuple[str, ...]
    column_ranges: Ranges
    working: pd.DataFrame
    reference: pd.DataFrame
    working_persons: Persons
    reference_persons: Persons
    seed: int

    def apart(self, queries: pd.DataFrame, targets: pd.DataFrame) -> _Apart:
        """Return two tables made ready for a search."""
        return _Apart(self.schema, queries, targets, self.column_ranges, capped=True)

    def sample(
        self, table: pd.DataFrame, persons: Persons, most: int, purpose: str
    ) -> tuple[pd.DataFrame, Persons]:
        """Return all rows, or about `most` drawn whatever their order in the file, and whose."""
        if len(table) <= most:
            return table, persons
        order = in_content_order(table, self.schema, self.names)
        rows = persons.drawn(order, most, stream(self.seed, purpose))
        return table.iloc[rows], persons.part(rows)

    @cached_property
    def pool(self) -> pd.DataFrame:
        """WO and HO in one table, the originals first, shape (n_WO + n_HO, columns)."""
        return _joined(self.working, self.reference)

    @property
    def share(self) -> float:
        """The originals' part of the people in the pool, pi of metrics.md, rule 11."""
        people = self.working_persons.count, self.reference_persons.count
        return people[0] / sum(people)

    @cached_property
    def distinct_pool(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Rows of the pool, those that a person repeats once, and the person of each."""
        persons = self.pool_persons
        if persons.are_rows:
            return np.arange(len(persons)), persons.code
        (key,) = row_keys([self.pool], self.schema, self.names)
        rows = np.unique(key * persons.count + persons.code, return_index=True)[1]
        rows.sort()
        return rows, persons.code[rows]

    @cached_property
    def pool_persons(self) -> Persons:
        """Whose rows those of the pool are, the originals' persons first."""
        return self.working_persons.followed_by(self.reference_persons)

    @cached_property
    def attacked(self) -> tuple[pd.DataFrame, Persons]:
        """Records on which membership is tried, about 20,000 a group at most, and whose."""
        (used, members), (unused, others) = self._attacked
        return _joined(used, unused), members.followed_by(others)

    @property
    def member(self) -> NDArray[np.bool_]:
        """Whether each attacked person, by its code, is of the originals."""
        (_, members), (_, others) = self._attacked
        return np.arange(members.count + others.count) < members.count

    @cached_property
    def _attacked(self) -> tuple[tuple[pd.DataFrame, Persons], tuple[pd.DataFrame, Persons]]:
        """The attacked originals, and the attacked records of the holdout."""
        used, unused = self.working, self.reference
        return (
            self.sample(used, self.working_persons, MOST_ATTACKED, "attacked originals"),
            self.sample(unused, self.reference_persons, MOST_ATTACKED, "attacked holdout"),
        )

    @cached_property
    def isolation(self) -> Distances:
        """Distance of each attacked record to the nearest of another person, 0 if it is equal."""
        records, persons = self.attacked
        return self.apart(records, records).two_nearest(self.names, persons.code).second

    def two_originals(self, queries: pd.DataFrame) -> TwoNearest:
        """Return the distances to the two nearest distinct originals.

        With several rows a person: to the nearest original, and to the nearest of another person.
        Persons who share a row are one there: an avatar near it points at neither of them alone.
        """
        return self.apart(queries, self.working).two_nearest(self.names, self._owners)

    @cached_property
    def _owners(self) -> NDArray[np.int64] | None:
        """Whose each original is; who shares one counts as somebody else; None: each row's own."""
        if self.working_persons.are_rows:
            return None
        (key,), persons = row_keys([self.working], self.schema, self.names), self.working_persons
        held = holders(key, persons.code, int(key.max()) + 1)
        return np.where(held[key] > 1, persons.count + key, persons.code)

    @cached_property
    def strangers(self) -> Closeness:
        """Return the holdout in the place of the avatars: what people never used look like."""
        return Closeness(self, self.reference, self.reference_persons)


@dataclass(frozen=True, eq=False)
class PoolShare:
    """Where the nearest real record of each avatar lies.

    Attributes
    ----------
    of_working : ndarray of float64, shape (m,)
        Share of the nearest records that are originals.
    size : ndarray of int64, shape (m,)
        Number of nearest records.
    n_hit : int
        Distinct real records that are nearest to an avatar, at most their persons and the
        distinct avatars.
    independent : float
        Kish's effective number of the people hit, at most `n_hit`: people near whom many avatars
        lie weigh more, and their avatars stand or fall together.
    """

    of_working: Distances
    size: NDArray[np.int64]
    n_hit: int
    independent: float


class Closeness:
    """Distances between one table, in the place of the avatars, and the real people.

    Parameters
    ----------
    people : RealPeople
    avatars : DataFrame
        The avatars, or a table of a known case.
    persons : Persons
        Whose rows these are.
    worth : float
        What each of them counts (`Release.avatar_worth`).
    """

    def __init__(
        self, people: RealPeople, avatars: pd.DataFrame, persons: Persons, worth: float = 1.0
    ) -> None:
        self.people = people
        self.avatars = avatars
        self.persons = persons
        self.worth = worth

    @property
    def weights(self) -> Distances:
        """What each avatar counts, shape (m,)."""
        return self.persons.weights * self.worth

    @cached_property
    def between(self) -> tuple[pd.DataFrame, Distances]:
        """The avatars whose two nearest originals are sought, and what each of them counts."""
        some, persons = self.people.sample(
            self.avatars, self.persons, MOST_BETWEEN, "between originals"
        )
        return some, persons.weights * self.worth

    @cached_property
    def to_originals(self) -> Distances:
        """Distance of each avatar to its nearest original, shape (m,)."""
        people = self.people
        return people.apart(self.avatars, people.working).nearest(people.names).distance

    @cached_property
    def two_originals(self) -> TwoNearest:
        """The two nearest distinct originals of each avatar, of a sample over 10,000 rows.

        With several rows a person: the nearest, and the nearest of another person.
        """
        return self.people.two_originals(self.between[0])

    @cached_property
    def of_attacked(self) -> Distances:
        """Distance of each attacked record to its nearest avatar."""
        people = self.people
        return people.apart(people.attacked[0], self.avatars).nearest(people.names).distance

    @cached_property
    def in_pool(self) -> PoolShare:
        """Where the nearest real record of each avatar lies."""
        people = self.people
        rows, persons = people.distinct_pool
        sets = people.apart(self.avatars, people.pool.iloc[rows]).nearest(people.names)
        member = rows < len(people.working)
        hit = ever_nearest(sets)
        different = len(np.unique(sets.target.of_row[hit])), len(np.unique(persons[hit]))
        n_hit = min(*different, len(sets.query.count))
        falling = np.bincount(persons, hit_weights(sets, self.persons.weights))
        kish = float(falling.sum() ** 2 / (falling**2).sum())
        return PoolShare(tie_share(sets, member), sets.size, n_hit, min(kish, float(n_hit)))


def closeness(release: Release, seed: int) -> Closeness:
    """Return the distances between the avatars and the real people of a release.

    Parameters
    ----------
    release : Release
        The tables; halves stand in where there is no real holdout.
    seed : int
        Of the scenario.

    Returns
    -------
    Closeness
    """

    def make() -> Closeness:
        schema, real = release.schema, (release.working, release.reference)
        names = schema.used_names()
        persons = release.persons_of("working"), release.persons_of("reference")
        people = RealPeople(schema, names, ranges(schema, real, names), *real, *persons, seed)
        made = release.persons_of("working_avatars")
        return Closeness(people, release.working_avatars, made, release.avatar_worth)

    return remembered(release, ("closeness", seed), make)


def copied(release: Release, seed: int) -> Closeness:
    """Return the same for a perfect copy: the originals as their own avatars.

    Parameters
    ----------
    release, seed
        As for `closeness`.

    Returns
    -------
    Closeness
    """
    people = closeness(release, seed).people
    return remembered(
        release,
        ("copied closeness", seed),
        lambda: Closeness(people, people.working, people.working_persons),
    )


def shuffled(release: Release, seed: int) -> tuple[Closeness, ...]:
    """Return the same for avatars whose columns are shuffled, each in an order of its own.

    Parameters
    ----------
    release, seed
        As for `closeness`.

    Returns
    -------
    tuple of 5 Closeness
        Each of at most 4,000 rows.
    """

    def make() -> tuple[Closeness, ...]:
        near, rng = closeness(release, seed), stream(seed, "shuffled columns")
        schema, names = near.people.schema, near.people.names
        tables = shuffled_samples(near.avatars, schema, names, rng, (SHUFFLES, MOST_SHUFFLED))
        whose = [Persons.one_row_each(len(table)) for table in tables]
        working, made = near.people.working_persons, len(near.avatars)
        worth = 1.0 if working.are_rows else min(1.0, working.count / made)
        pairs = zip(tables, whose, strict=True)
        return tuple(Closeness(near.people, *pair, worth) for pair in pairs)

    return remembered(release, ("shuffled closeness", seed), make)


def shown_distance(value: float, beyond: int, min_count: int) -> float | None:
    """Return a quantile of distances as it may be printed: with three digits, or not at all.

    Parameters
    ----------
    value : float
        The quantile.
    beyond : int
        Records beyond it, on the side with fewer.
    min_count : int
        Of the scenario.

    Returns
    -------
    float or None
        None where too few records lie beyond it (metrics.md, rule 8).

    Examples
    --------
    >>> from evalkit.quantities_closeness import shown_distance
    >>> shown_distance(0.123456, 50, 11), shown_distance(0.123456, 10, 11)
    (0.123, None)
    """
    return float(f"{value:.3g}") if beyond >= min_count else None


@dataclass(frozen=True, eq=False)
class Weighed:
    """Numbers in order, each counting as much as it is worth.

    Attributes
    ----------
    values : ndarray of float64, shape (k,)
        Increasing.
    upto : ndarray of float64, shape (k,)
        What the values up to each are worth together.
    size : int
        What all are worth, at least 1: the n of an interval.
    """

    values: Distances
    upto: Distances
    size: int

    @classmethod
    def of(cls, values: Distances, weights: Distances | None = None) -> Weighed:
        """Return the numbers in order; each counts 1 if nothing else is said."""
        counted = np.ones(len(values)) if weights is None else weights
        order = np.lexsort((counted, values))
        upto = np.cumsum(counted[order])
        return cls(values[order], upto, max(1, round(float(upto[-1]))))

    def at(self, place: int) -> float:
        """Return the number at a place from 0 to `size` - 1."""
        wanted = (place + 0.5) / self.size * self.upto[-1] - ROUNDING
        return float(self.values[min(int(self.upto.searchsorted(wanted)), len(self.values) - 1)])

    @property
    def median(self) -> tuple[float, float, float]:
        """Return the median and the ends of its 95 % interval."""
        low, high = median_ranks(self.size) or (0, self.size - 1)
        middle = (self.at((self.size - 1) // 2) + self.at(self.size // 2)) / 2
        return middle, self.at(low), self.at(high)

    def share_upto(self, end: float) -> float:
        """Return the share of the numbers that are at most `end`, 0 to 1."""
        place = int(self.values.searchsorted(end, side="right"))
        return float(self.upto[place - 1] / self.upto[-1]) if place else 0.0


def _joined(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return two tables of a release one below the other."""
    import pandas as pd

    return pd.concat([first, second], ignore_index=True)
