"""Rows of Parquet files written anew as two Parquet files, batch by batch."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.reading.parquet_columns import BATCH_ROWS, damage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.parquet as pq

    from evalkit.reading.folders import Part


def cut_parquet(
    parts: Sequence[tuple[Part, Path | bytes]],
    name: str,
    held: npt.NDArray[np.bool_],
    sinks: Sequence[IO[bytes]],
) -> None:
    """Write the rows of Parquet files that are not held back, and those that are.

    Parameters
    ----------
    parts : sequence of (Part, path or bytes)
        Files that are one table, and where each lies; one without a row is left out.
    name : str
        Of the table, for messages.
    held : ndarray of bool, shape (rows,)
    sinks : sequence of two files

    Raises
    ------
    evalkit.InputError
        If columns of one name have types that do not go together.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with ExitStack() as opened:
        files = []
        for part, source in parts:
            with damage(part.label):
                file = opened.enter_context(pq.ParquetFile(_readable(source)))
            files.append((part, file))
        filled = [pair for pair in files if pair[1].metadata.num_rows] or files[:1]
        schema = _schema([file.schema_arrow for _, file in filled], filled[0][0], name)
        writers = [opened.enter_context(pq.ParquetWriter(sink, schema)) for sink in sinks]
        start = 0
        for part, file in filled:
            for found in _batches(part, file, schema):
                table = _cast(found, schema, name)
                chosen = pa.array(held[start : start + len(table)])
                start += len(table)
                for writer, mask in zip(writers, (pa.compute.invert(chosen), chosen), strict=True):
                    if rows := table.filter(mask):
                        writer.write_table(rows)


def _readable(source: Path | bytes) -> Any:
    """Return what a Parquet reader takes."""
    import pyarrow as pa

    return pa.BufferReader(source) if isinstance(source, bytes) else source


def _schema(schemas: Sequence[pa.Schema], first: Part, name: str) -> pa.Schema:
    """Return the columns of the first file with types that all files fit into, and the keys."""
    import pyarrow as pa

    schema = schemas[0]
    if any(not one.equals(schema) for one in schemas):
        try:
            wide = pa.unify_schemas([_plain(one) for one in schemas], promote_options="permissive")
        except pa.ArrowException:
            raise _apart(name) from None
        schema = pa.schema([wide.field(one) for one in schema.names], schema.metadata)
    for key, _ in first.keys:
        schema = schema.append(pa.field(key, pa.string()))
    return schema


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return the columns with the types of their values, none as codes."""
    import pyarrow as pa

    kinds = [one.value_type if pa.types.is_dictionary(one) else one for one in schema.types]
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


def _cast(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Return a table with the types of all files."""
    import pyarrow as pa

    try:
        return table.cast(schema)
    except pa.ArrowException:
        raise _apart(name) from None


def _apart(name: str) -> InputError:
    """Return one line on types that no column can hold together."""
    return InputError(
        f"{name}: a column has other types in some of the files, and no type holds the cells of "
        "all; write the files with one type for each column."
    )


def _batches(part: Part, file: pq.ParquetFile, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of a file in the columns and types of all."""
    import pyarrow as pa

    own = file.schema_arrow.names
    names = schema.names[: len(own)]
    with damage(part.label):
        for batch in file.iter_batches(BATCH_ROWS):
            table = pa.Table.from_batches([batch])
            table = table if own == names else table.select(names)
            for key, value in part.keys:
                table = table.append_column(key, pa.array([value] * len(table), pa.string()))
            yield table
