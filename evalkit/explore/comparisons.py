"""Releases side by side, from their assessments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from evalkit.errors import InputError
from evalkit.explore.tables import made_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.comparing import Comparison
    from evalkit.records import Assessment

SLUGS: Final = ("linkability_protection_rate", "hellinger", "correlation_difference_ratio")


def comparison(
    assessments: Sequence[str] = (), *, output: str = "", language: str = "en"
) -> Comparison:
    """Return assessments side by side; without any, two made from the embedded tables.

    Parameters
    ----------
    assessments : sequence of str
        Paths of two or more files ``assessment.json``; the first is the one to beat.
    output : str
        Folder for ``comparison.html``, ``.pdf`` and ``.json``; empty: nothing is written.
    language : str
        Language of these files.

    Returns
    -------
    Comparison

    Raises
    ------
    evalkit.InputError
        As `evalkit.compare`.

    Examples
    --------
    >>> from evalkit import explore
    >>> explore.comparison("assessment.json")
    Traceback (most recent call last):
    evalkit.errors.InputError: assessments: give a list of two or more paths.
    """
    from evalkit.comparing import compare

    if isinstance(assessments, str):
        raise InputError("assessments: give a list of two or more paths.")
    found = compare(list(assessments) or _embedded())
    if output:
        found.save(Path(output), language)
    return found


def _embedded() -> list[Assessment]:
    """Return assessments of the embedded avatars, as they are and half of the rows mixed."""
    import evalkit
    from evalkit import demo

    paths, sets = demo.paths(), made_sets()
    return [
        evalkit.assess(
            evalkit.load(paths.original, sets[name], paths.holdout), metrics=SLUGS, title=name
        )
        for name in ("as embedded", "half mixed")
    ]
