"""Sections 8 to 12: the evidence by criterion, one page per measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evalkit.report import formats
from evalkit.report.blocks import (
    Prose,
    beside,
    facts,
    figure,
    formula_text,
    heading,
    measure,
    note,
    prose,
    text,
)
from evalkit.report.filled_pages import finding_title, page_of
from evalkit.report.findings import CHANCE
from evalkit.report.pages import LIMIT_BESIDE, LISTED, MARGIN_PARTS, PARTS
from evalkit.report.pictures import in_rows, metric_pictures, score_strip
from evalkit.report.subject import criterion_of
from evalkit.report.view_compared import (
    leading_scenario,
    measures_table,
    part_level,
    scenario_table,
)
from evalkit.report.wording import (
    comparable,
    grade,
    on_strip,
    sampling_interval,
    sentence,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalkit.records import Result
    from evalkit.report.blocks import Block
    from evalkit.report.pages import Page
    from evalkit.report.subject import Entry, Subject

LONGEST_NAME: Final = 60
ROWS_BEFORE_A_PAGE: Final = 4
"""Below a longer table of measures the first of them begins a page too."""
LONGEST_WHOLE: Final = 2_400
LONGEST_WHOLE_ASIDE: Final = 1_000
"""Letters of lists that surely fit on one page, those of a user's page too."""
_COMPARING: Final = frozenset({"Reading"})
"""What a page says of people in the data beside the control, besides its verdict."""


def criterion_title(criterion: str, subject: Subject) -> tuple[str, str] | None:
    """Return title and kicker of a section whose one measure tells its finding, else None."""
    slugs = {entry.slug for entry in subject.of_criterion(criterion)}
    entry = subject.of_measure(next(iter(slugs)))[0] if len(slugs) == 1 else None
    if entry is None or entry.result.status != "measured" or not subject.pages.has(entry.slug):
        return None
    return finding_title(entry, subject), subject.name(entry.slug)


def criterion_blocks(criterion: str, subject: Subject, labels: Iterator[str]) -> list[Block]:
    """Return one of sections 8 to 12: a page per measure, with the limit that matters most."""
    slugs = list(dict.fromkeys(entry.slug for entry in subject.of_criterion(criterion)))
    additional = [text(subject.text("membership_additional"))] if criterion == "membership" else []
    if not slugs:
        key = "not_measured_utility" if criterion == "utility" else "not_measured"
        missing = text(prose(subject.text(key)))
        return [beside([missing, *additional], _limit(criterion, subject))]
    if len(slugs) == 1:
        return [*additional, *_metric_blocks(slugs[0], subject, labels)]
    blocks = [*additional, measures_table(criterion, subject)]
    leads = [subject.of_measure(slug)[0] for slug in slugs]
    measured = [one for one in leads if one.result.status == "measured"]
    long = len(slugs) > ROWS_BEFORE_A_PAGE
    for place, entry in enumerate(measured):
        title = finding_title(entry, subject)
        blocks.append(measure(subject.name(entry.slug), title, new_page=place > 0 or long))
        blocks += _metric_blocks(entry.slug, subject, labels)
    return blocks if measured else [*blocks, beside([], _limit(criterion, subject))]


def _limit(criterion: str, subject: Subject) -> Block:
    """Return the limit that matters most for a criterion, for the margin."""
    title = str(subject.text("limit_title"))
    label = formats.labelled(title, subject.criterion_name(criterion))
    return note(str(subject.text("criterion_limit")[criterion]), label, title)


def _metric_blocks(slug: str, subject: Subject, labels: Iterator[str]) -> list[Block]:
    """Return one measure: its page for the scenario that leads, a table over all of them."""
    entry = subject.of_measure(slug)[0]
    limit = _limit(criterion_of(entry.result), subject)
    if entry.result.status != "measured":
        reason = sentence(subject.say(entry.result.reason))
        words = text(prose(subject.text("not_applicable"), reason=reason))
        blocks = [beside([words], limit)]
    elif not subject.pages.has(slug):
        verdict = text(verdict_words(entry.result, subject.words))
        blocks = [beside([verdict, text(prose(subject.text("no_page")))], limit)]
    else:
        blocks = _measured_blocks(entry, subject, labels)
    return [*blocks, *_failed_blocks(entry, subject), *scenario_table(slug, subject)]


def _measured_blocks(entry: Entry, subject: Subject, labels: Iterator[str]) -> list[Block]:
    page = page_of(entry, subject)
    opening = [
        *_part(page, "Question", emphasised=True),
        *_part(page, "Story"),
        *leading_scenario(entry, subject),
        *([_large_strip(entry, subject)] if on_strip(entry.result) else []),
        *_unjudged(entry, subject),
        *_by_chance(entry, subject),
        *(_part(page, "Verdict") if comparable(entry.result) else []),
    ]
    beside_text, below = _figures(entry, page, subject, labels)
    margin = [*page.facts, *_own_facts(entry, subject)]
    label = subject.label("facts_of", name=subject.name(entry.slug))
    return [
        beside([*opening, *beside_text], facts(margin, label)),
        *below,
        *(
            block
            for part in PARTS
            if part not in _COMPARING or comparable(entry.result)
            for block in _titled(page, part, entry, subject)
        ),
    ]


def _large_strip(entry: Entry, subject: Subject) -> Block:
    """Return the strip of a page with what its mark and band mean here."""
    result = entry.result
    marks = {"met": "dot_met", "not met": "dot_not_met", "no target": "dot_no_target"}
    dot = subject.label(marks.get(result.verdict, "dot_not_judged"))
    band = subject.label(_band_key(result))
    words = subject.words.get("figures", {})
    strip = score_strip(result, subject.name(entry.slug), words, large=True)
    caption = prose(subject.label("strip_caption", dot=dot, band=band), inline=True)
    return figure([strip], [caption], full_width=False)


def _band_key(result: Result) -> str:
    """Return the key of what the band means: an interval, a range, or nothing."""
    if result.interval is None:
        return "no_band"
    return "band" if sampling_interval(result) else "band_range"


def _figures(
    entry: Entry, page: Page, subject: Subject, labels: Iterator[str]
) -> tuple[list[Block], list[Block]]:
    """Return the figures that stand beside the facts, and those of full width below."""
    from evalkit import metrics

    metric = metrics.get(entry.slug)
    plain_result = msgspec.to_builtins(entry.result)
    words = subject.words.get("figures", {})
    pictures = metric_pictures(metric, plain_result, f"f-{entry.slug}", words)
    captions = page.captions(labels)[: len(pictures)]
    captions += [prose(next(labels), inline=True) for _ in pictures[len(captions) :]]
    narrow = [
        figure([picture], [caption], full_width=False)
        for (picture, full_width), caption in zip(pictures, captions, strict=True)
        if not full_width
    ]
    wide = [
        figure([pictures[one][0] for one in row], [captions[one] for one in row], full_width=True)
        for row in in_rows(pictures)
    ]
    return narrow, wide


def _part(page: Page, name: str, *, emphasised: bool = False) -> list[Block]:
    content = page.part(name)
    if content is None:
        return []
    if emphasised:
        content = Prose(f"*{content.markdown}*", content.values)
    return [text(content)]


def _titled(page: Page, part: str, entry: Entry, subject: Subject) -> list[Block]:
    """Return a part below its heading, with what goes beside it in the margin."""
    titles = subject.words["labels"]["parts"]
    content = page.part(part)
    if content is None:
        return []
    body = formula_text(content) if part == "Formula" else [text(content)]
    main = [heading(titles[part], part_level(entry, subject)), *body]
    if part == LIMIT_BESIDE:
        return [beside(main, _limit(criterion_of(entry.result), subject), whole=True)]
    aside = page.part(MARGIN_PARTS[part]) if part in MARGIN_PARTS else None
    if aside is None:
        return main
    title = titles[MARGIN_PARTS[part]]
    side = note(aside, formats.labelled(title, subject.name(entry.slug)), title)
    short = len(content.markdown) <= LONGEST_WHOLE and len(aside.markdown) <= LONGEST_WHOLE_ASIDE
    return [beside(main, side, whole=short and part == LISTED)]


def _own_facts(entry: Entry, subject: Subject) -> list[tuple[str, str]]:
    words = f"{entry.result.version}, {subject.label('fact_seed').lower()} {entry.scenario.seed}"
    return [(subject.label("fact_version"), words)]


def _unjudged(entry: Entry, subject: Subject) -> list[Block]:
    if not comparable(entry.result):
        return [text(prose(subject.text("exchange_differs")))]
    if grade(entry.result) != "not_judged":
        return []
    reason = sentence(subject.say(entry.result.reason))
    return [text(prose(subject.text("not_judged"), reason=reason))]


def _by_chance(entry: Entry, subject: Subject) -> list[Block]:
    """Return that the page reads one attack alone, where that one shows what several may not."""
    if entry.finding.key != CHANCE:
        return []
    count = formats.count_word(entry.finding.attacks)
    return [text(prose(subject.text("by_chance"), count=count))]


def _failed_blocks(entry: Entry, subject: Subject) -> list[Block]:
    """Return the options that remain where a target is missed."""
    target, profile = entry.result.target, subject.assessment.profile
    if entry.result.verdict != "not met" or target is None:
        return []
    key = "failed" if profile else "failed_no_profile"
    words = subject.words["verdicts"][key]
    name, profile_name = subject.name(entry.slug), profile.name if profile else ""
    return [text(prose(words, name=name, issuer=target.issuer, profile=profile_name))]
