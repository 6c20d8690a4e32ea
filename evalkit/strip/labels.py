"""Where the words of a large strip stand, so that none covers another or leaves the page.

All x are percent of the line. Widths are taken for a telephone, where the words take most of the
line; what fits there fits everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from typing import TYPE_CHECKING, Literal

from evalkit.figures.style import TEXT_PT

if TYPE_CHECKING:
    from collections.abc import Sequence

    Part = tuple[str, str, bool]
    """Words, colour, and whether they are heavy."""
    Label = tuple[float, str, str]
    """Place of the mark, words, colour."""
    Side = Literal["end", "start"]

WIDTH_PER_CHARACTER = 2.15
"""Percent of a line of 286 px: 13 px type is about half as wide as high."""
SLACK = 3.0
"""What estimated words may stand out beyond the line: estimates are generous, and there is air."""
EDGE = 101.5
"""Where a number ends that has no other place than the end of the line; inside the air."""
JOINT = "\u00a0\u00a0"
"""Between number and words in one text; a shift would be ignored when Typst aligns its end."""
GAP = 1.0
FIRST_LANE_Y, LANE_HEIGHT = 31.0, 11.3
HEADLINE_Y = 9.5
LETTER_DISTANCE = 6.2
SPREADING_ROUNDS = 60
RIGHT_FROM, LEFT_UNTIL = 60.0, 40.0


@dataclass(frozen=True)
class Placed:
    """Words at a place.

    Attributes
    ----------
    x, y : float
        Percent of the line; points down to the baseline.
    parts : tuple
        Words, colour and weight, in reading order; they are one text, `JOINT` between them.
    anchor : str
        ``start``, ``middle`` or ``end``.
    size : float
        Points.
    """

    x: float
    y: float
    parts: tuple[Part, ...]
    anchor: str
    size: float = TEXT_PT


def headline(score: float, number: str, target: float | None, words: str) -> list[Placed]:
    """Return the score's number and the target's words above the line.

    The words stand at the target's rule on the side away from the score, the number at the score
    on the side away from the target. Where there is no room on the outer side, words go between
    the two, or number and words become one text.

    Parameters
    ----------
    score, target : float
        0 to 100; target None if nobody set one.
    number, words : str
        As printed.

    Returns
    -------
    list of Placed

    Examples
    --------
    >>> from evalkit.strip.labels import headline
    >>> [(one.anchor, one.parts[0][0]) for one in headline(84.6, "84.6", 80, "target ≥ 80")]
    [('end', 'target ≥ 80'), ('start', '84.6')]
    """
    bold: Part = (number, "ava", True)
    if target is None:
        half = _width(number) / 2 - SLACK
        return [Placed(min(100 - half, max(half, score)), HEADLINE_Y, (bold,), "middle")]
    plain: Part = (words, "ink", False)
    if score < target:
        # The same on the mirrored line, turned back.
        return [_mirrored(one) for one in _ordered(100 - score, bold, 100 - target, plain)]
    return _ordered(score, bold, target, plain)


def _ordered(score: float, number: Part, target: float, words: Part) -> list[Placed]:
    """Return number and words for a score at or to the right of the target."""
    number_width, words_width = _width(number[0]), _width(words[0])
    number_fits = score + GAP + number_width <= 100 + SLACK
    at_edge = EDGE - number_width - GAP >= target
    words_fit = target - GAP - words_width >= -SLACK
    if not number_fits and not at_edge:
        return [Placed(target - GAP, HEADLINE_Y, (number, words), "end")]
    number_start = score + GAP if number_fits else EDGE - number_width
    if not words_fit and target + GAP + words_width + GAP > number_start:
        return [Placed(score + GAP, HEADLINE_Y, (number, words), "start")]
    words_at = (target - GAP, "end") if words_fit else (target + GAP, "start")
    number_at = (score + GAP, "start") if number_fits else (EDGE, "end")
    return [
        Placed(words_at[0], HEADLINE_Y, (words,), words_at[1]),
        Placed(number_at[0], HEADLINE_Y, (number,), number_at[1]),
    ]


def _mirrored(one: Placed) -> Placed:
    """Return words turned from the mirrored line to the true one."""
    anchor = {"start": "end", "end": "start"}[one.anchor]
    return Placed(100 - one.x, one.y, tuple(reversed(one.parts)), anchor)


def placed_below(labels: Sequence[Label]) -> list[tuple[Placed, int]]:
    """Return each known case's words with their lane, 0 being next to the line.

    Every way to give lanes and sides is tried; with at most four labels these are few. The best
    has no overlap and stays on the page, then has no leader through words where that is possible,
    then keeps words on the right left of their mark and the other way round, then is flat.

    Parameters
    ----------
    labels : sequence of tuple
        Place of the mark, words, colour.

    Returns
    -------
    list of tuple
        In the order of `labels`.

    Examples
    --------
    >>> from evalkit.strip.labels import placed_below
    >>> [lane for _, lane in placed_below([(87.2, "rows 87.2", "mute"), (99.6, "x", "mute")])]
    [0, 0]
    """
    lanes = range(len(labels))
    sides: tuple[Side, ...] = ("end", "start")
    choices = product(product(lanes, sides), repeat=len(labels))
    best = min(choices, key=lambda choice: _cost(labels, choice))
    return [
        (_placed(label, lane, side), lane) for label, (lane, side) in zip(labels, best, strict=True)
    ]


def _placed(label: Label, lane: int, side: Side) -> Placed:
    """Return the words of a label in their lane."""
    at, words, colour = label
    x = at - GAP if side == "end" else at + GAP
    return Placed(x, FIRST_LANE_Y + lane * LANE_HEIGHT, ((words, colour, False),), side)


def _cost(labels: Sequence[Label], choice: tuple[tuple[int, Side], ...]) -> int:
    """Return how bad a choice of lanes and sides is."""
    spans = [
        (_span(label, side), lane, label[0])
        for label, (lane, side) in zip(labels, choice, strict=True)
    ]
    overlaps = sum(
        one_lane == other_lane and one[0] < other[1] + GAP and other[0] < one[1] + GAP
        for (one, one_lane, _), (other, other_lane, _) in combinations(spans, 2)
    )
    # A leader runs from the line down to its own lane, past the words of the lanes above.
    crossings = sum(
        upper_lane < lane and upper[0] - GAP / 2 < at < upper[1] + GAP / 2
        for (upper, upper_lane, _), (_, lane, at) in permutations(spans, 2)
    )
    outside = sum(span[0] < -SLACK or span[1] > 100 + SLACK for span, _, _ in spans)
    wrong_sides = sum(
        (label[0] > RIGHT_FROM and side == "start") or (label[0] < LEFT_UNTIL and side == "end")
        for label, (_, side) in zip(labels, choice, strict=True)
    )
    depth = sum(lane for lane, _ in choice)
    return 1000 * overlaps + 1000 * outside + 200 * crossings + 50 * wrong_sides + depth


def _span(label: Label, side: Side) -> tuple[float, float]:
    """Return where a label's words begin and end."""
    at, words, _ = label
    width = _width(words)
    return (at - GAP - width, at - GAP) if side == "end" else (at + GAP, at + GAP + width)


def _width(words: str) -> float:
    """Return the width of words in percent of the line."""
    return len(words) * WIDTH_PER_CHARACTER


def spread_letters(places: Sequence[float]) -> list[float]:
    """Return the places of the letters under a table's strip, close ones pushed apart.

    Parameters
    ----------
    places : sequence of float
        Rising, 0 to 100.

    Returns
    -------
    list of float
        At least `LETTER_DISTANCE` apart, still within 0 to 100.

    Examples
    --------
    >>> from evalkit.strip.labels import spread_letters
    >>> [round(place, 1) for place in spread_letters([3.0, 99.0, 100.0])]
    [3.0, 93.8, 100.0]
    """
    spread = list(places)
    for _ in range(SPREADING_ROUNDS):
        for left, right in pairwise(range(len(spread))):
            overlap = LETTER_DISTANCE - (spread[right] - spread[left])
            if overlap > 0:
                spread[left] -= overlap / 2
                spread[right] += overlap / 2
        spread = [min(100.0, max(0.0, place)) for place in spread]
    return spread
