"""Whether the holdout is a sample of the same people as the originals (metrics.md, rule 11).

Without a leak the two are exchangeable, and everything that is judged against the holdout rests
on it. Two tests look for a difference: one in the correlations, one in whatever a forest finds.
Where people have several rows, whole persons are dealt, and put in the folds of the forest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.correlations import Deals
from evalkit.messages import say
from evalkit.quantities import cells, number_matrix, remembered, varying
from evalkit.quantities_order import drawn_rows
from evalkit.randomness import stream

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.release import Release

    Matrix = NDArray[np.float64]

DEALS = 200
TREES = 30
FOLDS = 3
FEWEST_ROWS = 30  # in either table: below, neither test could tell anything
MOST_ROWS = 5_000  # of each table
MOST_CELLS = 500_000  # of each table: with over 100 columns fewer rows do
LARGEST_AREA = 0.6
STANDARD_ERRORS = 3.5
"""0.5 % of exchangeable holdouts lie above, as with the deals: 2.576 times 1.35, as areas over the
folds of one table vary that much more than Mann and Whitney's (240 draws of 40 to 300 rows)."""

TOLD_APART = (
    "a classifier tells it from the originals with an area under the curve of {area:.2f} "
    "(0.50 is chance)"
)
CORRELATIONS_DIFFER = (
    "its correlations differ from the originals' more than in any of {deals} random deals of the "
    "same people"
)


@dataclass(frozen=True, eq=False)
class Exchange:
    """What two tests say on originals and holdout.

    Attributes
    ----------
    rank : float, optional
        Share of the re-deals of all real records in which the correlations of the two parts
        differ less than those of originals and holdout; None with fewer than two variables.
    deals : int
        Number of re-deals.
    area : float
        Cross-validated area under the curve of a random forest that tells the two apart;
        0.5 where it cannot.
    rows_original, rows_holdout : int
        Rows that the tests looked at; where people have several, these people.
    """

    rank: float | None
    deals: int
    area: float
    rows_original: int
    rows_holdout: int

    @property
    def differs(self) -> bool:
        """Whether the holdout is not a sample of the same people.

        The correlations differ more than in every re-deal, or the area is over 0.6 and beyond
        chance. Each happens to one exchangeable holdout in two hundred.
        """
        return self.rank == 1.0 or self.told_apart

    @property
    def told_apart(self) -> bool:
        """Whether the forest tells holdout from originals beyond chance."""
        n, m = self.rows_original, self.rows_holdout
        chance = STANDARD_ERRORS * math.sqrt((n + m + 1) / (12 * n * m))  # Mann-Whitney
        return self.area > max(LARGEST_AREA, 0.5 + chance)

    @property
    def warning(self) -> Message | None:
        """What follows for all that is compared with the holdout, or None if it is alike."""
        if not self.differs:
            return None
        evidence = TOLD_APART if self.told_apart else CORRELATIONS_DIFFER
        return say(
            "holdout_differs",
            f"The holdout is not a sample of the same people, so nothing is judged against it: "
            f"{evidence}. Draw a holdout at random from the originals before anonymisation.",
            area=self.area,
            rank=self.rank,
            deals=self.deals,
            variant="told_apart" if self.told_apart else "correlations",
        )


def exchange(release: Release, seed: int) -> Exchange | None:
    """Return what two tests say on originals and holdout, or None where there is nothing to say.

    Parameters
    ----------
    release : Release
        The tables.
    seed : int
        Seed of the scenario.

    Returns
    -------
    Exchange or None
        None without a real holdout, or with fewer than 30 rows in either table. Computed once
        for a release and seed; the order of rows and columns never matters.
    """
    holdout = release.holdout
    sizes = [release.persons_of(table).count for table in ("working", "reference")]
    if holdout is None or min(sizes) < FEWEST_ROWS:
        return None
    return remembered(
        release, ("exchange", seed), lambda: _exchange(release, stream(seed, "exchange"))
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """Rows of one table, in an order of content, and whose they are."""

    rows: pd.DataFrame
    persons: Persons


def _exchange(release: Release, rng: np.random.Generator) -> Exchange:
    original, unseen = (_sample(release, table, rng) for table in ("original", "holdout"))
    return Exchange(
        rank=_rank(release, original, unseen, rng),
        deals=DEALS,
        area=_area(release, original, unseen, rng),
        rows_original=original.persons.count,
        rows_holdout=unseen.persons.count,
    )


def _sample(release: Release, table: str, rng: np.random.Generator) -> _Sample:
    """Return 5,000 rows of whole persons at most, fewer of wide tables, in an order of content."""
    frame = getattr(release, table)
    most = min(MOST_ROWS, MOST_CELLS // max(1, len(frame.columns)))
    rows, persons = drawn_rows(release, table, most, rng)
    return _Sample(frame.iloc[rows], persons)


def _rank(
    release: Release, original: _Sample, holdout: _Sample, rng: np.random.Generator
) -> float | None:
    """Return the share of re-deals whose two parts differ less in their correlations."""
    used = varying(original.rows, sorted(release.schema.number_names()))
    if len(used) < 2:  # noqa: PLR2004 - a correlation needs two variables
        return None
    pool = np.concatenate([number_matrix(one.rows, used) for one in (original, holdout)])
    # The pool in an order of content, so that the draws meet the rows in any order alike.
    order = np.lexsort(tuple(pool.T[::-1]))
    is_holdout = (np.arange(len(pool)) >= len(original.rows))[order]
    deals, persons = Deals(pool[order]), original.persons.followed_by(holdout.persons)
    owner = np.arange(len(pool)) if persons.are_rows else persons.code[order]
    observed = _difference(deals, is_holdout)
    dealt = [
        _difference(deals, (rng.permutation(persons.count) < holdout.persons.count)[owner])
        for _ in range(DEALS)
    ]
    return float(np.mean(np.array(dealt) < observed))


def _difference(deals: Deals, dealt: NDArray[np.bool_]) -> float:
    """Return the mean absolute difference of the correlations of two parts."""
    part, rest = deals.correlations_of(dealt)
    return math.fsum(np.abs(part - rest)[np.triu_indices(len(part), k=1)])


def _area(release: Release, original: _Sample, holdout: _Sample, rng: np.random.Generator) -> float:
    """Return the mean area over the folds, for a forest that tells holdout from originals.

    Of a person with several rows the mean of what the forest says on them counts.
    """
    from sklearn.ensemble import RandomForestClassifier

    table = _coded(release, (original.rows, holdout.rows))
    is_holdout = np.arange(len(table)) >= len(original.rows)
    groups = original.persons, holdout.persons
    persons = groups[0].followed_by(groups[1])
    fold = np.concatenate([_folds(one.count, rng)[one.code] for one in groups])
    areas = []
    for number in range(FOLDS):
        test = fold == number
        forest = RandomForestClassifier(
            TREES, min_samples_leaf=5, random_state=int(rng.integers(2**31))
        )
        forest.fit(table[~test], is_holdout[~test])
        scores = forest.predict_proba(table[test])[:, 1]
        unseen, seen = (
            persons.part(np.flatnonzero(test & group)).means(scores[group[test]])
            for group in (is_holdout, ~is_holdout)
        )
        areas.append(area_under_curve(unseen, seen))
    return math.fsum(areas) / FOLDS


def _folds(rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each row, of sizes that differ by one at most."""
    return rng.permutation(np.arange(rows) % FOLDS)


def _coded(release: Release, frames: tuple[pd.DataFrame, ...]) -> Matrix:
    """Return the tables below each other as ranks: all that a forest sees of a number.

    Levels are ranked by their code, and missing cells come before all others.
    """
    columns = []
    for name in sorted(frames[0].columns):
        column = np.concatenate([cells(frame, release.schema, name) for frame in frames])
        filled = np.where(np.isnan(column), -np.inf, column)
        columns.append(np.unique(filled, return_inverse=True)[1].astype(np.float64))
    return np.column_stack(columns)


def area_under_curve(members: Matrix, others: Matrix) -> float:
    """Return the chance that a member scores above another, ties counting one half.

    Parameters
    ----------
    members, others : ndarray of float64, each of at least one score

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_exchange import area_under_curve
    >>> area_under_curve(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members, side="left")
    up_to = np.searchsorted(ordered, members, side="right")
    return float((below + up_to).sum() / (2 * len(members) * len(others)))
