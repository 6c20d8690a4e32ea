"""Tables as few levels a column, by the bins and levels of the working originals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.binning import bin_codes, level_map, quantile_cuts
from evalkit.quantities import cells
from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.schema import Schema

    Codes = NDArray[np.uint16]

FEWEST_CELLS = 10
"""A level of fewer cells in WO is joined with the other rare ones (metrics.md, 4.2)."""


@dataclass(frozen=True, eq=False)
class LevelTables:
    """WO, WA and HO as codes of few levels.

    Attributes
    ----------
    names : tuple of str
        The columns that hold two levels or more in WO, sorted.
    left_out : tuple of str
        The others.
    levels : ndarray of int64, shape (p,)
        Levels of each column, the joined and the missing one included, whether or not they occur.
    working, avatars, holdout : ndarray of uint16, shape (p, rows)
        Rows in an order of content, which no other column can change.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    levels: NDArray[np.int64]
    working: Codes
    avatars: Codes
    holdout: Codes


def level_tables(
    schema: Schema, frames: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], bins: int
) -> LevelTables:
    """Return the tables in `bins` quantile bins of WO and in its levels of 10 cells or more.

    Parameters
    ----------
    schema : Schema
        Types of the columns.
    frames : tuple of three DataFrame
        WO, WA and HO.
    bins : int
        Bins of a numeric column.

    Returns
    -------
    LevelTables
    """
    names = sorted(frames[0].columns)
    coded = [_coded(schema, frames, name, bins) for name in names]
    kept = [k for k, parts in enumerate(coded) if _varies(parts[0])]
    working, avatars, holdout = (
        _ordered([coded[k][table] for k in kept], len(frame)) for table, frame in enumerate(frames)
    )
    return LevelTables(
        names=tuple(names[k] for k in kept),
        left_out=tuple(name for k, name in enumerate(names) if k not in set(kept)),
        levels=np.array(
            [1 + max(int(part.max(initial=0)) for part in coded[k]) for k in kept], np.int64
        ),
        working=working,
        avatars=avatars,
        holdout=holdout,
    )


def _coded(
    schema: Schema, frames: Sequence[pd.DataFrame], name: str, bins: int
) -> tuple[Codes, Codes, Codes]:
    """Return one column of WO, WA and HO as levels."""
    parts = [cells(frame, schema, name) for frame in frames]
    if schema[name].is_number:
        cuts = quantile_cuts(parts[0], bins)
        working, avatars, holdout = (bin_codes(part, cuts) for part in parts)
    else:
        levels = [part.astype(np.int64) for part in parts]
        new = level_map(levels[0], (levels[2], levels[1]), FEWEST_CELLS)
        working, avatars, holdout = (new[part] for part in levels)
    return working, avatars, holdout


def _varies(codes: Codes) -> bool:
    """Return whether a column holds two levels or more."""
    return bool(codes.size and codes.min() < codes.max())


def _ordered(columns: list[Codes], rows: int) -> Codes:
    """Return the columns as one array, its rows in an order of content, shape (p, rows)."""
    if not columns:
        return np.zeros((0, rows), np.uint16)
    return np.ascontiguousarray(np.stack(columns)[:, content_order(list(columns))])
