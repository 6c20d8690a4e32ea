"""Nearest targets and link probabilities in exact fractions, one pair of rows at a time."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.kernels import Column

TIE = Fraction(1, 10**9)


def exact(value: float) -> Fraction:
    """The decimal that a number is written as, not the binary fraction that stores it."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def delta(x: float, y: float, column: Column, *, capped: bool) -> Fraction:
    """What one column adds to the distance, before the division by the number of columns."""
    if not column.numeric:
        return Fraction(x != y)
    x_missing, y_missing = x != x, y != y  # noqa: PLR0124 - NaN differs from itself
    if x_missing or y_missing:
        return Fraction(x_missing != y_missing)
    scale = Fraction(0)
    if column.low is not None and column.high is not None:
        scale = exact(column.high) - exact(column.low)
    if scale == 0:
        return Fraction(capped and x != y)
    share = abs(exact(x) - exact(y)) / scale
    return min(share, Fraction(1)) if capped else share


def nearest_targets(
    columns: Sequence[Column], *, capped: bool
) -> list[tuple[Fraction, frozenset[int]]]:
    """For each query the least distance and every target within 1e-9 of it."""
    cells = [(c, c.query.tolist(), c.target.tolist()) for c in columns]
    answers = []
    for i in range(len(columns[0].query)):
        distances = [
            sum((delta(x[i], y[j], c, capped=capped) for c, x, y in cells), Fraction(0))
            / len(columns)
            for j in range(len(columns[0].target))
        ]
        least = min(distances)
        near = frozenset(j for j, d in enumerate(distances) if d <= least + TIE)
        answers.append((least, near))
    return answers


def link_chances(
    a: Sequence[tuple[Fraction, frozenset[int]]], b: Sequence[tuple[Fraction, frozenset[int]]]
) -> list[Fraction]:
    """For each query the chance that uniform picks from both tie sets are the same target."""
    return [
        Fraction(len(left & right), len(left) * len(right))
        for (_, left), (_, right) in zip(a, b, strict=True)
    ]
