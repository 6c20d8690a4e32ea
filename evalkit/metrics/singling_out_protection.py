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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.kernels.boxes import Boxes, SortedRows
    from evalkit.messages import Message
    from evalkit.release import Release
    from evalkit.scenario import Scenario

SLUG = "singling_out_protection"
MOST_LANDED = 500
MOST_TRIED = 20_000
FEWEST_LANDED = 50
CONDITIONS = 4
SHUFFLES = 5
BATCH = 1_000  # predicates that are evaluated at a time
NO_END = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Bets:
    """What came of the predicates of one kind.

    Attributes
    ----------
    tried, kept : int
        Predicates drawn, and those that fit exactly one of the distinct avatars.
    records : ndarray of int, shape (landed,)
        The person of the pool that each landed predicate fits; the originals come first.
    """

    tried: int
    kept: int
    records: NDArray[np.int64]

    @property
    def people(self) -> NDArray[np.int64]:
        """Return the different records that were hit."""
        import numpy as np

        return np.unique(self.records)


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables as ranks, one column of ranks for each variable in the order of the names."""

    avatars: NDArray[np.int32]  # (m, p)
    pool: NDArray[np.int32]  # (rows of WO and HO, p)
    owner: NDArray[np.int64]  # (rows of WO and HO,): the person of each, the originals' first
    numeric: tuple[bool, ...]  # p

    def attack(self, rng: np.random.Generator) -> dict[str, Bets]:
        """Return what came of the predicates of either kind."""
        import numpy as np

        from evalkit.kernels.boxes import SortedRows

        # Repeated rows must not hide behind each other; sorted, their order in the file is gone.
        distinct = np.unique(self.avatars, axis=0)
        learnt, pool = SortedRows(distinct), SortedRows(self.pool, self.owner)
        return {
            "univariate": place_bets(univariate(distinct, self.numeric, rng), learnt, pool),
            "multivariate": place_bets(multivariate(distinct, self.numeric, rng), learnt, pool),
        }


def place_bets(predicates: Boxes, learnt: SortedRows, pool: SortedRows) -> Bets:
    """Return what comes of predicates, tried in their order until 500 have landed.

    Parameters
    ----------
    predicates : Boxes
        The first 20,000 are tried.
    learnt, pool : SortedRows
        The distinct avatars, and the originals followed by the holdout with their persons.

    Returns
    -------
    Bets
    """
    import numpy as np

    tried, kept, records = 0, 0, np.zeros(0, np.int64)
    total = min(len(predicates.columns), MOST_TRIED)
    while tried < total and len(records) < MOST_LANDED:
        batch = predicates.part(slice(tried, min(tried + BATCH, total)))
        is_kept = learnt.only(batch) >= 0
        hit = np.full(len(is_kept), -1)
        hit[is_kept] = pool.only(batch.part(is_kept))
        landed = np.flatnonzero(hit >= 0)[: MOST_LANDED - len(records)]
        records = np.concatenate([records, hit[landed]])
        # With the last bet that may land the attack is over, though the batch goes on.
        used = int(landed[-1]) + 1 if len(records) == MOST_LANDED else len(hit)
        tried, kept = tried + used, kept + int(is_kept[:used].sum())
    return Bets(tried, kept, records)


def univariate(
    distinct: NDArray[np.int32], numeric: tuple[bool, ...], rng: np.random.Generator
) -> Boxes:
    """Return the predicates on one column, in random order.

    A missing cell is a value like any other: "missing" is a predicate if it occurs once.

    Parameters
    ----------
    distinct : ndarray of int32, shape (avatars, columns)
        Ranks, -1 for missing.
    numeric : tuple of bool
        Whether a column has a minimum and a maximum.
    rng : numpy.random.Generator

    Returns
    -------
    Boxes
    """
    import numpy as np

    from evalkit.kernels.boxes import Boxes

    found: list[tuple[int, int, int]] = []  # column, lowest and highest rank
    for column, is_number in enumerate(numeric):
        values, counts = np.unique(distinct[:, column], return_counts=True)
        found += [(column, int(one), int(one)) for one in values[counts == 1]]
        filled = values[values >= 0]
        if is_number and filled.size:
            found += [(column, 0, int(filled[0])), (column, int(filled[-1]), NO_END)]
    drawn = np.array(found, np.int64).reshape(-1, 3)[rng.permutation(len(found))]
    return Boxes(drawn[:, [0]], drawn[:, [1]], drawn[:, [2]])


def multivariate(
    distinct: NDArray[np.int32], numeric: tuple[bool, ...], rng: np.random.Generator
) -> Boxes:
    """Return conjunctions over 4 random columns of random avatars; none comes twice.

    The condition on a number is "at least" where the avatar lies above the median, else "at
    most"; on a level, or a missing cell, it is "equal".

    Parameters
    ----------
    distinct : ndarray of int32, shape (avatars, columns)
        Ranks, -1 for missing.
    numeric : tuple of bool
        Which columns are numbers.
    rng : numpy.random.Generator

    Returns
    -------
    Boxes
        All columns are used where there are fewer than 4, none where there is one.
    """
    import numpy as np

    from evalkit.kernels.boxes import Boxes

    width = min(CONDITIONS, distinct.shape[1])
    subsets = math.comb(distinct.shape[1], width) if width > 1 else 0
    total = len(distinct) * subsets
    if total == 0:
        nothing = np.zeros((0, 1), np.int64)
        return Boxes(nothing, nothing, nothing)
    drawn = rng.choice(total, size=min(total, MOST_TRIED), replace=False)
    columns = chosen_columns(drawn % subsets, distinct.shape[1], width)  # (tried, width)
    cells = distinct[(drawn // subsets)[:, None], columns]
    is_number = np.array(numeric)[columns] & (cells >= 0)
    above = is_number & (cells > _medians(distinct)[columns])
    low = np.where(is_number & ~above, 0, cells)
    high = np.where(above, NO_END, cells)
    return Boxes(columns, low, high)


def _medians(distinct: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the lower median of the filled ranks of each column, -1 where none is filled."""
    import numpy as np

    ordered = np.sort(distinct, axis=0)
    missing = (distinct < 0).sum(axis=0)
    places = missing + (len(distinct) - missing - 1) // 2
    medians: NDArray[np.int32] = ordered[np.maximum(places, 0), np.arange(distinct.shape[1])]
    return medians


def chosen_columns(numbers: NDArray[np.int64], n_columns: int, width: int) -> NDArray[np.int64]:
    """Return the subset of columns that each number stands for, in the combinatorial system.

    Parameters
    ----------
    numbers : ndarray of int64, shape (k,)
        From 0 to the number of subsets less one.
    n_columns, width : int
        Size of the set and of each subset.

    Returns
    -------
    ndarray of int64, shape (k, width)
        Increasing in each row.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.singling_out_protection import chosen_columns
    >>> chosen_columns(np.arange(3), 3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    import numpy as np

    rest = numbers.copy()
    chosen = np.empty((len(numbers), width), np.int64)
    for size in range(width, 0, -1):
        below = np.array([math.comb(column, size) for column in range(n_columns)])
        chosen[:, size - 1] = below.searchsorted(rest, "right") - 1
        rest -= below[chosen[:, size - 1]]
    return chosen


def compute(
    release: Release,
    scenario: Scenario,  # noqa: ARG001 - the attacker holds nothing but the avatars
    rng: np.random.Generator,
) -> Outcome | NotApplicable:
    """Return the score of the stronger kind of predicate, and the facts of both."""
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
    facts |= _beside_luck(kind, pi)
    facts |= _per_person(bets[leading], n, n_holdout)
    facts |= _anchors(tables, n, pi, rng)
    return Outcome(
        score=kind["score"],
        interval=(kind["interval"][0], kind["interval"][1]),
        interval_method="wilson",
        facts=facts,
    )


def _tables(release: Release) -> Tables:
    """Return avatars and pool as ranks; columns that hold one value everywhere are left out."""
    import numpy as np

    from evalkit.kernels.ranks import level_ranks, number_ranks
    from evalkit.quantities import cells

    frames = (release.working_avatars, release.working, release.reference)
    columns, numeric = [], []
    for name in sorted(release.schema.used_names()):
        is_number = release.schema[name].is_number
        found = [cells(frame, release.schema, name) for frame in frames]
        ranks = number_ranks(found) if is_number else level_ranks(found)
        together = np.concatenate(ranks)
        if together.size and together.min() < together.max():
            columns.append(together)
            numeric.append(is_number)
    m = len(frames[0])
    rows = sum(map(len, frames))
    stacked = np.stack(columns, axis=1) if columns else np.zeros((rows, 0), np.int32)
    persons = release.persons_of("working").followed_by(release.persons_of("reference"))
    return Tables(stacked[:m], stacked[m:], persons.code, tuple(numeric))


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


def _anchors(tables: Tables, n: int, pi: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns."""
    import numpy as np

    copy = replace(tables, avatars=tables.pool[tables.owner < n])
    shuffled = []
    for _ in range(SHUFFLES):
        # Sorted first: the result must not depend on the order of the rows in the file.
        mixed = rng.permuted(np.sort(tables.avatars, axis=0), axis=0)
        shuffled.append(_score(replace(tables, avatars=mixed), n, pi, rng))
    floors = [score for score in shuffled if score is not None]
    return {
        "self_score": _score(copy, n, pi, rng),
        "floor_score": math.fsum(floors) / len(floors) if floors else None,
        "shuffles": SHUFFLES,
    }


def _score(tables: Tables, n: int, pi: float, rng: np.random.Generator) -> float | None:
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
