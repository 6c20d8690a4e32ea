"""Is a report whole: does it say what its own assessment makes it say, and nothing else."""

from __future__ import annotations

import hashlib
import re
from html import unescape
from typing import TYPE_CHECKING, Final

from evalkit.records import SCHEMA_VERSION
from evalkit.report.sealing import seal_of
from evalkit.verifying.checks import DIFFERS, NOT_COMPARED, SAME, Check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evalkit.verifying.report_file import ReportFile

_LANGUAGE: Final = re.compile(r'<html lang="([a-z-]{2,10})">')
_TAGS: Final = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)
_LONGEST_SHOWN: Final = 60


def page_checks(report: ReportFile, templates: Path | None = None) -> list[Check]:
    """Return what is compared within one file.

    Parameters
    ----------
    report : ReportFile
    templates : pathlib.Path, optional
        The folder of templates that its pages were made with.

    Returns
    -------
    list of Check
        The pages are made again from the assessment in the file; with another version of what
        makes them they cannot be compared, and that is said.
    """
    checks = {"json": _json_checks, "html": _html_checks, "pdf": _pdf_checks}
    return list(checks[report.form](report, templates))


def _json_checks(report: ReportFile, templates: Path | None) -> Iterator[Check]:  # noqa: ARG001
    """Compare the file with its own content written anew, and say its SHA-256."""
    digest = hashlib.sha256(report.archived).hexdigest()
    if report.assessment.schema_version < SCHEMA_VERSION:
        yield Check(NOT_COMPARED, f"{report.name} was written by an earlier evalkit")
    elif report.assessment.json() == report.archived:
        yield Check(SAME, f"{report.name} reads and writes as one; its SHA-256 is {digest}")
    else:
        yield Check(DIFFERS, f"{report.name} was changed after evalkit wrote it")


def _html_checks(report: ReportFile, templates: Path | None) -> Iterator[Check]:
    """Compare digest, own hash and pages of an HTML report."""
    # A character that could steer a screen is printed as an escape; the record has it as it is.
    forms = report.archived, report.assessment.json()
    digests, words = [hashlib.sha256(one).hexdigest() for one in forms], _words(report.text)
    digest = next((one for one in digests if one in words), None)
    yield Check(
        SAME if digest else DIFFERS,
        f"SHA-256 of the assessment in the file, {(digest or digests[0])[:8]}…, and the one that "
        "its pages print",
    )
    seal = seal_of(report.text)
    if seal is None:
        yield Check(NOT_COMPARED, "the file holds no SHA-256 of itself")
    else:
        yield Check(SAME if seal else DIFFERS, "SHA-256 of the file, taken with its field blanked")
    yield _remade_html(report, templates)


def _remade_html(report: ReportFile, templates: Path | None) -> Check:
    """Compare the pages with those that the assessment in the file makes."""
    from evalkit.report.document import Report

    found = _LANGUAGE.search(report.text)
    language = found[1] if found and found[1] in _languages(report) else _languages(report)[0]
    made = Report(report.assessment, language, templates).html()
    if made == report.text:
        return Check(SAME, "numbers and words of the pages, made again from the assessment")
    here, there = _words(made), _words(report.text)
    if here == there:
        return _unlike(report, "the mark-up of the pages is not what the assessment makes")
    lines = zip([*here.splitlines(), ""], [*there.splitlines(), ""], strict=False)
    wanted, shown = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
    return _unlike(
        report,
        f"the pages say {shown[:_LONGEST_SHOWN]!r} where the assessment makes them say "
        f"{wanted[:_LONGEST_SHOWN]!r}",
    )


def _pdf_checks(report: ReportFile, templates: Path | None) -> Iterator[Check]:
    """Compare the pages of a PDF byte for byte; what comes after them must be a signature."""
    from evalkit.report.document import Report
    from evalkit.verifying.signed import signature_checks

    versions = (Report(report.assessment, one, templates).pdf() for one in _languages(report))
    made = next((one for one in versions if report.content.startswith(one)), None)
    if made is None:
        yield _unlike(report, "the pages of the PDF are not those that its attachment makes")
    else:
        yield Check(SAME, "every byte of the report, made again from the attached assessment")
    yield from signature_checks(report.content, made, report.name)


def _languages(report: ReportFile) -> list[str]:
    """Return the languages that the report can be in, its own default first."""
    from evalkit.resources import LANGUAGES

    return sorted(LANGUAGES, key=lambda one: one != report.assessment.language)


def _unlike(report: ReportFile, what: str) -> Check:
    """Return that the pages differ, unless another version may have made them."""
    from evalkit.recording import evalkit_version, versions

    assessment, here = report.assessment, versions()
    if assessment.evalkit != evalkit_version():
        name, then, now = "evalkit", assessment.evalkit, evalkit_version()
    else:
        makers = ("matplotlib", "typst")
        other = [one for one in makers if assessment.versions.get(one) != here[one]]
        if not other:
            return Check(DIFFERS, what)
        name, then, now = other[0], assessment.versions.get(other[0], "none"), here[other[0]]
    return Check(
        NOT_COMPARED,
        f"the pages; the assessment was made with {name} {then}, and this is {name} {now}",
    )


def _words(page: str) -> str:
    """Return what a page says, one line for each piece of text, without the archived JSON."""
    visible = page.partition('<details class="json">')[0]
    pieces = (" ".join(unescape(one).split()) for one in _TAGS.split(visible))
    return "\n".join(filter(None, pieces))
