r"""Categorical hidden rate: how often an attacker who knows only categories misses the own avatar.

On the categorical variables, avatar y_i being made from original x_i, and T(i) the set of avatars
that differ from x_i in the fewest of them:

    score = 100 * (1 - 1/n * sum_i 1[y_i in T(i)] / |T(i)|)

Legacy: the name is one that the vendor of the Avatar method published; the definition is
reconstructed. Off unless it is asked for.
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

SLUG = "categorical_hidden_rate"


def compute(
    release: Release,
    scenario: Scenario,
    rng: np.random.Generator,  # noqa: ARG001 - a sample has a stream of its own
) -> Outcome | NotApplicable:
    """Return the share of originals whose own avatar is missed, with its known cases."""
    from evalkit.quantities_own import own_hits

    names = [one.name for one in release.schema.variables if one.used and not one.is_number]
    if not names:
        return NotApplicable(
            say(
                "no_categories",
                "There is no categorical variable. Declare codes with --categorical.",
            )
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

    return attack_drawings("figure_found_by_categories", result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.ROW_LINK}),
    uses_known=False,
    legacy=True,
    by_person=True,
    copy_score=0.0,
)
