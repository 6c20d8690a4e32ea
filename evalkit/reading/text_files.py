"""Text tables: their records cut into cells, or one clear line on the record that does not fit."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.reading.arrow_columns import from_arrow
from evalkit.reading.column_names import refuse_long_names
from evalkit.reading.dialect import find_delimiter, to_utf8
from evalkit.reading.headers import with_whole_header, without_remarks

if TYPE_CHECKING:
    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions

_RECORD = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
SMALLEST_BLOCK = 2**20
LARGEST_BLOCK = 2**31 - 1
_HEAD_BYTES = 4 * 10**5


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
    notes : tuple of str
        Codes of what was mended in its head.
    """

    text: bytes
    encoding: str
    delimiter: str
    several: bool
    notes: tuple[str, ...] = ()


def text_file(content: bytes, name: str, options: ReadingOptions) -> TextFile:
    """Return the text of a CSV file with its encoding and delimiter."""
    text, encoding = to_utf8(content, name, options.encoding)
    if not text.strip():
        message = f"{name}: is empty; give a table with a header and at least one row."
        raise InputError(message)
    # Spreadsheets may write the delimiter into a first line of its own.
    first = re.match(rb"sep=([,;\t|])\r?\n", text)
    text = (text[first.end() :] if first else text).lstrip(b"\r\n")
    given = options.delimiter or (first.group(1).decode() if first else None)
    text, remarks = without_remarks(text, given)
    if given is not None:
        delimiter, several = given, True
    else:
        # A cut through a character only concerns the last record, which is dropped.
        delimiter, several = find_delimiter(text[:_HEAD_BYTES].decode(errors="ignore"), name)
    text, header = with_whole_header(text, delimiter)
    return TextFile(text, encoding, delimiter, several, (*remarks, *header))


def text_columns(file: TextFile, name: str) -> tuple[list[str], list[TextColumn]]:
    """Return names and columns of a text file; the first record holds the names."""
    table = records(file, name)
    names = [str(column[0].as_py()) for column in table.columns]
    return names, [from_arrow(column.slice(1)) for column in table.columns]


def records(file: TextFile, name: str) -> pa.Table:
    """Return every record of a text file as strings, the header too.

    Parameters
    ----------
    file : TextFile
    name : str
        Base name of the file, for messages.

    Returns
    -------
    pyarrow.Table
        Columns of string, without missing cells.

    Raises
    ------
    evalkit.InputError
        If a record has not as many cells as the header, or a quotation mark is left open.
    """
    import pyarrow as pa

    width = _width(file, name)
    # A last record of our own: it is swallowed where a quotation mark is left open.
    text = file.text + b"\n" + file.delimiter.join("0" * width).encode() + b"\n"
    block = min(max(len(text) // 8, SMALLEST_BLOCK), LARGEST_BLOCK)
    try:
        try:
            table = _parsed(text, file.delimiter, width, block)
        except pa.ArrowInvalid as error:
            if _RECORD.search(str(error)) or block >= LARGEST_BLOCK:
                raise
            # A record longer than a block: once more, as one block.
            table = _parsed(text, file.delimiter, width, min(len(text) + 1, LARGEST_BLOCK))
    except pa.ArrowInvalid as error:
        raise InputError(_record_fault(str(error), name)) from None
    if any(column[-1].as_py() != "0" for column in table.columns):
        row = len(table) - 1
        message = f"{name}: a quotation mark is never closed, in row {row} or before; close it."
        raise InputError(message)
    return table.slice(0, len(table) - 1)


def _parsed(text: bytes, delimiter: str, width: int, block: int) -> pa.Table:
    """Return the records of a text, read in blocks of so many bytes."""
    import pyarrow as pa
    import pyarrow.csv

    return pyarrow.csv.read_csv(
        pa.BufferReader(text),
        pyarrow.csv.ReadOptions(
            autogenerate_column_names=True, use_threads=False, block_size=block
        ),
        pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(
            column_types={f"f{place}": pa.string() for place in range(width)},
            strings_can_be_null=False,
        ),
    )


def _width(file: TextFile, name: str) -> int:
    """Return the number of cells of the first record."""
    head = file.text[:SMALLEST_BLOCK].decode(errors="ignore")
    try:
        return len(_first_record(head, file.delimiter))
    except csv.Error:
        # A cell longer than that reader takes: what comes before its limit says which one.
        names = _first_record(head[: csv.field_size_limit()], file.delimiter)
        refuse_long_names(name, names)
        message = f"{name}: the header cannot be cut into names; does the file have one?"
        raise InputError(message) from None


def _first_record(text: str, delimiter: str) -> list[str]:
    """Return the cells of the first record that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return next(record for record in reader if record)


def _record_fault(detail: str, name: str) -> str:
    """Return one line on a record that does not fit; never its cells."""
    found = _RECORD.search(detail)
    if not found:
        return f"{name}: cannot be cut into rows; check the quotation marks and --delimiter."
    row, wanted, got = (int(number) for number in found.groups())
    return (
        f"{name}: row {row - 1} has {got} cells, the header has {wanted}; "
        "mend the row or give --delimiter."
    )
