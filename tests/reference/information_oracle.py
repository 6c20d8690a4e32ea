"""The mutual information ratio from the formula, slowly, in plain Python; tables of one size."""

from __future__ import annotations

import math
from collections import Counter
from typing import TypeAlias

Cell: TypeAlias = float | str | None
Table: TypeAlias = dict[str, list[Cell]]


def normalised(first: list[Cell], second: list[Cell]) -> float:
    """Return NMI of two columns of levels, with the correction of Miller and Madow."""
    n = len(first)
    joint, x, y = Counter(zip(first, second, strict=True)), Counter(first), Counter(second)
    if len(x) < 2 or len(y) < 2:
        return 0.0
    shared = math.fsum(
        count / n * math.log(count * n / (x[pair[0]] * y[pair[1]])) for pair, count in joint.items()
    )
    shared -= (len(x) - 1) * (len(y) - 1) / (2 * n)
    entropies = [
        -math.fsum(count / n * math.log(count / n) for count in side.values()) for side in (x, y)
    ]
    return max(0.0, shared) / math.sqrt(entropies[0] * entropies[1])


def binned(column: list[Cell], working: list[Cell], bins: int) -> list[Cell]:
    """Return the bin of each number: how many different quantiles above the least it reaches."""
    ordered = sorted(cell for cell in working if isinstance(cell, float))
    cuts = {ordered[k * len(ordered) // bins] for k in range(1, bins)} - {ordered[0]}
    cuts = cuts or {min((cell for cell in ordered if cell > ordered[0]), default=math.inf)}
    return [
        float(sum(cell >= cut for cut in cuts)) if isinstance(cell, float) else None
        for cell in column
    ]


def joined(column: list[Cell], working: list[Cell]) -> list[Cell]:
    """Return the levels, those of under ten cells of the originals as one."""
    counts = Counter(working)
    return [None if cell is None else cell if counts[cell] >= 10 else "..." for cell in column]


def levels(table: Table, working: Table, bins: int) -> Table:
    """Return a table as levels."""
    return {
        name: binned(column, working[name], bins)
        if any(isinstance(cell, float) for cell in working[name])
        else joined(column, working[name])
        for name, column in table.items()
    }


def score(working: Table, holdout: Table, avatars: Table) -> float:
    """Return the score of three tables of the same number of rows."""
    n = len(next(iter(working.values())))
    bins = min(10, max(3, math.isqrt(n // 10)))
    coded = [levels(table, working, bins) for table in (working, holdout, avatars)]
    names = [name for name, column in coded[0].items() if len(set(column)) > 1]
    reference, avatar = (
        math.fsum(
            abs(normalised(coded[0][i], coded[0][j]) - normalised(other[i], other[j]))
            for i in names
            for j in names
            if i < j
        )
        for other in coded[1:]
    )
    if avatar <= 1e-12:
        return 100.0
    kappa = math.sqrt(n / 2000) if n > 2000 else 1.0
    return min(100.0, 100 * kappa * reference / avatar)
