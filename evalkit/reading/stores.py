"""Where the columns of a table lie: in memory, or in files without a name that are mapped.

The files hold personal data. They are made without a name, or lose it at once, so nothing is left
of them once the columns are gone, however the process ends.
"""

from __future__ import annotations

import mmap
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.reading.arrow_columns import TextColumn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

SMALLEST_SEGMENT = 2**26
LARGEST_SEGMENT = 2**32
_ALIGNED = 64  # bytes: as Arrow wants its buffers
GIB = 2**30
SMALLEST_MEMORY = 2**28
COLUMN_BYTES = 24
"""Of one cell while its column is read: its code, its number and those of an order."""


def scratch_file() -> IO[bytes]:
    """Return a file without a name in the system's temporary folder, for its owner only.

    Raises
    ------
    evalkit.InputError
        If the temporary folder cannot be written to.
    """
    try:
        return tempfile.TemporaryFile(prefix="evalkit-")
    except OSError as error:
        raise no_room(error) from None


def check_room(needed: int) -> None:
    """Refuse tables that the temporary folder has no room for."""
    try:
        free = shutil.disk_usage(tempfile.gettempdir()).free
    except OSError as error:
        raise no_room(error) from None
    if needed > free:
        message = (
            f"The tables need about {needed / GIB:,.1f} GiB on disk, and the temporary folder has "
            f"{free / GIB:,.1f} GiB free; free some, or name another folder in TMPDIR."
        )
        raise InputError(message)


def written(file: IO[bytes], block: Any) -> None:
    """Write a block to a scratch file, or say in one line that it is full."""
    try:
        file.write(block)
        file.flush()
    except OSError as error:
        raise no_room(error) from None


def no_room(error: OSError) -> InputError:
    """Return one line on a temporary folder that cannot be written to."""
    reason = (error.strerror or type(error).__name__).lower()
    message = (
        f"The temporary folder cannot be written to ({reason}); free some room, or name another "
        "folder in TMPDIR."
    )
    return InputError(message)


class _Segment:
    """One file, mapped once: a mapping for each column would use up the open files."""

    def __init__(self, size: int) -> None:
        self.size, self.end = size, 0
        self.file = scratch_file()
        weakref.finalize(self, self.file.close)
        try:
            self.file.truncate(size)  # holes: room is taken when a block is written
        except OSError as error:
            raise no_room(error) from None
        self.view = mmap.mmap(self.file.fileno(), size, access=mmap.ACCESS_WRITE)

    def put(self, block: memoryview) -> int:
        """Write a block behind the others and return its place."""
        # Written, not copied into the mapping: a full disk is then an error, not a signal.
        start = self.end
        self.file.seek(start)
        written(self.file, block)
        self.end = start + -(-block.nbytes // _ALIGNED) * _ALIGNED
        return start


@dataclass(eq=False)
class Store:
    """Keeps columns in memory, or on disk as arrays that are mapped.

    Attributes
    ----------
    on_disk : bool
    memory : int, optional
        Bytes that a column may take while it is read.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.reading.stores import Store, is_on_disk
    >>> kept = Store(on_disk=True).array(np.arange(3))
    >>> kept.tolist(), is_on_disk(kept)
    ([0, 1, 2], True)
    """

    on_disk: bool = False
    memory: int | None = None
    _segments: list[_Segment] = field(default_factory=list, repr=False)

    def refuse_long(self, label: str, rows: int) -> None:
        """Refuse a table of which not even one column fits into the memory given."""
        needed = rows * COLUMN_BYTES
        if self.on_disk and self.memory is not None and needed > max(self.memory, SMALLEST_MEMORY):
            message = (
                f"{label}: one column of {rows:,} rows needs about {needed / GIB:,.1f} GiB of "
                "memory while it is read; give as much with --memory, or fewer rows."
            )
            raise InputError(message)

    def array(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array of one dimension, on disk if this store is."""
        import numpy as np

        if not self.on_disk or not values.nbytes or is_on_disk(values):
            return values
        segment, start = self._put(np.ascontiguousarray(values).data.cast("B"))
        kept: npt.NDArray[Any] = np.frombuffer(segment.view, values.dtype, len(values), start)
        return kept

    def texts(self, values: pa.Array) -> pa.Array:
        """Return texts or numbers without missing ones, on disk if this store is."""
        import pyarrow as pa

        if not self.on_disk or not len(values):
            return values
        buffers = [self._buffer(one) for one in _plain_buffers(values)]
        return pa.Array.from_buffers(values.type, len(values), [None, *buffers])

    def column(self, column: TextColumn) -> TextColumn:
        """Return a column of text, on disk if this store is."""
        if not self.on_disk or is_on_disk(column.codes):
            return column
        return TextColumn(self.array(column.codes), self.texts(column.texts), column.blanks)

    def cells(self, values: Any) -> Any:
        """Return numbers or categories as the metrics read them, on disk if this store is."""
        import pandas as pd

        if not self.on_disk:
            return values
        if isinstance(values, pd.Categorical):
            return pd.Categorical.from_codes(self.array(values.codes), dtype=values.dtype)
        return self.array(values)

    def _put(self, block: memoryview) -> tuple[_Segment, int]:
        last = self._segments[-1] if self._segments else None
        if last is None or last.end + block.nbytes > last.size:
            size = min(2 * last.size, LARGEST_SEGMENT) if last else SMALLEST_SEGMENT
            if last:
                last.file.close()
            last = _Segment(max(size, block.nbytes))
            self._segments.append(last)
        return last, last.put(block)

    def _buffer(self, block: memoryview) -> pa.Buffer:
        import pyarrow as pa

        if not block.nbytes:
            return pa.py_buffer(b"")
        segment, start = self._put(block)
        return pa.py_buffer(memoryview(segment.view)[start : start + block.nbytes])


def _plain_buffers(values: pa.Array) -> list[memoryview]:
    """Return the buffers of an array without missing cells that begin with its first cell."""
    import numpy as np
    import pyarrow as pa

    _, first, *rest = values.buffers()
    if not pa.types.is_string(values.type):
        width = values.type.bit_width // 8
        start = values.offset * width
        return [memoryview(first)[start : start + len(values) * width].cast("B")]
    offsets = np.frombuffer(first, np.int32)[values.offset : values.offset + len(values) + 1]
    text = memoryview(rest[0] or b"")[int(offsets[0]) : int(offsets[-1])]
    return [memoryview(offsets - offsets[0]).cast("B"), text.cast("B")]


def is_on_disk(values: npt.NDArray[Any]) -> bool:
    """Return whether an array is a part of a mapped file."""
    base: Any = values
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return base is not None


def frame_of(cells: dict[str, Any], rows: int) -> pd.DataFrame:
    """Return a DataFrame of columns that stay where they are.

    Parameters
    ----------
    cells : dict of str to array or pandas.Categorical, each of shape (rows,)
    rows : int

    Returns
    -------
    pandas.DataFrame
        Columns on disk are neither copied nor put together.
    """
    import pandas as pd

    on_disk = any(is_on_disk(_plain(values)) for values in cells.values())
    return pd.DataFrame(cells, index=pd.RangeIndex(rows), copy=not on_disk)


def taken(frame: pd.DataFrame, places: npt.NDArray[np.intp]) -> pd.DataFrame:
    """Return some rows of a table, on disk if the table is, numbered anew.

    Parameters
    ----------
    frame : pandas.DataFrame
    places : ndarray of intp
        Rows to take, in this order.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from evalkit.reading.stores import taken
    >>> taken(pd.DataFrame({"age": [20, 30, 40]}), np.array([2, 0]))["age"].tolist()
    [40, 20]
    """
    columns = {str(name): _plain(column.array) for name, column in frame.items()}
    if not any(map(is_on_disk, columns.values())):
        return frame.iloc[places].reset_index(drop=True)
    store = Store(on_disk=True)
    cells = {name: store.cells(_taken(frame[name], places)) for name in columns}
    return frame_of(cells, len(places))


def _taken(column: pd.Series[Any], places: npt.NDArray[np.intp]) -> Any:
    """Return some cells of a column, as an array or as categories."""
    import pandas as pd

    if isinstance(column.array, pd.Categorical):
        return column.array.take(places)
    return column.to_numpy()[places]


def _plain(values: Any) -> npt.NDArray[Any]:
    """Return the array of numbers that a column lies in."""
    import numpy as np
    import pandas as pd

    return values.codes if isinstance(values, pd.Categorical) else np.asarray(values)
