"""The two nearest of different owners, sought by pieces of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import Announced, gather
from evalkit.kernels.two_nearest import TwoNearest, rivals
from evalkit.quantities_searching import raw_cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evalkit.kernels.encoding import Cells
    from evalkit.kernels.two_nearest import Rivals
    from evalkit.quantities_searching import Search

PIECE_QUERIES = 4_096
"""Samples of some ten thousand queries look among all: smaller pieces than those of a search."""


def two_nearest(
    search: Search,
    names: Iterable[str],
    owner: NDArray[np.int64] | None = None,
    piece_rows: int = PIECE_QUERIES,
) -> TwoNearest:
    """Return the distances of all queries to their nearest target and to that of another owner.

    Parameters
    ----------
    search : Search
        The queries and the targets.
    names : iterable of str
        Variables of the search.
    owner : ndarray of int64, shape (m,), optional
        A number from 0 up for whose each target is. If left out, targets with the same cells have
        one owner, and others another.
    piece_rows : int
        Queries of a piece.

    Returns
    -------
    TwoNearest
        The same however the queries are cut.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_searching import Search
    >>> from evalkit.quantities_two_nearest import two_nearest
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"),))
    >>> people, targets = pd.DataFrame({"age": [30, 41]}), pd.DataFrame({"age": [31, 31, 50]})
    >>> two_nearest(Search(schema, [people], targets, {"age": (30, 50)}), ["age"]).second.tolist()
    [1.0, 0.5]
    """
    # Sorted: with fractions of a range the last digit of a sum depends on its order.
    names, rows = sorted(names), search.rows
    told = [owner] if owner is not None else [raw_cells(search.targets, name) for name in names]
    shared = rivals(search.ready(names), told, len(rows), owned=owner is not None)
    search.forget()
    starts = range(0, max(1, len(rows)), piece_rows)
    cut = (search.raw(names, rows[start : start + piece_rows]) for start in starts)
    pieces = Announced(cut, len(starts))
    first, second = zip(*gather(two_of_piece, pieces, shared), strict=True)
    return TwoNearest(np.concatenate(first), np.concatenate(second))


def two_of_piece(piece: list[Cells], shared: Rivals) -> TwoNearest:
    """Return the two distances of a piece of the queries: a partial."""
    return shared.two_nearest(piece)
