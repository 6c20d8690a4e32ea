"""What an assessment was made from, and whether its folder still holds what was made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import msgspec

from evalkit import __version__
from evalkit.running.output_folder import ASSESSMENT, REPORT_FILES
from evalkit.running.plain_values import PATHS
from evalkit.whole_files import write_whole

MARK: Final = "batch.json"
WITHOUT_EFFECT: Final = frozenset({"require_targets", "engine", "memory"})
"""Options that change the exit code, or where and how the same numbers are made."""
_BYTES_AT_ONCE: Final = 2**20


class Mark(msgspec.Struct, frozen=True):
    """The file beside a report that says what it was made from; it holds no path.

    Attributes
    ----------
    fingerprint : str
        Of options and files.
    files : dict
        SHA-256 of each file of the report, by name.
    """

    fingerprint: str
    files: dict[str, str]


def fingerprint(options: dict[str, Any]) -> str | None:
    """Return one text for options and the content of every file they name.

    Parameters
    ----------
    options : dict
        Of one assessment.

    Returns
    -------
    str or None
        SHA-256 in hexadecimal; None where a file cannot be read or a table lies in a database,
        whose content may change unseen.

    Examples
    --------
    >>> from evalkit.batch.fingerprint import fingerprint
    >>> fingerprint({"original": "not-there.csv"}) is None
    True
    """
    named: dict[str, Any] = {"evalkit": __version__}
    for name, value in sorted(options.items()):
        if name in WITHOUT_EFFECT:
            continue
        is_name = name == "profile" and not str(value).endswith((".yaml", ".yml"))
        if name not in PATHS or is_name or not isinstance(value, str):
            named[name] = value
            continue
        digest = None if "://" in value else _digest(Path(value))
        if digest is None:
            return None
        # The name of a table stands in its report.
        named[name] = [Path(value).name, digest]
    text = json.dumps(named, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def is_made(folder: Path, wanted: str | None) -> bool:
    """Return whether a folder holds a whole report of the fingerprint `wanted`."""
    try:
        mark = msgspec.json.decode((folder / MARK).read_bytes(), type=Mark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    found = {name: _digest(folder / name) for name in mark.files}
    return wanted is not None and mark.fingerprint == wanted and found == mark.files


def leave_mark(folder: Path, made: str | None) -> None:
    """Write beside a report what it was made from; nothing where that cannot be said."""
    (folder / MARK).unlink(missing_ok=True)
    if made is None or not (folder / ASSESSMENT).is_file():
        return
    files = {name: _digest(folder / name) for name in REPORT_FILES if (folder / name).is_file()}
    mark = Mark(made, {name: digest for name, digest in files.items() if digest})
    write_whole(folder, {MARK: msgspec.json.encode(mark)})


def _digest(path: Path) -> str | None:
    """Return the SHA-256 of a file, or of all files of a folder with their names."""
    found = hashlib.sha256()
    try:
        if path.is_dir():
            for one in sorted(path.rglob("*")):
                if one.is_file():
                    found.update(f"{one.relative_to(path).as_posix()}\0{_digest(one)}\0".encode())
            return found.hexdigest()
        with path.open("rb") as content:
            while block := content.read(_BYTES_AT_ONCE):
                found.update(block)
    except (OSError, ValueError):
        return None
    return found.hexdigest()
