"""Small random tables full of what makes distances hard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.kernels import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NUMBERS = {
    "integers": lambda r, k: r.integers(0, 40, k),
    "few integers": lambda r, k: r.integers(0, 3, k),
    "decimals": lambda r, k: np.round(r.normal(0, 3, k), 2),
    "decimals with gaps": lambda r, k: with_gaps(r, np.round(r.normal(0, 3, k), 1)),
    "floats": lambda r, k: r.normal(size=k),
    "floats with gaps": lambda r, k: with_gaps(r, r.normal(size=k)),
    "constant": lambda _, k: np.full(k, 7.0),
    "constant with gaps": lambda r, k: with_gaps(r, np.full(k, 7.0)),
    "all missing": lambda _, k: np.full(k, np.nan),
    "wide range": lambda r, k: r.integers(0, 3, k) * 10**9 + r.integers(0, 3, k),
    "widest range": lambda r, k: r.integers(-(2**62), 2**62, k),
}
LEVELS = {
    "levels": lambda r, k: r.integers(0, 5, k),
    "levels with gaps": lambda r, k: r.integers(-1, 4, k),
    "keys that nobody shares": lambda r, k: r.integers(0, 10**9, k),
    "half-shared keys": lambda r, k: np.abs(np.arange(k) - k // 3) + r.integers(0, 2),
}
NARROW = ["few integers", "levels", "levels with gaps", "half-shared keys", "constant with gaps"]


def with_gaps(r: np.random.Generator, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make a fifth of the cells missing."""
    return np.where(r.random(len(cells)) < 0.2, np.nan, cells)


def numeric(query: NDArray[Any], target: NDArray[Any], ends: NDArray[Any]) -> Column:
    """Make a numeric column whose range is that of the filled cells in `ends`."""
    filled = [value for value in ends.tolist() if value == value]  # noqa: PLR0124 - drops NaN
    if not filled:
        return Column(query, target, numeric=True)
    return Column(query, target, numeric=True, low=min(filled), high=max(filled))


def random_columns(seed: int, kinds: Sequence[str] | None = None) -> list[Column]:
    """Make up to five columns over up to 25 queries and 31 targets, some of them copies."""
    r = np.random.default_rng(seed)
    n, m = int(r.integers(1, 26)), int(r.integers(1, 32))
    pool = NARROW if r.random() < 0.4 else [*NUMBERS, *LEVELS]
    copied = r.integers(0, n, int(r.integers(0, m // 2 + 1)))
    columns = []
    for kind in r.choice(pool, r.integers(1, 6)) if kinds is None else kinds:
        cells = (NUMBERS | LEVELS)[kind](r, n + m)
        query, target = cells[:n].copy(), cells[n:].copy()
        target[: len(copied)] = query[copied]
        if kind in NUMBERS:
            # Cells of the targets may lie outside a range over the queries alone.
            columns.append(numeric(query, target, query if r.random() < 0.4 else cells))
        else:
            columns.append(Column(query, target, numeric=False))
    return columns


def shuffled(
    columns: Sequence[Column], rows: NDArray[np.intp], targets: NDArray[np.intp]
) -> list[Column]:
    """Take rows and targets in another order."""
    return [Column(c.query[rows], c.target[targets], c.numeric, c.low, c.high) for c in columns]
