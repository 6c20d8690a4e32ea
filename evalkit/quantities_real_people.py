"""The people used and the people never used, as the metrics that compare both groups see them.

Distances are Gower's over all used variables, with ranges over the real people only, a difference
counting at most 1 (metrics.md, rule 3). No table is copied or joined whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from evalkit.quantities_order import order_of
from evalkit.quantities_rows import holders, row_keys
from evalkit.quantities_searching import Search
from evalkit.quantities_stacked import StackedTables
from evalkit.quantities_two_nearest import two_nearest
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels.two_nearest import TwoNearest
    from evalkit.persons import Persons
    from evalkit.quantities import Ranges
    from evalkit.schema import Schema

    Distances = NDArray[np.float64]

MOST_ATTACKED = 20_000  # records of each group whose isolation is measured


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

    def search(
        self, queries: Sequence[pd.DataFrame], targets: pd.DataFrame | StackedTables
    ) -> Search:
        """Return tables made ready for a search among targets, all queries by one encoding."""
        found = cast("pd.DataFrame", targets)  # columns, one at a time, are all that is asked for
        return Search(self.schema, queries, found, self.column_ranges, capped=True)

    def places(
        self, table: pd.DataFrame, persons: Persons, most: int, purpose: str
    ) -> range | NDArray[np.intp]:
        """Return all rows, or about `most` of them drawn whatever their order in the file."""
        if len(table) <= most:
            return range(len(table))
        order = order_of(table, self.names)
        return persons.drawn(order, most, stream(self.seed, purpose))

    def sample(
        self, table: pd.DataFrame, persons: Persons, most: int, purpose: str
    ) -> tuple[pd.DataFrame, Persons]:
        """Return these rows, and whose they are."""
        rows = self.places(table, persons, most, purpose)
        if isinstance(rows, range):
            return table, persons
        return table.iloc[rows], persons.part(rows)

    @property
    def pool(self) -> StackedTables:
        """WO and HO, the originals first; what a person repeats is one record."""
        rows = None if self.pool_persons.are_rows else self.distinct_pool[0]
        return StackedTables([self.working, self.reference], rows)

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
        keys = row_keys([self.working, self.reference], self.schema, self.names)
        key = np.concatenate(keys)
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
        import pandas as pd

        (used, members), (unused, others) = self._attacked
        return pd.concat([used, unused], ignore_index=True), members.followed_by(others)

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
        return two_nearest(self.search([records], records), self.names, persons.code).second

    def two_originals(self, queries: pd.DataFrame) -> TwoNearest:
        """Return the distances to the two nearest distinct originals.

        With several rows a person: to the nearest original, and to the nearest of another person.
        Persons who share a row are one there: an avatar near it points at neither of them alone.
        """
        return two_nearest(self.search([queries], self.working), self.names, self._owners)

    @cached_property
    def _owners(self) -> NDArray[np.int64] | None:
        """Whose each original is; who shares one counts as somebody else; None: each row's own."""
        if self.working_persons.are_rows:
            return None
        (key,), persons = row_keys([self.working], self.schema, self.names), self.working_persons
        held = holders(key, persons.code, int(key.max()) + 1)
        return np.where(held[key] > 1, persons.count + key, persons.code)
