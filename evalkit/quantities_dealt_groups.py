"""Deals of large tables: random groups of people are dealt, not people one by one.

Each person of a pool is in one of many random groups of equal size. A union of random groups is a
random set of people, so one deal of groups has the law of one deal of people; what a deal needs
(counts, sums) is added up for each group once, whatever the number of deals. The groups of one
pool are drawn once: with G of them the spread over the deals is itself known to about one part in
sqrt(2 G), less than 200 deals blur it anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import limits
from evalkit.quantities_content import beside, places, table_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.release import Release

    Groups = NDArray[np.int32]
    Times = NDArray[np.float64]

LARGE_POOL = 100_000
"""People of a pool over which groups are dealt: two hundred deals of more take minutes."""
MOST_GROUPS, FEWEST_GROUPS = 1_000, 100
FEWEST_ON_A_SIDE, FEWEST_OF_COARSE = 50, 10
GROUP_CELLS = 4_000_000
"""Numbers that are kept for all groups together, 32 MB: a wide table has fewer groups."""
LINKED = "linked"
"""The role of originals whose avatars are dealt with them."""


def is_large(people: int) -> bool:
    """Return whether a pool of so many people is dealt in groups."""
    return people > LARGE_POOL


@dataclass(frozen=True, eq=False)
class DealtGroups:
    """The random group of each row of a pool, and how groups are dealt to two samples.

    Attributes
    ----------
    of_rows : tuple of ndarray of int32
        Group of each row, one array for each table of the pool; 0 to `total` - 1.
    total : int
        Number of groups: the `equal` ones, and where people are dealt without replacement three
        more: the rest of the first sample, that of the second, and people who are never dealt.
    equal : int
        Groups of the same size, which are dealt.
    dealt : tuple of two int
        How many of these each sample takes.
    replaced : bool
        Whether the samples do not fit into the pool and groups are drawn with replacement.
    """

    of_rows: tuple[Groups, ...]
    total: int
    equal: int
    dealt: tuple[int, int]
    replaced: bool

    def deals(self, count: int, rng: np.random.Generator) -> tuple[Times, Times]:
        """Return how often each group is in the first and in the second sample of each deal.

        Parameters
        ----------
        count : int
            Deals.
        rng : numpy.random.Generator

        Returns
        -------
        tuple of two ndarray of float64, each of shape (count, total)
            Whole numbers. ``times @ state`` with a state of shape (total, ...) of whole numbers is
            exact; for sums of floats use `added`.
        """
        first, second = np.zeros((count, self.total)), np.zeros((count, self.total))
        n_first, n_both = self.dealt[0], sum(self.dealt)
        for k in range(count):
            if self.replaced:
                drawn = rng.integers(self.equal, size=n_both)
            else:
                drawn = rng.permutation(self.equal)[:n_both]
                first[k, self.equal], second[k, self.equal + 1] = 1, 1
            np.add.at(first[k], drawn[:n_first], 1)
            np.add.at(second[k], drawn[n_first:], 1)
        return first, second


def added(times: Times, state: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of a state over the groups of one deal, group by group in order.

    Parameters
    ----------
    times : ndarray of float64, shape (total,)
        From `DealtGroups.deals`.
    state : ndarray of float64, shape (total, ...)

    Returns
    -------
    ndarray of float64, shape (...)
        The same to the last digit on any number of processors.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_dealt_groups import added
    >>> added(np.array([1.0, 0.0, 2.0]), np.array([[1.0], [5.0], [3.0]])).tolist()
    [7.0]
    """
    return np.asarray(np.einsum("g,g...->...", times, state))


def dealt_groups(
    release: Release,
    roles: Sequence[str],
    sizes: tuple[int, int],
    rng: np.random.Generator,
    width: int,
) -> DealtGroups:
    """Return random groups of the people of some tables of a release put together.

    Parameters
    ----------
    release : Release
    roles : sequence of str
        Tables of the pool, as `Release.persons_of` names them, one below the other; or only
        `LINKED`: the originals, each beside its avatar.
    sizes : tuple of two int
        People in the first and in the second sample; the second may be 0. Where they do not fit
        into the pool, both are drawn with replacement, to within half a group.
    rng : numpy.random.Generator
        Draws the groups; people meet it in an order of content.
    width : int
        Numbers that are kept for each group: over many there are fewer groups.

    Returns
    -------
    DealtGroups
    """
    people, of_rows = _people(release, roles)
    found = groups_of_people(people, sizes, rng.permutation(people), width)
    (of_people,) = found.of_rows
    return replace(found, of_rows=tuple(of_people[one] for one in of_rows))


def is_sampled(rows: int, most: int) -> bool:
    """Return whether so many rows, or people, are sampled to save time, as the run allows it."""
    return rows > most and not limits().exact


def sampled_rows(
    release: Release, roles: Sequence[str], people: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], ...]:
    """Return which rows belong to so many random people of some tables put together.

    Parameters
    ----------
    release : Release
    roles : sequence of str
        As for `dealt_groups`.
    people : int
        Size of the sample; at most all.
    rng : numpy.random.Generator
        People meet it in an order of content.

    Returns
    -------
    tuple of ndarray of bool, each of shape (rows,)
        One for each table.
    """
    count, of_rows = _people(release, roles)
    chosen = np.zeros(count, np.bool_)
    chosen[rng.permutation(count)[:people]] = True
    return tuple(chosen[one] for one in of_rows)


def _people(release: Release, roles: Sequence[str]) -> tuple[int, list[NDArray[np.int64]]]:
    """Return how many people the tables hold, and a number for that of each row by content."""
    persons = [release.persons_of("original" if role == LINKED else role) for role in roles]
    whole = persons[0]
    for one in persons[1:]:
        whole = whole.followed_by(one)
    if whole.are_rows:
        return whole.count, _places(release, roles)
    return whole.count, np.split(whole.code, np.cumsum([len(one) for one in persons])[:-1])


def _places(release: Release, roles: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return the place of each row of the tables in an order of content."""
    if tuple(roles) == (LINKED,):
        return places([beside(table_keys(release, "original"), table_keys(release, "avatars"))])
    return places([table_keys(release, role) for role in roles])


def groups_of_people(
    people: int, sizes: tuple[int, int], drawn: NDArray[np.int64], width: int
) -> DealtGroups:
    """Return random groups of people, each of whom has one row.

    Parameters
    ----------
    people : int
        Size of the pool, at least 1.
    sizes : tuple of two int
        People in the two samples. Where a very small one and a large one do not fit into the pool
        together, the large one is what the small one leaves.
    drawn : ndarray of int64, shape (people,)
        A random place for each person, 0 to `people` - 1.
    width : int
        Numbers that are kept for each group.

    Returns
    -------
    DealtGroups

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_dealt_groups import groups_of_people
    >>> groups = groups_of_people(5000, (3000, 1500), np.arange(5000), 1)
    >>> groups.equal, groups.dealt, groups.replaced
    (1000, (600, 300), False)
    """
    least = min((one for one in sizes if one), default=people)
    room = max(FEWEST_GROUPS, GROUP_CELLS // max(1, width))
    coarse = people // min(MOST_GROUPS, room)
    is_tiny = coarse > 1 and least < FEWEST_OF_COARSE * coarse
    if is_tiny:
        # The small sample decides how fine groups must be; the other hardly varies, so that some
        # of it may be the same in all deals, or a little of it lacking.
        size = max(1, least // FEWEST_ON_A_SIDE)
        sizes = min(sizes[0], people - least), min(sizes[1], people - least)
    else:
        size = max(1, min(coarse, least // FEWEST_ON_A_SIDE), -(-people // room))
    if sum(sizes) > people:
        return _drawn_with_replacement(people, sizes, drawn, max(1, people // size))
    return _drawn_without(people, sizes, drawn, size, min(room, people // size))


def _drawn_with_replacement(
    people: int, sizes: tuple[int, int], drawn: NDArray[np.int64], equal: int
) -> DealtGroups:
    """Return groups of sizes that differ by one person at most."""
    first, second = (max(min(1, one), round(one * equal / people)) for one in sizes)
    group = (drawn * equal // people).astype(np.int32)
    return DealtGroups((group,), equal, equal, (first, second), replaced=True)


def _drawn_without(
    people: int, sizes: tuple[int, int], drawn: NDArray[np.int64], size: int, most: int
) -> DealtGroups:
    """Return at most so many groups of one size, and what the samples lack beside them."""
    small, large = sorted((0, 1), key=lambda side: sizes[side])
    dealt = [0, 0]
    dealt[small] = min(most, sizes[small] // size)
    dealt[large] = min(most - dealt[small], sizes[large] // size)
    rests = [one - count * size for one, count in zip(sizes, dealt, strict=True)]
    equal = min(most, (people - sum(rests)) // size)
    # Behind the equal groups: what either sample lacks to its recorded size, and the others.
    behind = equal * size + np.cumsum(rests)
    group = np.minimum(drawn // size, equal).astype(np.int32)
    group[drawn >= behind[0]] = equal + 1
    group[drawn >= behind[1]] = equal + 2
    return DealtGroups((group,), equal + 3, equal, (dealt[0], dealt[1]), replaced=False)
