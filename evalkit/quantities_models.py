"""Models that guess one column from others, the same whatever the order of rows or the units."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.kernels.ranks import level_ranks, number_ranks
from evalkit.quantities import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.schema import Schema

MOST_ROWS = 20_000  # rows of a table on which a model is fitted (metrics.md, rule 5)
MOST_LEVELS = 255  # levels of a column that gradient boosting can tell apart
MOST_TREES = 300  # of one model: many levels of the target mean fewer rounds
ROUNDS = (10, 100)
LIGHT_TREES = 80  # of a model of which many are fitted
LIGHT_ROUNDS = (10, 30)


@dataclass(frozen=True, eq=False)
class Features:
    """Columns of several tables as gradient boosting reads them.

    Attributes
    ----------
    tables : list of ndarray of float64, each of shape (rows, columns)
        Ranks, NaN for missing: of a number its rank among all tables, of a level its rank by
        frequency. Neither a change of units nor a name can move them.
    categorical : tuple of bool
        Which columns are levels.
    """

    tables: list[NDArray[np.float64]]
    categorical: tuple[bool, ...]


def features(schema: Schema, frames: Sequence[pd.DataFrame], names: Sequence[str]) -> Features:
    """Return the columns `names`, sorted by name, of all `frames`.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    frames : sequence of DataFrame
        Tables of one release.
    names : sequence of str
        At least one.

    Returns
    -------
    Features
    """
    ordered = sorted(names)
    found = [column_ranks(schema, frames, name) for name in ordered]
    tables = []
    for table in zip(*found, strict=True):
        ranks = np.stack(table, axis=1).astype(np.float64)
        ranks[ranks < 0] = np.nan
        tables.append(ranks)
    categorical = tuple(not schema[name].is_number for name in ordered)
    for column in np.flatnonzero(categorical):
        for ranks in tables:  # the rarest levels of a long list count as one
            ranks[:, column] = np.minimum(ranks[:, column], MOST_LEVELS - 1)
    return Features(tables, categorical)


def by_content(found: Features) -> tuple[Features, list[int]]:
    """Return the columns in an order of what they hold, so that their names do not matter.

    Parameters
    ----------
    found : Features
        Columns sorted by name.

    Returns
    -------
    features : Features
        The same columns; those with the very same values in every table keep their order.
    order : list of int
        Former place of each column.
    """
    digests = [
        hashlib.sha256(b"".join(np.sort(table[:, column]).tobytes() for table in found.tables))
        for column in range(len(found.categorical))
    ]
    order = sorted(range(len(digests)), key=lambda column: digests[column].digest())
    categorical = tuple(found.categorical[column] for column in order)
    return Features([table[:, order] for table in found.tables], categorical), order


def coarse(found: Features) -> Features:
    """Return the columns with 255 different values at most, cut at their quantiles in all tables.

    Gradient boosting looks at no more than that anyway. Where rows have weights, scikit-learn
    finds its own cuts by one weighted percentile after the other: for wide tables that takes
    several times as long as all trees.

    Parameters
    ----------
    found : Features

    Returns
    -------
    Features
        The order of values is kept; missing stays missing.
    """
    tables = [table.copy() for table in found.tables]
    for column in range(len(found.categorical)):
        pooled = np.concatenate([table[:, column] for table in tables])
        filled = pooled[~np.isnan(pooled)]
        if len(np.unique(filled)) <= MOST_LEVELS:
            continue
        cuts = np.unique(np.quantile(filled, np.linspace(0, 1, MOST_LEVELS + 1)[1:-1]))
        for table in tables:
            known = ~np.isnan(table[:, column])
            table[known, column] = np.searchsorted(cuts, table[known, column], side="right")
    return Features(tables, found.categorical)


def column_ranks(
    schema: Schema, frames: Sequence[pd.DataFrame], name: str
) -> list[NDArray[np.int32]]:
    """Return one column of all tables as ranks, -1 for missing."""
    found = [cells(frame, schema, name) for frame in frames]
    return number_ranks(found) if schema[name].is_number else level_ranks(found)


def rounds(classes: int) -> int:
    """Return how many rounds of boosting a model with so many classes gets.

    Examples
    --------
    >>> from evalkit.quantities_models import rounds
    >>> rounds(2), rounds(15), rounds(200)
    (100, 20, 10)
    """
    low, high = ROUNDS
    trees = classes if classes > 2 else 1  # noqa: PLR2004 - two classes need one tree a round
    return max(low, min(high, MOST_TREES // trees))


def light_options(rows: int, classes: int = 2) -> dict[str, Any]:
    """Return the options of a model of which many are fitted: as large as its rows can feed.

    Parameters
    ----------
    rows : int
        Rows in training.
    classes : int
        Levels of the target; 1 for a number.

    Returns
    -------
    dict
        For scikit-learn's histogram-based gradient boosting: 30 rounds, fewer and faster
        ones with many levels; a leaf for thirty rows, 31 at most.

    Examples
    --------
    >>> from evalkit.quantities_models import light_options
    >>> options = light_options(rows=300, classes=4)
    >>> options["max_iter"], options["learning_rate"], options["max_leaf_nodes"]
    (20, 0.25, 10)
    """
    trees = classes if classes > 2 else 1  # noqa: PLR2004 - two classes need one tree a round
    low, high = LIGHT_ROUNDS
    number = max(low, min(high, LIGHT_TREES // trees))
    return {
        "max_iter": number,
        "learning_rate": min(0.3, 5 / number),
        "max_leaf_nodes": min(31, max(4, rows // 30)),
        "min_samples_leaf": min(20, max(2, rows // 20)),
        "early_stopping": False,
        "random_state": 0,
    }


def predicted(
    training: NDArray[np.float64],
    target: NDArray[np.float64],
    tested: NDArray[np.float64],
    categorical: Sequence[bool],
    *,
    of_levels: bool,
) -> NDArray[np.float64]:
    """Return what a light model predicts for each tested row.

    Parameters
    ----------
    training, tested, categorical
        As for `guessed_levels`.
    target : ndarray of float64, shape (n,)
        Numbers, of which the model makes squared errors small, or levels as whole numbers.
    of_levels : bool
        Which of the two.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    different = np.unique(target)
    if len(different) == 1:
        return np.full(len(tested), different[0])
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    options = light_options(len(training), len(different) if of_levels else 1)
    options["categorical_features"] = list(categorical)
    model = (
        HistGradientBoostingClassifier(class_weight="balanced", **options)
        if of_levels
        else HistGradientBoostingRegressor(**options)
    )
    return _fitted(model, training, target, tested)


def guessed_levels(
    training: NDArray[np.float64],
    levels: NDArray[np.int64],
    tested: NDArray[np.float64],
    categorical: Sequence[bool],
) -> NDArray[np.int64]:
    """Return the level that a model guesses for each tested row.

    Parameters
    ----------
    training : ndarray of float64, shape (n, columns)
        From `features`, at least one row, in an order that does not depend on the file.
    levels : ndarray of int64, shape (n,)
        What is to be guessed, from 0 up; each level weighs the same.
    tested : ndarray of float64, shape (m, columns)
    categorical : sequence of bool

    Returns
    -------
    ndarray of int64, shape (m,)
    """
    different = np.unique(levels)
    if len(different) == 1:
        return np.full(len(tested), different[0])
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=rounds(len(different)),
        class_weight="balanced",
        categorical_features=list(categorical),
        early_stopping=False,
        random_state=0,
    )
    guessed: NDArray[np.int64] = _fitted(model, training, levels, tested).astype(np.int64)
    return guessed


def guessed_numbers(
    training: NDArray[np.float64],
    numbers: NDArray[np.float64],
    tested: NDArray[np.float64],
    categorical: Sequence[bool],
) -> NDArray[np.float64]:
    """Return the number that a model guesses for each tested row.

    Parameters
    ----------
    training, tested, categorical
        As for `guessed_levels`.
    numbers : ndarray of float64, shape (n,)
        What is to be guessed; the model makes absolute errors small.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        loss="absolute_error",
        max_iter=rounds(1),
        categorical_features=list(categorical),
        early_stopping=False,
        random_state=0,
    )
    return _fitted(model, training, numbers, tested)


def _fitted(
    model: Any,
    training: NDArray[np.float64],
    target: NDArray[np.generic],
    tested: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the guesses of a model fitted by one thread.

    With several, each waits for all others after every step: beside other work on the same
    machine that took eighty times as long.
    """
    from threadpoolctl import threadpool_limits

    # A column that no row fills tells nothing; gradient boosting cannot even bin it.
    training = np.where(np.isnan(training).all(axis=0), 0.0, training)
    with threadpool_limits(limits=1, user_api="openmp"):
        guessed: NDArray[np.float64] = model.fit(training, target).predict(tested)
    return guessed
