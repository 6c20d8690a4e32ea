"""The SHA-256 of a table: of the bytes of its file, or of all files of its folder."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from evalkit.reading.folders import table_parts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalkit.reading.folders import Part


def table_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder of files that are one table.

    That of a folder is the SHA-256 of what ``sha256sum`` prints of its files in their order: for
    each a line with its own SHA-256, two blanks and its path within the folder.

    Parameters
    ----------
    path : pathlib.Path
        A regular file or a folder; read block by block.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    OSError
        If a file cannot be read.
    evalkit.InputError
        If the folder holds no table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evalkit.reading.fingerprints import table_sha256
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_bytes(b"age,sex")
    ...     table_sha256(path)[:8]
    'e9ca7b3c'
    """
    return parts_sha256(table_parts(path)) if path.is_dir() else file_sha256(path)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of the bytes of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parts_sha256(parts: Sequence[Part]) -> str:
    """Return the SHA-256 of a folder, from its files in their order."""
    lines = [f"{file_sha256(part.path)}  {part.name}\n" for part in parts]
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
