"""How well a model tells avatars from originals, and by which variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.attacks import interval_dots
from evalkit.figures.groups import AVATARS_BESIDE_HOLDOUT
from evalkit.figures.lettering import plain, shortened
from evalkit.figures.sheet import Drawing, Sheet
from evalkit.figures.style import TEXT_PT as EM
from evalkit.figures.words import word, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDE_PT, NARROW_PT = 300.0, 197.0
NAME_SHARE = 0.42  # of the width, for the names at the left
TOP = 1.4 * EM
PITCH = 1.5 * EM
BASELINE = 0.34 * EM
RIGHT = 4.2 * EM
CHANCE = 0.5
OWN_WORDS = AVATARS_BESIDE_HOLDOUT | {
    "figure_naive": "figure_chance",
    "figure_alt_naive": "figure_alt_chance",
}
"""Words of the primitive, and those that stand for them where a model guesses the table."""


def apart_drawings(
    facts: Mapping[str, Any], words: Mapping[str, str], narrow: bool
) -> tuple[Drawing, ...]:
    """Return the area under the curve beside the holdout's, and the variables that tell.

    Parameters
    ----------
    facts : mapping
        ``auc``, ``auc_low``, ``auc_high``, from 0 to 1; the same with ``holdout_`` before them,
        or None; ``variables``, a list of mappings with ``variable`` and ``loss``.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twins for telephones are meant.

    Returns
    -------
    tuple of Drawing
        The second one only where there is a variable.

    Examples
    --------
    >>> from evalkit.figures import apart_drawings
    >>> facts = {"auc": 0.9, "auc_low": 0.88, "auc_high": 0.91, "holdout_auc": None}
    >>> apart_drawings(facts | {"variables": []}, {}, False)[0].alt.partition(";")[0]
    'Pairs of avatar and original told right: avatars 90.0 % (88.0 to 91.0)'
    """
    control = facts["holdout_auc"]
    row = {
        "name": word(words, "figure_told_apart"),
        "success": facts["auc"],
        "success_interval": (facts["auc_low"], facts["auc_high"]),
        "control": control,
        "control_interval": None
        if control is None
        else (facts["holdout_auc_low"], facts["holdout_auc_high"]),
        "naive": CHANCE,
    }
    other = {key: word(words, stand_in) for key, stand_in in OWN_WORDS.items()}
    areas = interval_dots([row], narrow=narrow, words={**words, **other})
    if not facts["variables"]:
        return (areas,)
    return areas, ranked_dots(facts["variables"], narrow=narrow, words=words)


def ranked_dots(
    variables: Sequence[Mapping[str, Any]], *, narrow: bool, words: Mapping[str, str]
) -> Drawing:
    """Return one line for each variable, the dot at what the model loses without it.

    Parameters
    ----------
    variables : sequence of mapping
        ``variable``, a name, and ``loss``, from 0 to 1, in the order of the rows. At least one.
    narrow : bool
        Whether the twin for telephones is meant.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing
        300 pt wide; narrow 197 pt.

    Examples
    --------
    >>> from evalkit.figures.apart import ranked_dots
    >>> ranked_dots([{"variable": "age", "loss": 0.12}], narrow=False, words={}).alt
    'Dot plot of 1 variables. The most telling is age: 12.0 points are lost without it.'
    """
    width = NARROW_PT if narrow else WIDE_PT
    left, right = NAME_SHARE * width, width - RIGHT
    bottom = TOP + len(variables) * PITCH
    sheet = Sheet(width, bottom + 0.4 * EM)
    most = max(one["loss"] for one in variables)
    sheet.text(width, EM, word(words, "figure_points_lost"), "mute", anchor="right")
    sheet.line((left, TOP), (left, bottom), "axis", 0.7)
    for number, one in enumerate(variables):
        y = TOP + (number + 0.6) * PITCH
        at = left + (right - left) * max(0.0, one["loss"]) / most
        sheet.text(0.0, y + BASELINE, shortened(str(one["variable"]), left - EM))
        sheet.line((left, y), (right, y), "hair", 0.35)
        sheet.line((left, y), (at, y), "avaT", 2.4)
        sheet.dot(at, y, 2.64, 1.3, "ava")
        points = written(100 * one["loss"], 1, words)
        sheet.text(width, y + BASELINE, points, "ava", anchor="right")
    alt = word(
        words,
        "figure_alt_ranked",
        count=len(variables),
        variable=plain(str(variables[0]["variable"])),
        points=written(100 * variables[0]["loss"], 1, words),
    )
    return Drawing("ranked", sheet.figure, alt, full_width=False)
