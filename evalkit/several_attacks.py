"""Several attacks at once: which excesses stand after Holm's correction.

Of attacks where nothing leaks, one in forty shows an excess: its 95 % interval lies above 0. Who
runs ten has one by chance in every fifth report. So an excess is called shown, in any summary,
only if it stands after Holm's correction over the attacks of one scenario. Everything here is
computed from the facts of the results, as they stand in ``assessment.json``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from evalkit.intervals import NORMAL_QUANTILE, newcombe_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEVEL: Final = 0.05
"""Share of leak-free scenarios that may show an excess, both directions counted."""
HIGHEST_QUANTILE: Final = 38.0
"""Beyond it the tail of the normal distribution is no longer a number above 0."""
ROUNDING: Final = 1e-6


def p_value(facts: Mapping[str, Any]) -> float | None:
    """Return how often chance alone gives an excess as large, from the facts of an attack.

    Parameters
    ----------
    facts : mapping
        With `excess` and `excess_interval`; `success_share`, `attempts`, `control_share` and
        `control_attempts` where two groups were attacked.

    Returns
    -------
    float or None
        Two-sided, 0 to 1; 1 where the excess is 0 or negative. It is under 0.05 exactly where the
        95 % interval lies above 0. None where there is no interval, so no control.

    Notes
    -----
    Where the interval is Newcombe's of the two recorded shares, it is widened until it reaches 0;
    the quantile z that it takes gives p = 2 (1 - Phi(z)). Any other interval is stretched from the
    estimate: z = 1.96 excess / (excess - low), the standard error on the side of 0.

    Examples
    --------
    >>> from evalkit.several_attacks import p_value
    >>> round(p_value({"excess": 0.2, "excess_interval": [0.1, 0.3]}), 6)
    8.9e-05
    """
    ends, excess = facts.get("excess_interval"), facts.get("excess")
    if not isinstance(ends, list | tuple) or not isinstance(excess, int | float):
        return None
    if excess <= 0:
        return 1.0
    counts = _two_groups(facts)
    if counts is not None and math.dist(newcombe_difference(*counts), ends) < ROUNDING:
        z = _quantile_reaching_nothing(counts)
    else:
        z = NORMAL_QUANTILE * excess / (excess - ends[0]) if excess > ends[0] else HIGHEST_QUANTILE
    return math.erfc(min(z, HIGHEST_QUANTILE) / math.sqrt(2))


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Return which tests stand after Holm's correction for their number.

    Parameters
    ----------
    p_values : sequence of float
        One for each test, 0 to 1; any may be dependent on any other.
    level : float
        Share of families without any effect in which at least one test may stand.

    Returns
    -------
    list of bool
        In the order given. The smallest is compared with level / N, the next with
        level / (N - 1), and so on; from the first that is larger none stands.

    Notes
    -----
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal
    of Statistics 6(2), 65-70.

    Examples
    --------
    >>> from evalkit.several_attacks import holm
    >>> holm([0.03, 0.01, 0.04]), holm([0.02, 0.01, 0.04])
    ([False, True, False], [True, True, True])
    """
    stands = [False] * len(p_values)
    for place, test in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        if p_values[test] > level / (len(p_values) - place):
            break
        stands[test] = True
    return stands


def _two_groups(facts: Mapping[str, Any]) -> tuple[float, int, float, int] | None:
    """Return successes and attempts in the data and in the control, where both are recorded."""
    names = ("success_share", "attempts", "control_share", "control_attempts")
    found: list[Any] = [facts.get(name) for name in names]
    if not all(isinstance(one, int | float) for one in found):
        return None
    share, attempts, control_share, control_attempts = found
    return share * attempts, attempts, control_share * control_attempts, control_attempts


def _quantile_reaching_nothing(counts: tuple[float, int, float, int]) -> float:
    """Return the quantile at which Newcombe's interval begins at 0, by bisection."""
    near, far = 0.0, HIGHEST_QUANTILE
    for _ in range(60):
        middle = (near + far) / 2
        low = newcombe_difference(*counts, quantile=middle)[0]
        near, far = (middle, far) if low > 0 else (near, middle)
    return near
