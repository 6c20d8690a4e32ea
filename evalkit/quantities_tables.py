"""Tables in pieces that are tables themselves, for what reads a table and not its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.engine import Announced, gather
from evalkit.quantities_pieces import PIECE_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TablePiece:
    """Some rows of a table.

    Attributes
    ----------
    frame : DataFrame
        Only the columns that are needed.
    beside : ndarray, optional, shape (rows,)
        What else belongs to each row.
    """

    frame: pd.DataFrame
    beside: NDArray[Any] | None = None


def table_pieces(
    frame: pd.DataFrame,
    names: Sequence[str],
    beside: NDArray[np.generic] | None = None,
    rows: int = PIECE_ROWS,
) -> Iterator[TablePiece]:
    """Return some columns of a table piece by piece, at least one piece.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_tables import table_pieces
    >>> table = pd.DataFrame({"age": [20, 30, 40], "size": [1, 2, 3]})
    >>> [len(one.frame) for one in table_pieces(table, ["age"], rows=2)]
    [2, 1]
    """
    starts = range(0, max(1, len(frame)), rows)

    def piece(start: int) -> TablePiece:
        part = frame.iloc[start : start + rows]
        below = None if beside is None else beside[start : start + rows]
        return TablePiece(part[list(names)], below)

    return Announced(map(piece, starts), len(starts))


def gathered(
    partial: Callable[[TablePiece, Any], Any],
    frame: pd.DataFrame,
    names: Sequence[str],
    shared: Any,
    beside: NDArray[np.generic] | None = None,
) -> list[Any]:
    """Return `partial(piece, shared)` of every piece of a table, in order.

    Parameters
    ----------
    partial : callable
        A function of a module: it may run in another process.
    frame : DataFrame
        A table of a release.
    names : sequence of str
        Columns that are needed.
    shared : object
        What every piece needs.
    beside : ndarray, optional, shape (rows,)
        What else belongs to each row.

    Returns
    -------
    list
    """
    return gather(partial, table_pieces(frame, names, beside), shared)


def gathered_of(
    partial: Callable[[Any, Any], Any], pieces: Iterable[Any], shared: Any
) -> list[Any]:
    """Return `partial(piece, shared)` of pieces that are no rows of a table, in order.

    Parameters
    ----------
    partial : callable
        A function of a module: it may run in another process.
    pieces : iterable
        Taken one by one.
    shared : object
        What every piece needs.

    Returns
    -------
    list
    """
    return gather(partial, pieces, shared)
