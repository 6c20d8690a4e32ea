"""A folder of files that are one table, as Spark, Dask and pandas write it."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evalkit.errors import InputError
from evalkit.given_values import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
DEEPEST = 20
_HIDDEN = (".", "_")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Part:
    """One file of a table.

    Attributes
    ----------
    path : pathlib.Path
    name : str
        Path within the folder, with ``/`` between its parts; the base name of a single file.
    keys : tuple of tuple of str and str or None
        Names and values that the folders above the file say, such as ``year=2021``; None where
        the value is missing.
    """

    path: Path
    name: str
    keys: tuple[tuple[str, str | None], ...] = ()

    @property
    def label(self) -> str:
        """How messages call the file: its base name, as the folders above it may say cells."""
        return self.path.name


def table_parts(folder: Path) -> list[Part]:
    """Return the files of a folder in the order of their names, numbers by their value.

    Parameters
    ----------
    folder : pathlib.Path

    Returns
    -------
    list of Part
        Files and folders whose names begin with a point or an underscore are left out.

    Raises
    ------
    evalkit.InputError
        If there is no file, or the folders above the files do not say the same columns.

    Examples
    --------
    >>> import tempfile
    >>> from evalkit.reading.folders import table_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part.10.csv", "part.2.csv", "_SUCCESS"):
    ...         _ = (Path(folder) / name).write_text("age")
    ...     [part.name for part in table_parts(Path(folder))]
    ['part.2.csv', 'part.10.csv']
    """
    name = folder.name
    try:
        parts = list(_parts(folder))
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(f"{name}: cannot be read ({reason}); check the path.") from None
    if not parts:
        message = f"{name}: is a folder without a file in it; give one with CSV or Parquet files."
        raise InputError(message)
    first = [key for key, _ in parts[0].keys]
    for part in parts:
        if [key for key, _ in part.keys] != first:
            message = (
                f"{name}: {shown(part.label)} does not stand in folders of the same names (such as "
                f"year=2021) as {shown(parts[0].label)}; put all files of a table side by side."
            )
            raise InputError(message)
    return parts


def _parts(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Part]:
    """Yield the files of a folder and of those in it, in the order of their names."""
    for entry in sorted(os.scandir(folder), key=lambda one: _in_order(one.name)):
        if entry.name.startswith(_HIDDEN):
            continue
        _check_entry(folder, entry)
        if len(above) > DEEPEST:  # A link to a folder above it would never end.
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if entry.is_dir():
            yield from _parts(Path(entry.path), (*above, entry.name))
        else:
            keys = tuple(_key(name) for name in above if "=" in name)
            yield Part(Path(entry.path), "/".join((*above, entry.name)), keys)


def _check_entry(folder: Path, entry: os.DirEntry[str]) -> None:
    """Refuse what cannot be named in a message, and what is no file: reading it may never end."""
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        message = f"{folder.name}: a name in this folder is not UTF-8; rename that file or folder."
        raise InputError(message) from None
    if not entry.is_dir() and not entry.is_file() and Path(entry.path).exists():
        message = (
            f"{folder.name}: {shown(entry.name)} is a pipe or a device, not a file; take it out of "
            "the folder."
        )
        raise InputError(message)


def _key(name: str) -> tuple[str, str | None]:
    """Return the name and the value that a folder such as ``year=2021`` says."""
    key, _, value = name.partition("=")
    return unquote(key), None if value == NO_VALUE else unquote(value)


def _in_order(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return what a name is sorted by: part.2 comes before part.10."""
    pieces = _DIGITS.split(name)
    return [(int(one), "") if place % 2 else (0, one) for place, one in enumerate(pieces)], name
