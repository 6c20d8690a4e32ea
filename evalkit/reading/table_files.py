"""The bytes of data files: regular files only, unpacked, none larger than 4 GiB."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.limited_files import limited_bytes

if TYPE_CHECKING:
    import pyarrow as pa

GZIP_START = b"\x1f\x8b"
PARQUET_START = b"PAR1"
LARGEST_TABLE_BYTES = 4 * 2**30
"""Of a file as it is and unpacked: a small archive can hold more than any memory."""
LONGEST_NAME = 100


def file_bytes(source: str | Path) -> bytes:
    """Return the bytes of a file of at most 4 GiB, or one clear line on why they cannot be read."""
    path = Path(source)
    try:
        content = limited_bytes(path, LARGEST_TABLE_BYTES)
    except IsADirectoryError:
        message = f"{path.name}: is a folder; give a CSV or Parquet file."
        raise InputError(message) from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        message = f"{path.name[:LONGEST_NAME]}: cannot be read ({reason}); check the path."
        raise InputError(message) from None
    _refuse_large(len(content), path.name)
    return content


def _refuse_large(size_bytes: int, name: str) -> None:
    """Refuse a table above the limit."""
    if size_bytes > LARGEST_TABLE_BYTES:
        limit = LARGEST_TABLE_BYTES // 2**30
        message = f"{name}: is larger than {limit} GiB when unpacked; give fewer rows or columns."
        raise InputError(message)


def is_parquet(content: bytes) -> bool:
    """Return whether a file is a Parquet file, whatever its name."""
    return content.startswith(PARQUET_START)


def unpacked(content: bytes, name: str) -> bytes:
    """Return the content of a gzip file, at most 4 GiB of it; anything else as it is."""
    if not content.startswith(GZIP_START):
        return content
    import gzip
    import io

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            plain = file.read(LARGEST_TABLE_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        message = f"{name}: the gzip archive is damaged or cut short; make it again."
        raise InputError(message) from None
    _refuse_large(len(plain), name)
    return plain


def parquet_table(content: bytes, name: str) -> pa.Table:
    """Return the table in a Parquet file, at most 4 GiB of it.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        Its base name, for messages.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    evalkit.InputError
        If the file is damaged, larger when unpacked, or has a name that is no text.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        found = file.metadata
        groups = [found.row_group(place) for place in range(found.num_row_groups)]
        unpacked_bytes = sum(group.total_byte_size for group in groups)
        # A page may hold one value for millions of rows, each of which takes a place here.
        place_bytes = 4 * found.num_rows * found.num_columns
        _refuse_large(max(unpacked_bytes, place_bytes), name)
        return file.read()
    except MemoryError:
        raise
    except UnicodeDecodeError:
        message = f"{name}: a column name holds bytes that are no text; give it another name."
        raise InputError(message) from None
    except (pa.ArrowException, OSError):
        message = f"{name}: the Parquet file is damaged or cut short; write it again."
        raise InputError(message) from None
