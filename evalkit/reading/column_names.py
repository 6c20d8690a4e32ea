"""Clean column names: text, trimmed, each once; and the column of row numbers dropped."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown, text
from evalkit.messages import say
from evalkit.reading.cells import all_match, trimmed
from evalkit.reading.missing_header import header_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.messages import Message
    from evalkit.reading.arrow_columns import TextColumn

LONGEST_NAME = 1000
SHOWN_START = 20
MOST_NAMES = 20
_NO_NAME = re.compile(r"(Unnamed: \d+(_level_\d+)?)?")


def clean_names(
    label: str, names: Sequence[Any], columns: Sequence[TextColumn]
) -> tuple[dict[str, TextColumn], list[Message]]:
    """Return the columns by clean name, and notes on what was changed.

    Parameters
    ----------
    label : str
        How messages call the table.
    names : sequence
        Names as read, text or not.
    columns : sequence of TextColumn
        In the same order.

    Returns
    -------
    columns : dict of str to TextColumn
    notes : list of Message

    Raises
    ------
    evalkit.InputError
        If two columns have one name, a column with cells has none, a name is longer than 1,000
        characters or no valid text, or the names seem to be the first record.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.column_names import clean_names
    >>> clean_names("a.csv", [" age "], [from_arrow(pa.array(["1"]))])[1][0].code
    'names_trimmed'
    """
    texts = [name if isinstance(name, str) else str(name) for name in names]
    clean = [name.strip() for name in texts]
    refuse_long_names(label, clean)
    # Names that are no text were made by a program: no line of a file was taken for them.
    read = [
        place
        for place, (name, given) in enumerate(zip(clean, names, strict=True))
        if isinstance(given, str) and not _NO_NAME.fullmatch(name)
    ]
    notes = header_notes(label, [clean[place] for place in read], [columns[i] for i in read])
    notes += _name_notes(label, names, texts, clean)
    kept: dict[str, TextColumn] = {}
    for place, (name, column) in enumerate(zip(clean, columns, strict=True), start=1):
        if not _NO_NAME.fullmatch(name):
            kept[name] = column
        elif not len(column.texts):
            notes.append(_empty_note(label, place))
        elif _is_row_number(column):
            notes.append(_index_note(label, place))
        else:
            message = f"{label}: column {place} has no name; give it one in the header."
            raise InputError(message)
    _refuse_repeats(label, clean)
    if not kept:
        message = f"{label}: has no column with a name; give a table with a header."
        raise InputError(message)
    return kept, notes


def refuse_long_names(label: str, names: Sequence[str]) -> None:
    """Refuse names that no report could print.

    Parameters
    ----------
    label : str
        How messages call the table.
    names : sequence of str
        In the order of the columns.

    Raises
    ------
    evalkit.InputError
        If a name has over 1,000 characters, or holds half a character.

    Examples
    --------
    >>> from evalkit.reading.column_names import refuse_long_names
    >>> refuse_long_names("a.csv", ["age", "sex"])
    """
    for place, name in enumerate(names, start=1):
        if len(name) > LONGEST_NAME:
            message = (
                f"{label}: the name of column {place} has over {LONGEST_NAME:,} characters, "
                f"starting {name[:SHOWN_START]!r}; shorten it, or close its quotation mark."
            )
            raise InputError(message)
        text(f"{label}, name of column {place}", name)


def _name_notes(
    label: str, names: Sequence[Any], texts: Sequence[str], clean: Sequence[str]
) -> list[Message]:
    """Return notes on names that were made text or trimmed."""
    notes = []
    made = [made for name, made in zip(names, texts, strict=True) if not isinstance(name, str)]
    if made:
        template = "{table}: column names that were no text were made text: {columns}."
        notes.append(say("names_made_text", template, table=label, columns=made))
    cut = [short for long, short in zip(texts, clean, strict=True) if long != short]
    if cut:
        template = "{table}: blanks around column names were removed: {columns}."
        notes.append(say("names_trimmed", template, table=label, columns=cut))
    return notes


def _empty_note(label: str, place: int) -> Message:
    """Return the note on a column without name and cells."""
    template = "{table}: column {place} has neither a name nor a filled cell and was dropped."
    return say("empty_column_dropped", template, table=label, place=place)


def _index_note(label: str, place: int) -> Message:
    """Return the note on a dropped column of row numbers."""
    template = "{table}: column {place} has no name and holds row numbers; it was dropped."
    return say("index_column_dropped", template, table=label, place=place)


def _is_row_number(column: TextColumn) -> bool:
    """Return whether a column holds a different whole number in each row."""
    filled = bool((column.codes >= 0).all())
    different = len(column.texts) == len(column.codes)
    return filled and different and all_match(trimmed(column.texts), r"\d+")


def _refuse_repeats(label: str, names: Sequence[str]) -> None:
    """Refuse names that more than one column has; nothing is renamed in silence."""
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        names_shown = ", ".join(map(shown, repeated[:MOST_NAMES]))
        message = f"{label}: several columns are called {names_shown}; give each its own name."
        raise InputError(message)
