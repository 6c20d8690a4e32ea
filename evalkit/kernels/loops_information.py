"""Compiled: normalised mutual information of pairs of coded columns, over many choices of rows."""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integer = Any  # int or any NumPy integer: the compiler infers the width

DENSE_SHARE = 4  # a table of more cells for each row is mostly empty and numbered anew


class Columns(NamedTuple):
    """Coded columns of one table."""

    codes: NDArray[np.uint16]  # (p, n): 0 to levels - 1
    levels: NDArray[np.int64]  # (p,)


class Choice(NamedTuple):
    """Choices of rows, all of one size."""

    rows: NDArray[np.int32]  # (k, m): chosen rows, or those left out
    left_out: bool  # whether `rows` are those left out
    rest: bool  # whether the rows not chosen are measured too; only where m is half of n


@compiled
def marginals(
    columns: Columns, choice: Choice, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum of c log c over the levels of each column, and how many occur, for each choice.

    Both of shape (k or 2k, p); with `rest` the second half belongs to the rows not chosen.
    """
    p, n = columns.codes.shape
    k = len(choice.rows)
    sums = np.zeros((2 * k if choice.rest else k, p))
    occur = np.zeros(sums.shape, np.int64)
    full = np.zeros(max(1, columns.levels.max()), np.int64)
    part = np.zeros_like(full)
    for v in range(p):
        full[:] = 0
        for r in range(n):
            full[columns.codes[v, r]] += 1
        for one in range(k):
            part[:] = 0
            for r in choice.rows[one]:
                part[columns.codes[v, r]] += 1
            for level in range(columns.levels[v]):
                other = full[level] - part[level]
                count = other if choice.left_out else part[level]
                sums[one, v] += weight[count]
                occur[one, v] += count > 0
                if choice.rest:
                    sums[k + one, v] += weight[other]
                    occur[k + one, v] += other > 0
    return sums, occur


@internal
def normalised(
    joint: float, x: float, y: float, x_levels: Integer, y_levels: Integer, n: Integer,
    all_rows: float, worth: float,
) -> float:  # fmt: skip
    """Return NMI from sums of c log c, with Miller and Madow's correction.

    I = (joint - x - y + n log n) / n,  H_x = (n log n - x) / n. The correction goes by people, of
    whom a row counts `worth`.
    """
    if x_levels < 2 or y_levels < 2:  # noqa: PLR2004 - a constant has no entropy
        return 0.0
    shared = (joint - x - y + all_rows) / n - (x_levels - 1) * (y_levels - 1) / (2 * n * worth)
    if shared <= 0.0:
        return 0.0
    return float(shared / (np.sqrt((all_rows - x) * (all_rows - y)) / n))


@internal
def added(
    cells: NDArray[np.uint32], even: NDArray[np.int32], odd: NDArray[np.int32], n: Integer
) -> None:
    """Count all rows. Two tables in turn: a row need not wait for the count of the one before."""
    for r in range(0, n - 1, 2):
        even[cells[r]] += 1
        odd[cells[r + 1]] += 1
    if n % 2:
        even[cells[n - 1]] += 1


@internal
def added_rows(
    cells: NDArray[np.uint32], rows: NDArray[np.int32], even: NDArray[np.int32],
    odd: NDArray[np.int32],
) -> None:  # fmt: skip
    """Count the rows listed."""
    m = len(rows)
    for t in range(0, m - 1, 2):
        even[cells[rows[t]]] += 1
        odd[cells[rows[t + 1]]] += 1
    if m % 2:
        even[cells[rows[m - 1]]] += 1


@internal
def sums_of(
    even: NDArray[np.int32], odd: NDArray[np.int32], full: NDArray[np.int32], size: Integer,
    weight: NDArray[np.float64],
) -> tuple[float, float]:  # fmt: skip
    """Return the sums of c log c of the counts and of all other rows, and clear the counts."""
    part, others = 0.0, 0.0
    for cell in range(size):
        count = even[cell] + odd[cell]
        part += weight[count]
        others += weight[full[cell] - count]
        even[cell] = 0
        odd[cell] = 0
    return part, others


@internal
def compacted(cells: NDArray[np.uint32]) -> Integer:
    """Give the cells that occur the numbers from 0 on, in place, and return how many there are."""
    found = np.sort(cells)
    size = 1
    for r in range(1, len(found)):
        if found[r] != found[size - 1]:
            found[size] = found[r]
            size += 1
    for r in range(len(cells)):
        cells[r] = np.searchsorted(found[:size], cells[r])
    return size


@compiled
def pairs_information(
    columns: Columns, choice: Choice, first: NDArray[np.intp], second: NDArray[np.intp],
    weight: NDArray[np.float64], sums: NDArray[np.float64], occur: NDArray[np.int64], worth: float,
) -> NDArray[np.float64]:  # fmt: skip
    """Return NMI of each pair for each choice, shape (k or 2k, pairs)."""
    n = columns.codes.shape[1]
    k, m = choice.rows.shape
    size = n - m if choice.left_out else m
    found = np.zeros((len(sums), len(first)))
    cells = np.zeros(n, np.uint32)
    most = DENSE_SHARE * n
    even, odd, full = np.zeros(most, np.int32), np.zeros(most, np.int32), np.zeros(most, np.int32)
    for pair in range(len(first)):
        i, j = first[pair], second[pair]
        width = columns.levels[j]
        table = columns.levels[i] * width
        for r in range(n):
            cells[r] = np.uint32(columns.codes[i, r]) * np.uint32(width) + columns.codes[j, r]
        if table > most:
            table = compacted(cells)
        added(cells, even, odd, n)
        for cell in range(table):
            full[cell] = even[cell] + odd[cell]
            even[cell] = 0
            odd[cell] = 0
        for one in range(k):
            added_rows(cells, choice.rows[one], even, odd)
            part, others = sums_of(even, odd, full, table, weight)
            joint = others if choice.left_out else part
            found[one, pair] = normalised(
                joint, sums[one, i], sums[one, j], occur[one, i], occur[one, j], size, weight[size],
                worth,
            )  # fmt: skip
            if choice.rest:
                at = k + one
                found[at, pair] = normalised(
                    others, sums[at, i], sums[at, j], occur[at, i], occur[at, j], n - size,
                    weight[n - size], worth,
                )  # fmt: skip
    return found


@compiled
def add_counts(
    codes: NDArray[np.uint16], group: NDArray[np.int32], first: NDArray[np.intp],
    second: NDArray[np.intp], starts: NDArray[np.int64], widths: NDArray[np.int64],
    level_starts: NDArray[np.int64], found: NDArray[np.int32],
) -> None:  # fmt: skip
    """Count the cells of each pair and the levels of each column for each group of rows.

    `codes` is (n, p); `found` (groups, cells and levels) is added to.
    """
    n, p = codes.shape
    for r in range(n):
        of_group = found[group[r]]
        for k in range(len(first)):
            place = starts[k] + widths[k] * np.int64(codes[r, first[k]]) + codes[r, second[k]]
            of_group[place] += 1
        for v in range(p):
            of_group[level_starts[v] + codes[r, v]] += 1
