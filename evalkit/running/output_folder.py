"""The folder of a report: checked before a run, filled in one go after it.

A run writes into a scratch folder of its own. Bad input, an error or Ctrl-C therefore leave the
final folder as it was, an earlier report included.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.whole_files import private_name, write_whole

if TYPE_CHECKING:
    from pathlib import Path

ASSESSMENT = "assessment.json"
NOTEBOOK = "technical_assessment.ipynb"
REPORT_FILES = (ASSESSMENT, "technical_assessment.html", "technical_assessment.pdf", NOTEBOOK)


def check_output(folder: Path, names: tuple[str, ...] = REPORT_FILES) -> None:
    """Refuse a folder that cannot be written or that holds files of others under our names.

    Parameters
    ----------
    folder : pathlib.Path
        Where a report is to go; it need not exist and is not made here.
    names : tuple of str
        Files that may be replaced there.

    Raises
    ------
    evalkit.InputError
        If it or a part of its path is no folder, if it cannot be written, if a folder stands
        where a file is to go, or if one of `names` is there without an assessment of evalkit
        beside it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.running.output_folder import check_output
    >>> check_output(Path("reports/not-made-yet"))
    """
    check_folder(folder, names)
    if os.path.lexists(folder):
        _check_own(folder, names)


def check_folder(folder: Path, names: tuple[str, ...]) -> None:
    """Refuse a folder that cannot be written, or in which a folder has one of our names.

    Parameters
    ----------
    folder : pathlib.Path
        It need not exist and is not made here.
    names : tuple of str
        Files that are to go there.

    Raises
    ------
    evalkit.InputError
        See `check_output`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.running.output_folder import check_folder
    >>> check_folder(Path("reports/not-made-yet"), ("comparison.pdf",))
    """
    _check_name(folder)
    existing = folder.absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"Output: {existing.name!r} is not a folder; choose another one.")
    _check_writable(existing)
    for name in names:
        if (folder / name).is_dir():
            message = f"Output: {name} is a folder there; move it away or choose another folder."
            raise InputError(message)


def _check_name(folder: Path) -> None:
    """Refuse a path that no file system takes."""
    try:
        folder.lstat()
    except ValueError:
        raise InputError("Output: holds a NUL character, which no path may; correct it.") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError("Output: the path is too long; choose a shorter one.") from None


def _check_writable(existing: Path) -> None:
    """Refuse a folder in which nothing can be made: tried, for rights alone do not tell."""
    trial = private_name(existing)
    try:
        trial.mkdir()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = (
            f"Output: the folder {existing.name!r} cannot be written ({reason}); choose another."
        )
        raise InputError(message) from None
    with suppress(OSError):
        trial.rmdir()


def _check_own(folder: Path, names: tuple[str, ...]) -> None:
    """Refuse to replace files that no earlier report left."""
    there = [name for name in names if os.path.lexists(folder / name)]
    if not there or _is_report(folder):
        return
    message = (
        f"Output: the folder {folder.absolute().name!r} holds {there[0]} but no report of evalkit; "
        "choose another folder, so that nothing of yours is replaced."
    )
    raise InputError(message)


def _is_report(folder: Path) -> bool:
    """Return whether an assessment of evalkit lies in the folder."""
    import msgspec

    class Mark(msgspec.Struct):
        evalkit: str
        schema_version: int

    path = folder / ASSESSMENT
    try:
        msgspec.json.decode(path.read_bytes(), type=Mark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return path.is_file() and not path.is_symlink()


def publish(scratch: Path, folder: Path, *, replace: tuple[str, ...] = REPORT_FILES) -> list[Path]:
    """Move every file of `scratch` into `folder`; return the new paths, sorted by name.

    Parameters
    ----------
    scratch : pathlib.Path
        Folder of finished files; subfolders are not looked at.
    folder : pathlib.Path
        Made if needed.
    replace : tuple of str
        Names that an earlier report may have left: those not in `scratch` are removed, so that
        no file of an older report stands beside a newer one.

    Returns
    -------
    list of pathlib.Path

    Raises
    ------
    evalkit.InputError
        If the folder cannot be written or the disk is full; nothing is changed then.
    """
    files = {path.name: path for path in sorted(scratch.iterdir()) if path.is_file()}
    try:
        return list(write_whole(folder, files, remove=replace))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"Output: the folder {folder.absolute().name!r} cannot be written ({reason})."
        raise InputError(message) from None
