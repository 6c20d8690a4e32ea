"""The columns of a file or of a folder of files, whatever their form."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.reading.archives import unpacked
from evalkit.reading.arrow_columns import frame_columns, table_columns
from evalkit.reading.fingerprints import file_sha256, parts_sha256
from evalkit.reading.folders import Part, table_parts
from evalkit.reading.large_texts import large_text
from evalkit.reading.parquet_columns import ParquetPart, parquet_columns
from evalkit.reading.stored_tables import PARQUET_START, stored_form, stored_table
from evalkit.reading.strangers import refuse_strangers
from evalkit.reading.table_files import file_bytes, file_start, read_with
from evalkit.reading.text_columns import text_columns
from evalkit.reading.text_files import EmptyTextError, text_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from evalkit.messages import Message
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions
    from evalkit.reading.stores import Store
    from evalkit.reading.text_files import TextFile


@dataclass(frozen=True, eq=False)
class FoundColumns:
    """What was read from a file or a folder, before its names are looked at.

    Attributes
    ----------
    names : list
    columns : list of TextColumn
    sha256 : str
    notes : tuple of Message
    empty : tuple of str
        Base names of the files of a folder that hold no row.
    files : tuple of TextFile
        How each text file was read; its text is let go.
    parts : int
        How many files a folder holds, those without a row too; 0 for a single file.
    """

    names: list[Any]
    columns: list[TextColumn]
    sha256: str
    notes: tuple[Message, ...] = ()
    empty: tuple[str, ...] = ()
    files: tuple[TextFile, ...] = ()
    parts: int = 0


def file_columns(path: Path, options: ReadingOptions, store: Store) -> FoundColumns:
    """Return the columns of one file.

    Parameters
    ----------
    path : pathlib.Path
    options : ReadingOptions
    store : Store
        On disk, a file of text is read in batches, whatever its size.

    Returns
    -------
    FoundColumns

    Raises
    ------
    evalkit.InputError
        If the file cannot be read.
    """
    name = path.name
    if file_start(path).startswith(PARQUET_START):
        sha256 = read_with(file_sha256, path)
        names, columns, _ = parquet_columns([ParquetPart(path, name)], store)
        return FoundColumns(names, columns, sha256)
    if store.on_disk and (file := large_text(path, options)):
        return _of_texts([(file, Part(path, name))], store, read_with(file_sha256, path))
    content = file_bytes(path)
    sha256 = hashlib.sha256(content).hexdigest()
    content = unpacked(content, name)
    form = stored_form(content)
    if form:
        table, notes = stored_table(content, form, name)
        take = frame_columns if hasattr(table, "iloc") else table_columns
        return FoundColumns(*take(table, name), sha256, tuple(notes))
    held = [content]  # Handed over: a text is let go before its columns are put together.
    del content
    return _of_texts(_one_text(held, path, options), store, sha256)


def _one_text(
    held: list[bytes], path: Path, options: ReadingOptions
) -> Iterator[tuple[TextFile, Part]]:
    """Yield the one text that is held."""
    yield text_file(held.pop(), path.name, options), Part(path, path.name)


def folder_columns(path: Path, options: ReadingOptions, store: Store) -> FoundColumns:
    """Return the columns of a folder of files that are one table.

    Parameters
    ----------
    path : pathlib.Path
    options, store
        As for `file_columns`.

    Returns
    -------
    FoundColumns
        Rows in the order of the names of the files. What folders such as ``year=2021`` say is a
        column behind those of the files. A file without a row is left out.

    Raises
    ------
    evalkit.InputError
        If the files are neither all Parquet nor all text, or have not the same columns.
    """
    parts = table_parts(path)
    starts = {part: file_start(part.path) for part in parts}
    sha256 = read_with(parts_sha256, parts, path.name)
    empty = [part.label for part in parts if not starts[part]]
    filled = [part for part in parts if starts[part]]
    are_parquet = [starts[part].startswith(PARQUET_START) for part in filled]
    refuse_strangers(path.name, [part.label for part in filled], are_parquet)
    if any(are_parquet):
        files = [ParquetPart(part.path, part.label, part.keys) for part in filled]
        names, columns, without_rows = parquet_columns(files, store)
        without = (*empty, *without_rows)
        return FoundColumns(names, columns, sha256, empty=without, parts=len(parts))
    found = _of_texts(_texts(filled, options, store, empty), store, sha256)
    return replace(found, empty=(*empty, *found.empty), parts=len(parts))


def _texts(
    parts: Sequence[Part], options: ReadingOptions, store: Store, empty: list[str]
) -> Iterator[tuple[TextFile, Part]]:
    """Yield the text files of a folder one by one; add those without a letter to `empty`."""
    for part in parts:
        try:
            file = _text(part, options, store)
        except EmptyTextError:
            empty.append(part.label)
            continue
        yield file, part


def _text(part: Part, options: ReadingOptions, store: Store) -> TextFile:
    """Return one text file of a folder."""
    if store.on_disk and (file := large_text(part.path, options)):
        return file
    content = unpacked(file_bytes(part.path), part.label)
    if stored_form(content):
        message = (
            f"{part.label}: a folder of files of this form is not read as one table; save "
            "them as CSV or Parquet."
        )
        raise InputError(message)
    return text_file(content, part.label, options)


def _of_texts(files: Iterable[tuple[TextFile, Part]], store: Store, sha256: str) -> FoundColumns:
    """Return the columns of text files, and how each was read."""
    names, columns, heads, empty = text_columns(files, store)
    return FoundColumns(names, columns, sha256, empty=tuple(empty), files=tuple(heads))
