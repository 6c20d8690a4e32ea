"""Records of text files written anew as two text files, each record as it was where that goes."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

from evalkit.reading.archives import unpacked
from evalkit.reading.large_texts import large_text
from evalkit.reading.table_files import file_bytes
from evalkit.reading.text_files import EmptyTextError, Joined, in_blocks, text_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from evalkit.reading.folders import Part
    from evalkit.reading.options import ReadingOptions
    from evalkit.reading.text_files import TextFile

BLOCK_BYTES: Final = 2**26


@dataclass(frozen=True)
class _Head:
    """What is known of one text file before its records are copied."""

    part: Part
    rows: int
    encoding: str
    delimiter: str
    header: bytes
    is_plain: bool
    """Whether each record can be copied as it is."""


def cut_texts(
    parts: Sequence[Part],
    options: ReadingOptions,
    held: npt.NDArray[np.bool_],
    sinks: Sequence[IO[bytes]],
) -> None:
    """Write the records of text files that are not held back, and those that are.

    Parameters
    ----------
    parts : sequence of Part
        Files that are one table; one without a record is left out.
    options : ReadingOptions
    held : ndarray of bool, shape (records,)
    sinks : sequence of two files

    Notes
    -----
    Each begins with the header of the first file. The encoding is that of the files, UTF-8 where
    they have several. A record is copied as it is, but for a file of another delimiter, one whose
    quotation marks follow no rule, and one in a folder that says a column.
    """
    heads = [head for head in map(_head_of(options), parts) if head and head.rows]
    encodings = {head.encoding for head in heads}
    encoding = encodings.pop() if len(encodings) == 1 else "utf-8"
    encoders = [codecs.getincrementalencoder(encoding)() for _ in sinks]

    def write(sink: int, lines: Iterable[bytes]) -> None:
        sinks[sink].write(encoders[sink].encode(b"".join(lines).decode()))

    for sink in range(len(sinks)):
        write(sink, [heads[0].header])
    start = 0
    for head in heads:
        for lines in _records_of(head, heads[0].delimiter, options):
            chosen = held[start : start + len(lines)].tolist()
            start += len(lines)
            write(1, itertools.compress(lines, chosen))
            write(0, itertools.compress(lines, (not one for one in chosen)))
    assert start == len(held), "a record was cut otherwise than it was read"


def _head_of(options: ReadingOptions) -> Any:
    """Return what looks through a file, and gives nothing for one without a letter."""

    def head(part: Part) -> _Head | None:
        try:
            file = _text(part, options)
        except EmptyTextError:
            return None
        with file:
            names, rows = in_blocks(file, part.label, _names_and_rows)
            is_plain = not part.keys and sum(map(len, _raw(file))) == rows + 1
            written = _line([*names, *(key for key, _ in part.keys)], file.delimiter)
            header = next(_raw(file))[0] if is_plain else written
            return _Head(part, rows, file.encoding, file.delimiter, header, is_plain)

    return head


def _names_and_rows(batches: Iterator[pa.RecordBatch]) -> tuple[list[str], int]:
    """Return the cells of the first record, and how many others there are."""
    first = next(batches)
    names = [str(column[0].as_py()) for column in first.columns]
    return names, len(first) + sum(map(len, batches)) - 1


def _text(part: Part, options: ReadingOptions) -> TextFile:
    """Return a text file; what is no text was refused when the table was read."""
    if file := large_text(part.path, options):
        return file
    return text_file(unpacked(file_bytes(part.path), part.label), part.label, options)


def _records_of(head: _Head, delimiter: str, options: ReadingOptions) -> Iterator[list[bytes]]:
    """Yield the records of a file without its header, in lists."""
    file = _text(head.part, options)
    with file:
        if head.is_plain and head.delimiter == delimiter:
            blocks = _raw(file)
            yield next(blocks)[1:]
            yield from blocks
            return
        values = [value or "" for _, value in head.part.keys]
        # All at once: the reader of blocks may begin anew with longer ones.
        yield from in_blocks(
            file, head.part.label, lambda batches: list(_rewritten(batches, delimiter, values))
        )


def _raw(file: TextFile) -> Iterator[list[bytes]]:
    """Yield the records of a text as they are, each with its line end; empty lines are left out."""
    stream, left, line_end = Joined(file, b""), b"", b""
    while block := stream.read(BLOCK_BYTES):
        line_end = line_end or _line_end(block)
        # A record that is cut short begins the next block, as does a line end cut in two.
        *whole, left = _cut(left + block)
        if lines := [line for line in whole if line.strip(b"\r\n")]:
            yield lines
    if left.strip(b"\r\n"):
        yield [left if left[-1:] in b"\r\n" else left + line_end]


def _line_end(text: bytes) -> bytes:
    """Return the line end of a text."""
    return b"\r\n" if b"\r\n" in text else b"\n" if b"\n" in text else b"\r"


def _cut(text: bytes) -> list[bytes]:
    """Return a text cut behind the end of each record, the last perhaps without one.

    A line end inside quotation marks is part of a cell: before it, their number is odd.
    """
    import numpy as np

    letters = np.frombuffer(text, dtype=np.uint8)
    outside = ~np.logical_xor.accumulate(letters == ord('"'))
    feeds = letters == ord("\n")
    returns = (letters == ord("\r")) & ~np.append(feeds[1:], False)
    ends = np.flatnonzero((feeds | returns) & outside) + 1
    if len(ends) and ends[-1] == len(text):
        ends = ends[:-1]
    cuts = [0, *ends.tolist(), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(cuts)]


def _rewritten(
    batches: Iterable[pa.RecordBatch], delimiter: str, values: list[str]
) -> Iterator[list[bytes]]:
    """Yield records written by the rules, with further cells, in lists without the header."""
    is_first = True
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        lines = [_line([*cells, *values], delimiter) for cells in zip(*columns, strict=True)]
        yield lines[1:] if is_first else lines
        is_first = False


def _line(cells: list[str], delimiter: str) -> bytes:
    """Return one record written by the rules of CSV."""
    line = io.StringIO(newline="")
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()
