"""The drawings of relations that are no correlations: how much one variable tells of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.figures.sets import correlation_drawings
from evalkit.figures.words import word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.figures.sheet import Drawing

INFORMATION = {
    "figure_alt_levels": "figure_alt_information",
    "figure_alt_levels_blank": "figure_alt_information_blank",
}
"""Words of the primitive, and those that stand for them."""


def information_drawings(
    facts: Mapping[str, Any], words: Mapping[str, str], narrow: bool
) -> tuple[Drawing, ...]:
    """Return levels, differences and worst pairs of mutual information.

    Parameters
    ----------
    facts : mapping
        As `correlation_drawings` reads them; values from 0 to 1.
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
    >>> from evalkit.figures.relations import information_drawings
    >>> flat = [[1.0, 0.0], [0.0, 1.0]]
    >>> names = ("matrix_working", "matrix_avatars", "matrix_holdout")
    >>> facts = {"matrix_variables": ["a", "b"], "worst_pairs": [], **dict.fromkeys(names, flat)}
    >>> information_drawings(facts, {}, False)[0].alt[:30]
    'Two triangles of normalised mu'
    """
    # The sentences are filled by the primitive, so they are handed on as they are.
    own = {key: word(words, stand_in) for key, stand_in in INFORMATION.items()}
    return correlation_drawings(facts, {**words, **own}, narrow)
