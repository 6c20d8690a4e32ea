"""Wall time against rows, both on logarithmic scales, a line for each stage and a guide."""

from __future__ import annotations

from io import BytesIO
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from extrapolating import BESIDE

from evalkit.figures.labels import LINE_HEIGHT, Label, spread
from evalkit.figures.sheet import Sheet
from evalkit.figures.style import SMALL_PT, TEXT_PT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Line = dict[str, Any]
    Points = list[tuple[int, float]]

WIDTH, HEIGHT, PANEL = 540.0, 240.0, 152.0
TOP, BOTTOM, LEFT = 34.0, 196.0, 34.0
GAP = 118.0
DOTS_PER_INCH = 180
COLOURS_KEPT = 64
LEAST_SECONDS = 0.01
COLOURS = ("ink", "ava", "hold", "mute")


class Scale:
    """Where rows and seconds lie in a panel: a decade is as long on either axis as fits."""

    def __init__(self, left: float, series: Sequence[Points]) -> None:
        rows = [n for points in series for n, _ in points]
        seconds = [taken for points in series for _, taken in points]
        self.left = left
        self.decades = floor(log10(min(rows))), ceil(log10(max(rows)))
        self.steps = floor(log10(max(min(seconds), LEAST_SECONDS))), ceil(log10(max(seconds)))

    def x(self, rows: float) -> float:
        """Return the place of a number of rows."""
        first, last = self.decades
        return self.left + PANEL * (log10(rows) - first) / (last - first)

    def y(self, seconds: float) -> float:
        """Return the place of a time."""
        low, high = self.steps
        share = (log10(max(seconds, LEAST_SECONDS)) - low) / max(1, high - low)
        return BOTTOM - (BOTTOM - TOP) * share


def series(lines: Sequence[Line], table: str) -> dict[str, Points]:
    """Return the points of each stage of a table, by rising rows."""
    found: dict[str, Points] = {}
    for one in sorted(lines, key=lambda line: line["rows"]):
        if one["table"] == table and one["stage"] not in BESIDE:
            found.setdefault(one["stage"], []).append((one["rows"], one["seconds"]))
    return found


def picture(lines: Sequence[Line], path: Path) -> None:
    """Draw a panel for each table and save them as one picture."""
    from matplotlib.figure import Figure
    from PIL import Image

    tables = list(dict.fromkeys(one["table"] for one in lines))
    sheet = Sheet(LEFT + len(tables) * (PANEL + GAP), HEIGHT)
    everything = [points for table in tables for points in series(lines, table).values()]
    for place, table in enumerate(tables):
        scale = Scale(LEFT + place * (PANEL + GAP), everything)
        _axes(sheet, scale, table)
        _guide(sheet, scale)
        _lines(sheet, scale, series(lines, table))
    pixels = BytesIO()
    Figure.savefig(sheet.figure, pixels, dpi=DOTS_PER_INCH, facecolor="white")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(pixels).convert("RGB").quantize(COLOURS_KEPT).save(path, optimize=True)


def _axes(sheet: Sheet, scale: Scale, table: str) -> None:
    left, right = scale.left, scale.left + PANEL
    sheet.text(left, TOP - 20, f"{table}: seconds", bold=True)
    for step in range(scale.steps[0], scale.steps[1] + 1):
        y = scale.y(10.0**step)
        sheet.line((left, y), (right, y), "hair", 0.5)
        sheet.text(left - 4, y + 2.7, f"{10.0**step:g}", "mute", size=SMALL_PT, anchor="right")
    for decade in range(scale.decades[0], scale.decades[1] + 1):
        x, words = scale.x(10.0**decade), f"{10**decade:,}"
        sheet.line((x, BOTTOM), (x, BOTTOM + 3), "axis", 0.6)
        sheet.text(x, BOTTOM + 12, words, "mute", size=SMALL_PT, anchor="center")
    sheet.line((left, BOTTOM), (right, BOTTOM), "axis", 0.6)
    sheet.text(right, BOTTOM + 24, "rows of originals, and as many avatars", anchor="right")


def _guide(sheet: Sheet, scale: Scale) -> None:
    """Draw what grows as the rows do, from the lower left corner."""
    rows, low = 10.0 ** scale.decades[0], 10.0 ** scale.steps[0]
    most = min(10.0 ** scale.decades[1] / rows, 10.0 ** scale.steps[1] / low)
    places = [(scale.x(rows * by), scale.y(low * by)) for by in (1.0, most)]
    sheet.path(places, "rule", 0.8, (3.0, 2.0))
    # In the corner that no line reaches: beside the guide other lines may run.
    corner = places[-1][0], BOTTOM - 6
    sheet.text(*corner, "dashed: as the rows", "mute", size=SMALL_PT, anchor="right")


def _lines(sheet: Sheet, scale: Scale, stages: dict[str, Points]) -> None:
    labels = []
    for (name, points), colour in zip(stages.items(), COLOURS, strict=False):
        places = [(scale.x(rows), scale.y(seconds)) for rows, seconds in points]
        sheet.path(places, colour, 1.3)
        for x, y in places:
            sheet.dot(x, y, 1.6, 1.0, colour)
        words = f"{name}, {points[-1][1]:.3g} s"
        labels.append(Label(places[-1][1], [words], colour if colour != "hold" else "holdtx"))
    spread(labels, TOP - LINE_HEIGHT, BOTTOM)
    for label in labels:
        baseline = label.top + TEXT_PT
        sheet.text(scale.left + PANEL + 6, baseline, label.lines[0], label.colour, size=SMALL_PT)
