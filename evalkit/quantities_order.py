"""Rows in an order of content, and samples of them, without sorting a table for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import finalize

from evalkit.persons import Persons
from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.release import Release

LARGE = 50_000
"""Rows from which an order is kept: it takes 8 bytes a row, as long as the table lives."""

_ORDERS: dict[int, NDArray[np.intp]] = {}


def order_of(frame: pd.DataFrame, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the order of the rows by the content of the columns `names`, sorted by name.

    Parameters
    ----------
    frame : DataFrame
        A table of a release: its cells never change.
    names : sequence of str
        Columns to order by, at least one.

    Returns
    -------
    ndarray of intp, shape (rows,)
        Missing numbers come last, missing levels first. Found once for all columns of a large
        table; do not write into it.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_order import order_of
    >>> order_of(pd.DataFrame({"age": [40, 20, 30]}), ["age"])
    array([1, 2, 0])
    """
    if len(frame) < LARGE or len(set(names)) < len(frame.columns):
        return content_order(_columns(frame, names))
    if id(frame) not in _ORDERS:
        order = content_order(_columns(frame, names))
        order.flags.writeable = False
        _ORDERS[id(frame)] = order
        finalize(frame, _ORDERS.pop, id(frame), None)
    return _ORDERS[id(frame)]


def drawn_rows(
    release: Release, table: str, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Persons]:
    """Return the rows of a table, or about `most` of them, in an order of content.

    Parameters
    ----------
    release : Release
        The tables.
    table : str
        ``"original"``, ``"avatars"`` or ``"holdout"``, or ``"working"``, ``"working_avatars"`` or
        ``"reference"``.
    most : int
        Rows to keep; whole persons are drawn where these have several rows.
    rng : numpy.random.Generator
        Left as it is where all rows are kept.

    Returns
    -------
    rows : ndarray of intp
        The same records for any order of rows and columns.
    persons : Persons
        Whose these rows are. A row that is a person of its own is numbered by its content.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd, evalkit
    >>> from evalkit.quantities_order import drawn_rows
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 5})
    >>> rows, _ = drawn_rows(evalkit.load(table, table), "original", 3, np.random.default_rng(0))
    >>> len(rows)
    3
    """
    frame, persons = getattr(release, table), release.persons_of(table)
    rows = persons.drawn(order_of(frame, tuple(frame.columns)), most, rng)
    whose = Persons.one_row_each(len(rows)) if persons.are_rows else persons.part(rows)
    return rows, whose


def _columns(frame: pd.DataFrame, names: Sequence[str]) -> list[NDArray[np.generic]]:
    """Return the cells of the columns as they lie in memory, levels as their small codes."""
    columns = []
    for name in sorted(names):
        column = frame[name]
        columns.append(
            column.cat.codes.to_numpy() if column.dtype == "category" else column.to_numpy()
        )
    return columns
