"""The page of a measure with the values of one result, filled once for all parts that ask."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from evalkit.prose import plain
from evalkit.report.findings import CHANCE
from evalkit.report.wording import comparable, shortened

if TYPE_CHECKING:
    from evalkit.report.pages import Page
    from evalkit.report.subject import Entry, Subject

LONGEST_NAME: Final = 34


def page_of(entry: Entry, subject: Subject) -> Page:
    """Return the page of a measure with the values of this result."""
    key = (entry.slug, entry.scenario.name)
    if key not in subject.filled_pages:
        subject.filled_pages[key] = _filled_page(entry, subject)
    return subject.filled_pages[key]


def summary_of(entry: Entry, subject: Subject) -> str:
    """Return what page 1 says of a measured result, long names cut.

    Returns
    -------
    str
        The empty text where the measure has no page, or a page of an earlier version.
    """
    if not subject.pages.has(entry.slug):
        return ""
    summary = page_of(entry, subject).part("Summary")
    if summary is None:
        return ""
    values = tuple(
        shortened(value, LONGEST_NAME) if len(str(value)) > LONGEST_NAME else value
        for value in summary.values
    )
    # Only spaces that may break are joined: a number keeps its per cent sign.
    return re.sub(r"[ \t\n]+", " ", plain(summary.markdown, values)).strip()


def finding_title(entry: Entry, subject: Subject) -> str:
    """Return the finding of a measured result in one line; its name where it has no page."""
    if not comparable(entry.result):
        return subject.label("not_comparable_title", name=subject.name(entry.slug))
    if entry.finding.key == CHANCE:
        criterion = subject.criterion_name(str(entry.result.criterion))
        return subject.label("chance_title", criterion=criterion)
    has_page = subject.pages.has(entry.slug)
    return page_of(entry, subject).title if has_page else subject.name(entry.slug)


def _filled_page(entry: Entry, subject: Subject) -> Page:
    result = msgspec.to_builtins(entry.result)
    context = {
        "result": result,
        "facts": result["facts"],
        "release": msgspec.to_builtins(subject.assessment.release),
        "scenario": msgspec.to_builtins(entry.scenario),
        "words": subject.words,
    }
    return subject.pages.render(entry.slug, context)
