"""The curve of a score over the number of variables that an attacker knows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from evalkit.figures.labels import LINE_HEIGHT, Label, spread
from evalkit.figures.lettering import wrapped
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import limit, sign_of, word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Point = Mapping[str, Any]
    Line = list[tuple[float, float]]

WIDE_PT = (300.0, 150.0)
NARROW_PT = (197.0, 148.0)
MARGIN_LEFT, MARGIN_TOP, MARGIN_RIGHT, MARGIN_BOTTOM = 2.2 * EM, 1.3 * EM, 8.6 * EM, 2.9 * EM
FEWEST_POINTS = 2
HIGHEST = 100.0
MOST_STEPS = 7
LABEL_GAP = 1.3 * EM
BASELINE = 0.34 * EM
"""From the middle of a line of text down to its baseline."""


@dataclass(frozen=True)
class Target:
    """The value that somebody set, as a figure shows it.

    Attributes
    ----------
    operator : str
        ``>=``, ``>``, ``<=`` or ``<``.
    value : float
        In the unit of the score.
    """

    operator: str
    value: float


class _Frame:
    """Where a count of known variables and a score lie on the sheet."""

    def __init__(self, sheet: Sheet, points: Sequence[Point], target: Target | None) -> None:
        self.sheet = sheet
        self.left, self.right = MARGIN_LEFT, sheet.width - MARGIN_RIGHT
        self.top, self.bottom = MARGIN_TOP, sheet.height - MARGIN_BOTTOM
        self.counts = [int(point["known"]) for point in points]
        self.lowest, self.step = score_scale(_scores(points, target))

    def x(self, count: float) -> float:
        """Return the place of a count."""
        first, last = self.counts[0], self.counts[-1]
        return self.left + (self.right - self.left) * (count - first) / (last - first)

    def y(self, score: float) -> float:
        """Return the place of a score."""
        share = (score - self.lowest) / (HIGHEST - self.lowest)
        return self.bottom - (self.bottom - self.top) * share

    def line(self, points: Sequence[Point], key: str) -> Line:
        """Return the places of a series; points without a value are left out."""
        return [
            (self.x(point["known"]), self.y(point[key]))
            for point in points
            if point.get(key) is not None
        ]


def score_scale(scores: Sequence[float]) -> tuple[float, float]:
    """Return the lowest score shown and the step of the grid.

    Parameters
    ----------
    scores : sequence of float
        Everything that must be seen, 0 to 100.

    Returns
    -------
    tuple of two float
        A multiple of ten below the lowest score, lowered until the step divides what is left.

    Examples
    --------
    >>> from evalkit.figures.curve import score_scale
    >>> score_scale([97.0, 80.0])
    (70.0, 10.0)
    """
    lowest = max(0, (ceil(min(scores) / 10) - 1) * 10)
    for most, step in ((20, 5), (50, 10), (80, 20), (100, 25)):
        span = ceil((100 - lowest) / step) * step
        if span <= most:
            break
    return float(100 - span), float(step)


def curve(
    points: Sequence[Point],
    *,
    total: int,
    target: Target | None,
    narrow: bool,
    words: Mapping[str, str],
) -> Drawing:
    """Return the curve of a score over the number of known variables.

    Parameters
    ----------
    points : sequence of mapping
        ``known``, ``score``, ``low``, ``high``, ``holdout``, ``floor``, by rising ``known``; any
        but the first two may be None. At least two.
    total : int
        Number of variables that could be known.
    target : Target, optional
        Drawn as a rule with its words.
    narrow : bool
        Whether the twin for telephones is meant.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing
        300 by 150 pt; narrow 197 by 148 pt.

    Raises
    ------
    ValueError
        If there are fewer than two points: a curve needs two.

    Examples
    --------
    >>> from evalkit.figures import curve
    >>> points = [{"known": 2, "score": 97.0}, {"known": 4, "score": 90.0}]
    >>> curve(points, total=4, target=None, narrow=False, words={}).name
    'curve'
    """
    if len(points) < FEWEST_POINTS:
        raise ValueError("a curve needs at least two numbers of known variables")
    sheet = Sheet(*(NARROW_PT if narrow else WIDE_PT))
    frame = _Frame(sheet, points, target)
    _draw_axes(frame, word(words, "figure_known_axis", total=total))
    _draw_band(frame, points)
    labels = _draw_lines(frame, points, target, words)
    _write_labels(frame, labels)
    return Drawing("curve", sheet.figure, _alternative(points, target, words), full_width=False)


def _scores(points: Sequence[Point], target: Target | None) -> list[float]:
    """Return every score that must be seen."""
    keys = ("score", "low", "high", "holdout", "floor")
    scores = [point[key] for point in points for key in keys if point.get(key) is not None]
    return [*scores, target.value] if target else scores


def _draw_axes(frame: _Frame, title: str) -> None:
    """Draw grid, scale and the title below."""
    sheet = frame.sheet
    score = frame.lowest
    while score <= HIGHEST:
        at = frame.y(score)
        is_base = score == frame.lowest
        colour, width = ("axis", 0.7) if is_base else ("rule", 0.3)
        sheet.line((frame.left, at), (frame.right, at), colour, width)
        sheet.text(frame.left - 0.5 * EM, at + BASELINE, f"{score:g}", "mute", anchor="right")
        score += frame.step
    for count in shown_counts(frame.counts):
        at = frame.x(count)
        sheet.line((at, frame.bottom), (at, frame.bottom + 2.8), "axis", 0.7)
        sheet.text(at, frame.bottom + 1.35 * EM, f"{count}", "mute", anchor="center")
    middle = (frame.left + frame.right) / 2
    sheet.text(middle, sheet.height - 0.25 * EM, title, "mute", anchor="center")


def shown_counts(counts: Sequence[int]) -> list[int]:
    """Return the counts that get a number below the axis: both ends and even steps between.

    Parameters
    ----------
    counts : sequence of int
        Rising, at least two.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from evalkit.figures.curve import shown_counts
    >>> shown_counts(range(2, 13))
    [2, 4, 6, 8, 10, 12]
    """
    first, last = counts[0], counts[-1]
    step = next(
        step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if (last - first) / step <= MOST_STEPS
    )
    start = ceil(first / step) * step
    between = [
        count
        for count in range(start, last, step)
        if count - first >= 0.6 * step and last - count >= 0.6 * step
    ]
    return [first, *between, last]


def _draw_band(frame: _Frame, points: Sequence[Point]) -> None:
    """Fill the range over splits."""
    upper = frame.line(points, "high")
    lower = frame.line(points, "low")
    if len(upper) > 1 and len(lower) > 1:
        frame.sheet.area([*upper, *reversed(lower)], "avaA")


def _draw_lines(
    frame: _Frame, points: Sequence[Point], target: Target | None, words: Mapping[str, str]
) -> list[Label]:
    """Draw target, shuffled columns, holdout and avatars, in this order; return their names."""
    sheet, labels = frame.sheet, []
    room = sheet.width - frame.right - LABEL_GAP
    if target:
        at = frame.y(target.value)
        sheet.line((frame.left, at), (frame.right, at), "ink", 0.9)
        operator, value = sign_of(target.operator), limit(target.value, words)
        name = word(words, "figure_target", operator=operator, value=value)
        labels.append(Label(at, wrapped(name, room), "ink"))
    series: list[tuple[str, str, str, str, float, tuple[float, float] | None]] = [
        ("floor", "figure_shuffled", "floor", "mute", 1.1, (1.3, 2.7)),
        ("holdout", "figure_control", "hold", "holdtx", 1.4, (5.6, 3.2)),
        ("score", "figure_avatars", "ava", "ava", 1.7, None),
    ]
    for key, name_key, colour, text_colour, width, dashes in series:
        line = frame.line(points, key)
        if not line:
            continue
        sheet.path(line, colour, width, dashes)
        lines = wrapped(word(words, name_key), room)
        labels.append(Label(line[-1][1], lines, text_colour, bold=key == "score"))
    for x, y in frame.line(points, "score"):
        sheet.dot(x, y, 2.3, 1.2, "ava")
    return labels


def _write_labels(frame: _Frame, labels: list[Label]) -> None:
    """Write the names at the right ends, spread, each joined to its line by a leader."""
    spread(labels, frame.top - 0.8 * EM, frame.bottom + LINE_HEIGHT)
    sheet = frame.sheet
    for label in labels:
        middle = label.top + LINE_HEIGHT / 2
        end = frame.right + 1.05 * EM
        start = frame.right + (2.9 if label.bold else 0.6)
        sheet.line((start, label.y), (end, middle), label.colour, 0.5)
        for number, line in enumerate(label.lines):
            at = middle + number * LINE_HEIGHT + BASELINE
            sheet.text(frame.right + LABEL_GAP, at, line, label.colour, bold=label.bold)


def _alternative(points: Sequence[Point], target: Target | None, words: Mapping[str, str]) -> str:
    """Return the curve's two ends in words."""
    sentences = [word(words, "figure_alt_curve")]
    for point in (points[0], points[-1]):
        known, score = point["known"], written(point["score"], 1, words)
        parts = [word(words, "figure_alt_curve_point", known=known, score=score)]
        for key, name in (
            ("holdout", "figure_alt_curve_holdout"),
            ("floor", "figure_alt_curve_floor"),
        ):
            if point.get(key) is not None:
                parts.append(word(words, name, score=written(point[key], 1, words)))
        sentences.append(", ".join(parts) + ".")
    if target:
        operator, value = sign_of(target.operator), limit(target.value, words)
        sentences.append(word(words, "figure_alt_target", operator=operator, value=value))
    return " ".join(sentences)
