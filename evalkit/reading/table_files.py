"""The bytes of data files: regular files only, none larger than 4 GiB."""

from __future__ import annotations

from pathlib import Path

from evalkit.errors import InputError
from evalkit.limited_files import limited_bytes
from evalkit.reading.archives import LARGEST_TABLE_BYTES, refuse_large

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
    refuse_large(len(content), path.name)
    return content
