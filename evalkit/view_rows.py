"""The verdict table: one row per criterion, whatever was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit import formats
from evalkit.blocks import fill
from evalkit.pictures import score_strip
from evalkit.subject import section_of
from evalkit.wording import (
    attack_words,
    basis_words,
    interval_words,
    on_strip,
    sampling_interval,
    score_words,
    shortened,
    target_words,
    verdict_words,
)

if TYPE_CHECKING:
    from evalkit.blocks import Picture
    from evalkit.subject import Entry, Subject

LONGEST_NAME: Final = 34
LONGEST_REASON: Final = 150
SHOWN_ALSO: Final = 2


def verdict_row(criterion: str, subject: Subject) -> dict[str, Any]:
    """Return one row of the verdict table."""
    found = subject.of_criterion(criterion)
    row: dict[str, Any] = {"criterion": subject.criterion_name(criterion), "strip": None}
    additional = subject.words["verdicts"]["additional"] if criterion == "membership" else ""
    if not found:
        key = "no_utility_run" if criterion == "utility" else "nothing_run"
        return row | {
            "measure": subject.label("no_measure"),
            "basis": additional,
            "score": formats.NO_VALUE,
            "interval": "",
            "words": subject.words["verdicts"]["grade"][key],
            "target": "",
        }
    lead, *others = found
    result = lead.result
    profile = subject.assessment.profile
    measured = result.status == "measured"
    also = [_also(one, subject) for one in others[:SHOWN_ALSO]]
    if len(others) > SHOWN_ALSO:
        more, section = len(others) - SHOWN_ALSO, section_of(criterion)
        also.append(fill(subject.words["verdicts"]["more"], count=more, section=section))
    return row | {
        "measure": subject.name(lead.slug),
        "basis": _basis(lead, subject),
        "strip": _strip(lead, subject) if on_strip(result) else None,
        "score": score_words(result, subject.words),
        "interval": _interval(lead, subject),
        "words": _row_words(lead, subject, also),
        "target": target_words(
            result.target, profile.date if profile else None, subject.words, result.unit
        )
        if measured
        else "",
    }


def _interval(lead: Entry, subject: Subject) -> str:
    """Return the interval; one that is not from sampling is called what it is."""
    result = lead.result
    if result.interval is None:
        return ""
    words = interval_words(result)
    if sampling_interval(result) is None:
        return fill(subject.words["verdicts"]["range_over_splits"], interval=words)
    return words


def _strip(lead: Entry, subject: Subject) -> Picture:
    words = subject.words.get("figures", {})
    return score_strip(lead.result, subject.name(lead.slug), words, large=False)


def _row_words(lead: Entry, subject: Subject, also: list[str]) -> str:
    """Return the verdict in words: what an attack shows leads if it is an excess."""
    verdict = shortened(verdict_words(lead.result, subject.words), LONGEST_REASON)
    attack = attack_words(lead.result, subject.words)
    return " ".join(filter(None, [attack, verdict, *also]))


def _also(entry: Entry, subject: Subject) -> str:
    verdicts = subject.words["verdicts"]
    name = subject.name(entry.slug)
    key = "also" if entry.result.status == "measured" else "not_measured"
    return fill(
        verdicts[key + ("_scenario" if subject.several_scenarios else "")],
        name=name,
        score=score_words(entry.result, subject.words),
        verdict=verdicts["brief"].get(entry.result.verdict, entry.result.verdict),
        scenario=shortened(entry.scenario.name, LONGEST_NAME),
    )


def _basis(lead: Entry, subject: Subject) -> str:
    release, verdicts = subject.assessment.release, subject.words["verdicts"]
    parts = [verdicts["additional"]] if lead.result.criterion == "membership" else []
    if lead.result.status == "measured":
        parts += basis_words(
            lead.result,
            subject.words,
            holdout_kind=release.holdout_kind,
            row_link=release.row_link,
        )
    if subject.several_scenarios:
        name = shortened(lead.scenario.name, LONGEST_NAME)
        parts.append(fill(verdicts["in_scenario"], scenario=name))
    return "; ".join(parts)
