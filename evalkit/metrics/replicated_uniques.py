r"""Replicated uniques: people whom the known variables single out, found among the avatars.

A record is unique if no other person of the pool WO and HO has its values on the known variables
K. With U_WO the unique originals, U_HO the unique records of the holdout:

    s_WO = share of U_WO with an avatar of the same values on K,  s_HO = the same for U_HO
    risk  = (s_WO - s_HO) / (1 - s_HO)
    score = 100 * (1 - max(0, risk))

Missing equals missing. After the replicated uniques of Raab, G. M., Nowok, B. and Dibben, C.
(2024), Practical privacy metrics for synthetic data, arXiv:2406.16826, where an original counts if
it is unique in both tables; the comparison with a holdout is our own choice.
"""

from __future__ import annotations

import math
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
    from evalkit.quantities_control import Controlled
    from evalkit.quantities_shuffled import ShuffledTable
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "replicated_uniques"
FEWEST_UNIQUE = 10
SHUFFLES = 5


class Uniques:
    """The people whom the known variables single out, ready to be looked for among avatars.

    Parameters
    ----------
    release : Release
        With a real holdout.
    known : tuple of str
        At least one.
    """

    def __init__(self, release: Release, known: tuple[str, ...]) -> None:
        import numpy as np

        from evalkit.quantities_rows import RowIndex, holders

        tables = release.working, release.reference
        self._index = RowIndex(tables, release.schema, known, beside=[release.working_avatars])
        persons = release.persons_of("working"), release.persons_of("reference")
        owner = persons[0].followed_by(persons[1]).code
        is_unique = holders(np.concatenate(self._index.keys), owner, self._index.count) == 1
        rows = [np.flatnonzero(is_unique[key]) for key in self._index.keys]
        self._keys = [key[some] for key, some in zip(self._index.keys, rows, strict=True)]
        self._whose = [one.part(some) for one, some in zip(persons, rows, strict=True)]

    def found(self, avatars: pd.DataFrame | ShuffledTable) -> Controlled:
        """Return how many unique originals, and unique people of the holdout, are replicated.

        Parameters
        ----------
        avatars : DataFrame or ShuffledTable
            Any table with the known variables.

        Returns
        -------
        Controlled
            The attempts are the unique people of either group; of a person with several unique
            records the share that is replicated counts.
        """
        return self._among(self._index.find(avatars))

    def copied(self) -> Controlled:
        """Return the same for avatars that are a perfect copy of the originals."""
        return self._among(self._index.keys[0])

    def _among(self, offered: NDArray[np.int64]) -> Controlled:
        """Return who is found among the keys of avatars; -1 is the key of nobody."""
        import numpy as np

        from evalkit.quantities_control import Controlled

        is_offered = np.zeros(self._index.count + 1, np.bool_)  # the last place is read by -1
        is_offered[offered] = True
        hits = [
            math.fsum(whose.means(is_offered[key]))
            for key, whose in zip(self._keys, self._whose, strict=True)
        ]
        return Controlled(hits[0], self._whose[0].count, hits[1], self._whose[1].count)


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    from evalkit.quantities_control import shown_count

    known = tuple(scenario.known or ())
    if not known:
        return NotApplicable(
            say("nothing_known", "Name what is known with --known.", variant="nothing")
        )
    uniques = Uniques(release, known)
    found = uniques.found(release.working_avatars)
    facts: dict[str, Any] = {
        "known": list(known),
        "n_known": len(known),
        "n_original": release.persons_of("working").count,
        "n_holdout": release.persons_of("reference").count,
        "n_avatars": len(release.working_avatars),
        "unique_share": found.attempts / release.persons_of("working").count,
        "control_unique_share": found.control_attempts / release.persons_of("reference").count,
    }
    if found.attempts < FEWEST_UNIQUE or found.control_failures < FEWEST_UNIQUE:
        return NotApplicable(_too_few_unique(), facts)
    return Outcome(
        score=found.score,
        interval=found.interval,
        interval_method="mover",
        facts=facts
        | found.facts()
        | {
            "found": shown_count(math.ceil(found.successes), scenario.min_count),
            "control_found": shown_count(math.ceil(found.control_successes), scenario.min_count),
        }
        | _anchors(release, uniques, rng),
    )


def _anchors(release: Release, uniques: Uniques, rng: np.random.Generator) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns."""
    from evalkit.quantities_shuffled import shuffled_tables

    mixed = shuffled_tables(release.avatars, release.schema, rng, SHUFFLES)
    shuffled = [uniques.found(table) for table in mixed]
    floors = [one.score for one in shuffled if one.control_failures]
    return {
        # Who looks up a record makes no guess; what chance alone finds stands beside it.
        "naive_share": None,
        "shuffled_share": math.fsum(one.share for one in shuffled) / len(shuffled),
        "self_score": uniques.copied().score,
        "floor_score": math.fsum(floors) / len(floors) if floors else None,
        "shuffles": len(shuffled),
    }


def _too_few_unique() -> Message:
    """Return the reason why no share can be told."""
    return say(
        "too_few_unique",
        "Fewer than {fewest} people of a group are unique on the known variables, or all are found "
        "by chance: nobody is singled out by them. Give more columns with --known, or more people.",
        fewest=FEWEST_UNIQUE,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import attack_drawings

    return attack_drawings("figure_replicated", result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.REAL_HOLDOUT}),
    uses_known=True,
    by_person=True,
    copy_score=0.0,
)
