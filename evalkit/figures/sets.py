"""Which drawings belong to which kind of result, from the facts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.attacks import interval_dots
from evalkit.figures.curve import FEWEST_POINTS, Target, curve
from evalkit.figures.heat import MOST_VARIABLES, heat_pair
from evalkit.figures.matrix import matrix_pair
from evalkit.figures.pairs import worst_pairs
from evalkit.figures.words import ENGLISH, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.figures.sheet import Drawing

FEWEST_FOR_A_SQUARE = 3
"""Two variables have one correlation, which the dot plot shows better."""


def linkability_drawings(
    facts: Mapping[str, Any],
    target: Mapping[str, Any] | None,
    words: Mapping[str, str],
    narrow: bool,
) -> tuple[Drawing, ...]:
    """Return the curve over the known variables, or the attack beside its control without one.

    Parameters
    ----------
    facts : mapping
        ``curve``, ``n_known``; ``success_share``, ``control_share``, ``naive_share`` and, where
        they are known, ``success_interval`` and ``control_interval``.
    target : mapping, optional
        ``operator`` and ``value`` in the unit of the score.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twins for telephones are meant.

    Returns
    -------
    tuple of one Drawing

    Examples
    --------
    >>> from evalkit.figures import linkability_drawings
    >>> facts = {"success_share": 0.15, "control_share": None, "naive_share": 0.01}
    >>> linkability_drawings(facts, None, {}, False)[0].name
    'attacks'
    """
    points = facts.get("curve") or []
    if len(points) >= FEWEST_POINTS:
        aim = Target(target["operator"], target["value"]) if target else None
        return (curve(points, total=facts["n_known"], target=aim, narrow=narrow, words=words),)
    return attack_drawings("figure_linked", facts, words, narrow)


def attack_drawings(
    name: str,
    facts: Mapping[str, Any],
    words: Mapping[str, str],
    narrow: bool,
) -> tuple[Drawing, ...]:
    """Return one attack beside its control.

    Parameters
    ----------
    name : str
        Key of the words for what the attack achieves.
    facts : mapping
        ``success_share`` and, where they are known, ``success_interval``, ``control_share``,
        ``control_interval``, ``naive_share``.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twin for telephones is meant.

    Returns
    -------
    tuple of one Drawing

    Examples
    --------
    >>> from evalkit.figures import attack_drawings
    >>> facts = {"success_share": 0.15, "control_share": 0.12}
    >>> attack_drawings("figure_inferred", facts, {}, False)[0].alt
    'Value read off the nearest avatar: 15.0 % of the people in the data, 12.0 % of the control.'
    """
    attack = {
        "name": word(words, name),
        "success": facts["success_share"],
        "success_interval": facts.get("success_interval"),
        "control": facts.get("control_share"),
        "control_interval": facts.get("control_interval"),
        "naive": facts.get("naive_share"),
    }
    return (interval_dots([attack], narrow=narrow, words=words),)


def model_drawings(
    facts: Mapping[str, Any], words: Mapping[str, str], narrow: bool
) -> tuple[Drawing, ...]:
    """Return what a model from the avatars achieves beside one from the holdout.

    Parameters
    ----------
    facts : mapping
        ``skill_avatars``, ``skill_holdout``, ``skill_chance``: shares from 0 to 1.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twin for telephones is meant.

    Returns
    -------
    tuple of one Drawing

    Examples
    --------
    >>> from evalkit.figures import model_drawings
    >>> facts = {"skill_avatars": 0.7, "skill_holdout": 0.6, "skill_chance": 0.5}
    >>> model_drawings(facts, {}, False)[0].alt
    'Value predicted by a model: 70.0 % from the avatars, 60.0 % from the holdout. ...'
    """
    model = {
        "name": word(words, "figure_predicted"),
        "success": facts["skill_avatars"],
        "control": facts["skill_holdout"],
        "naive": facts["skill_chance"] or None,
    }
    keys = {
        "figure_in_data": "figure_model_avatars",
        "figure_not_in_data": "figure_model_holdout",
        "figure_alt_success": "figure_alt_model_avatars",
        "figure_alt_control": "figure_alt_model_holdout",
    }
    own = {key: words.get(model_key, ENGLISH[model_key]) for key, model_key in keys.items()}
    return (interval_dots([model], narrow=narrow, words={**words, **own}),)


def outcome_drawings(
    facts: Mapping[str, Any], words: Mapping[str, str], narrow: bool
) -> tuple[Drawing, ...]:
    """Return what a model from the avatars achieves beside one from the originals.

    Parameters
    ----------
    facts : mapping
        ``skill_avatars`` and ``skill_originals``, from 0 to 1.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twin for telephones is meant.

    Returns
    -------
    tuple of one Drawing

    Examples
    --------
    >>> from evalkit.figures import outcome_drawings
    >>> outcome_drawings({"skill_avatars": 0.5, "skill_originals": 0.6}, {}, False)[0].alt
    'Outcome predicted, chance taken away: 50.0 % from the avatars, 60.0 % from the originals.'
    """
    model = {
        "name": word(words, "figure_outcome_predicted"),
        "success": facts["skill_avatars"],
        "control": facts["skill_originals"],
    }
    keys = {
        "figure_in_data": "figure_model_avatars",
        "figure_not_in_data": "figure_model_originals",
        "figure_alt_success": "figure_alt_model_avatars",
        "figure_alt_control": "figure_alt_model_originals",
    }
    own = {key: word(words, model_key) for key, model_key in keys.items()}
    return (interval_dots([model], narrow=narrow, words={**words, **own}),)


def correlation_drawings(
    facts: Mapping[str, Any],
    words: Mapping[str, str],
    narrow: bool,
) -> tuple[Drawing, ...]:
    """Return levels, differences and worst pairs of correlations.

    Parameters
    ----------
    facts : mapping
        ``matrix_variables``, ``matrix_working``, ``matrix_avatars``, ``matrix_holdout``,
        ``worst_pairs``. A matrix is a square, or its part above the diagonal.
    words : mapping of str to str
        The report's words.
    narrow : bool
        Whether the twins for telephones are meant.

    Returns
    -------
    tuple of Drawing
        The squares from three variables on, or where no pair may be shown; the dot plot where
        there is a pair.

    Examples
    --------
    >>> from evalkit.figures import correlation_drawings
    >>> flat = [[1.0, 0.0], [0.0, 1.0]]
    >>> names = ("matrix_working", "matrix_avatars", "matrix_holdout")
    >>> facts = {"matrix_variables": ["a", "b"], "worst_pairs": [], **dict.fromkeys(names, flat)}
    >>> [drawing.name for drawing in correlation_drawings(facts, {}, False)]
    ['levels', 'changes']
    """
    variables, pairs = facts["matrix_variables"], facts["worst_pairs"]
    drawings: tuple[Drawing, ...] = ()
    if len(variables) >= FEWEST_FOR_A_SQUARE or not pairs:
        working, avatars, holdout = (
            full_square(facts[f"matrix_{table}"], len(variables))
            for table in ("working", "avatars", "holdout")
        )
        draw = heat_pair if len(variables) <= MOST_VARIABLES else matrix_pair
        drawings = draw(variables, (working, avatars, holdout), narrow=narrow, words=words)
    return (*drawings, worst_pairs(pairs, narrow=narrow, words=words)) if pairs else drawings


def full_square(rows: Sequence[Sequence[float | None]], count: int) -> list[list[float | None]]:
    """Return a matrix as a square: row i of a triangle holds what stands right of the diagonal.

    Parameters
    ----------
    rows : sequence of sequence of float or None
        A square of `count` rows, which is returned as it is, or a triangle.
    count : int
        Number of variables.

    Returns
    -------
    list of list of float or None
        Symmetric, 1 on the diagonal of what was a triangle.

    Examples
    --------
    >>> from evalkit.figures.sets import full_square
    >>> full_square([[0.5]], 2)
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if len(rows) == count:
        return [list(row) for row in rows]
    square: list[list[float | None]] = [[1.0] * count for _ in range(count)]
    for i, row in enumerate(rows):
        for j, value in enumerate(row, start=i + 1):
            square[i][j] = square[j][i] = value
    return square
