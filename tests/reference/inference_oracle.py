"""Inference from the nearest avatar, slowly, in exact fractions: nothing of the package is used."""

from __future__ import annotations

from fractions import Fraction

Row = dict[str, object]
THRESHOLD = Fraction(1, 10**9)


def gower(x: Row, y: Row, known: list[str], ranges: dict[str, Fraction]) -> Fraction:
    """Return Gower's distance; `ranges` has an entry for each number."""
    return sum((_difference(x[v], y[v], ranges.get(v)) for v in known), Fraction(0)) / len(known)


def _difference(first: object, second: object, span: Fraction | None) -> Fraction:
    if first is None or second is None or span is None or span == 0:
        return Fraction(int(first != second))
    return min(Fraction(1), abs(Fraction(str(first)) - Fraction(str(second))) / span)


def ranges_of(rows: list[Row], numeric: set[str]) -> dict[str, Fraction]:
    """Return max - min of each number over the filled cells of the real records."""
    found = {}
    for name in numeric:
        values = [Fraction(str(row[name])) for row in rows if row[name] is not None]
        found[name] = max(values) - min(values)
    return found


def success(
    people: list[Row],
    avatars: list[Row],
    known: list[str],
    sensitive: str,
    ranges: dict[str, Fraction],
    reach: Fraction | None,
) -> Fraction:
    """Return the mean chance that the value of a nearest avatar is right; no reach for levels."""
    total = Fraction(0)
    for x in people:
        distances = [gower(x, y, known, ranges) for y in avatars]
        nearest = [
            y for y, d in zip(avatars, distances, strict=True) if d <= min(distances) + THRESHOLD
        ]
        right = sum(_is_right(x[sensitive], y[sensitive], reach) for y in nearest)
        total += Fraction(right, len(nearest))
    return total / len(people)


def _is_right(truth: object, guess: object, reach: Fraction | None) -> bool:
    if truth is None or guess is None or reach is None:
        return truth == guess
    return abs(Fraction(str(truth)) - Fraction(str(guess))) <= reach
