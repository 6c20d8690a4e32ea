"""The columns that the tables share, settled at the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.messages import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.options import ReadingOptions

MOST_NAMES = 20


def aligned_names(
    tables: Mapping[str, TextTable], options: ReadingOptions
) -> tuple[list[str], list[Message]]:
    """Return the columns of the release in the order of the originals, and notes.

    Parameters
    ----------
    tables : mapping of role to TextTable
        ``"original"`` first.
    options : ReadingOptions
        Ignored columns may be absent from any table.

    Returns
    -------
    names : list of str
        Columns of the originals that every table has, and the ignored ones.
    notes : list of Message

    Raises
    ------
    evalkit.InputError
        If the tables differ in their columns and the user did not ask to go on.
    """
    original = tables["original"]
    _check_options(tables, options)
    lines = []
    for role, table in tables.items():
        if role == "original":
            continue
        missing = _absent(original, table, options)
        extra = _absent(table, original, options)
        if not original.columns.keys() & table.columns.keys():
            # Names are not listed: those of a file without a header are the cells of a person.
            message = (
                f"{original.label} and {table.label} have no column in common; check the files, "
                "their headers and --delimiter."
            )
            raise InputError(message)
        if missing or extra:
            lines.append(_difference(original.label, table.label, missing, extra))
    if lines and options.on_mismatch == "error":
        message = (
            f"The columns differ: {'; '.join(lines)}. Rename or --ignore them, or go on with "
            "the columns in common: --on-mismatch intersect."
        )
        raise InputError(message)
    common = [
        name
        for name in original.columns
        if name in options.ignored or all(name in table.columns for table in tables.values())
    ]
    if not common:
        message = "The tables have no column in common; check the files and their headers."
        raise InputError(message)
    template = "The columns differ: {differences}. Only the columns in common are assessed."
    everywhere = {*common, *options.ignored}
    columns = [one for one in _names(tables) if one not in everywhere][:MOST_NAMES]
    note = say("columns_differ", template, differences=lines, columns=columns)
    return common, [note] if lines else []


def _names(tables: Mapping[str, TextTable]) -> list[str]:
    """Return the names of the columns of all tables, each once."""
    return list(dict.fromkeys(name for table in tables.values() for name in table.columns))


def _absent(one: TextTable, other: TextTable, options: ReadingOptions) -> list[str]:
    """Return the columns of `one` that `other` does not have and should."""
    return [
        name for name in one.columns if name not in other.columns | dict.fromkeys(options.ignored)
    ]


def _difference(original: str, label: str, missing: list[str], extra: list[str]) -> str:
    """Return the columns that only one of two tables has, in words."""
    parts = [
        f"only in {where}: {listed(names)}"
        for where, names in ((original, missing), (label, extra))
        if names
    ]
    return ", ".join(parts)


def listed(names: Sequence[str]) -> str:
    """Return names for a message: the first 20, and how many more there are.

    Examples
    --------
    >>> from evalkit.reading.alignment import listed
    >>> listed(["age", "sex"])
    'age, sex'
    """
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _check_options(tables: Mapping[str, TextTable], options: ReadingOptions) -> None:
    """Refuse options that name a column that no table has."""
    import difflib

    columns = dict.fromkeys(name for table in tables.values() for name in table.columns)
    for name in (*options.types, *options.use):
        if name not in columns:
            near = difflib.get_close_matches(name, list(columns), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"columns: {listed(list(columns))}."
            message = f"There is no column {shown(name)} to give a type or to leave out; {hint}"
            raise InputError(message)
