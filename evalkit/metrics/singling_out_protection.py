r"""Singling-out protection: descriptions learnt on the avatars that fit exactly one real person.

A predicate is learnt on the distinct avatars and kept if it fits one of them alone. It *lands* if
it fits exactly one record of the pool WO and HO, or records of one person alone where people have
several. With WO the originals, HO the holdout, and n the people in them:

    pi    = n_WO / (n_WO + n_HO)
    share = #{landed predicates whose record is in WO} / #{landed predicates}
    risk  = max(0, (share - pi) / (1 - pi))
    score = 100 * (1 - risk), for each kind of predicate; the lower one counts

Univariate predicates: a value that occurs once, at most the minimum, at least the maximum.
Multivariate ones: conjunctions over 4 random columns of one avatar. Source: Giomi, M., Boenisch,
F., Wehmeyer, C. and Tasnádi, B. (2023), A unified framework for quantifying privacy risk in
synthetic data, Proceedings on Privacy Enhancing Technologies 2023(2), 312-328; the pooled
comparison with pi is our own choice.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.quantities_predicates import Bets, MatrixTables
    from evalkit.quantities_predicates_large import LargeTables
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "singling_out_protection"
FEWEST_LANDED = 50
SHUFFLES = 5
LARGEST_MATRIX = 2**17  # rows of the three tables whose cells are put in one matrix


def compute(
    release: Release,
    scenario: Scenario,
    rng: np.random.Generator,
) -> Outcome | NotApplicable:
    """Return the score of the stronger kind of predicate, and the facts of both."""
    from evalkit.quantities_predicates import CONDITIONS, MOST_LANDED, MOST_TRIED

    n, n_holdout = (release.persons_of(one).count for one in ("working", "reference"))
    pi = n / (n + n_holdout)
    tables = _tables(release)
    bets = tables.attack(rng)
    kinds = {name: _kind(one, n, pi) for name, one in bets.items()}
    facts: dict[str, Any] = {
        "pool_share": pi,
        "n_original": n,
        "n_holdout": n_holdout,
        "n_avatars": len(release.working_avatars),
        "n_columns": len(tables.numeric),
        "conditions": min(CONDITIONS, len(tables.numeric)),
        "fewest_landed": FEWEST_LANDED,
        "most_landed": MOST_LANDED,
        "most_tried": MOST_TRIED,
        **{f"{name}_{key}": value for name, kind in kinds.items() for key, value in kind.items()},
    }
    leading = _leading(kinds)
    if leading is None:
        return NotApplicable(_too_weak(kinds), facts)
    kind = kinds[leading]
    facts |= {"kind": leading, "landed": kind["landed"], "people": kind["people"]}
    facts["independent_hits"] = kind["independent_hits"]
    facts["landed_share"] = kind["share"]
    facts |= _by_column(bets[leading], leading, n, tables.names, scenario.min_count)
    facts |= _beside_luck(kind, pi)
    facts |= _per_person(bets[leading], n, n_holdout)
    facts |= _anchors(release, tables, rng)
    return Outcome(
        score=kind["score"],
        interval=(kind["interval"][0], kind["interval"][1]),
        interval_method="wilson",
        facts=facts,
    )


def _tables(release: Release) -> MatrixTables | LargeTables:
    """Return the three tables as an attack takes them by their size."""
    from evalkit.quantities_predicates import matrix_tables
    from evalkit.quantities_predicates_large import LargeTables

    frames = release.working_avatars, release.working, release.reference
    persons = release.persons_of("working"), release.persons_of("reference")
    if sum(map(len, frames)) <= LARGEST_MATRIX:
        return matrix_tables(release.schema, frames, persons)
    return LargeTables(release.schema, frames[0], frames[1:], persons)


def _kind(bets: Bets, n: int, pi: float) -> dict[str, Any]:
    """Return the facts of one kind; no score where too few of its predicates landed."""
    landed, people = len(bets.records), len(bets.people)
    in_original = int((bets.records < n).sum())
    facts: dict[str, Any] = {
        "tried": bets.tried,
        "kept": bets.kept,
        "landed": landed,
        "landed_in_original": in_original,
        "people": people,
        "independent_hits": None,
        "share": None,
        "score": None,
        "interval": None,
    }
    if landed < FEWEST_LANDED:
        return facts
    share = in_original / landed
    independent = independent_hits(bets.records)
    low, high = intervals.wilson(share * independent, independent)
    return facts | {
        "independent_hits": independent,
        "share": share,
        "score": score_of(share, pi),
        "interval": [score_of(high, pi), score_of(low, pi)],
    }


def independent_hits(records: NDArray[np.int64]) -> float:
    """Return Kish's effective number of landed predicates.

    Many predicates may hit one record, and their hits then stand or fall together. Counting the
    records alone would take a record hit a hundred times for as telling as one hit once: without
    a leak the interval then excluded 100 three times as often as it should.

    Parameters
    ----------
    records : ndarray of int64, shape (landed,)
        The record that each landed predicate isolates; at least one.

    Returns
    -------
    float
        (sum of w)^2 / sum of w^2 with w the hits of each record: from 1 to the number of records.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.singling_out_protection import independent_hits
    >>> independent_hits(np.array([3, 8, 9])), independent_hits(np.array([3, 3, 3]))
    (3.0, 1.0)
    """
    import numpy as np

    hits = np.unique(records, return_counts=True)[1]
    return float(hits.sum() ** 2 / (hits**2).sum())


def score_of(share: float, pi: float) -> float:
    """Return the score of a share of landed predicates, 0 to 100.

    Parameters
    ----------
    share : float
        Of the landed predicates, those whose record is an original; 0 to 1.
    pi : float
        The originals' share of the pool, under 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from evalkit.metrics.singling_out_protection import score_of
    >>> score_of(0.75, 0.5), score_of(0.4, 0.5)
    (50.0, 100.0)
    """
    return 100 * (1 - max(0.0, (share - pi) / (1 - pi)))


def _leading(kinds: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the kind with the larger share in the originals, so the lower score."""
    scored = [name for name, kind in kinds.items() if kind["share"] is not None]
    return max(scored, key=lambda name: kinds[name]["share"], default=None)


def _by_column(
    bets: Bets, kind: str, n: int, names: tuple[str, ...], min_count: int
) -> dict[str, Any]:
    """Return the column whose values alone single out most originals; a name is no record."""
    import numpy as np

    hits = np.bincount(bets.columns[bets.records < n], minlength=1)
    if kind != "univariate" or hits.max() < min_count:
        return {}
    return {
        "leading_column": names[int(hits.argmax())],
        "leading_column_share": float(hits.max() / hits.sum()),
    }


def _beside_luck(kind: Mapping[str, Any], pi: float) -> dict[str, Any]:
    """Return the share of landed predicates beside pi, from the very interval of the score."""
    independent = kind["independent_hits"]
    low, high = intervals.wilson(kind["share"] * independent, independent)
    return {
        "attempts": kind["landed"],
        "control_attempts": None,
        "success_share": kind["share"],
        "success_interval": [low, high],
        "control_share": None,
        "control_interval": None,
        "naive_share": pi,
        "excess": kind["share"] - pi,
        "excess_interval": [low - pi, high - pi],
        "detectable_excess": intervals.DETECTION_FACTOR * math.sqrt(pi * (1 - pi) / independent),
    }


def _per_person(bets: Bets, n: int, n_holdout: int) -> dict[str, Any]:
    """Return how many people of either group the predicates single out."""
    hit = int((bets.people < n).sum())
    return {
        "people_share": hit / n,
        "people_control_share": (len(bets.people) - hit) / n_holdout,
    }


def _anchors(
    release: Release, tables: MatrixTables | LargeTables, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns."""
    import numpy as np

    from evalkit.quantities_predicates import MatrixTables

    if isinstance(tables, MatrixTables):
        some, sizes = tables, {}
        n, n_holdout = (release.persons_of(one).count for one in ("working", "reference"))
    else:
        some, n, n_holdout = _sampled(release, rng)
        sizes = {"anchor_avatars": len(some.avatars), "anchor_pool": len(some.pool)}
    pi = n / (n + n_holdout)
    copy = replace(some, avatars=some.pool[some.owner < n])
    shuffled = []
    for _ in range(SHUFFLES):
        # Sorted first: the result must not depend on the order of the rows in the file.
        mixed = rng.permuted(np.sort(some.avatars, axis=0), axis=0)
        shuffled.append(_score(replace(some, avatars=mixed), n, pi, rng))
    floors = [score for score in shuffled if score is not None]
    return sizes | {
        "self_score": _score(copy, n, pi, rng),
        "floor_score": math.fsum(floors) / len(floors) if floors else None,
        "shuffles": SHUFFLES,
    }


def _sampled(release: Release, rng: np.random.Generator) -> tuple[MatrixTables, int, int]:
    """Return the same part of each of the three tables, and how many persons are in two of them.

    What a copy scores, and what avatars do that hold nothing on anybody, hardly depends on size.
    """
    from evalkit.quantities_order import drawn_rows
    from evalkit.quantities_predicates import matrix_tables

    frames, persons = [], []
    names = ("working_avatars", "working", "reference")
    total = sum(len(getattr(release, name)) for name in names)
    for name in names:
        table = getattr(release, name)
        rows, whose = drawn_rows(release, name, LARGEST_MATRIX * len(table) // total, rng)
        frames.append(table.iloc[rows])
        persons.append(whose)
    tables = matrix_tables(release.schema, frames, persons[1:])
    return tables, persons[1].count, persons[2].count


def _score(tables: MatrixTables, n: int, pi: float, rng: np.random.Generator) -> float | None:
    """Return the lower score of the two kinds, if one can be scored."""
    kinds = {name: _kind(bets, n, pi) for name, bets in tables.attack(rng).items()}
    leading = _leading(kinds)
    return None if leading is None else kinds[leading]["score"]


def _too_weak(kinds: Mapping[str, Mapping[str, Any]]) -> Message:
    """Return why no share can be told."""
    return say(
        "singling_out_too_weak",
        "Attack too weak to tell: {univariate} descriptions by one column and {multivariate} by "
        "several fit exactly one real record; at least {fewest} of a kind are needed. Give more "
        "originals, a larger holdout, or more columns.",
        univariate=kinds["univariate"]["landed"],
        multivariate=kinds["multivariate"]["landed"],
        fewest=FEWEST_LANDED,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures.groups import description_drawings

    return description_drawings(result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="singling out",
    basis=Basis.ATTACK,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.REAL_HOLDOUT}),
    by_person=True,
    copy_score=0.0,
)
