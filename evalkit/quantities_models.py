"""Models that guess one column from others, the same whatever the order of rows or the units."""

from __future__ import annotations

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
