"""The correlation difference ratio from the formula, slowly, in plain Python."""

from __future__ import annotations

import math

Table = dict[str, list[float | None]]


def pearson(first: list[float | None], second: list[float | None]) -> float:
    """Return the correlation over rows filled in both; 0 where it is not defined."""
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    if len(pairs) < 2 or len({x for x, _ in pairs}) < 2 or len({y for _, y in pairs}) < 2:
        return 0.0
    mean_x = math.fsum(x for x, _ in pairs) / len(pairs)
    mean_y = math.fsum(y for _, y in pairs) / len(pairs)
    xy = math.fsum((x - mean_x) * (y - mean_y) for x, y in pairs)
    xx = math.fsum((x - mean_x) ** 2 for x, _ in pairs)
    yy = math.fsum((y - mean_y) ** 2 for _, y in pairs)
    return xy / math.sqrt(xx * yy)


def delta(first: Table, second: Table, variables: list[str]) -> float:
    """Return the mean difference over ordered pairs of variables, in percent."""
    p = len(variables)
    total = math.fsum(
        100 * abs(pearson(first[i], first[j]) - pearson(second[i], second[j])) / 2
        for i in variables
        for j in variables
        if i != j
    )
    return total / (p * (p - 1))


def score(working: Table, holdout: Table, avatars: Table) -> float:
    """Return the score; variables constant in WO are left out."""
    variables = [
        name for name, values in working.items() if len({v for v in values if v is not None}) > 1
    ]
    n = len(next(iter(working.values())))
    kappa = math.sqrt(n / 2000) if n > 2000 else 1.0
    avatar_difference = delta(working, avatars, variables)
    if avatar_difference <= 1e-12:
        return 100.0
    return min(100.0, 100 * kappa * delta(working, holdout, variables) / avatar_difference)
