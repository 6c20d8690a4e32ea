"""The geometry of the score strip, from a reading and the known cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.figures.style import SMALL_PT
from evalkit.figures.words import limit, sign_of, word, written
from evalkit.strip.labels import Placed, headline, placed_below, spread_letters
from evalkit.strip.marks import Bar, Dot, Strip, Stroke

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.figures import Target
    from evalkit.strip.marks import Mark

NARROWEST_INTERVAL = 0.8


@dataclass(frozen=True)
class Anchor:
    """The score of a known case.

    Attributes
    ----------
    kind : str
        ``copy``, ``shuffled`` or ``real``.
    value : float
        0 to 100.
    """

    kind: str
    value: float

    @property
    def colours(self) -> tuple[str, str]:
        """Return the colour of the mark and of its words."""
        return ("hold", "holdtx") if self.kind == "real" else ("floor", "mute")


@dataclass(frozen=True)
class Reading:
    """What a strip shows of one result.

    Attributes
    ----------
    name : str
        The measure, for the text alternative.
    score : float
        The headline number, 0 to 100.
    interval : tuple of two float, optional
        95 % interval of the score.
    target : evalkit.figures.Target, optional
        The value that somebody set.
    verdict : str
        ``met`` makes the dot hollow, ``not met`` filled; anything else gives an upright bar.
    """

    name: str
    score: float
    interval: tuple[float, float] | None
    target: Target | None
    verdict: str


def known_cases(facts: Mapping[str, Any]) -> tuple[Anchor, ...]:
    """Return the known cases that a result's facts hold.

    Parameters
    ----------
    facts : mapping
        ``self_score``, ``floor_score``, ``holdout_score``, ``real_score``; each may be None.

    Returns
    -------
    tuple of Anchor

    Examples
    --------
    >>> from evalkit.strip import known_cases
    >>> [anchor.kind for anchor in known_cases({"self_score": 3.1, "real_score": None})]
    ['copy']
    """
    # The mean over deals has the avatars' size; a holdout has a size of its own.
    real = facts.get("real_score")
    if real is None:
        real = facts.get("holdout_score")
    found = (
        ("copy", facts.get("self_score")),
        ("shuffled", facts.get("floor_score")),
        ("real", real),
    )
    return tuple(Anchor(kind, float(value)) for kind, value in found if value is not None)


def table_strip(reading: Reading, anchors: Sequence[Anchor], words: Mapping[str, str]) -> Strip:
    """Return the small strip of the verdict table: letters under the known cases.

    Parameters
    ----------
    reading : Reading
        The result.
    anchors : sequence of Anchor
        Known cases; may be empty.
    words : mapping of str to str
        The report's words; English where a key is missing.

    Returns
    -------
    Strip
        127 by 25 pt.

    Examples
    --------
    >>> from evalkit.strip import Anchor, Reading, table_strip
    >>> reading = Reading("Hidden rate", 92.7, (91.9, 93.4), None, "no target")
    >>> table_strip(reading, [Anchor("copy", 0.0)], {}).alt
    'Hidden rate: 92.7, 91.9 to 93.4; target: none'
    """
    axis = 9.0
    marks: list[Mark] = [*_axis(axis, 50)]
    # Of equal scores the real rows stand last, at the outer end.
    ordered = sorted(anchors, key=lambda anchor: (anchor.value, anchor.kind == "real"))
    places = spread_letters([_inside(anchor.value) for anchor in ordered])
    for anchor, x in zip(ordered, places, strict=True):
        marks += _letter(anchor, x, axis, words)
    if reading.target:
        at = _inside(reading.target.value)
        marks.append(Stroke(at, axis - 9, at, axis + 2, "ink", 1.1))
    marks += _score(reading, axis, bar_height=5.2, radius=3.1)
    return Strip(_alternative(reading, words), 127.0, 25.0, tuple(marks), large=False)


def page_strip(reading: Reading, anchors: Sequence[Anchor], words: Mapping[str, str]) -> Strip:
    """Return the large strip of a metric's page: the words of target, score and known cases.

    Parameters
    ----------
    reading : Reading
        The result.
    anchors : sequence of Anchor
        Known cases, at most four; may be empty.
    words : mapping of str to str
        The report's words; English where a key is missing.

    Returns
    -------
    Strip
        296 pt wide; as high as its words need.

    Examples
    --------
    >>> from evalkit.strip import Anchor, Reading, page_strip
    >>> reading = Reading("Hidden rate", 92.7, None, None, "no target")
    >>> "perfect copy 0.0" in page_strip(reading, [Anchor("copy", 0.0)], {}).html()
    True
    """
    axis = 17.0
    marks: list[Mark] = [*_axis(axis, 25)]
    labels = [
        (_inside(anchor.value), _case_words(anchor, words), anchor.colours[1]) for anchor in anchors
    ]
    below = placed_below(labels)
    for anchor, (label, lane) in zip(anchors, below, strict=True):
        at, mark = _inside(anchor.value), anchor.colours[0]
        end = 25.0 if lane == 0 else label.y + 0.7
        marks.append(Stroke(at, axis, at, end, mark, 0.5))
        marks.append(Stroke(at, axis, at, axis + 5.5, mark, 1.8))
        marks.append(label)
    target = reading.target
    if target:
        at = _inside(target.value)
        marks.append(Stroke(at, axis - 13, at, axis + 2, "ink", 1.1))
    marks += _score(reading, axis, bar_height=5.6, radius=3.6)
    marks += headline(
        _inside(reading.score),
        written(reading.score, 1, words),
        _inside(target.value) if target else None,
        _target_words(target, words) if target else "",
    )
    height = max([axis + 7.0, *(label.y + 7.0 for label, _ in below)])
    alt = _alternative(reading, words)
    cases = "; ".join(_case_words(anchor, words) for anchor in anchors)
    whole = f"{alt}; {cases}" if cases else alt
    return Strip(whole, 296.0, height, tuple(marks), large=True)


def _inside(value: float) -> float:
    """Return a value held within the line."""
    return min(100.0, max(0.0, float(value)))


def _axis(y: float, step: int) -> list[Stroke]:
    """Return the line with its ticks."""
    ticks = [Stroke(x, y - 2, x, y + 2, "axis", 0.7) for x in range(0, 101, step)]
    return [Stroke(0, y, 100, y, "axis", 0.7), *ticks]


def _score(reading: Reading, axis: float, *, bar_height: float, radius: float) -> list[Mark]:
    """Return the interval and the mark of the score."""
    marks: list[Mark] = []
    at = _inside(reading.score)
    if reading.interval:
        low, high = (_inside(end) for end in reading.interval)
        missing = max(0.0, NARROWEST_INTERVAL - (high - low)) / 2
        low, high = _inside(low - missing), _inside(high + missing)
        marks.append(Bar(low, high, axis - bar_height / 2, bar_height))
    if reading.verdict in {"met", "not met"}:
        marks.append(Dot(at, axis, radius, hollow=reading.verdict == "met"))
    else:
        marks.append(Stroke(at, axis - 5, at, axis + 5, "ava", 2.2))
    return marks


def _letter(anchor: Anchor, x: float, axis: float, words: Mapping[str, str]) -> list[Mark]:
    """Return a known case's tick, its letter, and a leader where the letter was moved."""
    at, (mark, text) = _inside(anchor.value), anchor.colours
    marks: list[Mark] = [Stroke(at, axis, at, axis + 5, mark, 1.6)]
    if abs(x - at) > NARROWEST_INTERVAL / 2:
        marks.append(Stroke(at, axis + 5, x, axis + 7.4, mark, 0.5))
    letter = word(words, f"strip_letter_{anchor.kind}")
    parts = ((letter, text, anchor.kind == "real"),)
    return [*marks, Placed(x, axis + 14.6, parts, "middle", SMALL_PT)]


def _case_words(anchor: Anchor, words: Mapping[str, str]) -> str:
    """Return a known case and its value in words."""
    return f"{word(words, f'strip_{anchor.kind}')} {written(anchor.value, 1, words)}"


def _target_words(target: Target, words: Mapping[str, str]) -> str:
    """Return the target with its sign."""
    operator, value = sign_of(target.operator), limit(target.value, words)
    return word(words, "figure_target", operator=operator, value=value)


def _alternative(reading: Reading, words: Mapping[str, str]) -> str:
    """Return measure, score, interval and target in words."""
    parts = [f"{reading.name}: {written(reading.score, 1, words)}"]
    if reading.interval:
        low, high = (written(end, 1, words) for end in reading.interval)
        parts.append(word(words, "strip_alt_interval", low=low, high=high))
    target = reading.target
    if target is None:
        aim = word(words, "strip_alt_no_target")
    else:
        value = limit(target.value, words)
        aim = word(words, f"strip_alt_target {target.operator}", value=value)
    return f"{', '.join(parts)}; {aim}"
