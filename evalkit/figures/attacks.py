"""Attacks as two marks with intervals on one line: people in the data and control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.lettering import plain, shortened, width_pt
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import limit, percentage, word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Attack = Mapping[str, Any]

WIDE_PT, NARROW_PT = 300.0, 197.0
TOP = 2.3 * EM
PITCH = 3.2 * EM
OFFSET = 0.42 * EM
"""Half the distance between the two marks of a row, so that their intervals stay apart."""
BASELINE = 0.34 * EM
LEFT, RIGHT = 1.0 * EM, 4.2 * EM
SCALES = ((1, 5), (2, 4), (5, 5), (10, 5), (20, 4), (50, 5), (100, 4))
"""Where the scale may end, in percent, and in how many parts it is cut."""


def interval_dots(attacks: Sequence[Attack], *, narrow: bool, words: Mapping[str, str]) -> Drawing:
    """Return the success of each attack on people in the data and on the control.

    Parameters
    ----------
    attacks : sequence of mapping
        ``name``, ``success``, ``success_interval``, ``control``, ``control_interval``, ``naive``;
        shares from 0 to 1 and pairs of them; all but the first two may be None. At least one.
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
        If there is no attack.

    Examples
    --------
    >>> from evalkit.figures import interval_dots
    >>> attack = {"name": "Linkability", "success": 0.154, "success_interval": (0.144, 0.164)}
    >>> interval_dots([attack], narrow=False, words={}).alt
    'Linkability: 15.4 % of the people in the data (14.4 to 16.4); no control.'
    """
    if not attacks:
        raise ValueError("a drawing of attacks needs at least one")
    width = NARROW_PT if narrow else WIDE_PT
    bottom = TOP + len(attacks) * PITCH
    sheet = Sheet(width, bottom + 1.6 * EM)
    right = width - RIGHT
    needed = 108 * _largest(attacks)
    end, parts = next((scale for scale in SCALES if scale[0] >= needed), SCALES[-1])

    def x(share: float) -> float:
        return LEFT + (right - LEFT) * min(100 * share / end, 1.0)

    for number in range(parts + 1):
        percent = end * number / parts
        at = x(percent / 100)
        sheet.line((at, TOP), (at, bottom), "rule" if number else "axis", 0.3)
        mark = limit(percent, words)
        label = f"{mark} %" if number in {0, parts} else mark
        sheet.text(at, bottom + 1.25 * EM, label, "mute", anchor="center")
    _draw_key(sheet, attacks, words)
    for row, attack in enumerate(attacks):
        _draw_row(sheet, TOP + (row + 0.62) * PITCH, attack, x, words)
    alt = " ".join(_alternative(attack, words) for attack in attacks)
    return Drawing("attacks", sheet.figure, alt, full_width=False)


def _largest(attacks: Sequence[Attack]) -> float:
    """Return the largest share that must be seen."""
    keys = ("success", "control", "naive")
    single = [attack[key] for attack in attacks for key in keys if attack.get(key) is not None]
    ends = [
        pair[1]
        for attack in attacks
        for pair in (attack.get("success_interval"), attack.get("control_interval"))
        if pair
    ]
    return float(max([*single, *ends]))


def _draw_key(sheet: Sheet, attacks: Sequence[Attack], words: Mapping[str, str]) -> None:
    """Draw the marks that occur, with their names."""
    series = (
        ("success", "figure_in_data", "ava"),
        ("control", "figure_not_in_data", "holdtx"),
        ("naive", "figure_naive", "mute"),
    )
    at = LEFT
    for key, name, colour in series:
        if all(attack.get(key) is None for attack in attacks):
            continue
        label = word(words, name)
        _draw_mark(sheet, key, at + 2.7, EM - BASELINE)
        sheet.text(at + 7.5, EM, label, colour)
        at += 7.5 + width_pt(label) + 1.2 * EM


def _draw_mark(sheet: Sheet, key: str, x: float, y: float) -> None:
    """Draw a hollow dot, an upright tick or a short tick."""
    if key == "success":
        sheet.dot(x, y, 2.64, 1.3, "ava")
    elif key == "control":
        sheet.line((x, y - 3.36), (x, y + 3.36), "hold", 1.7)
    else:
        sheet.line((x, y - 2.4), (x, y + 2.4), "floor", 1.1)


def _draw_row(
    sheet: Sheet, y: float, attack: Attack, x: Callable[[float], float], words: Mapping[str, str]
) -> None:
    """Draw one attack: its name above, the two marks, the naive guess, the numbers at the right."""
    name = shortened(str(attack["name"]), sheet.width - RIGHT - LEFT)
    # A little further to the left than the name: else the axis would touch its first letter.
    sheet.box(LEFT - 0.5, y - 1.95 * EM, width_pt(name) + 3.5, EM, "paper")
    sheet.text(LEFT, y - 1.2 * EM, name)
    sheet.line((x(0.0), y), (sheet.width - RIGHT, y), "hair", 0.35)
    series = (
        ("success", y - OFFSET, "avaT", "ava"),
        ("control", y + OFFSET, "holdT", "holdtx"),
        ("naive", y, "hair", "mute"),
    )
    for key, at, tint, colour in series:
        share = attack.get(key)
        if share is None:
            continue
        interval = attack.get(f"{key}_interval")
        if interval:
            sheet.line((x(interval[0]), at), (x(interval[1]), at), tint, 2.4)
        _draw_mark(sheet, key, x(share), at)
        if key != "naive":
            number = f"{percentage(share, words)} %"
            lift = at + BASELINE + (-0.2 * EM if key == "success" else 0.2 * EM)
            sheet.text(sheet.width, lift, number, colour, anchor="right")


def _alternative(attack: Attack, words: Mapping[str, str]) -> str:
    """Return one attack in words."""

    def percent(share: float) -> str:
        return percentage(share, words)

    def with_interval(key: str) -> str:
        pair = attack.get(f"{key}_interval")
        if not pair:
            return ""
        return word(words, "figure_alt_range", low=percent(pair[0]), high=percent(pair[1]))

    said = [
        word(
            words,
            "figure_alt_success",
            name=plain(attack["name"]),
            success=percent(attack["success"]),
            range=with_interval("success"),
        )
    ]
    if attack.get("control") is None:
        said.append(word(words, "figure_alt_no_control"))
    else:
        control, extent = percent(attack["control"]), with_interval("control")
        said.append(word(words, "figure_alt_control", control=control, range=extent))
    sentences = ", ".join(said) if attack.get("control") is not None else "; ".join(said)
    if attack.get("naive") is not None:
        guess = word(words, "figure_alt_naive", naive=percent(attack["naive"]))
        return f"{sentences}. {guess}"
    return f"{sentences}."
