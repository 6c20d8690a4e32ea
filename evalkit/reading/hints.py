"""What a reader may have meant by the cells of a column: an option to name in each case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.messages import say
from evalkit.reading.cells import (
    MISSING_MARKS,
    MISSING_WORDS,
    all_match,
    are_numbers,
    equals_any,
    form_of,
    trimmed,
)
from evalkit.reading.dates import DURATION_FORMS, TWO_DIGIT_YEAR, day_order, to_seconds
from evalkit.reading.identifiers import are_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.inference import Reading

TWO = 2


def hints(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn], reading: Reading
) -> list[Message]:
    """Return what else the cells of a used column may mean, with the option that says so.

    Parameters
    ----------
    name : str
    tables : mapping of role to TextTable
    columns : mapping of role to TextColumn
        Missing cells empty; a table that lacks an ignored column is absent.
    reading : Reading

    Returns
    -------
    list of Message
    """
    return [
        *_missing_marks(name, tables, columns, reading),
        *_two_numbers(name, reading, tables["original"].decimals[name]),
        *_codes(name, reading),
        *_lengths(name, reading),
        *_short_years(name, reading),
    ]


def words_read(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    reading: Reading,
) -> list[Message]:
    """Return how NA, nan and the like were read, counted by table; parameters as in `hints`."""

    def words(role: str) -> int:
        column = tables[role].columns[name]
        return column.cells(equals_any(trimmed(column.texts), MISSING_WORDS))

    counts = _counted(tables, columns, words)
    if not counts:
        return []
    if reading.words_missing:
        template = "Column {column}: NA, nan and the like are read as missing ({counts})."
        return [say("words_missing", template, column=name, counts=counts)]
    template = (
        "Column {column}: NA, nan and the like are levels of their own ({counts}). If they stand "
        "for missing, name them with --missing."
    )
    return [say("words_as_levels", template, column=name, counts=counts)]


def mixture(name: str, reading: Reading, decimal: str) -> list[Message]:
    """Return counts by type for a column in which some cells are numbers or dates, not all."""
    column = reading.column
    if reading.declared or reading.type not in {"categorical", "text"}:
        return []
    texts = trimmed(column.texts)
    numbers = are_numbers(texts, decimal)
    dates = ~numbers & ~np.isnan(to_seconds(texts, day_first=day_order(texts) is not False))
    others = ~numbers & ~dates
    if not others.any() or others.all():
        return []
    counts, row = column.counts(), column.first_row(others)
    template = (
        "Column {column} holds {numbers:,} numbers, {dates:,} dates and {others:,} other cells, so "
        "it is read as {type}; the first other cell has the form {form}. If such cells stand for "
        "missing, name them with --missing."
    )
    values = {
        "numbers": int(counts[numbers].sum()),
        "dates": int(counts[dates].sum()),
        "others": int(counts[others].sum()),
        "type": {"text": "text"}.get(reading.type, "categories"),
        "form": form_of(column.text(int(column.codes[row - 1]))),
    }
    return [say("mixed_types", template, column=name, **values)]


def _missing_marks(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    reading: Reading,
) -> list[Message]:
    """Return the note on levels such as ? that may stand for missing, one for each mark."""
    if reading.type != "categorical":
        return []
    template = (
        "Column {column}: {mark} is a level of its own ({counts}). If it stands for missing, say "
        "so with --missing '{mark}'."
    )
    notes = []
    for mark in MISSING_MARKS:

        def cells(role: str, mark: str = mark) -> int:
            column = columns[role]
            return column.cells(equals_any(trimmed(column.texts), frozenset({mark})))

        counts = _counted(tables, columns, cells)
        if counts:
            notes.append(say("mark_as_level", template, column=name, mark=mark, counts=counts))
    return notes


def _two_numbers(name: str, reading: Reading, decimal: str) -> list[Message]:
    """Return the note on a column of two whole numbers, such as 0 and 1 for no and yes."""
    if reading.type != "numeric" or reading.declared or len(reading.column.texts) != TWO:
        return []
    if not are_whole(reading.column, decimal):
        return []
    template = (
        "Column {column} holds two whole numbers and is read as a number. If they are codes, such "
        "as 0 and 1 for no and yes, declare it with --categorical."
    )
    return [say("two_numbers", template, column=name)]


def _codes(name: str, reading: Reading) -> list[Message]:
    """Return the note on numbers that are read as codes, since no number keeps them."""
    if reading.type != "categorical" or reading.declared:
        return []
    texts = trimmed(reading.column.texts)
    if not (len(texts) and all_match(texts, r"\d+")):
        return []
    template = (
        "Column {column}: numbers that start with zeros, or are too long for a number, are read as "
        "codes. If they are numbers, declare the column with --numeric."
    )
    return [say("read_as_codes", template, column=name)]


def _short_years(name: str, reading: Reading) -> list[Message]:
    """Return a warning on dates whose century is left open."""
    texts = trimmed(reading.column.texts)
    short = len(texts) and all_match(texts, TWO_DIGIT_YEAR)
    if not short or reading.type not in {"categorical", "datetime"}:
        return []
    if reading.type == "datetime":
        template = (
            "Column {column}: years of two digits are read as 1969 to 2068; write them with four "
            "digits to be sure."
        )
        return [say("short_years_read", template, column=name)]
    template = (
        "Column {column} looks like dates with years of two digits and is read as categories; "
        "declare it with --datetime, or write the years with four digits."
    )
    return [say("short_years", template, column=name)]


def _lengths(name: str, reading: Reading) -> list[Message]:
    """Return the note that lengths of time count in seconds."""
    if reading.type != "datetime" or reading.date_forms != DURATION_FORMS:
        return []
    template = "Column {column} holds lengths of time; they count in seconds."
    return [say("durations", template, column=name)]


def _counted(
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    count: Callable[[str], int],
) -> dict[str, int]:
    """Return the count of each table that has one."""
    counts = {tables[role].label: count(role) for role in columns}
    return {label: number for label, number in counts.items() if number}
