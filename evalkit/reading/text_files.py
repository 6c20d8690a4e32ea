"""Text tables: their records cut into cells, or one clear line on the record that does not fit."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.reading.arrow_columns import from_arrow
from evalkit.reading.dialect import find_delimiter, to_utf8

if TYPE_CHECKING:
    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions

SMALLEST_BLOCK = 2**20
LARGEST_BLOCK = 2**30


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


def text_file(content: bytes, name: str, options: ReadingOptions) -> TextFile:
    """Return the text of a CSV file with its encoding and delimiter."""
    text, encoding = to_utf8(content, name, options.encoding)
    if not text.strip():
        message = f"{name}: is empty; give a table with a header and at least one row."
        raise InputError(message)
    # Spreadsheets may write the delimiter into a first line of its own.
    first = re.match(rb"sep=([,;\t|])\r?\n", text)
    text = text[first.end() :] if first else text
    given = options.delimiter or (first.group(1).decode() if first else None)
    if given is not None:
        return TextFile(text, encoding, given, several=True)
    # A cut through a character only concerns the last record, which is dropped.
    delimiter, several = find_delimiter(text[: 4 * 10**5].decode(errors="ignore"), name)
    return TextFile(text, encoding, delimiter, several)


def text_columns(file: TextFile, name: str) -> tuple[list[str], list[TextColumn]]:
    """Return names and columns of a text file; the first record holds the names."""
    table = _records(file, name)
    names = [str(column[0].as_py()) for column in table.columns]
    return names, [from_arrow(column.slice(1)) for column in table.columns]


def _records(file: TextFile, name: str) -> pa.Table:
    """Return every record of a text file as strings, the header too."""
    import pyarrow as pa
    import pyarrow.csv

    width = _width(file, name)
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


def _width(file: TextFile, name: str) -> int:
    """Return the number of cells of the first record."""
    head = io.StringIO(file.text[:SMALLEST_BLOCK].decode(errors="ignore"), newline="")
    try:
        return next(len(record) for record in csv.reader(head, delimiter=file.delimiter) if record)
    except csv.Error:
        message = f"{name}: the header cannot be cut into names; check its quotation marks."
        raise InputError(message) from None


def _record_fault(detail: str, name: str) -> str:
    """Return one line on a record that does not fit; never its cells."""
    found = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", detail)
    if not found:
        return f"{name}: cannot be cut into rows; check the quotation marks and --delimiter."
    row, wanted, got = (int(number) for number in found.groups())
    return (
        f"{name}: row {row - 1} has {got} cells, the header has {wanted}; "
        "mend the row or give --delimiter."
    )
