"""Hidden rate and local cloaking from the formulas, one pair of points at a time.

Nothing of the package is used. Coordinates come from a singular value decomposition of the coded
originals; hits and ranks are counted in Python.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pandas as pd

TIE = 1e-9


def coordinates(
    original: pd.DataFrame, avatars: pd.DataFrame, axes: int
) -> tuple[list[list[float]], list[list[float]]]:
    """Return both tables in the first axes of the originals; no cell may be missing."""
    coded: list[tuple[np.ndarray, np.ndarray]] = []
    for name in original:
        x, y = original[name], avatars[name]
        if pd.api.types.is_numeric_dtype(x):
            spread = x.std(ddof=0)
            coded.append(
                (((x - x.mean()) / spread).to_numpy(), ((y - x.mean()) / spread).to_numpy())
            )
            continue
        for level in x.unique():
            share = (x == level).mean()
            coded.append(
                tuple(((side == level) - share).to_numpy(float) / share**0.5 for side in (x, y))
            )
    first = np.column_stack([x for x, _ in coded])
    second = np.column_stack([y for _, y in coded])
    turned = np.linalg.svd(first, full_matrices=False)[2][:axes].T
    return (first @ turned).tolist(), (second @ turned).tolist()


def ranks(x: list[list[float]], y: list[list[float]]) -> list[tuple[int, int]]:
    """Return for each i how many y are nearer to x_i than y_i, and how many are as near."""
    found = []
    for i, point in enumerate(x):
        distances = [math.dist(point, other) for other in y]
        nearer = sum(d < distances[i] - TIE for d in distances)
        found.append((nearer, sum(abs(d - distances[i]) <= TIE for d in distances)))
    return found


def hidden_rate(found: list[tuple[int, int]]) -> float:
    """Return 100 (1 - mean of 1[y_i nearest] / size of the tie set)."""
    return 100 * (1 - sum(1 / tied for nearer, tied in found if nearer == 0) / len(found))


def ties_as_hits(found: list[tuple[int, int]]) -> float:
    """Return the same with every tie a hit."""
    return 100 * (1 - sum(nearer == 0 for nearer, _ in found) / len(found))


def local_cloaking(found: list[tuple[int, int]], *, with_ties: bool = False) -> float:
    """Return the median number of avatars nearer than the own one."""
    return median(nearer + (tied - 1) * with_ties for nearer, tied in found)
