"""Compiled: how many targets lie nearer to a point than a given distance, and as near.

Squares are summed axis after axis, as in NumPy, so both ways give the same counts.
Rounding never turns an order round: a bound from the corners of a box, summed in the same way,
holds for the rounded squares of all points in it.
"""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integer = Any  # int or any NumPy integer: the compiler infers the width

CHUNK = 2_048  # targets measured at once ...
TILE = 16  # ... for so many queries
FUSED = 5  # axes: as many as a release has unless another number is asked for
DEEPEST = 512  # entries of the stack; a step down the tree adds one


class Boxes(NamedTuple):
    """A tree over the targets; children lie side by side, after their parent."""

    nodes: NDArray[np.int32]  # (nodes, 3) first row, end, left child or -1
    low: NDArray[np.float64]  # (nodes, axes) least coordinates
    high: NDArray[np.float64]  # (nodes, axes) greatest coordinates


class Rings(NamedTuple):
    """For each query the squares that part nearer from as near, and as near from farther."""

    below: NDArray[np.float64]  # (n,) a smaller square is nearer
    reach: NDArray[np.float64]  # (n,) a square up to here is nearer or as near


@internal
def square_five(
    targets: NDArray[np.float64],
    start: Integer,
    end: Integer,
    query: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Fill `squares` from the first five axes at once: it is written to a fifth as often."""
    y0, y1, y2 = targets[0, start:end], targets[1, start:end], targets[2, start:end]
    y3, y4 = targets[3, start:end], targets[4, start:end]
    x0, x1, x2, x3, x4 = query[0], query[1], query[2], query[3], query[4]
    for k in range(end - start):
        a, b, c, d, e = x0 - y0[k], x1 - y1[k], x2 - y2[k], x3 - y3[k], x4 - y4[k]
        squares[k] = a * a + b * b + c * c + d * d + e * e


@internal
def square(
    targets: NDArray[np.float64],
    start: Integer,
    end: Integer,
    query: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Fill `squares` with the square distances of targets start..end."""
    done = 0
    if len(query) >= FUSED:
        square_five(targets, start, end, query, squares)
        done = FUSED
    else:
        for k in range(end - start):
            squares[k] = 0.0
    for v in range(done, len(query)):
        y, x = targets[v, start:end], query[v]
        for k in range(end - start):
            gap = x - y[k]
            squares[k] += gap * gap


@internal
def count(
    squares: NDArray[np.float64], size: Integer, below: float, reach: float
) -> tuple[Integer, Integer]:
    """Count the squares that are less than `below`, and those up to `reach`."""
    nearer, within = np.int64(0), np.int64(0)
    for k in range(size):
        nearer += 1 if squares[k] < below else 0
        within += 1 if squares[k] <= reach else 0
    return nearer, within


@internal
def count_owners(
    squares: NDArray[np.float64],
    owner: NDArray[np.int64],
    size: Integer,
    below: float,
    reach: float,
    last: Integer,
    best: float,
) -> tuple[Integer, Integer, Integer, float]:
    """Count owners by their nearest target; the last one may go on in the next targets."""
    nearer, within = np.int64(0), np.int64(0)
    for k in range(size):
        if owner[k] == last:
            best = min(best, squares[k])
            continue
        nearer += 1 if best < below else 0
        within += 1 if best <= reach else 0
        last, best = owner[k], squares[k]
    return nearer, within, last, best


@compiled
def scan(
    first: Integer,
    end: Integer,
    queries: NDArray[np.float64],
    targets: NDArray[np.float64],
    owner: NDArray[np.int64],
    rings: Rings,
    found: NDArray[np.int64],
) -> None:
    """Look at all targets for the queries of one block.

    Parameters
    ----------
    first, end : int
        First query and end.
    queries : ndarray of float64, shape (n, axes)
    targets : ndarray of float64, shape (axes, m)
    owner : ndarray of int64, shape (m,) or (0,)
        Increasing; empty where each target counts by itself.
    rings : Rings
    found : ndarray of int64, shape (end - first, 2)
        Takes how many are nearer, and how many are nearer or as near.
    """
    squares = np.empty(CHUNK)
    m = targets.shape[1]
    last, best = np.empty(TILE, np.int64), np.empty(TILE)
    while first < end:
        until = min(first + TILE, end)
        for z in range(until - first):
            found[z, 0], found[z, 1] = 0, 0
            last[z], best[z] = -1, np.nan  # nothing is less than NaN, nor more
        start = 0
        while start < m:
            stop = min(start + CHUNK, m)
            for z in range(until - first):
                below, reach = rings.below[first + z], rings.reach[first + z]
                square(targets, start, stop, queries[first + z], squares)
                if len(owner) == 0:
                    nearer, within = count(squares, stop - start, below, reach)
                else:
                    nearer, within, last[z], best[z] = count_owners(
                        squares, owner[start:stop], stop - start, below, reach, last[z], best[z]
                    )
                found[z, 0] += nearer
                found[z, 1] += within
            start = stop
        for z in range(until - first):
            found[z, 0] += 1 if best[z] < rings.below[first + z] else 0
            found[z, 1] += 1 if best[z] <= rings.reach[first + z] else 0
        found = found[until - first :]
        first = until


@internal
def nearest_and_farthest(
    boxes: Boxes, node: Integer, query: NDArray[np.float64]
) -> tuple[float, float]:
    """Give the squares of the nearest and of the farthest point that a box can hold."""
    least, most = 0.0, 0.0
    for v in range(len(query)):
        low, high = query[v] - boxes.low[node, v], query[v] - boxes.high[node, v]
        near = max(-low, high, 0.0)
        far = max(abs(low), abs(high))
        least += near * near
        most += far * far
    return least, most


@compiled
def walk(
    first: Integer,
    end: Integer,
    queries: NDArray[np.float64],
    targets: NDArray[np.float64],
    boxes: Boxes,
    rings: Rings,
    found: NDArray[np.int64],
) -> Integer:
    """Count for the queries of one block, skipping boxes that lie inside or outside the rings.

    Parameters
    ----------
    first, end, queries, rings, found
        As for `scan`.
    targets : ndarray of float64, shape (axes, m)
        In the order of the leaves.
    boxes : Boxes

    Returns
    -------
    int
        Targets that were measured.
    """
    squares = np.empty(CHUNK)
    stack = np.empty(DEEPEST, np.int64)
    measured = np.int64(0)
    for i in range(first, end):
        below, reach = rings.below[i], rings.reach[i]
        nearer, within = np.int64(0), np.int64(0)
        depth = 1
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            least, most = nearest_and_farthest(boxes, node, queries[i])
            start, stop = np.int64(boxes.nodes[node, 0]), np.int64(boxes.nodes[node, 1])
            if least > reach:
                continue
            if most <= reach and (most < below or least >= below):
                within += stop - start
                nearer += stop - start if most < below else 0
                continue
            left = np.int64(boxes.nodes[node, 2])
            if left >= 0:
                stack[depth], stack[depth + 1] = left, left + 1
                depth += 2
                continue
            measured += stop - start
            while start < stop:
                until = min(start + CHUNK, stop)
                square(targets, start, until, queries[i], squares)
                more_nearer, more_within = count(squares, until - start, below, reach)
                nearer += more_nearer
                within += more_within
                start = until
        found[i - first, 0], found[i - first, 1] = nearer, within
    return measured
