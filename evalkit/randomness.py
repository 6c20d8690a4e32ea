"""Random streams: one for each metric, so that no metric's draw depends on another's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANY_ROWS = 50_000


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random stream of one purpose.

    Parameters
    ----------
    seed : int
        Seed of the scenario, 0 or more.
    name : str
        Slug of the metric or name of the purpose.

    Returns
    -------
    numpy.random.Generator
        The same for the same seed and name, on every machine.

    Examples
    --------
    >>> from evalkit.randomness import stream
    >>> int(stream(0, "a").integers(1000)) == int(stream(0, "a").integers(1000))
    True
    """
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng(np.random.SeedSequence([seed, *digest]))


def content_order(columns: list[NDArray[np.generic]]) -> NDArray[np.intp]:
    """Return the row order by content: by the first column, then the second, and so on.

    Rows are put in this order before a draw meets them, so that the order in the file never
    matters. Equal rows may stand in any order: they are the same to every metric.

    Parameters
    ----------
    columns : list of ndarray, each of shape (n,)
        Numbers or codes; NaN sorts last.

    Returns
    -------
    ndarray of intp, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.randomness import content_order
    >>> content_order([np.array([2.0, 1.0, 1.0]), np.array([0, 9, 3])])
    array([2, 1, 0])
    """
    if len(columns[0]) >= MANY_ROWS:
        from evalkit.kernels.content import can_be_sorted, sorted_rows

        if can_be_sorted(columns):
            return sorted_rows(columns)  # the very same order, sooner and in less memory
    return np.lexsort(tuple(reversed(columns)))
