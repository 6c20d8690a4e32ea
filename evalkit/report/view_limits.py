"""What limits the numbers of this run: nothing weak, unmeasured or unjudged is passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evalkit.report import formats
from evalkit.report.blocks import fill
from evalkit.report.subject import CRITERIA, criterion_of, declared_text
from evalkit.report.wording import (
    COMPARED,
    HIGHEST_SELF_SCORE,
    attack_finding,
    in_sentence,
    joined,
    sentence,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalkit.report.subject import Entry, Subject

LONGEST_NAME: Final = 60
FEW_ROWS: Final = 100
LEAST_HOLDOUT_SHARE: Final = 0.5
LARGE_HOLDOUT: Final = 5_000
"""From so many people on, the 95 % interval of a share is within 1.4 points either side."""
MEASURES_NAMED: Final = 20


def points_of_this_run(subject: Subject, drawn: Sequence[str]) -> list[str]:
    """Return the limitations of this run, one line each.

    Parameters
    ----------
    subject : Subject
    drawn : sequence of str
        Slugs of the measures whose scores rest on a sample.

    Returns
    -------
    list of str
        That there is nothing beyond the general points, where none was found.
    """
    words = subject.text("limitations_run")
    points = [
        *(sentence(subject.say(message)) for message in subject.shared_identifiers),
        *_of_the_control(subject),
        *_of_attacks(subject),
        *_of_what_was_not_measured(subject),
        *_of_targets(subject),
        *_of_the_tables(subject, drawn),
    ]
    return points or [words["nothing"]]


def _of_the_control(subject: Subject) -> list[str]:
    """Return what the control cannot carry: approximate, small, of other people, undeclared."""
    words, release = subject.text("limitations_run"), subject.assessment.release
    if release.holdout_kind != "real":
        return [words["approximate"]]
    if not any(attack_finding(entry.result) for entry in subject.entries):
        return []
    points = _of_a_small_holdout(subject) if _compared(subject) else []
    other = _criteria(subject, "not_comparable")
    if other:
        points.append(fill(words["not_comparable"], criteria=joined(other, subject.words)))
    if not declared_text(subject.declarations.get("holdout_made")):
        points.append(words["holdout_undeclared"])
    return points


def _of_a_small_holdout(subject: Subject) -> list[str]:
    """Return that a holdout is small beside the originals, in people where these were counted."""
    release, words = subject.assessment.release, subject.text("limitations_run")
    key, n, w = "small_holdout", release.n_holdout, release.n_working
    if release.holdout is not None and release.holdout.individuals and release.original.individuals:
        key, n, w = key + "_people", release.holdout.individuals, release.original.individuals
    if n >= min(LARGE_HOLDOUT, LEAST_HOLDOUT_SHARE * w):
        return []
    return [fill(words[key], n=formats.number(n), w=formats.number(w))]


def _of_attacks(subject: Subject) -> list[str]:
    """Return which attacks were too weak, had known variables too coarse, or had no control."""
    words = subject.text("limitations_run")
    points = []
    weak = [entry.slug for entry in subject.entries if entry.finding.key == "too_weak"]
    if weak:
        points.append(fill(words["too_weak"], measures=_measures(subject, weak)))
    coarse = [entry.slug for entry in subject.entries if _coarse(entry)]
    if coarse:
        limit = formats.number(HIGHEST_SELF_SCORE, 0)
        named = _measures(subject, coarse)
        points.append(fill(words["coarse"], measures=named, limit=limit))
    if not _attacked(subject):
        points.append(words["no_attack"])
    elif not _compared(subject):
        points.append(words["no_control"])
    return points


def _of_what_was_not_measured(subject: Subject) -> list[str]:
    """Return the criteria about which nothing is known, and the measures that gave no result."""
    words = subject.text("limitations_run")
    points = []
    if subject.unmeasured:
        names = [in_sentence(subject.criterion_name(one)) for one in subject.unmeasured]
        points.append(fill(words["not_measured"], criteria=joined(names, subject.words)))
    measured = {entry.slug for entry in subject.entries if entry.result.status == "measured"}
    lost = [entry.slug for entry in subject.entries if entry.slug not in measured]
    if lost:
        points.append(fill(words["measures_lost"], measures=_measures(subject, lost)))
    return points


def _of_targets(subject: Subject) -> list[str]:
    """Return that no target was set, that it was set for others, or that it judged nothing."""
    words, profile = subject.text("limitations_run"), subject.assessment.profile
    unjudged = subject.unjudged_targets
    if profile is None and not any(entry.result.target for entry in subject.entries):
        return [words["no_target"]]
    points = [sentence(subject.say(one)) for one in (profile.warnings if profile else [])]
    if unjudged:
        points.append(fill(words["unjudged"], measures=_measures(subject, unjudged)))
    return points


def _of_the_tables(subject: Subject, drawn: Sequence[str]) -> list[str]:
    """Return what limits the tables: samples, few people, what was left out."""
    words, release = subject.text("limitations_run"), subject.assessment.release
    points = []
    if drawn:
        points.append(fill(words["drawn"], measures=_measures(subject, drawn)))
    people = release.original.individuals or release.original.rows
    if people < FEW_ROWS:
        points.append(fill(words["small"], n=formats.number(people)))
    if subject.left_out:
        points.append(fill(words["left_out"], columns=subject.names(subject.left_out, 10)))
    if not subject.several_scenarios:
        name = shortened(subject.assessment.scenario.name, LONGEST_NAME)
        points.append(fill(words["one_scenario"], name=name))
    return points


def _measures(subject: Subject, slugs: Iterable[str]) -> str:
    """Return the plain names of measures in a sentence, each once."""
    names = [in_sentence(subject.name(slug)) for slug in dict.fromkeys(slugs)]
    return subject.names(names, MEASURES_NAMED, LONGEST_NAME)


def _criteria(subject: Subject, finding: str) -> list[str]:
    """Return the names of the criteria in which an attack shows `finding`."""
    found = {criterion_of(one.result) for one in subject.entries if one.finding.key == finding}
    return [in_sentence(subject.criterion_name(one)) for one in CRITERIA if one in found]


def _coarse(entry: Entry) -> bool:
    """Return whether even a perfect copy would score high on an attack."""
    copied = entry.result.facts.get("self_score")
    attacked = entry.result.status == "measured" and entry.result.basis == "attack"
    return attacked and copied is not None and copied > HIGHEST_SELF_SCORE


def _attacked(subject: Subject) -> bool:
    found = (entry.result for entry in subject.entries)
    return any(one.status == "measured" and one.basis == "attack" for one in found)


def _compared(subject: Subject) -> bool:
    return any(attack_finding(entry.result) in COMPARED for entry in subject.entries)
