"""Parquet files read column by column, in batches: the whole table is never in memory."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.reading.archives import refuse_large
from evalkit.reading.arrow_columns import coded, from_coded, unwritten
from evalkit.reading.strangers import odd_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    import pyarrow.parquet as pq

    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.stores import Store

BATCH_ROWS = 2**17
MOST_NAMES = 20


@dataclass(frozen=True)
class ParquetPart:
    """One Parquet file of a table.

    Attributes
    ----------
    source : str, pathlib.Path or pyarrow.Buffer
    label : str
        How messages call the file.
    keys : tuple
        Columns that the folders above the file say, with their value.
    """

    source: Any
    label: str
    keys: tuple[tuple[str, str | None], ...] = ()


def parquet_columns(
    parts: Sequence[ParquetPart], store: Store
) -> tuple[list[str], list[TextColumn], list[str]]:
    """Return names and columns of Parquet files that are one table.

    Parameters
    ----------
    parts : sequence of ParquetPart
        At least one; their rows follow each other.
    store : Store
        Keeps each column when it is read.

    Returns
    -------
    names : list of str
        In the order of the first file with rows, then what the folders say.
    columns : list of TextColumn
    empty : list of str
        Labels of files without a row, whose columns and types say nothing.

    Raises
    ------
    evalkit.InputError
        If a file is damaged, has other columns than most or cells that are no text.
    """
    found = [_Opened.of(part) for part in parts]
    opened = [one for one in found if one.metadata.num_rows] or found[:1]
    _refuse_unlike(opened)
    names = opened[0].schema.names
    store.refuse_long(parts[0].label, sum(one.metadata.num_rows for one in opened))
    columns = [store.column(_column(opened, place)) for place in range(len(names))]
    keys = [key for key, _ in parts[0].keys]
    columns += [store.column(_key_column(opened, place)) for place in range(len(keys))]
    empty = [one.part.label for one in found if not one.metadata.num_rows]
    return [*names, *keys], columns, empty


@dataclass(frozen=True, eq=False)
class _Opened:
    """A Parquet file whose foot was read."""

    part: ParquetPart
    metadata: pq.FileMetaData
    schema: pa.Schema

    @classmethod
    def of(cls, part: ParquetPart) -> _Opened:
        with damage(part.label), _file(part.source) as file:
            return cls(part, file.metadata, file.schema_arrow)

    def kind(self, name: str, place: int) -> pa.DataType:
        """Return the type of a column; files may have them in another order."""
        return self.schema.field(self.schema.names.index(name) if self.is_plain else place).type

    @property
    def is_plain(self) -> bool:
        """Whether each column can be asked for by its name."""
        names = self.schema.names
        ambiguous = any("." in name for name in names) or len(set(names)) < len(names)
        return not ambiguous and self.metadata.num_columns == len(names)

    def batches(self, name: str, place: int) -> Iterator[pa.Array]:
        """Yield the cells of a column, batch by batch."""
        with _file(self.part.source, self.metadata) as file:
            if self.is_plain:
                for batch in file.iter_batches(BATCH_ROWS, columns=[name]):
                    yield batch.column(0)
                return
            groups = range(self.metadata.num_row_groups)
            refuse_large(
                sum(self.metadata.row_group(one).total_byte_size for one in groups), self.part.label
            )
            yield from file.read().column(place).chunks


@contextmanager
def _file(source: Any, metadata: pq.FileMetaData | None = None) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, its foot known perhaps, and close it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened = pa.BufferReader(source) if isinstance(source, pa.Buffer) else pa.OSFile(str(source))
    with opened, pq.ParquetFile(opened, metadata=metadata) as file:
        yield file


@contextmanager
def damage(label: str) -> Iterator[None]:
    """Say in one line that a file is damaged."""
    import pyarrow as pa

    try:
        yield
    except (MemoryError, InputError):
        raise
    except UnicodeDecodeError:
        message = f"{label}: a column name holds bytes that are no text; give it another name."
        raise InputError(message) from None
    except (pa.ArrowException, OSError):
        message = f"{label}: the Parquet file is damaged or cut short; write it again."
        raise InputError(message) from None


def _column(opened: Sequence[_Opened], place: int) -> TextColumn:
    """Return one column of all files."""
    name = opened[0].schema.names[place]
    kinds = {file.kind(name, place) for file in opened}
    kind = kinds.pop() if len(kinds) == 1 else None
    parts = []
    for file in opened:
        with damage(file.part.label):
            for batch in file.batches(name, place):
                with unwritten(file.part.label, name, batch.type):
                    parts.append(coded(batch, kind))
    with unwritten(opened[0].part.label, name, kind):
        return from_coded(parts, kind)


def _key_column(opened: Sequence[_Opened], place: int) -> TextColumn:
    """Return a column whose cells are said by the folders above the files."""
    import numpy as np
    import pyarrow as pa

    parts = []
    for file in opened:
        codes = pa.array(np.zeros(file.metadata.num_rows, np.int32))
        value = file.part.keys[place][1]
        if value is None:
            codes = pa.nulls(file.metadata.num_rows, pa.int32())
        if len(codes):
            texts = pa.array([] if value is None else [value], pa.string())
            parts.append(pa.DictionaryArray.from_arrays(codes, texts))
    return from_coded(parts)


def _refuse_unlike(files: Sequence[_Opened]) -> None:
    """Refuse the first file whose columns, or their types, are not those of most files."""
    if places := odd_one([tuple(sorted(file.schema.names)) for file in files]):
        raise _other_names(*(files[place] for place in places))
    first = files[0]
    for other in files[1:]:
        if other.schema.names != first.schema.names and not other.is_plain:
            raise _other_names(other, first)
    for place, name in enumerate(first.schema.names):
        pairs = [(file, _family(file.kind(name, place))) for file in files]
        known = [pair for pair in pairs if pair[1] != "null"]
        if known and (places := odd_one([family for _, family in known])):
            (other, two), (like, one) = (known[place] for place in places)
            message = (
                f"{other.part.label}, column {shown(name)}: holds {two}, in {like.part.label} it "
                f"holds {one}; write all files alike."
            )
            raise InputError(message)


def _other_names(other: _Opened, like: _Opened) -> InputError:
    """Return one line on a file with columns that another has not."""
    unlike = sorted(set(like.schema.names) ^ set(other.schema.names))
    which = f" ({', '.join(map(shown, unlike[:MOST_NAMES]))})" if unlike else ""
    message = (
        f"{other.part.label}: its columns are not those of {like.part.label}{which}; write all "
        "files alike."
    )
    return InputError(message)


def _family(kind: pa.DataType) -> str:
    """Return what a type is called where two files differ in it; whole numbers are numbers."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return "null" if pa.types.is_null(kind) else str(kind).partition("[")[0]
