r"""Local cloaking: how many avatars are nearer to a person than the one made from that person.

In principal axes, avatar y_i being made from original x_i, with Euclidean distance d:

    c_i = #{j : d(x_i, y_j) < d(x_i, y_i)}        score = median of c_i over all originals

With several rows a person, c_i counts the persons who have an avatar nearer than any of the own,
and the rows of a person count as their mean. Source: published by the vendor of the Avatar method
(Guillaudeux et al., npj Digital Medicine 6:37, 2023). Its median of 24 on the Wisconsin data is
reached if avatars that are as near as the own one count as nearer too; that reading is the fact
`with_ties` and is never judged, because a copy of a coarse table would pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.metric import Basis, Metric, Need, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "local_cloaking"


def median(counts: NDArray[np.int64] | NDArray[np.float64]) -> float:
    """Return the median of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.local_cloaking import median
    >>> median(np.array([7, 0, 2, 3]))
    2.5
    """
    import numpy as np

    return float(np.median(counts))


def compute(release: Release, scenario: Scenario, rng: np.random.Generator) -> Outcome:  # noqa: ARG001 - shared draws have a stream of their own
    """Return the median number of avatars nearer than the own one, with its known cases."""
    from evalkit.quantities_linked import link_doubt, own_ranks

    found = own_ranks(release, scenario.seed)
    cloaking = found.persons.means(found.avatars.nearer)  # c_i
    n = len(cloaking)
    uncovered = math.fsum(found.persons.means(found.avatars.nearer == 0))
    few = found.shuffled_persons
    by_chance = [float(few.means(one.nearer == 0).mean()) for one in found.shuffled]
    facts: dict[str, Any] = {
        "n_original": release.persons_of("original").count,
        "n_avatars": len(release.avatars),
        "n_axes": found.axes,
        "variance_share": found.variance_share,
        "sample": n,
        "with_ties": median(cloaking + found.persons.means(found.avatars.tied - 1)),
        "n_uncovered": round(uncovered),
        "uncovered_share": uncovered / n,
        "uncovered_interval": list(intervals.wilson(uncovered, n)),
        "uncovered_floor_share": math.fsum(by_chance) / len(by_chance),
        "self_score": median(found.persons.means(found.copy.nearer)),
        "floor_score": math.fsum(median(few.means(one.nearer)) for one in found.shuffled)
        / len(by_chance),
        "floor_shuffles": len(by_chance),
        "floor_sample": few.count,
    }
    interval = _interval(cloaking)
    doubt = link_doubt(found)
    return Outcome(
        score=median(cloaking),
        warnings=(doubt,) if doubt else (),
        interval=interval,
        interval_method="order statistics" if interval else None,
        facts=facts,
    )


def _interval(counts: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the 95 % interval of the median, or nothing for fewer than six originals."""
    import numpy as np

    ranks = intervals.median_ranks(len(counts))
    if ranks is None:
        return None
    ordered = np.sort(counts)
    return float(ordered[ranks[0]]), float(ordered[ranks[1]])


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the share of people without any cover beside that of shuffled columns."""
    from evalkit.figures import attack_drawings

    facts = result["facts"]
    shown = {
        "success_share": facts["uncovered_share"],
        "success_interval": facts["uncovered_interval"],
        "naive_share": facts["uncovered_floor_share"],
    }
    return attack_drawings("figure_uncovered", shown, words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.DISTANCES,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.ROW_LINK}),
    by_person=True,
    copy_score=0.0,
    unit="avatars",
)
