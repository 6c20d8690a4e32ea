"""The drawing surface: points, x to the right and y downwards, on a matplotlib figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalkit.figures.lettering import font_path, plain
from evalkit.figures.style import FONT, LIGHT, TEXT_PT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.font_manager import FontProperties

    from evalkit.figures.house import HouseFigure

    Place = tuple[float, float]

POINTS_PER_INCH = 72


@dataclass(frozen=True, eq=False)
class Drawing:
    """One figure with what a reader who cannot see it is told.

    Attributes
    ----------
    name : str
        Stem of the figure's name, unique within a metric.
    figure : evalkit.figures.house.HouseFigure
        A matplotlib figure of natural size, light colours, text as text.
    alt : str
        The finding in words and numbers.
    full_width : bool
        Whether it stands across text and margin column.
    """

    name: str
    figure: HouseFigure
    alt: str
    full_width: bool

    def __post_init__(self) -> None:
        """Let the figure say its finding wherever it goes."""
        self.figure.alt = self.alt

    def _repr_svg_(self) -> str:
        """Return the figure for a notebook, on paper colour so that ink stays readable."""
        from evalkit.figures.svg import typst_svg

        return typst_svg(self, "notebook-", on_paper=True)


class Sheet:
    """A surface of fixed size in points: x to the right, y downwards, nothing clipped.

    Parameters
    ----------
    width, height : float
        Size in points, which is the size in print.
    """

    def __init__(self, width: float, height: float) -> None:
        from evalkit.figures.house import HouseFigure

        self.width, self.height = width, height
        self.figure = HouseFigure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH))
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
        from matplotlib import rc_context
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
            with rc_context({"lines.scale_dashes": True}):
                line.set_linestyle((0, [length / width for length in dashes]))
        self._add(line)

    def line(self, start: Place, end: Place, colour: str, width: float) -> None:
        """Draw a straight line."""
        self.path([start, end], colour, width)

    def area(self, points: Sequence[Place], colour: str) -> None:
        """Fill the polygon through `points`."""
        from matplotlib.patches import Polygon

        self._add(Polygon(points, closed=True, facecolor=LIGHT[colour], edgecolor="none"))

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Fill a rectangle; `colour` is a name or ``#rrggbb`` of a heat step."""
        from matplotlib.patches import Rectangle

        fill = LIGHT.get(colour, colour)
        self._add(Rectangle((x, y), width, height, facecolor=fill, edgecolor="none"))

    def boxes(self, places: Sequence[tuple[float, float, float, float]], colour: str) -> None:
        """Fill many rectangles (x, y, width, height) as one path: small, however many."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        corners = [
            corner
            for x, y, width, height in places
            for corner in ((x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y))
        ]
        turns = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        outline = Path(corners, turns * len(places))
        fill = LIGHT.get(colour, colour)
        self._add(PathPatch(outline, facecolor=fill, edgecolor="none"))

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
