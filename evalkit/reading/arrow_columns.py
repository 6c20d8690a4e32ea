"""Columns of text: each different cell once, and for each row which of them it holds."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

FEWEST_KEPT = 2**16
"""Different numbers or moments of a column that are kept as they were stored."""
FIRST_YEAR, LAST_YEAR = 1, 9999


@dataclass(frozen=True, eq=False)
class TextColumn:
    """One column of one table.

    Attributes
    ----------
    codes : numpy.ndarray of int32, shape (rows,)
        Place of the cell's text in `texts`, -1 for an empty cell.
    texts : pyarrow.Array of string, shape (k,)
        The different filled cells as they were written, each held by at least one row. Many
        numbers or moments that were stored as such stay int64, float64 or timestamp: every
        function of `cells` and `dates` says of them what it says of their text.
    blanks : int
        Empty cells that hold blanks.
    """

    codes: npt.NDArray[np.int32]
    texts: pa.Array
    blanks: int = 0

    def text(self, place: int) -> str:
        """Return one of the texts."""
        return str(as_text(self.texts[place : place + 1])[0])

    def without(self, gone: npt.NDArray[np.bool_]) -> TextColumn:
        """Return the column with the texts at `gone`, shape (k,), read as empty."""
        import numpy as np
        import pyarrow as pa

        if not gone.any():
            return self
        places = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1).astype(np.int32)
        return TextColumn(places[self.codes], self.texts.filter(pa.array(~gone)), self.blanks)

    def counts(self) -> npt.NDArray[np.intp]:
        """Return how many rows hold each text, shape (k,)."""
        if len(self.texts) >= FEWEST_KEPT:  # as many numbers as rows are not kept for each column
            return self._counted()
        return self._few_counts

    def cells(self, wanted: npt.NDArray[np.bool_]) -> int:
        """Return how many rows hold one of the texts at `wanted`, shape (k,)."""
        return int(self.counts()[wanted].sum()) if wanted.any() else 0

    @cached_property
    def _few_counts(self) -> npt.NDArray[np.intp]:
        return self._counted()

    def _counted(self) -> npt.NDArray[np.intp]:
        import numpy as np

        return np.bincount(self.codes + np.int32(1), minlength=len(self.texts) + 1)[1:]

    def first_row(self, wanted: npt.NDArray[np.bool_]) -> int:
        """Return the number, counted from 1, of the first row that holds a wanted text."""
        import numpy as np

        return int(np.argmax(np.append(wanted, False)[self.codes])) + 1


def from_arrow(values: Any) -> TextColumn:
    """Return an Arrow column of any type as a column of text.

    Parameters
    ----------
    values : pyarrow.Array or pyarrow.ChunkedArray, shape (rows,)

    Returns
    -------
    TextColumn
        Cells of nothing but blanks are empty.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from_arrow(pa.array([2.0, None, 2.0])).codes.tolist()
    [0, -1, 0]
    """
    import pyarrow as pa

    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    return from_coded([coded(chunk, values.type) for chunk in chunks], values.type)


def coded(values: pa.Array, kind: pa.DataType | None = None) -> pa.Array:
    """Return some cells of a column as they are put together with others.

    Parameters
    ----------
    values : pyarrow.Array
    kind : pyarrow.DataType, optional
        That of all cells of the column; None where parts of it differ, and all become text.

    Returns
    -------
    pyarrow.DictionaryArray or pyarrow.Array
        Text with each different cell once. Of numbers and moments their bits, which tell the same
        cells apart and are quicker to compare.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    bits = _bits(kind)
    if bits is None:
        return as_text(values).dictionary_encode()
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    return values.view(bits)


def _bits(kind: pa.DataType | None) -> pa.DataType | None:
    """Return the whole numbers that a type's cells are bit by bit; None where they are none."""
    import pyarrow as pa

    if kind is None or pa.types.is_interval(kind):
        return None
    tests = pa.types.is_integer, pa.types.is_floating, pa.types.is_temporal
    if not any(test(kind) for test in tests):
        return None
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width]


def from_coded(parts: Sequence[pa.Array], kind: pa.DataType | None = None) -> TextColumn:
    """Return the parts of a column as a column of text.

    Parameters
    ----------
    parts : sequence of pyarrow.Array
        As `coded` makes them. Every cell of a dictionary is held by at least one row.
    kind : pyarrow.DataType, optional
        As `coded` was given it.

    Returns
    -------
    TextColumn
        Cells of nothing but blanks are empty.

    Raises
    ------
    pyarrow.ArrowException
        If the different texts hold over 2 GiB.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not any(map(len, parts)):
        return TextColumn(np.empty(0, np.int32), pa.array([], pa.string()))
    whole = pa.chunked_array(parts)
    is_coded = pa.types.is_dictionary(whole.type)
    parts = (whole.unify_dictionaries() if is_coded else whole.dictionary_encode()).chunks
    codes = [pc.fill_null(part.indices, -1).to_numpy(zero_copy_only=False) for part in parts]
    rows = np.concatenate([np.empty(0, np.int32), *codes])
    different = parts[0].dictionary
    if kind is not None and not is_coded:
        stored = _stored(different.view(kind))
        return TextColumn(rows, stored) if stored else _once(rows, as_text(different.view(kind)))
    column = TextColumn(rows, different)
    blank = pc.utf8_length(pc.utf8_trim_whitespace(different)).to_numpy(zero_copy_only=False) == 0
    padded = blank & (pc.utf8_length(different).to_numpy(zero_copy_only=False) > 0)
    kept = column.without(blank)
    return TextColumn(kept.codes, kept.texts, column.cells(padded))


def _stored(values: pa.Array) -> pa.Array | None:
    """Return many numbers or moments as they are kept, None where they are to become text.

    What is kept says the same as its text, and quicker. Few are quick in any way, and numbers of
    4 bytes are not what their text says.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if len(values) < FEWEST_KEPT:
        return None
    if pa.types.is_float64(kind):
        return values
    if pa.types.is_integer(kind):
        return None if pa.types.is_uint64(kind) else pc.cast(values, pa.int64())
    if not pa.types.is_timestamp(kind):
        return None
    ends = pc.min_max(pc.year(pc.cast(values, pa.timestamp(kind.unit)))).as_py()
    if ends["min"] < FIRST_YEAR or ends["max"] > LAST_YEAR:
        return None
    return pc.cast(values, pa.timestamp(kind.unit, "UTC")) if kind.tz else values


def _once(codes: npt.NDArray[np.int32], texts: pa.Array) -> TextColumn:
    """Return a column in which each text stands once, though two cells may have the same."""
    import numpy as np

    found = texts.dictionary_encode()
    if len(found.dictionary) == len(texts):
        return TextColumn(codes, texts)
    places = np.append(found.indices.to_numpy(zero_copy_only=False), -1).astype(np.int32)
    return TextColumn(places[codes], found.dictionary)


def frame_columns(source: Any, role: str) -> tuple[list[Any], list[TextColumn]]:
    """Return names and columns of a table in memory.

    Parameters
    ----------
    source : pandas.DataFrame or Arrow table
        Anything that offers the Arrow stream interface will do.
    role : str
        Name of the table, for messages.

    Returns
    -------
    names : list
        As they are, text or not.
    columns : list of TextColumn

    Raises
    ------
    evalkit.InputError
        If it is no table.
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(source, pd.DataFrame):
        if source.columns.nlevels > 1:
            message = f"{role}: has column names of several levels; join them into one text each."
            raise InputError(message)
        places = range(source.shape[1])
        return list(source.columns), [_from_series(source, place, role) for place in places]
    if hasattr(source, "__arrow_c_stream__"):
        return table_columns(pa.table(source), role)
    message = f"{role}: {type(source).__name__} is no table; give a path or a DataFrame."
    raise InputError(message)


def table_columns(table: pa.Table, label: str) -> tuple[list[Any], list[TextColumn]]:
    """Return names and columns of an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
    label : str
        How messages call it.

    Returns
    -------
    names : list of str
    columns : list of TextColumn

    Raises
    ------
    evalkit.InputError
        If a cell cannot be written as text.
    """
    names = list(table.column_names)
    pairs = zip(names, table.columns, strict=True)
    return names, [_named_column(name, values, label) for name, values in pairs]


def _named_column(name: str, values: Any, label: str) -> TextColumn:
    """Return one column of a table as text."""
    with unwritten(label, name, values.type):
        return from_arrow(values)


@contextmanager
def unwritten(label: str, name: str, kind: pa.DataType | None) -> Iterator[None]:
    """Say in one line that cells of a column cannot be written as text.

    Parameters
    ----------
    label : str
        How messages call the table.
    name : str
        The column.
    kind : pyarrow.DataType, optional
    """
    import pyarrow as pa

    try:
        yield
    except (MemoryError, InputError):
        raise
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        message = (
            f"{label}, column {shown(name)}: cells of the type {shown(str(kind))} cannot all be "
            "written as text; give them another type or leave the column out of the file."
        )
        raise InputError(message) from None


def _from_series(frame: pd.DataFrame, place: int, role: str) -> TextColumn:
    """Return a column of a DataFrame as text."""
    import pyarrow as pa

    series = frame.iloc[:, place]
    try:
        return from_arrow(pa.array(series, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Mixed or unusual cells: their own text is the best there is.
        missing = series.isna().to_numpy()
        cells = [None if gone else str(cell) for cell, gone in zip(series, missing, strict=True)]
    try:
        return from_arrow(pa.array(cells, pa.string()))
    except UnicodeEncodeError:
        name = shown(frame.columns[place])
        message = f"{role}, column {name}: a cell holds characters that are not valid text."
        raise InputError(message) from None


def as_text(values: Any) -> Any:
    """Return Arrow values as strings; whole floats lose their fraction, NaN is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_string(kind):
        return values
    if pa.types.is_dictionary(kind):
        return as_text(pc.cast(values, kind.value_type))
    if pa.types.is_duration(kind):
        return _lengthsas_text(values)
    if pa.types.is_floating(kind):
        return pc.cast(pc.if_else(pc.is_nan(values), None, values), pa.string())
    if pa.types.is_nested(kind):
        return pa.array([None if cell is None else str(cell) for cell in values.to_pylist()])
    if pa.types.is_timestamp(kind) and kind.tz:
        # The same moments, also where the time zone is none that this machine knows.
        values = pc.cast(values, pa.timestamp(kind.unit, "UTC"))
    return pc.cast(values, pa.string())


def _lengthsas_text(values: Any) -> Any:
    """Return lengths of time as a text file has them, in the ISO form: PT90S, -PT0.25S."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[values.type.unit]
    ticks = pc.cast(values, pa.int64())
    size = pc.abs_checked(ticks)
    whole = pc.divide(size, 10**digits)
    rest = pc.subtract(size, pc.multiply(whole, 10**digits))
    padded = pc.utf8_lpad(pc.cast(rest, pa.string()), digits, "0")
    part = pc.if_else(pc.equal(rest, 0), "", pc.binary_join_element_wise("", padded, "."))
    start = pc.if_else(pc.less(ticks, 0), "-PT", "PT")
    return pc.binary_join_element_wise(start, pc.cast(whole, pa.string()), part, "S", "")
