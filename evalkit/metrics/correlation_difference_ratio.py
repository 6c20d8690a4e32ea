r"""Correlation Difference Ratio: relations beside those of a second real sample.

For Pearson matrices A and B over p numeric variables, in percent:

    Delta(A, B) = 1/(p(p-1)) * sum_{i != j} 100 * |A_ij - B_ij| / 2

    kappa = sqrt(N / 2000) if N > 2000 else 1,  N the rows of WO

    score = min(100, 100 * kappa * Delta(R_WO, R_HO) / Delta(R_WO, R_WA)),  100 if the
    denominator is 0

with WO the working half, HO the holdout half and WA the working avatars. Where people have several
rows, correlations are those of the rows, N and the sizes are people, and whole persons are dealt.
Source: founding document "Correlation Difference Ratio".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities_correlations import Related
    from evalkit.release import Release
    from evalkit.scenario import Scenario
    from evalkit.schema import Schema

SLUG = "correlation_difference_ratio"
KAPPA_ROWS = 2000
REDEALS = 200
SPLITS = 50
NO_DIFFERENCE = 1e-12
STABLE_ROWS = 200
UNUSUAL_RANK = 0.99


def mean_difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Delta(A, B): the mean difference over pairs of variables, in percent, 0 to 100.

    Parameters
    ----------
    first, second : ndarray of float64, shape (p, p)
        Correlation matrices over the same variables; the diagonals do not count.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.correlation_difference_ratio import mean_difference
    >>> mean_difference(np.array([[1.0, 0.5], [0.5, 1.0]]), np.eye(2))
    25.0
    """
    import numpy as np

    upper = np.triu_indices(len(first), k=1)
    differences = np.abs(first[upper] - second[upper])  # (p(p-1)/2,)
    return 100 * math.fsum(differences) / 2 / len(differences)


def scaling(n_working: int) -> float:
    """Return kappa: the factor on the reference for large tables.

    Examples
    --------
    >>> from evalkit.metrics.correlation_difference_ratio import scaling
    >>> scaling(2000), scaling(8000)
    (1.0, 2.0)
    """
    return math.sqrt(n_working / KAPPA_ROWS) if n_working > KAPPA_ROWS else 1.0


def ratio(reference_difference: float, avatar_difference: float, kappa: float) -> float:
    """Return the score from the two differences, 0 to 100.

    Examples
    --------
    >>> from evalkit.metrics.correlation_difference_ratio import ratio
    >>> ratio(1.0, 2.0, 1.0), ratio(1.0, 0.0, 1.0)
    (50.0, 100.0)
    """
    if avatar_difference <= NO_DIFFERENCE:
        return 100.0
    if reference_difference <= NO_DIFFERENCE:
        return 0.0
    return min(100.0, 100 * kappa * reference_difference / avatar_difference)


@dataclass(frozen=True)
class _Tables:
    """The numeric variables of WO, WA and HO, and their correlations."""

    variables: tuple[str, ...]
    working: Related
    avatars: Related
    holdout: Related

    @classmethod
    def of(
        cls,
        variables: tuple[str, ...],
        schema: Schema,
        frames: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    ) -> _Tables:
        """Return the correlations of the chosen variables in the three tables."""
        from evalkit.quantities_correlations import Related

        return cls(variables, *(Related.of(frame, schema, variables) for frame in frames))

    def differences(self) -> tuple[float, float]:
        """Return Delta(R_WO, R_HO) and Delta(R_WO, R_WA)."""
        working = self.working.correlations
        return (
            mean_difference(working, self.holdout.correlations),
            mean_difference(working, self.avatars.correlations),
        )


@dataclass(frozen=True)
class _People:
    """Whose the rows of WO, WA and HO are, and for how many people the avatars count."""

    working: Persons
    avatars: Persons
    holdout: Persons
    n_avatars: int

    @classmethod
    def of(cls, release: Release) -> _People:
        """Return the persons of a release."""
        avatars = release.persons_of("working_avatars")
        return cls(
            release.persons_of("working"),
            avatars,
            release.persons_of("reference"),
            max(1, round(avatars.count * release.avatar_worth)),
        )


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its interval over re-deals, and the pairs that moved most."""
    from evalkit.quantities import varying

    numbers = tuple(sorted(release.schema.number_names()))
    used = varying(release.working, numbers)
    left_out = [name for name in numbers if name not in used]
    if len(used) < 2:  # noqa: PLR2004 - a correlation needs two variables
        return NotApplicable(_too_few_variables(used, left_out), {"left_out": left_out})
    if not len(release.reference):
        return NotApplicable(_no_reference())
    tables = _Tables.of(used, release.schema, _frames(release))
    reference, avatar = tables.differences()
    people = _People.of(release)
    kappa = scaling(people.working.count)
    score = ratio(reference, avatar, kappa)
    facts: dict[str, Any] = {
        "reference_difference": reference,
        "avatar_difference": avatar,
        "kappa": kappa,
        "n_working": people.working.count,
        "n_working_avatars": people.n_avatars,
        "n_holdout": people.holdout.count,
        "variables": list(used),
        "left_out": left_out,
        "collapsed": _collapsed(release, used),
        "self_score": 100.0,
    }
    dealt, groups = _redeals(release, used, people, rng)
    facts |= _anchors(tables, facts, dealt) | groups
    facts |= _halves_range(release, used, rng)
    facts |= _matrices(release, tables, people, scenario.min_count)
    low, high = _interval(dealt, avatar, kappa)
    return Outcome(
        score=score,
        # The holdout at hand is one of the deals: an interval holds the score it belongs to.
        interval=(min(low, score), max(high, score)),
        interval_method="redeal",
        warnings=tuple(_warnings(release, facts)),
        facts=facts,
        unjudged=_equal_reference() if reference <= NO_DIFFERENCE else None,
    )


def _frames(release: Release) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return WO, WA and HO."""
    return release.working, release.working_avatars, release.reference


def _redeals(
    release: Release, used: tuple[str, ...], people: _People, rng: np.random.Generator
) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Return Delta between two real samples for each re-deal of WO and HO in their sizes."""
    import numpy as np

    from evalkit.quantities_correlations import dealt_pairs
    from evalkit.quantities_dealt_groups import is_large

    facts: dict[str, Any] = {}
    if is_large(people.working.count + people.holdout.count):
        pairs, facts["deal_groups"] = dealt_pairs(release, used, REDEALS, rng)
    else:
        pairs = _dealt_rows(release, used, people, rng)
    deltas = [mean_difference(working, holdout) for working, holdout in pairs]
    return np.array(deltas), facts  # (200,)


def _dealt_rows(
    release: Release, used: tuple[str, ...], people: _People, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the correlations of WO and HO for each re-deal of their rows."""
    import numpy as np

    from evalkit.quantities import Deals, content_order, number_matrix

    frames = release.working, release.reference
    pool = np.concatenate([number_matrix(frame, used) for frame in frames])  # (N + rows of HO, p)
    order, persons = content_order(list(pool.T)), people.working.followed_by(people.holdout)
    owner = np.arange(len(pool)) if persons.are_rows else persons.code[order]
    deals = Deals(pool[order])
    for _ in range(REDEALS):
        dealt = (rng.permutation(persons.count) < people.holdout.count)[owner]
        holdout, working = deals.correlations_of(dealt)
        yield working, holdout


def _interval(
    dealt: NDArray[np.float64], avatar_difference: float, kappa: float
) -> tuple[float, float]:
    """Return the middle 95 % of the score over the re-deals, Delta(R_WO, R_WA) kept as it is."""
    import numpy as np

    scores = [ratio(float(delta), avatar_difference, kappa) for delta in dealt]
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)


def _anchors(
    tables: _Tables, facts: Mapping[str, Any], dealt: NDArray[np.float64]
) -> dict[str, Any]:
    """Return what independent columns and unseen real rows would score."""
    import numpy as np

    n, n_holdout, n_avatars = (facts[f"n_{t}"] for t in ("working", "holdout", "working_avatars"))
    kappa, reference = facts["kappa"], facts["reference_difference"]
    independent = mean_difference(tables.working.correlations, np.eye(len(tables.variables)))
    # A difference of two samples shrinks with 1/n + 1/m; this brings it to the avatars' size.
    to_avatars = math.sqrt((1 / n + 1 / n_avatars) / (1 / n + 1 / n_holdout))
    to_equal = math.sqrt((2 / n) / (1 / n + 1 / n_holdout))
    unseen = [ratio(reference, float(delta) * to_avatars, kappa) for delta in dealt]
    mean_dealt = math.fsum(dealt) / len(dealt)
    return {
        "floor_score": ratio(reference, independent, kappa),
        "real_score": math.fsum(unseen) / len(unseen),
        "score_at_equal_sizes": ratio(mean_dealt * to_equal, facts["avatar_difference"], kappa),
        "reference_rank": float(np.mean(dealt < reference)),
    }


def _halves_range(
    release: Release, used: tuple[str, ...], rng: np.random.Generator
) -> dict[str, Any]:
    """Return the range of the score over other draws of an approximate holdout."""
    import numpy as np

    empty: dict[str, Any] = {"split_low": None, "split_high": None, "split_count": None}
    if release.holdout_kind == "real":
        return empty
    kappa = scaling(release.persons_of("working").count)  # the same for every draw
    scores = [ratio(*pair, kappa) for pair in _differences_of_halves(release, used, rng)]
    low, high = np.quantile(scores, [0.025, 0.975])
    return {"split_low": float(low), "split_high": float(high), "split_count": SPLITS}


def _differences_of_halves(
    release: Release, used: tuple[str, ...], rng: np.random.Generator
) -> Iterator[tuple[float, float]]:
    """Yield both differences for each draw of the halves."""
    from evalkit.quantities_correlations import dealt_halves
    from evalkit.quantities_dealt_groups import is_large

    if not is_large(release.persons_of("original").count):
        for seed in rng.integers(2**31, size=SPLITS):
            yield _Tables.of(used, release.schema, release.halves(int(seed))).differences()
        return
    for working, avatars, holdout in dealt_halves(release, used, SPLITS, rng):
        yield mean_difference(working, holdout), mean_difference(working, avatars)


def _collapsed(release: Release, used: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the variables that vary in WO but are constant in WA or HO."""
    from evalkit.quantities import varying

    tables = {"avatars": release.working_avatars, "holdout": release.reference}
    kept = {table: set(varying(frame, used)) for table, frame in tables.items()}
    return [
        {"variable": name, "table": table}
        for table in tables
        for name in used
        if name not in kept[table]
    ]


def _matrices(release: Release, tables: _Tables, people: _People, min_count: int) -> dict[str, Any]:
    """Return the worst pairs and the correlations among the variables in them.

    A pair is shown only if at least `min_count` people of each table, or avatars, are filled in
    both columns.
    """
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_correlations import enough_people
    from evalkit.quantities_matrices import shown_matrices

    parts = tables.working, tables.avatars, tables.holdout
    whose = people.working, people.avatars, people.holdout
    enough = [
        enough_people(
            part,
            persons,
            [cells(frame, release.schema, name) for name in tables.variables],
            min_count,
        )
        for part, persons, frame in zip(parts, whose, _frames(release), strict=True)
    ]
    working, avatars, holdout = (part.correlations for part in parts)
    shown = np.all(enough, axis=0)  # (p, p)
    return shown_matrices(tables.variables, (working, avatars, holdout), shown)


def _warnings(release: Release, facts: Mapping[str, Any]) -> list[Message]:
    """Return what the reader must know beside the score."""
    found = []
    n, n_holdout = facts["n_working"], facts["n_holdout"]
    unit = "rows" if release.individual is None else "persons"
    variant = "default" if release.individual is None else "persons"
    if n < STABLE_ROWS:
        found.append(
            say(
                "few_rows_unstable",
                f"Only {{n_working}} {unit}: under 200 this score is unstable.",
                n_working=n,
                variant=variant,
            )
        )
    if release.holdout_kind == "real" and n_holdout < n / 2:
        found.append(
            say(
                "small_holdout",
                f"The holdout has {{n_holdout:,}} {unit} against {{n_working:,}}: a small "
                "reference raises the score; with an average holdout of equal size it would be "
                "about {score_at_equal_sizes:.1f}.",
                n_holdout=n_holdout,
                n_working=n,
                score_at_equal_sizes=facts["score_at_equal_sizes"],
                variant=variant,
            )
        )
    if release.holdout_kind == "real" and facts["reference_rank"] >= UNUSUAL_RANK:
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
            "collapsed_column",
            "{variable} is constant in the {table} only; its correlations there count as 0.",
            **one,
        )
        for one in facts["collapsed"]
    ]


def _equal_reference() -> Message:
    """Return the message for a reference difference of 0."""
    return say(
        "holdout_equals_originals",
        "The holdout has the correlations of the originals to the last digit: it is no "
        "independent reference. Give a holdout of other people.",
    )


def _too_few_variables(used: tuple[str, ...], left_out: list[str]) -> Message:
    """Return the reason why there is no pair of numeric variables."""
    if left_out:
        return say(
            "too_few_numeric",
            "Correlations need two numeric variables that vary, and there are {n_numeric}; "
            "constant or empty: {left_out}. Give a type with --numeric if one was misread.",
            variant="constant",
            n_numeric=len(used),
            left_out=left_out,
        )
    return say(
        "too_few_numeric",
        "Correlations need two numeric variables, and there are {n_numeric}. "
        "Give a type with --numeric if one was misread.",
        n_numeric=len(used),
        left_out=left_out,
    )


def _no_reference() -> Message:
    """Return the reason why one row cannot be cut in two halves."""
    return say(
        "no_reference",
        "There is no holdout, and a single original cannot be cut in two halves. "
        "Give a holdout with --holdout.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figures of the report from the plain result."""
    from evalkit.figures import correlation_drawings

    return correlation_drawings(result["facts"], words, narrow)


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
