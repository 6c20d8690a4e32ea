"""Scores of groups of people on one line for each measure, the lowest with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

WIDE_PT, NARROW_PT = 453.0, 203.0
TOP = 2.3 * EM
BASELINE = 0.34 * EM
FULL = 100.0


def group_spread(rows: Sequence[Row], *, narrow: bool, words: Mapping[str, str]) -> Drawing:
    """Return the scores of all groups, one line for each measure.

    Parameters
    ----------
    rows : sequence of mapping
        ``name`` of the measure; ``whole``, the score of all people or None; ``groups``, the
        lowest first, each with ``label``, ``score`` and, where known, ``low`` and ``high``.
        Scores run from 0 to 100; higher ones stand at the end of the line.
    narrow : bool
        Whether the twin for telephones is meant: the name stands above its row.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing
        453 pt wide; narrow 203 pt.

    Raises
    ------
    ValueError
        If there is no measure.

    Examples
    --------
    >>> from evalkit.figures import group_spread
    >>> groups = [{"label": "north", "score": 61.2}, {"label": "south", "score": 90.4}]
    >>> group_spread([{"name": "A", "whole": 88.0, "groups": groups}], narrow=False, words={}).alt
    'Scores of groups. A: lowest north 61.2, all people 88.0.'
    """
    if not rows:
        raise ValueError("scores of groups need at least one measure")
    pitch = (2.95 if narrow else 1.575) * EM
    first = TOP + (1.67 if narrow else 0.95) * EM
    bottom = first + (len(rows) - 1) * pitch + 0.95 * EM
    width = NARROW_PT if narrow else WIDE_PT
    left, right = (0.9 * EM, width - 0.9 * EM) if narrow else (17.5 * EM, width - 15.0 * EM)
    sheet = Sheet(width, bottom + 2.1 * EM)
    for value in (0, 25, 50, 75, 100):
        x = left + (right - left) * value / FULL
        sheet.line((x, TOP), (x, bottom), "rule", 0.3)
        sheet.text(x, bottom + 1.25 * EM, f"{value}", "mute", anchor="center")
    _draw_key(sheet, left, words)
    for place, row in enumerate(rows):
        _draw_row(sheet, (left, right, first + place * pitch), row, words)
    return Drawing("groups", sheet.figure, _alternative(rows, words), full_width=True)


def _draw_key(sheet: Sheet, at: float, words: Mapping[str, str]) -> None:
    """Draw the two marks with their names."""
    y = EM - BASELINE
    for name in ("figure_all_people", "figure_one_group"):
        if name == "figure_all_people":
            sheet.line((at + 2.7, y - 3.6), (at + 2.7, y + 3.6), "orig", 1.7)
        else:
            sheet.dot(at + 2.7, y, 2.64, 1.3, "ava")
        label = word(words, name)
        sheet.text(at + 8.5, EM, label, "ava" if name == "figure_one_group" else "ink")
        at += 8.5 + width_pt(label) + 1.6 * EM


def _draw_row(
    sheet: Sheet, place: tuple[float, float, float], row: Row, words: Mapping[str, str]
) -> None:
    """Draw one measure: the groups, the interval of the lowest, and all people."""
    left, right, y = place
    narrow = sheet.width == NARROW_PT

    def x(score: float) -> float:
        return left + (right - left) * min(max(score, 0.0), FULL) / FULL

    lowest, *others = row["groups"]
    said = f"{plain(lowest['label'])} {written(lowest['score'], 1, words)}"
    sheet.line((left, y), (right, y), "hair", 0.35)
    if lowest.get("low") is not None:
        start = x(lowest["low"])
        sheet.box(start, y - 1.9, max(x(lowest["high"]) - start, 0.8), 3.8, "avaT")
    if row.get("whole") is not None:
        at = x(row["whole"])
        sheet.line((at, y - 3.6), (at, y + 3.6), "orig", 1.7)
    for group in (*others, lowest):
        sheet.dot(x(group["score"]), y, 2.64, 1.3, "ava")
    if narrow:
        name = shortened(row["name"], right - left - width_pt(said) - EM)
        sheet.box(0.0, y - 1.72 * EM, sheet.width, EM, "paper")
        sheet.text(0.0, y - 0.97 * EM, name)
        sheet.text(sheet.width, y - 0.97 * EM, said, "mute", anchor="right")
        return
    sheet.text(0.0, y + BASELINE, shortened(row["name"], left - EM))
    room = sheet.width - right - 1.4 * EM
    sheet.text(right + 1.4 * EM, y + BASELINE, shortened(said, room), "mute")


def _alternative(rows: Sequence[Row], words: Mapping[str, str]) -> str:
    """Return the lowest group of every measure in words."""
    said = [
        word(
            words,
            "figure_alt_group",
            name=plain(row["name"]),
            label=plain(row["groups"][0]["label"]),
            score=written(row["groups"][0]["score"], 1, words),
            whole="–" if row.get("whole") is None else written(row["whole"], 1, words),
        )
        for row in rows
    ]
    return " ".join([word(words, "figure_alt_groups"), *said])
