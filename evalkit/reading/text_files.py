"""Text tables: their records cut into cells, or one clear line on the record that does not fit."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, TypeVar

from evalkit.errors import InputError
from evalkit.reading.arrow_columns import from_coded
from evalkit.reading.column_names import refuse_long_names
from evalkit.reading.dialect import find_delimiter, to_utf8
from evalkit.reading.headers import with_whole_header, without_remarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    import pyarrow.csv

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions

    CodedParts = list[pa.DictionaryArray]

_Found = TypeVar("_Found")
_RECORD = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
BLOCKS = (2**23, 2**27, 2**31 - 1)
"""Bytes of text that are cut into cells at a time, the next where a record is longer."""
_HEAD_BYTES = 4 * 10**5
_HEADER_BYTES = 2**20


class EmptyTextError(InputError):
    """A text file without a letter; in a folder it is a part without rows."""


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
    rest : tuple of file and int, optional
        What follows the text, from that place of a file on, where not all of it is in memory.
    """

    text: bytes
    encoding: str
    delimiter: str
    several: bool
    notes: tuple[str, ...] = ()
    rest: tuple[IO[bytes], int] | None = None

    def __enter__(self) -> None:
        """Take the file as it is: open."""

    def __exit__(self, *_: object) -> None:
        """Close the file that holds the rest of the text."""
        if self.rest:
            self.rest[0].close()


def text_file(content: bytes, name: str, options: ReadingOptions) -> TextFile:
    """Return the text of a CSV file with its encoding and delimiter."""
    text, encoding = to_utf8(content, name, options.encoding)
    return headed_text(text, encoding, name, options)


def headed_text(text: bytes, encoding: str, name: str, options: ReadingOptions) -> TextFile:
    """Return a text, or the beginning of a long one, with its delimiter and its head mended.

    Parameters
    ----------
    text : bytes
        UTF-8 without byte order mark.
    encoding : str
        That of the file.
    name : str
        Base name of the file, for messages.
    options : ReadingOptions

    Returns
    -------
    TextFile
    """
    if not text or text.isspace():
        message = f"{name}: is empty; give a table with a header and at least one row."
        raise EmptyTextError(message)
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

    return in_blocks(file, name, lambda batches: pa.Table.from_batches(list(batches)))


def joined(parts: CodedParts, name: str, place: int) -> TextColumn:
    """Return the blocks of a column, each coded, as one column of text.

    Raises
    ------
    evalkit.InputError
        If the different cells of the column hold over 2 GiB.
    """
    import pyarrow as pa

    try:
        return from_coded(parts)
    except pa.ArrowException:
        message = (
            f"{name}: the different cells of column {place} hold over 2 GiB; leave the column out "
            "of the file."
        )
        raise InputError(message) from None


def in_blocks(
    file: TextFile, name: str, take: Callable[[Iterator[pa.RecordBatch]], _Found]
) -> _Found:
    """Return what `take` makes of the records, the header too, block by block.

    Parameters
    ----------
    file : TextFile
    name : str
        Base name of the file, for messages.
    take : callable
        Called once more, with all records anew, where one is longer than a block.

    Raises
    ------
    evalkit.InputError
        As in `records`.
    """
    import pyarrow as pa

    width = _width(file, name)
    for block in BLOCKS:
        try:
            return take(_whole_records(_parsed(file, width, block), name))
        except pa.ArrowInvalid as error:
            if _RECORD.search(str(error)) or block == BLOCKS[-1]:
                raise InputError(_record_fault(str(error), name)) from None
    raise AssertionError("the last block either fits or is refused")


def _whole_records(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Return all records but the last, our own, which an open quotation mark would swallow."""
    rows, held = 0, None
    for batch in batches:
        if held is not None:
            yield held
        rows, held = rows + len(batch), batch if len(batch) else held
    if held is None or any(column[-1].as_py() != "0" for column in held.columns):
        row = rows - 1
        message = f"{name}: a quotation mark is never closed, in row {row} or before; close it."
        raise InputError(message)
    yield held.slice(0, len(held) - 1)


def _parsed(file: TextFile, width: int, block: int) -> pa.csv.CSVStreamingReader:
    """Return the records of a text and one more, read in blocks of so many bytes."""
    import pyarrow as pa
    import pyarrow.csv

    last = b"\n" + file.delimiter.join("0" * width).encode() + b"\n"
    return pyarrow.csv.open_csv(
        pa.PythonFile(Joined(file, last), mode="r"),
        pyarrow.csv.ReadOptions(
            autogenerate_column_names=True, use_threads=False, block_size=block
        ),
        pyarrow.csv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True),
        pyarrow.csv.ConvertOptions(
            column_types={f"f{place}": pa.string() for place in range(width)},
            strings_can_be_null=False,
        ),
    )


class Joined(io.RawIOBase):
    """The text, what follows it in a file, and a last record, read as one without a copy."""

    def __init__(self, file: TextFile, last: bytes) -> None:
        self._streams: list[IO[bytes]] = [io.BytesIO(file.text), io.BytesIO(last)]
        if file.rest:
            stream, start = file.rest
            stream.seek(start)
            self._streams.insert(1, stream)

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes; all that are left for a negative number."""
        found, left = [], size
        while self._streams and left:
            part = self._streams[0].read(left)
            if not part:
                del self._streams[0]
            found.append(part)
            left -= len(part) if left > 0 else 0
        return b"".join(found)


def _width(file: TextFile, name: str) -> int:
    """Return the number of cells of the first record."""
    head = file.text[:_HEADER_BYTES].decode(errors="ignore")
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
