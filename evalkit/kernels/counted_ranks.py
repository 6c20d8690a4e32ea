"""Plain Python around the compiled counts: lays the targets out, chooses tree or scan, runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels import loops_ranks as loops
from evalkit.kernels import loops_tree
from evalkit.kernels.blocks import in_blocks
from evalkit.kernels.own_ranks import RankTargets, Ringed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew

    Points = NDArray[np.float64]
    Counts = NDArray[np.int64]

LEAF = 256  # targets of a leaf
SCREEN = 60_000.0  # steps of a coordinate for the choice of a split
PROBES = 64  # queries that try the tree ...
PROBED = 4_096  # ... after a look at so many targets
WIDE = 0.05  # share of the targets in reach from which a tree is not worth its growth
WORTHWHILE = 0.3  # share of the targets that a tree may show a query
BLOCK_QUERIES = 64
ENDS = 0.001, 0.999  # quantiles between which splits are chosen: one far point squeezes no other


def laid_out(queries: Ringed, columns: Points, whose: Counts) -> RankTargets:
    """Return targets for compiled code, in a tree where that is worth its growth.

    Parameters
    ----------
    queries : Ringed
        All that will be asked.
    columns, whose
        As those of `RankTargets`.

    Returns
    -------
    RankTargets
    """
    flat = RankTargets(columns, whose, None, compiled=True)
    if len(whose) or not _is_narrow(queries, columns):
        return flat
    some = Ringed(*(one[_spread(len(queries.points), PROBES)] for one in queries))
    tree = RankTargets(*_grown(columns), compiled=True)
    n = len(some.points)
    shown = _walk(some, tree, 0, n, np.empty((n, 2), np.int64))
    return tree if shown <= WORTHWHILE * n * columns.shape[1] else flat


def counted(queries: Ringed, targets: RankTargets, crew: Crew) -> tuple[Counts, Counts]:
    """Count the targets nearer than the own one, and those nearer or as near.

    Parameters
    ----------
    queries : Ringed
    targets : RankTargets
        From `laid_out`.
    crew : Crew

    Returns
    -------
    tuple of ndarray of int64, each of shape (n,)
    """
    found = np.empty((len(queries.points), 2), np.int64)
    rings = loops.Rings(queries.below, queries.reach)

    def work(start: int, end: int) -> None:
        if targets.boxes is not None:
            _walk(queries, targets, start, end, found[start:end])
            return
        columns, whose = targets.columns, targets.whose
        loops.scan(start, end, queries.points, columns, whose, rings, found[start:end])

    in_blocks(work, len(queries.points), BLOCK_QUERIES, crew)
    return found[:, 0].copy(), found[:, 1].copy()


def _walk(queries: Ringed, targets: RankTargets, start: int, end: int, found: Counts) -> int:
    """Count for a block of queries by the tree; how many targets were measured."""
    rings = loops.Rings(queries.below, queries.reach)
    shown: int = loops.walk(
        start, end, queries.points, targets.columns, targets.boxes, rings, found
    )
    return shown


def _spread(total: int, most: int) -> NDArray[np.intp]:
    """Return some places from 0 to `total` - 1, evenly spread."""
    return np.linspace(0, total - 1, min(total, most)).astype(np.intp)


def _is_narrow(queries: Ringed, columns: Points) -> bool:
    """Whether few targets lie in reach of the queries, by a look at some of both."""
    some, rows = _spread(len(queries.points), PROBES), _spread(columns.shape[1], PROBED)
    gaps = queries.points[some][:, :, None] - columns[:, rows]  # (queries, axes, targets)
    inside = (gaps**2).sum(axis=1) <= queries.reach[some][:, None]
    return bool(inside.mean() <= WIDE)


def _grown(columns: Points) -> tuple[Points, Counts, loops.Boxes]:
    """Return the targets in the order of the leaves of a tree, no groups, and the tree."""
    axes, m = columns.shape
    some = columns[:, _spread(m, 16 * PROBED)]
    low, high = np.quantile(some, ENDS, axis=1) if axes else (np.zeros(0), np.zeros(0))
    unit = float(np.max(high - low, initial=0.0)) or 1.0
    screen = np.empty((axes, m), np.uint16)
    for cells, start, out in zip(columns, low, screen, strict=True):
        out[:] = np.clip((cells - start) * (SCREEN / unit), 0, SCREEN)
    order, room = np.empty(m, np.int32), np.empty((2 * m, 3), np.int32)
    used = loops_tree.build(screen, axes, SCREEN, 1, LEAF, order, np.empty_like(order), room)
    nodes = room[:used].copy()
    ordered = np.empty_like(columns)
    for cells, out in zip(columns, ordered, strict=True):
        np.take(cells, order, out=out)
    return ordered, np.zeros(0, np.int64), loops.Boxes(nodes, *_corners(ordered, nodes))


def _corners(ordered: Points, nodes: NDArray[np.int32]) -> tuple[Points, Points]:
    """Return the least and greatest coordinates of each node, shape (nodes, axes) each."""
    leaves = np.flatnonzero(nodes[:, 2] < 0)
    leaves = leaves[np.argsort(nodes[leaves, 0])]
    starts = nodes[leaves, 0]
    low, high = np.empty((len(nodes), len(ordered))), np.empty((len(nodes), len(ordered)))
    for axis, cells in enumerate(ordered):
        low[leaves, axis] = np.minimum.reduceat(cells, starts)
        high[leaves, axis] = np.maximum.reduceat(cells, starts)
    for node in np.flatnonzero(nodes[:, 2] >= 0)[::-1]:  # children come after their parent
        left = nodes[node, 2]
        low[node] = np.minimum(low[left], low[left + 1])
        high[node] = np.maximum(high[left], high[left + 1])
    return low, high
