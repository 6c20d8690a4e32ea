"""The drawing surface: points, x to the right and y downwards, on a matplotlib figure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from evalkit.figures.style import FONT, LIGHT, TEXT_PT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.ft2font import FT2Font

    Place = tuple[float, float]

POINTS_PER_INCH = 72
WIDE_CHARACTER_EM = 1.3
"""Width taken for an emoji or an ideograph that the house font lacks; generous on purpose."""
MOST_CHARACTERS = 400
"""No name is looked at beyond this: none can be shown at that length anyway."""
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, eq=False)
class Drawing:
    """One figure with what a reader who cannot see it is told.

    Attributes
    ----------
    name : str
        Stem of the figure's name, unique within a metric.
    figure : matplotlib.figure.Figure
        Natural size, light colours, text as text.
    alt : str
        The finding in words and numbers.
    full_width : bool
        Whether it stands across text and margin column.
    """

    name: str
    figure: Figure
    alt: str
    full_width: bool

    def _repr_svg_(self) -> str:
        """Return the figure for a notebook, on paper colour so that ink stays readable."""
        from evalkit.figures.svg import typst_svg

        return typst_svg(self, "notebook-", on_paper=True)


def plain(text: str) -> str:
    r"""Return `text` as one line of characters that every output can hold.

    Parameters
    ----------
    text : str
        A name from data, or words of the report.

    Returns
    -------
    str
        Control characters, lone surrogates and direction overrides become U+FFFD, since XML
        forbids the first two and the third would turn the words that follow.

    Examples
    --------
    >>> from evalkit.figures.sheet import plain
    >>> plain("blood\npressure")
    'blood pressure'
    """
    one_line = " ".join(str(text).split())
    return "".join("\ufffd" if _unprintable(character) else character for character in one_line)


def _unprintable(character: str) -> bool:
    """Return whether a character cannot stand in a drawing."""
    return (
        unicodedata.category(character) in {"Cc", "Cs"}
        or character in _OVERRIDES
        or character in "\ufffe\uffff"
    )


@cache
def font_path(*, bold: bool = False) -> Path:
    """Return the file of the house font; matplotlib's own where the folder has none."""
    from matplotlib import font_manager

    from evalkit.resources import folder

    weight = "SemiBold" if bold else "Regular"
    found = sorted((folder("report_templates") / "fonts").glob(f"SourceSans3*{weight}.ttf"))
    if found:
        return found[0]
    from pathlib import Path

    return Path(font_manager.findfont("DejaVu Sans"))


@cache
def _font(*, bold: bool) -> FT2Font:
    """Return the open font that widths are taken from."""
    from matplotlib.font_manager import get_font

    return get_font(str(font_path(bold=bold)))


@cache
def _character_em(character: str, *, bold: bool) -> float:
    """Return the width of one character in em."""
    from matplotlib.ft2font import LoadFlags

    font = _font(bold=bold)
    if font.get_char_index(ord(character)):
        glyph = font.load_char(ord(character), flags=LoadFlags.NO_SCALE)
        return float(glyph.horiAdvance) / float(font.units_per_EM)
    if unicodedata.east_asian_width(character) in "WF":
        return WIDE_CHARACTER_EM
    return 0.0 if unicodedata.combining(character) else 0.6


def width_pt(text: str, size_pt: float = TEXT_PT, *, bold: bool = False) -> float:
    """Return the width of `text` in points, in the house font.

    Parameters
    ----------
    text : str
        One line.
    size_pt : float
        Size of the font.
    bold : bool
        Whether the heavier face is meant.

    Returns
    -------
    float

    Examples
    --------
    >>> from evalkit.figures.sheet import width_pt
    >>> width_pt("") == 0.0 and width_pt("aa") == 2 * width_pt("a")
    True
    """
    return size_pt * sum(_character_em(character, bold=bold) for character in text)


def shortened(text: str, most_pt: float, size_pt: float = TEXT_PT) -> str:
    """Return `text`, its middle replaced by an ellipsis where it is wider than `most_pt`.

    The middle goes because long names of columns often differ only at the end.

    Parameters
    ----------
    text : str
        One line.
    most_pt : float
        Room in points.
    size_pt : float
        Size of the font.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures.sheet import shortened
    >>> shortened("age", 100.0)
    'age'
    """
    whole = shown = plain(text)[:MOST_CHARACTERS]
    kept = len(whole)
    while kept > 1 and width_pt(shown, size_pt) > most_pt:
        kept -= 1
        head = (kept + 1) // 2
        shown = f"{whole[:head]}…{whole[len(whole) - (kept - head) :]}"
    return shown


def wrapped(text: str, most_pt: float) -> list[str]:
    """Return `text` as lines, each at most `most_pt` wide, broken at spaces."""
    lines: list[str] = []
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_pt(longer) <= most_pt:
            lines[-1] = longer
        else:
            lines.append(word)
    return [shortened(line, most_pt) for line in lines]


class Sheet:
    """A surface of fixed size in points: x to the right, y downwards, nothing clipped.

    Parameters
    ----------
    width, height : float
        Size in points, which is the size in print.
    """

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH))
        self._axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axes.set_axis_off()
        self._axes.set(xlim=(0.0, width), ylim=(height, 0.0))
        self._layer = 0

    def _add(self, artist: Artist) -> None:
        """Add an artist above all before it."""
        self._layer += 1
        artist.set_zorder(self._layer)
        artist.set_clip_on(False)
        self._axes.add_artist(artist)

    def path(
        self,
        points: Sequence[Place],
        colour: str,
        width: float,
        dashes: tuple[float, float] | None = None,
    ) -> None:
        """Draw an open line through `points`; `dashes` are lengths of ink and gap."""
        from matplotlib.lines import Line2D

        line = Line2D(
            [x for x, _ in points],
            [y for _, y in points],
            color=LIGHT[colour],
            linewidth=width,
            solid_capstyle="butt",
            dash_capstyle="butt",
            solid_joinstyle="round",
        )
        if dashes:
            # matplotlib counts dashes in widths of the line, and these are points.
            line.set_linestyle((0, [length / width for length in dashes]))
        self._add(line)

    def line(self, start: Place, end: Place, colour: str, width: float) -> None:
        """Draw a straight line."""
        self.path([start, end], colour, width)

    def area(self, points: Sequence[Place], colour: str) -> None:
        """Fill the polygon through `points`."""
        from matplotlib.patches import Polygon

        self._add(Polygon(points, closed=True, facecolor=LIGHT[colour], linewidth=0))

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Fill a rectangle; `colour` is a name or ``#rrggbb`` of a heat step."""
        from matplotlib.patches import Rectangle

        fill = LIGHT.get(colour, colour)
        self._add(Rectangle((x, y), width, height, facecolor=fill, linewidth=0))

    def dot(self, x: float, y: float, radius: float, width: float, colour: str) -> None:
        """Draw a hollow dot, filled with paper."""
        from matplotlib.patches import Circle

        edge, paper = LIGHT[colour], LIGHT["paper"]
        self._add(Circle((x, y), radius, facecolor=paper, edgecolor=edge, linewidth=width))

    def text(  # noqa: PLR0913 - place, words and the four things that make a style
        self,
        x: float,
        y: float,
        words: str,
        colour: str = "ink",
        *,
        size: float = TEXT_PT,
        anchor: Literal["left", "center", "right"] = "left",
        bold: bool = False,
    ) -> None:
        """Write one line whose baseline is at `y`; `anchor` is left, center or right."""
        from matplotlib.text import Text

        self._add(
            Text(
                x,
                y,
                plain(words),
                color=LIGHT[colour],
                fontproperties=_properties(size, bold=bold),
                horizontalalignment=anchor,
                verticalalignment="baseline",
                parse_math=False,
                usetex=False,
            )
        )


def _properties(size: float, *, bold: bool) -> FontProperties:
    """Return the house font: its family for SVG, its file for pictures made of pixels."""
    from matplotlib.font_manager import FontProperties

    weight = 600 if bold else 400
    return FontProperties(family=FONT, weight=weight, size=size, fname=str(font_path(bold=bold)))
