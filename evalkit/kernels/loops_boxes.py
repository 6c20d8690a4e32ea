"""Compiled: whose rows lie in each of many boxes."""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOBODY = np.iinfo(np.int64).max


@internal
def _is_inside(
    row: int,
    columns: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    cells: NDArray[np.integer],
) -> bool:
    for k in range(len(columns)):
        cell = cells[columns[k], row]
        if cell < low[k] or cell > high[k]:
            return False
    return True


@compiled
def scan(
    order: NDArray[np.int32],
    start: NDArray[np.integer],
    stop: NDArray[np.integer],
    columns: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    cells: NDArray[np.integer],
    owner: NDArray[np.int64],
    least: NDArray[np.int64],
    greatest: NDArray[np.int64],
) -> None:
    """Write the least and the greatest owner met in each box, until two differ.

    Of box b the rows ``order[start[b]:stop[b]]`` are tested; `cells` has shape (columns, rows).
    """
    for b in range(len(start)):
        lowest, highest = NOBODY, -1
        for place in range(start[b], stop[b]):
            row = order[place]
            if _is_inside(row, columns[b], low[b], high[b], cells):
                lowest = min(lowest, owner[row])
                highest = max(highest, owner[row])
                if lowest < highest:
                    break
        least[b], greatest[b] = lowest, highest
