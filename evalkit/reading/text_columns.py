"""The columns of one or several text files with the same header."""

from __future__ import annotations

import mmap
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.reading.parquet_columns import ParquetPart, parquet_columns
from evalkit.reading.stores import no_room, scratch_file
from evalkit.reading.strangers import odd_one
from evalkit.reading.text_files import in_blocks, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.folders import Part
    from evalkit.reading.stores import Store
    from evalkit.reading.text_files import TextFile

MOST_NAMES = 20


def text_columns(
    files: Iterable[tuple[TextFile, Part]], store: Store
) -> tuple[list[str], list[TextColumn], list[TextFile], list[str]]:
    """Return names and columns of text files that are one table, and how each was read.

    Parameters
    ----------
    files : iterable of (TextFile, Part)
        Taken one by one, so that not all texts are in memory at once.
    store : Store
        On disk, the cells of a block are written to a file of columns before the next is read.

    Returns
    -------
    names : list of str
        Of the first file with rows, then what the folders above the files say.
    columns : list of TextColumn
    heads : list of TextFile
        Without their text.
    empty : list of str
        Labels of files without a row, whose header says nothing.

    Raises
    ------
    evalkit.InputError
        If a file has another header than the others, or a record has not as many cells.
    """
    sink: _Blocks | _Columns = _Columns() if store.on_disk else _Blocks()
    heads: list[TextFile] = []
    names: list[str] = []
    empty: list[str] = []
    first, rest = None, iter(files)
    with sink:
        for file, part in rest:
            with file:
                found, rows = in_blocks(file, part.label, sink.of(part))
            if not rows:
                empty.append(part.label)
                continue
            if first is None:
                names, first = found, part
            elif found != names:
                seen = [(first.label, names)] * len(heads) + [(part.label, found)]
                raise _odd_header(seen, rest)
            heads.append(replace(file, text=b"", rest=None))
            del file
        label = first.label if first else ""
        keys = [key for key, _ in first.keys] if first else []
        return [*names, *keys], sink.columns(label, store), heads, empty


def _odd_header(
    seen: Sequence[tuple[str, list[str]]], rest: Iterator[tuple[TextFile, Part]]
) -> InputError:
    """Return one line on the file whose header is not that of the others."""
    pairs = list(seen)
    if len(pairs) == 2:  # noqa: PLR2004 - one against one: the next file tells who is odd
        for file, part in islice(rest, 1):
            with file:
                names = in_blocks(file, part.label, lambda batches: _names(next(batches)))
            pairs.append((part.label, names))
    places = odd_one([tuple(names) for _, names in pairs]) or (1, 0)
    (label, found), (like, names) = (pairs[place] for place in places)
    return _unlike(label, found, like, names)


def _names(first: pa.RecordBatch) -> list[str]:
    """Return the names that the first record of a file holds."""
    return [str(column[0].as_py()) for column in first.columns]


def _unlike(label: str, names: Sequence[str], like: str, first: Sequence[str]) -> InputError:
    """Return one line on a header that is another file's no longer."""
    # Names of this file are not shown: without a header they would be the cells of a person.
    missing = [name for name in first if name not in names]
    which = f" (without {', '.join(map(shown, missing[:MOST_NAMES]))})" if missing else ""
    return InputError(
        f"{label}: its header is not that of {like}{which}; give all files the same columns in "
        "the same order."
    )


class _Blocks:
    """Codes each block at once and keeps the codes in memory, so that no text is held twice."""

    def __init__(self) -> None:
        self._parts: list[list[pa.DictionaryArray]] = []

    def __enter__(self) -> None:
        """Open nothing."""

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def of(self, part: Part) -> Any:
        """Return what takes the batches of one file and gives its names and its rows."""

        def take(batches: Iterator[pa.RecordBatch]) -> tuple[list[str], int]:
            names, columns = _coded(batches, part)
            rows = sum(map(len, columns[0]))
            if not rows:
                return names, 0
            if not self._parts:
                self._parts = [[] for _ in columns]
            # Too many or too few columns are refused by their names.
            for parts, more in zip(self._parts, columns, strict=False):
                parts.extend(more)
            return names, rows

        return take

    def columns(self, label: str, _: Store) -> list[TextColumn]:
        """Return the columns; the blocks are let go."""
        found = []
        for place, parts in enumerate(self._parts, start=1):
            found.append(joined(parts, label, place))
            parts.clear()
        return found


def _coded(
    batches: Iterator[pa.RecordBatch], part: Part
) -> tuple[list[str], list[list[pa.DictionaryArray]]]:
    """Return names and coded columns of one file."""
    first = next(batches)
    names = _names(first)
    columns: list[list[pa.DictionaryArray]] = [[] for _ in (*names, *part.keys)]
    for batch in _with_keys(first, batches, part):
        for parts, column in zip(columns, batch, strict=True):
            parts.append(column.dictionary_encode())
    return names, columns


def _with_keys(
    first: pa.RecordBatch, batches: Iterable[pa.RecordBatch], part: Part
) -> Iterator[list[pa.Array]]:
    """Yield the cells of each block without the names, and what the folders say behind them."""
    import pyarrow as pa

    def cells(batch: pa.RecordBatch) -> list[pa.Array]:
        keys = [pa.repeat(value or "", len(batch)) for _, value in part.keys]
        return [*batch.columns, *keys]

    yield cells(first.slice(1))
    for batch in batches:
        yield cells(batch)


class _Columns:
    """Writes the cells to a Parquet file without a name, to be read column by column."""

    def __init__(self) -> None:
        self._file = scratch_file()
        self._writer: Any = None
        self._width = 0

    def __enter__(self) -> None:
        """Take the file as it is: open."""

    def __exit__(self, *_: object) -> None:
        """Close the file; what was mapped of it stays."""
        # All that is read of it was written before; a full folder is told where that failed.
        with suppress(OSError), self._file:
            if self._writer:
                self._close_writer()

    def of(self, part: Part) -> Any:
        """Return what takes the batches of one file and gives its names and its rows."""
        done = 0

        def take(batches: Iterator[pa.RecordBatch]) -> tuple[list[str], int]:
            # Taken once more where a record is longer than a block: the first rows are there.
            nonlocal done
            first, seen = next(batches), 0
            for cells in _with_keys(first, batches, part):
                fresh = [column[max(0, done - seen) :] for column in cells]
                seen += len(cells[0])
                done = max(done, seen)
                self._write(fresh)
            return _names(first), done

        return take

    def _write(self, cells: list[pa.Array]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = [f"f{place}" for place in range(len(cells))]
        if not len(cells[0]):
            return
        if self._writer is None:
            schema = pa.schema([(name, pa.string()) for name in names])
            self._width = len(cells)
            self._writer = pq.ParquetWriter(
                self._file, schema, compression="lz4", write_statistics=False
            )
        if len(cells) == self._width:
            try:
                self._writer.write_batch(pa.record_batch(cells, names))
            except OSError as error:
                raise no_room(error) from None

    def _close_writer(self) -> None:
        try:
            self._writer.close()
        finally:
            # It would try once more when it is let go, and print that it failed.
            self._writer.is_open = False

    def columns(self, label: str, store: Store) -> list[TextColumn]:
        """Return the columns, each on disk."""
        import pyarrow as pa

        if self._writer is None:
            return []
        try:
            self._close_writer()
            self._file.flush()
        except OSError as error:
            raise no_room(error) from None
        view = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return parquet_columns([ParquetPart(pa.py_buffer(view), label)], store)[1]
