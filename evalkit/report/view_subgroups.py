"""Scores by group: what page 1, the sections and annex E say of the levels of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evalkit.records import SubgroupScore
from evalkit.report import formats
from evalkit.report.blocks import figure, fill, heading, measure, prose, table, text
from evalkit.report.pictures import spread_picture
from evalkit.report.subject import CRITERIA, criterion_of
from evalkit.report.wording import headline, sentence, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalkit.records import Result, Subgroup
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

LONGEST_LABEL: Final = 28
LONGEST_COLUMN: Final = 30


class Standing(NamedTuple):
    """One group's score beside that of all people."""

    slug: str
    group: Subgroup
    score: SubgroupScore
    whole: float | None

    @property
    def gap(self) -> float:
        """Return how far the whole interval, or else the score, lies below all people."""
        top = self.score.interval[1] if self.score.interval else self.score.score or 0.0
        return (self.whole if self.whole is not None else 0.0) - top


def worst_sentence(subject: Subject) -> str:
    """Return what page 1 says of the groups, or the empty text without any.

    The measures that compare with a holdout come first: the others fall with the size of a group.
    """
    record = subject.assessment.subgroups
    if record is None:
        return ""
    forms = subject.words["verdicts"]["plain"]
    by = shortened(record.by, LONGEST_COLUMN)
    if not record.groups:
        return fill(forms["group_unshown"], by=by)
    worst = _worst([one for slug in _slugs(subject) for one in standings(slug, subject)])
    if worst is None:
        return fill(forms["group_none"], by=by)
    return fill(
        forms["group_lower"],
        by=by,
        group=group_name(worst.group, subject),
        n=formats.number(worst.group.rows_original),
        name=subject.name(worst.slug),
        score=formats.score(worst.score.score),
        interval=formats.interval(worst.score.interval),
        whole=formats.score(worst.whole),
    )


def subgroup_blocks(criterion: str, subject: Subject, labels: Iterator[str]) -> list[Block]:
    """Return what a section says of the groups: a finding and one picture of all its measures."""
    record, words = subject.assessment.subgroups, subject.words["labels"]["subgroups"]
    found = [standings(slug, subject) for slug in _slugs(subject, criterion)]
    rows = [one for one in found if one and one[0].score.unit == "%"]
    if record is None or not rows:
        return []
    by = shortened(record.by, LONGEST_COLUMN)
    worst = _worst([one for row in rows for one in row])
    finding = words["finding_none"]
    if worst is not None:
        finding = fill(
            words["finding_lower"],
            name=subject.name(worst.slug),
            score=formats.score(worst.score.score),
            group=group_name(worst.group, subject),
        )
    caption = prose(
        f"**{{label}}** {words['caption']}", inline=True, label=next(labels), finding=finding, by=by
    )
    figures = subject.words.get("figures", {})
    picture = spread_picture(
        [_spread(one, subject) for one in rows],
        f"f-groups-{criterion.replace(' ', '-')}",
        figures,
    )
    count = formats.number(sum(len(one) for one in rows))
    title = words["title_none" if worst is None else "title_lower"]
    return [
        measure(fill(words["by"], by=by), title, new_page=False),
        text(prose(subject.text("subgroups"), by=by, count=count)),
        *([] if criterion == "utility" else [text(subject.text("subgroups_size"))]),
        figure([picture], [caption], full_width=True),
    ]


def full_subgroup_blocks(subject: Subject) -> list[Block]:
    """Return the part of annex E: people by group, then every score, the lowest first."""
    record, words = subject.assessment.subgroups, subject.words["labels"]["subgroups"]
    if record is None:
        return []
    by, min_count = shortened(record.by, LONGEST_COLUMN), subject.assessment.scenario.min_count
    blocks = [
        heading(fill(words["people"], by=by)),
        *(text(prose(one, by=by, min_count=min_count)) for one in subject.text("subgroups_full")),
        *(text(prose("{note}", note=sentence(subject.say(one)))) for one in record.notes),
    ]
    if record.groups:
        people = [_people_row(group, subject) for group in record.groups]
        blocks.append(table(subject.head("groups"), (70, 30, 30, 30), people))
    for criterion in CRITERIA:
        rows = [row for slug in _slugs(subject, criterion) for row in _score_rows(slug, subject)]
        if rows:
            name = subject.criterion_name(criterion)
            blocks.append(heading(fill(words["scores"], by=by, criterion=name)))
            blocks.append(table(subject.head("group_scores"), (90, 22, 18, 30), rows))
    return blocks


def group_name(group: Subgroup, subject: Subject) -> str:
    """Return what a group is called in the language of the report."""
    return name_in(group, subject.words["labels"]["subgroups"])


def name_in(group: Subgroup, words: Mapping[str, Any]) -> str:
    """Return what a group is called: its level, its range, or what it is instead.

    Parameters
    ----------
    group : Subgroup
    words : mapping
        The labels of groups in one language.

    Returns
    -------
    str
    """
    low, high = (None if end is None else formats.threshold(end) for end in (group.low, group.high))
    if group.kind == "range":
        form = "under" if low is None else "from" if high is None else "range"
        return fill(words[form], low=low, high=high)
    if group.kind == "level":
        return shortened(group.label, LONGEST_LABEL) or str(words["empty"])
    return fill(words[group.kind], count=formats.number(group.levels))


def standings(slug: str, subject: Subject) -> list[Standing]:
    """Return the groups in which a measure gave a score, the lowest first."""
    record = subject.assessment.subgroups
    whole = headline(subject.assessment.results[slug])
    found = [
        Standing(slug, group, score, None if whole is None else float(whole))
        for group in (record.groups if record else ())
        if (score := group.results.get(slug)) is not None and score.score is not None
    ]
    return sorted(found, key=lambda one: one.score.score or 0.0)


def _worst(found: list[Standing]) -> Standing | None:
    """Return the group that lies furthest below all people, its whole interval included."""
    below = [one for one in found if one.score.unit == "%" and one.whole is not None]
    below = [one for one in below if one.score.interval and one.gap > 0]
    against_holdout = [one for one in below if _has_reference(one.slug)]
    return max(against_holdout or below, key=lambda one: one.gap, default=None)


def _has_reference(slug: str) -> bool:
    """Return whether a measure of this version compares with a holdout."""
    from evalkit import metrics
    from evalkit.metric import Need

    needs = {metric.slug: metric.needs for metric in metrics.all()}
    return bool(needs.get(slug, frozenset()) & {Need.HOLDOUT, Need.REAL_HOLDOUT})


def _slugs(subject: Subject, criterion: str = "") -> list[str]:
    """Return the measures of the first scenario, of one criterion or of all."""
    results: Mapping[str, Result] = subject.assessment.results
    return [
        slug
        for slug, result in results.items()
        if not criterion or criterion_of(result) == criterion
    ]


def _spread(found: list[Standing], subject: Subject) -> dict[str, Any]:
    """Return one line of the picture."""
    groups = []
    for one in found:
        low, high = one.score.interval or (None, None)
        label = group_name(one.group, subject)
        groups.append({"label": label, "score": one.score.score, "low": low, "high": high})
    return {"name": subject.name(found[0].slug), "whole": found[0].whole, "groups": groups}


def _people_row(group: Subgroup, subject: Subject) -> tuple[str, ...]:
    """Return a group with its rows in every table; a small holdout is not told."""
    real = subject.assessment.release.holdout_kind == "real"
    few = subject.words["labels"]["subgroups"]["few"]
    hidden = fill(few, min_count=subject.assessment.scenario.min_count)
    told = group.rows_holdout is not None
    return (
        group_name(group, subject),
        formats.number(group.rows_original),
        formats.number(group.rows_avatars),
        formats.number(group.rows_holdout) if told or not real else hidden,
    )


def _score_rows(slug: str, subject: Subject) -> list[tuple[Any, ...]]:
    """Return all people, then each group with a score, then why the others have none."""
    words, record = subject.words["labels"]["subgroups"], subject.assessment.subgroups
    found = standings(slug, subject)
    result, name = subject.assessment.results[slug], subject.name(slug)
    whole = (name, words["all_people"])
    rows = [_score_row(whole, subject.assessment.release.original.rows, result)]
    rows += [
        _score_row(group_name(one.group, subject), one.group.rows_original, one.score)
        for one in found
    ]
    reasons: dict[str, list[str]] = {}
    for group in record.groups if record else ():
        score = group.results.get(slug)
        if score is not None and score.reason is not None and score.score is None:
            reasons.setdefault(subject.say(score.reason), []).append(group_name(group, subject))
    rows += [
        (fill(words["not_in"], groups=", ".join(names), reason=reason), "", "", "")
        for reason, names in reasons.items()
        if found
    ]
    return rows if found else []


def _score_row(
    name: str | tuple[str, str], people: int, score: Result | SubgroupScore
) -> tuple[Any, ...]:
    """Return one row of a table of scores."""
    decimals = 1 if score.unit == "%" else 0
    shown = score.score if isinstance(score, SubgroupScore) else headline(score)
    return (
        name,
        formats.number(people),
        formats.number(None if shown is None else float(shown), decimals),
        formats.interval(score.interval, decimals),
    )
