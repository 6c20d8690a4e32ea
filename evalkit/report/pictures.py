"""Drawings of the metrics, ready for both outputs: figures and score strips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.report.blocks import Picture
from evalkit.report.wording import headline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalkit.figures import Drawing
    from evalkit.metric import Metric
    from evalkit.records import Result

FULL_WIDTH_PT: Final = 453.5
"""160 mm."""
LEAST_GAP_PT: Final = 14.0


def metric_pictures(
    metric: Metric, result: Mapping[str, Any], prefix: str, words: Mapping[str, str]
) -> list[tuple[Picture, bool]]:
    """Return the figures of one result, each with whether it takes the full width.

    Parameters
    ----------
    metric : Metric
        Its `draw` is called twice: wide for paper and screens, narrow for phones.
    result : mapping
        The result as plain values.
    prefix : str
        Goes before every id in the drawings; unique in the report.
    words : mapping
        Words of the figures.

    Returns
    -------
    list of (Picture, bool)
    """
    wide = metric.draw(result, words, False)  # noqa: FBT003 - the metric's own signature
    narrow = metric.draw(result, words, True)  # noqa: FBT003 - the same
    return [
        (_picture(pair, f"{prefix}-{place}"), pair[0].full_width)
        for place, pair in enumerate(zip(wide, narrow, strict=True))
    ]


def drawn(draw: Callable[[bool], Drawing], prefix: str) -> Picture:
    """Return one drawing, made wide and narrow, ready for both outputs.

    Parameters
    ----------
    draw : callable
        Called with whether the narrow twin is meant.
    prefix : str
        Goes before every id in the drawing; unique in the document.

    Returns
    -------
    Picture
    """
    return _picture((draw(False), draw(True)), prefix)  # noqa: FBT003 - the drawing's own question


def in_rows(pictures: Sequence[tuple[Picture, bool]]) -> list[list[int]]:
    """Return the places of full-width figures, those that fit side by side in one row.

    Returns
    -------
    list of list of int
        Indices into `pictures`.
    """
    rows: list[list[int]] = []
    free = 0.0
    for place, (picture, full_width) in enumerate(pictures):
        if not full_width:
            continue
        if rows and picture.width_pt + LEAST_GAP_PT <= free:
            rows[-1].append(place)
            free -= picture.width_pt + LEAST_GAP_PT
        else:
            rows.append([place])
            free = FULL_WIDTH_PT - picture.width_pt
    return rows


def score_strip(result: Result, name: str, words: Mapping[str, str], *, large: bool) -> Picture:
    """Return the strip of a measured result: the small one of a table, or a page's large one.

    Parameters
    ----------
    result : Result
        Has a score.
    name : str
        Of the measure, for the text alternative.
    words : mapping
        Words of the figures.
    large : bool
        Whether known cases are written out.

    Returns
    -------
    Picture
    """
    from evalkit.figures import Target
    from evalkit.strip import Reading, known_cases, page_strip, table_strip

    aim = result.target
    reading = Reading(
        name=name,
        score=float(headline(result) or 0.0),
        interval=result.interval,
        target=Target(aim.operator, aim.value) if aim else None,
        verdict=result.verdict,
    )
    anchors = known_cases(result.facts)
    strip = (page_strip if large else table_strip)(reading, anchors, words)
    return Picture(strip.html(), strip.typst(), strip.alt, strip.width)


def spread_picture(
    rows: Sequence[Mapping[str, Any]], prefix: str, words: Mapping[str, str]
) -> Picture:
    """Return the scores of groups of people, one line for each measure.

    Parameters
    ----------
    rows : sequence of mapping
        As in `evalkit.figures.group_spread`.
    prefix : str
        Goes before every id in the drawings; unique in the report.
    words : mapping
        Words of the figures.

    Returns
    -------
    Picture
    """
    from evalkit.figures import group_spread

    wide, narrow = (group_spread(rows, narrow=one, words=words) for one in (False, True))
    return _picture((wide, narrow), prefix)


def known_kinds(result: Result) -> list[str]:
    """Return which known cases a result's strip shows: ``copy``, ``shuffled`` or ``real``."""
    from evalkit.strip import known_cases

    return [anchor.kind for anchor in known_cases(result.facts)]


def drawn_pair(wide: Drawing, narrow: Drawing, prefix: str) -> Picture:
    """Return one drawing ready for both outputs, from its form for paper and that for phones.

    Parameters
    ----------
    wide, narrow : Drawing
    prefix : str
        Goes before every id; unique in the report.

    Returns
    -------
    Picture
    """
    return _picture((wide, narrow), prefix)


def _picture(pair: tuple[Drawing, Drawing], prefix: str) -> Picture:
    from evalkit.figures import html_svg, typst_svg

    wide, narrow = pair
    html = html_svg(wide, f"{prefix}w-", "fig w") + html_svg(narrow, f"{prefix}n-", "fig n")
    width = 72.0 * float(wide.figure.get_figwidth())
    return Picture(html, typst_svg(wide, f"{prefix}-"), wide.alt, width)
