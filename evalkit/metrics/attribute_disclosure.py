r"""Attribute disclosure: a sensitive value that all avatars with a person's known values share.

For a record x, A(x) is the set of avatars with its values on the known variables K (at most 6,
declared, the sensitive one left out). It is disclosed if A(x) is not empty, all of A(x) carry one
sensitive value, and that value is the record's own:

    s_WO = share of the originals that are disclosed,  s_HO = the same for the holdout
    risk  = (s_WO - s_HO) / (1 - s_HO)
    score = 100 * (1 - max(0, risk))

Sensitive numbers are taken in 10 quantile bins of the originals; missing is a value like any
other. After DiSCO (disclosive in synthetic, correct in original) of Raab, G. M., Nowok, B. and
Dibben, C. (2024), Practical privacy metrics for synthetic data, arXiv:2406.16826; the comparison
with a holdout is our own choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.quantities import Cells
    from evalkit.quantities_control import Controlled
    from evalkit.quantities_rows import RowIndex
    from evalkit.quantities_shuffled import ShuffledTable
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "attribute_disclosure"
MOST_KNOWN = 6
BINS = 10
FEWEST_SPARED = 10
SHUFFLES = 5


def bin_edges(values: Cells) -> NDArray[np.generic]:
    """Return the inner edges of the quantile bins of the filled `values`.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The originals' sensitive numbers; NaN is left out.

    Returns
    -------
    ndarray
        At most 9, each a value that occurs, so that a change of units moves no record; equal
        edges are one. A number belongs to the first bin whose edge is not below it.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.attribute_disclosure import bin_edges
    >>> bin_edges(np.arange(1, 21)).tolist()
    [2, 4, 6, 8, 10, 12, 14, 16, 18]
    """
    import numpy as np

    ordered = np.sort(values[~np.isnan(values)])
    if not ordered.size:
        return ordered
    # The smallest value with at least k tenths of the values up to it, in whole numbers.
    places = -(-np.arange(1, BINS) * ordered.size // BINS) - 1
    return np.unique(ordered[places])


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attacker holds: the known variables, and how sensitive values are told apart."""

    release: Release
    known: tuple[str, ...]  # K, without the sensitive variable
    sensitive: str

    def values(self, table: pd.DataFrame | ShuffledTable) -> NDArray[np.int64]:
        """Return the sensitive values of a table as whole numbers, 0 for missing, shape (n,)."""
        import numpy as np

        from evalkit.quantities_shuffled import read_columns

        found = dict(read_columns(table, self.release.schema, [self.sensitive]))[self.sensitive]
        if not self.release.schema[self.sensitive].is_number:
            return found.astype(np.int64) + 1
        bins = self._edges.searchsorted(found, "left") + 1
        return np.where(np.isnan(found), 0, bins).astype(np.int64)

    def disclosed(self, avatars: pd.DataFrame | ShuffledTable) -> Controlled:
        """Return how many originals, and how many people of the holdout, `avatars` disclose."""
        return self._disclosed(self._people.find(avatars), self.values(avatars))

    def copied(self) -> Controlled:
        """Return the same for avatars that are a perfect copy of the originals."""
        return self._disclosed(self._people.keys[0], self._values[0])

    def _disclosed(self, offered: NDArray[np.int64], values: NDArray[np.int64]) -> Controlled:
        """Return whom avatars disclose, by the keys of their known values; -1 is no person's."""
        import numpy as np

        from evalkit.quantities_control import Controlled

        # Of each combination of known values the least and the greatest sensitive value.
        least = np.full(self._people.count + 1, np.iinfo(np.int64).max)  # the last one is for -1
        greatest = np.full(self._people.count + 1, -1)
        np.minimum.at(least, offered, values)
        np.maximum.at(greatest, offered, values)
        persons = [self.release.persons_of(table) for table in ("working", "reference")]
        hits = [
            math.fsum(one.means((least[key] == greatest[key]) & (least[key] == own)))
            for key, own, one in zip(self._people.keys, self._values, persons, strict=True)
        ]
        return Controlled(hits[0], persons[0].count, hits[1], persons[1].count)

    @cached_property
    def _people(self) -> RowIndex:
        """The known values of the originals and of the holdout."""
        from evalkit.quantities_rows import RowIndex

        release = self.release
        tables, avatars = (release.working, release.reference), [release.working_avatars]
        return RowIndex(tables, release.schema, self.known, beside=avatars)

    @cached_property
    def _values(self) -> list[NDArray[np.int64]]:
        """The sensitive values of the originals and of the holdout."""
        return [self.values(table) for table in (self.release.working, self.release.reference)]

    @cached_property
    def _edges(self) -> NDArray[np.generic]:
        """The inner edges of the bins of a sensitive number."""
        from evalkit.quantities import cells

        return bin_edges(cells(self.release.working, self.release.schema, self.sensitive))


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    sensitive = str(scenario.sensitive)
    known = tuple(name for name in scenario.known or () if name != sensitive)
    if not scenario.known_declared or not 1 <= len(known) <= MOST_KNOWN:
        return NotApplicable(_undeclared())
    attack = Attack(release, known, sensitive)
    found = attack.disclosed(release.working_avatars)
    facts: dict[str, Any] = {
        "sensitive": sensitive,
        "sensitive_is_number": release.schema[sensitive].is_number,
        "bins": BINS,
        "known": list(known),
        "n_known": len(known),
        "n_avatars": len(release.working_avatars),
        **found.facts(),
    }
    if found.control_failures < FEWEST_SPARED:
        return NotApplicable(_too_few_spared(sensitive), facts)
    return Outcome(
        score=found.score,
        interval=found.interval,
        interval_method="mover",
        facts=facts | _anchors(attack, rng),
    )


def _anchors(attack: Attack, rng: np.random.Generator) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns."""
    from evalkit.quantities_shuffled import shuffled_tables

    release, copied = attack.release, attack.copied()
    mixed = shuffled_tables(release.avatars, release.schema, rng, SHUFFLES)
    shuffled = [attack.disclosed(table) for table in mixed]
    floors = [one.score for one in shuffled if one.control_failures]
    return {
        "naive_share": math.fsum(one.share for one in shuffled) / len(shuffled),
        "self_score": copied.score if copied.control_failures else None,
        "floor_score": math.fsum(floors) / len(floors) if floors else None,
        "shuffles": len(shuffled),
    }


def _undeclared() -> Message:
    """Return what must be declared before exact matches mean anything."""
    return say(
        "known_undeclared",
        "This looks for avatars with exactly a person's known values. Name one to {most} columns "
        "that an attacker would know with --known, beside the sensitive one.",
        most=MOST_KNOWN,
    )


def _too_few_spared(sensitive: str) -> Message:
    """Return the reason why a risk cannot be told from chance."""
    return say(
        "too_few_spared",
        "Fewer than {fewest} people of the holdout are not disclosed: {sensitive} follows from the "
        "known variables for everybody, or the holdout is too small. Give a larger holdout, or "
        "other columns with --known.",
        fewest=FEWEST_SPARED,
        sensitive=sensitive,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import attack_drawings

    return attack_drawings("figure_disclosed", result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="inference",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.REAL_HOLDOUT, Need.SENSITIVE}),
    uses_known=True,
    by_person=True,
    copy_score=0.0,
)
