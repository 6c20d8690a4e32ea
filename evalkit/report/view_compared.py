"""One measure over several scenarios: which of them its page tells of, and a table of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import fill, heading, table, text
from evalkit.report.filled_pages import finding_title
from evalkit.report.subject import criterion_of
from evalkit.report.wording import (
    attack_finding,
    attack_words,
    comparable,
    interval_words,
    score_words,
    sentence,
    shortened,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.report.blocks import Block
    from evalkit.report.subject import Entry, Subject

LONGEST_NAME: Final = 60


def leading_scenario(entry: Entry, subject: Subject) -> list[Block]:
    """Return which of several scenarios the page of a measure tells of."""
    if len(subject.of_measure(entry.slug)) < 2:  # noqa: PLR2004 - there is no other
        return []
    name = shortened(entry.scenario.name, LONGEST_NAME)
    return [text(subject.label("leading_scenario", name=name))]


def scenario_table(slug: str, subject: Subject) -> list[Block]:
    """Return the results of one measure over all scenarios, where there are several."""
    entries = subject.of_measure(slug)
    if len(entries) < 2:  # noqa: PLR2004 - one result needs no comparison
        return []
    rows = [scenario_row(entry, subject) for entry in entries]
    level = part_level(entries[0], subject)
    title = heading(fill(subject.heading("by_scenario"), name=subject.name(slug)), level)
    return [title, table(subject.head("by_scenario"), (24, 13, 21, 28, 22, 52), rows)]


def measures_table(criterion: str, subject: Subject) -> Block:
    """Return every measure of a criterion with its finding, the one that leads first."""
    slugs = dict.fromkeys(entry.slug for entry in subject.of_criterion(criterion))
    leads = [subject.of_measure(slug)[0] for slug in slugs]
    rows = [
        (subject.name(one.slug), *scenario_row(one, subject)[1:3], _finding(one, subject))
        for one in leads
    ]
    return table(subject.head("measures"), (50, 20, 28, 62), rows)


def part_level(entry: Entry, subject: Subject) -> int:
    """Return the level of headings on a measure's page: below it, or below its section."""
    slugs = {one.slug for one in subject.of_criterion(criterion_of(entry.result))}
    return 2 if len(slugs) == 1 else 3


def _finding(entry: Entry, subject: Subject) -> str:
    verdict = verdict_words(entry.result, subject.words)
    if entry.result.status != "measured":
        return verdict
    if entry.result.basis == "attack":
        return f"{attack_words(entry.result, subject.words, *entry.finding)} {verdict}"
    return f"{_without_attack(entry, subject)} {verdict}".strip()


def _without_attack(entry: Entry, subject: Subject) -> str:
    """Return the title of a measure that is no attack, as a sentence that begins its finding."""
    title = finding_title(entry, subject)
    judged = entry.result.verdict != "not applicable"  # else the verdict says what the title does
    finding = sentence(title.partition(": ")[2] or title) if judged else ""
    distances = attack_finding(entry.result) == "no_attack"
    indicative = subject.words["verdicts"]["comparison_only"]
    return f"{finding} {indicative}".strip() if distances else finding


def scenario_row(entry: Entry, subject: Subject) -> tuple[Any, ...]:
    """Return scenario, score, interval, both shares, excess and verdict of one result."""
    found = entry.result.facts if comparable(entry.result) else {}
    return (
        shortened(entry.scenario.name, LONGEST_NAME),
        score_words(entry.result, subject.words),
        interval_words(entry.result, subject.words),
        (
            _share_of("success_share", "attempts", entry, subject),
            _share_of("control_share", "control_attempts", entry, subject),
        ),
        (_points(found.get("excess")), _excess_interval(found)),
        _finding(entry, subject),
    )


def _share_of(share: str, count: str, entry: Entry, subject: Subject) -> str:
    """Return "15.4 % of 4,812", or a dash where nobody was attacked."""
    found = entry.result.facts
    if found.get(share) is None or found.get(count) is None:
        return formats.NO_VALUE
    words = {"share": formats.share(found[share]), "count": formats.number(found[count])}
    return subject.label("share_of", **words)


def _excess_interval(found: Mapping[str, Any]) -> str:
    """Return the interval of an excess in points, or the empty text."""
    ends = found.get("excess_interval")
    return formats.points_interval(ends) if ends else ""


def _points(share: float | None) -> str:
    """Return an estimate in points; near nothing it is nothing, unlike the end of an interval."""
    return formats.score(None if share is None else 100 * share)
