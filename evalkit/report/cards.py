"""Cards of what was found: a metric, a result, an assessment, a comparison. From records alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evalkit.displays.card import Card, Drawn, Table, one_line
from evalkit.errors import InputError
from evalkit.report.languages import written_in
from evalkit.report.page_text import page_part
from evalkit.report.pictures import score_strip
from evalkit.report.plots import drawings_of, shown_language
from evalkit.report.sentences import message_words
from evalkit.report.wording import (
    interval_words,
    on_strip,
    score_words,
    sentence,
    target_words,
    verdict_words,
)
from evalkit.report.words import load_words

if TYPE_CHECKING:
    from evalkit.comparing import Comparison
    from evalkit.metric import Metric
    from evalkit.records import Assessment, Result
    from evalkit.report.words import Words

ROOM_PT: Final = 28.0
"""Beside a drawing, for words in a wider font than the one they were measured in."""
_FONTS: Final = "'Source Sans 3', 'Source Sans Pro', 'Helvetica Neue', Arial, sans-serif"
_BOX: Final = re.compile(r' viewBox="0 0 ([\d.]+) ([\d.]+)"')
_WIDTH: Final = re.compile(r' width="[\d.]+pt"')
SCORE_HEAD: Final = ("metric", "score", "95 % interval", "target", "verdict")


def metric_card(metric: Metric, language: str = "en") -> Card:
    """Return what a metric asks and measures.

    Parameters
    ----------
    metric : Metric
    language : str
        One of the report's languages.

    Returns
    -------
    Card
    """
    place = [metric.section.value, metric.criterion, metric.level]
    scale = {"%": "0 to 100, higher is better"}.get(metric.unit, f"{metric.unit}, more is better")
    needs = ", ".join(sorted(need.value for need in metric.needs)) or "nothing beyond two tables"
    return Card(
        "Metric",
        f"{_name(metric.slug, language)} ({metric.slug})",
        texts=tuple(
            said
            for part in ("Question", "What it measures")
            for said in _page(metric.slug, part, language).splitlines()[:1]
        ),
        facts=(
            ("belongs to", ", ".join(one for one in place if one)),
            ("score", scale),
            ("kind of evidence", metric.basis.value),
            ("needs", needs),
            ("version", f"{metric.version}"),
        ),
        hint="page() is the whole page: story, formula, how to read it, limits.",
        language=language,
    )


def result_line(result: Result) -> str:
    """Return a result in one line of text.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
        Slug, headline number, interval, target, verdict.
    """
    name = result.slug or "of no assessment"
    score, interval, target, verdict = _texts(result)
    if result.status != "measured":
        reason = f": {one_line(result.reason.text)}" if result.reason else ""
        return f"{name} {result.status}{reason}"
    beside = [f"95 % interval {interval}"] if interval != "-" else []
    aim = f" (target {target})" if target != "-" else ""
    return ", ".join([f"{name} {score}", *beside, verdict + aim])


def result_card(result: Result) -> Card:
    """Return a result as the report says it: score, interval, verdict, first figure, warnings.

    Parameters
    ----------
    result : Result

    Returns
    -------
    Card
    """
    language = shown_language(result)
    words = load_words(language)
    with written_in(language):
        name = _name(result.slug, language)
        labels = words["labels"]
        heads = labels["verdict_head"]
        entries = [
            (heads[2], score_words(result, words)),
            (labels["interval"], interval_words(result, words) if result.interval else ""),
            (heads[3], _verdict(result, words)),
        ]
        strip = _strip(result, name, words)
        warnings = [message_words(one, words) for one in result.warnings]
    place = [result.criterion or result.section, result.level]
    kinds = labels["kinds"]
    return Card(
        " · ".join([*(kinds.get(one, one) for one in place if one), result.slug or "-"]),
        name,
        texts=tuple(filter(None, [_page(result.slug, "Question", language)])),
        strip=strip,
        figure=_figure(result),
        facts=tuple((label, value) for label, value in entries if value),
        notes=tuple(warnings),
        hint="plot(), plots(), frame()",
        language=language,
    )


def assessment_card(assessment: Assessment) -> Card:
    """Return the sizes and the scores of an assessment, for a terminal.

    Parameters
    ----------
    assessment : Assessment

    Returns
    -------
    Card
    """
    release = assessment.release
    holdout = f", {release.holdout.rows:,} holdout rows" if release.holdout else ", no real holdout"
    rows = tuple((slug, *_texts(one)) for slug, one in assessment.results.items())
    more = len(assessment.more_scenarios)
    return Card(
        "Assessment",
        assessment.title,
        texts=(
            f"{release.original.rows:,} originals, {release.avatars.rows:,} avatars{holdout}",
            f"scenario {one_line(assessment.scenario.name)}"
            + (f" and {more} more" if more else ""),
        ),
        tables=(Table(SCORE_HEAD, rows, "frame()"),),
    )


def comparison_card(comparison: Comparison) -> Card:
    """Return what was compared and which changes go beyond their intervals, for a terminal.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    Card
    """
    names = zip(comparison.letters, comparison.assessments, strict=True)
    rows = tuple(
        (letter, line.slug, line.scenario or "any", change.finding)
        for line, letter, change in comparison.told
    )
    table = Table(("against A", "metric", "scenario", "change"), rows, "frame()")
    return Card(
        "Comparison",
        f"{len(comparison.assessments)} assessments; {len(rows)} of {comparison.judged} changes go "
        "beyond their intervals",
        texts=tuple(f"{letter} {one_line(one.title)}, {one.created[:10]}" for letter, one in names),
        tables=(table,) if rows else (),
    )


def _texts(result: Result) -> tuple[str, str, str, str]:
    """Return score, interval, target and verdict as short texts."""
    score, target = result.headline, result.target
    low, high = result.interval or (None, None)
    verdict = result.verdict
    if result.status == "measured" and verdict == "not applicable":
        verdict = "not judged"
    return (
        "-" if score is None else f"{score:.1f} {result.unit}",
        "-" if low is None else f"{low:.1f} to {high:.1f}",
        "-" if target is None else f"{target.operator} {target.value:g}",
        verdict,
    )


def _name(slug: str, language: str) -> str:
    """Return the plain name of a measure; of an unknown one its slug."""
    return _page(slug, "Name", language) or slug or "-"


def _page(slug: str, part: str, language: str) -> str:
    from evalkit import metrics

    known = slug in {metric.slug for metric in metrics.all()}
    return page_part(slug, part, language) if known else ""


def _verdict(result: Result, words: Words) -> str:
    """Return verdict and target as the report says them, or why nothing was measured."""
    said = [verdict_words(result, words)]
    if result.status == "measured" and result.target is not None:
        said.append(target_words(result.target, None, words, result.unit))
    return " ".join(map(sentence, said))


def _strip(result: Result, name: str, words: Words) -> Drawn | None:
    if not on_strip(result):
        return None
    picture = score_strip(result, name, words.get("figures", {}), large=True)
    return _drawn(picture.typst, picture.alt)


def _figure(result: Result) -> Drawn | None:
    """Return the first figure; none where it cannot be drawn."""
    from evalkit.figures import typst_svg

    try:
        drawings = drawings_of(result)
    except InputError:  # A display never fails: plot() says what is wrong.
        return None
    if not drawings:
        return None
    return _drawn(typst_svg(drawings[0], f"evalkit-{result.slug}-"), drawings[0].alt)


def _drawn(svg: str, alt: str) -> Drawn:
    """Return a drawing of the report's paper form at the size of text on a screen."""
    from evalkit.figures.style import FONT, HTML_TEXT_SCALE

    # The house font is not where a notebook is: one that is there may be wider.
    shown = svg.replace(f"'{FONT}'", _FONTS, 1)
    head, _, body = shown.partition(">")
    found = _BOX.search(head)
    if found is None:
        message = "a drawing states its size in its viewBox"
        raise ValueError(message)
    width, height = float(found[1]) + ROOM_PT, float(found[2])
    head = _WIDTH.sub(
        f' width="{width:g}pt"', _BOX.sub(f' viewBox="0 0 {width:g} {height:g}"', head)
    )
    sides = (round(side * HTML_TEXT_SCALE) for side in (width, height))
    return Drawn(f"{head}>{body}", alt, *sides)
