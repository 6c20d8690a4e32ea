"""Several files written as one: all of them are new afterwards, or none.

Each is written under a private name that nobody can have put there before. Only when all are
complete are they moved, and a move that fails takes those before it back. Two processes that
write into the same folder move one after the other.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_NEW_FILE: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_ORDINARY_MODE: Final = 0o666
"""Less what the user's umask takes away, as for any new file."""


def write_whole(
    folder: Path, contents: Mapping[str, bytes | Path], remove: Iterable[str] = ()
) -> tuple[Path, ...]:
    """Write files into a folder so that no reader finds some new and some old.

    Parameters
    ----------
    folder : pathlib.Path
        Made if it is missing.
    contents : mapping
        Base name of each file to its bytes, or to the path of a finished file to copy.
    remove : iterable of str
        Base names that are taken away in the same step, if they are there.

    Returns
    -------
    tuple of pathlib.Path
        In the order of `contents`.

    Raises
    ------
    OSError
        If a file cannot be written or a folder stands in its way; every file is then as before.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evalkit.whole_files import write_whole
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.read_bytes() for path in write_whole(Path(place), {"a": b"1", "b": b"2"})]
    [b'1', b'2']
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Path] = {}
    try:
        for name, content in contents.items():
            parts[name] = private_name(folder)
            _fill(parts[name], content)
        with _alone_in(folder):
            _move_all(folder, parts, [name for name in remove if name not in parts])
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return tuple(folder / name for name in contents)


def private_name(folder: Path) -> Path:
    """Return a path in `folder` that nobody can guess; short, for names have a longest length.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.whole_files import private_name
    >>> private_name(Path("a")) == private_name(Path("a"))
    False
    """
    return folder / f".evalkit-{secrets.token_hex(8)}.part"


def _fill(part: Path, content: bytes | Path) -> None:
    """Write a new file; a file or link that is already there is an error, never followed."""
    with os.fdopen(os.open(part, _NEW_FILE, _ORDINARY_MODE), "wb") as sink:
        if isinstance(content, bytes):
            sink.write(content)
        else:
            with content.open("rb") as source:
                shutil.copyfileobj(source, sink)


def _move_all(folder: Path, parts: Mapping[str, Path], remove: Iterable[str]) -> None:
    """Move the parts to their names; whatever interrupts takes all moves back."""
    changed: list[tuple[Path, Path | None]] = []  # (path, where its earlier content is kept)
    try:
        for name in (*parts, *remove):
            target = folder / name
            changed.append((target, _kept(target)))
            if name in parts:
                parts[name].replace(target)
            else:
                target.unlink(missing_ok=True)
    except BaseException:
        for target, earlier in reversed(changed):
            _take_back(target, earlier)
        raise
    for _, earlier in changed:
        if earlier is not None:
            earlier.unlink(missing_ok=True)


def _kept(target: Path) -> Path | None:
    """Return a second name of an existing file, or nothing where there is none."""
    if not os.path.lexists(target):
        return None
    if target.is_dir() and not target.is_symlink():
        raise IsADirectoryError(errno.EISDIR, f"a folder is in the way: {target.name}")
    second = private_name(target.parent)
    try:
        os.link(target, second, follow_symlinks=False)
    except (OSError, NotImplementedError):
        # Some file systems know no second names.
        shutil.copy2(target, second, follow_symlinks=False)
    return second


def _take_back(target: Path, earlier: Path | None) -> None:
    """Put the earlier content of a path back in its place."""
    with suppress(OSError):
        if earlier is None:
            target.unlink(missing_ok=True)
        else:
            earlier.replace(target)
            # Two names of the same file: the move does nothing then.
            earlier.unlink(missing_ok=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time move files in a folder, where the system can say so.

    The lock is on the folder itself: it leaves no file, and the system frees it with the process.
    """
    try:
        import fcntl
    except ImportError:  # Not on Windows.
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # Some network file systems have no locks.
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
