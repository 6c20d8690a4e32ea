"""Two squares over many variables: no number in a cell, strength by step, sign by a stroke.

The cells of one colour are one path, so that a hundred variables weigh little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.figures.heat import (
    CHANGES,
    LEVELS,
    changes_alternative,
    halves,
    heat_step,
    levels_alternative,
)
from evalkit.figures.lettering import shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import HEAT_TOP_STEP, SMALL_PT, heat
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import word, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalkit.figures.heat import Half, Matrix, Scale

MOST_NAMED = 22
"""Up to here a row is high enough for its name."""
NAMES_PT = 62.0
LEFT_NAMED_PT, RIGHT_NAMED_PT = 250.5, 188.5
NUMBERED_PT = 219.0
NARROW_PT = 197.4
NUMBERS_PT = 14.0
EVERY = 5
TOP = 2.9 * EM
FOOT = 4.2 * EM
LINE_HEIGHT = 1.25 * EM
SWATCH_PT = 7.0
SIGNED_STEP = 2
"""The weakest step is near zero, whatever its sign; strokes there would only be noise."""


@dataclass(frozen=True)
class _Layout:
    """Where a square stands."""

    width: float
    left: float
    cell: float
    count: int
    names: tuple[str, ...]

    @property
    def side(self) -> float:
        """Return the length of a side."""
        return self.cell * self.count

    @property
    def bottom(self) -> float:
        """Return the lower edge."""
        return TOP + self.side


def matrix_pair(
    variables: Sequence[str],
    matrices: tuple[Matrix, Matrix, Matrix],
    *,
    narrow: bool,
    words: Mapping[str, str],
) -> tuple[Drawing, Drawing]:
    """Return the squares of levels and of differences from the originals, without numbers.

    Parameters
    ----------
    variables : sequence of str
        Two names or more, in the order to be shown; from 23 on only their numbers are written.
    matrices : tuple of three matrices
        Among originals, avatars and holdout, -1 to 1; None is left blank.
    narrow : bool
        Whether the twins for telephones are meant.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    tuple of two Drawing
        Side by side as wide as a page; narrow 197.4 pt each.

    Raises
    ------
    ValueError
        If there are fewer than two variables.

    Examples
    --------
    >>> from evalkit.figures import matrix_pair
    >>> names = [f"v{place}" for place in range(30)]
    >>> one = [[1.0 if i == j else -0.5 for j in names] for i in names]
    >>> [drawing.name for drawing in matrix_pair(names, (one, one, one), narrow=False, words={})]
    ['levels', 'changes']
    """
    if len(variables) < 2:  # noqa: PLR2004 - a square needs a pair
        raise ValueError("a pair of matrices shows two variables or more")
    levels, changes = halves(matrices, words)
    left = _square(_layout(variables, narrow=narrow, first=True), levels, LEVELS, words)
    right = _square(_layout(variables, narrow=narrow, first=False), changes, CHANGES, words)
    return (
        Drawing(
            "levels", left.figure, levels_alternative(variables, matrices, words), full_width=True
        ),
        Drawing("changes", right.figure, changes_alternative(changes, words), full_width=True),
    )


def _layout(variables: Sequence[str], *, narrow: bool, first: bool) -> _Layout:
    """Return the places of one square; the names stand beside the first one only."""
    count = len(variables)
    named = count <= MOST_NAMED and first
    if narrow:
        width, left = NARROW_PT, NUMBERS_PT
    elif count > MOST_NAMED:
        width, left = NUMBERED_PT, NUMBERS_PT
    else:
        width = LEFT_NAMED_PT if named else RIGHT_NAMED_PT
        left = NUMBERS_PT + (NAMES_PT if named else 0.0)
    side = width - left - 1.0
    return _Layout(width, left, side / count, count, tuple(variables) if named else ())


def _square(
    layout: _Layout, pair: tuple[Half, Half], scale: Scale, words: Mapping[str, str]
) -> Sheet:
    """Draw one square: the first half below the diagonal, the second above."""
    narrow = layout.width == NARROW_PT
    lines = _name_lines(layout) if narrow else []
    sheet = Sheet(layout.width, layout.bottom + FOOT + len(lines) * LINE_HEIGHT)
    below, above = pair
    _draw_cells(sheet, layout, pair, scale)
    right = layout.left + layout.side
    for start, end in (
        ((layout.left, TOP), (right, TOP)),
        ((layout.left, layout.bottom), (right, layout.bottom)),
        ((layout.left, TOP), (right, layout.bottom)),
    ):
        sheet.line(start, end, "rule", 0.4)
    _write_places(sheet, layout)
    if not narrow:
        _write_names(sheet, layout)
    sheet.text(layout.left, EM, above.title, above.text_colour, bold=True)
    sheet.text(layout.left, layout.bottom + 1.5 * EM, below.title, below.text_colour, bold=True)
    _draw_key(sheet, layout, pair, scale, words)
    for number, line in enumerate(lines):
        at = layout.bottom + FOOT + (number + 0.75) * LINE_HEIGHT
        sheet.text(0.0, at, line, "mute")
    return sheet


def _draw_cells(sheet: Sheet, layout: _Layout, pair: tuple[Half, Half], scale: Scale) -> None:
    """Draw the tints, neighbours of one step as one box, then a stroke on what is negative."""
    below, above = pair
    found: dict[tuple[str, int], list[tuple[float, float, float, float]]] = {}
    strokes: list[tuple[float, float, float, float]] = []
    long, thick = 0.56 * layout.cell, min(0.7, 0.16 * layout.cell)
    for row in range(layout.count):
        y = TOP + row * layout.cell
        for half, columns in ((below, range(row)), (above, range(row + 1, layout.count))):
            steps = {column: _signed_step(half.values[row][column], scale) for column in columns}
            for start, length, step in _runs(steps):
                box = (layout.left + start * layout.cell, y, length * layout.cell, layout.cell)
                found.setdefault((half.series, step), []).append(box)
            strokes += [
                (
                    layout.left + column * layout.cell + (layout.cell - long) / 2,
                    y + (layout.cell - thick) / 2,
                    long,
                    thick,
                )
                for column, step in steps.items()
                if step <= -SIGNED_STEP
            ]
    for (series, step), boxes in sorted(found.items()):
        sheet.boxes(boxes, heat(series, step))
    if strokes:
        sheet.boxes(strokes, "ink")


def _signed_step(value: float | None, scale: Scale) -> int:
    """Return the step of strength with the sign of the value; 0 where nothing is shown."""
    step = 0 if value is None else heat_step(value, scale.full)
    return -step if value is not None and value < 0 else step


def _runs(steps: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """Return start, length and step of neighbours of the same strength, blank ones left out."""
    start = length = last = 0
    for column, signed in steps.items():
        step = abs(signed)
        if step == last and length and start + length == column:
            length += 1
            continue
        if last:
            yield start, length, last
        start, length, last = column, 1, step
    if last:
        yield start, length, last


def _write_places(sheet: Sheet, layout: _Layout) -> None:
    """Write numbers at rows and columns: the first, then every fifth or tenth."""
    every = EVERY if layout.count <= 2 * MOST_NAMED else 2 * EVERY
    for place in (1, *range(every, layout.count + 1, every)):
        middle = (place - 0.5) * layout.cell
        at, baseline = layout.left - 0.3 * EM, TOP + middle + 0.34 * SMALL_PT
        sheet.text(at, baseline, f"{place}", "mute", size=SMALL_PT, anchor="right")
        half = width_pt(f"{place}", SMALL_PT) / 2
        across = min(layout.left + middle, layout.width - half)
        sheet.text(across, 2.5 * EM, f"{place}", "mute", size=SMALL_PT, anchor="center")


def _write_names(sheet: Sheet, layout: _Layout) -> None:
    """Write the names at the left edge of the page."""
    for row, name in enumerate(layout.names):
        at = TOP + (row + 0.5) * layout.cell + 0.34 * SMALL_PT
        sheet.text(0.0, at, shortened(name, NAMES_PT - 2.0, SMALL_PT), size=SMALL_PT)


def _name_lines(layout: _Layout) -> list[str]:
    """Return the numbered names in lines as wide as the narrow drawing; none is cut in two."""
    lines: list[str] = []
    for number, name in enumerate(layout.names, start=1):
        named = f"{number} {shortened(name, NARROW_PT - 2 * EM)}"
        longer = f"{lines[-1]} · {named}" if lines else named
        if lines and width_pt(longer) <= NARROW_PT:
            lines[-1] = longer
        else:
            lines.append(named)
    return lines


def _draw_key(
    sheet: Sheet,
    layout: _Layout,
    pair: tuple[Half, Half],
    scale: Scale,
    words: Mapping[str, str],
) -> None:
    """Draw the steps of both series between their ends, and what a stroke means."""
    y = layout.bottom + 2.3 * EM
    at = layout.left
    sheet.text(at, y + 0.75 * EM, "0", "mute", size=SMALL_PT)
    at += width_pt("0", SMALL_PT) + 0.4 * EM
    for place, half in enumerate(pair):
        for step in range(1, HEAT_TOP_STEP + 1):
            box = (at + (step - 1) * SWATCH_PT, y + place * 0.5 * EM, SWATCH_PT, 0.5 * EM)
            sheet.box(*box, heat(half.series, step))
    at += HEAT_TOP_STEP * SWATCH_PT + 0.4 * EM
    most = word(words, "figure_heat_over", value=written(scale.full, 2, words))
    if scale is LEVELS:
        most = written(scale.full, 2, words)
    sheet.text(at, y + 0.75 * EM, most, "mute", size=SMALL_PT)
    at += width_pt(most, SMALL_PT) + 1.2 * EM
    sheet.box(at, y, EM, EM, heat(pair[1].series, HEAT_TOP_STEP // 2))
    sheet.box(at + 0.22 * EM, y + 0.46 * EM, 0.56 * EM, 0.7, "ink")
    sheet.text(
        at + 1.4 * EM, y + 0.75 * EM, word(words, "figure_heat_negative"), "mute", size=SMALL_PT
    )
