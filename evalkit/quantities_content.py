"""Rows of large tables in an order of content, at eight bytes a row and one sort.

Sorting by every column would take minutes and a copy of the table. Here each row has a 64-bit
number made of its cells, and rows are ordered by it: equal rows have equal numbers, whatever their
order in the file. Two different rows share a number once in ten thousand pairs of tables of ten
million rows, and then their order in the file decides between these two only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import gather
from evalkit.quantities import remembered
from evalkit.quantities_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities_pieces import Piece
    from evalkit.release import Release
    from evalkit.schema import Schema

    Keys = NDArray[np.uint64]

# The constants of splitmix64 (Steele, Lea & Flood 2014), whose last step scatters every bit.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_MISSING = np.uint64(0x7FF8000000000000)


def keys_of_piece(piece: Piece, shared: None = None) -> Keys:
    """Return the number of each row of a piece, shape (rows,): a partial."""
    del shared
    found = np.zeros(piece.stop - piece.start, np.uint64)
    for name in sorted(piece.columns):
        values = piece.columns[name].astype(np.float64) + 0.0  # without a negative zero
        bits = values.view(np.uint64)
        bits[np.isnan(values)] = _MISSING
        found = _scattered(found + bits + _STEP)
    return found


def content_keys(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> Keys:
    """Return a number for each row of a table, equal for equal rows.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        Columns that count; missing equals missing.

    Returns
    -------
    ndarray of uint64, shape (rows,)

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.quantities_content import content_keys
    >>> from evalkit.schema import Schema, Variable
    >>> table = pd.DataFrame({"age": [20.0, 30.0, 20.0]})
    >>> first, second, third = content_keys(table, Schema((Variable("age", "numeric"),)), ["age"])
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    return np.concatenate(gather(keys_of_piece, pieces(frame, schema, names)))


def beside(first: Keys, second: Keys) -> Keys:
    """Return one number for each pair of rows that stand side by side."""
    return _scattered(first + _scattered(second + _STEP))


def table_keys(release: Release, role: str) -> Keys:
    """Return `content_keys` of a table of a release over all used columns, made once.

    Parameters
    ----------
    release : Release
    role : str
        ``"original"``, ``"avatars"``, ``"holdout"``, ``"working"``, ``"working_avatars"`` or
        ``"reference"``.

    Returns
    -------
    ndarray of uint64, shape (rows,)
    """
    if release.holdout is not None:
        role = {"working": "original", "working_avatars": "avatars", "reference": "holdout"}.get(
            role, role
        )
    frame, schema = getattr(release, role), release.schema
    return remembered(
        release,
        ("content keys", role),
        lambda: content_keys(frame, schema, schema.used_names()),
    )


def places(keys: Sequence[Keys]) -> list[NDArray[np.int64]]:
    """Return the place of each row among the rows of all tables, by their numbers.

    Parameters
    ----------
    keys : sequence of ndarray of uint64
        One array for each table.

    Returns
    -------
    list of ndarray of int64
        From 0 up, each place once.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_content import places
    >>> places([np.array([7, 2], np.uint64), np.array([5], np.uint64)])
    [array([2, 0]), array([1])]
    """
    together = np.concatenate(list(keys))
    found = np.empty(len(together), np.int64)
    found[np.argsort(together)] = np.arange(len(together))
    return np.split(found, np.cumsum([len(one) for one in keys])[:-1])


def _scattered(numbers: Keys) -> Keys:
    """Return numbers each of whose bits depends on all bits of the given ones."""
    for shift, factor in zip(_SHIFTS[:2], _FACTORS, strict=True):
        numbers = (numbers ^ (numbers >> shift)) * factor
    return numbers ^ (numbers >> _SHIFTS[2])
