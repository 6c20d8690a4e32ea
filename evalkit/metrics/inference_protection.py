r"""Inference protection: how often the nearest avatar's sensitive value is the person's.

For each record x of the originals WO and of the holdout HO, T(x) is the set of avatars nearest on
the known variables K (the sensitive one left out), by Gower's distance with the ranges of the real
records. The attack copies the sensitive value of one of them, drawn at random:

    P(x right) = #{y in T(x) : value of y is right for x} / #T(x)

    s_WO = mean of P over WO,  s_HO = mean of P over HO
    risk  = (s_WO - s_HO) / (1 - s_HO)
    score = 100 * (1 - max(0, risk))

A level is right if it is the person's; missing is one more level. A number is right within 5 % of
the originals' range from the 5 % to the 95 % quantile. Source: Giomi, M., Boenisch, F., Wehmeyer,
C. and Tasnádi, B. (2023), A unified framework for quantifying privacy risk in synthetic data,
Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.kernels import NearestSets
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities_asked import Asked
    from evalkit.quantities_control import Controlled
    from evalkit.quantities_searching import QueryPiece
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "inference_protection"
TOLERANCE = 0.05
RANGE_QUANTILES = (0.05, 0.95)
FEWEST_WRONG = 10
SHUFFLES = 5
MOST_ANCHORED = 50_000  # of either group, who look among the copy and among shuffled columns
ROUNDING = 1e-9


def tolerance(values: NDArray[np.generic], persons: Persons | None = None) -> float:
    """Return how far a guessed number may lie from the true one and still be right.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The originals' sensitive numbers; NaN is left out.
    persons : Persons, optional
        Of the n rows: each person then counts once.

    Returns
    -------
    float
        5 % of the range from the 5 % to the 95 % quantile; 0 if nothing is filled.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.inference_protection import tolerance
    >>> round(tolerance(np.arange(101)), 6)
    4.5
    """
    import numpy as np

    is_filled = ~np.isnan(values)
    filled = values[is_filled]
    if not filled.size:
        return 0.0
    if persons is None or persons.are_rows:
        low, high = np.quantile(filled, RANGE_QUANTILES)
    else:
        low, high = persons.part(np.flatnonzero(is_filled)).quantiles(filled, RANGE_QUANTILES)
    return TOLERANCE * float(high - low)


@dataclass(frozen=True, eq=False)
class Guesses:
    """Sensitive values that may be guessed, as whole numbers, and which are right for whom.

    Attributes
    ----------
    values : ndarray of float64, shape (k,)
        The different filled values, sorted: numbers, or codes of levels.
    rank : ndarray of int64, shape (m,)
        Of each guess among `values`; k stands for missing.
    reach : float
        How far a guess may lie from the true value; 0 for levels.
    """

    values: NDArray[np.float64]
    rank: NDArray[np.int64]
    reach: float

    @classmethod
    def of(cls, cells: NDArray[np.float64], reach: float) -> Guesses:
        """Return the guesses that sensitive `cells` allow; NaN is missing, shape (m,)."""
        import numpy as np

        values = np.unique(cells[~np.isnan(cells)])
        rank = np.where(np.isnan(cells), len(values), values.searchsorted(cells))
        return cls(values, rank, reach * (1 + ROUNDING))

    def right(self, truth: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and last rank that is right for each true cell, shape (n,) each."""
        import numpy as np

        missing = np.isnan(truth)
        low = self.values.searchsorted(truth - self.reach, "left")
        high = self.values.searchsorted(truth + self.reach, "right") - 1
        last = len(self.values)
        return np.where(missing, last, low), np.where(missing, last, high)

    def naive(self, *, numeric: bool) -> NDArray[np.int64]:
        """Return the ranks of the best guesses that use nothing known about the person.

        The median for a number; for a level the most frequent one, or all of them that tie.
        """
        import numpy as np

        filled = self.rank[self.rank < len(self.values)]
        if numeric and filled.size:
            return np.sort(filled)[[(filled.size - 1) // 2]]
        counts = np.bincount(self.rank)
        return np.flatnonzero(counts == counts.max())


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attacker holds: the known variables, and tables to look them up in."""

    release: Release
    known: tuple[str, ...]  # K, without the sensitive variable
    sensitive: str
    reach: float

    @property
    def people(self) -> tuple[Asked, Asked]:
        """Originals and holdout."""
        from evalkit.quantities_asked import Asked

        return Asked.of(self.release, "working"), Asked.of(self.release, "reference")

    def truth(self, table: pd.DataFrame) -> NDArray[np.float64]:
        """Return the sensitive cells of a table, NaN where missing, shape (rows,)."""
        import numpy as np

        from evalkit.quantities import cells

        found = cells(table, self.release.schema, self.sensitive).astype(np.float64)
        if not self.release.schema[self.sensitive].is_number:
            found[found < 0] = np.nan
        return found

    def against(self, people: tuple[Asked, Asked], avatars: pd.DataFrame) -> Controlled:
        """Return the attack on originals and holdout, who look for the nearest of `avatars`."""
        from evalkit.quantities import ranges
        from evalkit.quantities_control import Controlled
        from evalkit.quantities_searching import Search
        from evalkit.quantities_stacked import moved

        schema, tables = self.release.schema, [one.table for one in people]
        real = self.release.working, self.release.reference
        # Both groups in one search: to make the avatars ready takes as long as to look.
        search = Search(schema, tables, avatars, ranges(schema, real, self.known), capped=True)
        guesses = Guesses.of(self.truth(avatars), self.reach)
        hits, start = [], 0
        for one in people:
            low, high = guesses.right(self.truth(one.table)[one.places])
            found = search.answers(
                self.known,
                right_share,
                places=moved(one.places, start),
                beside={"low": low, "high": high},
                shared=guesses.rank,
            )
            hits.append(math.fsum(one.persons.means(found["right"])))
            start += len(one.table)
        sizes = [one.persons.count for one in people]
        return Controlled(hits[0], sizes[0], hits[1], sizes[1])

    def naive_success(self, avatars: pd.DataFrame) -> float:
        """Return the share of the originals for whom the naive guess is right."""
        guesses, persons = Guesses.of(self.truth(avatars), self.reach), "working"
        low, high = guesses.right(self.truth(self.release.working))
        numeric = self.release.schema[self.sensitive].is_number
        shares = [
            float(self.release.persons_of(persons).means((low <= rank) & (rank <= high)).mean())
            for rank in guesses.naive(numeric=numeric)
        ]
        return math.fsum(shares) / len(shares)


def right_share(sets: NearestSets, piece: QueryPiece) -> dict[str, NDArray[np.float64]]:
    """Return for each person of a piece which share of the nearest avatars has the right value."""
    from evalkit.kernels.answers import answered_share

    low, high = (cast("NDArray[np.int64]", piece.beside[name]) for name in ("low", "high"))
    return {"right": answered_share(sets, piece.shared, low, high)}


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    from evalkit.quantities import cells

    schema, sensitive = release.schema, str(scenario.sensitive)
    known = tuple(name for name in scenario.known or () if name != sensitive)
    if not known:
        return NotApplicable(_nothing_known(sensitive))
    original, avatars = release.working, release.working_avatars
    is_number = schema[sensitive].is_number
    persons = release.persons_of("working")
    reach = tolerance(cells(original, schema, sensitive), persons) if is_number else 0.0
    attack = Attack(release, known, sensitive, reach)
    used, unused = (one.affordable(len(avatars), rng) for one in attack.people)
    found = attack.against((used, unused), avatars)
    facts: dict[str, Any] = {
        "sensitive": sensitive,
        "sensitive_is_number": is_number,
        "known": list(known),
        "n_known": len(known),
        "n_avatars": len(avatars),
        "tolerance_share": TOLERANCE,
        "control_wrong": found.control_failures,
        **found.facts(),
        "naive_share": attack.naive_success(avatars),
    }
    if found.control_failures < FEWEST_WRONG:
        return NotApplicable(_too_few_wrong(sensitive), facts)
    return Outcome(
        score=found.score,
        interval=found.interval,
        interval_method="mover",
        facts=facts | _anchors(attack, (used, unused), rng) | _samples(attack, (used, unused)),
    )


def _samples(attack: Attack, people: tuple[Asked, Asked]) -> dict[str, Any]:
    """Return of how many originals and people of the holdout a sample was taken, if it was."""
    if all(isinstance(one.places, range) for one in people):
        return {}
    used, unused = attack.people
    return {
        "n_working": used.persons.count,
        "n_holdout": unused.persons.count,
        "n_sampled": people[0].persons.count,
    }


def _anchors(
    attack: Attack, searching: tuple[Asked, Asked], rng: np.random.Generator
) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns.

    Never more people are asked than are `searching` for the score.
    """
    from evalkit.quantities_shuffled import shuffled_tables

    release, names = attack.release, {*attack.known, attack.sensitive}
    whole = attack.people
    used, unused = (
        one if len(one.places) <= MOST_ANCHORED else all_of_them.sample(MOST_ANCHORED, rng)
        for one, all_of_them in zip(searching, whole, strict=True)
    )
    people = used, unused
    copied = attack.against(people, release.working)
    floors = [
        attack.against(people, table.frame(names))
        for table in shuffled_tables(release.avatars, release.schema, rng, SHUFFLES)
    ]
    scores = [one.score for one in floors if one.control_failures]
    sampled = any(not isinstance(one.places, range) for one in people)
    return {
        "self_score": copied.score if copied.control_failures else None,
        "floor_score": math.fsum(scores) / len(scores) if scores else None,
        "shuffles": len(floors),
        **({"anchor_sample": sum(one.persons.count for one in people)} if sampled else {}),
    }


def _nothing_known(sensitive: str) -> Message:
    """Return the reason why nothing can be looked up."""
    return say(
        "nothing_known",
        "The attacker must know something beside {sensitive}. Give other columns with --known.",
        sensitive=sensitive,
    )


def _too_few_wrong(sensitive: str) -> Message:
    """Return the reason why a risk cannot be told from chance."""
    return say(
        "too_few_wrong",
        "Fewer than {fewest} people of the holdout are guessed wrongly: {sensitive} is known to "
        "everybody, or the holdout is too small. Give a larger holdout or another --sensitive.",
        fewest=FEWEST_WRONG,
        sensitive=sensitive,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import attack_drawings

    return attack_drawings("figure_inferred", result["facts"], words, narrow)


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
