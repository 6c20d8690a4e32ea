"""Files and frames to columns of text. The only reader of data files.

Every table is read as text first, whatever it came from, so that a type is decided once for all.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.arrow_columns import TextColumn, from_arrow, frame_columns
from evalkit.column_names import clean_names
from evalkit.decimal_marks import decimal_marks
from evalkit.dialect import find_delimiter, shown_delimiter, to_utf8
from evalkit.errors import InputError
from evalkit.messages import Message, say

if TYPE_CHECKING:
    import pyarrow as pa

    from evalkit.reading_options import ReadingOptions

GZIP_START = b"\x1f\x8b"
PARQUET_START = b"PAR1"
SMALLEST_BLOCK = 2**20
LARGEST_BLOCK = 2**30


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
        marks = decimal_marks(self.label, self.columns, options)
        commas = [name for name, mark in marks.items() if mark == "," != options.decimal]
        if not commas:
            return replace(self, decimals=marks)
        shown = "all columns" if len(commas) == len(marks) else f"columns {', '.join(commas)}"
        template = "{table}: numbers are read with a decimal comma in {shown}."
        note = say("decimal_comma", template, table=self.label, shown=shown)
        return replace(self, decimals=marks, notes=(*self.notes, note))


@dataclass(frozen=True)
class TextFile:
    """A text table before its cells are looked at: what `split` needs to write it again.

    Attributes
    ----------
    text : bytes
        UTF-8 without byte order mark.
    encoding, delimiter : str
    several : bool
        False if no delimiter cuts the first record.
    """

    text: bytes
    encoding: str
    delimiter: str
    several: bool


def read_table(source: Any, role: str, options: ReadingOptions) -> TextTable:
    """Return a table as columns of text.

    Parameters
    ----------
    source : str, pathlib.Path, pandas.DataFrame or Arrow table
        CSV or Parquet file, plain or compressed with gzip, or a table in memory.
    role : {"original", "avatars", "holdout"}
    options : ReadingOptions

    Returns
    -------
    TextTable

    Raises
    ------
    evalkit.InputError
        If the table cannot be read, has no rows or has columns without a name of their own.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.reading import read_table
    >>> from evalkit.reading_options import ReadingOptions
    >>> read_table(pd.DataFrame({"age": [20, 30]}), "original", ReadingOptions()).rows
    2
    """
    if not isinstance(source, str | Path):
        names, columns = frame_columns(source, role)
        return _checked(role, role, names, columns, None, [])
    content, name = file_bytes(source), Path(source).name
    sha256 = hashlib.sha256(content).hexdigest()
    label = _label(name, role)
    content = unpacked(content, name)
    if is_parquet(content):
        names, columns = _parquet_columns(content, name)
        return _checked(label, name, names, columns, sha256, [])
    file = text_file(content, name, options)
    names, columns = _text_columns(file, name)
    return _checked(label, name, names, columns, sha256, [_dialect_note(label, file)])


def file_bytes(source: str | Path) -> bytes:
    """Return the bytes of a file, or one clear line on why they cannot be read."""
    path = Path(source)
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        if path.is_dir():
            message = f"{path.name}: is a folder; give a CSV or Parquet file."
            raise InputError(message) from None
        reason = (getattr(error, "strerror", None) or type(error).__name__).lower()
        message = f"{path.name}: cannot be read ({reason}); check the path."
        raise InputError(message) from None


def text_file(content: bytes, name: str, options: ReadingOptions) -> TextFile:
    """Return the text of a CSV file with its encoding and delimiter."""
    text, encoding = to_utf8(content, name, options.encoding)
    if not text.strip():
        message = f"{name}: is empty; give a table with a header and at least one row."
        raise InputError(message)
    if options.delimiter is not None:
        return TextFile(text, encoding, options.delimiter, several=True)
    # A cut through a character only concerns the last record, which is dropped.
    delimiter, several = find_delimiter(text[: 4 * 10**5].decode(errors="ignore"), name)
    return TextFile(text, encoding, delimiter, several)


def _label(name: str, role: str) -> str:
    """Return how messages call a file: its base name, with its role where the name hides it."""
    return name if role in name.lower() else f"{name} ({role})"


def is_parquet(content: bytes) -> bool:
    """Return whether a file is a Parquet file, whatever its name."""
    return content.startswith(PARQUET_START)


def unpacked(content: bytes, name: str) -> bytes:
    """Return the content of a gzip file, anything else as it is."""
    if not content.startswith(GZIP_START):
        return content
    import gzip

    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        message = f"{name}: the gzip archive is damaged or cut short; make it again."
        raise InputError(message) from None


def _parquet_columns(content: bytes, name: str) -> tuple[list[str], list[TextColumn]]:
    """Return names and columns of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError):
        message = f"{name}: the Parquet file is damaged or cut short; write it again."
        raise InputError(message) from None
    return list(table.column_names), [from_arrow(column) for column in table.columns]


def _text_columns(file: TextFile, name: str) -> tuple[list[str], list[TextColumn]]:
    """Return names and columns of a text file; the first record holds the names."""
    table = _records(file, name)
    names = [str(column[0].as_py()) for column in table.columns]
    return names, [from_arrow(column.slice(1)) for column in table.columns]


def _records(file: TextFile, name: str) -> pa.Table:
    """Return every record of a text file as strings, the header too."""
    import csv
    import io

    import pyarrow as pa
    import pyarrow.csv

    head = io.StringIO(file.text[:SMALLEST_BLOCK].decode(errors="ignore"), newline="")
    width = next(len(record) for record in csv.reader(head, delimiter=file.delimiter) if record)
    # A last record of our own: it is swallowed where a quotation mark is left open.
    tail = b"\n" + file.delimiter.join("0" * width).encode() + b"\n"
    block = min(max(len(file.text) // 8, SMALLEST_BLOCK), LARGEST_BLOCK)
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(file.text + tail),
            pyarrow.csv.ReadOptions(
                autogenerate_column_names=True, use_threads=False, block_size=block
            ),
            pyarrow.csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True),
            pyarrow.csv.ConvertOptions(
                column_types={f"f{place}": pa.string() for place in range(width)},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException as error:
        raise InputError(_record_fault(str(error), name)) from None
    if any(column[-1].as_py() != "0" for column in table.columns):
        row = len(table) - 1
        message = f"{name}: a quotation mark is never closed, in row {row} or before; close it."
        raise InputError(message)
    return table.slice(0, len(table) - 1)


def _record_fault(detail: str, name: str) -> str:
    """Return one line on a record that does not fit; never its cells."""
    import re

    found = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", detail)
    if not found:
        return f"{name}: cannot be cut into rows; check the quotation marks and --delimiter."
    row, wanted, got = (int(number) for number in found.groups())
    return (
        f"{name}: row {row - 1} has {got} cells, the header has {wanted}; "
        "mend the row or give --delimiter."
    )


def _checked(
    label: str,
    name: str,
    names: list[Any],
    columns: list[TextColumn],
    sha256: str | None,
    notes: list[Message],
) -> TextTable:
    """Return the table with clean names, or one clear line on what is wrong with it."""
    rows = len(columns[0].codes) if columns else 0
    if rows == 0:
        message = f"{label}: has no rows; give a table with at least one row."
        raise InputError(message)
    named, more = clean_names(label, names, columns)
    return TextTable(label, name, rows, named, sha256, (*notes, *more))


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
