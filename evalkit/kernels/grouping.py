"""Equal rows count once: rows to groups, and groups that both sides share."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.blocks import side_by_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.problem import Problem, Side

KEY_SPACE = 2**62
DIRECT_SPACE = 65_536  # a key space up to here, or up to four rows a key, is counted in a table
POOR_HASHES = "64 hash functions in a row gave two different rows one key"
MIXER = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: an odd number that spreads bits (Knuth 6.4)


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Equal rows of one table, in the order of their keys.

    Attributes
    ----------
    of_row : ndarray of int, shape (rows,)
        The group of each row.
    count : ndarray of int64, shape (groups,)
        Rows of each group.
    first : ndarray of int, shape (groups,)
        One row of each group.
    key : ndarray of int64, shape (groups,)
        Increasing; equal on both sides only where the rows are equal.
    """

    of_row: NDArray[np.integer]
    count: NDArray[np.int64]
    first: NDArray[np.integer]
    key: NDArray[np.int64]


def group_both(problem: Problem, n: int, m: int, crew: Crew) -> tuple[Groups, Groups]:
    """Find the groups of equal queries and of equal targets.

    Parameters
    ----------
    problem : Problem
    n, m : int
        Number of queries and of targets.
    crew : Crew

    Returns
    -------
    tuple of Groups
        Of the queries, of the targets.
    """
    space = prod(_sizes(problem))
    if space < KEY_SPACE:
        query, target = side_by_side(
            [
                lambda: group_keys(_packed(problem, "query", n), space),
                lambda: group_keys(_packed(problem, "target", m), space),
            ],
            crew,
            n + m,
        )
        return query, target
    for attempt in range(64):
        query = group_keys(_hashed(problem, "query", n, attempt), KEY_SPACE)
        target = group_keys(_hashed(problem, "target", m, attempt), KEY_SPACE)
        if _faithful(problem, query, target):
            return query, target
    raise RuntimeError(POOR_HASHES)


def pair_off(query: Groups, target: Groups) -> NDArray[np.int64]:
    """Find for each group of queries the group of equal targets.

    Parameters
    ----------
    query, target : Groups

    Returns
    -------
    ndarray of int64, shape (groups of queries,)
        -1 where no target is equal.
    """
    place = np.minimum(np.searchsorted(target.key, query.key), len(target.key) - 1)
    return np.where(target.key[place] == query.key, place, -1)


def concatenated_ranges(
    starts: NDArray[np.integer], lengths: NDArray[np.integer]
) -> NDArray[np.int64]:
    """List the whole numbers of many ranges, one range after the other.

    Parameters
    ----------
    starts, lengths : ndarray of int, shape (k,)

    Returns
    -------
    ndarray of int64, shape (sum of lengths,)

    Examples
    --------
    >>> concatenated_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(lengths) - lengths
    total = int(lengths.sum())
    ranges: NDArray[np.int64] = np.repeat(starts - before, lengths) + np.arange(total)
    return ranges


def _digits(problem: Problem, side: Side) -> list[Cells]:
    """Give the cells of each column as whole numbers from 0 up, or as the bits of a float64."""
    digits: list[Cells] = [c.query if side == "query" else c.target for c in problem.levels]
    for cells in problem.numerics:
        values = cells.query if side == "query" else cells.target
        if not cells.whole:
            digits.append((values + 0.0).view(np.int64))  # adding 0 makes -0.0 and 0.0 one number
        elif cells.missing:
            # The mark of a missing cell lies far above the others; the next free number will do.
            digits.append(np.minimum(values, int(cells.span) + 1))
        else:
            digits.append(values)
    return digits


def _sizes(problem: Problem) -> list[int]:
    """How many whole numbers each column of `_digits` may hold."""
    sizes = [cells.levels for cells in problem.levels]
    return sizes + [
        int(cells.span) + 1 + cells.missing if cells.whole else KEY_SPACE
        for cells in problem.numerics
    ]


def _packed(problem: Problem, side: Side, rows: int) -> NDArray[np.int64]:
    """Mixed-radix numbers: each column is a digit."""
    key = np.zeros(rows, np.int64)
    for digit, size in zip(_digits(problem, side), _sizes(problem), strict=True):
        key *= size
        key += digit
    return key


def _hashed(problem: Problem, side: Side, rows: int, attempt: int) -> NDArray[np.int64]:
    """62 bits of a multiplicative hash over the columns; `attempt` chooses another one."""
    key = np.full(rows, 2 * attempt + 1, np.uint64)
    for digit in _digits(problem, side):
        key ^= digit.astype(np.int64).view(np.uint64)
        key *= np.uint64(MIXER + 2 * attempt)
        key ^= key >> np.uint64(29)
    return (key >> np.uint64(2)).view(np.int64)


def group_keys(key: NDArray[np.int64], space: int) -> Groups:
    """Find the groups of equal keys.

    Parameters
    ----------
    key : ndarray of int64, shape (rows,)
        From 0 to `space - 1`.
    space : int

    Returns
    -------
    Groups
    """
    if space <= max(DIRECT_SPACE, 4 * len(key)):
        table = np.bincount(key, minlength=space)
        present = np.flatnonzero(table)
        rank = np.empty(space, np.int32)
        rank[present] = np.arange(len(present), dtype=np.int32)
        of_row = rank[key]
        first = np.empty(len(present), np.int64)
        first[of_row] = np.arange(len(key))
        return Groups(of_row, table[present], first, present)
    order = np.argsort(key)
    ordered = key[order]
    start = np.ones(len(key), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=start[1:])
    place = np.flatnonzero(start)
    of_row = np.empty(len(key), np.int32)
    of_row[order] = np.cumsum(start, dtype=np.int32) - np.int32(1)
    return Groups(of_row, np.diff(place, append=len(key)), order[place], ordered[place])


def _faithful(problem: Problem, query: Groups, target: Groups) -> bool:
    """Whether rows with one hash are equal rows, within each side and across."""
    pair = pair_off(query, target)
    return (
        _alike(problem, "query", query)
        and _alike(problem, "target", target)
        and bool((_equal(problem, query, target, pair) == (pair >= 0)).all())
    )


def _alike(problem: Problem, side: Side, groups: Groups) -> bool:
    """Whether rows of one group are equal."""
    return all(
        bool((digit == digit[groups.first[groups.of_row]]).all())
        for digit in _digits(problem, side)
    )


def _equal(
    problem: Problem, query: Groups, target: Groups, pair: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each group of queries equals the group of targets that it is paired with."""
    equal = pair >= 0
    hit = np.flatnonzero(equal)
    for left, right in zip(_digits(problem, "query"), _digits(problem, "target"), strict=True):
        equal[hit] &= left[query.first[hit]] == right[target.first[pair[hit]]]
    return equal


def group_targets(problem: Problem, m: int) -> tuple[Groups, int]:
    """Find the groups of equal targets.

    Parameters
    ----------
    problem : Problem
    m : int
        Number of targets.

    Returns
    -------
    groups : Groups
    attempt : int
        Which hash gave their keys, -1 where the keys are exact.
    """
    if prod(_sizes(problem)) < KEY_SPACE:
        return group_side(problem, "target", m, -1)[0], -1
    for attempt in range(64):
        groups, alike = group_side(problem, "target", m, attempt)
        if alike:
            return groups, attempt
    raise RuntimeError(POOR_HASHES)


def group_side(problem: Problem, side: Side, rows: int, attempt: int) -> tuple[Groups, bool]:
    """Find the groups of equal rows of one side.

    Parameters
    ----------
    problem : Problem
    side : {"query", "target"}
    rows : int
        Of that side.
    attempt : int
        As `group_targets` gives it.

    Returns
    -------
    groups : Groups
    alike : bool
        Whether rows of one group are equal. If the hash joins rows that differ, each row is a
        group of its own.
    """
    if attempt < 0:
        return group_keys(_packed(problem, side, rows), prod(_sizes(problem))), True
    groups = group_keys(_hashed(problem, side, rows, attempt), KEY_SPACE)
    if _alike(problem, side, groups):
        return groups, True
    each = np.arange(rows)
    return Groups(each, np.ones(rows, np.int64), each, each), False


def pair_off_exactly(
    problem: Problem, query: Groups, target: Groups, *, hashed: bool
) -> NDArray[np.int64]:
    """Find for each group of queries the group of equal targets, whatever the hash says.

    Parameters
    ----------
    problem : Problem
    query, target : Groups
    hashed : bool
        Whether keys are hashes, which rows that differ may share.

    Returns
    -------
    ndarray of int64, shape (groups of queries,)
        -1 where no target is equal.
    """
    pair = pair_off(query, target)
    return np.where(_equal(problem, query, target, pair), pair, -1) if hashed else pair
