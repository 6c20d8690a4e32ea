"""The verdict table: one row per criterion, whatever was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from evalkit.report import formats
from evalkit.report.blocks import fill
from evalkit.report.pictures import known_kinds, score_strip
from evalkit.report.subject import CRITERIA, criterion_of, section_of
from evalkit.report.wording import (
    attack_words,
    basis_words,
    grade,
    interval_words,
    on_strip,
    score_words,
    sentence,
    shortened,
    target_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.records import Result
    from evalkit.report.blocks import Picture
    from evalkit.report.subject import Entry, Subject

LONGEST_NAME: Final = 34
LONGEST_ISSUER: Final = 24
LONGEST_REASON: Final = 80
_AT_THE_ESTIMATE: Final = frozenset({"met_crosses", "met_alone", "not_met_crosses"})


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
            "further": "",
            "score": formats.NO_VALUE,
            "interval": "",
            "words": subject.words["verdicts"]["grade"][key],
            "target": "",
        }
    lead = found[0]
    return row | {
        "measure": subject.name(lead.slug),
        "basis": _basis(lead, subject),
        "further": _further(found, subject),
        "strip": _strip(lead, subject) if on_strip(lead.result) else None,
        "score": score_words(lead.result, subject.words),
        "interval": _interval(lead, subject),
        "words": criterion_words(found, subject),
        "target": _target(lead, subject),
    }


def criterion_words(found: Sequence[Entry], subject: Subject) -> str:
    """Return the verdict on a criterion: met only if no measured target of it is missed.

    Parameters
    ----------
    found : sequence of Entry
        The results of the criterion, the one that leads first; not empty.
    subject : Subject

    Returns
    -------
    str
        What the leading attack shows comes first, or that no attack was run.
    """
    lead, forms = found[0], subject.words["verdicts"]["criterion"]
    met, missed = judged_measures(found)
    if (not met and not missed) or lead.result.status != "measured":
        verdict = _without_target(lead.result, subject)
    elif len(met) + len(missed) == 1:
        [slug] = [*met, *missed]
        other = fill(forms["met_other" if met else "missed_other"], name=subject.name(slug))
        words = subject.words["verdicts"]["grade"][grade(lead.result)]
        verdict = words if slug == lead.slug else other
    else:
        verdict = _several_targets(met, missed, subject)
    return " ".join(filter(None, [_attack(found, subject), verdict]))


def _without_target(result: Result, subject: Subject) -> str:
    """Return that there is no target, or why nothing is judged; a long reason is cut."""
    reason = sentence(shortened(subject.say(result.reason), LONGEST_REASON))
    given = grade(result)
    # That nothing is met or missed without a target stands in the title, not in every row.
    words = subject.words["verdicts"]
    said = words["criterion"] if given == "no_target" else words["grade"]
    return fill(said[given], reason=reason).strip()


def judged_measures(found: Sequence[Entry]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the measures whose target is met, and those that miss it in any scenario.

    Returns
    -------
    tuple of dict
        Slug to the grade of its worst scenario.
    """
    missed = {one.slug: grade(one.result) for one in found if one.result.verdict == "not met"}
    met: dict[str, str] = {}
    for one in found:
        if one.result.verdict == "met" and one.slug not in missed:
            kept = met.get(one.slug) in _AT_THE_ESTIMATE
            met[one.slug] = met[one.slug] if kept else grade(one.result)
    return met, missed


def verdict_key(subject: Subject) -> str:
    """Return what the marks of the verdict table mean: only of those that stand in it."""
    forms = subject.words["labels"]["verdict_key"]
    leads = [found[0].result for one in CRITERIA if (found := subject.of_criterion(one))]
    shown = [one for one in leads if on_strip(one)]
    judged = {one.verdict in {"met", "not met"} for one in shown}
    kinds = {kind for one in shown for kind in known_kinds(one)}
    marks = [
        "dot" if True in judged else "",
        "bar" if False in judged else "",
        "band" if any(one.interval for one in shown) else "",
        "target" if any(one.target for one in shown) else "",
    ]
    if subject.assessment.release.holdout_kind != "real":
        kinds = {"half" if kind == "real" else kind for kind in kinds}
    letters = [forms["letters"][kind] for kind in forms["letters"] if kind in kinds]
    known = [fill(forms["known"], letters=formats.listed(letters))] if letters else []
    return " ".join([*(forms[mark] for mark in marks if mark), *known])


def _several_targets(met: dict[str, str], missed: dict[str, str], subject: Subject) -> str:
    """Return how many of several targets of one criterion are met."""
    forms, told = subject.words["verdicts"]["criterion"], missed or met
    both = len(told) == 2 == len(met) + len(missed)  # noqa: PLR2004 - two of two are both
    few = "both_" if both else "one_" if len(missed) == 1 else ""
    words = fill(
        forms[few + ("missed" if missed else "met")],
        missed=formats.count_word(len(missed)).capitalize(),
        total=formats.count_word(len(met) + len(missed)),
    )
    unsure = sum(one in _AT_THE_ESTIMATE for one in told.values())
    if not unsure:
        return f"{words}."
    key = "at_the_estimate" if unsure == len(told) else "some_at_the_estimate"
    return f"{words}{fill(forms[key], count=formats.count_word(unsure))}."


def _attack(found: Sequence[Entry], subject: Subject) -> str:
    """Return what the leading attack shows, or that only distances and matches were measured."""
    first, lead = found[0], found[0].result
    measured = [one.result for one in found if one.result.status == "measured"]
    if lead.section != "privacy" or not measured:
        return ""
    if any(one.basis == "attack" for one in measured):
        attacked = lead.basis == "attack"
        return attack_words(lead, subject.words, *first.finding) if attacked else ""
    return str(subject.words["verdicts"]["attack_short"]["no_attack"])


def _further(found: Sequence[Entry], subject: Subject) -> str:
    """Return how many measures stand in the section only, and how many were not measured."""
    forms = subject.words["verdicts"]["further"]
    lead = found[0]
    measured = {one.slug for one in found if one.result.status == "measured"} | {lead.slug}
    unmeasured = {one.slug for one in found} - measured
    section, more = section_of(criterion_of(lead.result)), len(measured) - 1
    parts = []
    if more:
        parts.append(fill(forms["one" if more == 1 else "many"], count=more, section=section))
    if unmeasured:
        key = "other_not_measured" if len(unmeasured) == 1 else "others_not_measured"
        parts.append(fill(forms[key], count=len(unmeasured)))
    return formats.listed(parts)


def _target(lead: Entry, subject: Subject) -> str:
    """Return the target of a measured result with its issuer; nothing where there is none."""
    result, profile = lead.result, subject.assessment.profile
    if result.status != "measured" or result.target is None:
        return ""
    date = profile.date if profile else None
    target = msgspec.structs.replace(
        result.target, issuer=shortened(result.target.issuer, LONGEST_ISSUER)
    )
    words = target_words(target, date, subject.words, result.unit)
    quantity = subject.words["verdicts"]["quantity"].get(result.target.definition)
    return f"{words} ({quantity})" if quantity else words


def _interval(lead: Entry, subject: Subject) -> str:
    """Return the interval; one that is not from sampling is called what it is."""
    result = lead.result
    return "" if result.interval is None else interval_words(result, subject.words)


def _strip(lead: Entry, subject: Subject) -> Picture:
    words = subject.words.get("figures", {})
    return score_strip(lead.result, subject.name(lead.slug), words, large=False)


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
    if lead.result.status == "measured" and lead.result.unit == "%" and not on_strip(lead.result):
        parts.append(verdicts["off_strip"])
    if subject.by_scenario(lead.slug) and lead.result.status == "measured":
        name = shortened(lead.scenario.name, LONGEST_NAME)
        count = len(subject.of_measure(lead.slug))
        parts.append(fill(verdicts["in_scenario"], scenario=name, count=count))
    return formats.listed(parts)
