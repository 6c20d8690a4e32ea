r"""Row direct match protection: avatars that are identical to a real record.

    score = 100 * (1 - #{j : avatar j equals some original on every used column} / m)

over all m avatars and all originals; missing equals missing. People who have several rows count
once. The same share of the holdout's rows stands beside it: in coarse tables unrelated people
coincide too. Source: the measure of this name of the vendor of the Avatar method, from its name
and description.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.metric import Basis, Metric, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.persons import Persons
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "row_direct_match_protection"


def compute(release: Release, scenario: Scenario, rng: np.random.Generator) -> Outcome:
    """Return the score, its anchors and the facts of the search."""
    from evalkit.quantities_closeness import shuffled

    del rng  # nothing is drawn here
    holdout = [] if release.holdout is None else [release.holdout]
    mixed = [one.avatars for one in shuffled(release, scenario.seed)]
    matched, *rest = find_matches(release, [release.avatars, *holdout, *mixed])
    found, m = _counted(matched, release.persons_of("avatars"), release.avatar_worth)
    low, high = intervals.wilson(found, m)
    by_chance = math.fsum(float(equal.mean()) for equal in rest[len(holdout) :]) / len(mixed)
    facts: dict[str, Any] = {
        "n_original": release.persons_of("original").count,
        "n_avatars": len(release.avatars),
        "n_matches": int(matched.sum()),
        "attempts": m,
        "success_share": found / m,
        "success_interval": [low, high],
        "naive_share": by_chance,
        "self_score": 0.0,
        "floor_score": 100 * (1 - by_chance),
        "floor_shuffles": len(mixed),
    }
    return Outcome(
        score=100 * (1 - found / m),
        interval=(100 * (1 - high), 100 * (1 - low)),
        interval_method="wilson",
        facts=facts | _beside_holdout(found, m, rest[0] if holdout else None, release),
    )


def _counted(equal: NDArray[np.bool_], persons: Persons, worth: float = 1.0) -> tuple[float, int]:
    """Return how many rows match and how many there are, as persons where a key tells them."""
    of_persons = persons.means(equal)
    size = max(1, round(persons.count * worth))
    return math.fsum(of_persons) / persons.count * size, size


def find_matches(release: Release, tables: list[pd.DataFrame]) -> list[NDArray[np.bool_]]:
    """Return for each table which of its rows equal some original on every used column.

    Parameters
    ----------
    release : Release
        The originals.
    tables : list of DataFrame
        Tables with the columns of the release.

    Returns
    -------
    list of ndarray of bool, each of shape (rows,)

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.metrics.row_direct_match_protection import find_matches
    >>> table = pd.DataFrame({"age": [20, 30, 40], "size": [1, 2, 3]})
    >>> found = find_matches(evalkit.load(table, table), [table, table + 10])
    >>> [equal.sum().item() for equal in found]
    [3, 0]
    """
    from evalkit.quantities_rows import RowIndex

    names = release.schema.used_names()
    originals = RowIndex([release.original], release.schema, names, beside=tables)
    return [originals.find(table) >= 0 for table in tables]


def _beside_holdout(
    found: float, m: int, equal: NDArray[np.bool_] | None, release: Release
) -> dict[str, Any]:
    """Return the facts of the holdout's rows; empty ones without a real holdout."""
    if equal is None:
        names = ("attempts", "share", "interval")
        missing = dict.fromkeys([f"control_{name}" for name in names])
        return missing | dict.fromkeys(
            ["excess", "excess_interval", "detectable_excess", "holdout_score"]
        )
    matched, n = _counted(equal, release.persons_of("holdout"))
    return {
        "control_attempts": n,
        "control_share": matched / n,
        "control_interval": list(intervals.wilson(matched, n)),
        "excess": found / m - matched / n,
        "excess_interval": list(intervals.newcombe_difference(found, m, matched, n)),
        "detectable_excess": intervals.detectable_excess(matched / n, m, n),
        "holdout_score": 100 * (1 - matched / n),
    }


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    facts = result["facts"]
    row = {
        "name": "figure_same_row",
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
    criterion="singling out",
    basis=Basis.MATCHES,
    compute=compute,
    draw=draw,
    by_person=True,
    copy_score=0.0,
)
