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
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, NotApplicable, Outcome, Section
from evalkit.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities import NearestSets
    from evalkit.quantities_searching import Places, Search
    from evalkit.quantities_two_searches import Linked
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
ANCHOR_ROWS = 100_000  # originals on which known cases are tried
FLOOR_ROWS = 20_000  # ... and shuffled avatars, among which nearly nobody has an equal row
LARGE = 262_144  # rows from which a table is ordered by all its columns, once for all metrics
PROBED = 512  # originals that show what a search in the avatars costs
# Making avatars ready costs more than the search of a sample in them, and grows with their rows:
# so many rows are made ready in all, up to 200,000 avatars as often as for small tables.
SHUFFLED_ROWS = 5_000_000
SPLIT_ROWS = 20_000_000
CURVE_ROWS = 4_000_000
CURVE_FLOOR_ROWS = 1_000_000
CURVE_POINT_ROWS = 40_000_000


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

    @cached_property
    def linked_share(self) -> float:
        """Expected share of linked records, 0 to 1."""
        # Sums of the same numbers in another order differ in the last digit; fsum does not.
        return math.fsum(self.probability) / len(self.probability)

    @property
    def score(self) -> float:
        """Expected score, 0 to 100."""
        return 100 * (1 - self.linked_share)

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the linked share: Wilson's, wider where the expectation is an estimate."""
        n, share = len(self.probability), self.linked_share
        low, high = intervals.widened(share, intervals.wilson(n * share, n), self.standard_error)
        return max(0.0, low), min(1.0, high)

    @property
    def error_of_score(self) -> float:
        """Standard error of the score as that of a larger table, in points."""
        n = len(self.probability)
        return 100 * math.sqrt(float(self.probability.var()) / n + self.standard_error**2)


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
    from evalkit.quantities import link_probability, shared_pairing
    from evalkit.quantities_two_searches import Linked

    pairing = shared_pairing(release, "original", "avatars")
    persons = release.persons_of("original")
    in_a, in_b = pairing.shared(known_a), pairing.shared(known_b)
    found = link_probability(in_a, in_b)
    linked = Linked(found.probability, in_a.size, in_b.size, found.standard_error)
    return _linkage(linked, persons)


def _linkage(linked: Linked, persons: Persons) -> Linkage:
    """Return the attack on persons from that on their rows."""
    probability = persons.means(linked.probability)
    sizes = persons.means(linked.size_a), persons.means(linked.size_b)
    return Linkage(probability, *sizes, linked.standard_error)


@dataclass(frozen=True)
class _People:
    """Rows that are attacked, by their places among all queries, and whose they are."""

    places: Places
    persons: Persons

    def drawn(
        self, frame: pd.DataFrame, known: Sequence[str], size: int, rng: np.random.Generator
    ) -> _People:
        """Return about `size` rows of whole persons, whatever their order in the file."""
        from evalkit.quantities_order import order_of

        # A large table has one order for all metrics and scenarios: that of all its columns.
        names = list(frame.columns) if len(frame) > LARGE else known
        rows = self.persons.drawn(order_of(frame, names), size, rng)
        return _People(rows + self.places[0], self.persons.part(rows))


@dataclass(frozen=True)
class _Attacker:
    """What every variant of the attack shares: the tables and the ranges of the score."""

    release: Release
    known: tuple[str, ...]  # K
    search: Search  # originals, and the holdout after them, among the avatars
    steps: Steps

    @classmethod
    def of(cls, release: Release, known: tuple[str, ...], steps: Steps) -> _Attacker:
        """Return the attacker who knows `known`."""
        from evalkit.quantities import ranges
        from evalkit.quantities_searching import Search

        together = ranges(release.schema, (release.original, release.avatars), known)
        people = [release.original, *([] if release.holdout is None else [release.holdout])]
        return cls(release, known, Search(release.schema, people, release.avatars, together), steps)

    def people(self, table: Literal["original", "holdout"]) -> _People:
        """Return all rows of a table of real people."""
        n, rows = len(self.release.original), len(getattr(self.release, table))
        start = 0 if table == "original" else n
        return _People(range(start, start + rows), self.release.persons_of(table))

    def sample(
        self, table: Literal["original", "holdout"], size: int, rng: np.random.Generator
    ) -> _People:
        """Return about `size` rows of whole persons of a table of real people."""
        frame = getattr(self.release, table)
        return self.people(table).drawn(frame, self.known, size, rng)

    def attack(self, people: _People, halves: Halves, search: Search | None = None) -> Linkage:
        """Return the attack on people with the given halves of K, on the avatars or others."""
        from evalkit.quantities_two_searches import linked

        self.steps.advance()
        found = linked(search or self.search, *halves, people.places)
        return _linkage(found, people.persons)

    def cost(self, halves: Halves) -> int:
        """Return with how many avatars an original is compared; 1 where that is cheap anyway."""
        from evalkit.quantities_searching import affordable_queries

        n = len(self.release.original)
        targets = max(len(half.target.count) for half in self.search.both_ready(halves))
        if affordable_queries(n, targets) == n:
            return 1
        some = _spread(self.release.original, PROBED)
        return math.ceil(self.search.cost(halves, some))

    def affordable(
        self, table: Literal["original", "holdout"], cost: int, rng: np.random.Generator
    ) -> _People:
        """Return all people of a table, or a sample where their search costs too much."""
        from evalkit.quantities_searching import affordable_queries

        everyone = self.people(table)
        most = affordable_queries(len(everyone.places), cost)
        return everyone if most == len(everyone.places) else self.sample(table, most, rng)


def _spread(frame: pd.DataFrame, count: int) -> NDArray[np.intp]:
    """Return some rows, evenly spread in an order of content."""
    import numpy as np

    from evalkit.quantities_order import order_of

    order = order_of(frame, list(frame.columns))
    return order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(np.intp)]


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    known = tuple(sorted(scenario.known or ()))  # K, by name, before anything is drawn
    if len(known) < 2:  # noqa: PLR2004 - two halves need two variables
        return NotApplicable(_too_few_known(known))
    shuffled = rng.permutation(len(known))
    half = (len(known) + 1) // 2  # K_A takes the extra variable
    known_a = tuple(known[k] for k in shuffled[:half])
    known_b = tuple(known[k] for k in shuffled[half:])
    halves = known_a, known_b
    steps = Steps(_attacks_planned(release, len(known)))
    attacker = _Attacker.of(release, known, steps)
    cost = attacker.cost(halves)
    people = attacker.affordable("original", cost, rng)
    linked = attacker.attack(people, halves)
    n_linked = _draw_ties(linked.probability, rng)
    n = len(linked.probability)
    facts: dict[str, Any] = {
        "n_original": release.persons_of("original").count,
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
    if n < facts["n_original"]:
        facts["n_sampled"] = n
    control = None
    if release.holdout is not None:
        control = attacker.attack(attacker.affordable("holdout", cost, rng), halves)
        if len(control.probability) < release.persons_of("holdout").count:
            facts["control_drawn_from"] = release.persons_of("holdout").count
    facts |= _anchors(attacker, people, halves, rng)
    facts |= _splits(attacker, len(people.places), rng)
    facts |= _control(linked, control, facts["floor_score"])
    facts |= _curve(attacker, rng)
    low, high = linked.interval
    return Outcome(
        score=100 * (1 - n_linked / n),
        interval=(100 * (1 - high), 100 * (1 - low)),
        interval_method="wilson",
        warnings=tuple(_warnings(release, known, facts)),
        facts=facts,
        judged_value=linked.score,
    )


def _affordable(count: int, rows: int, most_rows: int, least: int) -> int:
    """Return how often a table of so many rows is searched in, `count` times where it is small."""
    return min(count, max(least, most_rows // max(1, rows)))


def _attacks_planned(release: Release, n_known: int) -> int:
    """Return the number of attacks behind one result, for the progress."""
    m, control = len(release.avatars), release.holdout is not None
    orders = _affordable(CURVE_ORDERS, m, CURVE_ROWS, 2)
    floors = _affordable(CURVE_SHUFFLES, m, CURVE_FLOOR_ROWS, 1)
    splits = min(count_splits(n_known), _affordable(LARGEST_SPLIT_COUNT, m, SPLIT_ROWS, 4))
    anchors = _affordable(SHUFFLES, m, SHUFFLED_ROWS, 1) + 4 + control
    return anchors + splits + len(_curve_counts(n_known, m)) * (orders + floors)


def _draw_ties(probability: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Return the number of linked records in one draw of all ties.

    Ties are broken independently for each record, so the event j_A(i) = j_B(i) is a Bernoulli
    draw with P(i linked). Sorting first makes the draw the same for any order of the rows.
    """
    import numpy as np

    draws = rng.random(len(probability))
    return int((draws < np.sort(probability)).sum())


def _anchors(
    attacker: _Attacker,
    people: _People,
    halves: Halves,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the scores of known cases and of two variants that a publisher could exploit.

    They are taken on a sample of the originals where these are many.
    """
    from evalkit.quantities import ranges
    from evalkit.quantities_searching import Search

    release, known = attacker.release, attacker.known
    schema, original, avatars = release.schema, release.original, release.avatars
    some, few = people, people
    large = len(original) > ANCHOR_ROWS
    # Never more than search for the score; and on the same people a difference is no chance.
    if large and len(people.places) > ANCHOR_ROWS:
        some = attacker.sample("original", ANCHOR_ROWS, rng)
    if large and len(people.places) > FLOOR_ROWS:
        few = attacker.sample("original", FLOOR_ROWS, rng)
    shuffles = _affordable(SHUFFLES, len(avatars), SHUFFLED_ROWS, 1)
    distinct = attacker.attack(some, halves, _counted_once(attacker))
    attacker.search.forget()  # what follows searches in other tables
    shuffled = [
        attacker.attack(few, halves, attacker.search.shuffled(known, rng)) for _ in range(shuffles)
    ]
    together = ranges(schema, (original, avatars), known)
    itself = attacker.attack(some, halves, Search(schema, [original], original, together))
    inner = ranges(schema, (original,), known)
    within = attacker.attack(some, halves, Search(schema, [original], avatars, inner, capped=True))
    facts: dict[str, Any] = {
        "self_score": itself.score,
        "floor_score": math.fsum(one.score for one in shuffled) / shuffles,
        "distinct_score": distinct.score,
        "original_range_score": within.score,
    }
    if large or shuffles < SHUFFLES:
        errors = [one.error_of_score for one in (*shuffled, itself, distinct, within)]
        facts |= {
            "floor_shuffles": shuffles,
            "anchor_sample": some.persons.count,
            "floor_sample": few.persons.count,
            "anchor_error": max(errors),
        }
    return facts


def _counted_once(attacker: _Attacker) -> Search:
    """Return the search among avatars of which identical ones count once."""
    import numpy as np

    from evalkit.quantities_rows import RowIndex

    avatars = attacker.release.avatars
    index = RowIndex([avatars], attacker.release.schema, attacker.known)
    if index.count == len(avatars):
        return attacker.search
    one_of_each = np.empty(index.count, np.int64)
    one_of_each[index.keys[0]] = np.arange(len(avatars))
    return attacker.search.among(one_of_each)


def _splits(attacker: _Attacker, searching: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the range of the expected score over other ways to cut K in two.

    Never more originals are asked than are `searching` for the score.
    """
    import numpy as np

    known, m = attacker.known, len(attacker.release.avatars)
    total = count_splits(len(known))
    most = _affordable(LARGEST_SPLIT_COUNT, m, SPLIT_ROWS, 4)
    chosen = _chosen_splits(known, total, rng, most)
    sample = attacker.sample("original", min(SPLIT_SAMPLE_ROWS, searching), rng)
    scores = [attacker.attack(sample, halves).score for halves in chosen]
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


def _chosen_splits(
    known: tuple[str, ...], total: int, rng: np.random.Generator, most: int = LARGEST_SPLIT_COUNT
) -> list[Halves]:
    """Return all splits where there are at most 100, otherwise 100 different ones drawn."""
    half = (len(known) + 1) // 2
    if total <= most:
        firsts = {frozenset(first) for first in combinations(known, half)}
        if len(known) % 2 == 0:  # each split appears twice, once from either side
            firsts = {first for first in firsts if known[0] in first}
    else:
        firsts = set()
        while len(firsts) < most:
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
    release, known, m = attacker.release, attacker.known, len(attacker.release.avatars)
    count = _affordable(CURVE_ORDERS, m, CURVE_ROWS, 2)
    orders = [rng.permutation(len(known)) for _ in range(count)]
    sample = attacker.sample("original", CURVE_SAMPLE_ROWS, rng)
    control = None
    if release.holdout is not None:
        control = attacker.sample("holdout", CURVE_SAMPLE_ROWS, rng)
    counts = _curve_counts(len(known), m)
    points: dict[int, _Point] = {known_count: _Point() for known_count in counts}
    floors = _affordable(CURVE_SHUFFLES, m, CURVE_FLOOR_ROWS, 1)
    for order in orders:
        groups = [sample, *([control] if control else [])]
        for known_count, scores in _walk(attacker, order, counts, groups, attacker.search):
            points[known_count].scores.append(scores[0])
            points[known_count].unseen.extend(scores[1:])
    attacker.search.forget()
    for order in orders[:floors]:
        mixed = attacker.search.shuffled(known, rng)
        for known_count, scores in _walk(attacker, order, counts, [sample], mixed):
            points[known_count].floor.extend(scores)
    return {
        "curve": [point.facts(known_count) for known_count, point in points.items()],
        "curve_sample": sample.persons.count,
        "curve_control_sample": control.persons.count if control else 0,
        "curve_orders": count,
    }


@dataclass
class _Point:
    """The scores behind one point of the curve."""

    scores: list[float] = field(default_factory=list)
    unseen: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)

    def facts(self, known: int) -> dict[str, float | None]:
        """Return the mean scores for one number of known variables."""
        import numpy as np

        low, high = np.quantile(self.scores, [0.025, 0.975])
        return {
            "known": known,
            "score": math.fsum(self.scores) / len(self.scores),
            "low": float(low),
            "high": float(high),
            "holdout": math.fsum(self.unseen) / len(self.unseen) if self.unseen else None,
            "floor": math.fsum(self.floor) / len(self.floor),
        }


def _walk(
    attacker: _Attacker,
    order: NDArray[np.intp],
    counts: Sequence[int],
    groups: Sequence[_People],
    search: Search,
) -> Iterator[tuple[int, list[float]]]:
    """Yield the score of each group of people for growing numbers of known variables.

    From one number to the next one half often stays as it is: its sets are found once.
    """
    import numpy as np

    from evalkit.quantities import link_probability

    places = np.concatenate([np.asarray(people.places) for people in groups])
    starts = np.cumsum([0, *(len(people.places) for people in groups)])
    kept: dict[tuple[str, ...], NearestSets] = {}
    for count in counts:
        attacker.steps.advance()
        halves = _halves_of(attacker.known, order, count)
        kept = {half: kept[half] for half in halves if half in kept}
        new = [half for half in halves if half not in kept]
        kept |= dict(zip(new, search.sets(new, places), strict=True))
        chances = link_probability(*(kept[half] for half in halves)).probability
        scores = []
        for people, start, stop in zip(groups, starts, starts[1:], strict=False):
            means = people.persons.means(chances[start:stop])
            scores.append(100 * (1 - math.fsum(means) / len(means)))
        yield count, scores


def _halves_of(known: Sequence[str], order: NDArray[np.intp], count: int) -> Halves:
    """Return the first `count` variables of an order, dealt to two halves in turn."""
    first, second = order[:count:2], order[1:count:2]
    return tuple(known[k] for k in first), tuple(known[k] for k in second)


def _curve_counts(n_known: int, n_avatars: int) -> list[int]:
    """Return up to 12 numbers of known variables, from 2 to all of them; fewer for many avatars."""
    import numpy as np

    most = _affordable(LARGEST_CURVE_POINTS, n_avatars, CURVE_POINT_ROWS, 6)
    points = min(most, n_known - 1)
    return sorted({round(float(count)) for count in np.linspace(2, n_known, points)})


def _control(linked: Linkage, control: Linkage | None, floor_score: float) -> dict[str, Any]:
    """Return the facts of the attack against people who were never in the data."""
    n = len(linked.probability)
    share = linked.linked_share
    facts: dict[str, Any] = {
        "attempts": n,
        "control_attempts": None,
        "success_share": share,
        "success_interval": list(linked.interval),
        "control_share": None,
        "control_interval": None,
        "naive_share": 1 - floor_score / 100,
        "excess": None,
        "excess_interval": None,
        "detectable_excess": None,
        "holdout_score": None,
    }
    if control is None:
        return facts
    size, control_share = len(control.probability), control.linked_share
    error = math.hypot(linked.standard_error, control.standard_error)
    interval = intervals.widened(
        share - control_share,
        intervals.newcombe_difference(n * share, n, size * control_share, size),
        error,
    )
    return facts | {
        "control_attempts": size,
        "control_share": control_share,
        "control_interval": list(control.interval),
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
