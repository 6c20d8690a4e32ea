"""Each variable by itself: the bins of a number column, and deals of real records.

Where people have several rows, distributions are those of the rows, as avatars are rows, and whole
persons are dealt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.quantities import Cells
    from evalkit.release import Release

Kind = TypeVar("Kind", bound=np.generic)

DEALS, FEWEST_DEALS = 100, 20
DEALT_CELLS = 600_000_000


def missing_cells(values: Cells) -> NDArray[np.bool_]:
    """Return which cells of one number column are missing, shape (rows,)."""
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def inner_edges(values: Cells, bins: int) -> Cells:
    """Return the edges between quantile bins: values of the column, so that ties never part.

    Parameters
    ----------
    values : ndarray, shape (rows,)
        Filled cells of a number column, at least one.
    bins : int
        How many bins are asked for; equal quantiles make fewer.

    Returns
    -------
    ndarray, shape (edges,)
        Ascending; the quantile at share q is the least value that q of the cells do not pass.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_univariate import inner_edges
    >>> inner_edges(np.arange(1, 9), 4).tolist()
    [2, 4, 6]
    """
    shares = np.arange(1, bins) / bins
    # One unit of the last digit less: 0.7 * 10 must be the seventh value and not the eighth.
    places = np.ceil(shares * len(values) - 1e-9).astype(np.intp) - 1
    edges: Cells = np.unique(np.sort(values)[np.maximum(places, 0)])  # type: ignore[assignment]
    return edges


def number_codes(values: Cells, edges: Cells, least: float) -> NDArray[np.int32]:
    """Return the bin of each cell: up to the first edge, …, over the last, missing last of all.

    Where the first edge is the least value of the originals, what lies below it has a bin of its
    own, as what lies over the last edge always has.

    Parameters
    ----------
    values : ndarray, shape (rows,)
        Cells of a number column.
    edges : ndarray
        From `inner_edges`.
    least : float
        The least filled value of the working originals.

    Returns
    -------
    ndarray of int32, shape (rows,)
        0 is "below all originals", ``len(edges) + 2`` is missing.
    """
    codes = np.searchsorted(edges, values, side="left").astype(np.int32) + 1
    if edges[0] == least:
        codes[values < least] = 0
    codes[missing_cells(values)] = len(edges) + 2
    return codes


def deals(
    pool: Persons, n_first: int, n_second: int, width: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return pairs of samples of real records, as places in a pool, of two given sizes.

    Two samples that fit into the pool share no record. Where they do not fit, both are drawn with
    replacement: their shares then differ by as much as those of two samples of these sizes from
    all people do, which a second sample cut to what is left would not.

    Parameters
    ----------
    pool : Persons
        Whose the rows of the pool are.
    n_first, n_second : int
        Persons in each sample; records, where each is a person of its own.
    width : int
        Number of variables: over many cells there are fewer deals, from 100 down to 20.
    rng : numpy.random.Generator

    Yields
    ------
    first, second : ndarray of int64
        Places in the pool, whose rows stand in an order of content: all rows of the persons drawn.
    """
    size, people = n_first + n_second, pool.count
    rows = size / pool.per_row
    count = int(np.clip(DEALT_CELLS // max(1, rows * width), FEWEST_DEALS, DEALS))
    for _ in range(count):
        drawn = (
            rng.permutation(people)[:size] if size <= people else rng.integers(people, size=size)
        )
        yield _rows_of(drawn[:n_first], pool), _rows_of(drawn[n_first:], pool)


def _rows_of(drawn: NDArray[np.int64], pool: Persons) -> NDArray[np.int64]:
    """Return the places of all rows of persons, as often as each was drawn."""
    if pool.are_rows:
        return drawn
    times = np.bincount(drawn, minlength=pool.count)
    return np.repeat(np.arange(len(pool)), times[pool.code])


def dealt_people(release: Release, *, halves: bool) -> tuple[list[Persons], int]:
    """Return whose the real rows of a comparison are, and for how many people the avatars count.

    Parameters
    ----------
    release : Release
    halves : bool
        Whether WO, WA and HO are compared, or all originals, all avatars and a real holdout.

    Returns
    -------
    persons : list of Persons
        Of the originals first, and of the holdout where there is one.
    n_avatars : int
        The avatars, where each row is a person of its own.
    """
    roles = ["working", "reference"] if halves else ["original", "holdout"]
    if not halves and release.holdout is None:
        roles.pop()
    avatars = release.persons_of("working_avatars" if halves else "avatars")
    persons = [release.persons_of(role) for role in roles]
    return persons, max(1, round(avatars.count * release.avatar_worth))


def ordered_persons(persons: Sequence[Persons], order: NDArray[np.intp]) -> Persons:
    """Return whose the rows of tables put together are, these rows in an `order` of content."""
    whole = persons[0] if len(persons) == 1 else persons[0].followed_by(persons[1])
    return whole.in_order(order)


def ordered_pool(
    tables: Sequence[NDArray[Kind]], persons: Sequence[Persons]
) -> tuple[NDArray[Kind], Persons]:
    """Return the rows of matrices put together, in an order of content, and whose they are."""
    pool = np.concatenate(list(tables))
    order = content_order(list(pool.T))
    return pool[order], ordered_persons(persons, order)


def mean_and_band(scores: Sequence[float]) -> tuple[float | None, list[float] | None]:
    """Return mean and middle 95 % of the scores of deals; None, None where there is none."""
    if not len(scores):
        return None, None
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(np.mean(scores)), [float(low), float(high)]
