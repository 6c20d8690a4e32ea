"""Files and frames to columns of text. The only reader of data files.

Every table is read as text first, whatever it came from, so that a type is decided once for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError, one_line
from evalkit.messages import say
from evalkit.reading.arrow_columns import frame_columns
from evalkit.reading.column_names import clean_names
from evalkit.reading.databases import database_table, is_address
from evalkit.reading.decimal_marks import decimal_marks
from evalkit.reading.dialect import shown_delimiter
from evalkit.reading.found_columns import file_columns, folder_columns
from evalkit.reading.stores import Store
from evalkit.reading.strangers import empty_parts
from evalkit.reading.table_files import is_folder
from evalkit.reading.units import without_units

if TYPE_CHECKING:
    from evalkit.messages import Message
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions
    from evalkit.reading.text_files import TextFile


@dataclass(frozen=True, eq=False)
class TextTable:
    """One table as it was read: every column as text.

    Attributes
    ----------
    label : str
        How messages call the table.
    name : str
        Base name of the file, or the role of a DataFrame.
    rows : int
    columns : dict of str to TextColumn
        In the order of the table.
    sha256 : str, optional
        Of the bytes of the file.
    notes : tuple of Message
    decimals : dict of str to str
        Decimal mark of each column; empty until `with_decimals` has found them.
    """

    label: str
    name: str
    rows: int
    columns: dict[str, TextColumn]
    sha256: str | None
    notes: tuple[Message, ...]
    decimals: dict[str, str] = field(default_factory=dict)

    def with_decimals(self, options: ReadingOptions) -> TextTable:
        """Return the table with the decimal mark of each column found, and a note on commas."""
        columns, units = without_units(self.label, self.columns, options.missing)
        if units:
            bare = replace(self, columns=columns, notes=(*self.notes, *units))
            return bare.with_decimals(options)
        marks = decimal_marks(self.label, self.columns, options)
        commas = [name for name, mark in marks.items() if mark == "," != options.decimal]
        if not commas:
            return replace(self, decimals=marks)
        if len(commas) == len(marks):
            note = say("decimal_comma", "{table}: the decimal mark is a comma.", table=self.label)
        else:
            template = (
                "{table}: the decimal mark is a comma in {columns} and a point elsewhere. If these "
                "columns hold no numbers, declare them with --categorical."
            )
            note = say("decimals_mixed", template, table=self.label, columns=commas)
        return replace(self, decimals=marks, notes=(*self.notes, note))


def read_table(
    source: Any, role: str, options: ReadingOptions, store: Store | None = None
) -> TextTable:
    """Return a table as columns of text.

    Parameters
    ----------
    source : str, pathlib.Path, pandas.DataFrame or Arrow table
        A file, plain or compressed, a folder of CSV or Parquet files, the address of a table in a
        database, or a table in memory.
    role : {"original", "avatars", "holdout"}
    options : ReadingOptions
    store : Store, optional
        Keeps the columns; by default in memory. On disk, text and Parquet are read in batches,
        whatever their size.

    Returns
    -------
    TextTable

    Raises
    ------
    evalkit.InputError
        If the table cannot be read, is larger than 4 GiB unpacked where it is not read in
        batches, has no rows or no header, or has columns without a name of their own.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.reading import read_table
    >>> from evalkit.reading.options import ReadingOptions
    >>> read_table(pd.DataFrame({"age": [20, 30]}), "original", ReadingOptions()).rows
    2
    """
    try:
        return _read(source, role, options, store or Store())
    except MemoryError:
        name = Path(source).name if isinstance(source, str | Path) else role
        message = f"{name}: does not fit into the memory of this machine; give fewer rows."
        raise InputError(message) from None


def _read(source: Any, role: str, options: ReadingOptions, store: Store) -> TextTable:
    """Return a table as columns of text."""
    if source is None:
        message = f"{role}: no table is given; give a path or a DataFrame."
        raise InputError(message)
    if is_address(source):
        table, name = database_table(source)
        return _checked(_Origin(_label(name, role), name), *frame_columns(table, role), store)
    if not isinstance(source, str | Path):
        return _checked(_Origin(role, role), *frame_columns(source, role), store)
    path = Path(source)
    found = folder_columns(path, options, store) if is_folder(path) else None
    found = found or file_columns(path, options, store)
    label = _label(path.name, role)
    notes = [*_folder_note(label, found.parts), *empty_parts(label, found.empty)]
    notes += [note for file in dict.fromkeys(found.files) for note in _file_notes(label, file)]
    origin = _Origin(label, path.name, found.sha256, (*found.notes, *notes))
    return _checked(origin, found.names, found.columns, store)


def _folder_note(label: str, parts: int) -> list[Message]:
    """Return of how many files a folder is, and what its SHA-256 is taken of."""
    if not parts:
        return []
    template = (
        "{table}: a folder; its {parts:,} files are one table. Its SHA-256 is that of the list "
        "which sha256sum prints of them in the order of their names."
    )
    return [say("folder_read", template, table=label, parts=parts)]


def _file_notes(label: str, file: TextFile) -> list[Message]:
    """Return how a text file was read, and what was mended in it."""
    return [_dialect_note(label, file), *_mended_notes(label, file.notes)]


def _label(name: str, role: str) -> str:
    """Return how messages call a file: its base name, with its role where the name hides it."""
    name = one_line(name)
    return name if role in name.lower() else f"{name} ({role})"


@dataclass(frozen=True)
class _Origin:
    """Where a table comes from, and what was found on the way."""

    label: str
    name: str
    sha256: str | None = None
    notes: tuple[Message, ...] = ()


def _checked(
    origin: _Origin, names: list[Any], columns: list[TextColumn], store: Store
) -> TextTable:
    """Return the table with clean names, or one clear line on what is wrong with it."""
    rows = len(columns[0].codes) if columns else 0
    if rows == 0:
        message = f"{origin.label}: has no rows; give a table with at least one row."
        raise InputError(message)
    named, notes = clean_names(origin.label, names, columns)
    notes += _empty_rows(origin.label, named, rows)
    named = {name: store.column(column) for name, column in named.items()}
    return TextTable(origin.label, origin.name, rows, named, origin.sha256, (*origin.notes, *notes))


def _empty_rows(label: str, columns: dict[str, TextColumn], rows: int) -> list[Message]:
    """Return the note on rows without a filled cell, such as a spreadsheet leaves at the end."""
    import numpy as np

    are_empty = np.ones(rows, np.bool_)
    for column in columns.values():
        are_empty &= column.codes < 0
        if not are_empty.any():
            return []
    empty = int(are_empty.sum())
    template = "{table}: {rows:,} rows hold no filled cell; they count as records all the same."
    return [say("empty_rows", template, table=label, rows=empty)]


def _mended_notes(label: str, codes: tuple[str, ...]) -> list[Message]:
    """Return the notes on what was mended in the head of a text file."""
    found = (
        say(
            "remarks_dropped",
            "{table}: lines before the header that begin with # are left out.",
            table=label,
        ),
        say(
            "trailing_delimiter",
            "{table}: every row ends with a delimiter that the header lacks; it is left out.",
            table=label,
        ),
        say(
            "row_names",
            "{table}: every row has one cell more than the header has names; the first is taken "
            "for the name of the row.",
            table=label,
        ),
    )
    return [note for note in found if note.code in codes]


def _dialect_note(label: str, file: TextFile) -> Message:
    """Return the note that says how a text file was read."""
    return say(
        "dialect",
        "{table}: encoding {encoding}, {delimiter}.",
        table=label,
        encoding={"utf-8-sig": "utf-8 with byte order mark"}.get(file.encoding, file.encoding),
        delimiter=f"cells separated by {shown_delimiter(file.delimiter)}"
        if file.several
        else "one column",
    )
