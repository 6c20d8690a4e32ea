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
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Shares = Sequence[float] | NDArray[np.float64]
    # Shares of missing cells in two samples of each deal, and what there is to say of the deals.
    Dealt = tuple[Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]], dict[str, Any]]

SLUG = "missingness"
SHOWN_VARIABLES = 10


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, the variables whose gaps changed most, and the joint patterns."""
    from evalkit.quantities_missing import distance_of_patterns, missing_counts, pattern_counts

    del scenario  # nothing depends on what an attacker knows
    schema, names = release.schema, sorted(release.schema.used_names())
    tables = [release.original, release.avatars]
    tables += [] if release.holdout is None else [release.holdout]
    lost = [missing_counts(table, schema, names) for table in tables]  # each (names,)
    counted = (lost[0] > 0) | (lost[1] > 0)
    if not counted.any():
        return NotApplicable(_nothing_missing())
    names = [name for name, counts in zip(names, counted, strict=True) if counts]
    lost = [one[counted] for one in lost]
    shares = [one / len(table) for one, table in zip(lost, tables, strict=True)]  # each (p,)
    patterns = [pattern_counts(table, schema, names) for table in tables]
    real = _unseen(release, names, rng)
    rows = _rows(names, shares, real.pop("by_variable"))
    worst = sorted(rows, key=lambda row: (row["score"], row["variable"]))
    return Outcome(
        score=score_of(shares[0], shares[1]),
        facts={
            "n_original": len(tables[0]),
            "n_avatars": len(tables[1]),
            "n_holdout": len(tables[2]) if tables[2:] else None,
            "n_variables": len(names),
            "n_complete": int((~counted).sum()),
            "original_share": int(lost[0].sum()) / (len(tables[0]) * len(names)),
            "avatars_share": int(lost[1].sum()) / (len(tables[1]) * len(names)),
            "pattern_distance": distance_of_patterns(patterns[0], patterns[1]),
            "holdout_pattern_distance": distance_of_patterns(patterns[0], patterns[2])
            if tables[2:]
            else None,
            "self_score": 100.0,
            "holdout_score": score_of(shares[0], shares[2]) if tables[2:] else None,
            **real,
            "worst_variables": worst[:SHOWN_VARIABLES],
        },
    )


def score_of(first: Shares, second: Shares) -> float:
    """Return 100 times one minus the mean difference of two lists of shares.

    Examples
    --------
    >>> from evalkit.metrics.missingness import score_of
    >>> score_of([0.5, 0.0], [0.25, 0.25])
    75.0
    """
    gaps = [abs(float(one) - float(other)) for one, other in zip(first, second, strict=True)]
    return 100 * (1 - math.fsum(gaps) / len(gaps))


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


def _unseen(release: Release, names: Sequence[str], rng: np.random.Generator) -> dict[str, Any]:
    """Return what real rows score in place of the avatars, over deals of all real records."""
    import numpy as np

    from evalkit.quantities_dealt_groups import is_large
    from evalkit.quantities_univariate import dealt_people, mean_and_band

    persons, n_avatars = dealt_people(release, halves=False)
    large = is_large(sum(one.count for one in persons))
    dealt, facts = (_dealt_groups if large else _dealt_rows)(
        release, names, persons, n_avatars, rng
    )
    total = np.zeros(len(names))
    scores: list[float] = []
    for shares in dealt:
        scores.append(score_of(*shares))
        total += 100 * (1 - np.abs(shares[0] - shares[1]))
    mean, band = mean_and_band(scores)
    return {
        "real_score": mean,
        "real_band": band,
        "deals": len(scores),
        "by_variable": [float(one) for one in total / len(scores)],
        **facts,
    }


def _dealt_rows(
    release: Release,
    names: Sequence[str],
    persons: Sequence[Persons],
    n_avatars: int,
    rng: np.random.Generator,
) -> Dealt:
    """Return the shares of missing cells in two samples of real rows, of each deal."""
    from evalkit.quantities_missing import missing_cells_of
    from evalkit.quantities_univariate import deals, ordered_pool

    tables = [release.original, *([] if release.holdout is None else [release.holdout])]
    gone = [missing_cells_of(table, release.schema, names) for table in tables]
    pool, whose = ordered_pool(gone, persons)
    drawn = deals(whose, persons[0].count, n_avatars, pool.shape[1], rng)
    return ((pool[first].mean(axis=0), pool[second].mean(axis=0)) for first, second in drawn), {}


def _dealt_groups(
    release: Release,
    names: Sequence[str],
    persons: Sequence[Persons],
    n_avatars: int,
    rng: np.random.Generator,
) -> Dealt:
    """Return what `_dealt_rows` does, of random groups of people instead of people."""
    from evalkit.quantities_dealt_groups import dealt_groups
    from evalkit.quantities_missing import counts_of_groups
    from evalkit.quantities_univariate import DEALS

    roles = ("original", "holdout")[: len(persons)]
    groups = dealt_groups(release, roles, (persons[0].count, n_avatars), rng, 1 + len(names))
    held = sum(
        counts_of_groups(getattr(release, role), release.schema, names, rows, groups.total)
        for role, rows in zip(roles, groups.of_rows, strict=True)
    )  # (groups, 1 + p): rows, and missing cells of each variable
    samples = (times @ held for times in groups.deals(DEALS, rng))
    first, second = (one[:, 1:] / one[:, :1] for one in samples)
    return zip(first, second, strict=True), {"deal_groups": groups.equal}


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
