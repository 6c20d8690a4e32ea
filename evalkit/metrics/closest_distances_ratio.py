r"""Closest distances ratio: whether an avatar clings to one person.

The originals (WO) are reduced to distinct rows. For avatar j, d1(j) is the distance to the nearest
and d2(j) that to the second nearest of them; the same for each holdout record l:

    r(j)  = d1(j) / d2(j)
    score = 100 * min(1, median of r over the avatars / median of r over the holdout)

Where a person has several rows, d2(j) is the distance to the nearest row of another person than
the one of d1(j), and each person of the holdout counts once. A small ratio points at one person as
the source of an avatar; strangers show the ratio to expect. Source: the measure of this name of
the vendor of the Avatar method, from its name and description; the comparison with a holdout is
our own choice.
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
    from evalkit.messages import Message
    from evalkit.quantities_closeness import Closeness
    from evalkit.quantities_weighed import Weighed
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "closest_distances_ratio"
FEWEST_HOLDOUT = 10


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and the facts of the comparison."""
    from evalkit import quantities_closeness

    del rng  # nothing is drawn here
    reason = _unmet(release)
    if reason:
        return NotApplicable(reason)
    near, others, copied = (
        make(release, scenario.seed)
        for make in (
            quantities_closeness.closeness,
            quantities_closeness.strangers,
            quantities_closeness.copied,
        )
    )
    shuffled = quantities_closeness.shuffled(release, scenario.seed)
    quantities_closeness.find_two_originals([near, others, copied, *shuffled])
    if math.isinf(near.two_originals.second.max()):
        return NotApplicable(_one_original())
    strangers = median_ratio(others)
    if strangers[0] == 0:
        return NotApplicable(_no_reference_ratio())
    avatars = median_ratio(near)
    low, high = intervals.ratio(avatars[0], avatars[1:], strangers[0], strangers[1:])
    floors = [score_of(median_ratio(mixed)[0], strangers[0]) for mixed in shuffled]
    anchors = {
        "self_score": score_of(median_ratio(copied)[0], strangers[0]),
        "floor_score": math.fsum(floors) / len(floors),
        "floor_shuffles": len(floors),
        **quantities_closeness.known_case_facts(near, shuffled, len(copied.between[0])),
    }
    return Outcome(
        score=score_of(avatars[0], strangers[0]),
        interval=(100 * min(1.0, low), 100 * min(1.0, high)),
        interval_method="mover",
        facts=_facts((near, avatars), (others, strangers), scenario.min_count) | anchors,
    )


def ratios(near: Closeness) -> Weighed:
    """Return r, the nearest distance over the second nearest, 0 to 1, each with its weight."""
    from evalkit.quantities_weighed import Weighed

    found = near.two_originals
    return Weighed.of(found.first / found.second, near.between[1])


def median_ratio(near: Closeness) -> tuple[float, float, float]:
    """Return the median of r and the ends of its interval."""
    return ratios(near).median


def score_of(avatars: float, strangers: float) -> float:
    """Return the score of two medians, 0 to 100.

    Examples
    --------
    >>> from evalkit.metrics.closest_distances_ratio import score_of
    >>> score_of(0.4, 0.8), score_of(0.9, 0.8)
    (50.0, 100.0)
    """
    return 100 * min(1.0, avatars / strangers)


def _facts(
    near: tuple[Closeness, tuple[float, float, float]],
    others: tuple[Closeness, tuple[float, float, float]],
    min_count: int,
) -> dict[str, Any]:
    """Return the plain numbers; medians only where enough records lie beyond them."""
    from evalkit.quantities_weighed import shown_distance

    (made, avatars), (unused, strangers) = near, others
    m, n = ratios(made).size, ratios(unused).size
    middle = [shown_distance(end, m // 2, min_count) for end in avatars]
    beyond = [shown_distance(end, n // 2, min_count) for end in strangers]
    return {
        "n_avatars": len(made.avatars),
        "n_working": made.people.working_persons.count,
        "n_holdout": made.people.reference_persons.count,
        "sample_avatars": m,
        "sample_holdout": n,
        "median_ratio": middle[0],
        "median_interval": None if None in middle else middle[1:],
        "holdout_median_ratio": beyond[0],
        "holdout_median_interval": None if None in beyond else beyond[1:],
        "ratio": avatars[0] / strangers[0],
        **_drawn(made, unused),
    }


def _drawn(made: Closeness, unused: Closeness) -> dict[str, Any]:
    """Return how many records were drawn to look for originals, where not all did."""
    drawn = [len(one.between[0]) for one in (made, unused)]
    if drawn == [len(one.avatars) for one in (made, unused)]:
        return {}
    return {"drawn_avatars": drawn[0], "drawn_holdout": drawn[1]}


def _unmet(release: Release) -> Message | None:
    """Return why nothing can be compared, or nothing."""
    if release.holdout_kind != "real" and not release.row_link:
        return say(
            "no_real_holdout",
            "This needs people who were never anonymised. Give them with --holdout, or declare "
            "with --row-link that avatar i was made from original i.",
            variant="or_row_link",
        )
    n_holdout = release.persons_of("reference").count
    if n_holdout < FEWEST_HOLDOUT:
        return say(
            "holdout_too_small",
            "The holdout has {n_holdout} rows, too few to compare with. Give at least {fewest}.",
            n_holdout=n_holdout,
            fewest=FEWEST_HOLDOUT,
        )
    return None


def _one_original() -> Message:
    """Return the reason why no original is the second nearest."""
    return say(
        "one_distinct_original",
        "All originals are the same row, so there is no second nearest one. Use more columns.",
    )


def _no_reference_ratio() -> Message:
    """Return the reason why a ratio of 0 is no reference."""
    return say(
        "strangers_all_matched",
        "Half of the holdout or more equals an original, so avatars cannot lie nearer than that. "
        "Use columns with more different values.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    facts = result["facts"]
    row = {"name": "figure_between", "success": facts["median_ratio"]}
    if row["success"] is None:  # too few rows to show medians: their ratio, cut at 1, is left
        row = {"name": "figure_between_ratio", "success": result["score"] / 100}
    else:
        row |= {
            "success_interval": facts["median_interval"],
            "control": facts["holdout_median_ratio"],
            "control_interval": facts["holdout_median_interval"],
        }
    return (group_drawing([row], narrow=narrow, words=words, people=False),)


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
