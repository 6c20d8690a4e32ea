"""Plain Python around the compiled search: lays the tables out, chooses tree or scan, runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalkit.kernels import loops_search as loops
from evalkit.kernels import loops_tree
from evalkit.kernels.blocks import in_blocks
from evalkit.kernels.dense import Ties
from evalkit.kernels.layouts import Found, Measure, Rows, Shelf, Slots, Targets, Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.encoding import Cells, NumericCells
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem, Side

LARGEST_UNIT = 32_000  # a missing cell is two units, and has to fit into 16 bits
LARGEST_SUM = 65_000  # so has the sum over all columns
SCREEN_CODES = 65_536
LEAF = 512  # rows of a leaf
CHUNK = 2_048  # rows of a plain scan that are screened at once ...
TILE = 16  # ... for so many queries
MOST_WORDS = 16  # of 64 bits in a mask: up to 1,024 levels each has a bit of its own
PROBES = 128  # queries that try the tree
WORTHWHILE = 0.4  # share of the rows that a tree may show a query
BLOCK_WORK = 2**30  # screened cells in one block: some hundredths to tenths of a second
LARGEST_BLOCK = 4_096
SCREENED_PER_LEVEL = 700  # cells are screened while one row is sorted into a level of the tree


@dataclass(frozen=True)
class Plan:
    """How to search; the answer depends on `longest` only.

    Parameters
    ----------
    longest : int
        Groups up to which a tie set is listed.
    shape : {"auto", "tree", "scan"}
    leaf : int
        Rows of a leaf.
    block : int, optional
        Queries of a block.
    shelf : Shelf
        Where the targets as they are laid out wait for the next queries.
    """

    longest: int
    shape: Literal["auto", "tree", "scan"] = "auto"
    leaf: int = LEAF
    block: int | None = None
    shelf: Shelf = field(default_factory=Shelf)

    def is_worth_a_tree(self, queries: int, targets: int, columns: int) -> bool:
        """Whether so many queries gain from a tree over so many targets."""
        levels = np.log2(max(2.0, targets / self.leaf))
        return bool(max(queries, self.shelf.asked) * columns > SCREENED_PER_LEVEL * levels)


@dataclass(frozen=True, eq=False)
class Job:
    """A search that is laid out and can be run block by block."""

    queries: Rows
    targets: Targets
    measure: Measure
    found: Found
    longest: int

    def run(self, start: int, end: int) -> tuple[NDArray[np.int32], int]:
        """Search queries start..end; the places of the tied groups and how many rows were shown."""
        tile, exact = self.targets.tile, self.measure.limits.dtype
        slots = Slots(
            np.empty(tile, np.int64),
            np.empty(tile, exact),
            np.empty(tile, np.int64),
            np.empty(tile, np.int64),
            np.empty(tile, np.bool_),
            np.empty((tile, self.longest), np.int32),
            np.empty((tile, self.longest), exact),
        )
        places = np.empty((end - start) * self.longest, np.int32)
        blocks = start, end, self.targets.chunk, tile
        used, shown = loops.search(
            blocks, self.queries, self.targets.rows, self.targets.tree, self.measure,
            slots, self.found, places,
        )  # fmt: skip
        return places[:used].copy(), shown


def search_pruned(
    problem: Problem, rows: NDArray[np.integer], target: Groups, plan: Plan, crew: Crew
) -> Ties:
    """Find the tie sets of many queries with compiled code.

    Parameters
    ----------
    problem : Problem
        At least one column, at most 32,500.
    rows : ndarray of int, shape (k,)
        Rows of the queries; it is faster if close ones lie side by side.
    target : Groups
    plan : Plan
    crew : Crew

    Returns
    -------
    Ties
        Equal to those of `search_all`.
    """
    measure = _measure(problem)
    screen = np.ascontiguousarray(_screened(problem, "query", rows, measure).T)
    queries = _rows(problem, "query", rows, screen, np.ones_like(rows))
    shelf = plan.shelf
    if shelf.laid is None:
        shelf.laid, shelf.share = _prepare(problem, queries, target, measure, plan)
    targets = shelf.laid
    job = Job(queries, targets, measure, _room(len(rows), measure), plan.longest)
    size = plan.block or _block_size(len(rows), targets, shelf.share, crew.threads)
    answers = in_blocks(job.run, len(rows), size, crew)
    shelf.shown += sum(shown for _, shown in answers)
    tied = np.concatenate([places for places, _ in answers])
    if targets.group is not None:
        tied = _sorted_lists(targets.group[tied], job.found.listed, len(targets.group))
    return Ties(job.found.least, job.found.rows, job.found.listed, tied)


def _measure(problem: Problem) -> Measure:
    exact: Any = np.int64 if problem.dtype.kind == "i" else np.float64
    limits = [problem.unit if limit is None else limit for limit in problem.limits()]
    sharp = _is_sharp(problem)
    columns = len(problem.numerics) + len(problem.levels)
    screen_unit = int(problem.unit) if sharp else min(LARGEST_UNIT, LARGEST_SUM // columns)
    return Measure(
        problem.plain,
        np.array(limits, exact),
        exact(problem.unit),
        exact(problem.tolerance),
        np.uint16(screen_unit),
        screen_unit / float(problem.unit),
        0 if sharp else len(problem.numerics) + 1,
        sharp,
    )


def _is_sharp(problem: Problem) -> bool:
    """Whether the exact sums fit into the 16 bits of the screen."""
    columns = len(problem.numerics) + len(problem.levels)
    return (
        problem.dtype.kind == "i"
        and problem.tolerance == 0
        and problem.unit * max(columns, 3) <= LARGEST_SUM  # a missing cell holds up to three units
        and all(cells.span <= cells.scale for cells in problem.numerics)
        and all(cells.levels <= SCREEN_CODES for cells in problem.levels)
    )


def _screened(
    problem: Problem, side: Side, rows: NDArray[np.integer], measure: Measure
) -> NDArray[np.uint16]:
    """Give screen values, one row a column: floor(share of the range * unit), or codes mod 65,536.

    A cell outside the range counts as its end, which can only lower a difference.
    """
    screen = np.empty((len(problem.numerics) + len(problem.levels), len(rows)), np.uint16)
    if measure.sharp:
        for place, values in enumerate(problem.values(side, rows)):
            screen[place] = values
    else:
        for place, cells in enumerate(problem.numerics):
            counts = (cells.query if side == "query" else cells.target)[rows]
            screen[place] = _shrunk(counts, cells, int(measure.screen_unit))
    for place, codes in enumerate(problem.codes(side, rows), len(problem.numerics)):
        screen[place] = codes & (SCREEN_CODES - 1)
    return screen


def _shrunk(counts: Cells, cells: NumericCells, unit: int) -> NDArray[np.float64]:
    share: NDArray[np.float64] = (counts.astype(np.float64) - cells.base) * (unit / cells.scale)
    np.clip(share, 0, unit, out=share)
    if cells.missing:
        share[counts > cells.span] = 2 * unit
    return share


def _rows(
    problem: Problem,
    side: Side,
    rows: NDArray[np.integer],
    screen: NDArray[np.uint16],
    weight: NDArray[np.integer],
) -> Rows:
    exact = np.int64 if problem.dtype.kind == "i" else np.float64
    values = np.empty((len(rows), len(problem.numerics)), exact)
    codes = np.empty((len(rows), len(problem.levels)), np.int32)
    for place, cells in enumerate(problem.values(side, rows)):
        values[:, place] = cells
    for place, cell_codes in enumerate(problem.codes(side, rows)):
        codes[:, place] = cell_codes
    return Rows(screen, values, codes, weight.astype(np.int64))


def _prepare(
    problem: Problem, queries: Rows, target: Groups, measure: Measure, plan: Plan
) -> tuple[Targets, float]:
    """Give the targets on a tree or for a scan, and the share of them that a query is shown."""
    screen = _screened(problem, "target", target.first, measure)
    if plan.shape == "scan" or (
        plan.shape == "auto"
        and not (
            len(target.first) > plan.leaf
            and plan.is_worth_a_tree(len(queries.weight), *screen.shape[::-1])
        )
    ):
        return _flat(problem, target, screen), 1.0
    targets = _grown(problem, target, screen, measure, plan.leaf)
    if plan.shape == "tree":
        return targets, 1.0
    share = _probe(queries, targets, measure)
    if share > WORTHWHILE:
        return _flat(problem, target, screen), 1.0
    return targets, share


def _words(problem: Problem) -> NDArray[np.int64]:
    """Give where the words of each categorical column begin in the masks of a node."""
    sizes = [1 << ((cells.levels - 1) // 64).bit_length() for cells in problem.levels]
    return np.cumsum([0, *(min(size, MOST_WORDS) for size in sizes)])


def _flat(problem: Problem, target: Groups, screen: NDArray[np.uint16]) -> Targets:
    nodes = np.array([[0, len(target.first), -1]], np.int32)
    boxes = np.zeros((1, 2 * len(problem.numerics)), np.int32)
    words = _words(problem)
    masks = np.zeros((1, words[-1]), np.uint64)
    rows = _rows(problem, "target", target.first, screen, target.count)
    chunk = min(CHUNK, len(target.first))
    return Targets(rows, Tree(nodes, boxes, masks, words), None, TILE, chunk)


def _grown(
    problem: Problem,
    target: Groups,
    screen: NDArray[np.uint16],
    measure: Measure,
    leaf: int,
) -> Targets:
    numerics, m = len(problem.numerics), len(target.first)
    codes = max((min(c.levels, SCREEN_CODES) for c in problem.levels), default=1)
    order, room = np.empty(m, np.int32), np.empty((2 * m, 3), np.int32)
    used = loops_tree.build(
        screen, numerics, float(measure.screen_unit), codes, leaf, order, np.empty_like(order), room
    )
    nodes = room[:used].copy()
    ordered = np.empty_like(screen)
    for cells, out in zip(screen, ordered, strict=True):
        np.take(cells, order, out=out)
    boxes = np.empty((used, 2 * numerics), np.int32)
    words = _words(problem)
    masks = np.empty((used, words[-1]), np.uint64)
    loops_tree.bound(ordered, nodes, boxes, masks, words)
    rows = _rows(problem, "target", target.first[order], ordered, target.count[order])
    longest_leaf = int((nodes[:, 1] - nodes[:, 0])[nodes[:, 2] < 0].max())
    return Targets(rows, Tree(nodes, boxes, masks, words), order, 1, min(longest_leaf, CHUNK))


def _probe(queries: Rows, targets: Targets, measure: Measure) -> float:
    """Try some queries; the share of the targets that the tree shows them."""
    tried = min(PROBES, len(queries.weight))
    some = np.linspace(0, len(queries.weight) - 1, tried).astype(np.intp)
    rows = Rows(*(np.ascontiguousarray(part[some]) for part in queries))
    job = Job(rows, targets, measure, _room(tried, measure), longest=1)
    return job.run(0, tried)[1] / tried / len(targets.rows.weight)


def _room(queries: int, measure: Measure) -> Found:
    numbers = np.empty(queries, np.int64), np.empty(queries, np.int64)
    return Found(np.empty(queries, measure.limits.dtype), *numbers)


def _block_size(queries: int, targets: Targets, share: float, threads: int) -> int:
    work = max(1.0, share * targets.rows.screen.size)
    size = min(LARGEST_BLOCK, int(BLOCK_WORK / work), -(-queries // (threads * 8)))
    return max(TILE, size)


def _sorted_lists(
    groups: NDArray[np.int32], listed: NDArray[np.int64], m: int
) -> NDArray[np.int32]:
    """Sort every list by itself: a query's number before its groups makes it one sort."""
    query = np.repeat(np.arange(len(listed)), np.maximum(listed, 0))
    keys = np.sort(query * m + groups)
    return (keys - query * m).astype(np.int32)
