"""What a reader must know about one column: why it is left out, what is missing, what is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.messages import say
from evalkit.reading.cells import MISSING_WORDS, are_numbers, equals_any, form_of, matches, trimmed
from evalkit.reading.dates import TWO_DIGIT_YEAR, day_order, to_seconds
from evalkit.reading.identifiers import all_differ, are_whole, shared_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.inference import Reading

SHOWN_DIFFERENCE = 0.01


def column_notes(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn], reading: Reading
) -> list[Message]:
    """Return what is to be said about a column before its cells are converted.

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
    decimal = tables["original"].decimals[name]
    notes = _exclusion(name, columns, reading, decimal)
    if not reading.used and reading.type not in {"text", "empty"} and not reading.identifier:
        return notes
    notes += _words(name, tables, columns, reading)
    notes += _blanks(name, columns)
    notes += _missing_shares(name, tables, columns)
    notes += _mixture(name, reading, decimal)
    if reading.used:
        notes += _single_values(name, tables, columns)
        notes += _leading_zeros(name, reading)
        notes += _short_years(name, reading)
    return notes


def _exclusion(
    name: str, columns: Mapping[str, TextColumn], reading: Reading, decimal: str
) -> list[Message]:
    """Return why a column is left out, or might have to be."""
    if reading.identifier:
        return _identifier(name, columns, reading)
    if reading.type == "empty":
        return [say("empty_left_out", "Column {column} is empty and left out.", column=name)]
    if not reading.used and reading.type == "text":
        template = (
            "Column {column} is text ({levels:,} different cells) and left out; "
            "declare it with --categorical if it should count."
        )
        return [say("text_left_out", template, column=name, levels=len(reading.column.texts))]
    if not reading.used:
        return [say("ignored", "Column {column} is left out as asked.", column=name)]
    undecided = reading.type == "numeric" and not reading.declared
    if undecided and all_differ(reading.column) and are_whole(reading.column, decimal):
        template = (
            "Column {column}: every whole number occurs once. If it is an identifier, leave it "
            "out with --ignore."
        )
        return [say("all_different", template, column=name)]
    return []


def _identifier(name: str, columns: Mapping[str, TextColumn], reading: Reading) -> list[Message]:
    """Return the notes on a column that looks like a key of persons."""
    template = "Column {column} looks like an identifier and is left out of every metric."
    if reading.used:
        template = "Column {column} looks like an identifier; it is used all the same, as asked."
    notes = [say("identifier", template, column=name)]
    shared = shared_values(columns["original"], columns["avatars"]) if "avatars" in columns else 0
    if shared:
        template = (
            "Privacy warning: {shared:,} of the {levels:,} values of the identifier {column} occur "
            "among the avatars."
        )
        values = {"shared": shared, "levels": len(reading.column.texts), "column": name}
        notes.append(say("identifier_shared", template, **values))
    return notes


def _words(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    reading: Reading,
) -> list[Message]:
    """Return how NA, nan and the like were read, counted by table."""

    def words(role: str) -> int:
        column = tables[role].columns[name]
        return int(column.counts()[equals_any(trimmed(column.texts), MISSING_WORDS)].sum())

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


def _blanks(name: str, columns: Mapping[str, TextColumn]) -> list[Message]:
    """Return how many cells hold nothing but blanks."""
    cells = sum(column.blanks for column in columns.values())
    if not cells:
        return []
    template = "Column {column}: {cells:,} cells hold only blanks and are read as missing."
    return [say("blank_cells", template, column=name, cells=cells)]


def _missing_shares(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn]
) -> list[Message]:
    """Return the share of missing cells of each table where the tables differ."""
    shares = {role: float((column.codes < 0).mean()) for role, column in columns.items()}
    low, high = min(shares.values()), max(shares.values())
    # A table without a missing cell beside one that has some is a difference of kind.
    if high - low < SHOWN_DIFFERENCE and (low > 0 or high == low):
        return []
    template = "Column {column}: missing cells differ ({shares})."
    shown = [f"{tables[role].label} {100 * share:.1f} %" for role, share in shares.items()]
    return [say("missing_differs", template, column=name, shares=shown)]


def _single_values(
    name: str, tables: Mapping[str, TextTable], columns: Mapping[str, TextColumn]
) -> list[Message]:
    """Return the tables in which a used column is empty or holds one value."""
    notes = []
    for code, count, template in (
        ("column_empty", 0, "Column {column} is empty in {tables}."),
        ("column_constant", 1, "Column {column} holds a single value in {tables}."),
    ):
        labels = [
            tables[role].label for role, column in columns.items() if len(column.texts) == count
        ]
        if labels:
            notes.append(say(code, template, column=name, tables=labels))
    return notes


def _mixture(name: str, reading: Reading, decimal: str) -> list[Message]:
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
        "it is read as {type}; the first other cell, in row {row:,}, has the form {form}. If such "
        "cells stand for missing, name them with --missing."
    )
    values = {
        "numbers": int(counts[numbers].sum()),
        "dates": int(counts[dates].sum()),
        "others": int(counts[others].sum()),
        "type": {"text": "text"}.get(reading.type, "categories"),
        "row": row,
        "form": form_of(column.texts[int(column.codes[row - 1])].as_py()),
    }
    return [say("mixed_types", template, column=name, **values)]


def _leading_zeros(name: str, reading: Reading) -> list[Message]:
    """Return a warning on numbers written like codes, such as 007."""
    if reading.type != "numeric" or reading.declared:
        return []
    if not matches(trimmed(reading.column.texts), r"0\d+").any():
        return []
    template = (
        "Column {column}: some numbers start with zeros, as codes do. If they are codes, declare "
        "the column with --categorical."
    )
    return [say("leading_zeros", template, column=name)]


def _short_years(name: str, reading: Reading) -> list[Message]:
    """Return a warning on dates whose century is left open: they are not read as dates."""
    if (
        reading.type != "categorical"
        or not matches(trimmed(reading.column.texts), TWO_DIGIT_YEAR).all()
    ):
        return []
    template = (
        "Column {column} looks like dates with years of two digits and is read as categories; "
        "write the years with four digits."
    )
    return [say("short_years", template, column=name)]


def _counted(
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    count: Callable[[str], int],
) -> list[str]:
    """Return the count of each table that has one, in words."""
    counts = {tables[role].label: count(role) for role in columns}
    return [f"{number:,} in {label}" for label, number in counts.items() if number]
