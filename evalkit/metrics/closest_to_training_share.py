r"""Closest-to-training share: whose neighbours the avatars are.

For each avatar y_j the nearest records T_j among the people used (WO) and the people never used
(HO) are sought, all ties included. With n_WO and n_HO people:

    share = mean over j of |T_j & WO| / |T_j|
    pi    = n_WO / (n_WO + n_HO)
    score = 100 * min(1, (1 - share) / (1 - pi))

A row that a person repeats is one record. Without a leak both groups are alike, so the share is
pi. Source: the comparison is that of Platzer, M. and Reutterer, T. (2021), Holdout-based empirical
assessment of mixed-type synthetic data, Frontiers in Big Data 4, 679939; pooling both groups
without cutting them to one size is our own choice. The interval is Wilson's, with Kish's effective
number of the people hit: (sum of w)^2 / sum of w^2, w the avatars that fall to each, ties shared.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from evalkit.figures import Drawing
    from evalkit.quantities_closeness import Closeness
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "closest_to_training_share"
FEWEST_HOLDOUT = 10


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the comparison."""
    from evalkit.quantities_closeness import (
        closeness,
        copied,
        find_pool_shares,
        known_case_facts,
        shuffled,
    )

    del rng  # nothing is drawn: ties count by shares
    n_holdout = release.persons_of("reference").count
    if n_holdout < FEWEST_HOLDOUT:
        return NotApplicable(_too_few(n_holdout))
    near = closeness(release, scenario.seed)
    copy, mixed = copied(release, scenario.seed), shuffled(release, scenario.seed)
    find_pool_shares([near, copy, *mixed])
    pool, pi = near.in_pool, near.people.share
    share = working_share(near)
    low, high = intervals.wilson(pool.independent * share, pool.independent)
    floors = [score_of(working_share(one), pi) for one in mixed]
    return Outcome(
        score=score_of(share, pi),
        interval=(score_of(high, pi), score_of(low, pi)),
        interval_method="wilson",
        facts={
            "n_avatars": len(near.avatars),
            "n_working": release.persons_of("working").count,
            "n_holdout": n_holdout,
            "expected_share": pi,
            "n_hit": pool.n_hit,
            "independent_hits": pool.independent,
            "mean_tie_set": float(pool.size.mean()),
            "attempts": near.persons.count,
            "control_attempts": None,
            "success_share": share,
            "success_interval": [low, high],
            "control_share": None,
            "control_interval": None,
            "naive_share": pi,
            "excess": share - pi,
            "excess_interval": [low - pi, high - pi],
            "detectable_excess": intervals.DETECTION_FACTOR
            * math.sqrt(pi * (1 - pi) / pool.independent),
            "self_score": score_of(working_share(copy), pi),
            "floor_score": math.fsum(floors) / len(floors),
            "floor_shuffles": len(floors),
            **known_case_facts(near, mixed, len(copy.asked)),
            **near.sample_facts,
        },
    )


def working_share(near: Closeness) -> float:
    """Return the mean share of the nearest real records that are originals, 0 to 1."""
    # Sums of the same numbers in another order differ in the last digit; fsum does not.
    return math.fsum(near.persons.means(near.in_pool.of_working)) / near.persons.count


def score_of(share: float, pi: float) -> float:
    """Return the score of a share, 0 to 100.

    Examples
    --------
    >>> from evalkit.metrics.closest_to_training_share import score_of
    >>> score_of(0.5, 0.5), round(score_of(0.7, 0.5), 9), score_of(0.4, 0.5)
    (100.0, 60.0, 100.0)
    """
    return 100 * min(1.0, (1 - share) / (1 - pi))


def _too_few(n_holdout: int) -> Any:
    """Return the reason why so small a holdout cannot be set against the originals."""
    return say(
        "holdout_too_small",
        "The holdout has {n_holdout} rows, too few to compare with. Give at least {fewest}.",
        n_holdout=n_holdout,
        fewest=FEWEST_HOLDOUT,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    facts = result["facts"]
    row = {
        "name": "figure_nearest_used",
        "success": facts["success_share"],
        "success_interval": facts["success_interval"],
        "naive": facts["naive_share"],
    }
    return (group_drawing([row], narrow=narrow, words=words, people=False),)


METRIC = Metric(
    slug=SLUG,
    version=2,
    section=Section.PRIVACY,
    criterion="membership",
    basis=Basis.DISTANCES,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.REAL_HOLDOUT}),
    by_person=True,
    copy_score=0.0,
)
