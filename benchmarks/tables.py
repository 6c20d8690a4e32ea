"""Tables to measure on: generated from a seed, or read from two files and resampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    Column = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.str_]

LEVELS = {
    "workclass": 8,
    "education": 16,
    "marital": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "country": 41,
}
SHUFFLED_SHARE = 0.15
FULL_TIME_SHARE = 0.5
FEW_LEVELS = 4  # too few to go with the kind of person


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables with the same columns.

    A numeric column is an array of numbers. A categorical one is an array of codes, with its
    levels kept once, because a million strings would fill the memory.
    """

    x: dict[str, Column]
    y: dict[str, Column]
    levels: dict[str, NDArray[np.str_]]

    def save(self, path: Path) -> None:
        """Write both tables to one file."""
        parts = {f"x {k}": v for k, v in self.x.items()}
        parts |= {f"y {k}": v for k, v in self.y.items()}
        np.savez(path, **parts, **{f"levels {k}": v for k, v in self.levels.items()})

    def columns(self, names: list[str]) -> Pair:
        """Keep some columns."""
        return Pair(
            {k: self.x[k] for k in names},
            {k: self.y[k] for k in names},
            {k: v for k, v in self.levels.items() if k in names},
        )


def load(path: Path) -> Pair:
    """Read what `Pair.save` wrote."""
    parts: dict[str, dict[str, Column]] = {"x": {}, "y": {}, "levels": {}}
    with np.load(path) as stored:
        for key in stored.files:
            kind, name = key.split(" ", 1)
            parts[kind][name] = stored[key]
    return Pair(parts["x"], parts["y"], parts["levels"])


def census(n: int, m: int) -> Pair:
    """Make tables in the shape of a census extract: six numeric and eight categorical columns."""
    levels = {k: np.array([f"{k} {i}" for i in range(size)]) for k, size in LEVELS.items()}
    return Pair(_people(n, 1), _people(m, 2), levels)


def _people(n: int, seed: int) -> dict[str, Column]:
    r = np.random.default_rng(seed)
    kind = r.integers(0, 12, n)  # makes the columns depend on each other
    seldom = r.random((2, n)) < [[0.08], [0.05]]
    table: dict[str, Column] = {
        "age": np.clip(17 + r.gamma(2.5, 9, n) + kind, 17, 90).astype(np.int64),
        "weight": np.exp(r.normal(12, 0.5, n)).astype(np.int64),
        "years_of_school": np.clip(r.normal(8 + kind / 3, 2, n).round(), 1, 16).astype(np.int64),
        "gain": np.where(seldom[0], r.integers(1, 1000, n) ** 2 // 10, 0),
        "loss": np.where(seldom[1], r.integers(1, 90, n) * 50, 0),
        "hours": np.where(
            r.random(n) < FULL_TIME_SHARE, 40, np.clip(r.normal(40, 13, n), 1, 99).round()
        ).astype(np.int64),
    }
    for column, size in LEVELS.items():
        table[column] = (r.geometric(0.4, n) - 1 + kind * (size > FEW_LEVELS) // 3) % size
    return table


def continuous(n: int, m: int) -> Pair:
    """Make twenty independent continuous columns."""
    r = np.random.default_rng(3)
    sides = ({f"c{k}": r.normal(size=rows) for k in range(20)} for rows in (n, m))
    return Pair(*sides, {})


def from_files(original: Path, avatars: Path, n: int, m: int) -> Pair:
    """Read two files and resample their rows; some cells change places, so that few are copies."""
    import pandas as pd

    frames = pd.read_csv(original), pd.read_csv(avatars)
    pair = Pair({}, {}, {})
    for name in frames[0]:
        columns = [frame[name] for frame in frames]
        if all(pd.api.types.is_numeric_dtype(column) for column in columns):
            pair.x[name], pair.y[name] = (column.to_numpy() for column in columns)
            continue
        codes, levels = pd.factorize(pd.concat(columns).astype(str))
        pair.x[name], pair.y[name] = np.split(codes, [len(columns[0])])
        pair.levels[name] = np.asarray(levels, np.str_)
    return Pair(_resampled(pair.x, n, 1), _resampled(pair.y, m, 2), pair.levels)


def _resampled(table: dict[str, Column], rows: int, seed: int) -> dict[str, Column]:
    r = np.random.default_rng(seed)
    drawn = r.integers(0, len(next(iter(table.values()))), rows)
    sample = {name: cells[drawn] for name, cells in table.items()}
    for cells in sample.values():
        moved = np.flatnonzero(r.random(rows) < SHUFFLED_SHARE)
        cells[moved] = cells[r.permutation(moved)]
    return sample


def frames(pair: Pair) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make DataFrames as a reader of files gives them: numbers and strings."""
    import pandas as pd

    x, y = (
        pd.DataFrame({k: pair.levels[k][v] if k in pair.levels else v for k, v in side.items()})
        for side in (pair.x, pair.y)
    )
    return x, y
