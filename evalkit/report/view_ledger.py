"""Sections 13 and 14: what became of everything, and what the numbers do not hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import fill, heading, items, prose, table, text
from evalkit.report.subject import CRITERIA
from evalkit.report.view_front import ROWS_SHOWN
from evalkit.report.view_limits import points_of_this_run
from evalkit.report.wording import sentence, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.records import ReleaseRecord, Result
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

LONGEST_NAME: Final = 60
DRAWN: Final = {
    "drawn_originals": ("n_original", ("n_sampled", "sample", "n_working_sampled")),
    "drawn_avatars": ("n_avatars", ("sample_avatars", "n_avatars_sampled")),
    "drawn_rows": ("", ("cut_from",)),
}
"""Words of the ledger, what there is of such rows, and the facts that say how many were drawn.

Without a name of what there is, the fact is there only where some were drawn.
"""
BESIDE: Final = {
    "sampled_splits": ("n_original", ("split_sample",)),
    "sampled_curve": ("n_original", ("curve_sample",)),
}
"""The same for what stands beside a score."""
ATTACKED: Final = {"drawn_originals": ("n_working", ("attempts",))}
ATTACKS_ON_ORIGINALS: Final = {"membership_inference_protection", "inference_protection"}
"""Measures whose attempts are originals, drawn where there are fewer."""
ASKING_IN_PEOPLE: Final = {"closest_distances_ratio"}
"""Measures whose ``sample_avatars`` counts avatars as people, also where none were drawn."""
RECORDED: Final = {"n_original": "n_working", "n_avatars": "n_working_avatars"}


def ledger_blocks(subject: Subject) -> list[Block]:
    """Return section 13: every measure asked for, columns left out, all warnings once."""
    left_out = [one for one in subject.assessment.release.variables if not one.used]
    reasons = [
        (
            shortened(one.name, LONGEST_NAME),
            subject.type_of(one),
            " ".join(sentence(subject.say(message)) for message in one.notes)
            or subject.words["labels"]["roles"].get(one.role, one.role),
        )
        for one in left_out[:ROWS_SHOWN]
    ]
    warnings = _warnings(subject)
    counted = subject.text("warnings_counted")
    return [
        *(text(prose(one)) for one in subject.text("ledger")),
        heading(subject.heading("measures")),
        table(subject.head("ledger"), (36, 24, 20, 32, 48), _ledger_rows(subject)),
        heading(subject.heading("left_out")),
        table(subject.head("left_out"), (50, 30, 80), reasons)
        if reasons
        else text(subject.text("no_left_out")),
        heading(subject.heading("warnings")),
        table(
            subject.head("warning"),
            (102, 44, 14),
            warnings,
            caption=fill(counted, count=len(warnings)),
        )
        if warnings
        else text(subject.text("no_warnings")),
    ]


def limitation_blocks(subject: Subject) -> list[Block]:
    """Return section 14: the points that always hold, then those of this run."""
    assessment = subject.assessment
    variants = {
        "rows" if assessment.release.individual is None else "persons",
        "analysed" if any(one.terms for one in assessment.analyses) else "general",
    }
    general = [
        prose(
            point if isinstance(point, str) else point[next(iter(variants & point.keys()))],
            inline=True,
        )
        for point in subject.words["limitations"]["points"]
    ]
    return [
        heading(subject.heading("general")),
        items(general),
        heading(subject.heading("this_run")),
        items(points_of_this_run(subject, _rests_on_a_sample(subject))),
    ]


def _ledger_rows(subject: Subject) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    for entry in subject.entries:
        result = entry.result
        measured = result.status == "measured"
        remarks = sentence(subject.say(result.reason)) or formats.NO_VALUE
        rows.append(
            (
                subject.name(entry.slug),
                subject.scenario_name(entry, LONGEST_NAME),
                subject.label("measured" if measured else "not_applicable"),
                _rows_used(result, subject) if measured else formats.NO_VALUE,
                remarks,
            )
        )
    profile, blank = subject.assessment.profile, formats.NO_VALUE
    for slug in profile.unmeasured if profile else ():
        status, why = subject.label("not_applicable"), subject.label("unmeasured_target")
        rows.append((shortened(slug, LONGEST_NAME), blank, status, blank, sentence(why)))
    for criterion in CRITERIA:
        if not subject.of_criterion(criterion):
            name, status = subject.criterion_name(criterion), subject.label("not_applicable")
            rows.append((name, blank, status, blank, sentence(subject.label("no_measure"))))
    return rows


def _rows_used(result: Result, subject: Subject) -> str:
    """Return over how many rows a measure went, and what was sampled."""
    release, facts = subject.assessment.release, result.facts
    words = subject.label(
        "all_rows",
        n=formats.number(facts.get("n_original", release.n_working)),
        m=formats.number(facts.get("n_avatars", release.n_working_avatars)),
    )
    drawn = _drawn(result, release) | _counted(BESIDE, facts, release)
    parts = [subject.label(label, n=formats.number(count)) for label, count in drawn.items()]
    return formats.listed([words, *parts])


def _drawn(result: Result, release: ReleaseRecord) -> dict[str, int]:
    """Return by its words how many were drawn for a score; nothing where it rests on all."""
    names = DRAWN | (ATTACKED if result.slug in ATTACKS_ON_ORIGINALS else {})
    if result.slug in ASKING_IN_PEOPLE:
        names = names | {"drawn_avatars": ("", ("drawn_avatars",))}
    return _counted(names, result.facts, release)


def _rests_on_a_sample(subject: Subject) -> list[str]:
    """Return the slugs of the measures for whose scores some were drawn."""
    release = subject.assessment.release
    return [entry.slug for entry in subject.entries if _drawn(entry.result, release)]


def _counted(
    names: Mapping[str, tuple[str, Sequence[str]]], facts: dict[str, Any], release: ReleaseRecord
) -> dict[str, int]:
    found = {}
    for label, (total, samples) in names.items():
        count = _least(facts, samples)
        there = facts.get(total) or getattr(release, RECORDED.get(total, ""), None)
        if count is not None and (not total or (there is not None and count < there)):
            found[label] = count
    return found


def _least(facts: dict[str, Any], names: Sequence[str]) -> int | None:
    """Return the first of these facts that there is, as a count."""
    return next((facts[name] for name in names if isinstance(facts.get(name), int)), None)


def _warnings(subject: Subject) -> list[Sequence[Any]]:
    """Return each warning and note once, with what it concerns and how often it was raised."""
    release, profile = subject.assessment.release, subject.assessment.profile
    raised = [(subject.say(message), subject.label("release")) for message in release.notes]
    raised += [
        (subject.say(message), shortened(one.name, LONGEST_NAME))
        for one in release.variables
        for message in one.notes
    ]
    raised += [
        (subject.say(message), subject.name(entry.slug))
        for entry in subject.entries
        for message in entry.result.warnings
    ]
    if profile:
        raised += [
            (subject.say(message), subject.label("id_profile")) for message in profile.warnings
        ]
    counts = Counter(words for words, _ in raised)
    concerns: dict[str, list[str]] = {}
    for words, name in raised:
        concerns.setdefault(words, []).append(name)
    return [
        (
            sentence(words),
            subject.names(list(dict.fromkeys(concerns[words])), longest=LONGEST_NAME),
            str(count),
        )
        for words, count in list(counts.items())[:ROWS_SHOWN]
    ]
