"""The small drawing of section 6: what is compared with the originals, and why it differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evalkit.prose import html_text
from evalkit.report import formats
from evalkit.report.blocks import Picture, fill

if TYPE_CHECKING:
    from evalkit.report.subject import Subject

WIDTH_PT: Final = 300
PIXELS_PER_POINT: Final = 1.625
"""Text of 8 pt is 13 px on a screen, as in every figure."""


def holdout_diagram(subject: Subject) -> Picture:
    """Return the drawing of the two comparisons: avatars and holdout against originals.

    Parameters
    ----------
    subject : Subject
        Gives the words and the sizes of the working tables.

    Returns
    -------
    Picture
    """
    words, release = subject.text("diagram"), subject.assessment.release
    counts = {
        "originals": formats.number(release.n_working),
        "avatars": formats.number(release.n_working_avatars),
        "holdout": formats.number(release.n_holdout),
    }
    texts = {key: html_text(words[key]) for key in (*counts, "treatment", "chance")} | {
        f"{key}_rows": html_text(fill(words["rows"], n=count)) for key, count in counts.items()
    }
    alt = fill(subject.text("diagram_alt"), **counts)
    wide, narrow = fill(_WIDE, **texts), fill(_NARROW, **texts)
    label = html_text(alt)
    html = _html(wide, "w", label, WIDTH_PT, 76) + _html(narrow, "n", label, 200, 96)
    size = f'width="{WIDTH_PT}pt" height="76pt" viewBox="0 0 {WIDTH_PT} 76"'
    font = "font-family=\"'Source Sans 3'\""
    typst = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{_on_paper(wide)}</svg>'
    return Picture(html, typst, alt, float(WIDTH_PT))


def _html(drawn: str, shown: str, label: str, width: int, height: int) -> str:
    """Return one of the two forms for HTML: ``w`` for wide columns, ``n`` for a phone."""
    size = f'width="{width * PIXELS_PER_POINT:g}" height="{height * PIXELS_PER_POINT:g}"'
    box = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="fig {shown}" role="img" aria-label="{label}" {size} {box}>{drawn}</svg>'


def _on_paper(svg: str) -> str:
    """Return the drawing in the light colours, for Typst."""
    from evalkit.figures.style import LIGHT

    for name, colour in LIGHT.items():
        svg = svg.replace(f"var(--{name})", colour)
    return svg


# Two lines leave the working originals: what is compared is joined, and the line says why it
# differs. Forms and colours are those of the series everywhere else.
_WIDE: Final = """
<g font-size="8">
<rect x="0" y="31" width="5.4" height="5.4" fill="var(--orig)"/>
<text x="10" y="37" font-weight="600" fill="var(--ink)">{originals}</text>
<text x="10" y="48" fill="var(--mute)">{originals_rows}</text>
<path d="M104 34 L198 14" stroke="var(--ava)" fill="none"/>
<path d="M104 38 L198 58" stroke="var(--hold)" stroke-dasharray="5 3" fill="none"/>
<text x="166" y="11" text-anchor="end" fill="var(--mute)">{treatment}</text>
<text x="166" y="66" text-anchor="end" fill="var(--mute)">{chance}</text>
<circle cx="205" cy="13" r="3.1" stroke="var(--ava)" stroke-width="1.5" fill="var(--paper)"/>
<text x="213" y="16" font-weight="600" fill="var(--ava)">{avatars}</text>
<text x="213" y="27" fill="var(--mute)">{avatars_rows}</text>
<rect x="204" y="54" width="1.8" height="9" fill="var(--hold)"/>
<text x="213" y="61" font-weight="600" fill="var(--holdtx)">{holdout}</text>
<text x="213" y="72" fill="var(--mute)">{holdout_rows}</text>
</g>
"""
_NARROW: Final = """
<g font-size="8">
<rect x="0" y="41" width="5.4" height="5.4" fill="var(--orig)"/>
<text x="9" y="47" font-weight="600" fill="var(--ink)">{originals}</text>
<text x="9" y="58" fill="var(--mute)">{originals_rows}</text>
<path d="M96 41 L106 15" stroke="var(--ava)" fill="none"/>
<path d="M96 48 L106 66" stroke="var(--hold)" stroke-dasharray="5 3" fill="none"/>
<circle cx="110" cy="11" r="3.1" stroke="var(--ava)" stroke-width="1.5" fill="var(--paper)"/>
<text x="117" y="14" font-weight="600" fill="var(--ava)">{avatars}</text>
<text x="117" y="25" fill="var(--mute)">{avatars_rows}</text>
<text x="117" y="36" fill="var(--mute)">{treatment}</text>
<rect x="109" y="65" width="1.8" height="9" fill="var(--hold)"/>
<text x="117" y="72" font-weight="600" fill="var(--holdtx)">{holdout}</text>
<text x="117" y="83" fill="var(--mute)">{holdout_rows}</text>
<text x="117" y="94" fill="var(--mute)">{chance}</text>
</g>
"""
