"""A table whose columns are shuffled apart, made one column at a time."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from evalkit.quantities import cells

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.quantities import Cells
    from evalkit.schema import Schema

# What chance alone finds among so many rows is known well: more shuffles would only cost time.
MOST_SHUFFLED = 1_000_000


class ShuffledTable:
    """A table with each column put in a random order of its own, the same whenever it is read.

    Only one column is in memory at a time. The draw is the same for any order of the rows and
    columns in the file.

    Parameters
    ----------
    frame : DataFrame
        A table of a release.
    schema : Schema
        Types of the columns.
    rng : numpy.random.Generator
        Left as if every column had been shuffled.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from evalkit.quantities_shuffled import ShuffledTable
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"),))
    >>> table = ShuffledTable(pd.DataFrame({"age": [20, 30]}), schema, np.random.default_rng(0))
    >>> sorted(dict(table.columns(["age"]))["age"].tolist())
    [20, 30]
    """

    def __init__(self, frame: pd.DataFrame, schema: Schema, rng: np.random.Generator) -> None:
        self._frame, self._schema, self._start = frame, schema, deepcopy(rng)
        for _ in frame.columns:
            rng.permutation(len(frame))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._frame)

    def columns(self, names: Collection[str]) -> Iterator[tuple[str, Cells]]:
        """Yield name and cells, as `quantities.cells` gives them, of some columns, by name."""
        rng = deepcopy(self._start)
        for name in sorted(self._frame.columns):
            places = rng.permutation(len(self._frame))
            if name in names:
                yield name, self._ordered(name)[places]

    def frame(self, names: Collection[str]) -> pd.DataFrame:
        """Return some columns as a table, each of the same kind as in the one that is shuffled."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for name, values in self.columns(names):
            codes, kind = cast("Any", values), cast("Any", self._frame[name].dtype)
            is_number = self._schema[name].is_number
            columns[name] = values if is_number else pd.Categorical.from_codes(codes, dtype=kind)
        return pd.DataFrame(columns)

    def _ordered(self, name: str) -> Cells:
        """Return the cells of one column in order, missing ones last."""
        found = cells(self._frame, self._schema, name).copy()
        found.sort()
        missing = 0 if self._schema[name].is_number else int(found.searchsorted(0))
        return np.roll(found, -missing)


def shuffled_tables(
    frame: pd.DataFrame, schema: Schema, rng: np.random.Generator, most: int
) -> Iterator[ShuffledTable]:
    """Yield a table with shuffled columns, several times for a small table.

    Parameters
    ----------
    frame, schema, rng
        As for `ShuffledTable`.
    most : int
        How often at most, at least 1.

    Yields
    ------
    ShuffledTable
        At least one; more while all of them together have at most a million rows.
    """
    for _ in range(max(1, min(most, MOST_SHUFFLED // max(1, len(frame))))):
        yield ShuffledTable(frame, schema, rng)


def read_columns(
    table: pd.DataFrame | ShuffledTable, schema: Schema, names: Collection[str]
) -> Iterator[tuple[str, Cells]]:
    """Yield name and cells of some columns of a table, one column at a time.

    Parameters
    ----------
    table : DataFrame or ShuffledTable
        Of a release.
    schema : Schema
        Types of the columns.
    names : collection of str
        Sorted.

    Yields
    ------
    tuple of str and ndarray
        As `quantities.cells` gives them.
    """
    if isinstance(table, ShuffledTable):
        yield from table.columns(names)
        return
    for name in names:
        yield name, cells(table, schema, name)


def shuffled_samples(
    frame: pd.DataFrame,
    schema: Schema,
    names: Collection[str],
    rng: np.random.Generator,
    sizes: tuple[int, int],
) -> list[pd.DataFrame]:
    """Return tables whose cells are drawn apart, without repeats, from each column.

    Parameters
    ----------
    frame, schema
        As for `ShuffledTable`; at least one row.
    names : collection of str
        Columns of the tables.
    rng : numpy.random.Generator
    sizes : tuple of int
        How many tables, and how many rows each has at most.

    Returns
    -------
    list of DataFrame
        The same for any order of the rows and columns in the file.
    """
    import pandas as pd

    ordered_names = sorted(names)
    size = min(len(frame), sizes[1])
    places = [
        {name: _places(len(frame), size, rng) for name in ordered_names} for _ in range(sizes[0])
    ]
    parts: list[dict[str, pd.Series]] = [{} for _ in places]
    for name in ordered_names:
        column = cells(frame, schema, name)
        order = np.argsort(column, kind="stable")
        for part, drawn in zip(parts, places, strict=True):
            part[name] = frame[name].iloc[order[drawn[name]]].reset_index(drop=True)
    return [pd.DataFrame(part) for part in parts]


def _places(rows: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return some places in a random order."""
    if rows <= MOST_SHUFFLED // 10:
        return rng.permutation(rows)[:size]
    return rng.choice(rows, size, replace=False)  # a permutation of all takes a second each
