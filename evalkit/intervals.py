"""95 % intervals of shares and of differences of shares: numbers in, numbers out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NORMAL_QUANTILE = 1.959963984540054
"""97.5 % quantile of the standard normal distribution."""

TAIL = 0.025
"""What a 95 % interval leaves out on either side."""

DETECTION_FACTOR = 2.8
"""Normal quantiles for a two-sided test at 5 % with a power of 80 %: 1.96 + 0.84."""


def wilson(
    successes: float, attempts: float, quantile: float = NORMAL_QUANTILE
) -> tuple[float, float]:
    """Return Wilson's score interval of a share, at 95 % unless told otherwise.

    Parameters
    ----------
    successes : float
        Number of successes, 0 to `attempts`; an expectation may be fractional.
    attempts : float
        Number of attempts, or an effective number. With 0 attempts nothing is known: (0, 1).
    quantile : float
        Of the standard normal distribution, for another confidence; 0 or more.

    Returns
    -------
    tuple of two float
        Ends of the interval, each 0 to 1.

    Notes
    -----
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    Journal of the American Statistical Association 22(158), 209-212.

    Examples
    --------
    >>> from evalkit.intervals import wilson
    >>> tuple(round(end, 4) for end in wilson(0, 20))
    (0.0, 0.1611)
    """
    if attempts == 0:
        return 0.0, 1.0
    z2 = quantile**2
    share = successes / attempts
    centre = (share + z2 / (2 * attempts)) / (1 + z2 / attempts)
    spread = math.sqrt(max(0.0, share * (1 - share) / attempts + z2 / (4 * attempts**2)))
    half = quantile * spread / (1 + z2 / attempts)
    # At the ends the root is exact in mathematics only; rounding must not exclude the share.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def newcombe_difference(
    successes: float,
    attempts: int,
    control_successes: float,
    control_attempts: int,
    quantile: float = NORMAL_QUANTILE,
) -> tuple[float, float]:
    """Return Newcombe's interval of the difference of two independent shares, at 95 %.

    Parameters
    ----------
    successes, attempts : float, int
        The group under attack.
    control_successes, control_attempts : float, int
        The control group.
    quantile : float
        Of the standard normal distribution, for another confidence than 95 %; 0 or more.

    Returns
    -------
    tuple of two float
        Ends of the interval of share minus control share, each -1 to 1. With no attempts in
        one group the interval is as wide as that group allows.

    Notes
    -----
    Method 10 of Newcombe, R. G. (1998). Interval estimation for the difference between
    independent proportions: comparison of eleven methods. Statistics in Medicine 17(8), 873-890.

    Examples
    --------
    >>> from evalkit.intervals import newcombe_difference
    >>> tuple(round(end, 4) for end in newcombe_difference(56, 70, 48, 80))
    (0.0524, 0.3339)
    """
    share = successes / attempts if attempts else 0.5
    control = control_successes / control_attempts if control_attempts else 0.5
    low, high = wilson(successes, attempts, quantile)
    control_low, control_high = wilson(control_successes, control_attempts, quantile)
    difference = share - control
    lower = difference - math.hypot(share - low, control_high - control)
    upper = difference + math.hypot(high - share, control - control_low)
    return max(-1.0, lower), min(1.0, upper)


def widened(value: float, ends: tuple[float, float], standard_error: float) -> tuple[float, float]:
    """Return a 95 % interval of an estimate that is itself known with an error only.

    Parameters
    ----------
    value : float
        The estimate.
    ends : tuple of two float
        Its interval as if it were exact.
    standard_error : float
        Of the estimate, independent of what the interval allows for; 0 changes nothing.

    Returns
    -------
    tuple of two float
        Each end as far from the estimate as the root of both squared distances.

    Notes
    -----
    MOVER, as in `newcombe_difference`, for a sum of which one part is 0 on average.

    Examples
    --------
    >>> from evalkit.intervals import widened
    >>> tuple(round(end, 3) for end in widened(0.5, (0.4, 0.6), 0.05))
    (0.36, 0.64)
    """
    if standard_error == 0:
        return ends
    error = NORMAL_QUANTILE * standard_error
    return value - math.hypot(value - ends[0], error), value + math.hypot(ends[1] - value, error)


def detectable_excess(control_share: float, attempts: int, control_attempts: int) -> float:
    """Return the smallest excess over the control that would be noticed four times in five.

    Parameters
    ----------
    control_share : float
        Share of successes in the control, 0 to 1.
    attempts, control_attempts : int
        Sizes of the two groups, at least 1.

    Returns
    -------
    float
        2.8 standard errors of the difference at the control's rate, 0 or more, as a share.
        The rate is taken as at least one in the size of the control, and at most one less that.

    Examples
    --------
    >>> from evalkit.intervals import detectable_excess
    >>> round(detectable_excess(0.1, 1000, 1000), 4)
    0.0376
    """
    floor = 1 / control_attempts
    rate = min(max(control_share, floor), max(1 - floor, 0.5))
    return DETECTION_FACTOR * math.sqrt(rate * (1 - rate) * (1 / attempts + 1 / control_attempts))


def complement_ratio(
    successes: float, attempts: int, control_successes: float, control_attempts: int
) -> tuple[float, float]:
    """Return the 95 % interval of (1 - share) / (1 - control share).

    One less this ratio is the risk (s - s0) / (1 - s0) of an attack with a control.

    Parameters
    ----------
    successes, attempts : float, int
        The group under attack.
    control_successes, control_attempts : float, int
        The control group.

    Returns
    -------
    tuple of two float
        Ends of the interval, 0 or more; the upper end is infinite where the control's failures
        may all be chance.

    Notes
    -----
    MOVER for a ratio: Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for
    functions of the normal mean and standard deviation. Statistical Methods in Medical Research
    21(4), 347-359. The parts are Wilson's intervals of the two shares of failures.

    Examples
    --------
    >>> from evalkit.intervals import complement_ratio
    >>> tuple(round(end, 3) for end in complement_ratio(60, 200, 20, 200))
    (0.699, 0.859)
    """
    failed = attempts - successes
    control_failed = control_attempts - control_successes
    share = failed / attempts if attempts else 0.5
    control = control_failed / control_attempts if control_attempts else 0.5
    ends, control_ends = wilson(failed, attempts), wilson(control_failed, control_attempts)
    return ratio(share, ends, control, control_ends)


def ratio(
    value: float,
    ends: tuple[float, float],
    control: float,
    control_ends: tuple[float, float],
) -> tuple[float, float]:
    """Return the 95 % interval of value / control from the intervals of both.

    Parameters
    ----------
    value, control : float
        Independent estimates, 0 or more.
    ends, control_ends : tuple of two float
        Their 95 % intervals, 0 or more.

    Returns
    -------
    tuple of two float
        0 or more; the upper end is infinite where the control may be 0.

    Notes
    -----
    MOVER for a ratio: Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for
    functions of the normal mean and standard deviation. Statistical Methods in Medical Research
    21(4), 347-359.

    Examples
    --------
    >>> from evalkit.intervals import ratio
    >>> tuple(round(end, 3) for end in ratio(0.7, (0.63, 0.76), 0.9, (0.85, 0.93)))
    (0.697, 0.86)
    """
    low, high = ends
    control_low, control_high = control_ends
    product = value * control
    lower = _ratio_end(product, low * (2 * value - low), control_high, control, -1)
    upper = _ratio_end(product, high * (2 * value - high), control_low, control, +1)
    return max(0.0, lower), upper


def _ratio_end(product: float, part: float, end: float, control: float, sign: int) -> float:
    """Return one end of the MOVER interval of a ratio; `end` is that of the denominator."""
    divisor = end * (2 * control - end)
    if divisor <= 0:
        return 0.0 if sign < 0 else math.inf
    return (product + sign * math.sqrt(max(0.0, product**2 - part * divisor))) / divisor


def area_under_curve(area: float, members: int, others: int) -> tuple[float, float]:
    """Return the 95 % interval of the area under a ROC curve.

    Parameters
    ----------
    area : float
        Mann-Whitney estimate, 0 to 1, ties counting one half.
    members, others : int
        Sizes of the two groups, at least 1.

    Returns
    -------
    tuple of two float
        Ends of the interval, each 0 to 1, found by bisection.

    Notes
    -----
    Method 5 of Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on
    the Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in Medicine
    25(4), 559-573: the variance of Hanley and McNeil, taken at the end of the interval itself.

    Examples
    --------
    >>> from evalkit.intervals import area_under_curve
    >>> tuple(round(end, 3) for end in area_under_curve(0.5, 100, 100))
    (0.421, 0.579)
    """
    mean_size = (members + others) / 2 - 1

    def outside(end: float) -> bool:
        spread = 1 + mean_size * (1 - end) / (2 - end) + mean_size * end / (1 + end)
        variance = end * (1 - end) * spread / (members * others)
        return (area - end) ** 2 > NORMAL_QUANTILE**2 * variance

    return _border(area, 0.0, outside), _border(area, 1.0, outside)


def median_ranks(count: int) -> tuple[int, int] | None:
    """Return which of the sorted values are the ends of a 95 % interval of their median.

    Parameters
    ----------
    count : int
        Number of independent values.

    Returns
    -------
    tuple of two int, or None
        Places in the sorted values, counted from 0, as far from either end. None below six
        values: not even the least and the greatest enclose the median with 95 %.

    Notes
    -----
    Order statistics: how many values lie below the median is binomial with probability one
    half at most, whatever the distribution, so the interval covers with 95 % or more.

    Examples
    --------
    >>> from evalkit.intervals import median_ranks
    >>> median_ranks(6), median_ranks(100), median_ranks(5)
    ((0, 5), (39, 60), None)
    """
    place = max(0, count // 2 - 6 * math.isqrt(count))  # below, twelve deviations off, is nothing
    below, low = 0.0, place - 1
    while True:
        ways = math.lgamma(count + 1) - math.lgamma(place + 1) - math.lgamma(count - place + 1)
        below += math.exp(ways - count * math.log(2))
        if below > TAIL:
            break
        low, place = place, place + 1
    return (low, count - 1 - low) if low >= 0 else None


def _border(inside: float, far: float, outside: Callable[[float], bool]) -> float:
    """Return where `outside` turns true between the estimate and the far end."""
    near = inside
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (near, middle) if outside(middle) else (middle, far)
    return near
