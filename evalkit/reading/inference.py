"""The type of each column, decided once from the originals or by the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import (
    MISSING_WORDS,
    TRUTH,
    all_match,
    all_numbers,
    equals_any,
    matches,
    to_numbers,
    trimmed,
    without_marks,
)
from evalkit.reading.dates import (
    CLOCK,
    CLOCK_FORMS,
    DURATION_FORMS,
    FORCED_FORMS,
    FORMS,
    day_order,
    may_be_dates,
    to_seconds,
)
from evalkit.reading.identifiers import is_identifier

if TYPE_CHECKING:
    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions

FEWEST_TEXTS = 50
TEXT_SHARE = 0.9
MOST_TRUTH_FORMS = 20


@dataclass(frozen=True, eq=False)
class Reading:
    """How one column is read in every table.

    Attributes
    ----------
    type : str
        One of `evalkit.schema.TYPES`.
    declared : bool
        Whether the user gave the type.
    used : bool
        Whether the metrics see the column.
    identifier : bool
        Whether its values look like a key of persons.
    words_missing : bool
        Whether NA, nan and the like are read as missing in this column.
    column : TextColumn
        The originals' cells, missing ones empty.
    date_forms : tuple of str
        Forms in which dates may be written.
    ignored : bool
        Whether the user left the column out.
    individual : bool
        Whether it is the personal key that the user named.
    """

    type: str
    declared: bool
    used: bool
    identifier: bool
    words_missing: bool
    column: TextColumn
    date_forms: tuple[str, ...] = FORMS
    ignored: bool = False
    individual: bool = False


def read_column(name: str, column: TextColumn, decimal: str, options: ReadingOptions) -> Reading:
    """Return how a column is read, from the cells of the originals.

    Parameters
    ----------
    name : str
    column : TextColumn
        Cells of the originals.
    decimal : {".", ","}
    options : ReadingOptions
        What the user said overrules what the cells show.

    Returns
    -------
    Reading
        Numeric if all filled cells are numbers, boolean if all are true or false, datetime if
        all are dates, text if there are at least 50 and over 90 % of them differ, empty if there
        are none, else categorical.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.inference import read_column
    >>> from evalkit.reading.options import ReadingOptions
    >>> read_column("age", from_arrow(pa.array(["31", "NA"])), ".", ReadingOptions()).type
    'numeric'
    """
    column = without_marks(column, options.missing, decimal)
    shown = _shown_type(column.texts, decimal)
    declared = options.types.get(name)
    words_missing = shown != "categorical" or declared in {"numeric", "datetime"}
    if words_missing:
        column = column.without(equals_any(trimmed(column.texts), MISSING_WORDS))
    found = "text" if shown == "categorical" and _is_text(column) else shown
    type_ = "empty" if found == "empty" else declared or found
    identifier = is_identifier(name, found, column, decimal)
    leaves_out = type_ in {"text", "empty"} or (identifier and declared is None)
    used = options.use.get(name, not leaves_out) and type_ != "empty"
    if used and type_ == "text":
        type_ = "categorical"
    forms = _date_forms(column.texts, declared=declared is not None)
    return Reading(
        type_,
        declared is not None,
        used,
        identifier or name == options.individual,
        words_missing,
        column,
        forms,
        ignored=name in options.ignored,
        individual=name == options.individual,
    )


def _shown_type(texts: pa.Array, decimal: str) -> str:
    """Return the type that the filled cells show, text aside."""
    import numpy as np
    import pyarrow as pa

    plain = trimmed(texts)
    others = plain.filter(pa.array(~equals_any(plain, MISSING_WORDS)))
    if not len(others):
        return "empty"
    if all_numbers(others, decimal):
        return "categorical" if are_codes(others) else "numeric"
    few = as_text(others).to_pylist() if len(others) <= MOST_TRUTH_FORMS else [""]
    if {text.lower() for text in few} <= set(TRUTH):
        return "boolean"
    if not may_be_dates(others).all():
        return "categorical"
    forms, day_first = _date_forms(others, declared=False), day_order(others) is not False
    seconds = to_seconds(others, day_first=day_first, forms=forms)
    return "categorical" if np.isnan(seconds).any() else "datetime"


def are_codes(texts: pa.Array) -> bool:
    """Return whether trimmed numbers are written like codes: no number reads them all exactly.

    Parameters
    ----------
    texts : pyarrow.Array of string, shape (k,)
        Different cells, all of them numbers.

    Returns
    -------
    bool
        True if all are digits and one begins with a zero, such as 007, or one has more digits
        than 64 bits hold.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.inference import are_codes
    >>> are_codes(pa.array(["01", "75"])), are_codes(pa.array(["0", "75"]))
    (True, False)
    """
    import pyarrow as pa

    if pa.types.is_int64(texts.type) or not all_match(texts, r"\d+"):
        return False
    long = matches(texts, r"\d{19,}").any() and to_numbers(texts, ".")[1] is None
    return bool(long or matches(texts, r"0\d+").any())


def _date_forms(texts: pa.Array, *, declared: bool) -> tuple[str, ...]:
    """Return the forms to try: times of day or lengths where all cells are such, else dates."""
    if len(texts) and all_match(trimmed(texts), CLOCK):
        return CLOCK_FORMS
    if len(texts) and all_match(trimmed(texts), "|".join(map(_unnamed, DURATION_FORMS))):
        return DURATION_FORMS
    return FORCED_FORMS if declared else FORMS


def _unnamed(pattern: str) -> str:
    """Return a pattern whose groups have no names: several patterns share some."""
    return re.sub(r"\?P<\w+>", "?:", pattern)


def _is_text(column: TextColumn) -> bool:
    """Return whether there are at least 50 filled cells, over 90 % of them different."""
    filled = int((column.codes >= 0).sum())
    return filled >= FEWEST_TEXTS and len(column.texts) > TEXT_SHARE * filled
