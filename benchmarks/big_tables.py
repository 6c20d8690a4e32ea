"""Tables of any number of rows as folders of Parquet files; no table is ever whole in memory.

    python benchmarks/big_tables.py mixed --rows 10M --holdout 2M --to big/mixed-10M
    python benchmarks/big_tables.py adult.csv --rows 1M --to big/adult-1M

`discrete` has six columns of few levels, three of them whole numbers; `mixed` has seven numeric
ones, with heavy tails, zeros and missing cells, and seven categorical ones of 2 to 500 levels.
The name of a file has its rows drawn again and its numbers jittered. Avatar i is original i with
some of its cells drawn again, so the rows are linked. The same seed gives the same tables, and
the first million rows of a larger table are those of a smaller one.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Rng = np.random.Generator
    Cells = NDArray[np.int64] | NDArray[np.float64]  # NaN for missing, codes of levels

PART_ROWS = 2**20  # one file
REDRAWN_SHARE = 0.15
UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}
KINDS = 60  # hidden classes, which make the columns depend on each other

FEW = {"visits": 5, "grade": 8, "score": 12}  # whole numbers
GROUPS = {"form": 6, "ward": 9, "region": 16}
LEVELS = {
    "sex": 2,
    "status": 5,
    "housing": 9,
    "education": 16,
    "trade": 41,
    "county": 120,
    "diagnosis": 500,
}
WHOLE = {"income", "gain"}  # have missing cells or large numbers, but no fraction
JITTER = 0.03  # of a number of a file that is drawn again
FEWEST_JITTERED = 20  # distinct numbers; with fewer they are codes


class Source(Protocol):
    """Where rows come from."""

    @property
    def levels(self) -> Mapping[str, NDArray[np.str_]]:
        """The levels of each categorical column."""
        ...

    def rows(self, n: int, rng: Rng) -> dict[str, Cells]:
        """Draw n rows."""
        ...


@dataclass(frozen=True, eq=False)
class Discrete:
    """Six columns of few levels."""

    levels: Mapping[str, NDArray[np.str_]]

    def rows(self, n: int, rng: Rng) -> dict[str, Cells]:
        """Draw n rows."""
        kind = _kinds(n, rng)
        return {name: _level(size, kind, rng) for name, size in (FEW | GROUPS).items()}


@dataclass(frozen=True, eq=False)
class Mixed:
    """Seven numeric and seven categorical columns."""

    levels: Mapping[str, NDArray[np.str_]]

    def rows(self, n: int, rng: Rng) -> dict[str, Cells]:
        """Draw n rows."""
        kind = _kinds(n, rng)
        return _numbers(kind, rng) | {
            name: _level(size, kind, rng) for name, size in LEVELS.items()
        }


@dataclass(frozen=True, eq=False)
class Resampled:
    """Rows of a file, its numbers jittered where they are more than codes."""

    levels: Mapping[str, NDArray[np.str_]]
    columns: Mapping[str, Cells]

    def rows(self, n: int, rng: Rng) -> dict[str, Cells]:
        """Draw n rows."""
        drawn = rng.integers(0, len(next(iter(self.columns.values()))), n)
        return {
            name: column[drawn] if name in self.levels else _jittered(column, drawn, rng)
            for name, column in self.columns.items()
        }


def _kinds(n: int, rng: Rng) -> NDArray[np.int64]:
    return np.minimum(rng.geometric(0.06, n) - 1, KINDS - 1)


def _level(size: int, kind: NDArray[np.int64], rng: Rng) -> NDArray[np.int64]:
    """Draw levels: the first ones of a kind often, the last ones seldom."""
    steps = rng.geometric(min(0.6, 12 / size + 0.05), len(kind)) - 1
    return (steps + kind * (1 + size // 20)) % size


def _numbers(kind: NDArray[np.int64], rng: Rng) -> dict[str, Cells]:
    n = len(kind)

    def seldom(share: float) -> NDArray[np.bool_]:
        return rng.random(n) < share

    income = np.exp(rng.normal(7 + kind / 40, 0.6, n)).round()
    return {
        "age": np.clip(17 + rng.gamma(2.5, 9, n) + kind / 4, 17, 100).astype(np.int64),
        "hours": np.where(seldom(0.5), 35, rng.integers(1, 70, n)),
        "income": np.where(seldom(0.03), np.nan, np.where(seldom(0.05), 0.0, income)),
        "gain": np.where(seldom(0.08), (50 * rng.pareto(1.5, n) + 1).round(), 0.0),
        "weight": np.clip(rng.normal(60 + kind / 3, 12, n), 30, 200).round(1),
        "distance": np.minimum(rng.pareto(2.0, n) * (kind + 1), 2_000).round(1),
        "dose": np.where(seldom(0.1), np.nan, rng.gamma(2, 1 + kind / 20, n).round(2)),
    }


def _jittered(column: Cells, drawn: NDArray[np.int64], rng: Rng) -> Cells:
    cells = column[drawn]
    whole = column.dtype.kind == "i"
    if len(np.unique(column[: 10**4])) < FEWEST_JITTERED:
        return cells
    moved = cells * (1 + rng.normal(0, JITTER, len(cells)))
    moved = np.clip(moved.round(0 if whole else 2), np.nanmin(column), np.nanmax(column))
    return moved.astype(np.int64) if whole else moved


def source(table: str) -> Source:
    """Return where the rows of a table come from: `discrete`, `mixed` or the path of a file."""
    if table == "discrete":
        return Discrete(_names(GROUPS))
    return Mixed(_names(LEVELS)) if table == "mixed" else _from_file(Path(table))


def _names(sizes: Mapping[str, int]) -> dict[str, NDArray[np.str_]]:
    return {name: np.array([f"{name} {k}" for k in range(size)]) for name, size in sizes.items()}


def _from_file(path: Path) -> Resampled:
    import pandas as pd

    frame = pd.read_csv(path, keep_default_na=False)
    levels, columns = {}, {}
    for name, column in frame.items():
        if column.dtype.kind in "if":
            columns[str(name)] = column.to_numpy()
            continue
        columns[str(name)], found = pd.factorize(column)
        levels[str(name)] = np.asarray(found, np.str_)
    return Resampled(levels, columns)


def chunk(of: Source, role: str, number: int, n: int, seed: int) -> dict[str, Cells]:
    """Return n rows of one part of a table; avatars are the originals with cells drawn again."""
    people = "holdout" if role == "holdout" else "original"
    rows = of.rows(n, np.random.default_rng([seed, number, len(people)]))
    if role == "avatars":
        rng = np.random.default_rng([seed, number, 0])
        for name, again in of.rows(n, rng).items():
            rows[name] = np.where(rng.random(n) < REDRAWN_SHARE, again, rows[name])
    return rows


def arrow(rows: Mapping[str, Cells], levels: Mapping[str, NDArray[np.str_]]) -> pa.Table:
    """Return rows as an Arrow table: levels as text, whole numbers as such."""
    columns = {}
    for name, cells in rows.items():
        if name in levels:
            codes = pa.array(cells.astype(np.int32))
            columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array(levels[name].tolist()))
        else:
            whole = cells.dtype.kind == "i" or name in WHOLE
            columns[name] = pa.array(cells, pa.int64() if whole else pa.float64(), from_pandas=True)
    return pa.table(columns)


def write(of: Source, role: str, n: int, folder: Path, seed: int) -> None:
    """Write a table as a folder of files, part by part."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n, PART_ROWS)):
        # Always a whole part: a shorter one would have drawn other rows.
        rows = chunk(of, role, number, PART_ROWS, seed)
        part = arrow(rows, of.levels).slice(0, min(PART_ROWS, n - start))
        pq.write_table(part, folder / f"part-{number:04d}.parquet")


def make(table: str, n: int, holdout: int, folder: Path, seed: int = 0) -> Path:
    """Write originals, avatars and a holdout into a folder, unless they are there."""
    sizes = {"original": n, "avatars": n, "holdout": holdout}
    for role, rows in sizes.items():
        if rows and held(folder / role) != rows:
            for old in (folder / role).glob("*.parquet"):
                old.unlink()
            write(source(table), role, rows, folder / role, seed)
    return folder


def held(folder: Path) -> int:
    """Return how many rows a folder of Parquet files holds."""
    return sum(pq.read_metadata(part).num_rows for part in folder.glob("*.parquet"))


def count(text: str) -> int:
    """Return how many rows `300k` or `10M` says."""
    return int(float(text.rstrip("kMG")) * UNITS.get(text[-1], 1))


def main() -> None:
    """Write one table with its avatars and a holdout."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", help="discrete, mixed or a CSV file")
    parser.add_argument("--rows", type=count, required=True, help="300k, 10M")
    parser.add_argument("--holdout", type=count, default=0)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(make(given.table, given.rows, given.holdout, given.to, given.seed))


if __name__ == "__main__":
    main()
