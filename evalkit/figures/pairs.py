"""The dot plot of the pairs of variables whose relation changed most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Pair = Mapping[str, Any]

WIDE_PT = 453.0
NARROW_PT = 203.0
TIMES = "\u00d7"
TOP = 2.3 * EM
BASELINE = 0.34 * EM


@dataclass(frozen=True)
class _Layout:
    """Where things stand; all in points."""

    width: float
    left: float
    right: float
    pitch: float
    first: float
    rows: int
    narrow: bool

    @property
    def bottom(self) -> float:
        return self.first + (self.rows - 1) * self.pitch + 0.9 * EM

    def x(self, value: float) -> float:
        """Return the place of a correlation from -1 to 1."""
        inside = min(1.0, max(-1.0, value))
        return self.left + (self.right - self.left) * (inside + 1) / 2

    def y(self, row: int) -> float:
        """Return the middle of a row's marks."""
        return self.first + row * self.pitch


def worst_pairs(pairs: Sequence[Pair], *, narrow: bool, words: Mapping[str, str]) -> Drawing:
    """Return originals, avatars and holdout of each pair as marks on one line, worst first.

    Parameters
    ----------
    pairs : sequence of mapping
        ``first``, ``second`` (names), ``working``, ``avatars``, ``holdout`` (-1 to 1, or None),
        ``change``; in the order of the rows. At least one.
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
        If there is no pair.

    Examples
    --------
    >>> from evalkit.figures import worst_pairs
    >>> pair = {"first": "a", "second": "b", "working": 0.9, "avatars": 0.7, "change": -0.2}
    >>> worst_pairs([pair], narrow=False, words={}).alt[:20]
    'Dot plot of 1 pairs.'
    """
    if not pairs:
        raise ValueError("a dot plot needs at least one pair")
    layout = _layout(len(pairs), narrow=narrow)
    sheet = Sheet(layout.width, layout.bottom + 2.1 * EM)
    _draw_scale(sheet, layout, words)
    _draw_key(sheet, layout, words, holdout=any(pair.get("holdout") is not None for pair in pairs))
    for row, pair in enumerate(pairs):
        _draw_row(sheet, layout, row, pair, words)
    return Drawing("worst_pairs", sheet.figure, _alternative(pairs, words), full_width=True)


def _layout(rows: int, *, narrow: bool) -> _Layout:
    """Return the places of the wide or the narrow drawing."""
    width = NARROW_PT if narrow else WIDE_PT
    left = 0.9 * EM if narrow else 13.7 * EM
    pitch = (2.95 if narrow else 1.575) * EM
    first = TOP + (1.67 if narrow else 0.95) * EM
    return _Layout(width, left, width - 3.9 * EM, pitch, first, rows, narrow)


def _draw_scale(sheet: Sheet, layout: _Layout, words: Mapping[str, str]) -> None:
    """Draw the upright lines, their numbers and the head of the last column."""
    for value in (-1.0, -0.5, 0.0, 0.5, 1.0):
        at = layout.x(value)
        colour, width = ("axis", 0.7) if value == 0 else ("rule", 0.3)
        sheet.line((at, TOP), (at, layout.bottom), colour, width)
        number = written(value, 1, words)
        sheet.text(at, layout.bottom + 1.25 * EM, number, "mute", anchor="center")
    sheet.text(layout.width, EM, word(words, "figure_change"), "mute", anchor="right")


def _draw_key(sheet: Sheet, layout: _Layout, words: Mapping[str, str], *, holdout: bool) -> None:
    """Draw the three marks with their names, in the order of drawing."""
    at, y = layout.left, EM - BASELINE
    series = [("originals", "ink"), ("avatars", "ava"), *([("holdout", "holdtx")] * holdout)]
    for name, colour in series:
        _draw_mark(sheet, name, at + 2.7, y)
        label = word(words, f"figure_{name}")
        sheet.text(at + 7.5, EM, label, colour)
        at += 7.5 + width_pt(label) + 1.6 * EM


def _draw_mark(sheet: Sheet, name: str, x: float, y: float) -> None:
    """Draw a square for originals, a hollow dot for avatars, an upright tick for the holdout."""
    if name == "originals":
        sheet.box(x - 2.4, y - 2.4, 4.8, 4.8, "orig")
    elif name == "avatars":
        sheet.dot(x, y, 2.64, 1.3, "ava")
    else:
        sheet.line((x, y - 3.36), (x, y + 3.36), "hold", 1.7)


def _draw_row(
    sheet: Sheet, layout: _Layout, row: int, pair: Pair, words: Mapping[str, str]
) -> None:
    """Draw one pair."""
    y = layout.y(row)
    name_y = y - 0.97 * EM if layout.narrow else y + BASELINE
    room = layout.right if layout.narrow else layout.left - EM
    name = pair_name(pair, room)
    if layout.narrow:
        # Upright lines would run through a name that stands inside the plot.
        sheet.box(0.0, name_y - 0.75 * EM, width_pt(name) + 2.0, EM, "paper")
    sheet.text(0.0, name_y, name, "ink")
    sheet.line((layout.left, y), (layout.right, y), "hair", 0.35)
    working, avatars, holdout = pair["working"], pair["avatars"], pair.get("holdout")
    if working is not None and avatars is not None:
        sheet.line((layout.x(working), y), (layout.x(avatars), y), "avaT", 2.4)
    for name, value in (("holdout", holdout), ("originals", working), ("avatars", avatars)):
        if value is not None:
            _draw_mark(sheet, name, layout.x(value), y)
    change = written(pair["change"], 2, words, signed=True)
    sheet.text(layout.width, y + BASELINE, change, "ink", anchor="right")


def pair_name(pair: Pair, room_pt: float) -> str:
    r"""Return the two names joined by a times sign, shortened where the room is too small.

    Parameters
    ----------
    pair : mapping
        ``first`` and ``second``.
    room_pt : float
        Room in points.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures.pairs import pair_name
    >>> ascii(pair_name({"first": "age", "second": "size"}, 100.0))
    "'age \\xd7 size'"
    """
    first, second = plain(pair["first"]), plain(pair["second"])
    sign = f" {TIMES} "
    room = room_pt - width_pt(sign)
    widths = width_pt(first), width_pt(second)
    if sum(widths) > room:
        # A short name leaves what it does not need to the long one.
        most_first = max(room / 2, room - widths[1])
        most_second = max(room / 2, room - widths[0])
        first, second = shortened(first, most_first), shortened(second, most_second)
    return f"{first}{sign}{second}"


def _alternative(pairs: Sequence[Pair], words: Mapping[str, str]) -> str:
    """Return the worst pair in words."""
    worst = pairs[0]
    return word(
        words,
        "figure_alt_pairs",
        count=len(pairs),
        first=plain(worst["first"]),
        second=plain(worst["second"]),
        working=written(worst["working"], 2, words),
        avatars=written(worst["avatars"], 2, words),
    )
