"""One number of two assessments: the change, its interval, and whether it may be told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from evalkit.report.wording import sampling_interval

if TYPE_CHECKING:
    from evalkit.records import Result

HIGHER, LOWER, WITHIN = "higher", "lower", "within"
NO_INTERVAL, NOT_MEASURED, OTHER_VERSION = "no_interval", "not_measured", "other_version"
OTHER_QUESTION, OTHER_CONTROL, HIDDEN = "other_question", "other_control", "hidden"
TOLD: Final = frozenset({HIGHER, LOWER, WITHIN})
"""Findings that rest on an interval; the others say why there is none."""


class Change(NamedTuple):
    """What one measure did between two assessments.

    Attributes
    ----------
    finding : str
        ``higher``, ``lower`` or ``within`` by the interval of the difference; else why nothing
        can be said: ``no_interval``, ``not_measured``, ``other_version``, ``other_question``,
        ``other_control``, ``hidden``.
    difference : float, optional
        Second minus first, in the unit of the score.
    interval : tuple of two float, optional
        95 % interval of the difference.
    """

    finding: str
    difference: float | None = None
    interval: tuple[float, float] | None = None


class Measured(NamedTuple):
    """A result with what the attacker of its scenario holds, and the kind of its holdout.

    Attributes
    ----------
    question : tuple
        Known and sensitive variables; empty for a measure that does not look at them.
    """

    result: Result
    question: tuple[object, ...]
    holdout_kind: str


def difference_interval(
    first: float,
    first_interval: tuple[float, float],
    second: float,
    second_interval: tuple[float, float],
) -> tuple[float, float]:
    """Return the 95 % interval of ``second - first`` from the interval of each.

    The method of variance estimates recovery (Zou and Donner 2008): the distances of each
    estimate from its own ends are added as squares. It takes the two for independent; where both
    were measured against the same people, the interval is wider than it need be.

    Parameters
    ----------
    first, second : float
        Estimates, in one unit.
    first_interval, second_interval : tuple of two float
        Their 95 % intervals; an estimate outside of its own counts as its nearer end.

    Returns
    -------
    tuple of two float

    Examples
    --------
    >>> from evalkit.comparing import difference_interval
    >>> difference_interval(80.0, (77.0, 83.0), 90.0, (86.0, 94.0))
    (5.0, 15.0)
    """
    low_1, high_1 = (max(first - first_interval[0], 0.0), max(first_interval[1] - first, 0.0))
    low_2, high_2 = (max(second - second_interval[0], 0.0), max(second_interval[1] - second, 0.0))
    change = second - first
    return change - math.hypot(low_2, high_1), change + math.hypot(high_2, low_1)


def change(first: Measured | None, second: Measured | None) -> Change:
    """Return what a measure did between two assessments.

    Parameters
    ----------
    first, second : Measured or None
        None where an assessment lacks the measure.

    Returns
    -------
    Change
    """
    obstacle = _obstacle(first, second)
    if obstacle:
        return Change(obstacle)
    assert first is not None
    assert second is not None
    before, after = first.result.headline, second.result.headline
    assert before is not None
    assert after is not None
    ends = sampling_interval(first.result), sampling_interval(second.result)
    if ends[0] is None or ends[1] is None:
        return Change(NO_INTERVAL, after - before)
    low, high = difference_interval(before, ends[0], after, ends[1])
    finding = HIGHER if low > 0 else (LOWER if high < 0 else WITHIN)
    return Change(finding, after - before, (low, high))


def _obstacle(first: Measured | None, second: Measured | None) -> str:
    """Return why two results are not the same quantity, or the empty text."""
    if first is None or second is None:
        return NOT_MEASURED
    if first.result.headline is None or second.result.headline is None:
        return NOT_MEASURED
    if first.result.version != second.result.version or first.result.unit != second.result.unit:
        return OTHER_VERSION
    if first.holdout_kind != second.holdout_kind:
        return OTHER_CONTROL
    return OTHER_QUESTION if first.question != second.question else ""
