"""Are the files at hand those that were assessed: by their SHA-256."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.verifying.checks import DIFFERS, NOT_COMPARED, SAME, Check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.records import Assessment, InputRecord

ROLES = ("original", "avatars", "holdout")


def recorded_tables(assessment: Assessment) -> dict[str, InputRecord]:
    """Return the records of the tables that were assessed, by role."""
    release = assessment.release
    found = {"original": release.original, "avatars": release.avatars, "holdout": release.holdout}
    return {role: record for role, record in found.items() if record is not None}


def file_checks(assessment: Assessment, tables: Mapping[str, str | Path]) -> list[Check]:
    """Return for each table that was assessed whether the file at hand is the same.

    Parameters
    ----------
    assessment : Assessment
    tables : mapping of str to str or pathlib.Path
        The files at hand, or addresses of databases, by role.

    Returns
    -------
    list of Check

    Raises
    ------
    evalkit.InputError
        If a file cannot be read, or a holdout is given where none was assessed.
    """
    recorded = recorded_tables(assessment)
    if "holdout" in tables and "holdout" not in recorded:
        raise InputError("--holdout: no holdout was assessed; leave the option out.")
    return [_file_check(role, record, tables.get(role)) for role, record in recorded.items()]


def _file_check(role: str, record: InputRecord, source: str | Path | None) -> Check:
    """Compare one file with its record."""
    from evalkit.reading.databases import is_address

    if source is None:
        return Check(NOT_COMPARED, f"{role}: give the file with --{role}")
    if record.sha256 is None or is_address(source):
        unlike = "a database or a table in memory has no SHA-256"
        return Check(NOT_COMPARED, f"{role}: {unlike}")
    path = Path(source)
    digest = _digest(role, path)
    outcome = SAME if digest == record.sha256 else DIFFERS
    return Check(
        outcome,
        f"{role}: {path.name} has the SHA-256 {digest[:8]}…, recorded is {record.sha256[:8]}… "
        f"of {record.name}",
    )


def _digest(role: str, path: Path) -> str:
    """Return the SHA-256 of a file of any size, or of a folder of files."""
    from evalkit.reading.fingerprints import table_sha256

    try:
        if not path.is_file() and not path.is_dir():
            raise FileNotFoundError(2, "No such file")
        return table_sha256(path)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path may hold a NUL character"
        raise InputError(f"--{role}: {path.name}: cannot be read ({reason}).") from None
