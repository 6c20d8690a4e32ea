r"""Column direct match protection: values of one person that reappear.

For each used column v, U_v is the set of values that belong to exactly one person, and R_v those
of them that occur among the avatars. Over the columns with at least one such value

    score = 100 * (1 - mean of |R_v| / |U_v|)

Of the columns with enough such people the worst are shown; the holdout's share stands beside.
Source: the measure of this name of the vendor of the Avatar method, reconstructed from its name
and description.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "column_direct_match_protection"
SIZE_TOLERANCE = 0.1
FEWEST_UNIQUE = 10
LARGEST_LIST = 10


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score and what stands behind it, column by column."""
    del rng  # nothing is drawn
    columns = [returned_values(release, name) for name in release.schema.used_names()]
    counted = [one for one in columns if one["unique"]]
    total = sum(one["unique"] for one in counted)
    if total < FEWEST_UNIQUE:
        return NotApplicable(_too_few(total))
    share = _mean(counted, "returned")
    low, high = _mean_interval(counted, "returned")
    control = None if release.holdout is None else _mean(counted, "holdout_returned")
    # More rows hold more values: the shares of tables of other sizes are not compared.
    n_holdout = 0 if release.holdout is None else len(release.holdout)
    comparable = abs(n_holdout - len(release.avatars)) <= SIZE_TOLERANCE * len(release.avatars)
    shown = [one for one in counted if one["unique"] >= scenario.min_count]
    worst = sorted(shown, key=lambda one: (-one["returned"] / one["unique"], one["variable"]))
    return Outcome(
        score=100 * (1 - share),
        interval=(100 * (1 - high), 100 * (1 - low)),
        interval_method="mover",
        facts={
            "n_original": release.persons_of("original").count,
            "n_avatars": len(release.avatars),
            "n_columns": len(counted),
            "n_unique": total,
            "n_left_out": len(columns) - len(counted),
            "left_out": [one["variable"] for one in columns if not one["unique"]],
            "n_small_columns": len(counted) - len(shown),  # too few such people to show them
            "worst_columns": [_shown(one) for one in worst[:LARGEST_LIST]],
            "attempts": total,
            "control_attempts": None if control is None else total,
            "success_share": share,
            "success_interval": [low, high],
            "control_share": control,
            "control_interval": None
            if control is None
            else list(_mean_interval(counted, "holdout_returned")),
            "naive_share": None,
            "n_holdout": n_holdout,
            "comparable_sizes": comparable,
            "excess": share - control if control is not None and comparable else None,
            "excess_interval": None,
            "detectable_excess": None,
            "self_score": 0.0,
            "floor_score": 100 * (1 - share),  # shuffling moves no value out of its column
            "holdout_score": None if control is None else 100 * (1 - control),
        },
    )


def returned_values(release: Release, name: str) -> dict[str, Any]:
    """Return how many values of one column occur once, and how many of them reappear.

    Parameters
    ----------
    release : Release
        The tables.
    name : str
        A used column.

    Returns
    -------
    dict
        ``variable``, ``unique`` (persons with such a value), ``returned`` (of each of them the
        share of these values), ``holdout_returned`` (None without a holdout).

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.metrics.column_direct_match_protection import returned_values
    >>> first, second = pd.DataFrame({"age": [20, 20, 30, 40]}), pd.DataFrame({"age": [20, 30]})
    >>> found = returned_values(evalkit.load(first, second), "age")
    >>> found["unique"], found["returned"]
    (2, 1.0)
    """
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_rows import holders

    column, persons = cells(release.original, release.schema, name), release.persons_of("original")
    values, first, place = np.unique(column, return_index=True, return_inverse=True)
    # A missing cell is no value: NaN, or the code -1 of a level.
    missing = values < 0 if not release.schema[name].is_number else np.isnan(values.astype(float))
    alone = (holders(place, persons.code, len(values)) == 1) & ~missing
    once, whose = values[alone], persons.part(first[alone])

    def found(frame: Any) -> float:
        returned = whose.means(np.isin(once, cells(frame, release.schema, name)))
        return math.fsum(returned)

    return {
        "variable": name,
        "unique": whose.count,
        "returned": found(release.avatars),
        "holdout_returned": None if release.holdout is None else found(release.holdout),
    }


def _mean(columns: Sequence[Mapping[str, Any]], key: str) -> float:
    """Return the mean over the columns of the share that reappears."""
    return math.fsum(one[key] / one["unique"] for one in columns) / len(columns)


def _mean_interval(columns: Sequence[Mapping[str, Any]], key: str) -> tuple[float, float]:
    """Return the interval of that mean: the parts' distances to their ends, squared and added.

    MOVER for a sum: Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about
    effect measures: a general approach. Statistics in Medicine 27(10), 1693-1702.
    """
    mean, below, above = _mean(columns, key), [], []
    for one in columns:
        low, high = intervals.wilson(one[key], one["unique"])
        below.append(one[key] / one["unique"] - low)
        above.append(high - one[key] / one["unique"])
    size = len(columns)
    lower, upper = mean - math.hypot(*below) / size, mean + math.hypot(*above) / size
    return max(0.0, lower), min(1.0, upper)


def _shown(column: Mapping[str, Any]) -> dict[str, Any]:
    """Return one column as the report shows it."""
    others = column["holdout_returned"]
    return {
        "variable": column["variable"],
        "unique": column["unique"],
        "returned_share": column["returned"] / column["unique"],
        "holdout_share": None if others is None else others / column["unique"],
    }


def _too_few(total: int) -> Message:
    """Return the reason why so few unique values say nothing."""
    return say(
        "too_few_unique_values",
        "Only {total} values in all columns belong to one person alone; at least {fewest} are "
        "needed.",
        total=total,
        fewest=FEWEST_UNIQUE,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    facts = result["facts"]
    row = {
        "name": "figure_values_return",
        "success": facts["success_share"],
        "success_interval": facts["success_interval"],
        "control": facts["control_share"],
        "control_interval": facts["control_interval"],
    }
    return (group_drawing([row], narrow=narrow, words=words, people=False),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="linkability",
    basis=Basis.MATCHES,
    compute=compute,
    draw=draw,
    legacy=True,
    by_person=True,
    copy_score=0.0,
)
