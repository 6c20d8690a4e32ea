"""Two squares of correlations: levels, and differences from the originals.

Both sides of one diagonal are compared: in the first originals and avatars, in the second chance
and treatment. The sign is carried by a minus and the strength by eight steps, so that a print in
grey loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import HEAT_TOP_STEP, SMALL_PT, heat
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Matrix: TypeAlias = Sequence[Sequence[float | None]]

CELL_PT, NARROW_CELL_PT = 14.2, 15.4
GAP_PT = 0.6
MOST_VARIABLES = 12
LEFT_PT, RIGHT_PT, NARROW_PT = 246.2, 183.4, 197.4
TOP = 2.9 * EM
BOTTOM = 1.9 * EM
LINE_HEIGHT = 1.25 * EM


@dataclass(frozen=True)
class Half:
    """One side of a diagonal.

    Attributes
    ----------
    series : str
        Colour of the cells: orig, ava or hold.
    title : str
        What the side shows.
    text_colour : str
        Colour of the title.
    values : matrix
        Correlations or differences; None is left blank.
    """

    series: str
    title: str
    text_colour: str
    values: Matrix


@dataclass(frozen=True)
class Scale:
    """How values become colours and numbers."""

    full: float
    least_shown: int


LEVELS = Scale(full=1.0, least_shown=10)
CHANGES = Scale(full=0.2, least_shown=4)


def heat_pair(
    variables: Sequence[str],
    matrices: tuple[Matrix, Matrix, Matrix],
    *,
    narrow: bool,
    words: Mapping[str, str],
) -> tuple[Drawing, Drawing]:
    """Return the square of levels and the square of differences from the originals.

    Parameters
    ----------
    variables : sequence of str
        Two to twelve names.
    matrices : tuple of three matrices
        Correlations among originals, avatars and holdout; None is left blank.
    narrow : bool
        Whether the twins for telephones are meant: the names stand in a line below the first.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    tuple of two Drawing
        246.2 and 183.4 pt wide; narrow 197.4 pt.

    Raises
    ------
    ValueError
        If there are fewer than two or more than twelve variables.

    Examples
    --------
    >>> from evalkit.figures import heat_pair
    >>> flat, steep = [[1.0, 0.1], [0.1, 1.0]], [[1.0, 0.8], [0.8, 1.0]]
    >>> pair = heat_pair(["a", "b"], (steep, flat, steep), narrow=False, words={})
    >>> [drawing.name for drawing in pair]
    ['levels', 'changes']
    """
    if not 1 < len(variables) <= MOST_VARIABLES:
        raise ValueError("a pair of heat maps shows two to twelve variables")
    levels, changes = halves(matrices, words)
    left = _square(variables, levels, LEVELS, width=NARROW_PT if narrow else LEFT_PT, narrow=narrow)
    right = _square(
        variables, changes, CHANGES, width=NARROW_PT if narrow else RIGHT_PT, narrow=narrow
    )
    if narrow:
        left = _with_names(left, variables)
    else:
        _write_names(left, variables)
    return (
        Drawing(
            "levels", left.figure, levels_alternative(variables, matrices, words), full_width=True
        ),
        Drawing("changes", right.figure, changes_alternative(changes, words), full_width=True),
    )


def heat_step(value: float, full: float) -> int:
    """Return the step of strength of a value.

    Parameters
    ----------
    value : float
        A correlation or a difference; the sign does not matter.
    full : float
        Size at which the ramp ends.

    Returns
    -------
    int
        0 to 7.

    Examples
    --------
    >>> from evalkit.figures.heat import heat_step
    >>> heat_step(-0.30, 1.0), heat_step(0.5, 0.2)
    (2, 7)
    """
    return min(HEAT_TOP_STEP, round(abs(value) / full * HEAT_TOP_STEP))


def halves(
    matrices: tuple[Matrix, Matrix, Matrix], words: Mapping[str, str]
) -> tuple[tuple[Half, Half], tuple[Half, Half]]:
    """Return what stands below and above the diagonal: of the levels, then of the changes.

    Parameters
    ----------
    matrices : tuple of three matrices
        Among originals, avatars and holdout.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    tuple of two pairs of Half

    Examples
    --------
    >>> from evalkit.figures.heat import halves
    >>> one = [[1.0, 0.5], [0.5, 1.0]]
    >>> [half.series for pair in halves((one, one, one), {}) for half in pair]
    ['orig', 'ava', 'hold', 'ava']
    """
    originals, avatars, holdout = matrices
    names = (
        ("originals", "orig", "mute", originals),
        ("avatars", "ava", "ava", avatars),
        ("holdout_change", "hold", "holdtx", _differences(holdout, originals)),
        ("avatar_change", "ava", "ava", _differences(avatars, originals)),
    )
    one, two, three, four = (
        Half(series, word(words, f"figure_heat_{name}"), colour, values)
        for name, series, colour, values in names
    )
    return (one, two), (three, four)


def _differences(matrix: Matrix, originals: Matrix) -> Matrix:
    """Return a matrix minus that of the originals."""
    return [
        [None if a is None or b is None else a - b for a, b in zip(row, base, strict=True)]
        for row, base in zip(matrix, originals, strict=True)
    ]


def _square(
    variables: Sequence[str],
    pair: tuple[Half, Half],
    scale: Scale,
    *,
    width: float,
    narrow: bool,
) -> Sheet:
    """Draw one square: the first half below the diagonal, the second above."""
    count, cell = len(variables), NARROW_CELL_PT if narrow else CELL_PT
    names = len(_name_lines(variables)) if narrow and scale is LEVELS else 0
    sheet = Sheet(width, TOP + count * cell + BOTTOM + names * LINE_HEIGHT)
    left = _left(width, cell)
    bottom, right = TOP + count * cell, left + count * cell
    below, above = pair
    for row in range(count):
        for column in range(count):
            if row != column:
                half = above if column > row else below
                value = half.values[row][column]
                if value is not None:
                    at = (left + column * cell, TOP + row * cell, cell)
                    _draw_cell(sheet, at, value, half.series, scale)
        middle = (row + 0.5) * cell
        number, lift = f"{row + 1}", 0.34 * SMALL_PT
        sheet.text(
            left - 0.45 * EM, TOP + middle + lift, number, "mute", size=SMALL_PT, anchor="right"
        )
        sheet.text(left + middle, 2.5 * EM, number, "mute", size=SMALL_PT, anchor="center")
    sheet.line((left, TOP), (right, TOP), "rule", 0.4)
    sheet.line((left, bottom), (right, bottom), "rule", 0.4)
    sheet.line((left, TOP), (right, bottom), "rule", 0.4)
    sheet.text(left, EM, above.title, above.text_colour, bold=True)
    sheet.text(left, bottom + 1.5 * EM, below.title, below.text_colour, bold=True)
    return sheet


def _left(width: float, cell: float) -> float:
    """Return the left edge of the cells: twelve of them would end at the right edge."""
    return width - MOST_VARIABLES * cell - GAP_PT


def _draw_cell(
    sheet: Sheet, at: tuple[float, float, float], value: float, series: str, scale: Scale
) -> None:
    """Draw the tint and the number of one cell; `at` is its corner and its side."""
    x, y, cell = at
    step = heat_step(value, scale.full)
    if step:
        inside = cell - GAP_PT
        sheet.box(x + GAP_PT / 2, y + GAP_PT / 2, inside, inside, heat(series, step))
    hundredths = round(100 * value)
    if abs(hundredths) >= scale.least_shown:
        baseline = y + cell / 2 + 0.34 * SMALL_PT
        number = written(hundredths, 0, {})
        bold = step == HEAT_TOP_STEP
        sheet.text(x + cell / 2, baseline, number, size=SMALL_PT, anchor="center", bold=bold)


def _write_names(sheet: Sheet, variables: Sequence[str]) -> None:
    """Write the names at the left edge of the page."""
    left = _left(sheet.width, CELL_PT)
    room = left - 0.45 * EM - width_pt("12", SMALL_PT) - 0.5 * EM
    for row, name in enumerate(variables):
        at = TOP + (row + 0.5) * CELL_PT + 0.34 * EM
        sheet.text(0.0, at, shortened(name, room))


def _with_names(sheet: Sheet, variables: Sequence[str]) -> Sheet:
    """Write the numbered names below the square, as lines."""
    bottom = TOP + len(variables) * NARROW_CELL_PT + BOTTOM
    for number, line in enumerate(_name_lines(variables)):
        sheet.text(0.0, bottom + (number + 0.75) * LINE_HEIGHT, line, "mute")
    return sheet


def _name_lines(variables: Sequence[str]) -> list[str]:
    """Return the numbered names in lines as wide as the narrow drawing; none is cut in two."""
    lines: list[str] = []
    for number, name in enumerate(variables, start=1):
        named = f"{number} {shortened(name, NARROW_PT - 2 * EM)}"
        longer = f"{lines[-1]} · {named}" if lines else named
        if lines and width_pt(longer) <= NARROW_PT:
            lines[-1] = longer
        else:
            lines.append(named)
    return lines


def levels_alternative(
    variables: Sequence[str], matrices: tuple[Matrix, Matrix, Matrix], words: Mapping[str, str]
) -> str:
    """Return the strongest pair of the originals in words, for who cannot see it."""
    originals, avatars, _ = matrices
    pairs = [
        (abs(value), row, column)
        for row, values in enumerate(originals)
        for column, value in enumerate(values)
        if column > row and value is not None and avatars[row][column] is not None
    ]
    if not pairs:
        return word(words, "figure_alt_levels_blank", count=len(variables))
    _, row, column = max(pairs, key=lambda pair: pair[0])
    return word(
        words,
        "figure_alt_levels",
        count=len(variables),
        first=plain(variables[row]),
        second=plain(variables[column]),
        working=written(originals[row][column] or 0.0, 2, words),
        avatars=written(avatars[row][column] or 0.0, 2, words),
    )


def changes_alternative(pair: tuple[Half, Half], words: Mapping[str, str]) -> str:
    """Return the largest difference on either side in words, for who cannot see it."""
    holdout, avatars = (
        max((abs(value) for row in half.values for value in row if value is not None), default=0.0)
        for half in pair
    )
    return word(
        words,
        "figure_alt_changes",
        avatars=written(avatars, 2, words),
        holdout=written(holdout, 2, words),
    )
