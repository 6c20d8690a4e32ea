"""How likely two searches, each breaking its ties at random, end at the same target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from evalkit.kernels.blocks import gather_crew, in_blocks
from evalkit.kernels.grouping import concatenated_ranges, group_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.sets import NearestSets

NUMPY_CELLS = 2_000_000  # entries of lists up to which NumPy is done before a compiler is loaded
BLOCK_CELLS = 4_000_000  # marks, and expanded pairs, in one block
MEASURED_CELLS = 2_000_000_000  # distances that long tie sets may cost before a sample is taken
FEWEST_MEASURED = 200
SAMPLE_SEED = 20_230_601


class Searched(Protocol):
    """Sets of nearest targets, or targets made ready."""

    @property
    def target(self) -> Groups:
        """Equal targets."""
        ...

    @property
    def width(self) -> int:
        """Number of columns."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class LinkProbability:
    """The exact chance of a link for each query, or an estimate where that costs too much.

    Attributes
    ----------
    probability : ndarray of float64, shape (n,)
        `|A and B| / (|A| * |B|)`, A and B the tie sets of the query; 0 to 1.
        Where `exact` is false, the queries that were not measured carry the mean of those of their
        kind that were, so that the mean over all rows is the estimate.
    exact : bool
    standard_error : float
        Of the mean of `probability`; 0.0 if exact.
    """

    probability: NDArray[np.float64]
    exact: bool
    standard_error: float


def link_probability(a: NearestSets, b: NearestSets) -> LinkProbability:
    """For each query the chance that both searches pick the same target row.

    Each search picks uniformly at random among its nearest targets, independently of the other:
    `P = |A and B| / (|A| * |B|)`. It is computed, not simulated.

    Parameters
    ----------
    a, b : NearestSets
        Two searches with the same query rows and the same target rows, in the same order.

    Returns
    -------
    LinkProbability

    Raises
    ------
    ValueError
        If the searches differ in the number of queries or of targets.

    Notes
    -----
    Tie sets that were too long to list are measured again.
    If that would cost more than 2e9 cell comparisons, a sample of these queries is measured,
    drawn with a fixed seed, and `exact` is false.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels import Column, nearest
    >>> sex = Column(np.array([0, 1]), np.array([0, 0, 1]), numeric=False)
    >>> town = Column(np.array([5, 5]), np.array([5, 6, 5]), numeric=False)
    >>> link_probability(nearest([sex]), nearest([town])).probability.tolist()
    [0.25, 0.5]
    """
    if len(a.size) != len(b.size) or len(a.target.of_row) != len(b.target.of_row):
        raise ValueError("the two searches are over different tables")
    queries = _pairs(a.query, b.query)
    listed = a.listed[queries.a] & b.listed[queries.b]
    short, long = np.flatnonzero(listed), np.flatnonzero(~listed)
    targets = _pairs(a.target, b.target, None if len(long) else _met(a, b))
    measured = _to_measure(a, b, queries, long)
    shared = np.zeros(len(listed), np.float64)
    shared[short] = _shared_of_lists(a, b, queries, targets, short)
    shared[measured] = _shared_by_measure(a, b, queries, targets, measured)
    probability = shared / (a.size[queries.first] * b.size[queries.first])
    if len(measured) == len(long):
        return LinkProbability(probability[queries.of_row], exact=True, standard_error=0.0)
    most = _most(a, b, queries.first[measured])
    mean, error = estimated(queries.rows, long, measured, probability[measured], most)
    probability[np.setdiff1d(long, measured, assume_unique=True)] = mean
    return LinkProbability(probability[queries.of_row], exact=False, standard_error=error)


class LongPairs(NamedTuple):
    """Queries with a tie set that is not listed, equal ones once."""

    key_a: NDArray[np.int64]  # of their groups in search a ...
    key_b: NDArray[np.int64]
    rows: NDArray[np.int64]  # queries of this kind
    first: NDArray[np.integer]  # one of them
    most: NDArray[np.float64]  # their chance of a link is no larger
    of_row: NDArray[np.int64]  # of each such query in the order of the rows, its place here


def listed_chances(
    a: NearestSets, b: NearestSets, targets: Pairs
) -> tuple[NDArray[np.float64], LongPairs]:
    """Give the chance of a link of those queries whose tie sets are listed.

    Parameters
    ----------
    a, b : NearestSets
        Two searches of the same queries in the same targets.
    targets : Pairs
        From `crossing`.

    Returns
    -------
    chances : ndarray of float64, shape (n,)
        NaN where a tie set is not listed.
    long : LongPairs
        These queries.
    """
    queries = _pairs(a.query, b.query)
    listed = a.listed[queries.a] & b.listed[queries.b]
    short, long = np.flatnonzero(listed), np.flatnonzero(~listed)
    shared = np.full(len(listed), np.nan)
    shared[short] = _shared_of_lists(a, b, queries, targets, short)
    chances: NDArray[np.float64] = shared / (a.size[queries.first] * b.size[queries.first])
    keys = a.query.key[queries.a[long]], b.query.key[queries.b[long]]
    place = np.full(len(listed), -1)
    place[long] = np.arange(len(long))
    of_row = place[queries.of_row]
    of_long = of_row[of_row >= 0]
    first = queries.first[long]
    found = LongPairs(*keys, queries.rows[long], first, _most(a, b, first), of_long)
    return chances[queries.of_row], found


def measured_chances(a: NearestSets, b: NearestSets, targets: Pairs) -> NDArray[np.float64]:
    """Give the chance of a link of queries whose tie sets are measured again.

    Parameters
    ----------
    a, b, targets
        As for `listed_chances`.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    queries = _pairs(a.query, b.query)
    shared = _shared_by_measure(a, b, queries, targets, np.arange(len(queries.rows)))
    chances: NDArray[np.float64] = shared / (a.size[queries.first] * b.size[queries.first])
    spread: NDArray[np.float64] = chances[queries.of_row]
    return spread


def crossing(a: Groups, b: Groups) -> Pairs:
    """Give the distinct pairs of groups that rows have in two searches."""
    return _pairs(a, b)


class Pairs(NamedTuple):
    """Distinct pairs (group of search a, group of search b) that rows have."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    rows: NDArray[np.int64]
    first: NDArray[np.integer]
    of_row: NDArray[np.integer]


def _pairs(a: Groups, b: Groups, rows: NDArray[np.intp] | None = None) -> Pairs:
    """Sorted by the group of a, then of b; of some rows, if they are given."""
    of_a, of_b = (a.of_row, b.of_row) if rows is None else (a.of_row[rows], b.of_row[rows])
    width = len(b.count)
    pairs = group_keys(of_a.astype(np.int64) * width + of_b, len(a.count) * width)
    in_a = pairs.key // max(1, width)
    return Pairs(in_a, pairs.key - in_a * width, pairs.count, pairs.first, pairs.of_row)


def _met(a: NearestSets, b: NearestSets) -> NDArray[np.intp]:
    """Find the target rows that are listed in both searches: no other one can be shared."""
    marks = []
    for sets in (a, b):
        listed = np.zeros(len(sets.target.count), np.bool_)
        listed[sets.groups] = True
        marks.append(listed[sets.target.of_row])
    return np.flatnonzero(marks[0] & marks[1])


def _shared_of_lists(
    a: NearestSets, b: NearestSets, queries: Pairs, targets: Pairs, which: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Target rows in both tie sets, for pairs whose sets are listed."""
    degree = np.bincount(targets.a, minlength=len(a.target.count))
    first_pair = np.concatenate([[0], np.cumsum(degree)])
    spread = np.concatenate([[0], np.cumsum(degree[a.groups])])
    qa, qb = queries.a[which], queries.b[which]
    work = spread[a.starts[qa + 1]] - spread[a.starts[qa]] + b.starts[qb + 1] - b.starts[qb]
    shared = np.zeros(len(which), np.float64)
    if work.sum() > NUMPY_CELLS:
        _overlap((a, b), (qa, qb), targets, first_pair, shared)
        return shared
    for start, end in _cut(work):
        of_a, listed_a = _lists(a, qa[start:end])
        of_b, listed_b = _lists(b, qb[start:end])
        # The list of a is spread to the pairs of groups that target rows have.
        place = concatenated_ranges(first_pair[listed_a], degree[listed_a])
        pair = np.repeat(of_a, degree[listed_a])
        wanted = pair * len(b.target.count) + targets.b[place]
        there = of_b * len(b.target.count) + listed_b  # increasing: lists are
        hit = there[np.minimum(np.searchsorted(there, wanted), len(there) - 1)] == wanted
        shared[start:end] = np.bincount(
            pair[hit], weights=targets.rows[place[hit]], minlength=end - start
        )
    return shared


def _overlap(
    sets: tuple[NearestSets, NearestSets],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    targets: Pairs,
    first_pair: NDArray[np.int64],
    shared: NDArray[np.float64],
) -> None:
    """Do the same with compiled code; written to `shared`."""
    from evalkit.kernels.loops_linking import Crossing, Lists, overlap

    a, b = (Lists(s.starts, s.groups) for s in sets)
    query_a, query_b = pairs
    crossing = Crossing(first_pair, targets.b, targets.rows)

    def work(start: int, end: int) -> None:
        marks = np.full(len(sets[1].target.count), -1, np.int64)
        overlap(start, end, query_a, query_b, a, b, crossing, marks, shared)

    crew = gather_crew(None)
    in_blocks(work, len(shared), -(-len(shared) // (4 * crew.threads)), crew)


def _lists(
    sets: NearestSets, groups: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Join the lists of some groups of queries; each entry with the place of its list."""
    length = sets.starts[groups + 1] - sets.starts[groups]
    entries = sets.groups[concatenated_ranges(sets.starts[groups], length)]
    return np.repeat(np.arange(len(groups)), length), entries


def _cut(work: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Blocks of consecutive items, each with about `BLOCK_CELLS` of work."""
    until = np.cumsum(work)
    start = 0
    while start < len(work):
        done = int(until[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(until, done + BLOCK_CELLS, side="right")))
        yield start, end
        start = end


def _to_measure(
    a: NearestSets, b: NearestSets, queries: Pairs, long: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Choose which pairs with a long set are measured: all, or a sample if that is too much."""
    keys = a.query.key[queries.a[long]], b.query.key[queries.b[long]]
    return long[to_measure(*keys, measured_at_most(a, b))]


def _most(a: NearestSets, b: NearestSets, rows: NDArray[np.integer]) -> NDArray[np.float64]:
    """Give the largest chance of a link that the sizes of both tie sets allow."""
    most: NDArray[np.float64] = 1 / np.maximum(a.size[rows], b.size[rows])
    return most


def measured_at_most(a: Searched, b: Searched) -> int:
    """How many pairs of long tie sets may be measured again before a sample is taken."""
    cost = sum(len(side.target.count) * side.width for side in (a, b))
    return max(FEWEST_MEASURED, MEASURED_CELLS // cost)


def to_measure(key_a: NDArray[np.int64], key_b: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Choose at most so many of different pairs, whatever their order.

    Parameters
    ----------
    key_a, key_b : ndarray of int64, shape (k,)
    most : int

    Returns
    -------
    ndarray of int64
        Increasing places.
    """
    if len(key_a) <= most:
        return np.arange(len(key_a))
    # Drawn in an order of content, so that the sample does not depend on the order of rows.
    order = np.lexsort((key_b, key_a))
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(key_a), most, replace=False)
    return np.sort(order[chosen])


def _shared_by_measure(
    a: NearestSets, b: NearestSets, queries: Pairs, targets: Pairs, which: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Target rows in both tie sets, for pairs of which a set is measured again."""
    shared = np.zeros(len(which), np.float64)
    if len(which) == 0:
        return shared
    measure_a, measure_b = a.measure(), b.measure()
    for place, pair in enumerate(which):
        in_a = a.tied(int(queries.a[pair]), measure_a)
        in_b = b.tied(int(queries.b[pair]), measure_b)
        shared[place] = targets.rows[in_a[targets.a] & in_b[targets.b]].sum()
    return shared


def estimated(
    count: NDArray[np.int64],
    long: NDArray[np.int64],
    measured: NDArray[np.int64],
    values: NDArray[np.float64],
    most: NDArray[np.float64],
) -> tuple[float, float]:
    """Estimate the mean of the pairs that were not measured from those that were.

    A ratio estimate: pairs are drawn, rows are averaged (Cochran 1977, Sampling Techniques, 6.3).
    Links of long tie sets are rare, and a sample that holds none or few has no spread to tell how
    many it missed. So the error is at least that of a share of the largest chance there is, with
    two pairs added that have it and two that have none (Agresti and Coull 1998, Approximate is
    better than exact, The American Statistician 52(2), 119-126).

    Parameters
    ----------
    count : ndarray of int64
        Rows of every pair, of the listed ones too.
    long, measured : ndarray of int64
        Places of the pairs that are not listed, and of those among them that were measured.
    values : ndarray of float64
        What was measured.
    most : ndarray of float64
        How large each of these might have been, over 0.

    Returns
    -------
    mean, error : float
        The mean over rows, and the standard error that it gives the mean over all rows.
    """
    weight = count[measured]
    mean = float((weight * values).sum() / weight.sum())
    residual = weight * (values - mean)
    drawn, pool = len(measured), len(long)
    variance = (residual**2).sum() / (drawn - 1) / drawn / weight.mean() ** 2
    largest = float((weight * most).sum() / weight.sum())
    equal = float(weight.sum() ** 2 / (weight**2).sum())  # so many pairs of equal weight
    share = (min(1.0, mean / largest) * equal + 2) / (equal + 4)
    variance = max(variance, largest**2 * share * (1 - share) / (equal + 4))
    error_of_mean = float(np.sqrt((1 - drawn / pool) * variance))
    return mean, error_of_mean * float(count[long].sum() / count.sum())
