"""Privacy against utility: one panel for each privacy measure, one mark for each release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import limit, word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Panel = Mapping[str, Any]

WIDE_PT, NARROW_PT = 453.0, 203.0
PANEL_PT, HEIGHT_PT, GAP_PT = 203.0, 158.0, 47.0
LEFT, RIGHT, TOP, BOTTOM = 3.0 * EM, 1.2 * EM, 3.4 * EM, 3.4 * EM
RADIUS = 2.64


@dataclass(frozen=True)
class _Frame:
    """Where one panel stands and what its axes span."""

    x0: float
    y0: float
    low_x: float
    low_y: float

    def x(self, value: float) -> float:
        """Return the place of a utility score."""
        inside = min(1.0, max(0.0, (value - self.low_x) / (100 - self.low_x)))
        return self.x0 + LEFT + inside * (PANEL_PT - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return the place of a privacy score."""
        inside = min(1.0, max(0.0, (value - self.low_y) / (100 - self.low_y)))
        return self.y0 + HEIGHT_PT - BOTTOM - inside * (HEIGHT_PT - TOP - BOTTOM)


def frontier(panels: Sequence[Panel], *, narrow: bool, words: Mapping[str, str]) -> Drawing:
    """Return privacy against utility, one panel for each privacy measure.

    Parameters
    ----------
    panels : sequence of mapping
        ``privacy`` and ``utility`` (names of the measures), ``privacy_target`` and
        ``utility_target`` (a value from 0 to 100, or None), and ``releases``: mappings with
        ``letter``, ``privacy``, ``utility`` (0 to 100) and the pairs ``privacy_interval`` and
        ``utility_interval``, or None. At least one panel with one release.
    narrow : bool
        Whether the twin for telephones is meant: the panels stand below each other.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing
        453 pt wide, two panels to a row; narrow 203 pt.

    Raises
    ------
    ValueError
        If there is no panel.

    Examples
    --------
    >>> from evalkit.figures import frontier
    >>> one = {"letter": "A", "privacy": 90.0, "utility": 70.0}
    >>> panel = {"privacy": "Linkability", "utility": "Correlations", "releases": [one]}
    >>> frontier([panel], narrow=False, words={}).alt
    'Linkability against Correlations. A: 90.0 and 70.0.'
    """
    if not panels:
        raise ValueError("a drawing of privacy against utility needs a panel")
    in_row = 1 if narrow else 2
    rows = math.ceil(len(panels) / in_row)
    width = NARROW_PT if narrow else WIDE_PT
    sheet = Sheet(width, rows * HEIGHT_PT + (rows - 1) * EM)
    for place, panel in enumerate(panels):
        x0 = (place % in_row) * (PANEL_PT + GAP_PT)
        y0 = (place // in_row) * (HEIGHT_PT + EM)
        _draw_panel(sheet, panel, x0, y0, words)
    alt = " ".join(_alternative(panel, words) for panel in panels)
    return Drawing("frontier", sheet.figure, alt, full_width=True)


def _draw_panel(sheet: Sheet, panel: Panel, x0: float, y0: float, words: Mapping[str, str]) -> None:
    """Draw axes, targets, the frontier and the releases of one panel."""
    releases = panel["releases"]
    frame = _Frame(x0, y0, _lowest(panel, "utility"), _lowest(panel, "privacy"))
    _draw_axes(sheet, panel, frame, words)
    edge = [(frame.x(one["utility"]), frame.y(one["privacy"])) for one in unbeaten(releases)]
    if len(edge) > 1:
        sheet.path(edge, "axis", 0.7, (2.0, 1.6))
    for one in releases:
        _draw_intervals(sheet, one, frame)
    for one in releases:
        sheet.dot(frame.x(one["utility"]), frame.y(one["privacy"]), RADIUS, 1.3, "ava")
    _draw_letters(sheet, releases, frame)


def unbeaten(releases: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the releases that no other one equals or beats in both scores, by utility.

    Parameters
    ----------
    releases : sequence of mapping
        ``privacy`` and ``utility``.

    Returns
    -------
    list of mapping
        From the least to the greatest utility.

    Examples
    --------
    >>> points = [{"privacy": 9, "utility": 1}, {"privacy": 5, "utility": 5}]
    >>> len(unbeaten([*points, {"privacy": 4, "utility": 4}]))
    2
    """

    def beaten(one: Mapping[str, Any], place: int) -> bool:
        mine = one["privacy"], one["utility"]
        for other_place, other in enumerate(releases):
            theirs = other["privacy"], other["utility"]
            no_worse = theirs[0] >= mine[0] and theirs[1] >= mine[1]
            if no_worse and (theirs != mine or other_place < place):
                return True
        return False

    kept = [one for place, one in enumerate(releases) if not beaten(one, place)]
    return sorted(kept, key=lambda one: (one["utility"], one["privacy"]))


def _lowest(panel: Panel, key: str) -> float:
    """Return the ten below everything that must be seen on one axis."""
    seen = [one[key] for one in panel["releases"]]
    seen += [one[f"{key}_interval"][0] for one in panel["releases"] if one.get(f"{key}_interval")]
    target = panel.get(f"{key}_target")
    least = min([*seen, *([] if target is None else [target]), 95.0])
    return float(min(90.0, max(0.0, 10 * math.floor(least / 10 - 1e-9))))


def _draw_axes(sheet: Sheet, panel: Panel, frame: _Frame, words: Mapping[str, str]) -> None:
    """Draw both scales with their names, and the targets as ink rules."""
    left, right = frame.x(frame.low_x), frame.x(100)
    floor, top = frame.y(frame.low_y), frame.y(100)
    for part in range(3):
        value = frame.low_x + (100 - frame.low_x) * part / 2
        sheet.line((frame.x(value), top), (frame.x(value), floor), "rule", 0.3)
        label = limit(value, words)
        sheet.text(frame.x(value), floor + 1.3 * EM, label, "mute", anchor="center")
        value = frame.low_y + (100 - frame.low_y) * part / 2
        sheet.line((left, frame.y(value)), (right, frame.y(value)), "rule", 0.3)
        label = limit(value, words)
        sheet.text(left - 0.6 * EM, frame.y(value) + 0.34 * EM, label, "mute", anchor="right")
    name = shortened(str(panel["privacy"]), PANEL_PT)
    sheet.text(frame.x0, frame.y0 + EM, name, "ink", bold=True)
    name = shortened(str(panel["utility"]), right - left)
    sheet.text(right, floor + 2.7 * EM, name, "mute", anchor="right")
    for key in ("utility", "privacy"):
        target = panel.get(f"{key}_target")
        if target is None:
            continue
        if key == "utility":
            sheet.line((frame.x(target), top), (frame.x(target), floor), "ink", 1.1)
        else:
            sheet.line((left, frame.y(target)), (right, frame.y(target)), "ink", 1.1)


def _draw_intervals(sheet: Sheet, one: Mapping[str, Any], frame: _Frame) -> None:
    """Draw the two intervals of a release as a cross."""
    x, y = frame.x(one["utility"]), frame.y(one["privacy"])
    if one.get("utility_interval"):
        low, high = one["utility_interval"]
        sheet.line((frame.x(low), y), (frame.x(high), y), "avaT", 1.8)
    if one.get("privacy_interval"):
        low, high = one["privacy_interval"]
        sheet.line((x, frame.y(low)), (x, frame.y(high)), "avaT", 1.8)


def _draw_letters(sheet: Sheet, releases: Sequence[Mapping[str, Any]], frame: _Frame) -> None:
    """Write the letter of each release beside its mark, clear of the letters before it."""
    taken: list[tuple[float, float]] = []
    for one in releases:
        x, y = frame.x(one["utility"]), frame.y(one["privacy"])
        letter = plain(one["letter"])
        wide = width_pt(letter, bold=True)
        right = x + 4.2 + wide < frame.x(100) + RIGHT
        at = (x + 4.2 if right else x - 4.2 - wide), y - 3.6
        while any(abs(at[0] - a) < wide + 1 and abs(at[1] - b) < 0.95 * EM for a, b in taken):
            at = at[0], at[1] + 0.95 * EM
        taken.append(at)
        sheet.text(*at, letter, "ava", bold=True)


def _alternative(panel: Panel, words: Mapping[str, str]) -> str:
    """Return one panel in words."""
    names = {key: plain(panel[key]) for key in ("privacy", "utility")}
    told = [
        word(
            words,
            "figure_alt_release",
            letter=plain(one["letter"]),
            privacy=written(one["privacy"], 1, words),
            utility=written(one["utility"], 1, words),
        )
        for one in panel["releases"]
    ]
    return " ".join([word(words, "figure_alt_frontier", **names), *told])
