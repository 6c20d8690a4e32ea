"""The bytes of data files: regular files only, none larger than 4 GiB in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evalkit.errors import InputError
from evalkit.limited_files import limited_bytes
from evalkit.reading.archives import LARGEST_TABLE_BYTES, refuse_large

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_NAME = 100
START_BYTES = 2**16
_Given = TypeVar("_Given")
_Found = TypeVar("_Found")


def file_bytes(source: str | Path) -> bytes:
    """Return the bytes of a file of at most 4 GiB, or one clear line on why they cannot be read."""
    path = Path(source)
    content = read_with(_limited, path)
    refuse_large(len(content), path.name)
    return content


def file_start(path: Path) -> bytes:
    """Return the first bytes of a file, or one clear line on why they cannot be read."""
    return read_with(_start, path)


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; False where it is nothing, or no path at all."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_with(read: Callable[[_Given], _Found], given: _Given, name: str | None = None) -> _Found:
    """Return what a function reads, or one clear line on why it cannot.

    Parameters
    ----------
    read : callable
    given : pathlib.Path or object
        What it is called with.
    name : str, optional
        How the message calls it; by default the base name of the path.

    Raises
    ------
    evalkit.InputError

        Naming the file and the reason.
    """
    shown = name or str(getattr(given, "name", ""))
    try:
        return read(given)
    except IsADirectoryError:
        message = f"{shown}: is a folder; give a CSV or Parquet file."
        raise InputError(message) from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        message = f"{shown[:LONGEST_NAME]}: cannot be read ({reason}); check the path."
        raise InputError(message) from None


def _limited(path: Path) -> bytes:
    return limited_bytes(path, LARGEST_TABLE_BYTES)


def _start(path: Path) -> bytes:
    """Return the first bytes of a regular file."""
    return limited_bytes(path, START_BYTES)[:START_BYTES]
