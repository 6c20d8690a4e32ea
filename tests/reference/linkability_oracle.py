"""Linkability from the formula, slowly, in exact fractions: nothing of the package is used."""

from __future__ import annotations

from fractions import Fraction

Row = dict[str, object]
THRESHOLD = Fraction(1, 10**9)


def ranges_of(rows: list[Row], names: list[str], numeric: set[str]) -> dict[str, Fraction]:
    """Return max - min of each numeric column over the filled cells of `rows`."""
    found = {}
    for name in names:
        if name in numeric:
            values = [Fraction(str(row[name])) for row in rows if row[name] is not None]
            found[name] = max(values) - min(values) if values else Fraction(0)
    return found


def difference(x: Row, y: Row, name: str, ranges: dict[str, Fraction]) -> Fraction:
    """Return delta_v(x, y)."""
    first, second = x[name], y[name]
    if first is None or second is None:
        return Fraction(int((first is None) != (second is None)))
    if name not in ranges:
        return Fraction(int(first != second))
    if ranges[name] == 0:
        return Fraction(0)
    return abs(Fraction(str(first)) - Fraction(str(second))) / ranges[name]


def gower(x: Row, y: Row, names: list[str], ranges: dict[str, Fraction]) -> Fraction:
    """Return G_V(x, y)."""
    return sum((difference(x, y, name, ranges) for name in names), Fraction(0)) / len(names)


def tie_set(x: Row, avatars: list[Row], names: list[str], ranges: dict[str, Fraction]) -> set[int]:
    """Return the avatars nearest to `x` within the threshold."""
    distances = [gower(x, y, names, ranges) for y in avatars]
    return {j for j, d in enumerate(distances) if d <= min(distances) + THRESHOLD}


def expected_score(
    originals: list[Row],
    avatars: list[Row],
    known_a: list[str],
    known_b: list[str],
    numeric: set[str],
) -> float:
    """Return 100 (1 - mean P(i linked)) over independent tie-breaking."""
    scale = ranges_of(originals + avatars, [*known_a, *known_b], numeric)
    linked = Fraction(0)
    for x in originals:
        in_a = tie_set(x, avatars, known_a, scale)
        in_b = tie_set(x, avatars, known_b, scale)
        linked += Fraction(len(in_a & in_b), len(in_a) * len(in_b))
    return float(100 * (1 - linked / len(originals)))
