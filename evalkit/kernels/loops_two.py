"""Compiled: the two least sums of each query, leaving each target as soon as it is too far."""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells

Integer = Any  # int or any NumPy integer: the compiler infers the width


class Side(NamedTuple):
    """Rows of one table."""

    values: Cells  # (rows, numerics)
    codes: NDArray[np.int32]  # (rows, levels)


@internal
def far_or_sum(
    query: Side, i: Integer, target: Side, j: Integer, plain: Integer, limits: Cells, unit: Any,
    most: Any,
) -> Any:  # fmt: skip
    """Give the exact sum of a pair, or a part of it that is already at least `most`.

    Levels are counted first but added last, as in the dense path: sums are the same to the bit.
    """
    mismatches = 0
    for v in range(target.codes.shape[1]):
        if target.codes[j, v] != query.codes[i, v]:
            mismatches += 1
    different = mismatches * unit
    total = unit - unit
    if different >= most:
        return different
    for v in range(len(limits)):
        gap = target.values[j, v] - query.values[i, v]
        if gap < 0:
            gap = -gap
        if v >= plain and gap > limits[v]:
            gap = unit
        total += gap
        if total + different >= most:
            return total + different
    return total + different


@compiled
def two_least(
    block: tuple[Integer, Integer, Integer],
    query: Side,
    target: Side,
    count: NDArray[np.int64],
    limits: Cells,
    unit: Any,
    beyond: Any,
    found: Cells,
) -> None:
    """Search the queries of one block.

    Parameters
    ----------
    block : tuple of int
        First query, end, numeric columns without a limit.
    query, target : Side
    count : ndarray of int64, shape (targets,)
        Distinct rows that each target stands for.
    limits : ndarray, shape (numerics,)
        Above it a difference counts as `unit`.
    unit : int or float
        What a mismatch adds.
    beyond : int or float
        More than any sum.
    found : ndarray, shape (end - first, 2)
        Takes the two least sums; the second is `beyond` with one distinct row only.
    """
    first, end, plain = block
    for i in range(first, end):
        least = second = beyond
        for j in range(len(count)):
            total = far_or_sum(query, i, target, j, plain, limits, unit, second)
            if total >= second:
                continue
            if total < least:
                second = total if count[j] > 1 else least
                least = total
            else:
                second = total
        found[i - first, 0], found[i - first, 1] = least, second
