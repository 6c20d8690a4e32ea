"""The dot plot of the variables that lost most, beside what unseen real rows score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import limit, word, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]

WIDE_PT, NARROW_PT = 300.0, 197.0
LABEL_PT = 88.0
TOP, BASELINE = 2.3 * EM, 0.34 * EM
WIDE_PITCH, NARROW_PITCH = 1.575 * EM, 2.95 * EM
RIGHT = 3.4 * EM
PARTS = 2


def worst_variables(rows: Sequence[Row], *, narrow: bool, words: Mapping[str, str]) -> Drawing:
    """Return the score of each variable as a dot, with a tick for unseen real rows, worst first.

    Parameters
    ----------
    rows : sequence of mapping
        ``variable``, ``score`` (0 to 100) and ``real`` (0 to 100, or None); in the order of the
        rows. At least one.
    narrow : bool
        Whether the twin for telephones is meant: the name stands above its row.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing
        300 pt wide; narrow 197 pt. The scale begins at the ten below the lowest score.

    Raises
    ------
    ValueError
        If there is no variable.

    Examples
    --------
    >>> from evalkit.figures import worst_variables
    >>> rows = [{"variable": "age", "score": 71.2, "real": 96.04}]
    >>> worst_variables(rows, narrow=False, words={}).alt
    'Dot plot of 1 variables. The lowest score is that of age: avatars 71.2, unseen real rows 96.0.'
    """
    if not rows:
        raise ValueError("a dot plot needs at least one variable")
    width = NARROW_PT if narrow else WIDE_PT
    left = EM if narrow else LABEL_PT
    pitch = NARROW_PITCH if narrow else WIDE_PITCH
    first = TOP + (1.67 if narrow else 0.95) * EM
    bottom = first + (len(rows) - 1) * pitch + 0.9 * EM
    sheet = Sheet(width, bottom + 1.7 * EM)
    begin = _begin(rows)

    def x(score: float) -> float:
        return left + (width - RIGHT - left) * (max(score, begin) - begin) / (100.0 - begin)

    for part in range(PARTS + 1):
        score = begin + (100.0 - begin) * part / PARTS
        sheet.line((x(score), TOP), (x(score), bottom), "rule", 0.3)
        sheet.text(x(score), bottom + 1.25 * EM, limit(score, words), "mute", anchor="center")
    _draw_key(sheet, left, rows, words)
    for place, row in enumerate(rows):
        _draw_row(sheet, (left, first + place * pitch), row, x, words, narrow=narrow)
    return Drawing("worst_variables", sheet.figure, _alternative(rows, words), full_width=False)


def _begin(rows: Sequence[Row]) -> float:
    """Return where the scale begins: at the ten below the lowest value, 90 at most."""
    values = [row[key] for row in rows for key in ("score", "real") if row.get(key) is not None]
    return float(min(90, max(0, 10 * int(min(values) // 10))))


def _draw_key(sheet: Sheet, left: float, rows: Sequence[Row], words: Mapping[str, str]) -> None:
    """Draw the marks that occur, with their names."""
    at = left
    for mark, key, colour in (("dot", "figure_avatars", "ava"), ("tick", "strip_real", "holdtx")):
        if mark == "tick" and all(row.get("real") is None for row in rows):
            continue
        label = word(words, key)
        _draw_mark(sheet, mark, at + 2.7, EM - BASELINE)
        sheet.text(at + 7.5, EM, label, colour)
        at += 7.5 + width_pt(label) + 1.2 * EM


def _draw_mark(sheet: Sheet, mark: str, x: float, y: float) -> None:
    """Draw a hollow dot for avatars or an upright tick for real rows."""
    if mark == "dot":
        sheet.dot(x, y, 2.64, 1.3, "ava")
    else:
        sheet.line((x, y - 3.36), (x, y + 3.36), "hold", 1.7)


def _draw_row(  # noqa: PLR0913 - a place, a row, and how to draw it
    sheet: Sheet,
    place: tuple[float, float],
    row: Row,
    x: Callable[[float], float],
    words: Mapping[str, str],
    *,
    narrow: bool,
) -> None:
    """Draw one variable: its name, the bar from real rows to avatars, both marks, the score."""
    left, y = place
    room = sheet.width - RIGHT if narrow else left - EM
    name, name_y = shortened(row["variable"], room), y - 0.97 * EM if narrow else y + BASELINE
    if narrow:
        # Upright lines would run through a name that stands inside the plot.
        sheet.box(0.0, name_y - 0.75 * EM, width_pt(name) + 2.0, EM, "paper")
    sheet.text(0.0, name_y, name, "ink")
    sheet.line((left, y), (sheet.width - RIGHT, y), "hair", 0.35)
    real = row.get("real")
    if real is not None:
        sheet.line((x(real), y), (x(row["score"]), y), "avaT", 2.4)
        _draw_mark(sheet, "tick", x(real), y)
    _draw_mark(sheet, "dot", x(row["score"]), y)
    sheet.text(sheet.width, y + BASELINE, written(row["score"], 1, words), "ink", anchor="right")


def _alternative(rows: Sequence[Row], words: Mapping[str, str]) -> str:
    """Return the worst variable in words."""
    worst = rows[0]
    key = "figure_alt_variables" if worst.get("real") is None else "figure_alt_variables_real"
    real = 0.0 if worst.get("real") is None else worst["real"]
    return word(
        words,
        key,
        count=len(rows),
        name=plain(worst["variable"]),
        score=written(worst["score"], 1, words),
        real=written(real, 1, words),
    )
