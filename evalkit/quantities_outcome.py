"""What a model is to guess: the rows, the levels that count, and how a guess is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.persons import Persons
from evalkit.quantities_rows import holders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FEWEST_OF_LEVEL = 10


@dataclass(frozen=True, eq=False)
class Rows:
    """One table: what is known, and what is to be guessed; in an order of content.

    Attributes
    ----------
    known : ndarray of float64, shape (rows, columns)
        From `features`.
    sensitive : ndarray, shape (rows,)
        Numbers, or whole numbers for levels.
    persons : Persons
        Whose the rows are.
    worth : float
        For how many people one of `persons` counts: 1, or less for avatars that are nobody's
        where people have several rows.
    """

    known: NDArray[np.float64]
    sensitive: NDArray[Any]
    persons: Persons
    worth: float = 1.0

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.sensitive)

    @property
    def people(self) -> int:
        """For how many people the table counts; the rows, where each is a person of its own."""
        return round(self.persons.count * self.worth)

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """What each row counts if each person counts once; None where people have one row."""
        return None if self.persons.are_rows else self.persons.weights

    def people_of(self, rows: int) -> int:
        """Return for how many people so many rows count."""
        return max(1, int(rows * self.persons.per_row * self.worth))

    def sampled(self, people: int, rng: np.random.Generator) -> Rows:
        """Return all rows of `people` drawn without repeats, or the table if there are no more."""
        size = round(people / self.worth)
        if size >= self.persons.count:
            return self
        chosen = np.zeros(self.persons.count, np.bool_)
        chosen[rng.choice(self.persons.count, size, replace=False)] = True
        return self.at(chosen[self.persons.code])

    def redrawn_places(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the places of all rows of as many persons, drawn with repeats."""
        drawn = rng.integers(0, self.persons.count, self.persons.count)
        if self.persons.are_rows:
            return drawn
        times = np.bincount(drawn, minlength=self.persons.count)
        return np.repeat(np.arange(len(self)), times[self.persons.code])

    def redrawn(self, rng: np.random.Generator) -> Rows:
        """Return as many persons, drawn with repeats."""
        return self.at(np.sort(self.redrawn_places(rng)))

    def halves(self, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Return two random halves, which share no person."""
        is_first = rng.permutation(np.arange(self.persons.count) % 2 == 0)[self.persons.code]
        return self.at(is_first), self.at(~is_first)

    def at(self, places: NDArray[np.intp] | NDArray[np.bool_]) -> Rows:
        """Return the rows at `places`."""
        persons = self.persons.part(places)
        return Rows(self.known[places], self.sensitive[places], persons, self.worth)

    def shuffled(self, rng: np.random.Generator) -> Rows:
        """Return the table with each column in a random order of its own: rows of nobody."""
        known = rng.permuted(np.sort(self.known, axis=0), axis=0)
        sensitive = rng.permutation(np.sort(self.sensitive))
        nobody = Persons.one_row_each(len(sensitive))
        return Rows(known, sensitive, nobody, self.worth * self.persons.per_row)


def filled_rows(
    known: NDArray[np.float64],
    sensitive: NDArray[Any],
    persons: Persons,
    worth: float = 1.0,
) -> Rows:
    """Return the rows with a filled target, so that their order in the file is gone."""
    filled = np.flatnonzero(~np.isnan(sensitive))
    order = filled[np.lexsort((sensitive[filled], *known[filled].T))]
    whose = persons.in_order(order)
    return Rows(known[order], sensitive[order], whose, worth)


def joined_levels(
    ranks: Sequence[NDArray[np.integer]], persons: Persons
) -> list[NDArray[np.int64]]:
    """Return the sensitive levels as whole numbers; those of fewer than 10 originals are one.

    Parameters
    ----------
    ranks : sequence of ndarray of int
        Ranks of the levels, -1 for missing, which is a level too; the originals come first.
    persons : Persons
        Whose the originals' rows are.

    Returns
    -------
    list of ndarray of int64
        From 0 up; the last number stands for all rare levels.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.persons import Persons
    >>> from evalkit.quantities_outcome import joined_levels
    >>> levels = [np.array([0] * 12 + [1, 2]), np.array([-1, 0])]
    >>> joined_levels(levels, Persons.one_row_each(14))[1].tolist()
    [1, 0]
    """
    size = 2 + max(int(one.max(initial=-1)) for one in ranks)
    counts = holders((ranks[0] + 1).astype(np.int64), persons.code, size)
    common = np.flatnonzero(counts >= FEWEST_OF_LEVEL)
    number = np.full(size, len(common))
    number[common] = np.arange(len(common))
    return [number[one + 1] for one in ranks]


def balanced_accuracy(
    truth: NDArray[Any], guessed: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the mean, over the levels that occur, of the share guessed right, 0 to 1.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.
    weights : ndarray of float64, shape (n,), optional
        What each row counts; the same if left out.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_outcome import balanced_accuracy
    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])).__round__(3)
    0.833
    """
    if weights is None:
        shares = [float((guessed[truth == level] == level).mean()) for level in np.unique(truth)]
    else:
        shares = [
            math.fsum(weights[(truth == level) & (guessed == level)])
            / math.fsum(weights[truth == level])
            for level in np.unique(truth)
        ]
    return math.fsum(shares) / len(shares)


def skill_of_levels(
    truth: NDArray[Any], guessed: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the balanced accuracy corrected for chance: 1 at best, 0 for chance.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.
    weights : ndarray of float64, shape (n,), optional
        What each row counts; the same if left out.

    Returns
    -------
    float
        Below 0 if worse than chance; 0 where only one level occurs.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_outcome import skill_of_levels
    >>> skill_of_levels(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    0.5
    """
    classes = len(np.unique(truth))
    if classes < 2:  # noqa: PLR2004 - one level needs no guess
        return 0.0
    return (balanced_accuracy(truth, guessed, weights) - 1 / classes) / (1 - 1 / classes)


def skill_of_numbers(
    truth: NDArray[Any], guessed: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Return R², the part of the variance that the guesses take away.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.
    weights : ndarray of float64, shape (n,), optional
        What each row counts; the same if left out.

    Returns
    -------
    float
        Below 0 if worse than the mean of the truth; 0 where the truth does not vary.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_outcome import skill_of_numbers
    >>> skill_of_numbers(np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    0.5
    """
    factor = 1.0 if weights is None else weights
    around_mean = math.fsum(factor * (truth - np.average(truth, weights=weights)) ** 2)
    if not around_mean:
        return 0.0
    return 1 - math.fsum(factor * (truth - guessed) ** 2) / around_mean
