"""Rows in an order of content, and samples of them, without sorting a table for each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

import numpy as np

from evalkit.engine import limits
from evalkit.randomness import content_order, stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.release import Release

MOST_PREPARED: Final = 200_000
"""Rows of a table that are ranked for models: ten cuts of 20,000 rows have little in common."""
MOST_PREPARED_CELLS: Final = 20_000_000  # with over 100 columns fewer rows
FEWEST_PREPARED: Final = 20_000
MOST_ANALYSED: Final = 200_000
"""Rows of a table in a user's own analysis: its texts and matrices take some 100 bytes a cell."""
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
    return rows, persons.in_order(rows)


def some_of(order: NDArray[np.intp], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return all places of an order, or so many drawn at random where a run may draw any.

    Parameters
    ----------
    order : ndarray of intp
        Rows in an order of content.
    most : int
        How many are worth their time.
    rng : numpy.random.Generator
        Left as it is where all are kept.

    Returns
    -------
    ndarray of intp
        In that order; all of them with the limit that nothing is sampled.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_order import some_of
    >>> len(some_of(np.arange(100), 10, np.random.default_rng(0)))
    10
    """
    if len(order) <= most or limits().exact:
        return order
    return order[np.sort(rng.choice(len(order), most, replace=False))]


def analysed_rows(release: Release, seed: int) -> dict[str, NDArray[np.intp]]:
    """Return the rows of large tables that a user's analyses look at.

    Parameters
    ----------
    release : Release
        The tables.
    seed : int
        Of the scenario.

    Returns
    -------
    dict of str to ndarray of intp
        Of ``"original"``, ``"avatars"`` and ``"holdout"`` where these have over 200,000 rows:
        about so many, of whole persons. Empty with the limit that nothing is sampled.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.quantities_order import analysed_rows
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50]})
    >>> analysed_rows(evalkit.load(table, table), 0)
    {}
    """
    tables = {"original": "working", "avatars": "working_avatars", "holdout": "reference"}
    rng = stream(seed, "analyses")
    if limits().exact:
        return {}
    return {
        role: drawn_rows(release, name, MOST_ANALYSED, rng)[0]
        for role, name in tables.items()
        if len(getattr(release, name)) > MOST_ANALYSED
    }


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table, or a sample of one too large to be made ready for models as a whole.

    Attributes
    ----------
    frame : DataFrame
    rows : ndarray of intp, or slice
        Which rows of the whole table these are.
    persons : Persons
        Whose the rows are.
    """

    frame: pd.DataFrame
    rows: NDArray[np.intp] | slice
    persons: Persons


def most_prepared(columns: int) -> int:
    """Return from how many rows of a table models draw theirs at most.

    Examples
    --------
    >>> from evalkit.quantities_order import most_prepared
    >>> most_prepared(15), most_prepared(400)
    (200000, 50000)
    """
    return max(FEWEST_PREPARED, min(MOST_PREPARED, MOST_PREPARED_CELLS // max(1, columns)))


def prepared(
    frame: pd.DataFrame,
    persons: Persons,
    rng: np.random.Generator,
    target: NDArray[Any] | None = None,
    rows: int | None = None,
) -> Prepared:
    """Return a table as it is, or of a larger one than `most_prepared` a sample of its rows.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    persons : Persons
        Whose its rows are; whole persons are drawn.
    rng : numpy.random.Generator
        Draws from the rows in an order of content; left as it is where nothing is drawn.
    target : ndarray, optional, shape (rows,)
        What is to be guessed; of a large table rows without it are left out before the draw.
    rows : int, optional
        How many rows to draw from a large table; default `most_prepared`.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from evalkit.persons import Persons
    >>> from evalkit.quantities_order import prepared
    >>> table = pd.DataFrame({"age": [20, 30, 40]})
    >>> len(prepared(table, Persons.one_row_each(3), np.random.default_rng(0)).frame)
    3
    """
    most = most_prepared(len(frame.columns))
    if len(frame) <= most:
        return Prepared(frame, slice(None), persons)
    order = order_of(frame, tuple(frame.columns))
    if target is not None:
        order = order[~np.isnan(target)[order]]
    drawn = persons.drawn(order, most if rows is None else rows, rng)
    return Prepared(frame.iloc[drawn], drawn, persons.in_order(drawn))


def cut_from(ready: Sequence[Prepared], frames: Sequence[pd.DataFrame]) -> dict[str, int]:
    """Return as a fact from how many rows of a table models draw theirs, where not from all."""
    drawn = [
        len(one.frame) for one, frame in zip(ready, frames, strict=True) if one.frame is not frame
    ]
    return {"cut_from": max(drawn)} if drawn else {}


def _columns(frame: pd.DataFrame, names: Sequence[str]) -> list[NDArray[np.generic]]:
    """Return the cells of the columns as they lie in memory, levels as their small codes."""
    columns = []
    for name in sorted(names):
        column = frame[name]
        columns.append(
            column.cat.codes.to_numpy() if column.dtype == "category" else column.to_numpy()
        )
    return columns
