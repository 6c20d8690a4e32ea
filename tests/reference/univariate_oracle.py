"""The three univariate scores written out row by row from their formulas; slow on purpose."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd


def is_missing(value: Any) -> bool:
    return value is None or value != value  # noqa: PLR0124 - NaN alone differs from itself


def quantile(ordered: Sequence[float], numerator: int, denominator: int) -> float:
    """Return the least value that the share of the ordered cells does not pass."""
    place = -(-numerator * len(ordered) // denominator)  # the ceiling, in whole numbers
    return ordered[max(place, 1) - 1]


def bin_of(column: Sequence[Any], bins: int, *, numeric: bool) -> Callable[[Any], tuple[str, Any]]:
    """Return what tells the bin of a cell, by the working originals in `column`."""
    ordered = sorted(value for value in column if not is_missing(value)) if numeric else []
    edges = sorted({quantile(ordered, k, bins) for k in range(1, bins)}) if ordered else []

    def place(value: Any) -> tuple[str, Any]:
        if is_missing(value):
            return ("missing", None)
        if not numeric:
            return ("level", value)
        if edges and edges[0] == ordered[0] and value < edges[0]:
            return ("below", None)
        return ("bin", sum(value > edge for edge in edges))

    return place


def distance(first: Sequence[Any], second: Sequence[Any], bins: int, *, numeric: bool) -> float:
    """Return Hellinger's H of one variable."""
    place = bin_of(first, bins, numeric=numeric)
    p, q = (Counter(place(value) for value in column) for column in (first, second))
    overlap = sum(math.sqrt(p[one] / len(first) * q[one] / len(second)) for one in p)
    return math.sqrt(max(0.0, 1 - overlap))


def hellinger(original: pd.DataFrame, avatars: pd.DataFrame, numeric: set[str]) -> float:
    bins = min(20, max(2, min(len(original), len(avatars)) // 10))
    found = []
    for name in original:
        first, second = list(original[name]), list(avatars[name])
        values = {None if is_missing(one) else one for one in [*first, *second]}
        if len(values) > 1:
            found.append(distance(first, second, bins, numeric=name in numeric))
    return 100 * (1 - sum(found) / len(found))


def covered(first: Sequence[Any], second: Sequence[Any], least: int, *, numeric: bool) -> float:
    """Return the coverage of one variable, 0 to 1; NaN where no level counts."""
    one = sorted(value for value in first if not is_missing(value))
    other = sorted(value for value in second if not is_missing(value))
    if not numeric:
        levels = {level for level, count in Counter(one).items() if count >= least}
        return len(levels & set(other)) / len(levels) if levels else math.nan
    if not other:
        return 0.0
    a, b = (quantile(one, k, 20) for k in (1, 19))
    c, d = (quantile(other, k, 20) for k in (1, 19))
    if (a, b) == (c, d):
        return 1.0
    common = max(0.0, min(b, d) - max(a, c))
    return common / ((b - a) + (d - c) - common)


def coverage(
    original: pd.DataFrame, avatars: pd.DataFrame, numeric: set[str], least: int = 11
) -> float:
    found = []
    for name in original:
        if len(set(original[name].dropna())) > 1:
            share = covered(
                list(original[name]), list(avatars[name]), least, numeric=name in numeric
            )
            if not math.isnan(share):
                found.append(100 * share)
    return sum(found) / len(found)


def missingness(original: pd.DataFrame, avatars: pd.DataFrame) -> tuple[float, float]:
    """Return the score and the distance of the joint patterns."""
    names = [one for one in original if original[one].isna().any() or avatars[one].isna().any()]
    gaps = [abs(original[one].isna().mean() - avatars[one].isna().mean()) for one in names]
    patterns = [
        Counter(map(tuple, table[names].isna().to_numpy().tolist()))
        for table in (original, avatars)
    ]
    shares = [
        {one: count / len(table) for one, count in found.items()}
        for one_table, found in zip((original, avatars), patterns, strict=True)
        for table in [one_table]
    ]
    every = shares[0].keys() | shares[1].keys()
    apart = sum(abs(shares[0].get(one, 0) - shares[1].get(one, 0)) for one in every) / 2
    return 100 * (1 - sum(gaps) / len(gaps)), apart
