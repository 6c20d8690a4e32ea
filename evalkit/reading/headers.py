"""The head of a text table: remarks before it, and a header that is one name short."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD_BYTES: Final = 2 * 10**5
_DELIMITERS: Final = ",;\t|"


def without_remarks(text: bytes, delimiter: str | None) -> tuple[bytes, tuple[str, ...]]:
    r"""Return a text without the remarks before its header, and a note on them.

    A last line with ``#`` that has as many cells as the line after it is the header itself.

    Parameters
    ----------
    text : bytes
        UTF-8.
    delimiter : str or None
        None where any of the usual ones will do.

    Returns
    -------
    text : bytes
    notes : tuple of str
        Codes of what was found.

    Examples
    --------
    >>> from evalkit.reading.headers import without_remarks
    >>> without_remarks(b"# made on Monday\na,b\n1,2\n", None)[0]
    b'a,b\n1,2\n'
    """
    rest, last = text, b""
    while rest.startswith(b"#"):
        last, found, after = rest.partition(b"\n")
        if not found:
            return text, ()
        rest = after.lstrip(b"\r\n")
    if rest is text or not rest:
        return text, ()
    following = rest.partition(b"\n")[0]
    marks = delimiter or _DELIMITERS
    counts = [(last.count(mark.encode()), following.count(mark.encode())) for mark in marks]
    if any(first == second > 0 for first, second in counts) or not any(map(any, counts)):
        rest = last + b"\n" + rest
    return (text, ()) if len(rest) == len(text) else (rest, ("remarks_dropped",))


def with_whole_header(text: bytes, delimiter: str) -> tuple[bytes, tuple[str, ...]]:
    r"""Return a text whose header has a cell for each cell of its rows, and a note if not.

    Parameters
    ----------
    text : bytes
        UTF-8, from its header on.
    delimiter : str

    Returns
    -------
    text : bytes
        With an empty name behind the header where every row ends with a delimiter, before it
        where every row begins with a name of its own, as R writes it.
    notes : tuple of str
        Codes of what was found.

    Examples
    --------
    >>> from evalkit.reading.headers import with_whole_header
    >>> with_whole_header(b"a,b\n1,2,\n3,4,\n", ",")[0]
    b'a,b,\n1,2,\n3,4,\n'
    """
    head = text[:_HEAD_BYTES].decode(errors="ignore")
    records = list(_records(head, delimiter))
    if len(text) > _HEAD_BYTES:
        records = records[:-1]
    if len(records) < 2:  # noqa: PLR2004 - a header and a row
        return text, ()
    header, *rows = records
    if {len(row) for row in rows} != {len(header) + 1}:
        return text, ()
    mark = delimiter.encode()
    if all(row[-1] == "" for row in rows):
        end = _end_of_header(head)
        at = len(head[:end].encode())
        return text[:at] + mark + text[at:], ("trailing_delimiter",)
    return b'""' + mark + text, ("row_names",)


def _records(head: str, delimiter: str) -> Iterator[list[str]]:
    """Return the records of a text, as far as they can be cut."""
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        yield from (record for record in reader if record)
    except csv.Error:  # A cell longer than that reader takes: the records before it tell enough.
        return


def _end_of_header(head: str) -> int:
    """Return where the first record ends, before its line end; a name may hold line ends."""
    for end, letter in enumerate(head):
        if letter in "\r\n" and head[:end].count('"') % 2 == 0:
            return end
    return len(head)
