"""What each attack of a scenario shows, once all attacks of the scenario are taken together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from evalkit.report.wording import COMPARED, attack_finding
from evalkit.several_attacks import holm, p_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.records import Result

TOO_WEAK: Final = "too_weak"
CHANCE: Final = "chance"
"""An excess by its own interval that does not stand among the attacks of its scenario."""


class Finding(NamedTuple):
    """What an attack shows.

    Attributes
    ----------
    key : str or None
        As from `attack_finding`, or ``chance``.
    attacks : int
        Attacks of the scenario that were compared with a control.
    """

    key: str | None = None
    attacks: int = 0


def findings_of(results: Mapping[str, Result]) -> dict[str, Finding]:
    """Return what each result of one scenario shows after Holm's correction, by slug.

    Parameters
    ----------
    results : mapping of str to Result
        All results of the scenario.

    Returns
    -------
    dict of str to Finding
    """
    alone = {slug: attack_finding(result) for slug, result in results.items()}
    tested = [slug for slug, key in alone.items() if key in COMPARED]
    chances = [p_value(results[slug].facts) for slug in tested]
    stands = holm([1.0 if one is None else one for one in chances])
    by_chance = {slug for slug, shown in zip(tested, stands, strict=True) if not shown}
    return {
        slug: Finding(CHANCE if key == "excess" and slug in by_chance else key, len(tested))
        for slug, key in alone.items()
    }
