r"""Mutual Information Ratio: relations of any shape beside those of a second real sample.

For normalised mutual information A and B over p variables of every type, in percent:

    NMI_xy = max(0, I(x, y) - (r-1)(c-1)/2N) / sqrt(H(x) * H(y))

    Delta(A, B) = 1/(p(p-1)) * sum_{i != j} 100 * |A_ij - B_ij|

    kappa = sqrt(N / 2000) if N > 2000 else 1

    score = min(100, 100 * kappa * Delta(WO, HO) / Delta(WO, WA)),  100 if the denominator is 0

with WO the working half, HO the holdout half and WA the working avatars, each cut at random to N,
the rows of the smallest; both Delta are means over the cuts. r and c are the levels that occur.
Where people have several rows, N and all sizes are people, and whole persons are cut and dealt.
Sources: founding document "Correlation Difference Ratio", which names mutual information for
categories; correction of Miller (1955) for the bias of an entropy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.quantities_information import Information
    from evalkit.quantities_information_groups import GroupedTables
    from evalkit.quantities_levels import LevelTables
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "mutual_information_ratio"
TABLES = ("working", "working_avatars", "reference")
KAPPA_ROWS = 2000
FEWEST_ROWS = 90
FEWEST_BINS, MOST_BINS = 3, 10
CUTS = 20
REDEALS, FEW_REDEALS = 200, 20
SHUFFLES, FEW_SHUFFLES = 5, 1
MANY_COLUMNS = 50
SPLITS = 50
NO_DIFFERENCE = 1e-12
STABLE_ROWS = 200
UNUSUAL_RANK = 0.99


def bins_for(rows: int) -> int:
    """Return the quantile bins of a numeric variable in tables of `rows` rows, 3 to 10.

    Examples
    --------
    >>> from evalkit.metrics.mutual_information_ratio import bins_for
    >>> bins_for(90), bins_for(500), bins_for(5000)
    (3, 7, 10)
    """
    return min(MOST_BINS, max(FEWEST_BINS, math.isqrt(rows // 10)))


def scaling(rows: int) -> float:
    """Return kappa: the factor on the reference for large tables.

    Examples
    --------
    >>> from evalkit.metrics.mutual_information_ratio import scaling
    >>> scaling(2000), scaling(8000)
    (1.0, 2.0)
    """
    return math.sqrt(rows / KAPPA_ROWS) if rows > KAPPA_ROWS else 1.0


def ratio(reference_difference: float, avatar_difference: float, kappa: float) -> float:
    """Return the score from the two differences, 0 to 100.

    Examples
    --------
    >>> from evalkit.metrics.mutual_information_ratio import ratio
    >>> ratio(1.0, 2.0, 1.0), ratio(1.0, 0.0, 1.0)
    (50.0, 100.0)
    """
    if avatar_difference <= NO_DIFFERENCE:
        return 100.0
    if reference_difference <= NO_DIFFERENCE:
        return 0.0
    return min(100.0, 100 * kappa * reference_difference / avatar_difference)


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its interval over re-deals, and the pairs that moved most."""
    rows = min(_people(release))
    if rows < FEWEST_ROWS:
        return NotApplicable(_too_few_rows(release, rows))
    tables = _tables(release)
    if len(tables.names) < 2:  # noqa: PLR2004 - a relation needs two variables
        return NotApplicable(_too_few_variables(tables), {"left_out": list(tables.left_out)})
    many = len(tables.names) > MANY_COLUMNS
    shuffles = FEW_SHUFFLES if many else SHUFFLES
    redeals = FEW_REDEALS if many else REDEALS
    found, dealt, sampled = _measured(tables, rng, shuffles, redeals)
    facts = _sizes(tables) | _scores(found, dealt, scaling(rows))
    facts |= {"floor_count": shuffles, "redeal_count": len(dealt)} | sampled
    facts |= _halves_range(tables, release, rng, many=many)
    facts |= _shown(tables, found, scenario.min_count)
    reference, avatar = found.reference_difference, found.avatar_difference
    score = ratio(reference, avatar, scaling(rows))
    low, high = _interval(dealt, avatar, scaling(rows))
    return Outcome(
        score=score,
        # The holdout at hand is one of the deals: an interval holds the score it belongs to.
        interval=(min(low, score), max(high, score)),
        interval_method="redeal",
        warnings=tuple(_warnings(release, facts)),
        facts=facts,
        unjudged=_equal_reference() if score == 0 and reference <= NO_DIFFERENCE else None,
    )


def _people(release: Release) -> tuple[int, ...]:
    """Return for how many people WO, WA and HO count: their rows, where each is one."""
    working, avatars, holdout = (release.persons_of(name).count for name in TABLES)
    return working, round(avatars * release.avatar_worth), holdout


def _tables(release: Release) -> LevelTables | GroupedTables:
    """Return WO, WA and HO as codes of few levels, or where they are large how to make these."""
    from evalkit.quantities_dealt_groups import is_large
    from evalkit.quantities_information_groups import GroupedTables
    from evalkit.quantities_levels import level_tables

    people = _people(release)
    bins = bins_for(min(people))
    if is_large(max(people[0] + people[2], people[1])):
        return GroupedTables.of(release, bins)
    return level_tables(
        release.schema,
        (release.working, release.working_avatars, release.reference),
        bins,
        [release.persons_of(name) for name in TABLES],
        release.avatar_worth,
    )


def _measured(
    tables: LevelTables | GroupedTables, rng: np.random.Generator, shuffles: int, redeals: int
) -> tuple[Information, NDArray[np.float64], dict[str, Any]]:
    """Return the relations, Delta of each re-deal, and what there is to say of samples."""
    from evalkit import quantities_information, quantities_information_groups
    from evalkit.quantities_levels import LevelTables

    if isinstance(tables, LevelTables):
        found = quantities_information.information(tables, rng, cuts=CUTS, shuffles=shuffles)
        return found, quantities_information.dealt_differences(tables, rng, redeals), {}
    in_groups = quantities_information_groups
    found = in_groups.information(tables, rng, cuts=CUTS, shuffles=shuffles)
    dealt, groups = in_groups.dealt_differences(tables, rng, redeals)
    shuffled, all_rows = tables.floor_rows()
    facts = {"deal_groups": groups}
    return found, dealt, facts | ({"floor_rows": shuffled} if shuffled < all_rows else {})


def _sizes(tables: LevelTables | GroupedTables) -> dict[str, Any]:
    """Return what was compared: people, cuts, bins and variables."""
    sizes, rows = tables.people, min(tables.people)
    return {
        "n_working": sizes[0],
        "n_working_avatars": sizes[1],
        "n_holdout": sizes[2],
        "n_cut": rows,
        "cut_count": CUTS if max(sizes) > rows else 1,
        "bins": bins_for(rows),
        "kappa": scaling(rows),
        "variables": list(tables.names),
        "left_out": list(tables.left_out),
        "collapsed": _collapsed(tables),
    }


def _collapsed(tables: LevelTables | GroupedTables) -> list[dict[str, str]]:
    """Return the variables that vary in WO but hold one level in WA or HO."""
    return [
        {"variable": name, "table": table}
        for table, names in tables.single.items()
        for name in names
    ]


def _scores(found: Information, dealt: NDArray[np.float64], kappa: float) -> dict[str, Any]:
    """Return both differences, and what known cases would score."""
    import numpy as np

    reference = found.reference_difference
    unseen = [ratio(reference, float(delta), kappa) for delta in dealt]
    return {
        "reference_difference": reference,
        "avatar_difference": found.avatar_difference,
        "reference_rank": float(np.mean(dealt < reference)),
        "self_score": 100.0,
        "floor_score": ratio(reference, found.floor_difference, kappa),
        "real_score": math.fsum(unseen) / len(unseen),
    }


def _interval(
    dealt: NDArray[np.float64], avatar_difference: float, kappa: float
) -> tuple[float, float]:
    """Return the middle 95 % of the score over the re-deals, Delta(WO, WA) kept as it is."""
    import numpy as np

    scores = [ratio(float(delta), avatar_difference, kappa) for delta in dealt]
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)


def _halves_range(
    tables: LevelTables | GroupedTables, release: Release, rng: np.random.Generator, *, many: bool
) -> dict[str, Any]:
    """Return the range of the score over other draws of an approximate holdout, each cut once."""
    import numpy as np

    from evalkit.quantities_information_groups import differences_of_halves
    from evalkit.quantities_levels import LevelTables

    if release.holdout_kind == "real" or many:
        return {"split_low": None, "split_high": None, "split_count": None}
    if isinstance(tables, LevelTables):
        scores = list(_scores_of_halves(release, rng))
    else:
        kappa, pairs = scaling(min(tables.people)), differences_of_halves(tables, rng, SPLITS)
        scores = [ratio(float(a), float(b), kappa) for a, b in zip(*pairs, strict=True)]
    low, high = np.quantile(scores, [0.025, 0.975])
    return {"split_low": float(low), "split_high": float(high), "split_count": len(scores)}


def _scores_of_halves(release: Release, rng: np.random.Generator) -> Iterator[float]:
    """Yield the score for each draw of the halves, bins and levels anew."""
    from dataclasses import replace

    from evalkit.quantities_information import information
    from evalkit.quantities_levels import LevelTables

    for seed in rng.integers(2**31, size=SPLITS):
        tables = _tables(replace(release, seed=int(seed)))
        if isinstance(tables, LevelTables) and len(tables.names) > 1:
            found = information(tables, rng, cuts=1, shuffles=0)
            differences = found.reference_difference, found.avatar_difference
            yield ratio(*differences, scaling(min(tables.people)))


def _shown(
    tables: LevelTables | GroupedTables, found: Information, min_count: int
) -> dict[str, Any]:
    """Return the worst pairs and the relations that are shown.

    Nothing is shown of tables with fewer than `min_count` people.
    """
    import numpy as np

    from evalkit.quantities_matrices import shown_matrices

    def square(values: NDArray[np.float64]) -> NDArray[np.float64]:
        full = np.eye(p)
        full[found.pairs] = values
        full.T[found.pairs] = values
        return full

    p = len(tables.names)
    matrices = square(found.working), square(found.avatars), square(found.holdout)
    return shown_matrices(tables.names, matrices, np.full((p, p), min(tables.people) >= min_count))


def _warnings(release: Release, facts: Mapping[str, Any]) -> list[Message]:
    """Return what the reader must know beside the score."""
    found, unit = [], _unit(release)
    variant = "default" if release.individual is None else "persons"
    cut, n, n_holdout = facts["n_cut"], facts["n_working"], facts["n_holdout"]
    if release.holdout_kind == "real" and n_holdout < n / 2 and cut == n_holdout:
        found.append(
            say(
                "cut_to_small_holdout",
                f"The holdout has {{n_holdout:,}} {unit} against {{n_working:,}}, and all tables "
                f"are cut to its size: relations that only more {unit} would show are not seen.",
                n_holdout=n_holdout,
                n_working=n,
                variant=variant,
            )
        )
    if cut < STABLE_ROWS:
        found.append(
            say(
                "few_rows_in_cut",
                f"Relations are compared on {{n_cut}} {unit}: under 200 this score is unstable.",
                n_cut=cut,
                variant=variant,
            )
        )
    unusual = facts["redeal_count"] == REDEALS and facts["reference_rank"] >= UNUSUAL_RANK
    if release.holdout_kind == "real" and unusual:
        found.append(
            say(
                "reference_unusual",
                "The holdout differs from the originals more than {percent:.0f} % of random "
                "deals of the same rows do: it may not be a sample of the same people.",
                percent=100 * facts["reference_rank"],
            )
        )
    return found + [
        say(
            "collapsed_relations",
            "{variable} has a single level in the {table} only; its relations there count as 0.",
            **one,
        )
        for one in facts["collapsed"]
    ]


def _unit(release: Release) -> str:
    """Return what is counted."""
    return "rows" if release.individual is None else "persons"


def _equal_reference() -> Message:
    """Return the message for a reference difference of 0."""
    return say(
        "holdout_has_the_same_relations",
        "The holdout has the relations of the originals to the last digit: it is no independent "
        "reference. Give a holdout of other people.",
    )


def _too_few_rows(release: Release, rows: int) -> Message:
    """Return the reason why tables are too small."""
    remedy = "Give larger tables." if release.holdout_kind == "real" else "Give a real holdout."
    return say(
        "too_few_rows_for_information",
        f"Mutual information needs {{fewest}} {_unit(release)} in each table, and the smallest has "
        f"{{rows}}. {remedy}",
        fewest=FEWEST_ROWS,
        rows=rows,
        variant=release.holdout_kind,
    )


def _too_few_variables(tables: LevelTables | GroupedTables) -> Message:
    """Return the reason why there is no pair of variables."""
    return say(
        "too_few_varying",
        "Relations need two variables that vary, and there are {n_varying}; left out: {left_out}.",
        n_varying=len(tables.names),
        left_out=list(tables.left_out) or ["none"],
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figures of the report from the plain result."""
    from evalkit.figures.relations import information_drawings

    return information_drawings(result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    level="bivariate",
    basis=Basis.COMPARISON,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.HOLDOUT}),
    by_person=True,
    copy_score=100.0,
)
