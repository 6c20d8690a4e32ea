"""How much memory tables would take, before they are read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.reading.archives import GZIP_START, LARGEST_TABLE_BYTES, OTHER_STARTS
from evalkit.reading.databases import is_address
from evalkit.reading.folders import table_parts
from evalkit.reading.stored_tables import PARQUET_START
from evalkit.reading.stores import Store, check_room
from evalkit.reading.table_files import file_start, is_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

CELL_BYTES: Final = 12
"""Of a code of 4 bytes and a number of 8."""
TEXT_GROWTH: Final = 4
"""Cells of text have few letters: with their line they take more once they are read."""
PACKED_GROWTH: Final = 8
"""Most tables of text shrink to an eighth, or less."""
_USUAL_MACHINE: Final = 2**33
_GROUP_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def store_for(sources: Iterable[Any], memory: int | None) -> Store:
    """Return where the columns of tables are to lie.

    Parameters
    ----------
    sources : iterable
        Paths, addresses of databases, tables in memory, or None.
    memory : int, optional
        Bytes that the tables may take; None: half of the machine's memory.

    Returns
    -------
    Store
        On disk if the files would take more.

    Raises
    ------
    evalkit.InputError
        If the temporary folder has no room for them.

    Examples
    --------
    >>> from evalkit.reading.sizes import store_for
    >>> store_for([None], 1).on_disk
    False
    """
    paths = [Path(one) for one in sources if isinstance(one, str | Path) and not is_address(one)]
    sizes = [table_bytes(path) for path in paths]
    largest = max((_largest_file(path) for path in paths), default=0)
    limit = machine_bytes() // 2 if memory is None else memory
    if sum(sizes) <= limit and largest <= LARGEST_TABLE_BYTES:
        return Store()
    check_room(sum(sizes))
    return Store(on_disk=True, memory=limit)


def table_bytes(path: Path) -> int:
    """Return about how many bytes a file or a folder takes once it is read; 0 if unreadable."""
    try:
        files = [part.path for part in table_parts(path)] if is_folder(path) else [path]
        return sum(map(_file_bytes, files))
    except (InputError, OSError, ValueError):
        return 0  # What is wrong with it is said where it is read.


def machine_bytes() -> int:
    """Return the memory of the machine, or of the container if that is less."""
    found = [_USUAL_MACHINE]
    with suppress(AttributeError, ValueError, OSError):
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in _GROUP_LIMITS:
        with suppress(OSError, ValueError):
            found.append(int(limit.read_text()))
    return min(found)


def _largest_file(path: Path) -> int:
    """Return the bytes of the largest file of a table, as a reader in memory would count it."""
    try:
        files = [part.path for part in table_parts(path)] if is_folder(path) else [path]
        return max(_plain_bytes(file) for file in files)
    except (InputError, OSError, ValueError):
        return 0


def _plain_bytes(path: Path) -> int:
    """Return the bytes of a file, unpacked: a guess where it is compressed."""
    start = file_start(path)[:8]
    is_packed = start.startswith((GZIP_START, *OTHER_STARTS))
    return path.stat().st_size * (PACKED_GROWTH if is_packed else 1)


def _file_bytes(path: Path) -> int:
    """Return about how many bytes one file takes once it is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not file_start(path).startswith(PARQUET_START):
        return _plain_bytes(path) * TEXT_GROWTH
    try:
        found = pq.read_metadata(path)
    except (pa.ArrowException, OSError, UnicodeError):
        return 0
    groups = [found.row_group(place) for place in range(found.num_row_groups)]
    texts = sum(group.total_byte_size for group in groups)
    return int(texts + CELL_BYTES * found.num_rows * found.num_columns)
