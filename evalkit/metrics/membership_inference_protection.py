r"""Membership inference protection: who was in the data, told by nearness.

Each record x of the pool of people used (WO) and people never used (HO) gets

    t(x) = log(isolation(x)) - log(distance to the nearest avatar)

where the isolation is the distance to the nearest other record of the pool: a person is called
"in" where avatars are nearer than other people are. Distances under half the smallest positive
one in the pool are taken as that half, so that an exact match ranks before any miss. Over all
pairs of one person used and one never used

    AUC   = P(t(used) > t(never used)), ties counting one half
    score = 100 * (1 - max(0, 2 * AUC - 1))

A person with several rows has the mean of t over them, and the others are other persons.
Source: a nearest-neighbour form of the density ratio of van Breugel, B., Sun, H., Qian, Z. and
van der Schaar, M. (2023), Membership inference attacks against synthetic data through overfitting
detection, arXiv 2302.12580.
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
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.quantities_closeness import Closeness
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Groups = tuple[NDArray[np.float64], NDArray[np.float64]]  # people used, people never used

SLUG = "membership_inference_protection"
FEWEST_HOLDOUT = 10
FALSE_ALARMS = ((0.10, 100), (0.01, 1000))  # share, and the holdout that it takes to measure it
DECIMALS = 9  # values that agree so far are ties: rounding must not break them


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    from evalkit.kernels.ranking import area_of_ranks
    from evalkit.quantities_closeness import closeness, copied, known_case_facts, shuffled

    del rng  # nothing is drawn here
    n_holdout = release.persons_of("reference").count
    if n_holdout < FEWEST_HOLDOUT:
        return NotApplicable(_too_few(n_holdout))
    near = closeness(release, scenario.seed)
    used, unused = density_ratios(near)
    area, plain = area_of_ranks(used, unused), area_of_ranks(*_plain(near))
    low, high = intervals.area_under_curve(area, len(used), len(unused))
    mixed = shuffled(release, scenario.seed)
    floors = [score_of(area_of_ranks(*density_ratios(one))) for one in mixed]
    facts: dict[str, Any] = {
        "n_avatars": len(near.avatars),
        "n_working": release.persons_of("working").count,
        "n_holdout": release.persons_of("reference").count,
        "area": area,
        "area_interval": [low, high],
        "plain_area": plain,
        "plain_score": score_of(plain),
        "self_score": score_of(area_of_ranks(*density_ratios(copied(release, scenario.seed)))),
        "floor_score": math.fsum(floors) / len(floors),
        "floor_shuffles": len(floors),
        **known_case_facts(near, mixed),
        **near.attacked_facts,
    }
    return Outcome(
        score=score_of(area),
        interval=(score_of(high), score_of(low)),
        interval_method="newcombe_area",
        facts=facts | _shares(area, (low, high), used, unused),
    )


def density_ratios(near: Closeness) -> Groups:
    """Return t(x) for the people used and for those never used, rounded so that ties are ties."""
    import numpy as np

    isolation, distance = near.people.isolation, near.of_attacked
    positive = isolation[isolation > 0]
    floor = positive.min() / 2 if len(positive) else 1.0
    ratio = np.log(np.maximum(isolation, floor)) - np.log(np.maximum(distance, floor))
    return _apart(near, np.round(ratio, DECIMALS))


def _plain(near: Closeness) -> Groups:
    """Return the plain statistic: the nearer an avatar, the more likely in."""
    import numpy as np

    return _apart(near, -np.round(near.of_attacked, DECIMALS))


def _apart(near: Closeness, values: NDArray[np.float64]) -> Groups:
    """Return the mean over the records of each person, people used and never used apart."""
    import numpy as np

    of_persons = np.round(near.people.attacked[1].means(values), DECIMALS)
    return of_persons[near.people.member], of_persons[~near.people.member]


def score_of(area: float) -> float:
    """Return the score of an area under the ROC curve, 0 to 100.

    Examples
    --------
    >>> from evalkit.metrics.membership_inference_protection import score_of
    >>> score_of(0.5), score_of(0.75), score_of(0.3)
    (100.0, 50.0, 100.0)
    """
    return 100 * (1 - max(0.0, 2 * area - 1))


def _shares(
    area: float,
    ends: tuple[float, float],
    used: NDArray[np.float64],
    unused: NDArray[np.float64],
) -> dict[str, Any]:
    """Return the facts of an attack (metrics.md, section 3.2).

    The mean over the thresholds that each person never used sets: the share of people used who
    are called in is the AUC, that of people never used is one half.
    """
    n, m = len(used), len(unused)
    error = math.sqrt((n + m + 1) / (12 * n * m))  # of the AUC where both groups are alike
    return {
        "attempts": n,
        "control_attempts": m,
        "success_share": area,
        "success_interval": list(ends),
        "control_share": 0.5,
        "control_interval": None,
        "naive_share": None,
        "excess": area - 0.5,
        "excess_interval": [end - 0.5 for end in ends],
        "detectable_excess": intervals.DETECTION_FACTOR * error,
        "at_false_alarms": [
            _at(false_share, used, unused) for false_share, fewest in FALSE_ALARMS if m >= fewest
        ],
    }


def _at(
    false_share: float, used: NDArray[np.float64], unused: NDArray[np.float64]
) -> dict[str, Any]:
    """Return how many people used are called in at one share of false alarms."""
    from evalkit.kernels.ranking import true_share_at

    share = true_share_at(used, unused, false_share)
    return {
        "false_share": false_share,
        "true_share": share,
        "true_interval": list(intervals.wilson(share * len(used), len(used))),
    }


def _too_few(n_holdout: int) -> Message:
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
    rows: list[dict[str, Any]] = [
        {
            "name": "figure_recognised",
            "success": facts["success_share"],
            "success_interval": facts["success_interval"],
            "control": facts["control_share"],
        }
    ]
    rows += [
        {
            "name": "figure_recognised_at",
            "values": {"share": f"{100 * one['false_share']:.0f}"},
            "success": one["true_share"],
            "success_interval": one["true_interval"],
            "control": one["false_share"],
        }
        for one in facts["at_false_alarms"]
    ]
    return (group_drawing(rows, narrow=narrow, words=words, people=True),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="membership",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.REAL_HOLDOUT}),
    by_person=True,
    copy_score=0.0,
)
