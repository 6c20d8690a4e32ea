r"""Linkability Protection Rate: two files on one person, joined through the avatars.

The known variables K are shuffled and cut in two halves, K_A with the extra variable. Each
original x_i looks for its nearest avatar on each half, ties broken uniformly at random:

    j_A(i) = argmin_j G_{K_A}(x_i, y_j)        j_B(i) = argmin_j G_{K_B}(x_i, y_j)

    score = 100 * (1 - #{i : j_A(i) = j_B(i)} / n)

with Gower's distance G and numeric ranges over originals and avatars together. Source: founding
document "Linkability Protection Rate". The average over ties is exact: with the tie sets T_A and
T_B, record i is linked with probability |T_A & T_B| / (|T_A| * |T_B|). Where a person has
several rows, n counts persons: the attacker holds one of a person's rows, any as likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, NotApplicable, Outcome, Section
from evalkit.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities import NearestSets, Pairing, Ranges
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Halves = tuple[tuple[str, ...], tuple[str, ...]]

SLUG = "linkability_protection_rate"
SHUFFLES = 20
LARGEST_SPLIT_COUNT = 100
SPLIT_SAMPLE_ROWS = 10_000
COARSE_SELF_SCORE = 90.0
NOTABLE_POINTS = 2.0
CURVE_ORDERS = 20
CURVE_SHUFFLES = 5
CURVE_SAMPLE_ROWS = 500
LARGEST_CURVE_POINTS = 12


@dataclass(frozen=True)
class Linkage:
    """One attack: who is linked with which probability, and how large the tie sets are.

    Attributes
    ----------
    probability : ndarray of float64, shape (n,)
        P(i linked) over independent tie-breaking in both halves; of a person with several rows
        their mean.
    size_a, size_b : ndarray of float64, shape (n,)
        Sizes of the tie sets T_A(i) and T_B(i), likewise.
    standard_error : float
        Of the mean probability; 0 where the expectation is exact.
    """

    probability: NDArray[np.float64]
    size_a: NDArray[np.float64]
    size_b: NDArray[np.float64]
    standard_error: float = 0.0

    @property
    def linked_share(self) -> float:
        """Expected share of linked records, 0 to 1."""
        # Sums of the same numbers in another order differ in the last digit; fsum does not.
        return math.fsum(self.probability) / len(self.probability)

    @property
    def score(self) -> float:
        """Expected score, 0 to 100."""
        return 100 * (1 - self.linked_share)


def linkability(release: Release, known_a: Sequence[str], known_b: Sequence[str]) -> Linkage:
    """Return the attack on the originals for two given halves of the known variables.

    Parameters
    ----------
    release : Release
        Originals and avatars, all rows.
    known_a, known_b : sequence of str
        The halves K_A and K_B, each with at least one used column.

    Returns
    -------
    Linkage

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.metrics.linkability_protection_rate import linkability
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> linkability(evalkit.load(table, table), ["age"], ["size"]).score
    0.0
    """
    from evalkit.quantities import shared_pairing

    pairing = shared_pairing(release, "original", "avatars")
    persons = release.persons_of("original")
    return _linkage(pairing.shared(known_a), pairing.shared(known_b), persons)


def _linkage(in_a: NearestSets, in_b: NearestSets, persons: Persons) -> Linkage:
    """Return the attack on persons from the tie sets of their rows in both halves."""
    from evalkit.quantities import link_probability

    linked = link_probability(in_a, in_b)
    probability = persons.means(linked.probability)
    sizes = persons.means(in_a.size), persons.means(in_b.size)
    return Linkage(probability, *sizes, linked.standard_error)


@dataclass(frozen=True)
class _People:
    """Rows that are attacked, and whose they are."""

    rows: pd.DataFrame
    persons: Persons

    @classmethod
    def of(cls, release: Release, table: Literal["original", "holdout"]) -> _People:
        """Return all rows of a table of real people."""
        return cls(getattr(release, table), release.persons_of(table))


@dataclass(frozen=True)
class _Meeting:
    """People beside the rows that they look for."""

    pairing: Pairing
    persons: Persons


@dataclass(frozen=True)
class _Attacker:
    """What every variant of the attack shares: the tables and the ranges of the score."""

    release: Release
    known: tuple[str, ...]  # K
    together: Ranges  # over originals and avatars
    steps: Steps

    def meets(
        self,
        people: _People,
        targets: pd.DataFrame,
        column_ranges: Ranges | None = None,
        *,
        capped: bool = False,
    ) -> _Meeting:
        """Return the tables in which `people` look for their nearest `targets`."""
        from evalkit.quantities import Pairing

        scale = self.together if column_ranges is None else column_ranges
        pairing = Pairing(self.release.schema, people.rows, targets, scale, capped=capped)
        return _Meeting(pairing, people.persons)

    def sample(self, people: _People, size: int, rng: np.random.Generator) -> _People:
        """Return about `size` rows of whole persons, whatever their order in the file."""
        from evalkit.quantities import in_content_order

        order = in_content_order(people.rows, self.release.schema, self.known)
        rows = people.persons.drawn(order, size, rng)
        return _People(people.rows.iloc[rows], people.persons.part(rows))

    def attack(self, meeting: _Meeting, halves: Halves) -> Linkage:
        """Return the attack on the people of `meeting` with the given halves of K."""
        self.steps.advance()
        in_a, in_b = (meeting.pairing.nearest(half) for half in halves)
        return _linkage(in_a, in_b, meeting.persons)


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    from evalkit.quantities import ranges

    known = tuple(sorted(scenario.known or ()))  # K, by name, before anything is drawn
    if len(known) < 2:  # noqa: PLR2004 - two halves need two variables
        return NotApplicable(_too_few_known(known))
    shuffled = rng.permutation(len(known))
    half = (len(known) + 1) // 2  # K_A takes the extra variable
    known_a = tuple(known[k] for k in shuffled[:half])
    known_b = tuple(known[k] for k in shuffled[half:])
    linked = linkability(release, known_a, known_b)
    n_linked = _draw_ties(linked.probability, rng)
    n = len(linked.probability)
    together = ranges(release.schema, (release.original, release.avatars), known)
    steps = Steps(_attacks_planned(len(known), control=release.holdout is not None))
    attacker, halves = _Attacker(release, known, together, steps), (known_a, known_b)
    facts: dict[str, Any] = {
        "n_original": n,
        "n_avatars": len(release.avatars),
        "n_known": len(known),
        "n_linked": n_linked,
        "known_a": list(known_a),
        "known_b": list(known_b),
        "expected_score": linked.score,
        "expectation_standard_error": 100 * linked.standard_error,
        "mean_tie_set_a": float(linked.size_a.mean()),
        "mean_tie_set_b": float(linked.size_b.mean()),
        # A link is certain where both tie sets are the same single avatar.
        "certain_links": int((linked.probability == 1.0).sum()),
        "possible_links": int((linked.probability > 0.0).sum()),
    }
    facts |= _anchors(attacker, halves, rng)
    facts |= _splits(attacker, rng)
    facts |= _control(attacker, halves, linked, facts["floor_score"])
    facts |= _curve(attacker, rng)
    facts["curve_orders"] = CURVE_ORDERS
    low, high = intervals.wilson(n * linked.linked_share, n)
    return Outcome(
        score=100 * (1 - n_linked / n),
        interval=(100 * (1 - high), 100 * (1 - low)),
        interval_method="wilson",
        warnings=tuple(_warnings(release, known, facts)),
        facts=facts,
        judged_value=linked.score,
    )


def _attacks_planned(n_known: int, *, control: bool) -> int:
    """Return the number of attacks behind one result, for the progress."""
    curve = CURVE_SHUFFLES + CURVE_ORDERS * (1 + control)
    splits = min(count_splits(n_known), LARGEST_SPLIT_COUNT)
    anchors = SHUFFLES + 3 + control
    return anchors + splits + len(_curve_counts(n_known)) * curve


def _draw_ties(probability: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Return the number of linked records in one draw of all ties.

    Ties are broken independently for each record, so the event j_A(i) = j_B(i) is a Bernoulli
    draw with P(i linked). Sorting first makes the draw the same for any order of the rows.
    """
    import numpy as np

    draws = rng.random(len(probability))
    return int((draws < np.sort(probability)).sum())


def _anchors(attacker: _Attacker, halves: Halves, rng: np.random.Generator) -> dict[str, float]:
    """Return the scores of known cases and of two variants that a publisher could exploit."""
    from evalkit.quantities import ranges

    release, known = attacker.release, attacker.known
    original, avatars = _People.of(release, "original"), release.avatars
    originals_only = ranges(release.schema, (release.original,), known)
    distinct = avatars.drop_duplicates(subset=list(known))
    shuffled = [
        attacker.attack(
            attacker.meets(original, _shuffled_columns(release, known, rng)), halves
        ).score
        for _ in range(SHUFFLES)
    ]
    within = attacker.meets(original, avatars, originals_only, capped=True)
    return {
        "self_score": attacker.attack(attacker.meets(original, release.original), halves).score,
        "floor_score": math.fsum(shuffled) / SHUFFLES,
        "distinct_score": attacker.attack(attacker.meets(original, distinct), halves).score,
        "original_range_score": attacker.attack(within, halves).score,
    }


def _shuffled_columns(
    release: Release, known: Sequence[str], rng: np.random.Generator
) -> pd.DataFrame:
    """Return the avatars with each column put in an order of its own."""
    import pandas as pd

    columns = {}
    for name in known:
        # Sorted first: the result must not depend on the order of the rows in the file.
        ordered = release.avatars[name].sort_values(kind="stable").reset_index(drop=True)
        columns[name] = ordered.iloc[rng.permutation(len(ordered))].reset_index(drop=True)
    return pd.DataFrame(columns)


def _splits(attacker: _Attacker, rng: np.random.Generator) -> dict[str, Any]:
    """Return the range of the expected score over other ways to cut K in two."""
    import numpy as np

    release, known = attacker.release, attacker.known
    total = count_splits(len(known))
    chosen = _chosen_splits(known, total, rng)
    sample = attacker.sample(_People.of(release, "original"), SPLIT_SAMPLE_ROWS, rng)
    meeting = attacker.meets(sample, release.avatars)
    scores = [attacker.attack(meeting, halves).score for halves in chosen]
    low, high = np.quantile(scores, [0.025, 0.975])
    return {
        "split_low": float(low),
        "split_high": float(high),
        "split_worst": min(scores),
        "split_count": len(scores),
        "split_total": total,
        "split_sample": sample.persons.count,
    }


def count_splits(n_known: int) -> int:
    """Return the number of unordered splits of `n_known` variables in two halves.

    Examples
    --------
    >>> from evalkit.metrics.linkability_protection_rate import count_splits
    >>> count_splits(4), count_splits(5)
    (3, 10)
    """
    ways = math.comb(n_known, n_known // 2)
    return ways if n_known % 2 else ways // 2


def _chosen_splits(known: tuple[str, ...], total: int, rng: np.random.Generator) -> list[Halves]:
    """Return all splits where there are at most 100, otherwise 100 different ones drawn."""
    half = (len(known) + 1) // 2
    if total <= LARGEST_SPLIT_COUNT:
        firsts = {frozenset(first) for first in combinations(known, half)}
        if len(known) % 2 == 0:  # each split appears twice, once from either side
            firsts = {first for first in firsts if known[0] in first}
    else:
        firsts = set()
        while len(firsts) < LARGEST_SPLIT_COUNT:
            drawn = rng.permutation(len(known))
            side = drawn[:half] if len(known) % 2 or 0 in drawn[:half] else drawn[half:]
            firsts.add(frozenset(known[k] for k in side))
    ordered = sorted(tuple(sorted(first)) for first in firsts)
    return [(first, tuple(n for n in known if n not in first)) for first in ordered]


def _curve(attacker: _Attacker, rng: np.random.Generator) -> dict[str, Any]:
    """Return the expected score against the number of known variables.

    Variables are added in 20 random orders, those of an order going to the two halves in turn.
    Each point is the mean over the orders, with the middle 95 % of them as its band.
    """
    release, known = attacker.release, attacker.known
    orders = [rng.permutation(len(known)) for _ in range(CURVE_ORDERS)]
    sample = attacker.sample(_People.of(release, "original"), CURVE_SAMPLE_ROWS, rng)
    avatars = attacker.meets(sample, release.avatars)
    control = None
    if release.holdout is not None:
        people = attacker.sample(_People.of(release, "holdout"), CURVE_SAMPLE_ROWS, rng)
        control = attacker.meets(people, release.avatars)
    shuffled = [
        attacker.meets(sample, _shuffled_columns(release, known, rng))
        for _ in range(CURVE_SHUFFLES)
    ]
    points = [
        _curve_point(attacker, count, _halves_of(known, orders, count), avatars, control, shuffled)
        for count in _curve_counts(len(known))
    ]
    return {
        "curve": points,
        "curve_sample": sample.persons.count,
        "curve_control_sample": control.persons.count if control else 0,
    }


def _curve_point(  # noqa: PLR0913, PLR0917 - the tables of one point
    attacker: _Attacker,
    count: int,
    halves: list[Halves],
    avatars: _Meeting,
    control: _Meeting | None,
    shuffled: Sequence[_Meeting],
) -> dict[str, float | None]:
    """Return the mean scores for one number of known variables."""
    import numpy as np

    scores = [attacker.attack(avatars, each).score for each in halves]
    unseen = [attacker.attack(control, each).score for each in halves] if control else []
    floor = [
        attacker.attack(mixed, each).score for mixed, each in zip(shuffled, halves, strict=False)
    ]
    low, high = np.quantile(scores, [0.025, 0.975])
    return {
        "known": count,
        "score": math.fsum(scores) / len(scores),
        "low": float(low),
        "high": float(high),
        "holdout": math.fsum(unseen) / len(unseen) if unseen else None,
        "floor": math.fsum(floor) / len(floor),
    }


def _halves_of(
    known: Sequence[str], orders: Sequence[NDArray[np.intp]], count: int
) -> list[Halves]:
    """Return the first `count` variables of each order, dealt to two halves in turn."""
    return [
        (
            tuple(known[k] for k in order[:count:2]),
            tuple(known[k] for k in order[1:count:2]),
        )
        for order in orders
    ]


def _curve_counts(n_known: int) -> list[int]:
    """Return up to 12 numbers of known variables, from 2 to all of them."""
    import numpy as np

    points = min(LARGEST_CURVE_POINTS, n_known - 1)
    return sorted({round(float(count)) for count in np.linspace(2, n_known, points)})


def _control(
    attacker: _Attacker, halves: Halves, linked: Linkage, floor_score: float
) -> dict[str, Any]:
    """Return the facts of the attack against people who were never in the data."""
    n = len(linked.probability)
    share = linked.linked_share
    facts: dict[str, Any] = {
        "attempts": n,
        "control_attempts": None,
        "success_share": share,
        "success_interval": list(intervals.wilson(n * share, n)),
        "control_share": None,
        "control_interval": None,
        "naive_share": 1 - floor_score / 100,
        "excess": None,
        "excess_interval": None,
        "detectable_excess": None,
        "holdout_score": None,
    }
    if attacker.release.holdout is None:
        return facts
    people = _People.of(attacker.release, "holdout")
    control = attacker.attack(attacker.meets(people, attacker.release.avatars), halves)
    size, control_share = people.persons.count, control.linked_share
    interval = intervals.newcombe_difference(n * share, n, size * control_share, size)
    return facts | {
        "control_attempts": size,
        "control_share": control_share,
        "control_interval": list(intervals.wilson(size * control_share, size)),
        "excess": share - control_share,
        "excess_interval": list(interval),
        "detectable_excess": intervals.detectable_excess(control_share, n, size),
        "holdout_score": control.score,
    }


def _warnings(release: Release, known: tuple[str, ...], facts: Mapping[str, Any]) -> list[Message]:
    """Return what the reader must know beside the score."""
    from evalkit.quantities import ranges

    found = []
    expected = facts["expected_score"]
    if facts["self_score"] > COARSE_SELF_SCORE:
        found.append(
            say(
                "known_too_coarse",
                "A perfect copy of the originals would score {self_score:.1f}: the known "
                "variables are too coarse for this score to say much.",
                self_score=facts["self_score"],
            )
        )
    if abs(facts["distinct_score"] - expected) > NOTABLE_POINTS:
        found.append(
            say(
                "repeated_avatars",
                "With identical avatars counted once the score is {distinct_score:.1f} instead "
                "of {expected_score:.1f}: repeated rows move it.",
                distinct_score=facts["distinct_score"],
                expected_score=expected,
            )
        )
    if abs(facts["original_range_score"] - expected) > NOTABLE_POINTS:
        inner = ranges(release.schema, (release.original,), known)
        outer = ranges(release.schema, (release.original, release.avatars), known)
        found.append(
            say(
                "stretched_ranges",
                "With ranges over the originals alone the score is {original_range_score:.1f} "
                "instead of {expected_score:.1f}: avatars stretch the range of {variables}.",
                original_range_score=facts["original_range_score"],
                expected_score=expected,
                variables=[name for name in inner if inner[name] != outer[name]],
            )
        )
    return found


def _too_few_known(known: tuple[str, ...]) -> Message:
    """Return the reason why one known variable cannot be cut in two."""
    return say(
        "too_few_known",
        "Linkability cuts the known variables in two, and there is only {n_known}. "
        "Give at least two with --known.",
        n_known=len(known),
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figures of the report from the plain result."""
    from evalkit.figures import linkability_drawings

    return linkability_drawings(result["facts"], result["target"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="linkability",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    uses_known=True,
    by_person=True,
    copy_score=0.0,
)
