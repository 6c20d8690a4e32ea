"""What two or more metrics need from a release, computed once and shared.

One search per (table pair, variable set, ranges), however many metrics ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from evalkit.kernels import Column, NearestSets, link_probability, nearest
from evalkit.kernels.correlations import Deals, correlations, filled_pairs
from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.release import Release
    from evalkit.schema import Schema

Ranges: TypeAlias = "dict[str, tuple[float | int, float | int] | None]"
Cells: TypeAlias = "NDArray[np.int64] | NDArray[np.float64]"
TableName: TypeAlias = Literal["original", "avatars", "holdout"]

_CACHES: WeakKeyDictionary[Release, dict[Any, Any]] = WeakKeyDictionary()


def cells(frame: pd.DataFrame, schema: Schema, name: str) -> Cells:
    """Return one column as the kernels read it.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    name : str
        A used column.

    Returns
    -------
    ndarray, shape (rows,)
        Numbers as int64 or float64 with NaN for missing; levels as int64 codes, -1 for missing.
    """
    column = frame[name]
    if schema[name].is_number:
        numbers: Cells = column.to_numpy()
        return numbers
    return column.cat.codes.to_numpy().astype(np.int64)


def ranges(schema: Schema, frames: Sequence[pd.DataFrame], names: Sequence[str]) -> Ranges:
    """Return the least and greatest filled value of each number column over all `frames`.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    frames : sequence of DataFrame
        Tables that set the range.
    names : sequence of str
        Used columns; those that are no numbers are skipped.

    Returns
    -------
    dict
        Name to (low, high), or to None where no cell is filled.
    """
    found: Ranges = {}
    for name in schema.number_names(names):
        ends = [end for frame in frames for end in _ends(frame[name].to_numpy())]
        found[name] = (min(ends), max(ends)) if ends else None
    return found


def _ends(values: NDArray[np.generic]) -> list[Any]:
    """Return the least and greatest filled value, or nothing."""
    filled = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return [filled.min().item(), filled.max().item()] if filled.size else []


def nearest_avatars(  # noqa: PLR0913 - two tables, their columns and how to compare them
    schema: Schema,
    queries: pd.DataFrame,
    targets: pd.DataFrame,
    names: Sequence[str],
    column_ranges: Ranges,
    *,
    capped: bool = False,
) -> NearestSets:
    """Return the sets of nearest rows of `targets` for each row of `queries`.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    queries, targets : DataFrame
        Tables of a release.
    names : sequence of str
        The variables V of Gower's distance.
    column_ranges : dict
        From `ranges`, over the tables that the metric names.
    capped : bool
        Whether a difference counts at most 1 (metrics.md, rule 3).

    Returns
    -------
    NearestSets
        Distance and tie set of each query.
    """
    columns = []
    for name in sorted(names):
        numeric = schema[name].is_number
        low, high = (column_ranges[name] or (None, None)) if numeric else (None, None)
        query, target = cells(queries, schema, name), cells(targets, schema, name)
        columns.append(Column(query, target, numeric, low, high))
    return nearest(columns, capped=capped)


def shared_nearest(
    release: Release, query: TableName, target: TableName, names: Sequence[str]
) -> NearestSets:
    """Return the nearest rows of one table for each row of another, searched only once.

    Ranges are those of linkability: over originals and avatars together.

    Parameters
    ----------
    release : Release
        The tables.
    query, target : str
        ``"original"``, ``"avatars"`` or ``"holdout"``.
    names : sequence of str
        The variables of Gower's distance.

    Returns
    -------
    NearestSets
    """
    cache = _CACHES.setdefault(release, {})
    key = (query, target, frozenset(names))
    if key not in cache:
        together = ranges(release.schema, (release.original, release.avatars), names)
        tables = getattr(release, query), getattr(release, target)
        cache[key] = nearest_avatars(release.schema, *tables, names, together)
    found: NearestSets = cache[key]
    return found


def in_content_order(frame: pd.DataFrame, schema: Schema, names: Sequence[str]) -> NDArray[np.intp]:
    """Return the order of the rows by the content of the columns `names`, sorted by name.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    names : sequence of str
        Columns to order by.

    Returns
    -------
    ndarray of intp, shape (rows,)
    """
    return content_order([cells(frame, schema, name) for name in sorted(names)])


def number_matrix(frame: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Return number columns as one matrix, NaN for missing, shape (rows, names).

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    names : sequence of str
        Number columns.

    Returns
    -------
    ndarray of float64, shape (rows, len(names))
    """
    return frame[list(names)].to_numpy(dtype=np.float64, na_value=np.nan)


def varying(frame: pd.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return those number columns of `frame` that hold at least two different filled values.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    names : sequence of str
        Number columns.

    Returns
    -------
    tuple of str
        In the order of `names`.
    """
    ends = {name: _ends(frame[name].to_numpy()) for name in names}
    return tuple(name for name in names if ends[name] and ends[name][0] < ends[name][1])


__all__ = [
    "Column",
    "Deals",
    "NearestSets",
    "Ranges",
    "cells",
    "content_order",
    "correlations",
    "filled_pairs",
    "in_content_order",
    "link_probability",
    "nearest",
    "nearest_avatars",
    "number_matrix",
    "ranges",
    "shared_nearest",
    "varying",
]
