"""Text files of any size: looked through and unpacked block by block, never whole in memory."""

from __future__ import annotations

import codecs
import lzma
import zlib
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Final

from evalkit.reading.archives import GZIP_START, OTHER_STARTS, ZIP_START, damaged
from evalkit.reading.dialect import (
    BYTE_ORDER_MARK,
    encoding_of,
    no_text,
    refuse_foreign,
    unreadable,
)
from evalkit.reading.stored_tables import stored_form
from evalkit.reading.stores import check_room, scratch_file, written
from evalkit.reading.table_files import file_start, read_with
from evalkit.reading.text_files import headed_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from evalkit.reading.options import ReadingOptions
    from evalkit.reading.text_files import TextFile

HEAD_BYTES: Final = 2**24
_BLOCK_BYTES: Final = 2**22


def large_text(path: Path, options: ReadingOptions) -> TextFile | None:
    """Return a text file whose cells can be read block by block; None if it is no text.

    Parameters
    ----------
    path : pathlib.Path
        Plain, or compressed with gzip, bzip2, xz or zstandard.
    options : ReadingOptions

    Returns
    -------
    TextFile or None
        With the beginning of the text, and the rest in a file. None for a file of another form,
        and for a zip archive.

    Raises
    ------
    evalkit.InputError
        If the file is damaged, no text, or of another encoding than was given.
    """
    start = file_start(path)
    if start.startswith(ZIP_START) or stored_form(start):
        return None
    with ExitStack() as opened:
        file = opened.enter_context(read_with(_unpacked, path))
        head = _first(file, HEAD_BYTES)
        if stored_form(head):
            return None
        refuse_foreign(head, path.name)
        text, encoding = _utf8(file, head, path.name, options.encoding)
        opened.enter_context(text)
        text.seek(len(BYTE_ORDER_MARK) if _first(text, 3) == BYTE_ORDER_MARK else 0)
        head = text.read(HEAD_BYTES)
        found = replace(headed_text(head, encoding, path.name, options), rest=(text, text.tell()))
        opened.pop_all()
        if text is not file:
            file.close()
        return found


def _first(file: IO[bytes], size: int) -> bytes:
    file.seek(0)
    return file.read(size)


def _unpacked(path: Path) -> IO[bytes]:
    """Return a file as it is, or what it unpacks to in a scratch file."""
    start = file_start(path)
    kind = next((kind for first, (kind, _) in OTHER_STARTS.items() if start.startswith(first)), "")
    kind = "gzip" if start.startswith(GZIP_START) else kind
    if not kind:
        return path.open("rb")
    return _scratch(_unpacked_blocks(path, kind))


def _scratch(blocks: Iterable[bytes]) -> IO[bytes]:
    """Return a scratch file that holds the blocks."""
    with ExitStack() as opened:
        file = opened.enter_context(scratch_file())
        for block in blocks:
            check_room(len(block))
            written(file, block)
        opened.pop_all()
    return file


def _unpacked_blocks(path: Path, kind: str) -> Iterator[bytes]:
    """Yield what a compressed file holds, block by block."""
    import bz2
    import gzip

    import pyarrow as pa

    openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    errors = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pa.ArrowException)
    try:
        opener = openers.get(kind)
        with opener(path) if opener else pa.input_stream(path, compression="zstd") as file:
            while block := file.read(_BLOCK_BYTES):
                yield block
    except errors:
        raise damaged(kind, path.name) from None


def _utf8(file: IO[bytes], head: bytes, name: str, encoding: str | None) -> tuple[IO[bytes], str]:
    """Return a file as UTF-8, with its encoding."""
    found = encoding or encoding_of(head, lambda: _fits(file))
    try:
        is_plain = codecs.lookup(found).name in {"utf-8", "utf-8-sig"}
        text = file if is_plain and _fits(file) else _written_anew(file, found)
    except ValueError:
        raise unreadable(name, found, given=encoding is not None) from None
    if any(b"\0" in block for block in _blocks(text)):
        text.close()
        raise no_text(name)
    return text, found


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file block by block, from its beginning."""
    file.seek(0)
    while block := file.read(_BLOCK_BYTES):
        yield block


def _decoded(file: IO[bytes], encoding: str) -> Iterator[str]:
    """Yield the text of a file block by block."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for block in _blocks(file):
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _fits(file: IO[bytes]) -> bool:
    """Return whether a file is UTF-8."""
    try:
        for _ in _decoded(file, "utf-8"):
            pass
    except UnicodeError:
        return False
    return True


def _written_anew(file: IO[bytes], encoding: str) -> IO[bytes]:
    """Return a scratch file with the text of a file as UTF-8."""
    return _scratch(block.encode() for block in _decoded(file, encoding))
