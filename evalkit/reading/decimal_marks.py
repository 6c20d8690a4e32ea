"""The decimal mark of each column of a table, found from all its numbers together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import (
    MISSING_WORDS,
    all_numbers,
    are_grouped,
    equals_any,
    form_of,
    trimmed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions


def decimal_marks(
    label: str, columns: Mapping[str, TextColumn], options: ReadingOptions
) -> dict[str, str]:
    """Return the decimal mark, ``"."`` or ``","``, of each column.

    A column shows its mark if all its filled cells are numbers and one of them can be read in
    one way only: 1,5 or 1.234,56 shows the comma, 1.5 or 1,234.56 the point. Every other column
    follows the columns that show theirs; a table that shows none has the point.

    Parameters
    ----------
    label : str
        How messages call the table.
    columns : mapping of str to TextColumn
    options : ReadingOptions
        ``decimal`` is the mark of every column if it is set.

    Returns
    -------
    dict of str to str

    Raises
    ------
    evalkit.InputError
        If numbers such as 1,234 may be either and nothing in the table tells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.decimal_marks import decimal_marks
    >>> from evalkit.reading.options import ReadingOptions
    >>> column = from_arrow(pa.array(["1,5", "1.250,0"]))
    >>> decimal_marks("a.csv", {"size": column}, ReadingOptions())
    {'size': ','}
    """
    if options.decimal is not None:
        return dict.fromkeys(columns, options.decimal)
    words = options.missing | MISSING_WORDS
    shown = {
        name: _shown(column.texts, words)
        for name, column in columns.items()
        if name not in options.not_numbers
    }
    marks = {mark for mark in shown.values() if mark in {".", ","}}
    default = "," if marks == {","} else "."
    if not marks:
        _refuse_open(label, columns, shown)
    return {name: mark if (mark := shown.get(name)) in {".", ","} else default for name in columns}


def _shown(texts: pa.Array, words: frozenset[str]) -> str | None:
    """Return the mark a column shows, ``"open"`` for numbers such as 1,234, else None."""
    import pyarrow as pa

    plain = trimmed(texts)
    numbers = plain.filter(pa.array(~equals_any(plain, words)))
    point, comma = all_numbers(numbers, "."), all_numbers(numbers, ",")
    if point and comma:
        grouped = bool((are_grouped(numbers, ".") & _holds(numbers, ",")).any())
        return "open" if grouped else None
    if comma:
        return ","
    return "." if point else None


def _holds(texts: pa.Array, mark: str) -> pa.Array:
    """Return which texts hold `mark`."""
    import pyarrow.compute as pc

    return pc.match_substring(as_text(texts), mark).to_numpy(zero_copy_only=False)


def _refuse_open(
    label: str, columns: Mapping[str, TextColumn], shown: Mapping[str, str | None]
) -> None:
    """Refuse a table whose numbers can be read in two ways that differ a thousandfold."""
    for name, mark in shown.items():
        if mark == "open":
            column = columns[name]
            row = column.first_row(_holds(column.texts, ","))
            form = form_of(column.text(int(column.codes[row - 1])))
            message = (
                f"{label}, column {name!r}, row {row} (header not counted): the comma in {form!r} "
                "may mark decimals or thousands; say which mark decimals have with --decimal , or "
                "--decimal ."
            )
            raise InputError(message)
