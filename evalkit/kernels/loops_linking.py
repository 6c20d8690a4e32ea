"""Compiled: how many target rows two tie sets share."""

# ruff: noqa: PLR0913, PLR0917 - an argument costs a compiled call nothing, an object would

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalkit.kernels.compiling import compiled, internal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integer = Any  # int or any NumPy integer: the compiler infers the width

PROBE_COST = 8  # one binary search costs about as much as so many look-ups in a row


class Lists(NamedTuple):
    """Tied groups of one search, list after list, each increasing."""

    starts: NDArray[np.int64]  # (groups of queries + 1,)
    groups: NDArray[np.int32]


class Crossing(NamedTuple):
    """Which groups of search b the rows of each group of search a are in."""

    starts: NDArray[np.int64]  # (groups of a + 1,)
    of_b: NDArray[np.int64]  # increasing within each group of a
    rows: NDArray[np.int64]


@internal
def by_search(
    a: Lists, a_start: Integer, a_end: Integer, b: Lists, b_start: Integer, b_end: Integer,
    crossing: Crossing,
) -> Integer:  # fmt: skip
    """Look every pair of groups up; the lists are short."""
    shared = np.int64(0)
    for k in range(a_start, a_end):
        end = crossing.starts[a.groups[k] + 1]
        for j in range(b_start, b_end):
            wanted = b.groups[j]
            low, high = crossing.starts[a.groups[k]], end
            while low < high:
                middle = (low + high) >> 1
                if crossing.of_b[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < end and crossing.of_b[low] == wanted:
                shared += crossing.rows[low]
    return shared


@internal
def by_marks(
    a: Lists, a_start: Integer, a_end: Integer, b: Lists, b_start: Integer, b_end: Integer,
    crossing: Crossing, marks: NDArray[np.int64], sign: Integer,
) -> Integer:  # fmt: skip
    """Mark the groups of b, then walk over what the groups of a cross."""
    for j in range(b_start, b_end):
        marks[b.groups[j]] = sign
    shared = np.int64(0)
    for k in range(a_start, a_end):
        for place in range(crossing.starts[a.groups[k]], crossing.starts[a.groups[k] + 1]):
            if marks[crossing.of_b[place]] == sign:
                shared += crossing.rows[place]
    return shared


@compiled
def overlap(
    start: Integer,
    end: Integer,
    query_a: NDArray[np.int64],
    query_b: NDArray[np.int64],
    a: Lists,
    b: Lists,
    crossing: Crossing,
    marks: NDArray[np.int64],
    shared: NDArray[np.float64],
) -> None:
    """Count the target rows in both tie sets, for pairs start..end.

    Parameters
    ----------
    start, end : int
    query_a, query_b : ndarray of int64
        Groups of queries, whose lists are compared pair by pair.
    a, b : Lists
    crossing : Crossing
    marks : ndarray of int64, shape (groups of targets of b,)
        Room to work, filled with -1.
    shared : ndarray of float64
        Takes the counts.
    """
    for i in range(start, end):
        a_start, a_end = a.starts[query_a[i]], a.starts[query_a[i] + 1]
        b_start, b_end = b.starts[query_b[i]], b.starts[query_b[i] + 1]
        crossed = np.int64(0)
        for k in range(a_start, a_end):
            crossed += crossing.starts[a.groups[k] + 1] - crossing.starts[a.groups[k]]
        if (a_end - a_start) * (b_end - b_start) * PROBE_COST < crossed + b_end - b_start:
            shared[i] = by_search(a, a_start, a_end, b, b_start, b_end, crossing)
        else:
            shared[i] = by_marks(a, a_start, a_end, b, b_start, b_end, crossing, marks, i)
