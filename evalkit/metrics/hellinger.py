r"""Hellinger score: how far each variable's distribution is kept.

For each variable, over bins b with shares p_b in WO and q_b in WA,

    H = sqrt(1 - sum_b sqrt(p_b * q_b))

and over the variables that are not one and the same value in both tables

    score = 100 * (1 - mean of H)

Numbers fall into clip(floor(min(n_WO, n_WA) / 10), 2, 20) bins at quantiles of WO, levels are
bins of their own, and missing is one more bin. Where people have several rows, shares are those of
the rows, both n are people, and whole persons are dealt. The distance is that of Hellinger, E.
(1909), Neue Begruendung der Theorie quadratischer Formen von unendlichvielen Veraenderlichen,
Journal fuer die reine und angewandte Mathematik 136, 210-271; bins, mean and scale are our own
choice.
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
    from evalkit.quantities_bins import Bins
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Shares = NDArray[np.float64]
    # Counts of bins in two samples of each deal, and what there is to say of the deals.
    Dealt = tuple[Iterable[Sequence[NDArray[Any]]], dict[str, Any]]

SLUG = "hellinger"
FEWEST_AVATARS = 20
ROWS_PER_BIN, FEWEST_BINS, MOST_BINS = 10, 2, 20
SHOWN_VARIABLES = 10
SHOWN_PICTURES = 6


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, the variables that lost most, and what unseen real rows score."""
    from evalkit.quantities_bins import Bins
    from evalkit.quantities_univariate import dealt_people

    n_avatars = len(release.working_avatars)
    if n_avatars < FEWEST_AVATARS:
        return NotApplicable(_too_few(n_avatars))
    persons, people = dealt_people(release, halves=True)  # of WO and HO; of WA
    asked = number_of_bins(persons[0].count, people)
    tables = (release.working, release.working_avatars, release.reference)
    binned = Bins.of(release.schema, release.schema.used_names(), release.working, asked)
    counts = [binned.counts(table, release.schema) for table in tables]  # of WO, WA and HO
    shares = [binned.shares(one) for one in counts]
    bins = binned.filled(counts[0], counts[1])  # (variables,)
    kept = bins > 1
    if not kept.any():
        return NotApplicable(_nothing_varies(), {"left_out": list(binned.names)})
    distances = binned.distances(shares[0], shares[1])  # (variables,)
    rows = _rows(release, binned, shares, distances)
    rows = [row | {"bins": int(size)} for row, size in zip(rows, bins, strict=True)]
    anchors = _unseen(release, binned, kept, (persons, people), rng)
    for row, real in zip(rows, anchors.pop("real_by_variable"), strict=True):
        row["real"] = real
    counted = [row for row, keep in zip(rows, kept, strict=True) if keep]
    worst = sorted(counted, key=lambda row: (-row["distance"], row["variable"]))
    return Outcome(
        score=_score(distances[kept]),
        facts={
            "n_working": len(release.working),
            "n_working_avatars": n_avatars,
            "n_holdout": len(release.reference),
            "n_variables": len(counted),
            "bins": asked,
            "mean_distance": math.fsum(distances[kept]) / len(counted),
            "left_out": [row["variable"] for row, keep in zip(rows, kept, strict=True) if not keep],
            "self_score": 100.0,
            "holdout_score": _score(binned.distances(shares[0], shares[2])[kept])
            if release.holdout is not None
            else None,
            **anchors,
            "worst_variables": worst[:SHOWN_VARIABLES],
            "pictures": _pictures(release, [row["variable"] for row in worst], scenario.min_count),
        },
    )


def number_of_bins(n_working: int, n_avatars: int) -> int:
    """Return how many quantile bins a number column is cut into.

    Examples
    --------
    >>> from evalkit.metrics.hellinger import number_of_bins
    >>> number_of_bins(5000, 5000), number_of_bins(60, 50), number_of_bins(25, 20)
    (20, 5, 2)
    """
    return min(MOST_BINS, max(FEWEST_BINS, min(n_working, n_avatars) // ROWS_PER_BIN))


def _score(distances: Shares) -> float:
    """Return 100 times one minus the mean distance; any order of variables sums alike."""
    return 100 * (1 - math.fsum(distances) / len(distances))


def _rows(
    release: Release, binned: Bins, shares: list[Shares], distances: Shares
) -> list[dict[str, Any]]:
    """Return what is known of each variable, in the order of their names."""
    real = release.holdout is not None
    others = 100 * (1 - binned.distances(shares[0], shares[2])) if real else None
    return [
        {
            "variable": name,
            "type": release.schema[name].type,
            "distance": float(distances[k]),
            "score": 100 * (1 - float(distances[k])),
            "holdout": None if others is None else float(others[k]),
        }
        for k, name in enumerate(binned.names)
    ]


def _unseen(
    release: Release,
    binned: Bins,
    kept: NDArray[np.bool_],
    people: tuple[list[Persons], int],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return what real rows score in place of the avatars, over deals of WO and HO together."""
    import numpy as np

    from evalkit.quantities_dealt_groups import is_large
    from evalkit.quantities_univariate import mean_and_band

    (working, holdout), n_avatars = people
    large = is_large(working.count + holdout.count)
    deals = _dealt_groups if large else _dealt_rows
    scores: list[float] = []
    total = np.zeros(len(binned.names))
    dealt, facts = deals(release, binned, people[0], n_avatars, rng)
    for first, second in dealt:
        found = binned.distances(binned.shares(first), binned.shares(second))
        scores.append(_score(found[kept]))
        total += 100 * (1 - found)
    mean, band = mean_and_band(scores)
    return {
        "real_score": mean,
        "real_band": band,
        "deals": len(scores),
        "real_by_variable": [float(one) for one in total / len(scores)],
        **facts,
    }


def _dealt_rows(
    release: Release,
    binned: Bins,
    persons: list[Persons],
    n_avatars: int,
    rng: np.random.Generator,
) -> Dealt:
    """Return the counts of two samples of real rows, at the sizes of WO and WA, of each deal."""
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_univariate import deals, ordered_pool

    codes = [
        binned.matrix({name: cells(table, release.schema, name) for name in binned.names})
        for table in (release.working, release.reference)
    ]
    pool, whose = ordered_pool(codes, persons)
    drawn = deals(whose, persons[0].count, n_avatars, len(binned.names), rng)
    counts = (
        [np.bincount(pool[one].ravel(), minlength=binned.total) for one in pair] for pair in drawn
    )
    return counts, {}


def _dealt_groups(
    release: Release,
    binned: Bins,
    persons: list[Persons],
    n_avatars: int,
    rng: np.random.Generator,
) -> Dealt:
    """Return what `_dealt_rows` does, of random groups of people instead of people."""
    from evalkit.quantities_dealt_groups import dealt_groups
    from evalkit.quantities_univariate import DEALS

    roles, sizes = ("working", "reference"), (persons[0].count, n_avatars)
    groups = dealt_groups(release, roles, sizes, rng, binned.total)
    held = sum(
        binned.counts_of_groups(getattr(release, role), release.schema, rows, groups.total)
        for role, rows in zip(roles, groups.of_rows, strict=True)
    )
    first, second = (times @ held for times in groups.deals(DEALS, rng))
    return zip(first, second, strict=True), {"deal_groups": groups.equal}


def _pictures(release: Release, names: list[str], min_count: int) -> list[dict[str, Any]]:
    """Return the variables that changed most on bins that may be shown."""
    from evalkit.quantities_distributions import distribution

    found = [distribution(release, one, min_count) for one in names[:SHOWN_PICTURES]]
    return [one.plain() for one in found]


def _too_few(n_avatars: int) -> Message:
    """Return the reason why so few avatars have no distribution."""
    return say(
        "too_few_avatars",
        "There are {n_avatars} avatars to compare; at least {fewest} are needed for shares.",
        n_avatars=n_avatars,
        fewest=FEWEST_AVATARS,
    )


def _nothing_varies() -> Message:
    """Return the reason why no variable has a distribution."""
    return say(
        "nothing_varies",
        "Every used column holds one and the same value in originals and avatars; give tables "
        "with columns that vary.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figures of the report from the plain result."""
    from evalkit.figures import small_multiples, worst_variables

    facts = result["facts"]
    dots = worst_variables(facts["worst_variables"], narrow=narrow, words=words)
    return (dots, small_multiples(facts["pictures"], narrow=narrow, words=words))


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
