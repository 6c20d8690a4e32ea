"""Plain Python around the compiled counts: lays the targets out, chooses tree or scan, runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels import loops_ranks as loops
from evalkit.kernels import loops_tree
from evalkit.kernels.blocks import in_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.blocks import Crew
    from evalkit.kernels.euclidean import Asked, Points

    Counts = NDArray[np.int64]

LEAF = 256  # targets of a leaf
SCREEN = 60_000.0  # steps of a coordinate for the choice of a split
PROBES = 64  # queries that try the tree ...
PROBED = 4_096  # ... after a look at so many targets
WIDE = 0.05  # share of the targets in reach from which a tree is not worth its growth
WORTHWHILE = 0.3  # share of the targets that a tree may show a query
BLOCK_QUERIES = 64
ENDS = 0.001, 0.999  # quantiles between which splits are chosen: one far point squeezes no other


def counted_ranks(
    asked: Asked, targets: Points, owner: NDArray[np.integer] | None, crew: Crew
) -> tuple[Counts, Counts]:
    """Count the targets nearer than the own one, and those nearer or as near.

    Parameters
    ----------
    asked : Asked
    targets : ndarray of float64, shape (m, axes)
    owner : ndarray of int, shape (m,), optional
        As for `own_rank`.
    crew : Crew

    Returns
    -------
    tuple of ndarray of int64, each of shape (n,)
    """
    points = np.ascontiguousarray(asked.points)
    if owner is None:
        gaps = points - targets[asked.own]
        order, whose = None, np.zeros(0, np.int64)
    else:
        order = np.argsort(owner, kind="stable")
        whose = owner[order].astype(np.int64)
    columns = np.ascontiguousarray(targets.T if order is None else targets[order].T)
    own = _summed(gaps) if order is None else _nearest_own(asked, columns, whose)
    rings = loops.Rings(*asked.rings(own))
    found = np.empty((len(points), 2), np.int64)

    def scan(start: int, end: int) -> None:
        loops.scan(start, end, points, columns, whose, rings, found[start:end])

    work = scan
    if order is None and _is_narrow(points, columns, rings):
        columns, boxes = _grown(columns)

        def walk(start: int, end: int) -> None:
            loops.walk(start, end, points, columns, boxes, rings, found[start:end])

        some = _spread(len(points), PROBES)
        few = loops.Rings(*(ring[some] for ring in rings))
        shown = loops.walk(
            0, len(some), points[some], columns, boxes, few, np.empty((len(some), 2), np.int64)
        )
        work = walk if shown <= WORTHWHILE * len(some) * len(targets) else scan
    in_blocks(work, len(points), BLOCK_QUERIES, crew)
    return found[:, 0].copy(), found[:, 1].copy()


def _summed(gaps: Points) -> Points:
    """Return the squares of the gaps, summed axis after axis, shape (n,)."""
    total = np.zeros(len(gaps))
    for one in gaps.T:
        total += one**2
    return total


def _nearest_own(asked: Asked, columns: Points, whose: Counts) -> Points:
    """Return the square distance of each query to the nearest target of its own group."""
    starts = whose.searchsorted(asked.own, "left")
    stops = whose.searchsorted(asked.own, "right")
    return np.array(
        [
            _summed((point[:, None] - columns[:, start:stop]).T).min()
            for point, start, stop in zip(asked.points, starts, stops, strict=True)
        ]
    )


def _spread(total: int, most: int) -> NDArray[np.intp]:
    """Return some places from 0 to `total` - 1, evenly spread."""
    return np.linspace(0, total - 1, min(total, most)).astype(np.intp)


def _is_narrow(points: Points, columns: Points, rings: loops.Rings) -> bool:
    """Whether few targets lie in reach of the queries, by a look at some of both."""
    queries, rows = _spread(len(points), PROBES), _spread(columns.shape[1], PROBED)
    gaps = points[queries][:, :, None] - columns[:, rows]  # (queries, axes, targets)
    inside = (gaps**2).sum(axis=1) <= rings.reach[queries][:, None]
    return bool(inside.mean() <= WIDE)


def _grown(columns: Points) -> tuple[Points, loops.Boxes]:
    """Return the targets in the order of the leaves of a tree, and the tree."""
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
    return ordered, loops.Boxes(nodes, *_corners(ordered, nodes))


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
