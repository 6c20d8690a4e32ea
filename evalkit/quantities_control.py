"""An attack beside its control: score, interval and the facts that every such attack has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalkit import intervals


@dataclass(frozen=True)
class Controlled:
    """How often an attack succeeds among people in the data, and among people who are not.

    Attributes
    ----------
    successes, control_successes : float
        From 0 to the number of attempts; an expectation over ties may be fractional.
    attempts, control_attempts : int
        At least 1.

    Examples
    --------
    >>> from evalkit.quantities_control import Controlled
    >>> Controlled(75, 100, 50, 100).score
    50.0
    """

    successes: float
    attempts: int
    control_successes: float
    control_attempts: int

    @property
    def share(self) -> float:
        """Return the share of successes among people in the data, 0 to 1."""
        return self.successes / self.attempts

    @property
    def control_share(self) -> float:
        """Return the share of successes among the control, 0 to 1."""
        return self.control_successes / self.control_attempts

    @property
    def control_failures(self) -> float:
        """Return how many attempts on the control failed, to six decimals."""
        return round(self.control_attempts - self.control_successes, 6)

    @property
    def score(self) -> float:
        """Return 100 (1 - max(0, (s - s0) / (1 - s0))), metrics.md 3.2.

        Raises
        ------
        ValueError
            If no attempt on the control failed.
        """
        if self.control_failures <= 0:
            raise ValueError("no attempt on the control failed: there is nothing to compare with")
        risk = (self.share - self.control_share) / (1 - self.control_share)
        return 100 * (1 - max(0.0, risk))

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the score, by MOVER on the ratio of the failures."""
        low, high = intervals.complement_ratio(*self._counts)
        return 100 * min(1.0, low), 100 * min(1.0, high)

    def facts(self) -> dict[str, Any]:
        """Return shares, intervals and excess under the names of metrics.md 3.2."""
        successes, attempts, control_successes, control_attempts = self._counts
        return {
            "attempts": attempts,
            "control_attempts": control_attempts,
            "success_share": self.share,
            "success_interval": list(intervals.wilson(successes, attempts)),
            "control_share": self.control_share,
            "control_interval": list(intervals.wilson(control_successes, control_attempts)),
            "excess": self.share - self.control_share,
            "excess_interval": list(intervals.newcombe_difference(*self._counts)),
            "detectable_excess": intervals.detectable_excess(
                self.control_share, attempts, control_attempts
            ),
        }

    @property
    def _counts(self) -> tuple[float, int, float, int]:
        return self.successes, self.attempts, self.control_successes, self.control_attempts


def shown_count(count: int, min_count: int) -> int | None:
    """Return a count of people, or None where it stands for too few to be shown.

    Examples
    --------
    >>> from evalkit.quantities_control import shown_count
    >>> shown_count(0, 11), shown_count(3, 11), shown_count(11, 11)
    (0, None, 11)
    """
    return None if 0 < count < min_count else count
