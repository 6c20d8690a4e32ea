"""Mutual information of all pairs of variables, in tables cut to one number of rows.

The mean difference of two samples shrinks with their rows, so unequal tables cannot be compared
as they are: each is cut to the smallest, at random and many times.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.information import pair_information
from evalkit.randomness import content_order, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evalkit.quantities_levels import Codes, LevelTables

    Rows = NDArray[np.int32]
    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

PAIRS_AT_ONCE = 50_000  # pairs whose values over all cuts are held together


@dataclass(frozen=True, eq=False)
class Information:
    """Normalised mutual information in WO, WA and HO, over cuts to the smallest of them.

    Attributes
    ----------
    pairs : tuple of two ndarray of intp
        First and second variable of each pair.
    working, avatars, holdout : ndarray of float64, shape (pairs,)
        Mean over the cuts, 0 to 1.
    reference_difference, avatar_difference : float
        Delta of WO and HO, and of WO and WA: mean over pairs and cuts, in percent.
    floor_difference : float
        The same of WO and avatars whose columns were shuffled, each by itself.
    """

    pairs: Pairs
    working: NDArray[np.float64]
    avatars: NDArray[np.float64]
    holdout: NDArray[np.float64]
    reference_difference: float
    avatar_difference: float
    floor_difference: float


def information(
    tables: LevelTables, rng: np.random.Generator, *, cuts: int, shuffles: int
) -> Information:
    """Return the relations in three tables and how far they lie apart.

    Parameters
    ----------
    tables : LevelTables
        With two variables or more.
    rng : Generator
        Draws the cuts and the shuffles. Tables of the same content are cut alike, so that a copy
        of the originals differs from them in nothing.
    cuts : int
        Cuts of a table that is larger than the smallest one.
    shuffles : int
        Shuffles of the avatars' columns, at most `cuts`; 0 gives a floor difference of 0.

    Returns
    -------
    Information
    """
    parts = tables.working, tables.avatars, tables.holdout
    size = min(part.shape[1] for part in parts)
    seed = int(rng.integers(2**31))
    chosen = [_cut_rows(part, size, seed, cuts) for part in parts]
    shuffled = [rng.permuted(tables.avatars, axis=1)[:, :size].copy() for _ in range(shuffles)]
    means: list[NDArray[np.float64]] = []
    gaps = np.zeros(3)  # summed over pairs: WO to HO, WO to WA, WO to shuffled
    pairs = np.triu_indices(len(tables.names), k=1)
    for block in _blocks(pairs):
        working, avatars, holdout = (
            pair_information(part, tables.levels, block, rows)
            for part, rows in zip(parts, chosen, strict=True)
        )  # each (cuts or 1, pairs)
        means.append(np.stack([found.mean(axis=0) for found in (working, avatars, holdout)]))
        gaps[0] += np.abs(working - holdout).mean(axis=0).sum()
        gaps[1] += np.abs(working - avatars).mean(axis=0).sum()
        for k, table in enumerate(shuffled):
            found = pair_information(table, tables.levels, block)[0]
            gaps[2] += np.abs(working[k % len(working)] - found).sum() / len(shuffled)
    return Information(
        pairs, *np.concatenate(means, axis=1), *(float(gap) for gap in 100 * gaps / len(pairs[0]))
    )


def dealt_differences(
    tables: LevelTables, rng: np.random.Generator, deals: int
) -> NDArray[np.float64]:
    """Return Delta between two real samples of the cut size, for each re-deal of WO and HO.

    Parameters
    ----------
    tables : LevelTables
        With two variables or more.
    rng : Generator
        Deals the rows.
    deals : int
        Number of re-deals, each cut once.

    Returns
    -------
    ndarray of float64, shape (deals,)
        In percent.
    """
    size = min(part.shape[1] for part in (tables.working, tables.avatars, tables.holdout))
    pool = np.concatenate([tables.working, tables.holdout], axis=1)  # (p, rows of WO and HO)
    pool = np.ascontiguousarray(pool[:, content_order(list(pool))])
    # To deal in the recorded sizes and to cut both parts is to draw two parts of the cut size.
    drawn = np.stack([rng.permutation(pool.shape[1]) for _ in range(deals)])
    first, second = (np.sort(drawn[:, k * size : (k + 1) * size]) for k in (0, 1))
    rest = 2 * size == pool.shape[1]  # the second part is what the first leaves
    rows = (first if rest else np.concatenate([first, second])).astype(np.int32)
    gaps = np.zeros(deals)
    pairs = np.triu_indices(len(tables.names), k=1)
    for block in _blocks(pairs):
        found = pair_information(pool, tables.levels, block, rows, rest=rest)
        gaps += np.abs(found[:deals] - found[deals:]).sum(axis=1)
    return 100 * gaps / len(pairs[0])


def _cut_rows(codes: Codes, size: int, seed: int, cuts: int) -> Rows | None:
    """Return the rows of each cut of a table, shape (cuts, size); None where nothing is cut."""
    rows = codes.shape[1]
    if rows == size:
        return None
    rng = stream(seed, hashlib.sha256(codes.tobytes()).hexdigest())
    drawn = [np.sort(rng.permutation(rows)[:size]) for _ in range(cuts)]
    return np.stack(drawn).astype(np.int32)


def _blocks(pairs: Pairs) -> Iterator[Pairs]:
    """Yield the pairs in blocks of bounded size."""
    first, second = pairs
    for start in range(0, len(first), PAIRS_AT_ONCE):
        yield first[start : start + PAIRS_AT_ONCE], second[start : start + PAIRS_AT_ONCE]
