"""Compiled: the two least sums of each query, by a cheap screen and an exact check.

The screen is that of the search for the nearest target: a sum of unsigned 16-bit integers that
exceeds the true distance by at most the slack, so a row that it rules out is not among the two.
"""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells

Integer = Any  # int or any NumPy integer: the compiler infers the width

CHUNK = 2_048  # rows that are screened at once
MOST_SCREENED = 65_535.0


class Side(NamedTuple):
    """Rows of one table."""

    screen: NDArray[np.uint16]  # (columns, m) of the targets, (n, columns) of the queries
    values: Cells  # (rows, numerics)
    codes: NDArray[np.int32]  # (rows, levels)


class Scale(NamedTuple):
    """What turns cells into a distance."""

    plain: Integer  # numeric columns without a limit; they come first
    limits: Cells  # (numerics,) above it a difference counts as one unit
    unit: Any  # what a mismatch adds to an exact sum
    beyond: Any  # more than any exact sum
    screen_unit: np.uint16  # what a mismatch adds to a screen sum
    shrink: float  # screen units in one unit of an exact sum
    slack: Integer  # how far a screen sum may exceed the shrunk exact sum


@internal
def screened(
    target: NDArray[np.uint16],
    start: Integer,
    end: Integer,
    query: NDArray[np.uint16],
    scale: Scale,
    sums: NDArray[np.uint16],
) -> Integer:
    """Fill `sums` with the screen sums of rows start..end and return the least."""
    unit = scale.screen_unit
    for k in range(end - start):
        sums[k] = 0
    for v in range(len(scale.limits)):
        y, x = target[v, start:end], query[v]
        for k in range(end - start):
            a = y[k]
            # A choice of two differences, because abs() would widen 16 bits to 64.
            gap = a - x if a > x else x - a
            sums[k] = sums[k] + (unit if gap > unit else gap)  # noqa: FURB136 - the same
    for v in range(len(scale.limits), target.shape[0]):
        y, x = target[v, start:end], query[v]
        for k in range(end - start):
            sums[k] = sums[k] + (unit if y[k] != x else 0)
    least = sums[0]
    for k in range(end - start):
        least = min(least, sums[k])
    return np.int64(least)


@internal
def exact(query: Side, i: Integer, target: Side, j: Integer, scale: Scale) -> Any:
    """Give the exact sum of one pair of rows, column after column as in the dense path."""
    total = scale.unit - scale.unit
    for v in range(len(scale.limits)):
        gap = target.values[j, v] - query.values[i, v]
        if gap < 0:
            gap = -gap
        if v >= scale.plain and gap > scale.limits[v]:
            gap = scale.unit
        total += gap
    mismatches = 0
    for v in range(target.codes.shape[1]):
        if target.codes[j, v] != query.codes[i, v]:
            mismatches += 1
    return total + mismatches * scale.unit


@internal
def ceiling(total: Any, scale: Scale) -> Integer:
    """Give the screen sum over which no row can have less than an exact sum."""
    return np.int64(min(np.float64(total) * scale.shrink, MOST_SCREENED)) + scale.slack


@compiled
def two_least(
    first: Integer,
    end: Integer,
    query: Side,
    target: Side,
    count: NDArray[np.int64],
    scale: Scale,
    found: Cells,
) -> None:
    """Search the queries of one block.

    Parameters
    ----------
    first, end : int
        First query and end.
    query, target : Side
    count : ndarray of int64, shape (targets,)
        Distinct rows that each target stands for.
    scale : Scale
    found : ndarray, shape (end - first, 2)
        Takes the two least sums; the second is `beyond` with one distinct row only.
    """
    sums = np.empty(CHUNK, np.uint16)
    for i in range(first, end):
        least = second = scale.beyond
        bound = ceiling(second, scale)
        start = 0
        while start < len(count):
            until = min(start + CHUNK, len(count))
            lowest = screened(target.screen, start, until, query.screen[i], scale, sums)
            for k in range(until - start if lowest <= bound else 0):
                if sums[k] > bound:
                    continue
                total = exact(query, i, target, start + k, scale)
                if total >= second:
                    continue
                if total < least:
                    second = total if count[start + k] > 1 else least
                    least = total
                else:
                    second = total
                bound = ceiling(second, scale)
            start = until
        found[i - first, 0], found[i - first, 1] = least, second
