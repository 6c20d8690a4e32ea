r"""Correlation protection rate: how often the nearest avatar on the known variables is another's.

On the known variables K, avatar y_i being made from original x_i, and T(i) the set of avatars
nearest to x_i by Gower's distance, with ranges of the real records and differences capped at 1:

    score = 100 * (1 - 1/n * sum_i 1[y_i in T(i)] / |T(i)|)

Legacy: the name is one that the vendor of the Avatar method published; the definition is
reconstructed. "Correlation" here is the word of French authorities for linkability; the measure
has nothing to do with coefficients of correlation. Off unless it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from evalkit.figures import Drawing
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "correlation_protection_rate"


def compute(
    release: Release,
    scenario: Scenario,
    rng: np.random.Generator,  # noqa: ARG001 - a sample has a stream of its own
) -> Outcome | NotApplicable:
    """Return the share of originals whose own avatar is missed, with its known cases."""
    from evalkit.quantities_own import own_hits

    names = list(scenario.known or ())  # K
    if not names:
        return NotApplicable(
            say("no_known", "No variable is known. Name at least one with --known.")
        )
    found = own_hits(release, names, scenario.seed)
    facts = found.facts(names, len(release.avatars))
    low, high = facts["success_interval"]
    return Outcome(
        score=100 * (1 - found.share),  # mean of 1[y_i in T(i)] / |T(i)|
        interval=(100 * (1 - high), 100 * (1 - low)),
        interval_method="wilson",
        facts=facts,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the share that is found beside what picking at random would find."""
    from evalkit.figures import attack_drawings

    return attack_drawings("figure_found_by_known", result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="linkability",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.ROW_LINK}),
    uses_known=True,
    legacy=True,
    by_person=True,
    copy_score=0.0,
)
