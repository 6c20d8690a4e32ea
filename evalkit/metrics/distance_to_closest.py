r"""Distance to closest: avatars nearer to originals than strangers are.

a_j is the distance of avatar j to its nearest original, b_l that of holdout record l, both against
the same originals (WO). With q the 5 % quantile of b:

    e     = max(0, (P(a <= q) - P(b <= q)) / (1 - P(b <= q)))
    score = 100 * min(1, median(a) / median(b), 1 - e)

The ratio is left out where median(b) is 0. Each person counts once, however many rows are theirs.
Sources: the distance to the closest record against that of a holdout is that of Platzer, M. and
Reutterer, T. (2021), Holdout-based empirical assessment of mixed-type synthetic data, Frontiers in
Big Data 4, 679939; the near-copy excess e is our own choice, because a median cannot see that a
third of the rows was copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.quantities_closeness import Closeness
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "distance_to_closest"
NEAR_SHARE = 0.05
FEWEST_HOLDOUT = 10
TIE = 1e-9  # distances that differ by no more are equal (metrics.md, rule 4)


@dataclass(frozen=True)
class Comparison:
    """Distances of avatars beside those of strangers.

    Attributes
    ----------
    medians, strangers_medians : tuple of three float
        Median, lower and upper end of its interval.
    near, strangers_near : tuple of float and int
        How many lie within q, and how many there are.
    q : float
        The 5 % quantile of the strangers' distances.
    """

    medians: tuple[float, float, float]
    strangers_medians: tuple[float, float, float]
    near: tuple[float, int]
    strangers_near: tuple[float, int]
    q: float

    @property
    def ratio(self) -> float | None:
        """Median of the avatars over that of the strangers; None where the latter is 0."""
        return self.medians[0] / self.strangers_medians[0] if self.strangers_medians[0] else None

    @property
    def excess(self) -> float:
        """The near-copy excess e before it is cut at 0: -inf to 1."""
        near, strangers = (count / size for count, size in (self.near, self.strangers_near))
        return (near - strangers) / (1 - strangers)

    @property
    def score(self) -> float:
        """The lowest part, 0 to 100."""
        parts = [1.0, 1 - self.excess, *([] if self.ratio is None else [self.ratio])]
        return 100 * min(parts)

    def interval(self) -> tuple[float, float]:
        """Return the lowest of the lower ends and of the upper ends of the parts."""
        ends = [(1.0, 1.0), intervals.complement_ratio(*self.near, *self.strangers_near)]
        if self.ratio is not None:
            value, *own = self.medians
            control, *others = self.strangers_medians
            ends.append(intervals.ratio(value, (own[0], own[1]), control, (others[0], others[1])))
        return 100 * min(low for low, _ in ends), 100 * min(high for _, high in ends)


def compare(
    avatars: NDArray[np.float64],
    strangers: NDArray[np.float64],
    avatar_weights: NDArray[np.float64] | None = None,
    stranger_weights: NDArray[np.float64] | None = None,
) -> Comparison:
    """Return the comparison of two sets of distances.

    Parameters
    ----------
    avatars, strangers : ndarray of float64, shapes (m,) and (n,)
        a and b, at least one of each.
    avatar_weights, stranger_weights : ndarray of float64, optional
        What each of them counts, 1 if nothing else is said.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.distance_to_closest import compare
    >>> compare(np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.4, 0.5])).score
    50.0
    """
    from evalkit.quantities_weighed import Weighed

    made, others = Weighed.of(avatars, avatar_weights), Weighed.of(strangers, stranger_weights)
    q = others.at(math.ceil(NEAR_SHARE * others.size) - 1)
    near, strangers_near = (
        (round(one.share_upto(q + TIE) * one.size, 6), one.size) for one in (made, others)
    )
    return Comparison(made.median, others.median, near, strangers_near, q)


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the comparison."""
    from evalkit.quantities_closeness import (
        closeness,
        copied,
        find_nearest_originals,
        known_case_facts,
        shuffled,
        strangers,
    )

    del rng  # nothing is drawn here
    if release.holdout_kind != "real" and not release.row_link:
        return NotApplicable(_no_reference())
    n_holdout = release.persons_of("reference").count
    if n_holdout < FEWEST_HOLDOUT:
        return NotApplicable(_too_few(n_holdout))
    near = closeness(release, scenario.seed)
    others, mixed = strangers(release, scenario.seed), shuffled(release, scenario.seed)
    find_nearest_originals([near, others, *mixed])
    found = _compared(near, others)
    if found.strangers_near[0] == found.strangers_near[1]:
        return NotApplicable(_no_spread())
    floors = [_compared(one, others).score for one in mixed]
    copy = copied(release, scenario.seed)
    anchors = {
        "self_score": _compared(copy, others).score,
        "floor_score": math.fsum(floors) / len(floors),
        "floor_shuffles": len(floors),
        **known_case_facts(near, mixed, len(copy.asked)),
    }
    return Outcome(
        score=found.score,
        interval=found.interval(),
        interval_method="mover",
        facts=_facts(found, release, scenario.min_count) | anchors | _samples(near, others),
    )


def _compared(near: Closeness, strangers: Closeness) -> Comparison:
    """Return the comparison in which each person counts once."""
    distances = near.to_originals, strangers.to_originals
    return compare(*distances, near.weights, strangers.weights)


def _samples(near: Closeness, others: Closeness) -> dict[str, Any]:
    """Return how many records were sampled, where they were."""
    if not near.sample_facts and not others.sample_facts:
        return {}
    return {
        "n_avatars": len(near.avatars),
        "sample_avatars": len(near.asked),
        "sample_holdout": len(others.asked),
    }


def _facts(found: Comparison, release: Release, min_count: int) -> dict[str, Any]:
    """Return the plain numbers; quantiles only where enough records lie beyond them."""
    from evalkit.quantities_weighed import shown_distance

    (near, m), (strangers, n) = found.near, found.strangers_near
    middle = [shown_distance(end, m // 2, min_count) for end in found.medians]
    others = [shown_distance(end, n // 2, min_count) for end in found.strangers_medians]
    return {
        "n_working": release.persons_of("working").count,
        "n_holdout": release.persons_of("reference").count,
        "median_distance": middle[0],
        "median_interval": None if None in middle else middle[1:],
        "holdout_median_distance": others[0],
        "holdout_median_interval": None if None in others else others[1:],
        "near_distance": shown_distance(found.q, math.ceil(NEAR_SHARE * n), min_count),
        "ratio": found.ratio,
        "ratio_score": None if found.ratio is None else 100 * min(1.0, found.ratio),
        "near_copy_score": 100 * min(1.0, 1 - found.excess),
        "attempts": m,
        "control_attempts": n,
        "success_share": near / m,
        "success_interval": list(intervals.wilson(near, m)),
        "control_share": strangers / n,
        "control_interval": list(intervals.wilson(strangers, n)),
        "naive_share": None,
        "excess": near / m - strangers / n,
        "excess_interval": list(intervals.newcombe_difference(near, m, strangers, n)),
        "detectable_excess": intervals.detectable_excess(strangers / n, m, n),
    }


def _no_reference() -> Message:
    """Return the reason why halves without a row link cannot be compared."""
    return say(
        "no_real_holdout",
        "This needs people who were never anonymised. Give them with --holdout, or declare with "
        "--row-link that avatar i was made from original i.",
        variant="or_row_link",
    )


def _too_few(n_holdout: int) -> Message:
    """Return the reason why so small a holdout cannot be set against the avatars."""
    return say(
        "holdout_too_small",
        "The holdout has {n_holdout} rows, too few to compare with. Give at least {fewest}.",
        n_holdout=n_holdout,
        fewest=FEWEST_HOLDOUT,
    )


def _no_spread() -> Message:
    """Return the reason why equal distances compare nothing."""
    return say(
        "strangers_all_near",
        "All people of the holdout lie equally near to an original, so nothing can lie nearer. "
        "Use columns with more different values.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    facts = result["facts"]
    rows = [
        {
            "name": "figure_near_copies",
            "success": facts["success_share"],
            "success_interval": facts["success_interval"],
            "control": facts["control_share"],
            "control_interval": facts["control_interval"],
        }
    ]
    if facts["median_distance"] is not None and facts["holdout_median_distance"] is not None:
        rows.append(
            {
                "name": "figure_median_distance",
                "success": facts["median_distance"],
                "success_interval": facts["median_interval"],
                "control": facts["holdout_median_distance"],
                "control_interval": facts["holdout_median_interval"],
            }
        )
    return (group_drawing(rows, narrow=narrow, words=words, people=False),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.DISTANCES,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.HOLDOUT}),
    by_person=True,
    copy_score=0.0,
)
