"""Tables in pieces of rows, as partial sums meet them.

Pieces have the same rows on every engine and with any memory, so that sums of floats, which depend
in their last digit on how they are cut, are the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.engine import Announced
from evalkit.quantities import cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities import Cells
    from evalkit.schema import Schema

PIECE_ROWS = 2**16


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a table, one below the other.

    Attributes
    ----------
    start, stop : int
        Their places in the table.
    columns : dict of str to ndarray, each of shape (stop - start,)
        As `quantities.cells` gives them.
    beside : ndarray, optional, shape (stop - start, ...)
        What else belongs to each row.
    """

    start: int
    stop: int
    columns: dict[str, Cells]
    beside: NDArray[np.generic] | None = None


def pieces(
    frame: pd.DataFrame,
    schema: Schema,
    names: Sequence[str],
    beside: NDArray[np.generic] | None = None,
    rows: int = PIECE_ROWS,
) -> Iterator[Piece]:
    """Return a table piece by piece, with word of how many pieces there are.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        Columns that are needed.
    beside : ndarray, optional, shape (rows, ...)
        What else belongs to each row of the table.
    rows : int
        Of a piece.

    Returns
    -------
    iterator of Piece
        At least one, of no rows for an empty table.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_pieces import pieces
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"),))
    >>> table = pd.DataFrame({"age": [20, 30, 40]})
    >>> [one.columns["age"].tolist() for one in pieces(table, schema, ["age"], rows=2)]
    [[20, 30], [40]]
    """
    starts = range(0, max(1, len(frame)), rows)

    def piece(start: int) -> Piece:
        part = frame.iloc[start : start + rows]
        return Piece(
            start,
            start + len(part),
            {name: cells(part, schema, name) for name in names},
            None if beside is None else beside[start : start + rows],
        )

    return Announced(map(piece, starts), len(starts))
