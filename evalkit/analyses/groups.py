"""Compare an outcome between groups: differences of means or of shares, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit import intervals
from evalkit.analyses.designs import people
from evalkit.record_parts import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evalkit.analyses.designs import Design

FEWEST_OF_A_GROUP = 2


def group_estimates(design: Design, *, shares: bool, fewest: int = 0) -> list[Estimate | None]:
    """Return how the outcome of each group differs from that of the first.

    Parameters
    ----------
    design : Design
        Its matrix holds one column of 0 and 1 for each group but the first.
    shares : bool
        Whether the outcome is 0 or 1, so that shares are compared.
    fewest : int
        Fewest rows of a group, and with shares of either outcome in it, behind a difference; 0
        for tables that are to be published anyway.

    Returns
    -------
    list of Estimate or None
        Means: difference with Welch's interval and p. Shares: with Newcombe's interval, no p.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.analyses.designs import Design
    >>> from evalkit.analyses.groups import group_estimates
    >>> group = np.repeat([0.0, 1.0], 50)
    >>> [found] = group_estimates(
    ...     Design(100, np.arange(100) % 10 + group, None, group[:, None]), shares=False
    ... )
    >>> round(found.value, 6)
    1.0
    """
    rest = design.matrix.sum(axis=1) == 0
    found: list[Estimate | None] = []
    for column in design.matrix.T:
        group = column == 1
        shown = all(_is_shown(design, one, fewest, shares=shares) for one in (rest, group))
        compare = _share_difference if shares else _mean_difference
        found.append(compare(design.outcome[rest], design.outcome[group]) if shown else None)
    return found


def are_shares(design: Design) -> bool:
    """Return whether the outcome is 0 or 1 in every row."""
    return bool(((design.outcome == 0) | (design.outcome == 1)).all())


def _is_shown(design: Design, rows: NDArray[np.bool_], fewest: int, *, shares: bool) -> bool:
    """Return whether a group is large enough, with either outcome where shares are compared."""
    if rows.sum() < FEWEST_OF_A_GROUP or people(rows, design.person) < fewest:
        return False
    sides = (rows & (design.outcome == one) for one in (0, 1))
    return not shares or all(people(side, design.person) >= fewest for side in sides)


def _mean_difference(first: NDArray[np.float64], group: NDArray[np.float64]) -> Estimate | None:
    """Return the difference of two means with Welch's interval; None if nothing varies."""
    import numpy as np
    from scipy import stats

    parts = [np.var(one, ddof=1) / len(one) for one in (group, first)]
    if sum(parts) == 0:
        return None
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(one) - 1) for part, one in zip(parts, (group, first), strict=True)
    )
    error, value = float(np.sqrt(sum(parts))), float(group.mean() - first.mean())
    reach = float(stats.t.ppf(0.975, freedom)) * error
    p_value = 2 * float(stats.t.sf(abs(value) / error, freedom))
    return Estimate(value=value, low=value - reach, high=value + reach, p_value=p_value)


def _share_difference(first: NDArray[np.float64], group: NDArray[np.float64]) -> Estimate:
    """Return the difference of two shares with Newcombe's interval."""
    counts = (int(group.sum()), len(group), int(first.sum()), len(first))
    low, high = intervals.newcombe_difference(*counts)
    return Estimate(value=counts[0] / counts[1] - counts[2] / counts[3], low=low, high=high)
