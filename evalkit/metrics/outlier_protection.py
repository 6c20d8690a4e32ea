r"""Outlier protection: rare people recognised by nearness.

The isolation of a record is its distance to the nearest other one in the pool of people used (WO)
and people never used (HO). Among the tenth of the pool that is most isolated, d(x) is the distance
to the nearest avatar, and over all pairs of one person used and one never used

    AUC   = P(d(used) < d(never used)), ties counting one half
    score = 100 * (1 - max(0, 2 * AUC - 1))

A person with several rows is taken at the most isolated of them, and the others are other persons.
Source: that distances to the closest neighbours find the people at risk is shown by Meeus, M.,
Guepin, F., Cretu, A.-M. and de Montjoye, Y.-A. (2023), Achilles' heels: vulnerable record
identification in synthetic data publishing, arXiv 2306.10308; the score is our own choice.
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

SLUG = "outlier_protection"
ISOLATED_SHARE = 0.10
FEWEST_OUTLIERS = 20
DECIMALS = 9  # distances that agree so far are ties (metrics.md, rule 4)


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the attack."""
    from evalkit.quantities_closeness import closeness, copied, known_case_facts, shuffled

    del rng  # nothing is drawn here
    near = closeness(release, scenario.seed)
    member = near.people.member
    rare = outliers(near.people.attacked[1].largest(near.people.isolation))
    n, m = int((rare & member).sum()), int((rare & ~member).sum())
    if min(n, m) < FEWEST_OUTLIERS:
        return NotApplicable(_too_few(n, m), {"n_outliers": n, "n_holdout_outliers": m})
    area = _area(near, rare)
    low, high = intervals.area_under_curve(area, n, m)
    mixed = shuffled(release, scenario.seed)
    floors = [score_of(_area(one, rare)) for one in mixed]
    error = math.sqrt((n + m + 1) / (12 * n * m))  # of the AUC where both groups are alike
    return Outcome(
        score=score_of(area),
        interval=(score_of(high), score_of(low)),
        interval_method="newcombe_area",
        facts={
            "n_avatars": len(near.avatars),
            "n_working": release.persons_of("working").count,
            "n_holdout": release.persons_of("reference").count,
            "n_outliers": n,
            "n_holdout_outliers": m,
            "isolated_share": float(rare.mean()),
            "area": area,
            "area_interval": [low, high],
            "attempts": n,
            "control_attempts": m,
            "success_share": area,
            "success_interval": [low, high],
            "control_share": 0.5,
            "control_interval": None,
            "naive_share": None,
            "excess": area - 0.5,
            "excess_interval": [low - 0.5, high - 0.5],
            "detectable_excess": intervals.DETECTION_FACTOR * error,
            "self_score": score_of(_area(copied(release, scenario.seed), rare)),
            "floor_score": math.fsum(floors) / len(floors),
            "floor_shuffles": len(floors),
            **known_case_facts(near, mixed),
            **near.attacked_facts,
        },
    )


def outliers(isolation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which records are the most isolated tenth; those tied at its border are all in.

    Records that are repeated are never among them.

    Parameters
    ----------
    isolation : ndarray of float64, shape (n,)
        0 or more.

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.outlier_protection import outliers
    >>> outliers(np.arange(20.0)).sum()
    np.int64(2)
    """
    import numpy as np

    rounded = np.round(isolation, DECIMALS)
    border = np.sort(rounded)[-math.ceil(ISOLATED_SHARE * len(rounded))]
    return np.asarray((rounded >= border) & (rounded > 0))


def _area(near: Closeness, rare: NDArray[np.bool_]) -> float:
    """Return how often a rare person used lies nearer to an avatar than one never used."""
    import numpy as np

    from evalkit.kernels.ranking import area_of_ranks

    persons, member = near.people.attacked[1], near.people.member
    isolation = np.round(near.people.isolation, DECIMALS)
    rows = np.flatnonzero(isolation >= persons.largest(isolation)[persons.code])
    closeness = persons.part(rows).means(-np.round(near.of_attacked[rows], DECIMALS))
    return area_of_ranks(closeness[rare & member], closeness[rare & ~member])


def score_of(area: float) -> float:
    """Return the score of an area under the ROC curve, 0 to 100.

    Examples
    --------
    >>> from evalkit.metrics.outlier_protection import score_of
    >>> score_of(0.5), score_of(0.75), score_of(0.3)
    (100.0, 50.0, 100.0)
    """
    return 100 * (1 - max(0.0, 2 * area - 1))


def _too_few(n_outliers: int, n_holdout_outliers: int) -> Message:
    """Return the reason why so few rare people cannot be compared."""
    return say(
        "too_few_outliers",
        "Of the most isolated tenth of the people {n_outliers} were used and "
        "{n_holdout_outliers} were not; at least {fewest} of each are needed. Give a larger "
        "holdout.",
        n_outliers=n_outliers,
        n_holdout_outliers=n_holdout_outliers,
        fewest=FEWEST_OUTLIERS,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    facts = result["facts"]
    row = {
        "name": "figure_rare_recognised",
        "success": facts["success_share"],
        "success_interval": facts["success_interval"],
        "control": facts["control_share"],
    }
    return (group_drawing([row], narrow=narrow, words=words, people=True),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.REAL_HOLDOUT}),
    by_person=True,
    copy_score=0.0,
)
