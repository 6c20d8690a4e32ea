"""Singling out from its words, slowly, over plain rows: nothing of the package is used."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import combinations
from typing import TypeAlias

Row: TypeAlias = tuple[object, ...]
Condition: TypeAlias = tuple[int, str, object]  # column, sign, value


def fits(row: Row, predicate: frozenset[Condition]) -> bool:
    """Return whether a row meets every condition; a missing cell is None and has no order."""
    return all(_holds(row[column], sign, value) for column, sign, value in predicate)


def _holds(cell: object, sign: str, value: object) -> bool:
    if sign == "=":
        return cell == value
    if cell is None:
        return False
    return cell <= value if sign == "<=" else cell >= value  # type: ignore[operator]


def univariate(avatars: list[Row], numeric: set[int]) -> set[frozenset[Condition]]:
    """Return the predicates on one column."""
    distinct = sorted(set(avatars), key=str)
    found = set()
    for column in range(len(distinct[0])):
        cells = [row[column] for row in distinct]
        found |= {frozenset({(column, "=", cell)}) for cell, n in Counter(cells).items() if n == 1}
        filled = [cell for cell in cells if cell is not None]
        if column in numeric and filled:
            found.add(frozenset({(column, "<=", min(filled))}))
            found.add(frozenset({(column, ">=", max(filled))}))
    return found


def multivariate(avatars: list[Row], numeric: set[int], width: int) -> list[frozenset[Condition]]:
    """Return every conjunction over `width` columns of a distinct avatar."""
    distinct = sorted(set(avatars), key=str)
    medians = {}
    for column in numeric:
        filled = [row[column] for row in distinct if row[column] is not None]
        medians[column] = statistics.median_low(filled)
    return [
        frozenset(_condition(row, column, medians) for column in columns)
        for row in distinct
        for columns in combinations(range(len(row)), width)
    ]


def _condition(row: Row, column: int, medians: dict[int, object]) -> Condition:
    cell = row[column]
    if cell is None or column not in medians:
        return column, "=", cell
    return column, ">=" if cell > medians[column] else "<=", cell  # type: ignore[operator]


def landed(
    predicates: list[frozenset[Condition]], avatars: list[Row], pool: list[Row]
) -> tuple[int, list[int]]:
    """Return how many predicates isolate a distinct avatar, and the records of those that land."""
    distinct = set(avatars)
    kept = [one for one in predicates if sum(fits(row, one) for row in distinct) == 1]
    hits = [[i for i, row in enumerate(pool) if fits(row, one)] for one in kept]
    return len(kept), sorted(found[0] for found in hits if len(found) == 1)
