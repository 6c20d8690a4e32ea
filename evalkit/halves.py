"""Random halves of tables, whatever the order of their rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from evalkit.persons import Persons


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
    return content_order(_columns(frames))


def content_ranks(frames: Sequence[pd.DataFrame]) -> npt.NDArray[np.int64]:
    """Return the place of each row in `row_order`, the same number for equal rows.

    Parameters
    ----------
    frames : sequence of pandas.DataFrame, each with n rows

    Returns
    -------
    numpy.ndarray of int64, shape (n,)

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.halves import content_ranks
    >>> content_ranks([pd.DataFrame({"age": [40, 20, 40]})])
    array([1, 0, 1])
    """
    return ranks_of(_columns(frames))


def ranks_of(columns: list[npt.NDArray[np.generic]]) -> npt.NDArray[np.int64]:
    """Return the place of each row by the content of its cells, shape (n,); equal rows tie."""
    import numpy as np

    order = content_order(columns)
    differs = np.zeros(len(order), np.int64)
    for column in columns:
        cells = column[order]
        unlike = cells[1:] != cells[:-1]
        if cells.dtype.kind == "f":  # missing equals missing
            unlike &= ~(np.isnan(cells[1:]) & np.isnan(cells[:-1]))
        differs[1:] |= unlike
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(differs)
    return ranks


def _columns(frames: Sequence[pd.DataFrame]) -> list[npt.NDArray[np.generic]]:
    """Return the cells of all columns, those of a table in the order of their names."""
    import pandas as pd

    columns = []
    for frame in frames:
        for name in sorted(frame.columns):
            column = frame[name]
            is_level = isinstance(column.dtype, pd.CategoricalDtype)
            columns.append(column.cat.codes.to_numpy() if is_level else column.to_numpy())
    return columns


def two_halves(
    order: npt.NDArray[np.intp], rng: np.random.Generator, persons: Persons | None = None
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return two random halves of `order`, each in that order; the first takes the extra row.

    Parameters
    ----------
    order : numpy.ndarray of intp, shape (n,)
    rng : numpy.random.Generator
    persons : Persons, optional
        Of the n rows. Whole persons are dealt: the first half takes the extra person, and the
        sizes below are numbers of persons.

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

    count = len(order) if persons is None else persons.count
    drawn = rng.permutation(count)
    cut = (count + 1) // 2
    if persons is None:
        return order[np.sort(drawn[:cut])], order[np.sort(drawn[cut:])]
    in_first = np.zeros(count, np.bool_)
    in_first[drawn[:cut]] = True
    dealt = in_first[persons.code[order]]
    return order[dealt], order[~dealt]
