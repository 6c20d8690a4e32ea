"""One contestant in its own process: reads a pair of tables, then runs whenever it is told to.

Every contestant starts from tables in memory and ends with the distance of each row of x to its
nearest row of y. What it must do in between (codes, scaling, one-hot columns, an index) counts.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tables import frames, load

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray
    from tables import Pair

    from evalkit.kernels import Column

    Distances = NDArray[np.floating]


def evalkit_columns(x: pd.DataFrame, y: pd.DataFrame) -> list[Column]:
    """Turn frames into what the search takes, on both cores."""
    from concurrent.futures import ThreadPoolExecutor

    import pandas as pd

    from evalkit.kernels import Column

    def column(name: str) -> Column:
        a, b = x[name], y[name]
        if pd.api.types.is_numeric_dtype(a):
            ends = min(a.min(), b.min()), max(a.max(), b.max())
            low, high = (end.item() for end in ends)
            return Column(a.to_numpy(), b.to_numpy(), numeric=True, low=low, high=high)
        codes = pd.factorize(pd.concat([a, b], ignore_index=True))[0]
        return Column(codes[: len(a)], codes[len(a) :], numeric=False)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(column, x.columns))


def evalkit(pair: Pair) -> Callable[[], Distances]:
    """Search with our own kernels."""
    from evalkit.kernels import nearest

    x, y = frames(pair)
    return lambda: nearest(evalkit_columns(x, y)).distance


def evalkit_scan(pair: Pair) -> Callable[[], Distances]:
    """Search with our own kernels, without a tree."""
    from functools import partial

    from evalkit.kernels import nearest, pruned

    real = pruned.search_pruned

    def scan(*arguments: object) -> object:
        problem, rows, target, plan, crew = arguments
        return real(problem, rows, target, pruned.Plan(plan.longest, shape="scan"), crew)

    pruned.search_pruned = scan
    x, y = frames(pair)
    search = partial(nearest, path="compiled")
    return lambda: search(evalkit_columns(x, y)).distance


def one_hot(x: pd.DataFrame, y: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Make matrices whose city-block distance is Gower's: each level is a column of halves."""
    import pandas as pd

    parts: list[NDArray[np.float64]] = []
    for name in x:
        both = pd.concat([x[name], y[name]], ignore_index=True)
        if pd.api.types.is_numeric_dtype(both):
            span = both.max() - both.min()
            parts.append(((both - both.min()) / (span or 1)).to_numpy()[:, None])
        else:
            codes, levels = pd.factorize(both)
            parts.append(0.5 * np.eye(len(levels))[codes])
    matrix = np.hstack(parts)
    return matrix[: len(x)], matrix[len(x) :]


def scipy(pair: Pair) -> Callable[[], Distances]:
    """Search with scipy's cKDTree, p = 1, over one-hot columns, on both cores."""
    from scipy.spatial import cKDTree

    x, y = frames(pair)

    def run() -> Distances:
        queries, targets = one_hot(x, y)
        return cKDTree(targets).query(queries, p=1, workers=-1)[0] / x.shape[1]

    return run


def sklearn(pair: Pair, algorithm: str) -> Callable[[], Distances]:
    """Search with scikit-learn over one-hot columns, on both cores."""
    from sklearn.neighbors import NearestNeighbors

    x, y = frames(pair)

    def run() -> Distances:
        queries, targets = one_hot(x, y)
        model = NearestNeighbors(
            n_neighbors=1, algorithm=algorithm, metric="manhattan", n_jobs=-1
        ).fit(targets)
        return model.kneighbors(queries)[0][:, 0] / x.shape[1]

    return run


def faiss(pair: Pair) -> Callable[[], Distances]:
    """Search with faiss' flat index for city-block distances (float32, numeric columns only)."""
    import faiss as library

    def run() -> Distances:
        x, y = (np.column_stack(list(side.values())) for side in (pair.x, pair.y))
        both = np.vstack([x, y])
        low, span = both.min(axis=0), np.ptp(both, axis=0)
        index = library.IndexFlat(x.shape[1], library.METRIC_L1)
        index.add(((y - low) / span).astype(np.float32))
        distances = index.search(((x - low) / span).astype(np.float32), 1)[0]
        return distances[:, 0] / x.shape[1]

    return run


def gower(pair: Pair) -> Callable[[], Distances]:
    """Search with the package `gower`; right only where the tables differ in length."""
    import gower as library

    categorical = [name in pair.levels for name in pair.x]
    x, y = (frame.astype(object) for frame in frames(pair))
    return lambda: library.gower_matrix(x, y, cat_features=categorical).min(axis=1)


def gower_on_codes(pair: Pair) -> Callable[[], Distances]:
    """Spare the package `gower` the strings: all columns as float64 beforehand."""
    import gower as library

    categorical = [name in pair.levels for name in pair.x]
    x, y = (np.column_stack(list(side.values())).astype(float) for side in (pair.x, pair.y))
    return lambda: library.gower_matrix(x, y, cat_features=categorical).min(axis=1)


def anonymeter(pair: Pair) -> Callable[[], Distances]:
    """Search with anonymeter, on both cores."""
    import anonymeter.evaluators  # noqa: F401 - must come first: the two import each other
    from anonymeter.neighbors.mixed_types_kneighbors import MixedTypeKNeighbors

    x, y = frames(pair)
    types = {
        "num": [name for name in pair.x if name not in pair.levels],
        "cat": [name for name in pair.x if name in pair.levels],
    }

    def run() -> Distances:
        model = MixedTypeKNeighbors(n_neighbors=1, n_jobs=-1).fit(y, ctypes=types)
        return model.kneighbors(x, return_distance=True)[0].ravel() / x.shape[1]

    return run


CONTESTANTS: dict[str, Callable[[Pair], Callable[[], Distances]]] = {
    "evalkit": evalkit,
    "evalkit, plain scan": evalkit_scan,
    "scipy cKDTree": scipy,
    "scikit-learn kd_tree": lambda pair: sklearn(pair, "kd_tree"),
    "scikit-learn brute": lambda pair: sklearn(pair, "brute"),
    "faiss flat L1": faiss,
    "gower": gower,
    "gower, strings coded beforehand": gower_on_codes,
    "anonymeter": anonymeter,
}


def serve(name: str, data: Path, out: Path) -> None:
    """Run once per line of standard input and say how many seconds it took."""
    run = CONTESTANTS[name](load(data))
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        distances = run()
        print(json.dumps(time.perf_counter() - start), flush=True)
        np.save(out, distances)


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
