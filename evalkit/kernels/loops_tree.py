"""Compiled: one tree over numeric and categorical columns at once.

A node is split on the column in which two of its rows are expected to differ most: a numeric one at
the median, a categorical one into two sets of levels of about equal weight.
"""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integer = Any  # int or any NumPy integer: the compiler infers the width

SAMPLE = 256  # rows of a node that choose its split
CODES = 65_536  # screen codes are 16 bits wide
STEP, SHIFT = 6364136223846793005, 1442695040888963407  # Knuth's MMIX generator


@internal
def sample(
    order: NDArray[np.int32], start: Integer, end: Integer, picked: NDArray[np.int64]
) -> Integer:
    """Pick rows of a node; the same ones whenever the node is the same."""
    size = min(SAMPLE, end - start)
    state = np.uint64(start)
    for k in range(size):
        state = state * np.uint64(STEP) + np.uint64(SHIFT)
        picked[k] = order[start + np.int64(state >> np.uint64(33)) % (end - start)]
    return size


@internal
def widest(
    screen: NDArray[np.uint16],
    numerics: Integer,
    unit: float,
    picked: NDArray[np.int64],
    size: Integer,
) -> Integer:
    """Give the column with the largest expected distance among picked rows; -1 if all are equal."""
    best, column = 0.0, -1
    for v in range(screen.shape[0]):
        total = 0.0
        for k in range(1, size):
            a, b = np.int64(screen[v, picked[k]]), np.int64(screen[v, picked[k - 1]])
            if v < numerics:
                total += min(abs(a - b) / unit, 1.0)
            elif a != b:
                total += 1.0
        if total > best:
            best, column = total, v
    return column


@internal
def first_varying(
    screen: NDArray[np.uint16], order: NDArray[np.int32], start: Integer, end: Integer
) -> Integer:
    """Give the first column in which the rows of a node differ; -1 if there is none."""
    for v in range(screen.shape[0]):
        for k in range(start + 1, end):
            if screen[v, order[k]] != screen[v, order[start]]:
                return v
    return -1


@internal
def middle(
    cells: NDArray[np.uint16], picked: NDArray[np.int64], size: Integer, values: NDArray[np.int64]
) -> Integer:
    """Give the median of the picked rows, by insertion."""
    for k in range(size):
        value = np.int64(cells[picked[k]])
        i = k - 1
        while i >= 0 and values[i] > value:
            values[i + 1] = values[i]
            i -= 1
        values[i + 1] = value
    return values[size // 2]


@internal
def share_out(
    cells: NDArray[np.uint16],
    order: NDArray[np.int32],
    start: Integer,
    end: Integer,
    weight: NDArray[np.int64],
    right: NDArray[np.bool_],
) -> None:
    """Put the heaviest level left and each other one on the side that is lighter so far."""
    for code in range(len(weight)):
        weight[code] = 0
        right[code] = True
    for k in range(start, end):
        weight[cells[order[k]]] += 1
    heaviest = 0
    for code in range(len(weight)):
        if weight[code] > weight[heaviest]:
            heaviest = code
    right[heaviest] = False
    on_left, on_right = weight[heaviest], 0
    for code in range(len(weight)):
        if code != heaviest and weight[code] > 0:
            if on_left <= on_right:
                on_left += weight[code]
                right[code] = False
            else:
                on_right += weight[code]


@internal
def part(
    cells: NDArray[np.uint16],
    order: NDArray[np.int32],
    spare: NDArray[np.int32],
    start: Integer,
    end: Integer,
    pivot: Integer,
    right: NDArray[np.bool_],
) -> Integer:
    """Bring the rows that go left to the front, in order; return where the others begin.

    A numeric row goes left below `pivot`; with a negative one the levels in `right` decide.
    """
    left, others = start, 0
    for k in range(start, end):
        row = order[k]
        cell = np.int64(cells[row])
        if (pivot >= 0 and cell < pivot) or (pivot < 0 and not right[cell]):
            order[left] = row
            left += 1
        else:
            spare[others] = row
            others += 1
    for k in range(others):
        order[left + k] = spare[k]
    return left


@internal
def split(
    screen: NDArray[np.uint16],
    numerics: Integer,
    unit: float,
    order: NDArray[np.int32],
    spare: NDArray[np.int32],
    start: Integer,
    end: Integer,
    picked: NDArray[np.int64],
    values: NDArray[np.int64],
    weight: NDArray[np.int64],
    right: NDArray[np.bool_],
) -> Integer:
    """Reorder the rows of a node into two parts; return where the second begins."""
    size = sample(order, start, end, picked)
    column = widest(screen, numerics, unit, picked, size)
    if column < 0:
        column = first_varying(screen, order, start, end)
        if column < 0:
            return end
    pivot = np.int64(-1)
    if column >= numerics:
        share_out(screen[column], order, start, end, weight, right)
    else:
        pivot = middle(screen[column], picked, size, values)
    cut = start
    while cut == start:  # again only if the median is the least value: then that goes left
        cut = part(screen[column], order, spare, start, end, pivot, right)
        pivot += 1
    return cut


@compiled
def build(
    screen: NDArray[np.uint16],
    numerics: Integer,
    unit: float,
    codes: Integer,
    leaf: Integer,
    order: NDArray[np.int32],
    spare: NDArray[np.int32],
    nodes: NDArray[np.int32],
) -> Integer:
    """Grow the tree.

    Parameters
    ----------
    screen : ndarray of uint16, shape (columns, m)
        Numeric columns first.
    numerics : int
    unit : float
        The screen value of one whole range.
    codes : int
        Screen codes a categorical column may have; at most 65,536.
    leaf : int
        Rows up to which a node is not split.
    order, spare : ndarray of int32, shape (m,)
        Takes the rows in the order of the leaves; room to work.
    nodes : ndarray of int32, shape (2 * m, 3)
        Takes first row, end, left child (-1: a leaf; the right one follows the left).

    Returns
    -------
    int
        Number of nodes.
    """
    m = screen.shape[1]
    picked, values = np.empty(SAMPLE, np.int64), np.empty(SAMPLE, np.int64)
    weight, right = np.empty(codes, np.int64), np.empty(codes, np.bool_)
    for k in range(m):
        order[k] = k
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, m, -1
    used, node = 1, 0
    while node < used:
        start, end = np.int64(nodes[node, 0]), np.int64(nodes[node, 1])
        if end - start > leaf:
            cut = split(
                screen, numerics, unit, order, spare, start, end, picked, values, weight, right
            )
            if start < cut < end:
                nodes[node, 2] = used
                nodes[used, 0], nodes[used, 1], nodes[used, 2] = start, cut, -1
                nodes[used + 1, 0], nodes[used + 1, 1], nodes[used + 1, 2] = cut, end, -1
                used += 2
        node += 1
    return used


@compiled
def bound(
    screen: NDArray[np.uint16],
    nodes: NDArray[np.int32],
    boxes: NDArray[np.int32],
    masks: NDArray[np.uint64],
    words: NDArray[np.int64],
) -> None:
    """Fill in what each node holds.

    Parameters
    ----------
    screen : ndarray of uint16, shape (columns, m)
        In the order of the leaves.
    nodes : ndarray of int32, shape (nodes, 3)
    boxes : ndarray of int32, shape (nodes, 2 * numerics)
        Takes the least and greatest screen value of each numeric column.
    masks : ndarray of uint64, shape (nodes, words)
        Takes the codes that occur, modulo the bits of their column.
    words : ndarray of int64, shape (levels + 1,)
        Where the words of each categorical column begin; each has a power of two of them.
    """
    numerics = boxes.shape[1] // 2
    for node in range(len(nodes) - 1, -1, -1):  # children first
        left = nodes[node, 2]
        for v in range(numerics):
            if left >= 0:
                boxes[node, 2 * v] = min(boxes[left, 2 * v], boxes[left + 1, 2 * v])
                boxes[node, 2 * v + 1] = max(boxes[left, 2 * v + 1], boxes[left + 1, 2 * v + 1])
            else:
                least, most = np.int32(CODES), np.int32(-1)
                for k in range(nodes[node, 0], nodes[node, 1]):
                    least = min(least, np.int32(screen[v, k]))
                    most = max(most, np.int32(screen[v, k]))
                boxes[node, 2 * v], boxes[node, 2 * v + 1] = least, most
        for v in range(len(words) - 1):
            first, last = words[v], words[v + 1] - words[v] - 1
            for w in range(first, words[v + 1]):
                masks[node, w] = masks[left, w] | masks[left + 1, w] if left >= 0 else np.uint64(0)
            for k in range(nodes[node, 0], nodes[node, 1] if left < 0 else nodes[node, 0]):
                code = np.int64(screen[numerics + v, k])
                masks[node, first + (code >> 6 & last)] |= np.uint64(1) << np.uint64(code & 63)
