"""Where the bins of a picture begin and end: at round numbers and dates, never at a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evalkit.quantities_univariate import inner_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

BINS: Final = 10
OUTER: Final = 20
"""Edges lie between the first and the last twentieth of the cells."""
DAY: Final = 86_400.0
STEPS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 10_800.0, 21_600.0, 43_200.0)
DAY_STEPS: Final = (1, 2, 7, 14)
MONTH_STEPS: Final = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000)
MONTH: Final = 30.5 * DAY
LARGEST: Final = 1e300
MOST_DECIMALS: Final = 15


def round_edges(values: Numbers) -> Numbers:
    """Return multiples of 1, 2 or 5 times a power of ten, about ten of them, inside the values.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Filled cells; whole numbers get whole edges.

    Returns
    -------
    ndarray of float64
        Ascending, between the 5 % and the 95 % quantile; empty where these are equal or missing.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_edges import round_edges
    >>> round_edges(np.arange(0.0, 101.0)).tolist()
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    """
    low, high = _middle(values)
    if not 0 < high - low < LARGEST:
        return np.array([])
    rough = (high - low) / BINS
    power = int(np.floor(np.log10(rough)))
    steps = [(factor, at) for at in (power, power + 1) for factor in (1, 2, 5)]
    factor, at = next(one for one in steps if one[0] * 10.0 ** one[1] >= rough * (1 - 1e-9))
    if at < 0 and bool(np.all(values == np.round(values))):
        factor, at = 1, 0
    step = factor * 10.0**at
    multiples = np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return _rounded(multiples * step, -at)


def quantile_edges(values: Numbers) -> Numbers:
    """Return the tenths of the values, rounded up to a hundredth of their spread.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Filled cells, at least one.

    Returns
    -------
    ndarray of float64
        Ascending. Rounded up, so that a value that many carry stays below its edge.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_edges import quantile_edges
    >>> quantile_edges(np.array([0.0] * 85 + [1234.5] * 15)).tolist()
    [0.0, 1240.0]
    """
    edges = inner_edges(values, BINS).astype(np.float64)
    spread = float(edges[-1] - edges[0]) or abs(float(edges[0]))
    if not 0 < spread < LARGEST:
        return edges[:0] if spread else edges
    at = int(np.floor(np.log10(spread))) - 2
    return _rounded(np.ceil(edges / 10.0**at - 1e-9) * 10.0**at, -at)


def date_edges(values: Numbers) -> Numbers:
    """Return ends of minutes, days, months or years, about ten of them, inside the values.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Filled cells, in seconds.

    Returns
    -------
    ndarray of float64
        Ascending; the last second before a round date or time.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_edges import date_edges
    >>> days = np.arange(0.0, 366.0) * 86_400
    >>> [str(np.datetime64(int(one), "s"))[:10] for one in date_edges(days)][:3]
    ['1970-03-31', '1970-06-30', '1970-09-30']
    """
    low, high = _middle(values)
    if not low < high:
        return np.array([])
    rough = (high - low) / BINS
    seconds = [*STEPS, *(DAY * days for days in DAY_STEPS)]
    step = next((one for one in seconds if one >= rough), None)
    if step is not None:
        starts = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        return starts - 1
    months = next((one for one in MONTH_STEPS if one * MONTH >= rough), MONTH_STEPS[-1])
    first, last = (_month(one) for one in (low, high))
    found = [_start(one) - 1 for one in range(first - first % months, last + 1, months)]
    return np.array([one for one in found if low <= one <= high])


def _rounded(edges: Numbers, decimals: int) -> Numbers:
    """Return different edges without the dust of binary fractions, and no negative zero."""
    decimals = min(max(0, decimals), MOST_DECIMALS)
    return np.unique(np.round(edges, decimals) + 0.0)


def _middle(values: Numbers) -> tuple[float, float]:
    """Return the values that a twentieth of the cells does not pass, at either end."""
    if not len(values):
        return 0.0, 0.0
    size = len(values)
    low, high = (max(0, int(np.ceil(share * size / OUTER)) - 1) for share in (1, OUTER - 1))
    edges = np.partition(values, [low, high])
    return float(edges[low]), float(edges[high])


def _month(seconds: float) -> int:
    """Return the number of the month of a time, counted from the year 0."""
    month = np.datetime64(int(seconds), "s").astype("datetime64[M]")
    return int(month.astype(np.int64)) + 12 * 1970


def _start(month: int) -> float:
    """Return the first second of a month."""
    begin = np.datetime64(month - 12 * 1970, "M").astype("datetime64[s]")
    return float(begin.astype(np.int64))
