"""How a text file was written: its encoding and its delimiter, found for each file."""

from __future__ import annotations

import codecs
import csv
import io
from typing import TYPE_CHECKING

from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DELIMITERS = (",", ";", "\t", "|")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SAMPLE_CHARACTERS = 200_000
_LOOKED_AT_BYTES = 4096
_BLOCK_BYTES = 2**22
_MOST = 0.7
FOREIGN_STARTS = {
    b"\xd0\xcf\x11\xe0": "an old workbook",
    b"%PDF": "a PDF",
    b"FEA1": "a Feather file of the first version",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
}
_SQLITE_START = b"SQLite format 3\x00"


def to_utf8(content: bytes, name: str, encoding: str | None) -> tuple[bytes, str]:
    r"""Return the text of a file as UTF-8 without byte order mark, and its encoding.

    Parameters
    ----------
    content : bytes
        The whole file, not compressed.
    name : str
        Base name of the file, for messages.
    encoding : str, optional
        Encoding set by the user; None looks for a byte order mark, then tries UTF-8, then
        Windows-1252.

    Returns
    -------
    text : bytes
        UTF-8.
    encoding : str
        Name that Python knows; ``"utf-8-sig"`` stands for UTF-8 with a byte order mark.

    Raises
    ------
    evalkit.InputError
        If the file is no text or the encoding does not fit.

    Examples
    --------
    >>> from evalkit.reading.dialect import to_utf8
    >>> to_utf8(b"\xeele\n", "places.csv", None)
    (b'\xc3\xaele\n', 'windows-1252')
    """
    refuse_foreign(content, name)
    found = encoding or encoding_of(content, lambda: _fits(content, "utf-8"))
    try:
        is_plain = codecs.lookup(found).name in {"utf-8", "utf-8-sig"}
        # UTF-8 that was looked through is taken as it is: a large file is in memory once.
        text = content if is_plain and _fits(content, "utf-8") else _encoded(content, found)
    except ValueError:
        raise unreadable(name, found, given=encoding is not None) from None
    text = text.removeprefix(BYTE_ORDER_MARK)
    if b"\0" in text:
        raise no_text(name)
    return text, found


def unreadable(name: str, encoding: str, *, given: bool) -> InputError:
    """Return one line on a file that no text of this encoding is in."""
    tried = f"as {encoding}" if given else "as UTF-8 or Windows-1252"
    return InputError(f"{name}: cannot be read {tried}; give its encoding with --encoding.")


def no_text(name: str) -> InputError:
    """Return one line on a file that holds zero bytes."""
    message = f"{name}: holds zero bytes, so it is no text table; give a CSV or Parquet file."
    return InputError(message)


def find_delimiter(text: str, name: str) -> tuple[str, bool]:
    r"""Return the delimiter of a table, and whether the table has more than one column.

    A delimiter fits if every record of a sample has as many fields as the first one.

    Parameters
    ----------
    text : str
        The beginning of the file.
    name : str
        Base name of the file, for messages.

    Returns
    -------
    delimiter : str
        One of `DELIMITERS`.
    several : bool
        False if no delimiter cuts the first record: the table has one column.

    Raises
    ------
    evalkit.InputError
        If two delimiters fit.

    Examples
    --------
    >>> from evalkit.reading.dialect import find_delimiter
    >>> find_delimiter("place;amount\na;1,20\n", "sums.csv")
    (';', True)
    """
    sample = text[:SAMPLE_CHARACTERS]
    counts = {mark: _field_counts(sample, mark, cut=len(text) > len(sample)) for mark in DELIMITERS}
    cutting = [mark for mark in DELIMITERS if counts[mark] and counts[mark][0] > 1]
    even = [mark for mark in cutting if len(set(counts[mark])) == 1]
    if len(even) > 1:
        shown = " and ".join(shown_delimiter(mark) for mark in even)
        message = f"{name}: {shown} both cut it into even rows; say which with --delimiter."
        raise InputError(message)
    if even:
        return even[0], True
    if cutting:
        return max(cutting, key=lambda mark: _share_of_first(counts[mark])), True
    single = [mark for mark in DELIMITERS if set(counts[mark]) <= {1}]
    return (single or [","])[0], False


def shown_delimiter(mark: str) -> str:
    r"""Return a delimiter in a form that can be read in a sentence.

    Examples
    --------
    >>> from evalkit.reading.dialect import shown_delimiter
    >>> shown_delimiter("\t")
    'tab'
    """
    return {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}.get(mark, repr(mark))


def encoding_of(head: bytes, fits: Callable[[], bool]) -> str:
    """Return the encoding that the bytes of a file themselves show.

    Parameters
    ----------
    head : bytes
        The beginning of the file, or all of it.
    fits : callable
        Says whether the whole file is UTF-8; asked only where nothing else tells.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.reading.dialect import encoding_of
    >>> encoding_of(b"age", lambda: True)
    'utf-8'
    """
    if head.startswith(BYTE_ORDER_MARK):
        return "utf-8-sig"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    wide = _wide_encoding(head[:_LOOKED_AT_BYTES])
    if wide:
        return wide
    return "utf-8" if fits() else "windows-1252"


def _decoded(content: bytes, encoding: str) -> Iterator[str]:
    """Return the text of a file block by block."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for start in range(0, len(content), _BLOCK_BYTES):
        yield decoder.decode(content[start : start + _BLOCK_BYTES])
    yield decoder.decode(b"", final=True)


def _fits(content: bytes, encoding: str) -> bool:
    """Return whether a file is text of this encoding."""
    try:
        for _ in _decoded(content, encoding):
            pass
    except UnicodeError:
        return False
    return True


def _encoded(content: bytes, encoding: str) -> bytes:
    """Return the text of a file as UTF-8."""
    sink = io.BytesIO()
    for text in _decoded(content, encoding):
        sink.write(text.encode())
    return sink.getvalue()


def _wide_encoding(head: bytes) -> str | None:
    """Return UTF-16 of an order where every second byte of Latin text is zero, else None."""
    half = len(head) // 2
    if half < 2:  # noqa: PLR2004 - nothing to tell from
        return None
    zeros = [sum(byte == 0 for byte in head[start::2]) / half for start in (0, 1)]
    if zeros[1] > _MOST and zeros[0] < 1 - _MOST:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > _MOST and zeros[1] < 1 - _MOST else None


def refuse_foreign(content: bytes, name: str) -> None:
    """Refuse files that are known not to be text tables."""
    if content.startswith(_SQLITE_START):
        address = f"sqlite:///{name}?table=NAME"
        message = f"{name}: is an SQLite database; name a table by an address such as {address}"
        raise InputError(message)
    for start, kind in FOREIGN_STARTS.items():
        if content.startswith(start):
            message = f"{name}: is {kind}; save the table as CSV or Parquet."
            raise InputError(message)


def _field_counts(sample: str, delimiter: str, *, cut: bool) -> list[int]:
    """Return the number of fields of each record; the last is dropped where the sample is cut."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    counts: list[int] = []
    try:
        counts.extend(len(record) for record in reader if record)
    except csv.Error:
        # A cell longer than that reader takes: the records before it tell enough.
        return counts
    return counts[:-1] if cut and len(counts) > 1 else counts


def _share_of_first(counts: list[int]) -> tuple[float, int]:
    """Return how many records have as many fields as the first, and that number."""
    return sum(count == counts[0] for count in counts) / len(counts), counts[0]
