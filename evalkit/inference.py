"""The type of each column, decided once from the originals or by the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.cells import (
    MISSING_WORDS,
    TRUTH,
    are_numbers,
    equals_any,
    form_of,
    to_numbers,
    trimmed,
)
from evalkit.dates import FORCED_FORMS, FORMS, day_order, to_seconds
from evalkit.messages import Message, say

if TYPE_CHECKING:
    import pyarrow as pa

    from evalkit.arrow_columns import TextColumn
    from evalkit.reading_options import ReadingOptions

FEWEST_TEXTS = 50
TEXT_SHARE = 0.9
_KEY_WORDS = frozenset(
    "id ids key code number no nr num nummer numero uid uuid guid identifier identifiant ident "
    "matricule index idx row ref reference cle schluessel ssn nir".split()
)
_KEY_ENDS = re.compile(
    r"(case|client|customer|member|patient|person|record|row|sample|student|subject|user)"
    r"(code|id|key|no|nr|num|number)"
)


@dataclass(frozen=True, eq=False)
class Reading:
    """How one column of the originals was read.

    Attributes
    ----------
    type : str
        One of `evalkit.schema.TYPES`.
    used, identifier : bool
    words_missing : bool
        Whether NA, nan and the like are read as missing in this column.
    day_first : bool or None
        Reading of dates such as 3/4/2021 that the originals show.
    column : TextColumn
        The originals' cells, missing ones empty.
    notes : tuple of Message
    """

    type: str
    used: bool
    identifier: bool
    words_missing: bool
    day_first: bool | None
    column: TextColumn
    notes: tuple[Message, ...]


def read_column(name: str, column: TextColumn, decimal: str, options: ReadingOptions) -> Reading:
    """Return the type of a column of the originals and why.

    Parameters
    ----------
    name : str
    column : TextColumn
    decimal : {".", ","}
    options : ReadingOptions
        What the user said overrules what the cells show.

    Returns
    -------
    Reading

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.arrow_columns import from_arrow
    >>> from evalkit.inference import read_column
    >>> from evalkit.reading_options import ReadingOptions
    >>> read_column("age", from_arrow(pa.array(["31", "NA"])), ".", ReadingOptions()).type
    'numeric'
    """
    column = column.without(equals_any(trimmed(column.texts), options.missing))
    shown, day_first = _shown_type(column.texts, decimal)
    declared = options.types.get(name)
    words = equals_any(trimmed(column.texts), MISSING_WORDS)
    words_missing = shown != "categorical" or declared in {"numeric", "datetime"}
    notes = _word_notes(name, column, words) if words.any() else []
    if words_missing:
        column = column.without(words)
    type_, identifier = declared or shown, False
    if declared is None:
        notes += _mixture_notes(name, column, decimal) if shown == "categorical" else []
        type_ = "text" if shown == "categorical" and _is_text(column) else shown
        identifier = _is_identifier(name, type_, column, decimal)
    used = options.use.get(name, type_ not in {"text", "empty"} and not identifier)
    if used and type_ == "text":
        type_ = "categorical"
    used = used and type_ != "empty"
    notes += _exclusion_notes(name, type_, declared, column, decimal, used=used, key=identifier)
    return Reading(type_, used, identifier, words_missing, day_first, column, tuple(notes))


def _shown_type(texts: pa.Array, decimal: str) -> tuple[str, bool | None]:
    """Return the type that the filled cells show, and the order of day and month."""
    import numpy as np
    import pyarrow as pa

    plain = trimmed(texts)
    others = plain.filter(pa.array(~equals_any(plain, MISSING_WORDS)))
    if not len(others):
        return "empty", None
    if are_numbers(others, decimal).all():
        return "numeric", None
    if set(map(str.lower, others.slice(0, 20).to_pylist())) <= set(TRUTH) and len(others) <= 20:
        return "boolean", None
    order = day_order(others)
    seconds = to_seconds(others, day_first=order is not False, forms=FORMS)
    return ("categorical" if np.isnan(seconds).any() else "datetime"), order


def _is_text(column: TextColumn) -> bool:
    """Return whether there are at least 50 filled cells, over 90 % of them different."""
    filled = int((column.codes >= 0).sum())
    return filled >= FEWEST_TEXTS and len(column.texts) > TEXT_SHARE * filled


def _all_differ(column: TextColumn) -> bool:
    """Return whether there are at least 50 filled cells, all different."""
    filled = int((column.codes >= 0).sum())
    return filled >= FEWEST_TEXTS and len(column.texts) == filled


def _is_identifier(name: str, type_: str, column: TextColumn, decimal: str) -> bool:
    """Return whether a column is a key of persons, by rule 1 of the definitions."""
    if type_ == "text":
        return _all_differ(column)
    if type_ != "numeric" or not _all_differ(column):
        return False
    return _are_whole(column, decimal) and (is_key_name(name) or _counts_up(column, decimal))


def _are_whole(column: TextColumn, decimal: str) -> bool:
    """Return whether all filled cells are whole numbers."""
    import numpy as np

    floats, _ = to_numbers(trimmed(column.texts), decimal)
    return bool(np.isfinite(floats).all() and (floats == np.floor(floats)).all())


def _counts_up(column: TextColumn, decimal: str) -> bool:
    """Return whether whole numbers grow by the same step from row to row."""
    import numpy as np

    floats, _ = to_numbers(trimmed(column.texts), decimal)
    steps = np.diff(floats[column.codes[column.codes >= 0]])
    return bool(steps[0] > 0 and (steps == steps[0]).all())


def is_key_name(name: str) -> bool:
    """Return whether a column is named like a key: id, key, code, number and the like.

    Examples
    --------
    >>> from evalkit.inference import is_key_name
    >>> [is_key_name(name) for name in ("customerID", "sample_code_number", "paid")]
    [True, True, False]
    """
    import unicodedata

    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", plain)
    lower = {word.lower() for word in words}
    return bool(lower & _KEY_WORDS) or any(_KEY_ENDS.fullmatch(word) for word in lower)


def _word_notes(name: str, column: TextColumn, words: object) -> list[Message]:
    """Return the note on NA, nan and the like in the originals."""
    return []


def _mixture_notes(name: str, column: TextColumn, decimal: str) -> list[Message]:
    """Return the note on a column in which some cells are numbers and some are not."""
    numbers = are_numbers(trimmed(column.texts), decimal)
    if not numbers.any():
        return []
    counts = column.counts()
    row = column.first_row(~numbers)
    template = (
        "Column {column} mixes {numbers} numbers with {others} other cells, so it is read as "
        "categories; the first other cell, in row {row}, has the form {form}. If such cells "
        "stand for missing, name them with --missing."
    )
    return [
        say(
            "mixed_types",
            template,
            column=name,
            numbers=int(counts[numbers].sum()),
            others=int(counts[~numbers].sum()),
            row=row,
            form=form_of(column.texts[int(column.codes[row - 1])].as_py()),
        )
    ]


def _exclusion_notes(
    name: str,
    type_: str,
    declared: str | None,
    column: TextColumn,
    decimal: str,
    *,
    used: bool,
    key: bool,
) -> list[Message]:
    """Return notes on why a column is left out, or might have to be."""
    if key:
        kept = "used all the same, as asked" if used else "left out of every metric"
        template = "Column {column} looks like an identifier of persons: {kept}."
        return [say("identifier", template, column=name, kept=kept)]
    if type_ == "text" and not used:
        template = (
            "Column {column} is text ({levels} different cells) and left out; "
            "give it a type if it should count."
        )
        return [say("text_left_out", template, column=name, levels=len(column.texts))]
    if type_ == "empty":
        return [say("empty_left_out", "Column {column} is empty and left out.", column=name)]
    if not used:
        return [say("ignored", "Column {column} is left out as asked.", column=name)]
    if declared is None and type_ == "numeric" and _all_differ(column):
        if _are_whole(column, decimal):
            template = (
                "Column {column}: every whole number occurs once. If it is an identifier, "
                "leave it out with --ignore."
            )
            return [say("all_different", template, column=name)]
    return []


def forms_for(declared: str | None) -> tuple[str, ...]:
    """Return the date forms to try: whole numbers only where the user declared dates."""
    return FORCED_FORMS if declared == "datetime" else FORMS
