"""How close avatars lie to the people used and to people never used, searched once.

The metrics that compare both groups share these distances: Gower's over all used variables, with
ranges over the real people only, a difference counting at most 1 (metrics.md, rule 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.sharing import ever_nearest, tie_share
from evalkit.kernels.two_nearest import nearest_two
from evalkit.quantities import Pairing, cells, in_content_order, ranges, remembered
from evalkit.quantities_rows import row_counts
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

    def two_nearest(self, names: Sequence[str]) -> TwoNearest:
        """Return the distances to the nearest and the second nearest distinct target."""
        return nearest_two([self._column(name) for name in sorted(names)], capped=self._capped)


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
    seed : int
        Draws the samples.
    """

    schema: Schema
    names: tuple[str, ...]
    column_ranges: Ranges
    working: pd.DataFrame
    reference: pd.DataFrame
    seed: int

    def apart(self, queries: pd.DataFrame, targets: pd.DataFrame) -> _Apart:
        """Return two tables made ready for a search."""
        return _Apart(self.schema, queries, targets, self.column_ranges, capped=True)

    def sample(self, table: pd.DataFrame, most: int, purpose: str) -> pd.DataFrame:
        """Return all rows, or `most` of them drawn whatever their order in the file."""
        if len(table) <= most:
            return table
        order = in_content_order(table, self.schema, self.names)
        drawn = stream(self.seed, purpose).choice(len(table), most, replace=False)
        return table.iloc[order[np.sort(drawn)]]

    @cached_property
    def pool(self) -> pd.DataFrame:
        """WO and HO in one table, the originals first, shape (n_WO + n_HO, columns)."""
        return _joined(self.working, self.reference)

    @property
    def share(self) -> float:
        """The originals' part of the pool, pi of metrics.md, rule 11."""
        return len(self.working) / (len(self.working) + len(self.reference))

    @cached_property
    def attacked(self) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
        """Records on which membership is tried, at most 20,000 a group, and which are originals."""
        parts = [
            self.sample(self.working, MOST_ATTACKED, "attacked originals"),
            self.sample(self.reference, MOST_ATTACKED, "attacked holdout"),
        ]
        member = np.arange(len(parts[0]) + len(parts[1])) < len(parts[0])
        return _joined(*parts), member

    @cached_property
    def isolation(self) -> Distances:
        """Distance of each attacked record to the nearest other one, 0 where it is repeated."""
        records = self.attacked[0]
        found = self.apart(records, records).two_nearest(self.names)
        repeated = row_counts(records, self.schema, self.names) > 1
        return np.where(repeated, 0.0, found.second)

    @cached_property
    def strangers(self) -> Closeness:
        """Return the holdout in the place of the avatars: what people never used look like."""
        return Closeness(self, self.reference)


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
        Distinct real records that are nearest to an avatar, at most the distinct avatars.
    """

    of_working: Distances
    size: NDArray[np.int64]
    n_hit: int


class Closeness:
    """Distances between one table, in the place of the avatars, and the real people.

    Parameters
    ----------
    people : RealPeople
    avatars : DataFrame
        The avatars, or a table of a known case.
    """

    def __init__(self, people: RealPeople, avatars: pd.DataFrame) -> None:
        self.people = people
        self.avatars = avatars

    @cached_property
    def to_originals(self) -> Distances:
        """Distance of each avatar to its nearest original, shape (m,)."""
        people = self.people
        return people.apart(self.avatars, people.working).nearest(people.names).distance

    @cached_property
    def two_originals(self) -> TwoNearest:
        """The two nearest distinct originals of each avatar, of a sample over 10,000 rows."""
        people = self.people
        some = people.sample(self.avatars, MOST_BETWEEN, "between originals")
        return people.apart(some, people.working).two_nearest(people.names)

    @cached_property
    def of_attacked(self) -> Distances:
        """Distance of each attacked record to its nearest avatar."""
        people = self.people
        return people.apart(people.attacked[0], self.avatars).nearest(people.names).distance

    @cached_property
    def in_pool(self) -> PoolShare:
        """Where the nearest real record of each avatar lies."""
        people = self.people
        sets = people.apart(self.avatars, people.pool).nearest(people.names)
        member = np.arange(len(people.pool)) < len(people.working)
        hit = sets.target.of_row[ever_nearest(sets)]
        n_hit = min(len(np.unique(hit)), len(sets.query.count))
        return PoolShare(tie_share(sets, member), sets.size, n_hit)


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
        people = RealPeople(schema, names, ranges(schema, real, names), *real, seed)
        return Closeness(people, release.working_avatars)

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
        release, ("copied closeness", seed), lambda: Closeness(people, people.working)
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
        tables = [_shuffled(near.avatars, near.people, rng) for _ in range(SHUFFLES)]
        return tuple(Closeness(near.people, table) for table in tables)

    return remembered(release, ("shuffled closeness", seed), make)


def _shuffled(table: pd.DataFrame, people: RealPeople, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows whose cells are drawn apart, without repeats, from each column."""
    import pandas as pd

    size = min(len(table), MOST_SHUFFLED)
    columns = {}
    for name in sorted(people.names):
        # Sorted first: the draw must not depend on the order of the rows in the file.
        order = np.argsort(cells(table, people.schema, name), kind="stable")
        drawn = order[rng.permutation(len(order))[:size]]
        columns[name] = table[name].iloc[drawn].reset_index(drop=True)
    return pd.DataFrame(columns)


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


def _joined(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return two tables of a release one below the other."""
    import pandas as pd

    return pd.concat([first, second], ignore_index=True)
