"""Rows of several tables one below the other, without a table that holds them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Places = range | NDArray[np.intp]


class StackedTables:
    """Tables one below the other, joined a column at a time when it is asked for.

    Parameters
    ----------
    tables : sequence of DataFrame
        Of one release.
    rows : ndarray of intp, shape (k,), optional
        Which of their rows, counted from the first table on; None: all.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_stacked import StackedTables
    >>> people, others = pd.DataFrame({"age": [20, 30]}), pd.DataFrame({"age": [40]})
    >>> StackedTables([people, others])["age"].tolist()
    [20, 30, 40]
    """

    def __init__(
        self, tables: Sequence[pd.DataFrame], rows: NDArray[np.intp] | None = None
    ) -> None:
        self._tables, self._rows = tables, rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(map(len, self._tables)) if self._rows is None else len(self._rows)

    def __getitem__(self, name: str) -> pd.Series:
        """Return one column."""
        import pandas as pd

        column = pd.concat([table[name] for table in self._tables], ignore_index=True)
        return column if self._rows is None else column.iloc[self._rows]


def moved(places: Places, start: int) -> Places:
    """Return places in a table as places among the rows of several.

    Parameters
    ----------
    places : range from 0, or ndarray of intp
        Rows of the table.
    start : int
        Rows of the tables before it.

    Returns
    -------
    range or ndarray of intp

    Examples
    --------
    >>> from evalkit.quantities_stacked import moved
    >>> moved(range(3), 10)
    range(10, 13)
    """
    if isinstance(places, range):
        return range(start, start + len(places))
    return places + start
