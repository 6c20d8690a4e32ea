"""One column of all tables, from text to the cells that metrics read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.messages import say
from evalkit.reading.cells import (
    MISSING_WORDS,
    equals_any,
    form_of,
    to_numbers,
    trimmed,
    without_marks,
)
from evalkit.reading.dates import DURATION_FORMS, day_order, has_open_order, to_seconds
from evalkit.reading.levels import shared_levels

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.inference import Reading
    from evalkit.reading.options import ReadingOptions

LARGEST_EXACT_FLOAT = 2.0**53


def settled_columns(
    name: str, tables: Mapping[str, TextTable], reading: Reading, options: ReadingOptions
) -> dict[str, TextColumn]:
    """Return the column of each table that has it, with its missing cells empty."""
    columns = {}
    for role, table in tables.items():
        if name not in table.columns:
            continue
        column = without_marks(table.columns[name], options.missing, table.decimals[name])
        if reading.words_missing:
            column = column.without(equals_any(trimmed(column.texts), MISSING_WORDS))
        columns[role] = column
    return columns


def converted(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn], reading: Reading
) -> tuple[dict[str, Any], list[Message]]:
    """Return one column of each table as the metrics read it, and notes.

    Parameters
    ----------
    name : str
    tables : mapping of role to TextTable
    columns : mapping of role to TextColumn
        The columns of that name, missing cells empty.
    reading : Reading
        Its type.

    Returns
    -------
    cells : dict of role to array or pandas.Categorical
        int64 or float64 for numbers and dates, categories shared by all tables otherwise.
    notes : list of Message

    Raises
    ------
    evalkit.InputError
        If a cell is no number or date in a column of numbers or dates.
    """
    if reading.type == "numeric":
        return _numbers(name, tables, columns)
    if reading.type == "datetime":
        return _dates(name, tables, columns, reading.date_forms)
    labels = {role: tables[role].label for role in columns}
    return shared_levels(name, labels, columns, truth=reading.type == "boolean")


def _numbers(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn]
) -> tuple[dict[str, Any], list[Message]]:
    """Return a column of numbers; infinities are counted and read as missing."""
    import numpy as np

    floats: dict[str, npt.NDArray[np.float64]] = {}
    integers: dict[str, npt.NDArray[np.int64] | None] = {}
    infinite: dict[str, int] = {}
    for role, column in columns.items():
        table = tables[role]
        values, integers[role] = to_numbers(trimmed(column.texts), table.decimals[name])
        _refuse_bad(name, table.label, column, np.isnan(values), "number")
        endless = np.isinf(values)
        if endless.any():
            infinite[table.label] = column.cells(endless)
        floats[role] = np.where(endless, np.nan, values)
    _refuse_wide_range(name, {tables[role].label: values for role, values in floats.items()})
    return _as_numbers(columns, floats, integers), _infinity_notes(name, infinite)


def _refuse_wide_range(name: str, floats: Mapping[str, npt.NDArray[np.float64]]) -> None:
    """Refuse numbers so far apart, over all tables, that their difference is no float."""
    import numpy as np

    filled = {label: values[~np.isnan(values)] for label, values in floats.items()}
    ends = {label: (float(v.min()), float(v.max())) for label, v in filled.items() if len(v)}
    if not ends:
        return
    lows, highs = zip(*ends.values(), strict=True)
    if np.isinf(max(highs) - min(lows)):
        label = max(ends, key=lambda one: max(map(abs, ends[one])))
        message = (
            f"{label}, column {name!r}: holds numbers too far apart to compute with; correct "
            "them, name the mark of a missing cell with --missing, or --ignore the column."
        )
        raise InputError(message)


def _infinity_notes(name: str, counts: Mapping[str, int]) -> list[Message]:
    """Return the note on infinite cells, counted by table."""
    if not counts:
        return []
    template = "Column {column}: infinite cells are read as missing ({counts})."
    return [say("infinite", template, column=name, counts=dict(counts))]


def _dates(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    forms: tuple[str, ...],
) -> tuple[dict[str, Any], list[Message]]:
    """Return a column of dates as seconds; each table may write them in its own way."""
    import numpy as np

    texts = {role: trimmed(column.texts) for role, column in columns.items()}
    orders = {role: day_order(cells) for role, cells in texts.items()}
    shown = [order for order in orders.values() if order is not None]
    floats: dict[str, npt.NDArray[np.float64]] = {}
    for role, column in columns.items():
        order = orders[role]
        day_first = order if order is not None else shown[0] if shown else True
        floats[role] = to_seconds(texts[role], day_first=day_first, forms=forms)
        kind = "length of time" if forms == DURATION_FORMS else "date"
        _refuse_bad(name, tables[role].label, column, np.isnan(floats[role]), kind)
    open_order = not shown and any(has_open_order(cells) for cells in texts.values())
    notes = _date_notes(name, tables, columns, open_order=open_order)
    return _as_numbers(columns, floats, dict.fromkeys(columns)), notes


def _date_notes(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    *,
    open_order: bool,
) -> list[Message]:
    """Return notes on dates that could be read in two ways or are written in several."""
    notes = []
    if open_order:
        template = (
            "Column {column}: no date tells whether day or month comes first; the day was taken. "
            "Write the dates as 2021-12-31 to be sure."
        )
        notes.append(say("day_first_assumed", template, column=name))
    firsts = {
        role: form_of(column.text(0)) for role, column in columns.items() if len(column.texts)
    }
    if len(set(firsts.values())) > 1:
        template = "Column {column}: the tables write dates in different forms ({forms})."
        forms = {tables[role].label: form for role, form in firsts.items()}
        notes.append(say("date_forms_differ", template, column=name, forms=forms))
    return notes


def _as_numbers(
    columns: Mapping[str, TextColumn],
    floats: Mapping[str, npt.NDArray[np.float64]],
    integers: Mapping[str, npt.NDArray[np.int64] | None],
) -> dict[str, Any]:
    """Return int64 where every cell of every table is a filled whole number, else float64."""
    import numpy as np

    filled = all(bool((column.codes >= 0).all()) for column in columns.values())
    exact = {role: values for role, values in integers.items() if values is not None}
    if filled and len(exact) == len(columns):
        return {role: values[columns[role].codes] for role, values in exact.items()}
    whole = filled and all(
        bool((values == np.floor(values)).all() and (np.abs(values) <= LARGEST_EXACT_FLOAT).all())
        for values in floats.values()
    )
    cells: dict[str, Any] = {
        role: np.append(values, np.nan)[columns[role].codes] for role, values in floats.items()
    }
    return {role: values.astype(np.int64) for role, values in cells.items()} if whole else cells


def _refuse_bad(
    name: str, label: str, column: TextColumn, bad: npt.NDArray[np.bool_], kind: str
) -> None:
    """Refuse the first cell that is no number or no date, by its form."""
    if not bad.any():
        return
    row = column.first_row(bad)
    form = form_of(column.text(int(column.codes[row - 1])))
    message = (
        f"{label}, column {name!r}, row {row} (header not counted): {form!r} (digits as 9, letters "
        f"as a, other signs as ~) is no {kind}; "
        "correct it, name it with --missing, or give the column a type, such as --categorical."
    )
    raise InputError(message)
