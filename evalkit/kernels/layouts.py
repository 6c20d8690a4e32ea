"""What the compiled search reads and writes: plain arrays under names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells

Integer = Any  # int or any NumPy integer: the compiler infers the width


class Rows(NamedTuple):
    """Rows of one side, as the screen and the exact check read them."""

    screen: NDArray[np.uint16]  # (columns, m) of the targets, (n, columns) of the queries
    values: Cells  # (rows, numerics)
    codes: NDArray[np.int32]  # (rows, levels)
    weight: NDArray[np.int64]  # (rows,) table rows that each stands for


class Tree(NamedTuple):
    """Nodes over the targets; children lie side by side, after their parent."""

    nodes: NDArray[np.int32]  # (nodes, 3) first row, end, left child or -1
    boxes: NDArray[np.int32]  # (nodes, 2 * numerics) least and greatest screen values
    masks: NDArray[np.uint64]  # (nodes, words) which codes occur, modulo the bits of a column
    words: NDArray[np.int64]  # (levels + 1,) where each column's begin; each has a power of two


class Owners(NamedTuple):
    """Whose the targets are."""

    code: NDArray[np.int64]  # (m,) its own where there are several
    several: NDArray[np.bool_]  # (m,) whether it stands for rows of two owners or more


class Measure(NamedTuple):
    """What turns cells into a distance."""

    plain: Integer  # numeric columns without a limit; they come first
    limits: Cells  # (numerics,) above it a difference counts as one unit
    unit: Any  # what a mismatch adds to an exact sum
    tolerance: Any  # how far above the least exact sum a tie may lie
    screen_unit: np.uint16  # what a mismatch adds to a screen sum
    shrink: float  # screen units in one unit of an exact sum
    slack: Integer  # how far a screen sum may exceed the shrunk exact sum
    sharp: bool  # whether the screen sum is the exact sum


class Slots(NamedTuple):
    """The state of the queries that are searched together."""

    bound: NDArray[np.int64]  # a row with a larger screen sum cannot tie
    least: Cells  # least exact sum so far
    length: NDArray[np.int64]  # tied groups; may exceed the list
    rows: NDArray[np.int64]  # table rows in these groups
    sunk: NDArray[np.bool_]  # the least sum fell within the tolerance: the list needs a sieve
    places: NDArray[np.int32]  # (slots, longest) where the tied groups lie
    sums: Cells  # (slots, longest) their exact sums


class Found(NamedTuple):
    """What the queries found; written to by `search`."""

    least: Cells  # (n,)
    rows: NDArray[np.int64]  # (n,) table rows in the tie set
    listed: NDArray[np.int64]  # (n,) groups listed, or -1 for too many


class Targets(NamedTuple):
    """The targets in the order in which they are searched."""

    rows: Rows
    tree: Tree
    group: NDArray[np.int32] | None  # of each place; None where that is the place itself
    tile: int
    chunk: int


@dataclass(eq=False, repr=False)
class Shelf:
    """Keeps the targets of a search as they were laid out, for the next search in them.

    Attributes
    ----------
    asked : int
        Queries that will look through the targets in all; 0 for those of the first search.
    laid : Targets, optional
        Once there was a search.
    share : float
        Share of the targets that a query is shown.
    shown : int
        Targets that all queries so far were shown.
    """

    asked: int = 0
    laid: Targets | None = None
    share: float = 1.0
    shown: int = 0
