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
    from evalkit.kernels.layouts import Measure, Rows, Tree

Integer = Any  # int or any NumPy integer: the compiler infers the width

CHUNK = 2_048  # rows that are screened at once
MOST_SCREENED = 65_535.0
LARGEST_NODE = (1 << 32) - 1  # a key on the heap holds a bound above a number of so many bits
NOBODY = -1


class Owners(NamedTuple):
    """Whose the targets are."""

    code: NDArray[np.int64]  # (m,)
    several: NDArray[np.bool_]  # (m,) whether it stands for rows of two owners or more


@internal
def screened(
    target: NDArray[np.uint16],
    start: Integer,
    end: Integer,
    query: NDArray[np.uint16],
    measure: Measure,
    sums: NDArray[np.uint16],
) -> Integer:
    """Fill `sums` with the screen sums of rows start..end and return the least."""
    unit = measure.screen_unit
    for k in range(end - start):
        sums[k] = 0
    for v in range(len(measure.limits)):
        y, x = target[v, start:end], query[v]
        for k in range(end - start):
            a = y[k]
            # A choice of two differences, because abs() would widen 16 bits to 64.
            gap = a - x if a > x else x - a
            sums[k] = sums[k] + (unit if gap > unit else gap)  # noqa: FURB136 - the same
    for v in range(len(measure.limits), target.shape[0]):
        y, x = target[v, start:end], query[v]
        for k in range(end - start):
            sums[k] = sums[k] + (unit if y[k] != x else 0)
    least = sums[0]
    for k in range(end - start):
        least = min(least, sums[k])
    return np.int64(least)


@internal
def exact(query: Rows, i: Integer, target: Rows, j: Integer, measure: Measure) -> Any:
    """Give the exact sum of one pair of rows, column after column as in the dense path."""
    total = measure.unit - measure.unit
    for v in range(len(measure.limits)):
        gap = target.values[j, v] - query.values[i, v]
        if gap < 0:
            gap = -gap
        if v >= measure.plain and gap > measure.limits[v]:
            gap = measure.unit
        total += gap
    mismatches = 0
    for v in range(target.codes.shape[1]):
        if target.codes[j, v] != query.codes[i, v]:
            mismatches += 1
    return total + mismatches * measure.unit


@internal
def ceiling(total: Any, measure: Measure) -> Integer:
    """Give the screen sum over which no row can have less than an exact sum."""
    return np.int64(min(np.float64(total) * measure.shrink, MOST_SCREENED)) + measure.slack


@internal
def node_bound(tree: Tree, node: Integer, query: NDArray[np.uint16], measure: Measure) -> Integer:
    """Give a screen sum that no row of the node is below."""
    unit = np.int64(measure.screen_unit)
    numerics = len(measure.limits)
    total = np.int64(0)
    for v in range(numerics):
        x = np.int64(query[v])
        below, above = tree.boxes[node, 2 * v] - x, x - tree.boxes[node, 2 * v + 1]
        total += min(max(np.int64(0), below, above), unit)
    for v in range(numerics, len(query)):
        code, first = np.int64(query[v]), tree.words[v - numerics]
        word = first + (code >> 6 & tree.words[v - numerics + 1] - first - 1)
        if (tree.masks[node, word] >> np.uint64(code & 63)) & np.uint64(1) == np.uint64(0):
            total += unit
    return total


@internal
def push(heap: NDArray[np.int64], used: Integer, bound: Integer, node: Integer) -> Integer:
    """Put a node on the heap, the closest on top; of equal bounds the deeper node goes first."""
    # Children are numbered after their parents, so a greater number lies no higher in the tree.
    key = (np.int64(bound) << 32) + (LARGEST_NODE - np.int64(node))
    at = used
    while at > 0 and heap[(at - 1) >> 1] > key:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = key
    return used + 1


@internal
def pop(heap: NDArray[np.int64], used: Integer) -> Integer:
    """Take the top off the heap; entries left."""
    used -= 1
    key, at = heap[used], 0
    while 2 * at + 1 < used:
        below = 2 * at + 1
        if below + 1 < used and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= key:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = key
    return used


@internal
def visit(
    target: Rows,
    start: Integer,
    end: Integer,
    query: Rows,
    i: Integer,
    owners: Owners,
    measure: Measure,
    sums: NDArray[np.uint16],
    state: tuple[Any, Any, Integer],
) -> tuple[Any, Any, Integer]:
    """Show rows start..end to query i: the least sum, the least of another owner, whose it is."""
    least, second, holder = state
    bound = ceiling(second, measure)
    lowest = screened(target.screen, start, end, query.screen[i], measure, sums)
    for k in range(end - start if lowest <= bound else 0):
        if sums[k] > bound:
            continue
        total = exact(query, i, target, start + k, measure)
        if total >= second:
            continue
        owner = owners.code[start + k]
        if owner == holder:
            least = min(least, total)
        elif total < least:
            second = total if owners.several[start + k] else least
            least, holder = total, owner
        else:
            second = total
        bound = ceiling(second, measure)
    return least, second, holder


@compiled
def two_least(
    first: Integer,
    end: Integer,
    query: Rows,
    target: Rows,
    tree: Tree,
    owners: Owners,
    measure: Measure,
    beyond: Any,
    found: Cells,
) -> None:
    """Search the queries of one block.

    Parameters
    ----------
    first, end : int
        First query and end.
    query, target : Rows
        The targets in the order of the leaves.
    tree : Tree
    owners : Owners
        Of the targets.
    measure : Measure
    beyond : int or float
        More than any exact sum.
    found : ndarray, shape (end - first, 2)
        Takes the least sum and the least one of another owner; `beyond` if there is none.
    """
    sums = np.empty(CHUNK, np.uint16)
    heap = np.empty(len(tree.nodes), np.int64)
    for i in range(first, end):
        least = second = beyond
        holder = np.int64(NOBODY)
        bound = ceiling(second, measure)
        used = push(heap, 0, 0, 0)
        while used > 0 and heap[0] >> 32 <= bound:
            node = LARGEST_NODE - (heap[0] & LARGEST_NODE)
            used = pop(heap, used)
            left = np.int64(tree.nodes[node, 2])
            if left >= 0:
                for child in range(left, left + 2):
                    closest = node_bound(tree, child, query.screen[i], measure)
                    if closest <= bound:
                        used = push(heap, used, closest, child)
                continue
            start, last = np.int64(tree.nodes[node, 0]), np.int64(tree.nodes[node, 1])
            while start < last:
                until = min(start + CHUNK, last)
                least, second, holder = visit(
                    target, start, until, query, i, owners, measure, sums, (least, second, holder)
                )
                start = until
            bound = ceiling(second, measure)
        found[i - first, 0], found[i - first, 1] = least, second
