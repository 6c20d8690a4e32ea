"""A table without a line of names: its first record, a person, would become the names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.messages import say
from evalkit.reading.cells import equals_any, to_numbers, trimmed
from evalkit.reading.dates import day_order, may_be_dates, to_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from evalkit.messages import Message
    from evalkit.reading.arrow_columns import TextColumn

FEWEST_LIKE_CELLS = 2


def header_notes(label: str, names: Sequence[str], columns: Sequence[TextColumn]) -> list[Message]:
    """Return a note on one name that looks like a cell; refuse a table with several.

    A name looks like a cell if it is a number above numbers, a date above dates, or one of
    several values of its own column, there at least twice. Numbers that grow by one step, such as
    years, are names. A name that may be a cell is never part of a message.

    Parameters
    ----------
    label : str
        How messages call the table.
    names : sequence of str
        As they stand in the table, repeats included.
    columns : sequence of TextColumn
        In the same order.

    Returns
    -------
    list of Message

    Raises
    ------
    evalkit.InputError
        If two names, or the only one, look like cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.missing_header import header_notes
    >>> header_notes("a.csv", ["age"], [from_arrow(pa.array(["31", "40"]))])
    []
    """
    pairs = list(zip(names, columns, strict=True))
    numbers = [name for name, column in pairs if _is_number_above_numbers(name, column)]
    no_numbers = not numbers or _grow_evenly(numbers)
    places = [
        place
        for place, (name, column) in enumerate(pairs, start=1)
        if (name in numbers and not no_numbers)
        or _is_date_above_dates(name, column)
        or _is_own_value(name, column)
    ]
    if places and len(places) >= min(FEWEST_LIKE_CELLS, len(names)):
        message = (
            f"{label}: seems to have no header: {len(places)} of {len(names)} column names are "
            "numbers, dates or values of their own column; put a line with names first."
        )
        raise InputError(message)
    template = (
        "{table}: the name of column {place} looks like a cell. If the table has no header, its "
        "first record was taken for the names; put a line with names first."
    )
    return [say("name_like_cell", template, table=label, place=place) for place in places]


def _is_number_above_numbers(name: str, column: TextColumn) -> bool:
    """Return whether name and filled cells all are numbers."""
    return any(
        _all_numbers(_one(name), mark) and _all_numbers(trimmed(column.texts), mark)
        for mark in (".", ",")
    )


def _all_numbers(texts: pa.Array, decimal: str) -> bool:
    """Return whether there are texts and all of them are finite numbers."""
    import numpy as np

    return len(texts) > 0 and bool(np.isfinite(to_numbers(texts, decimal)[0]).all())


def _is_date_above_dates(name: str, column: TextColumn) -> bool:
    """Return whether name and filled cells all are dates."""
    return _all_dates(_one(name)) and _all_dates(trimmed(column.texts))


def _all_dates(texts: pa.Array) -> bool:
    """Return whether there are texts and all of them are dates."""
    import numpy as np

    if not len(texts) or not may_be_dates(texts).all():
        return False
    return not np.isnan(to_seconds(texts, day_first=day_order(texts) is not False)).any()


def _is_own_value(name: str, column: TextColumn) -> bool:
    """Return whether the name is one of several values of its column, there more than once.

    A ticked box is often exported as its own name above cells that are the same or empty, and a
    header in the middle of joined files is there once.
    """
    own = equals_any(column.texts, frozenset({name}))
    return len(own) > 1 and bool(own.any()) and bool(column.counts()[own][0] > 1)


def _grow_evenly(names: Sequence[str]) -> bool:
    """Return whether names are whole numbers that grow by one step, by 1 if there are two."""
    import numpy as np
    import pyarrow as pa

    if len(names) < FEWEST_LIKE_CELLS:
        return False
    steps = np.diff(to_numbers(pa.array(names, pa.string()), ".")[0])
    whole = all(name.isdecimal() for name in names)
    few = len(names) == FEWEST_LIKE_CELLS
    return whole and bool((steps == steps[0]).all() and steps[0] > 0) and (steps[0] == 1 or not few)


def _one(name: str) -> pa.Array:
    """Return a name as texts."""
    import pyarrow as pa

    return pa.array([name], pa.string())
