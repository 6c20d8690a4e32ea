"""The words inside figures, in English, and how a number is written in a figure.

A report in another language passes a mapping that holds the same keys.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MINUS = "\u2212"
FIVE_DIGITS = 10_000  # a number of four may be a year: its digits stay together
SMALLEST_SHARE = 0.0005  # with one decimal of a percentage
LARGEST_WHOLE = 1e15  # above, a float holds no more whole numbers than it can write

ENGLISH: Mapping[str, str] = MappingProxyType(
    {
        "figure_decimal": ".",
        "figure_thousands": ",",
        "figure_originals": "originals",
        "figure_avatars": "avatars",
        "figure_holdout": "holdout",
        "figure_control": "control: unseen real rows",
        "figure_shuffled": "shuffled columns",
        "figure_target": "target {operator} {value}",
        "figure_change": "change",
        "figure_known_axis": "Number of known variables (of {total})",
        "figure_heat_originals": "Originals",
        "figure_heat_avatars": "Avatars",
        "figure_heat_avatar_change": "Avatars minus originals",
        "figure_heat_holdout_change": "Holdout minus originals",
        "figure_heat_negative": "below zero",
        "figure_heat_over": "{value} or more",
        "figure_all_people": "all people",
        "figure_one_group": "a group; band: 95 % interval of the lowest",
        "figure_alt_groups": "Scores of groups.",
        "figure_alt_group": "{name}: lowest {label} {score}, all people {whole}.",
        "figure_in_data": "people in the data",
        "figure_not_in_data": "control",
        "figure_naive": "naive guess",
        "figure_alt_curve": "Line chart over the number of known variables.",
        "figure_alt_curve_point": "With {known}: avatars {score}",
        "figure_alt_curve_holdout": "control {score}",
        "figure_alt_curve_floor": "shuffled columns {score}",
        "figure_alt_target": "Target {operator} {value}.",
        "figure_alt_levels": (
            "Two triangles of correlations among {count} variables, originals below the diagonal "
            "and avatars above. The strongest pair of the originals is {first} and {second}: "
            "{working} in the originals, {avatars} in the avatars."
        ),
        "figure_alt_changes": (
            "Two triangles of differences from the originals. The largest of the avatars, above "
            "the diagonal, is {avatars}; the largest of the holdout, below it, is {holdout}."
        ),
        "figure_alt_pairs": (
            "Dot plot of {count} pairs. The largest change is {first} by {second}, from {working} "
            "in the originals to {avatars} in the avatars."
        ),
        "figure_alt_levels_blank": "Two triangles of correlations among {count} variables.",
        "figure_alt_information": (
            "Two triangles of normalised mutual information among {count} variables, originals "
            "below the diagonal and avatars above. The strongest pair of the originals is {first} "
            "and {second}: {working} in the originals, {avatars} in the avatars."
        ),
        "figure_alt_information_blank": (
            "Two triangles of normalised mutual information among {count} variables."
        ),
        "figure_axes": "Overlap on axes {first} and {second}",
        "figure_linked": "Linked through one avatar",
        "figure_found_own": "Own avatar picked as the nearest",
        "figure_found_by_categories": "Own avatar picked by categories",
        "figure_found_by_known": "Own avatar picked on the known variables",
        "figure_uncovered": "No avatar nearer than the own one",
        "figure_inferred": "Value read off the nearest avatar",
        "figure_replicated": "Unique and found among the avatars",
        "figure_disclosed": "Value disclosed by avatars that agree",
        "figure_predicted": "Value predicted by a model",
        "figure_model_avatars": "model from the avatars",
        "figure_model_holdout": "model from the holdout",
        "figure_outcome_predicted": "Outcome predicted, chance taken away",
        "figure_model_originals": "model from the originals",
        "figure_alt_model_originals": "{control} % from the originals{range}",
        "figure_told_apart": "Pairs of avatar and original told right",
        "figure_chance": "chance",
        "figure_alt_chance": "Chance gives {naive} %.",
        "figure_points_lost": "points lost without it",
        "figure_alt_ranked": (
            "Dot plot of {count} variables. The most telling is {variable}: {points} points are "
            "lost without it."
        ),
        "figure_alt_model_avatars": "{name}: {success} % from the avatars{range}",
        "figure_alt_model_holdout": "{control} % from the holdout{range}",
        "figure_alt_success": "{name}: {success} % of the people in the data{range}",
        "figure_alt_control": "{control} % of the control{range}",
        "figure_alt_no_control": "no control",
        "figure_alt_range": " ({low} to {high})",
        "strip_copy": "perfect copy",
        "strip_shuffled": "shuffled columns",
        "strip_real": "unseen real rows",
        "strip_letter_copy": "C",
        "strip_letter_shuffled": "S",
        "strip_letter_real": "R",
        "strip_alt_interval": "{low} to {high}",
        "strip_alt_no_target": "target: none",
        "strip_alt_target >=": "target: at least {value}",
        "strip_alt_target >": "target: over {value}",
        "strip_alt_target <=": "target: at most {value}",
        "strip_alt_target <": "target: under {value}",
        "figure_alt_naive": "A naive guess succeeds for {naive} %.",
        "figure_by_luck": "expected without a leak",
        "figure_alt_avatar_share": "{name}: avatars {success} %{range}",
        "figure_alt_holdout_share": "holdout {control} %{range}",
        "figure_alt_alone": "no holdout beside it",
        "figure_alt_by_luck": "Without a leak {naive} % are expected.",
        "figure_nearest_used": "Nearest real person was used",
        "figure_near_copies": "As near as the nearest 5 % of strangers",
        "figure_median_distance": "Median distance, share of the range",
        "figure_between": "Nearest over second nearest, median",
        "figure_between_ratio": "Median ratio, in percent of the strangers’",
        "figure_recognised": "Recognised, mean over all thresholds",
        "figure_recognised_at": "Recognised at {share} % false alarms",
        "figure_rare_recognised": "Rare people recognised, mean over all thresholds",
        "figure_same_row": "Identical to an original",
        "figure_values_return": "Unique values that return, mean",
        "figure_descriptions": "descriptions that fit one person",
        "figure_description_fits": "This person is in the data",
        "figure_alt_descriptions": "{name}: {success} % of the descriptions{range}",
        "figure_alt_frontier": "{privacy} against {utility}.",
        "figure_alt_release": "{letter}: {privacy} and {utility}.",
        "figure_alt_estimate": "{table} {value} ({low} to {high})",
        "figure_alt_term": "{name}: {estimates}.",
        "figure_alt_broken": "{name}: broken by {success} % of the avatars{range}",
        "figure_alt_no_share": "no holdout share is shown",
        "figure_alt_one_pool": "the control is in the same pool",
        "figure_alt_variables": (
            "Dot plot of {count} variables. The lowest score is that of {name}: {score}."
        ),
        "figure_alt_variables_real": (
            "Dot plot of {count} variables. The lowest score is that of {name}: avatars {score}, "
            "unseen real rows {real}."
        ),
        "figure_alt_distributions": "Distributions of {count} variables, in this order: {names}.",
        "figure_missing": "missing: originals {original} %, avatars {avatars} %",
        "figure_not_shown": "too few people in its bins to be shown",
        "figure_other_levels": "other levels",
    }
)
"""Every key that the primitives read."""


def word(words: Mapping[str, str], key: str, **values: object) -> str:
    """Return the words of `key`, filled with `values`; English where `words` lacks the key.

    Parameters
    ----------
    words : mapping of str to str
        The report's words.
    key : str
        One of the keys of `ENGLISH`.
    **values
        Names and written numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures.words import word
    >>> word({}, "figure_target", operator="≥", value="80")
    'target ≥ 80'
    """
    template = words.get(key, ENGLISH[key])
    return template.format(**values) if values else template


def written(value: float, decimals: int, words: Mapping[str, str], *, signed: bool = False) -> str:
    """Return a number with a true minus and the decimal mark of the language.

    Parameters
    ----------
    value : float
        Any finite number.
    decimals : int
        Decimals shown.
    words : mapping of str to str
        The report's words; ``figure_decimal`` and ``figure_thousands`` are the marks. From 10,000
        on the thousands are apart.
    signed : bool
        Whether a plus is shown too; a value that rounds to zero has no sign.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures.words import written
    >>> written(0.05, 2, {}, signed=True), written(-0.001, 2, {})
    ('+0.05', '0.00')
    """
    digits = f"{abs(value):{',' if abs(value) >= FIVE_DIGITS else ''}.{decimals}f}"
    if not digits.strip("0."):
        sign = ""
    elif value < 0:
        sign = MINUS
    else:
        sign = "+" if signed else ""
    return sign + _with_marks(digits, words)


def percentage(share: float, words: Mapping[str, str]) -> str:
    """Return a share from 0 to 1 as a percentage without its sign; a tiny one is no zero.

    Examples
    --------
    >>> from evalkit.figures.words import percentage
    >>> percentage(0.154, {}), percentage(0.0, {}), percentage(0.00009, {})
    ('15.4', '0.0', '<0.1')
    """
    tiny = 0 < share < SMALLEST_SHARE
    return "<" + written(0.1, 1, words) if tiny else written(100 * share, 1, words)


def limit(value: float, words: Mapping[str, str]) -> str:
    """Return a target's value, or a mark of an axis, as short as it was set: 80, not 80.0.

    Examples
    --------
    >>> from evalkit.figures.words import limit
    >>> limit(80.0, {}), limit(1990.0, {}), limit(1_500_000.0, {}), limit(0.09, {})
    ('80', '1990', '1,500,000', '0.09')
    """
    large = FIVE_DIGITS <= abs(value) < LARGEST_WHOLE and float(value).is_integer()
    return _with_marks(f"{value:,.0f}" if large else f"{value:g}", words).replace("-", MINUS)


def _with_marks(text: str, words: Mapping[str, str]) -> str:
    """Return a number written in English with the marks of the language of `words`."""
    thousands, decimal = (word(words, f"figure_{mark}") for mark in ("thousands", "decimal"))
    return text.translate({ord(","): thousands, ord("."): decimal})


def sign_of(operator: str) -> str:
    """Return the sign of a comparison as printed: ``>=`` becomes ≥."""
    return {">=": "≥", "<=": "≤"}.get(operator, operator)
