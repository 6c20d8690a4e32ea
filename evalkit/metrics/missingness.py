r"""Missingness: whether cells are missing as often as before, and together as before.

Over the p variables with a missing cell in the originals or the avatars, m_v the share of missing
cells of variable v,

    score = 100 * (1 - 1/p * sum_v |m_v(originals) - m_v(avatars)|)

Beside it stands the total variation distance of the joint patterns, half the sum over all
patterns of missing cells of the differences of their shares. Where people have several rows,
shares are those of the rows, and whole persons are dealt. Own choice, after published reviews
that compare shares of missing cells.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Gone = NDArray[np.bool_]

SLUG = "missingness"
SHOWN_VARIABLES = 10


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, the variables whose gaps changed most, and the joint patterns."""
    import numpy as np

    from evalkit.quantities_univariate import dealt_people

    del scenario  # nothing depends on what an attacker knows
    names = sorted(release.schema.used_names())
    tables = [release.original, release.avatars]
    tables += [] if release.holdout is None else [release.holdout]
    gone = [_missing(table, release, names) for table in tables]  # each (rows, names)
    counted = np.logical_or.reduce([one.any(axis=0) for one in gone[:2]])  # (names,)
    if not counted.any():
        return NotApplicable(_nothing_missing())
    names = [name for name, counts in zip(names, counted, strict=True) if counts]
    gone = [one[:, counted] for one in gone]
    shares = [one.mean(axis=0) for one in gone]  # each (p,)
    real = _unseen(gone, *dealt_people(release, halves=False), rng)
    rows = _rows(names, shares, real.pop("by_variable"))
    worst = sorted(rows, key=lambda row: (row["score"], row["variable"]))
    return Outcome(
        score=score_of(shares[0], shares[1]),
        facts={
            "n_original": len(gone[0]),
            "n_avatars": len(gone[1]),
            "n_holdout": len(gone[2]) if gone[2:] else None,
            "n_variables": len(names),
            "n_complete": int((~counted).sum()),
            "original_share": float(gone[0].mean()),
            "avatars_share": float(gone[1].mean()),
            "pattern_distance": pattern_distance(gone[0], gone[1]),
            "holdout_pattern_distance": pattern_distance(gone[0], gone[2]) if gone[2:] else None,
            "self_score": 100.0,
            "holdout_score": score_of(shares[0], shares[2]) if gone[2:] else None,
            **real,
            "worst_variables": worst[:SHOWN_VARIABLES],
        },
    )


def score_of(first: Sequence[float], second: Sequence[float]) -> float:
    """Return 100 times one minus the mean difference of two lists of shares.

    Examples
    --------
    >>> from evalkit.metrics.missingness import score_of
    >>> score_of([0.5, 0.0], [0.25, 0.25])
    75.0
    """
    gaps = [abs(float(one) - float(other)) for one, other in zip(first, second, strict=True)]
    return 100 * (1 - math.fsum(gaps) / len(gaps))


def pattern_distance(first: Gone, second: Gone) -> float:
    """Return the total variation distance of the joint patterns of missing cells, 0 to 1.

    Parameters
    ----------
    first, second : ndarray of bool, shape (rows, variables)
        Whether each cell is missing; at least one row each.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.missingness import pattern_distance
    >>> pattern_distance(np.array([[True, False]]), np.array([[True, False], [True, True]]))
    0.5
    """
    import numpy as np

    rows = np.concatenate([np.packbits(first, axis=1), np.packbits(second, axis=1)])
    _, places = np.unique(rows, axis=0, return_inverse=True)
    places = places.reshape(-1)
    size = int(places.max()) + 1
    one = np.bincount(places[: len(first)], minlength=size) / len(first)
    other = np.bincount(places[len(first) :], minlength=size) / len(second)
    return math.fsum(np.abs(one - other)) / 2


def _missing(table: pd.DataFrame, release: Release, names: Sequence[str]) -> Gone:
    """Return which cells are missing, shape (rows, names)."""
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_univariate import missing_cells

    columns = []
    for name in names:
        values = cells(table, release.schema, name)
        is_number = release.schema[name].is_number
        columns.append(missing_cells(values) if is_number else values < 0)
    return np.stack(columns, axis=1)


def _rows(
    names: Sequence[str], shares: Sequence[NDArray[np.float64]], real: Sequence[float]
) -> list[dict[str, Any]]:
    """Return what is known of each variable."""
    found = []
    for k, name in enumerate(names):
        original, avatars = float(shares[0][k]), float(shares[1][k])
        holdout = float(shares[2][k]) if shares[2:] else None
        found.append(
            {
                "variable": name,
                "score": 100 * (1 - abs(original - avatars)),
                "original_share": original,
                "avatars_share": avatars,
                "holdout_share": holdout,
                "holdout": None if holdout is None else 100 * (1 - abs(original - holdout)),
                "real": real[k],
            }
        )
    return found


def _unseen(
    gone: Sequence[Gone], persons: Sequence[Persons], n_avatars: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Return what real rows score in place of the avatars, over deals of all real records."""
    import numpy as np

    from evalkit.quantities_univariate import deals, mean_and_band, ordered_pool

    pool, whose = ordered_pool([gone[0], *gone[2:]], persons)
    total = np.zeros(pool.shape[1])
    scores: list[float] = []
    for first, second in deals(whose, persons[0].count, n_avatars, pool.shape[1], rng):
        shares = pool[first].mean(axis=0), pool[second].mean(axis=0)
        scores.append(score_of(*shares))
        total += 100 * (1 - np.abs(shares[0] - shares[1]))
    mean, band = mean_and_band(scores)
    return {
        "real_score": mean,
        "real_band": band,
        "deals": len(scores),
        "by_variable": [float(one) for one in total / len(scores)],
    }


def _nothing_missing() -> Message:
    """Return the reason why there is nothing to compare."""
    return say(
        "nothing_missing",
        "No cell is missing among originals or avatars, so there is nothing to compare. If a mark "
        "such as ? stands for missing, name it with --missing.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import worst_variables

    return (worst_variables(result["facts"]["worst_variables"], narrow=narrow, words=words),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    level="univariate",
    basis=Basis.COMPARISON,
    compute=compute,
    draw=draw,
    by_person=True,
    copy_score=100.0,
)
