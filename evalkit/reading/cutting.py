"""A table cut in two: the rows to keep and those to hold back, written as files of its own form.

A folder of files becomes two files. Parquet is copied batch by batch and text record by record, so
that neither the table nor one of the two is in memory at once.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evalkit.errors import InputError
from evalkit.reading.archives import (
    GZIP_START,
    OTHER_STARTS,
    ZIP_START,
    packed_like,
    unpacked,
)
from evalkit.reading.cutting_parquet import cut_parquet
from evalkit.reading.cutting_text import cut_texts
from evalkit.reading.folders import Part, table_parts
from evalkit.reading.large_texts import large_text
from evalkit.reading.stored_tables import PARQUET_START, stored_form
from evalkit.reading.table_files import file_bytes, file_start, is_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from evalkit.reading.options import ReadingOptions

PACKED_ENDINGS: Final = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
_PACKED_STARTS: Final = (GZIP_START, ZIP_START, *OTHER_STARTS)
_TEXT_ENDINGS: Final = frozenset({".csv", ".tsv", ".tab", ".psv", ".txt", ".dat"})


def cut_ending(path: Path) -> str:
    """Return what the names of the two files end with.

    Parameters
    ----------
    path : pathlib.Path
        A file, whose own ending it is, or a folder, of whose first filled file it is: unpacked.

    Returns
    -------
    str

    Raises
    ------
    evalkit.InputError
        If there is no file in the folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.reading.cutting import cut_ending
    >>> cut_ending(Path("patients.csv.gz"))
    '.csv.gz'
    """
    if not is_folder(path):
        suffixes = path.suffixes[-2:] if path.suffix.lower() in PACKED_ENDINGS else [path.suffix]
        return "".join(suffixes)
    first = _filled(path)[0]
    if file_start(first.path).startswith(PARQUET_START):
        return ".parquet"
    plain = Path(first.path.stem if first.path.suffix in PACKED_ENDINGS else first.path.name)
    return plain.suffix if plain.suffix.lower() in _TEXT_ENDINGS else ".csv"


def cut_table(
    path: Path, options: ReadingOptions, held: npt.NDArray[np.bool_], scratch: Path
) -> tuple[Path, Path]:
    """Write the rows to keep and those to hold back into a private folder.

    Parameters
    ----------
    path : pathlib.Path
        A file or a folder that `read_table` took.
    options : ReadingOptions
        As it was read with.
    held : ndarray of bool, shape (rows,)
        Which rows are held back, in the order in which `read_table` gives them.
    scratch : pathlib.Path
        An empty folder.

    Returns
    -------
    kept, held : pathlib.Path
        Files in it. Records of one text file, and of files that were written alike, are as they
        were; rows of Parquet have the types of their columns. What folders such as ``year=2021``
        say is a column behind the others.

    Raises
    ------
    evalkit.InputError
        If the form of the file cannot be written, or columns of one name have types that do not go
        together.
    OSError
        If a file cannot be written.
    """
    paths = scratch / "working", scratch / "holdout"
    parts = _filled(path) if is_folder(path) else [Part(path, path.name)]
    with ExitStack() as opened:
        sinks = [opened.enter_context(one.open("wb")) for one in paths]
        if file_start(parts[0].path).startswith(PARQUET_START):
            cut_parquet([(part, part.path) for part in parts], path.name, held, sinks)
        elif (content := _stored(path, options)) is not None:
            cut_parquet([(parts[0], content)], path.name, held, sinks)
        else:
            cut_texts(parts, options, held, sinks)
    if not is_folder(path):
        _pack_like(path, paths)
    return paths


def _filled(folder: Path) -> list[Part]:
    """Return the files of a folder that hold a byte; all of them if none does."""
    parts = table_parts(folder)
    return [part for part in parts if file_start(part.path)] or parts


def _stored(path: Path, options: ReadingOptions) -> bytes | None:
    """Return the content of a packed Parquet file; None for text, one clear line for the rest."""
    if is_folder(path):
        return None
    start = file_start(path)
    if not start.startswith(_PACKED_STARTS) and not stored_form(start):
        return None
    if file := large_text(path, options):
        with file:
            return None
    plain = unpacked(file_bytes(path), path.name)
    form = stored_form(plain)
    if form in {None, "parquet"}:
        return plain if form else None
    message = f"{path.name}: a file of this form cannot be split; save it as CSV or Parquet."
    raise InputError(message)


def _pack_like(path: Path, parts: Sequence[Path]) -> None:
    """Pack the two files where the file that was cut is packed."""
    start = file_start(path)
    if start.startswith(_PACKED_STARTS):
        for part in parts:
            part.write_bytes(packed_like(start, part.read_bytes(), path.stem))
