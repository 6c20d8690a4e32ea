r"""Hidden rate: how often the avatar nearest to a person is not the one made from that person.

In principal axes, avatar y_i being made from original x_i, and T(i) the set of avatars nearest
to x_i by Euclidean distance:

    score = 100 * (1 - 1/n * sum_i 1[y_i in T(i)] / |T(i)|)

With several rows a person, hits are averaged over them and any avatar made from one is the own. A
hit among several equally near avatars counts as the attacker's chance to pick the own one. Source:
published by the vendor of the Avatar method (Guillaudeux et al., npj Digital Medicine 6:37, 2023),
where the distance is taken in the axes of a factor analysis.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.kernels import OwnRank
    from evalkit.messages import Message
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "hidden_rate"
LITTLE_VARIANCE = 0.5
NOTABLE_POINTS = 5.0


def hits(rank: OwnRank) -> NDArray[np.float64]:
    """Return 1[y_i in T(i)] / |T(i)| of each original, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import own_rank
    >>> from evalkit.metrics.hidden_rate import hits
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> hits(own_rank(line, line[[0, 0, 1]])).tolist()
    [0.5, 0.0, 1.0]
    """
    import numpy as np

    return np.asarray(np.where(rank.nearer == 0, 1 / rank.tied, 0.0))


def compute(release: Release, scenario: Scenario, rng: np.random.Generator) -> Outcome:  # noqa: ARG001 - shared draws have a stream of their own
    """Return the share of originals whose own avatar is not the nearest, with its known cases."""
    from evalkit.quantities_linked import link_doubt, own_ranks

    found = own_ranks(release, scenario.seed)
    hit = found.persons.means(hits(found.avatars))
    nearest = found.persons.means(found.avatars.nearer == 0)  # y_i in T(i)
    n = len(hit)
    share = math.fsum(hit) / n
    low, high = intervals.wilson(n * share, n)
    facts: dict[str, Any] = {
        "n_original": release.persons_of("original").count,
        "n_avatars": len(release.avatars),
        "n_axes": found.axes,
        "variance_share": found.variance_share,
        "ties_as_hits": 100 * (1 - float(nearest.mean())),
        "certain_hits": int((hit == 1).sum()),
        "possible_hits": int((nearest > 0).sum()),
        "self_score": 100 * (1 - math.fsum(found.persons.means(hits(found.copy))) / n),
        "floor_score": 100 * (1 - 1 / found.candidates),
        "attempts": n,
        "success_share": share,
        "success_interval": [low, high],
        "naive_share": 1 / found.candidates,
        "control_attempts": None,
        "control_share": None,
        "control_interval": None,
        "excess": None,
        "excess_interval": None,
        "detectable_excess": None,
    }
    if n < facts["n_original"]:
        facts["sample"] = n
    score = 100 * (1 - share)
    doubt = link_doubt(found)
    return Outcome(
        score=score,
        interval=(100 * (1 - high), 100 * (1 - low)),
        interval_method="wilson",
        warnings=(*_warnings(score, facts), *((doubt,) if doubt else ())),
        facts=facts,
    )


def _warnings(score: float, facts: Mapping[str, Any]) -> list[Message]:
    """Return that ties move the score, and that the axes hold little, where they do."""
    found = []
    if abs(score - facts["ties_as_hits"]) > NOTABLE_POINTS:
        found.append(
            say(
                "ties_move_hidden_rate",
                "Many avatars are equally near: with every tie counted as a hit the hidden rate is "
                "{ties_as_hits:.1f} instead of {score:.1f}.",
                ties_as_hits=facts["ties_as_hits"],
                score=score,
            )
        )
    if facts["variance_share"] < LITTLE_VARIANCE:
        found.append(
            say(
                "axes_hold_little",
                "The {axes} axes hold {percent:.0f} % of the variance: what happens in the rest is "
                "not seen. Ask for more with --axes.",
                axes=facts["n_axes"],
                percent=100 * facts["variance_share"],
            )
        )
    return found


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the share that is found beside what picking at random would find."""
    from evalkit.figures import attack_drawings

    return attack_drawings("figure_found_own", result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.ROW_LINK}),
    by_person=True,
    copy_score=0.0,
)
