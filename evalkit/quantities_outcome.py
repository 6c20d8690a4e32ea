"""What a model is to guess: the rows, the levels that count, and how a guess is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
    """

    known: NDArray[np.float64]
    sensitive: NDArray[Any]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.sensitive)

    def sampled(self, size: int, rng: np.random.Generator) -> Rows:
        """Return `size` rows drawn without repeats, all of them where there are no more."""
        if size >= len(self):
            return self
        return self.at(np.sort(rng.choice(len(self), size, replace=False)))

    def redrawn(self, rng: np.random.Generator) -> Rows:
        """Return as many rows, drawn with repeats."""
        return self.at(np.sort(rng.integers(0, len(self), len(self))))

    def at(self, places: NDArray[np.intp] | NDArray[np.bool_]) -> Rows:
        """Return the rows at `places`."""
        return Rows(self.known[places], self.sensitive[places])

    def shuffled(self, rng: np.random.Generator) -> Rows:
        """Return the table with each column in a random order of its own."""
        known = rng.permuted(np.sort(self.known, axis=0), axis=0)
        return Rows(known, rng.permutation(np.sort(self.sensitive)))


def filled_rows(known: NDArray[np.float64], sensitive: NDArray[Any]) -> Rows:
    """Return the rows with a filled target, so that their order in the file is gone."""
    filled = np.flatnonzero(~np.isnan(sensitive))
    order = filled[np.lexsort((sensitive[filled], *known[filled].T))]
    return Rows(known[order], sensitive[order])


def joined_levels(ranks: Sequence[NDArray[np.integer]]) -> list[NDArray[np.int64]]:
    """Return the sensitive levels as whole numbers; those of fewer than 10 originals are one.

    Parameters
    ----------
    ranks : sequence of ndarray of int
        Ranks of the levels, -1 for missing, which is a level too; the originals come first.

    Returns
    -------
    list of ndarray of int64
        From 0 up; the last number stands for all rare levels.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_outcome import joined_levels
    >>> joined_levels([np.array([0] * 12 + [1, 2]), np.array([-1, 0])])[1].tolist()
    [1, 0]
    """
    size = 2 + max(int(one.max(initial=-1)) for one in ranks)
    counts = np.bincount(ranks[0] + 1, minlength=size)
    common = np.flatnonzero(counts >= FEWEST_OF_LEVEL)
    number = np.full(size, len(common))
    number[common] = np.arange(len(common))
    return [number[one + 1] for one in ranks]


def balanced_accuracy(truth: NDArray[Any], guessed: NDArray[Any]) -> float:
    """Return the mean, over the levels that occur, of the share guessed right, 0 to 1.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.

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
    shares = [float((guessed[truth == level] == level).mean()) for level in np.unique(truth)]
    return math.fsum(shares) / len(shares)


def skill_of_levels(truth: NDArray[Any], guessed: NDArray[Any]) -> float:
    """Return the balanced accuracy corrected for chance: 1 at best, 0 for chance.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.

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
    return (balanced_accuracy(truth, guessed) - 1 / classes) / (1 - 1 / classes)


def skill_of_numbers(truth: NDArray[Any], guessed: NDArray[Any]) -> float:
    """Return R², the part of the variance that the guesses take away.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.

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
    around_mean = math.fsum((truth - truth.mean()) ** 2)
    if not around_mean:
        return 0.0
    return 1 - math.fsum((truth - guessed) ** 2) / around_mean
