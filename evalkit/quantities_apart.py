"""How well a model tells two tables apart: cross-validated area under the curve, and by what.

Where people have several rows, whole persons are put in the folds and each counts once in the area.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.persons import Persons
from evalkit.quantities import cells
from evalkit.quantities_exchange import area_under_curve
from evalkit.quantities_models import by_content, coarse, features, light_options
from evalkit.quantities_order import prepared

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.schema import Schema

    Matrix = NDArray[np.float64]

FOLDS = 3
MOST_ROWS = 20_000  # of a table (metrics.md, rule 5)
MOST_CELLS = 2_000_000  # of a table: with many columns fewer rows do
MOST_PERMUTED_ROWS = 2_000  # of a fold, in which a column is mixed up
CHANCE_FACTOR = 1.35
"""Areas over the folds of one table vary that much more than Mann and Whitney's."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two tables that a model is to tell apart, rows in an order of content.

    Attributes
    ----------
    first, second : ndarray of float64, each of shape (rows, columns)
        Ranks from `features`, NaN for missing.
    categorical : tuple of bool
        Which columns are levels.
    persons : tuple of two Persons, optional
        Whose the rows of the first and of the second table are; each a person of its own if left
        out.
    """

    first: Matrix
    second: Matrix
    categorical: tuple[bool, ...]
    persons: tuple[Persons, Persons] | None = None

    def area(self, rng: np.random.Generator) -> float:
        """Return the mean area under the curve over the folds of one division."""
        with _one_thread():
            areas = [fold.area() for fold in self._folds(rng)]
        return math.fsum(areas) / len(areas)

    def losses(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return by how much the area falls when a column is mixed up among unseen rows.

        Returns
        -------
        ndarray of float64, shape (columns,)
            Mean over the folds of one division; near 0, or below it, for a column of no use.
        """
        with _one_thread():
            found = [fold.losses(rng) for fold in self._folds(rng)]
        return np.array([math.fsum(column) / len(found) for column in zip(*found, strict=True)])

    def _folds(self, rng: np.random.Generator) -> list[_Fold]:
        """Return one model for each fold, which never saw the persons of that fold."""
        table = np.concatenate([self.first, self.second])
        is_second = np.arange(len(table)) >= len(self.first)
        groups = self.persons or tuple(
            map(Persons.one_row_each, map(len, (self.first, self.second)))
        )
        persons = groups[0].followed_by(groups[1])
        fold = np.concatenate(
            [rng.permutation(np.arange(one.count) % FOLDS)[one.code] for one in groups]
        )
        return [
            _Fold(
                _model(table[fold != number], is_second[fold != number], self.categorical),
                table[fold == number],
                is_second[fold == number],
                persons.part(fold == number),
            )
            for number in range(FOLDS)
        ]


@dataclass(frozen=True, eq=False)
class _Fold:
    """A fitted model with the rows that it never saw, and whose these are."""

    model: Any
    unseen: Matrix
    is_second: NDArray[np.bool_]
    persons: Persons

    def area(self) -> float:
        return self._area(self.unseen)

    def losses(self, rng: np.random.Generator) -> list[float]:
        chosen = np.sort(rng.permutation(len(self.unseen))[:MOST_PERMUTED_ROWS])
        some = _Fold(
            self.model, self.unseen[chosen], self.is_second[chosen], self.persons.part(chosen)
        )
        whole, found = some.area(), []
        for column in range(self.unseen.shape[1]):
            mixed = some.unseen.copy()
            mixed[:, column] = rng.permutation(mixed[:, column])
            found.append(whole - some._area(mixed))
        return found

    def _area(self, rows: Matrix) -> float:
        """Return the chance that one of the second table looks more like it than one of the first.

        Of a person with several rows the mean of what the model says on them counts.
        """
        scores = self.model.predict_proba(rows)[:, 1]
        second, first = (
            self.persons.part(np.flatnonzero(group)).means(scores[group])
            for group in (self.is_second, ~self.is_second)
        )
        return area_under_curve(second, first)


def _one_thread() -> Any:
    """Return a context in which models use one thread.

    With several, each waits for all others after every step: beside other work on the same
    machine that took eighty times as long.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="openmp")


def _model(table: Matrix, is_second: NDArray[np.bool_], categorical: tuple[bool, ...]) -> Any:
    """Return a fitted model, both tables weighing the same."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        class_weight="balanced",
        categorical_features=list(categorical),
        **light_options(len(table)),
    )
    # A column that no row fills tells nothing; gradient boosting cannot even bin it.
    filled = np.where(np.isnan(table).all(axis=0), 0.0, table)
    return model.fit(filled, is_second)


def chance_area(first: int, second: int) -> float:
    """Return the area that a model reaches by chance in one of forty pairs of alike tables.

    Parameters
    ----------
    first, second : int
        Rows of the two tables, at least 1; where people have several, these people.

    Returns
    -------
    float
        0.5 to 1; standard error of Mann and Whitney's area, times 1.35 as models are fitted.

    Examples
    --------
    >>> from evalkit.quantities_apart import chance_area
    >>> round(chance_area(500, 500), 3)
    0.548
    """
    error = math.sqrt((first + second + 1) / (12 * first * second))
    return min(1.0, 0.5 + 1.96 * CHANCE_FACTOR * error)


def most_rows(columns: int) -> int:
    """Return how many rows of a table are used: 20,000, fewer with more than 100 columns.

    Examples
    --------
    >>> from evalkit.quantities_apart import most_rows
    >>> most_rows(15), most_rows(300)
    (20000, 6666)
    """
    return min(MOST_ROWS, MOST_CELLS // max(1, columns))


@dataclass(frozen=True, eq=False)
class Tables:
    """Several tables as ranks, without the columns that do not vary in the first two.

    Attributes
    ----------
    names : tuple of str
        Columns in the order of the ranks, which is one of content.
    left_out : tuple of str
        Columns with one value, or none, in the first two tables; sorted.
    ranks : list of ndarray of float64
        One table each, rows in an order of content, drawn where there are too many.
    categorical : tuple of bool
        Which columns are levels.
    persons : list of Persons
        Whose the rows of each table are.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    ranks: list[Matrix]
    categorical: tuple[bool, ...]
    persons: list[Persons]

    def contrast(self, second: int) -> Contrast:
        """Return the first table beside another."""
        persons = self.persons[0], self.persons[second]
        return Contrast(self.ranks[0], self.ranks[second], self.categorical, persons)


def tables(
    schema: Schema,
    frames: Sequence[pd.DataFrame],
    persons: Sequence[Persons],
    rng: np.random.Generator,
) -> Tables:
    """Return tables made ready to be told apart.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    frames : sequence of DataFrame
        Tables of one release; the first two decide which columns vary.
    persons : sequence of Persons
        Whose the rows of each table are.
    rng : Generator
        Draws whole persons where a table has too many rows; from a table of over 200,000 rows
        before anything is ranked.

    Returns
    -------
    Tables
        The same for any order of rows and columns, any unit and, but for columns that hold the
        same values, any names. Names of columns and levels decide which rows of a table of over
        200,000 are drawn.
    """
    names = sorted(schema.used_names())
    varied = {name: _varies(schema, frames[:2], name) for name in names}
    most = most_rows(sum(varied.values()))
    ready = [
        prepared(frame, whose, rng, rows=most) for frame, whose in zip(frames, persons, strict=True)
    ]
    frames, persons = [one.frame for one in ready], [one.persons for one in ready]
    found, order = by_content(features(schema, frames, names))
    found = coarse(found)
    ordered = [names[place] for place in order]
    varies = np.array([varied[name] for name in ordered], dtype=bool)
    drawn = [
        _drawn(table[:, varies], whose, most, rng)
        for table, whose in zip(found.tables, persons, strict=True)
    ]
    return Tables(
        names=tuple(name for name, kept in zip(ordered, varies, strict=True) if kept),
        left_out=tuple(sorted(n for n, kept in zip(ordered, varies, strict=True) if not kept)),
        ranks=[ranks for ranks, _ in drawn],
        categorical=tuple(np.array(found.categorical, dtype=bool)[varies].tolist()),
        persons=[whose for _, whose in drawn],
    )


def _varies(schema: Schema, frames: Sequence[pd.DataFrame], name: str) -> bool:
    """Return whether a column holds two different cells in these tables, missing being one."""
    columns = [cells(frame, schema, name) for frame in frames]
    first = next((one[0] for one in columns if len(one)), None)
    if first is None:
        return False
    if np.isnan(first):
        return not all(bool(np.isnan(one).all()) for one in columns)
    return not all(bool((one == first).all()) for one in columns)


def _drawn(
    table: Matrix, persons: Persons, most: int, rng: np.random.Generator
) -> tuple[Matrix, Persons]:
    """Return the rows in an order of content, about `most` of them where there are more."""
    order = np.lexsort(tuple(table.T[::-1])) if table.shape[1] else np.arange(len(table))
    rows = persons.drawn(order, most, rng)
    whose = persons.in_order(rows)
    return table[rows], whose
