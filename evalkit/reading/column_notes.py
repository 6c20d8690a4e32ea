"""What a reader must know about one column: why it is left out, what is missing, what is odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.messages import say
from evalkit.reading.hints import hints, mixture, words_read
from evalkit.reading.identifiers import (
    all_differ,
    are_whole,
    is_repeated_key,
    shared_values,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    if reading.individual:
        return notes
    if not reading.used and reading.type not in {"text", "empty"} and not reading.identifier:
        return notes
    notes += words_read(name, tables, columns, reading)
    notes += _blanks(name, columns)
    notes += _missing_shares(name, tables, columns)
    notes += mixture(name, reading, decimal)
    notes += _repeated_key(name, reading)
    if reading.used:
        notes += _single_values(name, tables, columns)
        notes += hints(name, tables, columns, reading)
    return notes


def _exclusion(
    name: str, columns: Mapping[str, TextColumn], reading: Reading, decimal: str
) -> list[Message]:
    """Return why a column is left out, or might have to be."""
    asked = [say("ignored", "Column {column} is left out as asked.", column=name)]
    if reading.identifier:
        left_out = asked if reading.ignored and not reading.individual else []
        return [*left_out, *_identifier(name, columns, reading)]
    if reading.ignored:
        return asked
    if reading.type == "empty":
        return [say("empty_left_out", "Column {column} is empty and left out.", column=name)]
    if not reading.used and reading.type == "text":
        template = (
            "Column {column} is text ({levels:,} different cells) and left out; "
            "declare it with --categorical if it should count."
        )
        return [say("text_left_out", template, column=name, levels=len(reading.column.texts))]
    undecided = reading.type == "numeric" and not reading.declared
    if undecided and all_differ(reading.column) and are_whole(reading.column, decimal):
        template = (
            "Column {column}: every whole number occurs once. If it is an identifier, leave it "
            "out with --ignore."
        )
        return [say("all_different", template, column=name)]
    return []


def _repeated_key(name: str, reading: Reading) -> list[Message]:
    """Return that a used column may be the key of persons with several rows."""
    if reading.used and not reading.declared and is_repeated_key(name, reading.column):
        template = (
            "Column {column} is named like a key and stands in several rows. If it is the key of "
            "persons, name it with --individual: persons are then counted, not rows."
        )
        return [say("repeated_key", template, column=name)]
    return []


def _identifier(name: str, columns: Mapping[str, TextColumn], reading: Reading) -> list[Message]:
    """Return the notes on a column that looks like a key of persons."""
    template = "Column {column} looks like an identifier and is left out of every metric."
    if reading.used:
        template = "Column {column} looks like an identifier; it is used all the same, as asked."
    variant = "used" if reading.used else "left_out"
    notes = [say("identifier", template, column=name, variant=variant)]
    if reading.individual:
        template = "Column {column} says which rows belong to one person; no metric sees it."
        notes = [say("personal_key", template, column=name)]
    shared = shared_values(columns["original"], columns["avatars"]) if "avatars" in columns else 0
    if shared:
        template = (
            "Privacy warning: {shared:,} of the {levels:,} values of the identifier {column} occur "
            "among the avatars."
        )
        values = {"shared": shared, "levels": len(reading.column.texts), "column": name}
        notes.append(say("identifier_shared", template, **values))
    return notes


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
    shown = {tables[role].label: 100 * share for role, share in shares.items()}
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
