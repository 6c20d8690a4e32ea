"""Shares of two groups on one scale: people in the data and control, or avatars and holdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.attacks import interval_dots
from evalkit.figures.words import word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.figures.sheet import Drawing

AVATARS_BESIDE_HOLDOUT = {
    "figure_in_data": "figure_avatars",
    "figure_not_in_data": "figure_holdout",
    "figure_naive": "figure_by_luck",
    "figure_alt_success": "figure_alt_avatar_share",
    "figure_alt_control": "figure_alt_holdout_share",
    "figure_alt_no_control": "figure_alt_alone",
    "figure_alt_naive": "figure_alt_by_luck",
}
"""Words of the primitive, and those that stand for them where avatars are compared."""
RULES_BESIDE_HOLDOUT = {
    "figure_in_data": "figure_avatars",
    "figure_not_in_data": "figure_holdout",
    "figure_alt_success": "figure_alt_broken",
    "figure_alt_control": "figure_alt_holdout_share",
    "figure_alt_no_control": "figure_alt_no_share",
}
"""The same where the shares that break a rule are compared."""
DESCRIPTIONS_BESIDE_LUCK = {
    "figure_in_data": "figure_descriptions",
    "figure_naive": "figure_by_luck",
    "figure_alt_success": "figure_alt_descriptions",
    "figure_alt_no_control": "figure_alt_one_pool",
    "figure_alt_naive": "figure_alt_by_luck",
}
"""The same where descriptions are counted and not people."""


def group_drawing(
    rows: Sequence[Mapping[str, Any]],
    *,
    narrow: bool,
    words: Mapping[str, str],
    people: bool,
) -> Drawing:
    """Return one line for each comparison of two groups.

    Parameters
    ----------
    rows : sequence of mapping
        ``name``, a key of the words, and ``values`` to fill it with; ``success``, ``control`` and
        ``naive``, shares from 0 to 1; ``success_interval`` and ``control_interval``. All but the
        name and the first share may be missing.
    narrow : bool
        Whether the twin for telephones is meant.
    words : mapping of str to str
        The report's words.
    people : bool
        True: people in the data beside a control. False: avatars beside a holdout.

    Returns
    -------
    Drawing

    Examples
    --------
    >>> from evalkit.figures.groups import group_drawing
    >>> row = {"name": "figure_near_copies", "success": 0.2, "control": 0.05}
    >>> group_drawing([row], narrow=False, words={}, people=False).alt
    'As near as the nearest 5 % of strangers: avatars 20.0 %, holdout 5.0 %.'
    """
    if not people:
        other = {key: word(words, stand_in) for key, stand_in in AVATARS_BESIDE_HOLDOUT.items()}
        words = {**words, **other}
    named = [{**row, "name": word(words, row["name"], **row.get("values", {}))} for row in rows]
    return interval_dots(named, narrow=narrow, words=words)


def broken_rules(
    rules: Sequence[Mapping[str, Any]], *, narrow: bool, words: Mapping[str, str]
) -> Drawing:
    """Return the share of avatars that break each rule, beside that of the holdout.

    Parameters
    ----------
    rules : sequence of mapping
        ``name``; ``share`` and ``interval`` of the avatars that keep it, from 0 to 1; ``holdout``,
        a mapping whose ``share`` may be None, or None. At least one.
    narrow : bool
        Whether the twin for telephones is meant.
    words : mapping of str to str
        The report's words.

    Returns
    -------
    Drawing

    Examples
    --------
    >>> from evalkit.figures.groups import broken_rules
    >>> rule = {"name": "start <= end", "share": 0.75, "interval": [0.7, 0.8], "holdout": None}
    >>> broken_rules([rule], narrow=False, words={}).alt
    'start <= end: broken by 25.0 % of the avatars (20.0 to 30.0); no holdout share is shown.'
    """
    other = {key: word(words, stand_in) for key, stand_in in RULES_BESIDE_HOLDOUT.items()}
    rows = [
        {
            "name": one["name"],
            "success": 1 - one["share"],
            "success_interval": [1 - one["interval"][1], 1 - one["interval"][0]],
            "control": _broken(one["holdout"]),
        }
        for one in rules
    ]
    return interval_dots(rows, narrow=narrow, words={**words, **other})


def _broken(table: Mapping[str, Any] | None) -> float | None:
    """Return the share of a table that breaks a rule, where it may be shown."""
    share = table["share"] if table else None
    return None if share is None else 1 - float(share)


def description_drawings(
    facts: Mapping[str, Any], words: Mapping[str, str], narrow: bool
) -> tuple[Drawing, ...]:
    """Return the share of landed descriptions that fit a person in the data, beside luck.

    Parameters
    ----------
    facts : mapping
        ``success_share``, ``success_interval`` and ``naive_share``, from 0 to 1.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twin for telephones is meant.

    Returns
    -------
    tuple of one Drawing

    Examples
    --------
    >>> from evalkit.figures.groups import description_drawings
    >>> facts = {"success_share": 0.75, "success_interval": [0.7, 0.8], "naive_share": 0.5}
    >>> description_drawings(facts, {}, False)[0].alt.partition(";")[0]
    'This person is in the data: 75.0 % of the descriptions (70.0 to 80.0)'
    """
    other = {key: word(words, stand_in) for key, stand_in in DESCRIPTIONS_BESIDE_LUCK.items()}
    row = {
        "name": word(words, "figure_description_fits"),
        "success": facts["success_share"],
        "success_interval": facts["success_interval"],
        "naive": facts["naive_share"],
    }
    return (interval_dots([row], narrow=narrow, words={**words, **other}),)
