"""The view of an assessment: one plain dict from which HTML and PDF are both made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.records import DEFAULT_TITLE
from evalkit.report import formats
from evalkit.report.blocks import kept_together
from evalkit.report.subject import (
    CRITERIA,
    FIRST_CRITERION_SECTION,
    SHORT_DIGEST,
    day_of,
    declared_text,
)
from evalkit.report.view_analyses import analyses_blocks
from evalkit.report.view_annex import (
    attachment_blocks,
    full_blocks,
    glossary_blocks,
    method_blocks,
    provenance_blocks,
    signoff_blocks,
    target_blocks,
)
from evalkit.report.view_front import context_blocks, data_blocks, scope_blocks, treatment_blocks
from evalkit.report.view_ledger import ledger_blocks, limitation_blocks
from evalkit.report.view_results import (
    criterion_blocks,
    criterion_title,
)
from evalkit.report.view_scenarios import holdout_blocks, scenario_blocks
from evalkit.report.view_subgroups import subgroup_blocks
from evalkit.report.view_verdict import plain_sentences, verdict_blocks, verdict_title
from evalkit.report.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

LONGEST_CLASS: Final = 24
_OWN_PAGE: Final = frozenset({"1", "15"})
_SECTIONS: Final[dict[str, Callable[[Subject], list[Block]]]] = {
    "1": verdict_blocks,
    "2": scope_blocks,
    "3": context_blocks,
    "4": data_blocks,
    "5": treatment_blocks,
    "7": scenario_blocks,
    "13": ledger_blocks,
    "14": limitation_blocks,
    "15": signoff_blocks,
    "A": target_blocks,
    "B": method_blocks,
    "C": provenance_blocks,
    "D": glossary_blocks,
    "E": full_blocks,
    "F": attachment_blocks,
}
_HOLDOUT_SECTION: Final = "6"


def build_view(subject: Subject) -> dict[str, Any]:
    """Return the view: head, contents and sections, each a list of blocks.

    Parameters
    ----------
    subject : Subject
        The assessment with its words and pages.

    Returns
    -------
    dict
        Holds text, lists, dicts, `Prose` and `Picture`; no template has to compute anything.
    """
    labels = subject.words["labels"]
    figure_labels = _figure_labels(str(labels["figure"]))
    sections = [_section(entry, subject, figure_labels) for entry in _outline(subject)]
    return _head(subject) | {
        "labels": labels,
        "readers": [{"who": who, "where": where} for who, where in labels["readers"]],
        "sentences": plain_sentences(subject),
        "fixed_sentence": subject.words["verdicts"]["fixed_sentence"],
        "verdict": sections[0]["blocks"][-1],
        "sections": sections,
        "first": sections[0],
        "rest": sections[1:],
    }


def _outline(subject: Subject) -> list[dict[str, str]]:
    return list(subject.words["outline"]["sections"])


def _head(subject: Subject) -> dict[str, Any]:
    assessment, labels = subject.assessment, subject.words["labels"]
    declared = declared_text(subject.declarations.get("distribution"))
    own_words = {labels["document"], DEFAULT_TITLE}
    release = "" if subject.title in own_words else subject.title
    day = day_of(assessment.created)
    return {
        "language": subject.pages.language,
        "document": labels["document"],
        "release": release,
        "title": formats.labelled(labels["document"], release) if release else labels["document"],
        "digest": subject.digest,
        "short_digest": subject.digest[:SHORT_DIGEST],
        "class": shortened(declared, LONGEST_CLASS) or labels["class_not_declared"],
        "date": formats.date(assessment.created),
        "year": str(day.year),
        "month": str(day.month),
        "day": str(day.day),
        "author": assessment.people.get("assessor") or "evalkit",
        "evalkit": assessment.evalkit,
    }


def _section(entry: dict[str, str], subject: Subject, labels: Iterator[str]) -> dict[str, Any]:
    number = entry["number"]
    section = {
        "number": number,
        "anchor": f"s{number}",
        "short": entry["short"],
        "kicker": entry["short"],
        "title": entry["title"],
        "purpose": entry["purpose"],
        "own_page": number in _OWN_PAGE,
        "opening": "",
    }
    if number == "1":
        return section | {"title": verdict_title(subject), "blocks": verdict_blocks(subject)}
    criterion = _criterion(number)
    if criterion:
        return section | _criterion_part(criterion, subject, labels)
    section |= {"kicker": "", "opening": f"{entry['purpose']}."}
    if number == _HOLDOUT_SECTION:
        return section | {"blocks": holdout_blocks(subject, labels)}
    return section | {"blocks": kept_together(_SECTIONS[number](subject))}


def _criterion_part(criterion: str, subject: Subject, labels: Iterator[str]) -> dict[str, Any]:
    blocks = criterion_blocks(criterion, subject, labels)
    blocks += subgroup_blocks(criterion, subject, labels)
    if criterion == "utility":
        blocks += analyses_blocks(subject, labels)
    told = criterion_title(criterion, subject)
    if told is None:
        several = any(block["kind"] == "measure" for block in blocks)
        return {"blocks": blocks, "kicker": "", "own_page": several}
    title, kicker = told
    return {"blocks": blocks, "title": title, "kicker": kicker, "own_page": True}


def _criterion(number: str) -> str:
    """Return the criterion of sections 8 to 12, or the empty text."""
    place = int(number) - FIRST_CRITERION_SECTION if number.isdigit() else -1
    return CRITERIA[place] if 0 <= place < len(CRITERIA) else ""


def _figure_labels(template: str) -> Iterator[str]:
    """Return "Figure 1." and so on, through the whole report."""
    number = 0
    while True:
        number += 1
        yield template.replace("{number}", str(number))
