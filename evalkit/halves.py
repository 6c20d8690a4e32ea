"""Random halves of tables, whatever the order of their rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd


def row_order(frames: Sequence[pd.DataFrame]) -> npt.NDArray[np.intp]:
    """Return the order of rows by content, of frames that stand side by side.

    Parameters
    ----------
    frames : sequence of pandas.DataFrame, each with n rows
        Tables of a release: numbers or categories.

    Returns
    -------
    numpy.ndarray of intp, shape (n,)
        Columns are compared in the order of their names; a missing number comes last, a missing
        category first.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.halves import row_order
    >>> row_order([pd.DataFrame({"age": [40, 20, 30]})])
    array([1, 2, 0])
    """
    import pandas as pd

    columns = []
    for frame in frames:
        for name in sorted(frame.columns):
            column = frame[name]
            is_level = isinstance(column.dtype, pd.CategoricalDtype)
            columns.append(column.cat.codes.to_numpy() if is_level else column.to_numpy())
    return content_order(columns)


def two_halves(
    order: npt.NDArray[np.intp], rng: np.random.Generator
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return two random halves of `order`, each in that order; the first takes the extra row.

    Parameters
    ----------
    order : numpy.ndarray of intp, shape (n,)
    rng : numpy.random.Generator

    Returns
    -------
    first : numpy.ndarray of intp, shape (ceil(n / 2),)
    second : numpy.ndarray of intp, shape (floor(n / 2),)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.halves import two_halves
    >>> first, second = two_halves(np.arange(5), np.random.default_rng(0))
    >>> len(first), len(second)
    (3, 2)
    """
    import numpy as np

    drawn = rng.permutation(len(order))
    cut = (len(order) + 1) // 2
    return order[np.sort(drawn[:cut])], order[np.sort(drawn[cut:])]
