"""Coefficients of an analysis on three tables, each row on the scale of the originals' interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import MINUS, word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Term = Mapping[str, Any]

WIDE_PT, NARROW_PT = 300.0, 197.0
TOP = 2.3 * EM
PITCH = 3.4 * EM
OFFSET = 0.62 * EM
BASELINE = 0.34 * EM
LEFT, RIGHT = 1.0 * EM, 1.0 * EM
REACH = 4.0
"""How many half lengths of the originals' interval are drawn to either side."""
SERIES = (
    ("original", "figure_originals", "orig", "origT", "orig"),
    ("avatars", "figure_avatars", "ava", "avaT", "ava"),
    ("holdout", "figure_holdout", "hold", "holdT", "holdtx"),
)


def coefficients(terms: Sequence[Term], *, narrow: bool, words: Mapping[str, str]) -> Drawing:
    """Return each term's estimate and interval on originals, avatars and holdout.

    Each row has its own scale: its centre is the originals' estimate, and 1 is half the length of
    their interval. So the originals' band is the same in every row, and the others show by how
    much they leave it. A short rule marks zero where it lies within the drawing.

    Parameters
    ----------
    terms : sequence of mapping
        ``name``; ``original``, ``avatars`` and ``holdout``, mappings with ``value``, ``low`` and
        ``high``, of which all but the first may be None. At least one.
    narrow : bool
        Whether the twin for telephones is meant.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing
        300 pt wide; narrow 197 pt.

    Raises
    ------
    ValueError
        If there is no term.

    Examples
    --------
    >>> from evalkit.figures import coefficients
    >>> term = {"name": "age", "original": {"value": 2.0, "low": 1.0, "high": 3.0},
    ...         "avatars": {"value": 1.5, "low": 0.5, "high": 2.5}, "holdout": None}
    >>> coefficients([term], narrow=False, words={}).alt
    'age: originals 2 (1 to 3), avatars 1.5 (0.5 to 2.5).'
    """
    if not terms:
        raise ValueError("a drawing of coefficients needs at least one term")
    width = NARROW_PT if narrow else WIDE_PT
    bottom = TOP + len(terms) * PITCH
    sheet = Sheet(width, bottom + 1.6 * EM)

    def x(place: float) -> float:
        inside = min(max(place, -REACH), REACH)
        return LEFT + (width - LEFT - RIGHT) * (inside + REACH) / (2 * REACH)

    _draw_scale(sheet, x, bottom)
    _draw_key(sheet, terms, words)
    for row, term in enumerate(terms):
        _draw_row(sheet, TOP + (row + 0.6) * PITCH, term, x)
    alt = " ".join(_alternative(term, words) for term in terms)
    return Drawing("coefficients", sheet.figure, alt, full_width=False)


def _draw_scale(sheet: Sheet, x: Callable[[float], float], bottom: float) -> None:
    """Draw the rules of the scale and the numbers below."""
    for place in range(-int(REACH), int(REACH) + 1, 1):
        at = x(place)
        sheet.line((at, TOP), (at, bottom), "rule" if place else "axis", 0.3)
        if place % 2 == 0:
            sign = MINUS if place < 0 else "+" if place else ""
            sheet.text(at, bottom + 1.25 * EM, f"{sign}{abs(place)}", "mute", anchor="center")


def _draw_key(sheet: Sheet, terms: Sequence[Term], words: Mapping[str, str]) -> None:
    """Draw the marks that occur, with their names."""
    at = LEFT
    for role, name, mark, _, colour in SERIES:
        if all(term[role] is None for term in terms):
            continue
        label = word(words, name)
        _draw_mark(sheet, role, at + 2.7, EM - BASELINE, mark)
        sheet.text(at + 7.5, EM, label, colour)
        at += 7.5 + width_pt(label) + 1.2 * EM


def _draw_mark(sheet: Sheet, role: str, x: float, y: float, colour: str) -> None:
    """Draw a hollow dot for the avatars, an upright tick for real people."""
    if role == "avatars":
        sheet.dot(x, y, 2.64, 1.3, colour)
    else:
        sheet.line((x, y - 3.0), (x, y + 3.0), colour, 1.7)


def _draw_row(sheet: Sheet, y: float, term: Term, x: Callable[[float], float]) -> None:
    """Draw one term: its name above, then one interval for each table."""
    name = shortened(str(term["name"]), sheet.width - LEFT - RIGHT)
    sheet.box(LEFT, y - 2.05 * EM, width_pt(name) + 3.0, EM, "paper")
    sheet.text(LEFT, y - 1.3 * EM, name)
    original = term["original"]
    half = (original["high"] - original["low"]) / 2
    centre = original["value"]
    zero = -centre / half if half else 2 * REACH
    if abs(zero) <= REACH:
        sheet.line((x(zero), y - 1.1 * EM), (x(zero), y + 1.1 * EM), "ink", 0.8)
    for place, (role, _, mark, tint, _) in enumerate(SERIES):
        one = term[role]
        if one is None:
            continue
        at = y + (place - 1) * OFFSET
        low, value, high = (
            (one[key] - centre) / half if half else 0.0 for key in ("low", "value", "high")
        )
        sheet.line((x(low), at), (x(high), at), tint, 2.4)
        if abs(value) <= REACH:
            _draw_mark(sheet, role, x(value), at, mark)
        else:
            _draw_arrow(sheet, x(value), at, 1 if value > 0 else -1, mark)


def _draw_arrow(sheet: Sheet, x: float, y: float, side: int, colour: str) -> None:
    """Draw a head that says: further out."""
    sheet.area([(x + side * 4, y), (x - side, y - 2.6), (x - side, y + 2.6)], colour)


def _alternative(term: Term, words: Mapping[str, str]) -> str:
    """Return one term in words."""
    said = [
        word(
            words,
            "figure_alt_estimate",
            table=word(words, name),
            value=_figure(term[role]["value"], words),
            low=_figure(term[role]["low"], words),
            high=_figure(term[role]["high"], words),
        )
        for role, name, *_ in SERIES
        if term[role] is not None
    ]
    return word(words, "figure_alt_term", name=plain(term["name"]), estimates=", ".join(said))


def _figure(value: float, words: Mapping[str, str]) -> str:
    """Return a coefficient in three significant digits."""
    return f"{value:.3g}".replace("-", MINUS).replace(".", word(words, "figure_decimal"))
