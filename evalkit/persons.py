"""Which rows belong to one person, so that people are counted and not rows.

Only numbers stand here, never a value of the personal key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 16  # one person in so many: fewer are sorted
ROUNDING = 1e-9  # persons: sums of their rows' weights err by less


@dataclass(frozen=True, eq=False)
class Persons:
    """The person that each row of one table belongs to.

    Attributes
    ----------
    code : ndarray of int64, shape (rows,)
        From 0 to `count` - 1; each number is some row's.
    count : int
        Number of persons.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.persons import Persons
    >>> Persons(np.array([0, 0, 1]), 2).means(np.array([1.0, 0.0, 1.0])).tolist()
    [0.5, 1.0]
    """

    code: NDArray[np.int64]
    count: int

    @classmethod
    def one_row_each(cls, rows: int) -> Persons:
        """Return the persons of a table in which each row is a person of its own."""
        return cls(np.arange(rows), rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.code)

    @property
    def are_rows(self) -> bool:
        """Whether each person has one row."""
        return self.count == len(self.code)

    @property
    def per_row(self) -> float:
        """Persons per row, 0 to 1: what a row is worth."""
        return self.count / len(self.code) if len(self.code) else 1.0

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """What each row counts, shape (rows,): one over the number of rows of its person."""
        if self.are_rows:
            return np.ones(len(self.code))
        return 1.0 / np.bincount(self.code, minlength=self.count)[self.code]

    def means(self, values: NDArray[np.generic]) -> NDArray[np.float64]:
        """Return the mean over the rows of each person, the same for any order of the rows.

        Parameters
        ----------
        values : ndarray, shape (rows,)
            Numbers or truth values.

        Returns
        -------
        ndarray of float64, shape (count,)
            Each at the place of its person's code.
        """
        found = values.astype(np.float64)
        if self.are_rows:
            means = np.empty_like(found)
            means[self.code] = found
            return means
        ordered, starts = self._sorted(found)
        lengths = np.diff(np.append(starts, len(ordered)))
        means = np.add.reduceat(ordered, starts) / lengths
        # A sum may err in its last digit: the mean of equal values is that value.
        return np.asarray(np.clip(means, ordered[starts], ordered[starts + lengths - 1]))

    def quantiles(
        self, values: NDArray[np.generic], shares: tuple[float, ...]
    ) -> NDArray[np.float64]:
        """Return the least value up to which each share of the persons lies.

        Parameters
        ----------
        values : ndarray, shape (rows,)
            Filled numbers; a person's rows share the weight of one.
        shares : tuple of float
            0 to 1.

        Returns
        -------
        ndarray of float64, shape (shares,)
        """
        order = np.argsort(values, kind="stable")
        upto = np.cumsum(self.weights[order])
        places = upto.searchsorted(np.array(shares) * self.count - ROUNDING)
        return values[order][np.minimum(places, len(order) - 1)].astype(np.float64)

    def largest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest value of each person, shape (count,), at the place of its code."""
        found = np.full(self.count, -np.inf)
        np.maximum.at(found, self.code, values)
        return found

    def drawn(
        self, order: NDArray[np.intp], most: int, rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """Return all rows of `order`, or about `most` of them: those of whole persons.

        Parameters
        ----------
        order : ndarray of intp, shape (rows,)
            The rows in an order of content.
        most : int
            Rows to keep; with several rows a person as many as the persons drawn have.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of intp
            In that order.
        """
        if len(order) <= most:
            return order
        if self.are_rows:
            return order[np.sort(rng.choice(len(order), most, replace=False))]
        chosen = np.zeros(self.count, np.bool_)
        size = max(1, int(most * self.per_row))
        chosen[rng.choice(self.count, size, replace=False)] = True
        return order[chosen[self.code[order]]]

    def part(self, rows: NDArray[np.generic]) -> Persons:
        """Return the persons of some rows, numbered anew in the same order."""
        chosen = self.code[rows]
        if len(chosen) * FEW < self.count:
            kept, code = np.unique(chosen, return_inverse=True)
            return Persons(code.astype(np.int64), len(kept))
        seen = np.zeros(self.count, np.bool_)  # counting is sooner done than sorting
        seen[chosen] = True
        place = np.cumsum(seen) - 1
        return Persons(place[chosen], int(place[-1]) + 1 if self.count else 0)

    def count_of(self, rows: NDArray[np.bool_]) -> int:
        """Return how many persons have one of some rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (rows,)

        Returns
        -------
        int
        """
        if self.are_rows:
            return int(np.count_nonzero(rows))
        seen = np.zeros(self.count, np.bool_)
        seen[self.code[rows]] = True
        return int(np.count_nonzero(seen))

    def in_order(self, rows: NDArray[np.intp]) -> Persons:
        """Return the persons of some rows that stand in an order of content.

        A row that is a person of its own is numbered by its place there, so by its content, as
        persons with several rows are.

        Parameters
        ----------
        rows : ndarray of intp
            Each at most once.

        Returns
        -------
        Persons

        Examples
        --------
        >>> import numpy as np
        >>> from evalkit.persons import Persons
        >>> Persons.one_row_each(3).in_order(np.array([2, 0])).code.tolist()
        [0, 1]
        """
        return Persons.one_row_each(len(rows)) if self.are_rows else self.part(rows)

    def followed_by(self, others: Persons) -> Persons:
        """Return the persons of two tables one below the other; nobody is in both."""
        code = np.concatenate([self.code, others.code + self.count])
        return Persons(code, self.count + others.count)

    def _sorted(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the values person by person, each person's increasing, and where each begins."""
        order = np.lexsort((values, self.code))
        starts = np.flatnonzero(np.diff(self.code[order], prepend=-1))
        return values[order], starts


def numbered(keys: NDArray[np.integer], content: NDArray[np.integer]) -> Persons:
    """Return persons numbered by the content of their rows.

    A draw of persons then depends neither on the order of the rows nor on the keys: persons of
    the same content are the same to every metric.

    Parameters
    ----------
    keys : ndarray of int, shape (rows,)
        A number for each value of the personal key.
    content : ndarray of int, shape (rows,)
        Rank of each row by its cells, equal for equal rows.

    Returns
    -------
    Persons

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.persons import numbered
    >>> numbered(np.array([7, 9, 7]), np.array([2, 0, 1])).code.tolist()
    [1, 0, 1]
    """
    order = np.lexsort((content, keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys.min(initial=0) - 1))
    lengths = np.diff(np.append(starts, len(keys)))
    sequence = _in_order(content[order], starts, lengths)
    place = np.empty(len(starts), np.int64)
    place[sequence] = np.arange(len(starts))
    code = np.empty(len(keys), np.int64)
    code[order] = np.repeat(place, lengths)
    return Persons(code, len(starts))


def _in_order(
    content: NDArray[np.integer], starts: NDArray[np.intp], lengths: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the persons by their first rows, equal ones by their second, and so on.

    Who has fewer rows, equal to the first of another's, comes first; equal persons stay in order.
    """
    sequence = np.arange(len(starts))
    places: NDArray[np.intp] = sequence.copy()
    group: NDArray[np.int64] = np.zeros(len(starts), np.int64)
    step = 0
    while len(places):
        persons = sequence[places]
        there = lengths[persons] > step
        key = np.full(len(persons), -1, np.int64)  # no row, before every row
        key[there] = content[starts[persons[there]] + step]
        order = np.lexsort((key, group))
        sequence[places], key, group = persons[order], key[order], group[order]
        differs = np.ones(len(key) + 1, np.bool_)
        differs[1:-1] = (key[1:] != key[:-1]) | (group[1:] != group[:-1])
        tied = ~(differs[1:] & differs[:-1]) & (key >= 0)
        places, group = places[tied], np.cumsum(differs[:-1], dtype=np.int64)[tied]
        step += 1
    return sequence
