"""One column of all tables, from text to the cells that metrics read."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from evalkit.cells import MISSING_WORDS, TRUTH, equals_any, form_of, to_numbers, trimmed
from evalkit.dates import day_order, to_seconds
from evalkit.errors import InputError
from evalkit.inference import forms_for
from evalkit.messages import Message, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    from evalkit.arrow_columns import TextColumn
    from evalkit.inference import Reading
    from evalkit.reading import TextTable
    from evalkit.reading_options import ReadingOptions

LARGEST_EXACT_FLOAT = 2.0**53
_ONE_ZERO = {"1": "True", "0": "False"}


def settled_columns(
    name: str, tables: Mapping[str, TextTable], reading: Reading, options: ReadingOptions
) -> dict[str, TextColumn]:
    """Return the column of each table with its missing cells empty."""
    columns = {}
    for role, table in tables.items():
        column = table.columns[name]
        column = column.without(equals_any(trimmed(column.texts), options.missing))
        if reading.words_missing:
            column = column.without(equals_any(trimmed(column.texts), MISSING_WORDS))
        columns[role] = column
    return columns


def converted(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    reading: Reading,
    options: ReadingOptions,
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
    options : ReadingOptions

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
        return _dates(name, tables, columns, reading, options.types.get(name))
    return _levels(name, columns, truth=reading.type == "boolean")


def _numbers(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn]
) -> tuple[dict[str, Any], list[Message]]:
    """Return a column of numbers; infinities are counted and read as missing."""
    import numpy as np

    floats: dict[str, npt.NDArray[np.float64]] = {}
    integers: dict[str, npt.NDArray[np.int64] | None] = {}
    infinite: dict[str, int] = {}
    for role, column in columns.items():
        texts = trimmed(column.texts)
        values, whole = to_numbers(texts, tables[role].decimals[name])
        _refuse_bad(name, tables[role].label, column, np.isnan(values), "number")
        endless = np.isinf(values)
        if endless.any():
            infinite[tables[role].label] = int(column.counts()[endless].sum())
            values = np.where(endless, np.nan, values)
        floats[role], integers[role] = values, whole
    cells = _as_numbers(columns, floats, integers)
    if not infinite:
        return cells, []
    template = "Column {column}: infinite cells are read as missing ({tables})."
    counts = [f"{count:,} in {label}" for label, count in infinite.items()]
    return cells, [say("infinite", template, column=name, tables=counts)]


def _dates(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    reading: Reading,
    declared: str | None,
) -> tuple[dict[str, Any], list[Message]]:
    """Return a column of dates as seconds; each table may write them in its own way."""
    import numpy as np

    orders = {role: day_order(trimmed(column.texts)) for role, column in columns.items()}
    known = [order for order in orders.values() if order is not None]
    default = known[0] if known else True
    floats: dict[str, npt.NDArray[np.float64]] = {}
    for role, column in columns.items():
        order = orders[role] if orders[role] is not None else default
        forms = forms_for(declared)
        seconds = to_seconds(trimmed(column.texts), day_first=bool(order), forms=forms)
        _refuse_bad(name, tables[role].label, column, np.isnan(seconds), "date")
        floats[role] = seconds
    return _as_numbers(columns, floats, dict.fromkeys(columns)), []


def _as_numbers(
    columns: Mapping[str, TextColumn],
    floats: Mapping[str, npt.NDArray[np.float64]],
    integers: Mapping[str, npt.NDArray[np.int64] | None],
) -> dict[str, Any]:
    """Return int64 where every cell of every table is a filled whole number, else float64."""
    import numpy as np

    filled = all(bool((column.codes >= 0).all()) for column in columns.values())
    if filled and all(whole is not None for whole in integers.values()):
        return {role: _at(whole, columns[role]) for role, whole in integers.items()}
    whole = filled and all(
        bool((values == np.floor(values)).all() and (np.abs(values) <= LARGEST_EXACT_FLOAT).all())
        for values in floats.values()
    )
    if whole:
        return {
            role: _at(values.astype(np.int64), columns[role]) for role, values in floats.items()
        }
    return {role: np.append(v, np.nan)[columns[role].codes] for role, v in floats.items()}


def _at(values: Any, column: TextColumn) -> Any:
    """Return the value of each row of a column without missing cells."""
    return values[column.codes]


def _refuse_bad(
    name: str, label: str, column: TextColumn, bad: npt.NDArray[np.bool_], kind: str
) -> None:
    """Refuse the first cell that is no number or no date, by its form."""
    if not bad.any():
        return
    row = column.first_row(bad)
    form = form_of(column.texts[int(column.codes[row - 1])].as_py())
    message = (
        f"{label}, column {name!r}, row {row}: {form!r} (digits as 9, letters as a) is no {kind}; "
        "correct it, name it with --missing, or give the column a type, such as --categorical."
    )
    raise InputError(message)


def _levels(
    name: str, columns: Mapping[str, TextColumn], *, truth: bool
) -> tuple[dict[str, Any], list[Message]]:
    """Return a column of categories; every table has the same sorted list of levels."""
    import numpy as np
    import pandas as pd

    known = _distinct(_truth_texts(columns["original"].texts, truth=truth))
    named = {}
    for role, column in columns.items():
        texts = _truth_texts(column.texts, truth=truth)
        named[role] = texts if role == "original" else _matched(texts, known, truth=truth)
    levels = sorted({level for texts in named.values() for level in texts})
    places = {level: place for place, level in enumerate(levels)}
    cells = {}
    for role, column in columns.items():
        codes = np.array([*(places[level] for level in named[role]), -1], dtype=np.int32)
        cells[role] = pd.Categorical.from_codes(
            codes[column.codes], categories=pd.Index(levels, dtype=str)
        )
    return cells, []


def _truth_texts(texts: pa.Array, *, truth: bool) -> list[str]:
    """Return texts, with every form of true and false made one where the column is boolean."""
    cells: list[str] = texts.to_pylist()
    return [TRUTH.get(cell.strip().lower(), cell) for cell in cells] if truth else cells


def _distinct(texts: list[str]) -> dict[str, str]:
    """Return the levels of the originals by their comparable form, where only one has it."""
    found: dict[str, set[str]] = {}
    for text in set(texts):
        found.setdefault(_comparable(text), set()).add(text)
    alone = {form: levels.pop() for form, levels in found.items() if len(levels) == 1}
    return alone | {text: text for text in texts}


def _matched(texts: list[str], known: Mapping[str, str], *, truth: bool) -> list[str]:
    """Return each text, or the originals' level that says the same."""
    found = []
    for text in texts:
        plain = known.get(text) or known.get(_comparable(text))
        if plain is None and truth:
            plain = _ONE_ZERO.get(_comparable(text))
        found.append(text if plain is None else plain)
    return found


def _comparable(text: str) -> str:
    """Return a text without outer blanks, in composed form, a number by its value."""
    plain = unicodedata.normalize("NFC", text.strip())
    try:
        return format(float(plain.replace(",", ".")), "r") if plain[-1:].isdigit() else plain
    except ValueError:
        return plain
