"""Medians and quantiles of numbers that count for more or less than one each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.intervals import median_ranks
from evalkit.persons import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Distances = NDArray[np.float64]


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
    >>> from evalkit.quantities_weighed import shown_distance
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
