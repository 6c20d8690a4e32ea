"""How close avatars lie to the people used and to people never used, searched once.

The metrics that compare both groups share these distances (see `quantities_real_people`). Where a
person has several rows, another record is one of another person.
Tables that look among the same targets are searched together: to make these ready is dear.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.engine import limits
from evalkit.kernels.sharing import ever_nearest, hit_weights, tie_share
from evalkit.kernels.two_nearest import TwoNearest
from evalkit.persons import Persons
from evalkit.quantities import ranges, remembered
from evalkit.quantities_real_people import RealPeople
from evalkit.quantities_shuffled import shuffled_samples
from evalkit.quantities_stacked import moved
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels import NearestSets
    from evalkit.quantities_searching import QueryPiece, Search
    from evalkit.release import Release

    Distances = NDArray[np.float64]
    Places = range | NDArray[np.intp]

MOST_BETWEEN = 10_000  # rows of a table of which the two nearest originals are sought
MOST_COPIED = 50_000  # originals that stand for a perfect copy
MOST_SHUFFLED = 4_000  # rows of a table with shuffled columns
MOST_TOGETHER = 2**18  # rows that are put into one table to be searched together
SHUFFLES = 5


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
    most : int, optional
        Rows that look for others at most, where nothing asks for all.
    """

    def __init__(
        self,
        people: RealPeople,
        avatars: pd.DataFrame,
        persons: Persons,
        worth: float = 1.0,
        most: int | None = None,
    ) -> None:
        self.people = people
        self.avatars = avatars
        self.worth = worth
        self._persons = persons
        self._most = most
        self.known: dict[str, Any] = {}  # what was searched already

    @cached_property
    def asked(self) -> Places:
        """The avatars that look for the nearest real record: a sample if all would take days."""
        people, rows = self.people, len(self.avatars)
        most = limits().queries(rows, len(people.working) + len(people.reference))
        if self._most is not None and not limits().exact:
            most = min(most, self._most)
        return people.places(self.avatars, self._persons, most, "avatars that look for others")

    @cached_property
    def persons(self) -> Persons:
        """Whose rows these are."""
        return self._persons if isinstance(self.asked, range) else self._persons.part(self.asked)

    @property
    def weights(self) -> Distances:
        """What each of them counts, shape (asked,)."""
        return self.persons.weights * self.worth

    @property
    def sample_facts(self) -> dict[str, Any]:
        """The size of the sample, where one was taken."""
        is_whole = len(self.asked) == len(self.avatars)
        return {} if is_whole else {"sample_avatars": len(self.asked)}

    @property
    def attacked_facts(self) -> dict[str, Any]:
        """How many people of either group are attacked, where not all are."""
        member, people = self.people.member, self.people
        used, unused = int(member.sum()), int((~member).sum())
        whole = people.working_persons.count, people.reference_persons.count
        return {} if (used, unused) == whole else {"n_sampled": used, "control_sampled": unused}

    @cached_property
    def between(self) -> tuple[pd.DataFrame, Distances]:
        """The avatars whose two nearest originals are sought, and what each of them counts."""
        most = len(self.avatars) if limits().exact else MOST_BETWEEN
        some, persons = self.people.sample(self.avatars, self._persons, most, "between originals")
        return some, persons.weights * self.worth

    @property
    def to_originals(self) -> Distances:
        """Distance of each avatar that looks to its nearest original."""
        find_nearest_originals([self])
        found: Distances = self.known["to originals"]
        return found

    @property
    def two_originals(self) -> TwoNearest:
        """The two nearest distinct originals of each avatar, of a sample over 10,000 rows.

        With several rows a person: the nearest, and the nearest of another person.
        """
        find_two_originals([self])
        found: TwoNearest = self.known["two originals"]
        return found

    @cached_property
    def of_attacked(self) -> Distances:
        """Distance of each attacked record to its nearest avatar."""
        people = self.people
        search = people.search([people.attacked[0]], self.avatars)
        return search.answers(people.names, distance_of)["distance"]

    @property
    def in_pool(self) -> PoolShare:
        """Where the nearest real record of each avatar that looks lies."""
        find_pool_shares([self])
        found: PoolShare = self.known["in pool"]
        return found


def find_nearest_originals(tables: Sequence[Closeness]) -> None:
    """Find the nearest original of each row of some tables, in one search.

    Parameters
    ----------
    tables : sequence of Closeness
        Of the same people; what is known of them already is not searched again.
    """
    people, name = tables[0].people, "to originals"
    for one in tables:
        if one.avatars is people.working:
            one.known[name] = np.zeros(len(one.asked))  # a copy lies on itself
    for one, search, places in _together(tables, name, people.working):
        one.known[name] = search.answers(people.names, distance_of, places=places)["distance"]


def find_two_originals(tables: Sequence[Closeness]) -> None:
    """Find the two nearest distinct originals of rows of some tables, in one search.

    Parameters
    ----------
    tables : sequence of Closeness
        As for `find_nearest_originals`.
    """
    import pandas as pd

    name = "two originals"
    left = [one for one in tables if name not in one.known]
    queries = [one.between[0] for one in left]
    if sum(map(len, queries)) > MOST_TOGETHER:  # nothing is sampled: one after the other
        for one, frame in zip(left, queries, strict=True):
            one.known[name] = one.people.two_originals(frame)
    elif left:
        found = left[0].people.two_originals(pd.concat(queries, ignore_index=True))
        ends = np.cumsum([len(frame) for frame in queries])[:-1]
        parts = (np.split(distances, ends) for distances in found)
        for one, first, second in zip(left, *parts, strict=True):
            one.known[name] = TwoNearest(first, second)


def find_pool_shares(tables: Sequence[Closeness]) -> None:
    """Find where the nearest real record of each row of some tables lies, in one search.

    Parameters
    ----------
    tables : sequence of Closeness
        As for `find_nearest_originals`.
    """
    people, name = tables[0].people, "in pool"
    rows, persons = people.distinct_pool
    member = rows < len(people.working)
    merge: dict[str, Any] = {"hit": np.logical_or, "falling": np.add}
    for one, search, places in _together(tables, name, people.pool):
        found = search.answers(
            people.names,
            pool_answers,
            places=places,
            beside={"weights": one.persons.weights},
            shared=member,
            merge=merge,
        )
        hit, falling = found["hit"], np.bincount(persons, found["falling"])
        kind = search.ready(people.names).target.of_row  # the same for equal records
        different = len(np.unique(kind[hit])), len(np.unique(persons[hit]))
        n_hit = min(*different, len(np.unique(found["key"])))
        kish = float(falling.sum() ** 2 / (falling**2).sum())
        one.known[name] = PoolShare(
            found["of_working"], found["size"], n_hit, min(kish, float(n_hit))
        )


def known_case_facts(
    near: Closeness, mixed: Sequence[Closeness], copy: int | None = None
) -> dict[str, int]:
    """Return on how many rows known cases were tried, where not on all.

    Parameters
    ----------
    near : Closeness
        Of the avatars.
    mixed : sequence of Closeness
        Of avatars with shuffled columns.
    copy : int, optional
        Originals that looked for others as a perfect copy; all if left out.

    Returns
    -------
    dict of str to int
        ``"copy_sample"`` and ``"floor_sample"``.
    """
    sizes = {
        "copy_sample": (copy, len(near.people.working)),
        "floor_sample": (len(mixed[0].avatars), len(near.avatars)),
    }
    return {name: some for name, (some, rows) in sizes.items() if some is not None and some < rows}


def _together(
    tables: Sequence[Closeness], name: str, targets: Any
) -> Iterator[tuple[Closeness, Search, Places]]:
    """Yield those of the tables that are not searched yet, one search, and the rows to ask for."""
    left = [one for one in tables if name not in one.known]
    if not left:
        return
    search, start = left[0].people.search([one.avatars for one in left], targets), 0
    for one in left:
        asked = one.asked
        yield one, search, moved(asked, start)
        start += len(one.avatars)


def distance_of(sets: NearestSets, piece: QueryPiece) -> dict[str, Distances]:
    """Return the distance of each query of a piece to its nearest target."""
    del piece
    return {"distance": sets.distance}


def pool_answers(sets: NearestSets, piece: QueryPiece) -> dict[str, NDArray[Any]]:
    """Return where the nearest real records of a piece of avatars lie."""
    weights: Any = piece.beside["weights"]
    return {
        "of_working": tie_share(sets, piece.shared),
        "size": sets.size,
        "key": sets.query.key[sets.query.of_row],  # the same for equal rows of any piece
        "hit": ever_nearest(sets),
        "falling": hit_weights(sets, weights),
    }


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


def strangers(release: Release, seed: int) -> Closeness:
    """Return the same for the holdout: what people never used look like.

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
        ("strangers' closeness", seed),
        lambda: Closeness(people, people.reference, people.reference_persons),
    )


def copied(release: Release, seed: int) -> Closeness:
    """Return the same for a perfect copy: the originals as their own avatars.

    Parameters
    ----------
    release, seed
        As for `closeness`.

    Returns
    -------
    Closeness
        Of at most 50,000 rows that look for others.
    """
    people = closeness(release, seed).people
    return remembered(
        release,
        ("copied closeness", seed),
        lambda: Closeness(people, people.working, people.working_persons, most=MOST_COPIED),
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
