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
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities import Cells
    from evalkit.schema import Schema

    Codes = NDArray[np.uint16]

FEWEST_CELLS = 10
"""A level of fewer cells, or people, in WO is joined with the other rare ones (metrics.md, 4.2)."""


@dataclass(frozen=True, eq=False)
class NumberLevels:
    """Quantile bins of a number column, and last the missing one."""

    cuts: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many levels there may be."""
        return len(self.cuts) + 2

    def codes(self, values: Cells) -> Codes:
        """Return the level of each cell."""
        return bin_codes(values, self.cuts)


@dataclass(frozen=True, eq=False)
class NameLevels:
    """The frequent levels of a category, the joined ones, and last the missing one."""

    new: Codes

    @property
    def size(self) -> int:
        """How many levels there may be."""
        return int(self.new.max()) + 1

    def codes(self, values: Cells) -> Codes:
        """Return the level of each cell."""
        return self.new[values]


@dataclass(frozen=True, eq=False)
class Levels:
    """How each column of WO, WA and HO becomes few levels.

    Attributes
    ----------
    names : tuple of str
        The columns that hold two levels or more in WO, sorted.
    left_out : tuple of str
        The others.
    columns : tuple of NumberLevels or NameLevels
        In the order of `names`.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    columns: tuple[NumberLevels | NameLevels, ...]

    @classmethod
    def of(
        cls, schema: Schema, frames: Sequence[pd.DataFrame], bins: int, persons: Persons
    ) -> Levels:
        """Return `bins` quantile bins of WO and its levels of 10 cells or more.

        Parameters
        ----------
        schema : Schema
            Types of the columns.
        frames : sequence of three DataFrame
            WO, WA and HO.
        bins : int
            Bins of a numeric column.
        persons : Persons
            Whose the rows of WO are.

        Returns
        -------
        Levels
        """
        names = sorted(frames[0].columns)
        found = {name: _column_levels(schema, frames, name, bins, persons) for name in names}
        working = (found[name].codes(cells(frames[0], schema, name)) for name in names)
        kept = [name for name, codes in zip(names, working, strict=True) if _varies(codes)]
        left_out = tuple(name for name in names if name not in set(kept))
        return cls(tuple(kept), left_out, tuple(found[name] for name in kept))

    def matrix(self, columns: Mapping[str, Cells]) -> Codes:
        """Return the level of each cell, shape (p, rows), in the order of `names`."""
        parts = [
            one.codes(columns[name]) for name, one in zip(self.names, self.columns, strict=True)
        ]
        rows = len(next(iter(columns.values()))) if columns else 0
        return np.stack(parts) if parts else np.zeros((0, rows), np.uint16)


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

    @property
    def single(self) -> dict[str, tuple[str, ...]]:
        """The columns that hold one level only in WA, and those in HO."""
        tables = {"avatars": self.avatars, "holdout": self.holdout}
        return {
            table: tuple(
                name for name, column in zip(self.names, codes, strict=True) if not _varies(column)
            )
            for table, codes in tables.items()
        }


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
    whose = persons or [Persons.one_row_each(len(frame)) for frame in frames]
    found = Levels.of(schema, frames, bins, whose[0])
    coded = [
        found.matrix({name: cells(frame, schema, name) for name in found.names}) for frame in frames
    ]
    working, avatars, holdout = (
        _ordered(list(codes), one) for codes, one in zip(coded, whose, strict=True)
    )
    return LevelTables(
        names=found.names,
        left_out=found.left_out,
        levels=1
        + np.max([codes.max(axis=1, initial=0) for codes in coded], axis=0).astype(np.int64),
        working=working[0],
        avatars=avatars[0],
        holdout=holdout[0],
        persons=(working[1], avatars[1], holdout[1]),
        worth=worth,
    )


def _column_levels(
    schema: Schema, frames: Sequence[pd.DataFrame], name: str, bins: int, persons: Persons
) -> NumberLevels | NameLevels:
    """Return how one column becomes levels."""
    if schema[name].is_number:
        return NumberLevels(quantile_cuts(cells(frames[0], schema, name), bins))
    working, avatars, holdout = (cells(frame, schema, name).astype(np.int64) for frame in frames)
    return NameLevels(level_map(_carried(working, persons), (holdout, avatars), FEWEST_CELLS))


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
    whose = persons.in_order(order)
    return np.ascontiguousarray(np.stack(columns)[:, order]), whose
