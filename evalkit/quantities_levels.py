"""Tables as few levels a column, by the bins and levels of the working originals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.kernels.binning import bin_codes, level_map, quantile_cuts
from evalkit.persons import Persons
from evalkit.quantities import cells
from evalkit.randomness import content_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.schema import Schema

    Codes = NDArray[np.uint16]

FEWEST_CELLS = 10
"""A level of fewer cells, or people, in WO is joined with the other rare ones (metrics.md, 4.2)."""


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
    persons : tuple of three Persons
        Whose the rows of WO, WA and HO are.
    worth : float
        For how many people one of WA's persons counts.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    levels: NDArray[np.int64]
    working: Codes
    avatars: Codes
    holdout: Codes
    persons: tuple[Persons, Persons, Persons]
    worth: float = 1.0

    @property
    def are_rows(self) -> bool:
        """Whether each row is a person of its own, and counts one."""
        return self.worth == 1 and all(one.are_rows for one in self.persons)

    @property
    def people(self) -> tuple[int, int, int]:
        """For how many people WO, WA and HO count."""
        working, avatars, holdout = (one.count for one in self.persons)
        return working, round(avatars * self.worth), holdout


def level_tables(
    schema: Schema,
    frames: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    bins: int,
    persons: Sequence[Persons] | None = None,
    worth: float = 1.0,
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
    persons : sequence of three Persons, optional
        Whose the rows are; each a person of its own if left out.
    worth : float
        For how many people one of WA's persons counts.

    Returns
    -------
    LevelTables
    """
    names = sorted(frames[0].columns)
    whose = persons or [Persons.one_row_each(len(frame)) for frame in frames]
    coded = [_coded(schema, frames, name, bins, whose[0]) for name in names]
    kept = [k for k, parts in enumerate(coded) if _varies(parts[0])]
    working, avatars, holdout = (
        _ordered([coded[k][table] for k in kept], whose[table]) for table in range(3)
    )
    return LevelTables(
        names=tuple(names[k] for k in kept),
        left_out=tuple(name for k, name in enumerate(names) if k not in set(kept)),
        levels=np.array(
            [1 + max(int(part.max(initial=0)) for part in coded[k]) for k in kept], np.int64
        ),
        working=working[0],
        avatars=avatars[0],
        holdout=holdout[0],
        persons=(working[1], avatars[1], holdout[1]),
        worth=worth,
    )


def _coded(
    schema: Schema, frames: Sequence[pd.DataFrame], name: str, bins: int, persons: Persons
) -> tuple[Codes, Codes, Codes]:
    """Return one column of WO, WA and HO as levels."""
    parts = [cells(frame, schema, name) for frame in frames]
    if schema[name].is_number:
        cuts = quantile_cuts(parts[0], bins)
        working, avatars, holdout = (bin_codes(part, cuts) for part in parts)
    else:
        levels = [part.astype(np.int64) for part in parts]
        new = level_map(_carried(levels[0], persons), (levels[2], levels[1]), FEWEST_CELLS)
        working, avatars, holdout = (new[part] for part in levels)
    return working, avatars, holdout


def _varies(codes: Codes) -> bool:
    """Return whether a column holds two levels or more."""
    return bool(codes.size and codes.min() < codes.max())


def _carried(levels: NDArray[np.int64], persons: Persons) -> NDArray[np.int64]:
    """Return each level once for each person who has it in some row."""
    if persons.are_rows:
        return levels
    width = int(levels.max(initial=-1)) + 2  # missing is -1
    found: NDArray[np.int64] = np.unique(persons.code * width + levels + 1) % width - 1
    return found


def _ordered(columns: list[Codes], persons: Persons) -> tuple[Codes, Persons]:
    """Return the columns as one array (p, rows), its rows in an order of content, and whose."""
    if not columns:
        return np.zeros((0, len(persons)), np.uint16), persons
    order = content_order(list(columns))
    # A row that is a person of its own is numbered by its content, as other persons are.
    whose = Persons.one_row_each(len(order)) if persons.are_rows else persons.part(order)
    return np.ascontiguousarray(np.stack(columns)[:, order]), whose
