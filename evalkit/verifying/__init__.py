"""Whether a report is whole, the files are those assessed, and the results come out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.verifying.checks import DIFFERS, NOT_COMPARED, SAME, Check
from evalkit.verifying.report_file import ReportFile, read_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["DIFFERS", "NOT_COMPARED", "SAME", "Check", "ReportFile", "verify"]


def verify(
    report: Path,
    tables: Mapping[str, str | Path],
    *,
    templates: Path | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Check]:
    """Return what was compared, in order: the report itself, the files, the results.

    Parameters
    ----------
    report : pathlib.Path
        An ``assessment.json``, or a technical assessment as HTML or PDF, signed or not.
    tables : mapping of str to str or pathlib.Path
        Of ``"original"``, ``"avatars"`` and ``"holdout"`` those at hand. Results are computed
        again where all that were assessed are.
    templates : pathlib.Path, optional
        The folder of templates that the pages were made with.
    progress : callable, optional
        As of `evalkit.assess`.

    Returns
    -------
    list of Check
        At least one for each of the three parts.

    Raises
    ------
    evalkit.InputError
        If the report or a file cannot be read, or a holdout is given where none was assessed.
    """
    from evalkit.verifying.files import file_checks
    from evalkit.verifying.pages import page_checks
    from evalkit.verifying.results import result_checks

    found = read_report(report)
    pages = page_checks(found, templates)
    files = file_checks(found.assessment, tables)
    changed = any(one.outcome == DIFFERS for one in files)
    return [*pages, *files, *result_checks(found.assessment, tables, progress, changed=changed)]
