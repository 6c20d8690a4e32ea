"""Compressed files unpacked, never more than the limit: a small archive can fill any memory."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, Final

from evalkit.errors import InputError
from evalkit.given_values import shown

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable

LARGEST_TABLE_BYTES: Final = 4 * 2**30
"""Of a file as it is and unpacked."""
GZIP_START: Final = b"\x1f\x8b"
ZIP_START: Final = b"PK\x03\x04"
WORKBOOK_PART: Final = "xl/workbook.xml"
OTHER_STARTS: Final = {
    b"BZh": ("bzip2", "bz2"),
    b"\x28\xb5\x2f\xfd": ("zstandard", "zstd"),
    b"\xfd7zXZ": ("xz", "xz"),
}
_BLOCK_BYTES: Final = 2**24


def refuse_large(size_bytes: int, name: str) -> None:
    """Refuse a table above the limit."""
    if size_bytes > LARGEST_TABLE_BYTES:
        limit = LARGEST_TABLE_BYTES // 2**30
        message = f"{name}: is larger than {limit} GiB when unpacked; give fewer rows or columns."
        raise InputError(message)


def unpacked(content: bytes, name: str) -> bytes:
    """Return what a compressed file holds, at most 4 GiB of it; anything else as it is.

    Parameters
    ----------
    content : bytes
        gzip, bzip2, xz, zstandard, or a zip archive of one file, known by its first bytes.
    name : str
        Base name of the file, for messages.

    Returns
    -------
    bytes

    Raises
    ------
    evalkit.InputError
        If the archive is damaged, holds no file or several, or is larger when unpacked.

    Examples
    --------
    >>> import gzip
    >>> from evalkit.reading.archives import unpacked
    >>> unpacked(gzip.compress(b"a,b"), "table.csv.gz")
    b'a,b'
    """
    if content.startswith(GZIP_START):
        return _gunzipped(content, name)
    if content.startswith(ZIP_START):
        return _unzipped(content, name)
    for start, (kind, codec) in OTHER_STARTS.items():
        if content.startswith(start):
            return _streamed(content, kind, codec, name)
    return content


def packed_like(content: bytes, part: bytes, member: str) -> bytes:
    """Return `part` compressed as `content` is; `member` is its name inside a zip archive.

    Parameters
    ----------
    content : bytes
        A file that `unpacked` took.
    part : bytes
    member : str

    Returns
    -------
    bytes
        The same bytes for the same part.

    Examples
    --------
    >>> import gzip
    >>> from evalkit.reading.archives import packed_like, unpacked
    >>> unpacked(packed_like(gzip.compress(b"a"), b"b", "part.csv"), "part.csv.gz")
    b'b'
    """
    import bz2
    import gzip
    import lzma
    import zipfile

    import pyarrow as pa

    if content.startswith(GZIP_START):
        return gzip.compress(part, mtime=0)
    if content.startswith(ZIP_START):
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo(member), part, zipfile.ZIP_DEFLATED)
        return sink.getvalue()
    if content.startswith(b"BZh"):
        return bz2.compress(part)
    if content.startswith(b"\xfd7zXZ"):
        return lzma.compress(part)
    packed: bytes = pa.compress(part, "zstd", asbytes=True)
    return packed


def _gunzipped(content: bytes, name: str) -> bytes:
    """Return the content of a gzip file of one or more members."""
    import gzip

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return _limited(file.read, name)
    except (OSError, EOFError, zlib.error):
        raise damaged("gzip", name) from None


def _streamed(content: bytes, kind: str, codec: str, name: str) -> bytes:
    """Return the content of a file of one of the other forms."""
    import bz2
    import lzma

    import pyarrow as pa

    try:
        if codec == "zstd":
            with pa.CompressedInputStream(pa.BufferReader(content), codec) as stream:
                return _limited(stream.read, name)
        opener = bz2.BZ2File if codec == "bz2" else lzma.LZMAFile
        with opener(io.BytesIO(content)) as file:
            return _limited(file.read, name)
    except (InputError, MemoryError):
        raise
    except (OSError, EOFError, ValueError, lzma.LZMAError, pa.ArrowException):
        raise damaged(kind, name) from None


def _limited(read: Callable[[int], bytes], name: str) -> bytes:
    """Return all that `read` gives, in blocks, and stop above the limit."""
    blocks, size = [], 0
    while block := read(_BLOCK_BYTES):
        size += len(block)
        refuse_large(size, name)
        blocks.append(block)
    return b"".join(blocks)


def damaged(kind: str, name: str) -> InputError:
    """Return one line on an archive that cannot be unpacked."""
    return InputError(f"{name}: the {kind} archive is damaged or cut short; make it again.")


def _unzipped(content: bytes, name: str) -> bytes:
    """Return the one file of a zip archive; a workbook, which is one too, as it is."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if WORKBOOK_PART in archive.namelist():
                refuse_large(sum(one.file_size for one in archive.infolist()), name)
                return content
            member = _only_member(archive, name)
            refuse_large(member.file_size, name)
            with archive.open(member) as file:
                return _limited(file.read, name)
    except InputError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, zlib.error, NotImplementedError, ValueError):
        raise damaged("zip", name) from None


def _only_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the one file that a zip archive holds besides what systems add by themselves."""
    files = [
        one
        for one in archive.infolist()
        if not one.is_dir() and not one.filename.startswith(("__MACOSX/", "."))
    ]
    if len(files) != 1:
        message = f"{name}: the zip archive holds {len(files)} files; pack the one table alone."
        raise InputError(message)
    if files[0].flag_bits & 1:
        message = f"{name}: the zip archive has a password; unpack {shown(files[0].filename)}."
        raise InputError(message)
    return files[0]
