"""Distributions as small multiples: each variable on the same bins in every table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import SMALL_PT
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import limit, word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Panel = Mapping[str, Any]
    Words = Mapping[str, str]

WIDE_PT, NARROW_PT = 453.0, 203.0
ACROSS, GAP = 3, 14.0
KEY_PT = 2.2 * EM
PLOT_PT = 66.0
PITCH = PLOT_PT + 4.6 * EM
BASELINE = 0.34 * EM
LABEL_SHARE = 0.42
SERIES = (("holdout", "hold", 0.9), ("original", "orig", 1.0), ("avatars", "ava", 1.3))
DASHES = (3.0, 1.6)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def small_multiples(
    panels: Sequence[Panel], *, narrow: bool, words: Words, name: str = "distributions"
) -> Drawing:
    """Return one small picture for each variable: originals outline, avatars line, holdout faint.

    Parameters
    ----------
    panels : sequence of mapping
        ``name``, ``type``, ``bins`` (levels, the empty text for the rest), ``edges`` (inner edges
        of numbers, or None), ``original``, ``avatars``, ``holdout`` (shares from 0 to 1, or None),
        ``original_missing``, ``avatars_missing``; in their order. At least one.
    narrow : bool
        Whether the twin for telephones is meant: one column.
    words : mapping of str to str
        The report's words.
    name : str
        Stem of the figure's name.

    Returns
    -------
    Drawing
        453 pt wide, three in a row; narrow 203 pt, one in a row.

    Raises
    ------
    ValueError
        If there is no variable.

    Examples
    --------
    >>> from evalkit.figures import small_multiples
    >>> town = {"name": "town", "type": "categorical", "bins": ["Aix", "Brest"], "edges": None}
    >>> town |= {"original": [0.6, 0.4], "avatars": [0.7, 0.3], "holdout": None}
    >>> town |= {"original_missing": 0.0, "avatars_missing": 0.0}
    >>> small_multiples([town], narrow=False, words={}).alt
    'Distributions of 1 variables, in this order: town.'
    """
    if not panels:
        raise ValueError("small multiples need at least one variable")
    across = 1 if narrow else ACROSS
    total = NARROW_PT if narrow else WIDE_PT
    width = (total - (across - 1) * GAP) / across
    lines = -(-len(panels) // across)
    sheet = Sheet(total, KEY_PT + lines * PITCH)
    _draw_key(sheet, panels, words)
    for place, panel in enumerate(panels):
        left = (place % across) * (width + GAP)
        _Place(sheet, left, KEY_PT + (place // across) * PITCH, width, words).draw(panel)
    names = ", ".join(plain(panel["name"]) for panel in panels)
    alt = word(words, "figure_alt_distributions", count=len(panels), names=names)
    return Drawing(name, sheet.figure, alt, full_width=True)


def _draw_key(sheet: Sheet, panels: Sequence[Panel], words: Words) -> None:
    """Draw the three lines with their names; the holdout only where it is shown."""
    shown = {series: any(panel[series] is not None for panel in panels) for series, _, _ in SERIES}
    at = 0.0
    for series, colour, width in (SERIES[1], SERIES[2], SERIES[0]):
        if not shown[series]:
            continue
        dashes = DASHES if series == "holdout" else None
        sheet.path([(at, EM - BASELINE), (at + 12, EM - BASELINE)], colour, width, dashes)
        label = word(words, "figure_originals" if series == "original" else f"figure_{series}")
        sheet.text(at + 15, EM, label, "holdtx" if series == "holdout" else colour)
        at += 15 + width_pt(label) + 1.6 * EM


class _Place:
    """Where one panel stands on the sheet, in points."""

    def __init__(self, sheet: Sheet, left: float, top: float, width: float, words: Words) -> None:
        self.sheet, self.left, self.width, self.words = sheet, left, width, words
        self.title = top + EM
        self.top = top + 1.6 * EM
        self.bottom = self.top + PLOT_PT

    def draw(self, panel: Panel) -> None:
        """Draw a panel: its name, its shares, and how many cells are missing."""
        name = shortened(panel["name"], self.width * 0.94)
        self.sheet.text(self.left, self.title, name, "ink", bold=True)
        if panel["original"] is None:
            said = shortened(word(self.words, "figure_not_shown"), self.width)
            self.sheet.text(self.left, self.top + 2 * EM, said, "mute")
        elif panel["edges"] is None:
            self._levels(panel)
        else:
            self._steps(panel)
        self._missing(panel)

    def _missing(self, panel: Panel) -> None:
        """Write the shares of missing cells, where there are any."""
        shares = panel["original_missing"], panel["avatars_missing"]
        if not any(shares):
            return
        original, avatars = (written(100 * share, 1, self.words) for share in shares)
        words = word(self.words, "figure_missing", original=original, avatars=avatars)
        at = self.bottom + 2.1 * EM
        self.sheet.text(
            self.left, at, shortened(words, self.width, SMALL_PT), "mute", size=SMALL_PT
        )

    def _steps(self, panel: Panel) -> None:
        """Draw a number column as steps over bins of equal width, the outer ones open."""
        top = _top(panel)
        count = len(panel["original"])
        step = self.width / count
        self.sheet.line(
            (self.left, self.bottom), (self.left + self.width, self.bottom), "axis", 0.7
        )
        for series, colour, width in SERIES:
            if panel[series] is None:
                continue
            heights = [self.bottom - PLOT_PT * share / top for share in panel[series]]
            points = [
                (self.left + (k + side) * step, height)
                for k, height in enumerate(heights)
                for side in (0, 1)
            ]
            if series == "original":
                first, last = points[0][0], points[-1][0]
                self.sheet.area([(first, self.bottom), *points, (last, self.bottom)], "hair")
            dashes = DASHES if series == "holdout" else None
            self.sheet.path(points, colour, width, dashes)
        self._marks(panel, step)

    def _marks(self, panel: Panel, step: float) -> None:
        """Write the first, the middle and the last edge below the axis, as far as they fit."""
        edges = panel["edges"]
        free = self.left - 1.0
        for k in sorted({0, len(edges) // 2, len(edges) - 1}):
            mark = edge_words(edges[k], panel["type"], self.words)
            at, wide = self.left + (k + 1) * step, width_pt(mark, SMALL_PT)
            at_text = min(max(at, self.left + wide / 2), self.left + self.width - wide / 2)
            if at_text - wide / 2 < free:
                continue
            self.sheet.line((at, self.bottom), (at, self.bottom + 2.5), "axis", 0.7)
            place = self.bottom + 1.15 * EM
            self.sheet.text(at_text, place, mark, "mute", size=SMALL_PT, anchor="center")
            free = at_text + wide / 2 + 3.0

    def _levels(self, panel: Panel) -> None:
        """Draw levels as rows: a bar for originals, a dot for avatars, a tick for the holdout."""
        top = _top(panel)
        labels = [one or word(self.words, "figure_other_levels") for one in panel["bins"]]
        pitch = min(PLOT_PT / len(labels), 1.6 * EM)
        room = self.width * LABEL_SHARE
        begin = self.left + room + 4.0
        scale = (self.width - room - 8.0) / top
        self.sheet.line((begin, self.top), (begin, self.top + pitch * len(labels)), "axis", 0.7)
        for k, label in enumerate(labels):
            y = self.top + (k + 0.5) * pitch
            self.sheet.text(
                self.left, y + BASELINE, shortened(label, room, SMALL_PT), "ink", size=SMALL_PT
            )
            height = min(5.0, 0.7 * pitch)
            wide = scale * panel["original"][k]
            self.sheet.box(begin, y - height / 2, wide, height, "origT")
            if panel["holdout"] is not None:
                at = begin + scale * panel["holdout"][k]
                self.sheet.line((at, y - 3.0), (at, y + 3.0), "hold", 1.2)
            self.sheet.dot(begin + scale * panel["avatars"][k], y, 2.1, 1.2, "ava")


def _top(panel: Panel) -> float:
    """Return the largest share shown in a panel, never 0."""
    shares = [share for series, _, _ in SERIES for share in panel[series] or ()]
    return float(max([*shares, 0.001]))


def edge_words(edge: float, kind: str, words: Words) -> str:
    """Return an edge as short as it is: a date is the last one that the bin holds.

    Examples
    --------
    >>> from evalkit.figures.distributions import edge_words
    >>> edge_words(12.5, "numeric", {}), edge_words(86_399.0, "datetime", {})
    ('12.5', '1970-01-01')
    """
    if kind != "datetime":
        return limit(edge, words)
    try:
        moment = EPOCH + timedelta(seconds=edge)
    except OverflowError:
        return limit(edge, words)
    whole_day = (moment.hour, moment.minute, moment.second) == (23, 59, 59)
    return f"{moment:%Y-%m-%d}" if whole_day else f"{moment:%Y-%m-%d %H:%M}"
