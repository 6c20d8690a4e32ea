"""What may be shown of three matrices over pairs of variables: worst pairs, and blocks.

The variables stand in the order of a hierarchical clustering, so that those that go together
are neighbours and the reader sees blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

SHOWN_PAIRS = 10
MOST_IN_NUMBERS = 12
MOST_VARIABLES = 120
"""A picture of more variables than this could not be read; then a part of them is shown."""
PART_VARIABLES = 60
_ORDER_DECIMALS = 6


def shown_matrices(
    variables: Sequence[str], matrices: tuple[Matrix, Matrix, Matrix], enough: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the worst pairs and the matrices of originals, avatars and holdout as facts.

    Parameters
    ----------
    variables : sequence of str, length p
        Names.
    matrices : tuple of ndarray of float64, shape (p, p)
        Symmetric, -1 to 1: of WO, WA and HO.
    enough : ndarray of bool, shape (p, p)
        Whether a pair may be shown at all.

    Returns
    -------
    dict
        ``worst_pairs``: up to ten, the largest change between WO and WA first; ties in the order
        of the variables. ``matrix_variables``: all up to 120, else the 60 of the worst pairs, in
        the order of `block_order`; ``matrix_is_part`` says which. ``matrix_working``,
        ``matrix_avatars``, ``matrix_holdout``: row i holds the pairs of variable i with those
        after it, None where a pair may not be shown; three decimals up to 12 variables, else two.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_matrices import shown_matrices
    >>> one = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> facts = shown_matrices(["a", "b"], (one, np.eye(2), one), np.full((2, 2), True))
    >>> facts["worst_pairs"][0]["change"], facts["matrix_working"]
    (-0.5, [[0.5]])
    """
    working, avatars, holdout = matrices
    pairs = worst_first(working, avatars, enough)
    chosen = _variables_of(pairs, len(variables))
    part = np.ix_(chosen, chosen)
    ordered = [chosen[place] for place in block_order(working[part], enough[part])]
    decimals = 3 if len(ordered) <= MOST_IN_NUMBERS else 2
    return {
        "worst_pairs": [
            {
                "first": variables[i],
                "second": variables[j],
                "working": _rounded(working[i, j], 3),
                "avatars": _rounded(avatars[i, j], 3),
                "holdout": _rounded(holdout[i, j], 3),
                "change": _rounded(avatars[i, j] - working[i, j], 3),
            }
            for i, j in pairs[:SHOWN_PAIRS]
        ],
        "matrix_variables": [variables[i] for i in ordered],
        "matrix_is_part": len(ordered) < len(variables),
        "matrix_working": _triangle(working, enough, ordered, decimals),
        "matrix_avatars": _triangle(avatars, enough, ordered, decimals),
        "matrix_holdout": _triangle(holdout, enough, ordered, decimals),
    }


def block_order(matrix: Matrix, enough: NDArray[np.bool_]) -> list[int]:
    """Return the variables in an order that puts those next to each other that go together.

    Average linkage on ``1 - |R|``, leaves ordered so that neighbours are as near as they can be
    (Bar-Joseph, Gifford & Jaakkola 2001). A pair that may not be shown counts as unrelated.

    Parameters
    ----------
    matrix : ndarray of float64, shape (p, p)
        Symmetric, -1 to 1.
    enough : ndarray of bool, shape (p, p)
        Whether a pair may be shown.

    Returns
    -------
    list of int
        Each of the p places once. Ties are settled by the order of the variables.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_matrices import block_order
    >>> related = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.1], [0.9, 0.1, 1.0]])
    >>> block_order(related, np.full((3, 3), True))
    [0, 2, 1]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    p = len(matrix)
    if p < 3:  # noqa: PLR2004 - two variables have one order
        return list(range(p))
    # Another order of the rows moves the last digits, and those must not decide a tie.
    distance = 1 - np.where(enough, np.abs(matrix), 0.0).round(_ORDER_DECIMALS)  # (p, p)
    upper = distance[np.triu_indices(p, k=1)]  # (p(p-1)/2,)
    leaves = leaves_list(linkage(upper, method="average", optimal_ordering=True))
    order = [int(place) for place in leaves]
    # A tree can be read from either end.
    return order if order[0] < order[-1] else order[::-1]


def worst_first(
    working: Matrix, avatars: Matrix, enough: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Return the pairs that may be shown, the largest change first, ties in order.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_matrices import worst_first
    >>> worst_first(np.eye(2), np.eye(2), np.full((2, 2), True))
    [(0, 1)]
    """
    change = np.where(enough, np.abs(working - avatars), -1.0)
    first, second = np.triu_indices(len(working), k=1)
    order = np.argsort(-change[first, second], kind="stable")
    return [(int(first[k]), int(second[k])) for k in order if change[first[k], second[k]] >= 0]


def _variables_of(pairs: Sequence[tuple[int, int]], p: int) -> list[int]:
    """Return all variables, or where they are too many those of the worst pairs, in order."""
    if p <= MOST_VARIABLES:
        return list(range(p))
    chosen: dict[int, None] = {}
    for pair in pairs:
        chosen |= dict.fromkeys(pair)
        if len(chosen) >= PART_VARIABLES:
            break
    return sorted(list(chosen)[:PART_VARIABLES])


def _triangle(
    matrix: Matrix, enough: NDArray[np.bool_], order: Sequence[int], decimals: int
) -> list[list[float | None]]:
    """Return the pairs above the diagonal, None where too few rows are filled."""
    return [
        [_rounded(matrix[i, j], decimals) if enough[i, j] else None for j in order[place + 1 :]]
        for place, i in enumerate(order[:-1])
    ]


def _rounded(value: float, decimals: int) -> float:
    """Return a number without a negative zero."""
    return round(float(value), decimals) + 0.0
