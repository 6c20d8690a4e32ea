"""What a score strip is drawn from, and its two skins: percent for HTML, points for Typst."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from evalkit.figures.style import LIGHT, TEXT_PT
from evalkit.strip.labels import JOINT, Placed

if TYPE_CHECKING:
    from collections.abc import Callable

HTML_Y_SCALE = 1.5
HTML_STROKE_SCALE = 1.25
AIR_PT = 5.0
"""At both ends inside the drawing, so that dots and letters at 0 and 100 are not cut off."""
_WEIGHT = ' font-weight="600"'


@dataclass(frozen=True)
class Stroke:
    """A straight line; x in percent, y and width in points."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float


@dataclass(frozen=True)
class Bar:
    """The interval."""

    low: float
    high: float
    y: float
    height: float


@dataclass(frozen=True)
class Dot:
    """The score against a target."""

    x: float
    y: float
    radius: float
    hollow: bool


Mark: TypeAlias = Stroke | Bar | Dot | Placed


def html_mark(mark: Mark) -> str:
    """Return a mark with x in percent, y in pixels and custom properties for colours."""
    if isinstance(mark, Stroke):
        return (
            f'<line x1="{mark.x1:.2f}%" y1="{mark.y1 * HTML_Y_SCALE:.2f}" x2="{mark.x2:.2f}%" '
            f'y2="{mark.y2 * HTML_Y_SCALE:.2f}" style="stroke:var(--{mark.colour})" '
            f'stroke-width="{mark.width * HTML_STROKE_SCALE:.2f}"/>'
        )
    if isinstance(mark, Bar):
        return (
            f'<rect x="{mark.low:.2f}%" y="{mark.y * HTML_Y_SCALE:.2f}" '
            f'width="{mark.high - mark.low:.2f}%" height="{mark.height * HTML_Y_SCALE:.2f}" '
            'style="fill:var(--avaT)"/>'
        )
    if isinstance(mark, Dot):
        fill = "paper" if mark.hollow else "ava"
        return (
            f'<circle cx="{mark.x:.2f}%" cy="{mark.y * HTML_Y_SCALE:.2f}" '
            f'r="{mark.radius * HTML_Y_SCALE:.2f}" stroke-width="{1.5 * HTML_STROKE_SCALE:.2f}" '
            f'style="fill:var(--{fill});stroke:var(--ava)"/>'
        )
    size = 13 if mark.size == TEXT_PT else 12
    place = f'x="{mark.x:.2f}%" y="{mark.y * HTML_Y_SCALE:.2f}" font-size="{size}"'
    return _text(mark, place, lambda colour: f'style="fill:var(--{colour})"')


def typst_mark(mark: Mark, width: float) -> str:
    """Return a mark in points and fixed colours."""

    def x(percent: float) -> str:
        return f"{AIR_PT + percent / 100 * (width - 2 * AIR_PT):.2f}"

    if isinstance(mark, Stroke):
        return (
            f'<line x1="{x(mark.x1)}" y1="{mark.y1:.2f}" x2="{x(mark.x2)}" y2="{mark.y2:.2f}" '
            f'stroke="{LIGHT[mark.colour]}" stroke-width="{mark.width:g}"/>'
        )
    if isinstance(mark, Bar):
        length = (mark.high - mark.low) / 100 * (width - 2 * AIR_PT)
        return (
            f'<rect x="{x(mark.low)}" y="{mark.y:.2f}" width="{length:.2f}" '
            f'height="{mark.height:g}" fill="{LIGHT["avaT"]}"/>'
        )
    if isinstance(mark, Dot):
        fill = LIGHT["paper" if mark.hollow else "ava"]
        return (
            f'<circle cx="{x(mark.x)}" cy="{mark.y:.2f}" r="{mark.radius:g}" stroke-width="1.5" '
            f'fill="{fill}" stroke="{LIGHT["ava"]}"/>'
        )
    place = f'x="{x(mark.x)}" y="{mark.y:.2f}" font-size="{mark.size:g}"'
    return _text(mark, place, lambda colour: f'fill="{LIGHT[colour]}"')


def _text(mark: Placed, place: str, fill: Callable[[str], str]) -> str:
    """Return words as one text, so that joined words keep their distance at every width."""
    parts = [
        f"<tspan {fill(colour)}{_WEIGHT if bold else ''}>{escape(said)}</tspan>"
        for said, colour, bold in mark.parts
    ]
    return f'<text {place} text-anchor="{mark.anchor}">{JOINT.join(parts)}</text>'


@dataclass(frozen=True)
class Strip:
    """A strip, ready to be written in either skin.

    Attributes
    ----------
    alt : str
        What a reader who cannot see it is told.
    width, height : float
        Size in points in print.
    marks : tuple
        Strokes, bar, dot and words in the order of drawing.
    large : bool
        Whether it is the one of a metric's page.
    """

    alt: str
    width: float
    height: float
    marks: tuple[Mark, ...]
    large: bool

    def html(self) -> str:
        """Return the ``<svg>`` element for HTML, of class ``strip`` or ``strip big``."""
        classes = "strip big" if self.large else "strip"
        height = round(self.height * HTML_Y_SCALE)
        body = "".join(html_mark(mark) for mark in self.marks)
        label = escape(self.alt)
        return (
            f'<svg class="{classes}" role="img" aria-label="{label}" height="{height}">{body}</svg>'
        )

    def typst(self) -> str:
        """Return the SVG file for Typst, in fixed colours and points."""
        body = "".join(typst_mark(mark, self.width) for mark in self.marks)
        size = f'width="{self.width:g}pt" height="{self.height:.2f}pt"'
        box = f'viewBox="0 0 {self.width:g} {self.height:.2f}"'
        font = "font-family=\"'Source Sans 3'\""
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} {font}>{body}</svg>'
