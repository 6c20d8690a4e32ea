"""How well one number tells two groups apart: the area under the ROC curve and points on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def area_of_ranks(members: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Share of the pairs (member, other) in which the member has the higher value.

    Parameters
    ----------
    members, others : ndarray of float64, shapes (n,) and (m,)
        At least one value each; infinite values may occur, NaN may not.

    Returns
    -------
    float
        0 to 1; a tie counts one half. It is exact: whole numbers are counted, then divided once.

    Notes
    -----
    Mann, H. B. and Whitney, D. R. (1947). On a test of whether one of two random variables is
    stochastically larger than the other. Annals of Mathematical Statistics 18(1), 50-60.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.ranking import area_of_ranks
    >>> area_of_ranks(np.array([3.0, 1.0]), np.array([1.0, 2.0]))
    0.625
    """
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members, side="left").sum(dtype=np.int64)
    up_to = np.searchsorted(ordered, members, side="right").sum(dtype=np.int64)
    return float(int(below) + int(up_to)) / (2 * len(members) * len(others))


def true_share_at(
    members: NDArray[np.float64], others: NDArray[np.float64], false_share: float
) -> float:
    """Share of the members over a threshold that the given share of the others is over.

    Parameters
    ----------
    members, others : ndarray of float64, shapes (n,) and (m,)
        At least one value each.
    false_share : float
        0 to 1.

    Returns
    -------
    float
        0 to 1: the ROC curve at `false_share`, straight through ties, the upper end of a step.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.ranking import true_share_at
    >>> true_share_at(np.array([3.0, 1.0]), np.array([1.0, 2.0]), 0.5)
    0.5
    """
    thresholds = np.unique(np.concatenate([members, others]))[::-1]
    false, true = (_shares_from(group, thresholds) for group in (others, members))
    after = int(np.searchsorted(false, false_share, side="right"))
    if after == len(false):
        return 1.0
    part = (false_share - false[after - 1]) / (false[after] - false[after - 1])
    return float(true[after - 1] + part * (true[after] - true[after - 1]))


def _shares_from(
    values: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the share of the values at or over each threshold, after a first 0."""
    below = np.searchsorted(np.sort(values), thresholds, side="left")
    return np.concatenate([[0.0], 1 - below / len(values)])
