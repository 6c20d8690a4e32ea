"""Drawings of a report, ready for both outputs: figures of the metrics, and the holdout diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit import formats
from evalkit.blocks import Picture, fill
from evalkit.prose import html_text
from evalkit.wording import headline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.figures import Drawing
    from evalkit.metric import Metric
    from evalkit.records import Result
    from evalkit.subject import Subject

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
    anchors = known_cases(result.facts, result.section)
    strip = (page_strip if large else table_strip)(reading, anchors, words)
    return Picture(strip.html(), strip.typst(), strip.alt, strip.width)


def _picture(pair: tuple[Drawing, Drawing], prefix: str) -> Picture:
    from evalkit.figures import html_svg, typst_svg

    wide, narrow = pair
    html = html_svg(wide, f"{prefix}w-", "fig w") + html_svg(narrow, f"{prefix}n-", "fig n")
    width = 72.0 * float(wide.figure.get_figwidth())
    return Picture(html, typst_svg(wide, f"{prefix}-"), wide.alt, width)


def holdout_diagram(subject: Subject) -> Picture:
    """Return the small drawing of the two comparisons: avatars and holdout against originals."""
    words = subject.text("diagram")
    release = subject.assessment.release
    counts = {
        "originals": release.n_working,
        "avatars": release.n_working_avatars,
        "holdout": release.n_holdout,
    }
    texts = {key: str(words[key]) for key in (*counts, "treatment", "chance")} | {
        f"{key}_rows": fill(words["rows"], n=formats.number(count)) for key, count in counts.items()
    }
    alt = fill(
        subject.text("diagram_alt"),
        w=formats.number(release.n_working),
        a=formats.number(release.n_working_avatars),
        h=formats.number(release.n_holdout),
    )
    drawn = fill(_DIAGRAM, **{key: html_text(value) for key, value in texts.items()})
    html = f'<svg class="fig" role="img" aria-label="{html_text(alt)}" {_HTML_BOX}>{drawn}</svg>'
    typst = f'<svg xmlns="http://www.w3.org/2000/svg" {_TYPST_BOX}>{_on_paper(drawn)}</svg>'
    return Picture(html, typst, alt, _DIAGRAM_WIDTH_PT)


def _on_paper(svg: str) -> str:
    """Return the drawing in the light colours, for Typst."""
    from evalkit.figures.style import LIGHT

    for name, colour in LIGHT.items():
        svg = svg.replace(f"var(--{name})", colour)
    return svg


_DIAGRAM_WIDTH_PT: Final = 300.0
_VIEW: Final = 'viewBox="0 0 300 76"'
_HTML_BOX: Final = f'width="487.5" height="123.5" {_VIEW}'
_TYPST_BOX: Final = f'width="300pt" height="76pt" {_VIEW} font-family="\'Source Sans 3\'"'
# Two lines leave the working originals: what is compared is joined, and the line says why it
# differs. Forms and colours are those of the series everywhere else.
_DIAGRAM: Final = """
<g font-size="8">
<rect x="0" y="31" width="5.4" height="5.4" fill="var(--orig)"/>
<text x="10" y="37" font-weight="600" fill="var(--ink)">{originals}</text>
<text x="10" y="48" fill="var(--mute)">{originals_rows}</text>
<path d="M104 34 L198 14" stroke="var(--ava)" stroke-width="1" fill="none"/>
<path d="M104 38 L198 58" stroke="var(--hold)" stroke-width="1" stroke-dasharray="5 3" fill="none"/>
<text x="148" y="14" text-anchor="middle" fill="var(--mute)">{treatment}</text>
<text x="148" y="63" text-anchor="middle" fill="var(--mute)">{chance}</text>
<circle cx="205" cy="13" r="3.1" stroke="var(--ava)" stroke-width="1.5" fill="var(--paper)"/>
<text x="213" y="16" font-weight="600" fill="var(--ava)">{avatars}</text>
<text x="213" y="27" fill="var(--mute)">{avatars_rows}</text>
<rect x="204" y="54" width="1.8" height="9" fill="var(--hold)"/>
<text x="213" y="61" font-weight="600" fill="var(--holdtx)">{holdout}</text>
<text x="213" y="72" fill="var(--mute)">{holdout_rows}</text>
</g>
"""
