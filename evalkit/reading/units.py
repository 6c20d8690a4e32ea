"""Numbers written with a sign of their unit, such as ``12.5 %`` or ``€ 30``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evalkit.messages import say
from evalkit.reading.arrow_columns import TextColumn
from evalkit.reading.cells import MISSING_WORDS, all_match, equals_any, trimmed

if TYPE_CHECKING:
    from evalkit.messages import Message

UNITS: Final = ("%", "\u2030", "\u20ac", "$", "\u00a3", "\u00a5", "EUR", "USD", "GBP", "CHF")
_NUMBER: Final = "[+\u2212-]?[\\d.,' \u00a0\u202f\u2019]*\\d[.,]?"
_BLANKS: Final = "[ \u00a0\u202f]*"


def without_units(
    label: str, columns: dict[str, TextColumn], marks: frozenset[str]
) -> tuple[dict[str, TextColumn], list[Message]]:
    """Return the columns of a table with the sign of a unit taken away, and a note on each.

    Parameters
    ----------
    label : str
        How messages call the table.
    columns : dict of str to TextColumn
    marks : frozenset of str
        Cells that stand for missing; they need no unit.

    Returns
    -------
    columns : dict of str to TextColumn
        A column is changed only if each of its filled cells is a number with one and the same
        sign, before or behind it.
    notes : list of Message

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.units import without_units
    >>> column = from_arrow(pa.array(["12.5 %", "3 %"]))
    >>> without_units("a.csv", {"share": column}, frozenset())[0]["share"].texts.to_pylist()
    ['12.5', '3']
    """
    found, units = dict(columns), {}
    for name, column in columns.items():
        unit = _unit_of(column, marks)
        if unit:
            found[name] = _bare(column, unit)
            units[name] = unit
    if not units:
        return found, []
    shown = [f"{name} ({unit})" for name, unit in units.items()]
    template = "{table}: numbers with the sign of a unit are read as numbers: {columns}."
    return found, [say("units_read", template, table=label, columns=shown)]


def _unit_of(column: TextColumn, marks: frozenset[str]) -> str | None:
    """Return the sign that every filled cell of a column has."""
    import pyarrow as pa

    if not pa.types.is_string(column.texts.type):
        return None
    texts = trimmed(column.texts)
    texts = texts.filter(pa.array(~equals_any(texts, marks | MISSING_WORDS)))
    if not len(texts):
        return None
    first = texts[0].as_py()
    unit = next((one for one in UNITS if first.endswith(one) or first.startswith(one)), None)
    return unit if unit and all_match(texts, _pattern(unit)) else None


def _pattern(unit: str) -> str:
    sign = re.escape(unit)
    return f"{sign}{_BLANKS}{_NUMBER}|{_NUMBER}{_BLANKS}{sign}"


def _bare(column: TextColumn, unit: str) -> TextColumn:
    """Return a column without a sign; two cells may become the same text."""
    import numpy as np
    import pyarrow.compute as pc

    sign = re.escape(unit)
    pattern = f"^{_BLANKS}{sign}{_BLANKS}|{_BLANKS}{sign}{_BLANKS}$"
    coded = pc.replace_substring_regex(column.texts, pattern, "").dictionary_encode()
    places = np.append(coded.indices.to_numpy(zero_copy_only=False), -1).astype(np.int32)
    return TextColumn(places[column.codes], coded.dictionary, column.blanks)
