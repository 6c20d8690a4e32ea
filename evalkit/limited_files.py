"""Read files of strangers whole, but no more of them than was meant."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK_BYTES = 2**24


def limited_bytes(path: Path, limit_bytes: int) -> bytes:
    """Return the content of a regular file, one byte over the limit at most.

    The size that a system reports is not trusted: it is 0 for a device that never ends.

    Parameters
    ----------
    path : pathlib.Path
    limit_bytes : int
        A longer answer tells that the file is larger than that; the rest was not read.

    Returns
    -------
    bytes

    Raises
    ------
    OSError
        If the file cannot be read, is a folder, a pipe or a device, or has an impossible name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evalkit.limited_files import limited_bytes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "letters.txt"
    ...     _ = path.write_bytes(b"abcdef")
    ...     limited_bytes(path, 3)
    b'abcd'
    """
    try:
        # Asked before it is opened: opening a pipe waits for somebody who writes.
        found = path.stat()
        mode = found.st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise OSError(errno.EINVAL, "a pipe or a device, not a file")
        with path.open("rb") as file:
            blocks, left = [], limit_bytes + 1
            # The first block is the whole of an honest file: it is in memory once, not twice.
            size = max(found.st_size, _BLOCK_BYTES)
            while left and (block := file.read(min(left, size))):
                blocks.append(block)
                left -= len(block)
                size = _BLOCK_BYTES
    except ValueError:
        # A zero character, or one that no file system can write.
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from None
    return b"".join(blocks)
