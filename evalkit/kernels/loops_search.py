"""Compiled: the nearest targets of a block of queries, by a cheap screen and an exact check.

The screen is a sum of unsigned 16-bit integers that never exceeds the true distance by more than
one unit a numeric column, so a row that it rules out cannot be a tie.
Where exact sums fit into 16 bits the screen is exact, and the check falls away.
Rows lie in the order of the leaves of a tree; a tree of one node is a plain scan.
Loops stand in place of slices and arrays come from the caller: that halves the compilation.
The file is long because a compiled function may only call compiled functions of its own file.
"""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.layouts import Found, Measure, Owners, Rows, Slots, Tree

Integer = Any  # int or any NumPy integer: the compiler infers the width

UNBOUNDED = 1 << 60
MOST_SCREENED = 65_535.0
LARGEST_NODE = (1 << 32) - 1  # a key on the heap holds a bound above a number of so many bits
COUNTING = -1  # the length of a slot that only counts
NOBODY = -1  # an owner


@internal
def add_four(
    target: NDArray[np.uint16],
    v: Integer,
    start: Integer,
    end: Integer,
    query: NDArray[np.uint16],
    sums: NDArray[np.uint16],
) -> None:
    """Add four plain numeric columns: the sums are read and written a quarter as often."""
    y0, y1 = target[v, start:end], target[v + 1, start:end]
    y2, y3 = target[v + 2, start:end], target[v + 3, start:end]
    x0, x1, x2, x3 = query[v], query[v + 1], query[v + 2], query[v + 3]
    for k in range(end - start):
        a, b, c, d = y0[k], y1[k], y2[k], y3[k]
        # A choice of two differences, because abs() would widen 16 bits to 64.
        sums[k] = (
            sums[k]
            + (a - x0 if a > x0 else x0 - a)
            + (b - x1 if b > x1 else x1 - b)
            + (c - x2 if c > x2 else x2 - c)
            + (d - x3 if d > x3 else x3 - d)
        )


@internal
def add_numeric(
    y: NDArray[np.uint16], x: np.uint16, limit: np.uint16, sums: NDArray[np.uint16]
) -> None:
    """Add one numeric column; `limit` is where its differences are cut."""
    for k in range(len(y)):
        a = y[k]
        gap = a - x if a > x else x - a
        sums[k] = sums[k] + (limit if gap > limit else gap)  # noqa: FURB136 - min() would widen


@internal
def add_levels(
    target: NDArray[np.uint16],
    v: Integer,
    start: Integer,
    end: Integer,
    query: NDArray[np.uint16],
    unit: np.uint16,
    sums: NDArray[np.uint16],
) -> None:
    """Add three categorical columns."""
    y0, y1, y2 = target[v, start:end], target[v + 1, start:end], target[v + 2, start:end]
    x0, x1, x2 = query[v], query[v + 1], query[v + 2]
    for k in range(end - start):
        sums[k] = (
            sums[k]
            + (unit if y0[k] != x0 else 0)
            + (unit if y1[k] != x1 else 0)
            + (unit if y2[k] != x2 else 0)
        )


@internal
def screen(
    target: NDArray[np.uint16],
    start: Integer,
    end: Integer,
    query: NDArray[np.uint16],
    measure: Measure,
    sums: NDArray[np.uint16],
) -> Integer:
    """Fill `sums` with the screen sums of rows start..end and return the least."""
    width = end - start
    unit = measure.screen_unit
    numerics, columns = len(measure.limits), target.shape[0]
    for k in range(width):
        sums[k] = 0
    v = np.int64(0)
    while v + 4 <= measure.plain:
        add_four(target, v, start, end, query, sums)
        v += 4
    while v < numerics:
        add_numeric(target[v, start:end], query[v], unit, sums)
        v += 1
    while v + 3 <= columns:
        add_levels(target, v, start, end, query, unit, sums)
        v += 3
    while v < columns:
        y, x = target[v, start:end], query[v]
        for k in range(width):
            sums[k] = sums[k] + (unit if y[k] != x else 0)
        v += 1
    least = sums[0]
    for k in range(width):
        least = min(least, sums[k])
    return np.int64(least)


@internal
def exact(target: Rows, row: Integer, query: Rows, i: Integer, measure: Measure) -> Any:
    """Give the exact sum of one pair of rows, column after column as in the dense path."""
    total = measure.unit - measure.unit
    for v in range(len(measure.limits)):
        gap = target.values[row, v] - query.values[i, v]
        if gap < 0:
            gap = -gap
        if v >= measure.plain and gap > measure.limits[v]:
            gap = measure.unit
        total += gap
    mismatches = 0
    for v in range(target.codes.shape[1]):
        if target.codes[row, v] != query.codes[i, v]:
            mismatches += 1
    return total + mismatches * measure.unit


@internal
def ceiling(total: Any, measure: Measure) -> Integer:
    """Give the screen sum over which no row can have less than an exact sum."""
    # Far outside the ranges a distance exceeds all that the screen can say.
    return np.int64(min(np.float64(total) * measure.shrink, MOST_SCREENED)) + measure.slack


@internal
def lower(slots: Slots, z: Integer, total: Any, measure: Measure) -> None:
    """Take a new least sum; if the old one no longer ties, forget its list."""
    if total + measure.tolerance < slots.least[z] or slots.bound[z] == UNBOUNDED:
        slots.length[z] = 0
        slots.rows[z] = 0
        slots.sunk[z] = False
    else:
        slots.sunk[z] = True
    slots.least[z] = total
    slots.bound[z] = ceiling(total + measure.tolerance, measure)


@internal
def visit(
    target: Rows,
    start: Integer,
    end: Integer,
    query: Rows,
    i: Integer,
    measure: Measure,
    slots: Slots,
    z: Integer,
    sums: NDArray[np.uint16],
) -> None:
    """Show rows start..end to query i in slot z."""
    least = screen(target.screen, start, end, query.screen[i], measure, sums)
    if least > slots.bound[z]:
        return
    if not measure.sharp:
        check(target, start, end, query, i, measure, slots, z, sums, least)
        return
    if least < slots.bound[z]:
        lower(slots, z, measure.unit - measure.unit + least, measure)
    if slots.length[z] > slots.places.shape[1]:
        count(target.weight, start, end, slots, z, sums)
    else:
        take(target.weight, start, end, slots, z, sums)


@internal
def check(
    target: Rows,
    start: Integer,
    end: Integer,
    query: Rows,
    i: Integer,
    measure: Measure,
    slots: Slots,
    z: Integer,
    sums: NDArray[np.uint16],
    promising: Integer,
) -> None:
    """Check exactly the rows that the screen leaves, and note those that tie.

    A row with the least screen sum, `promising`, is looked at first: its exact sum spares most of
    the others the check.
    """
    # Copies of the slot: it could be written to in between, so the compiler would reload it.
    bound, least = slots.bound[z], slots.least[z]
    length, rows = slots.length[z], slots.rows[z]
    first = 0
    while sums[first] != promising:
        first += 1
    for turn in range(-1, end - start):
        k = first if turn < 0 else turn
        if sums[k] > bound:
            continue
        total = exact(target, start + k, query, i, measure)
        if length != COUNTING and (bound == UNBOUNDED or total < least):
            slots.length[z], slots.rows[z] = length, rows
            lower(slots, z, total, measure)
            bound, least = slots.bound[z], slots.least[z]
            length, rows = slots.length[z], slots.rows[z]
        if turn >= 0 and total <= least + measure.tolerance:
            rows += target.weight[start + k]
            if length != COUNTING:
                if length < slots.places.shape[1]:
                    slots.places[z, length] = start + k
                    slots.sums[z, length] = total
                length += 1
    slots.length[z], slots.rows[z] = length, rows


@internal
def take(
    weight: NDArray[np.int64],
    start: Integer,
    end: Integer,
    slots: Slots,
    z: Integer,
    sums: NDArray[np.uint16],
) -> None:
    """Note the rows that tie, where the screen is the exact sum."""
    bound, length, rows = slots.bound[z], slots.length[z], slots.rows[z]
    for k in range(end - start):
        if sums[k] == bound:
            rows += weight[start + k]
            if length < slots.places.shape[1]:
                slots.places[z, length] = start + k
                slots.sums[z, length] = slots.least[z]
            length += 1
    slots.length[z], slots.rows[z] = length, rows


@internal
def count(
    weight: NDArray[np.int64],
    start: Integer,
    end: Integer,
    slots: Slots,
    z: Integer,
    sums: NDArray[np.uint16],
) -> None:
    """Count the rows that tie, where the screen is the exact sum and the list is full."""
    bound, rows = np.uint16(slots.bound[z]), np.int64(0)
    tied = weight[start:end]
    for k in range(end - start):
        rows += tied[k] if sums[k] == bound else 0
    slots.rows[z] += rows


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
def walk(
    target: Rows,
    tree: Tree,
    query: Rows,
    first: Integer,
    end: Integer,
    measure: Measure,
    slots: Slots,
    chunk: Integer,
    sums: NDArray[np.uint16],
    heap: NDArray[np.int64],
    again: bool,
) -> Integer:
    """Show queries first..end, one a slot, every node that may hold a tie; rows shown.

    The closest node is opened first, so that no leaf is shown that the nearest row rules out.
    """
    shown = 0
    used = push(heap, 0, 0, 0)
    while used > 0:
        key = heap[0]
        if end - first == 1 and key >> 32 > slots.bound[0]:
            break
        used = pop(heap, used)
        node = LARGEST_NODE - (key & LARGEST_NODE)
        left = np.int64(tree.nodes[node, 2])
        if left >= 0:
            for child in range(left, left + 2):
                bound = node_bound(tree, child, query.screen[first], measure)
                if bound <= slots.bound[0]:
                    used = push(heap, used, bound, child)
            continue
        start, last = np.int64(tree.nodes[node, 0]), np.int64(tree.nodes[node, 1])
        while start < last:
            until = min(start + chunk, last)
            for z in range(end - first):
                if not again or slots.length[z] == COUNTING:
                    visit(target, start, until, query, first + z, measure, slots, z, sums)
                    shown += until - start
            start = until
    return shown


@internal
def recount(slots: Slots, used: Integer) -> bool:
    """Set slots whose list overflowed, and whose count is not safe, to counting."""
    any_left = False
    for z in range(used):
        if slots.length[z] > slots.places.shape[1] and slots.sunk[z]:
            slots.length[z] = COUNTING
            slots.rows[z] = 0
            any_left = True
    return any_left


@internal
def empty(
    slots: Slots,
    z: Integer,
    found: Found,
    i: Integer,
    groups: NDArray[np.int32],
    at: Integer,
    measure: Measure,
    count: NDArray[np.int64],
) -> Integer:
    """Move the result of slot z to query i; return where the next list begins."""
    found.least[i] = slots.least[z]
    found.rows[i] = slots.rows[z]
    found.listed[i] = -1
    if slots.length[z] == COUNTING or slots.length[z] > slots.places.shape[1]:
        return at
    begin = at
    rows = np.int64(0)
    for k in range(slots.length[z]):
        if slots.sums[z, k] <= slots.least[z] + measure.tolerance:
            groups[at] = slots.places[z, k]
            rows += count[slots.places[z, k]]
            at += 1
    found.rows[i] = rows
    found.listed[i] = at - begin
    return at


@compiled
def search(
    block: tuple[Integer, Integer, Integer, Integer],
    query: Rows,
    target: Rows,
    tree: Tree,
    measure: Measure,
    slots: Slots,
    found: Found,
    groups: NDArray[np.int32],
) -> tuple[Integer, Integer]:
    """Search the queries of one block, some at a time.

    Parameters
    ----------
    block : tuple of int
        First query, end, rows that are screened at once, and queries searched together:
        1 on a tree, more on a plain scan.
    query, target : Rows
    tree : Tree
    measure : Measure
    slots : Slots
        Room for the queries searched together.
    found : Found
        Takes the results.
    groups : ndarray of int32, shape (at least queries of the block * longest,)
        Takes the places of the tied groups, query after query.

    Returns
    -------
    tuple of int
        Places written, rows shown.
    """
    first, end, chunk, tile = block
    at, shown = np.int64(0), np.int64(0)
    sums = np.empty(chunk, np.uint16)
    heap = np.empty(len(tree.nodes), np.int64)
    while first < end:
        used = min(tile, end - first)
        for z in range(used):
            slots.bound[z] = UNBOUNDED
            slots.length[z] = 0
            slots.rows[z] = 0
            slots.sunk[z] = False
        again = False
        while True:
            shown += walk(
                target, tree, query, first, first + used, measure, slots, chunk, sums, heap, again
            )
            if again or not recount(slots, used):
                break
            again = True
        for z in range(used):
            at = empty(slots, z, found, first + z, groups, at, measure, target.weight)
        first += used
    return at, shown


@internal
def visit_two(
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
    lowest = screen(target.screen, start, end, query.screen[i], measure, sums)
    for k in range(end - start if lowest <= bound else 0):
        if sums[k] > bound:
            continue
        total = exact(target, start + k, query, i, measure)
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
    block: tuple[Integer, Integer, Integer],
    query: Rows,
    target: Rows,
    tree: Tree,
    owners: Owners,
    measure: Measure,
    beyond: Any,
    found: Cells,
) -> None:
    """Search the queries of one block for the nearest target and the nearest of another owner.

    Parameters
    ----------
    block : tuple of int
        First query, end, and rows that are screened at once.
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
    first, end, chunk = block
    sums = np.empty(chunk, np.uint16)
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
                until = min(start + chunk, last)
                least, second, holder = visit_two(
                    target, start, until, query, i, owners, measure, sums, (least, second, holder)
                )
                start = until
            bound = ceiling(second, measure)
        found[i - first, 0], found[i - first, 1] = least, second
