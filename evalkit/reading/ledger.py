"""The ledger of reading: for each column of each table, what was read as what, and what was lost.

It holds counts, marks and names, never a cell.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import MISSING_WORDS, equals_any, to_numbers, trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from evalkit.reading import TextTable
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.inference import Reading
    from evalkit.reading.options import ReadingOptions

EMPTY, BLANKS = "empty", "blanks"
"""Names of the two marks for missing that cannot be written down."""


@dataclass(frozen=True)
class LedgerLine:
    """One column of one table.

    Attributes
    ----------
    column : str
    table : str
        ``"original"``, ``"avatars"`` or ``"holdout"``.
    read_as : str
        Type that its cells were read as; ``"absent"`` where the table lacks the column.
    used : bool
        Whether the metrics see it.
    rows, filled : int
        Cells, and those that are not missing.
    distinct : int
        Different filled cells.
    missing : dict of str to int
        Mark to the number of cells taken as missing because of it.
    unknown_cells : int
        Cells of a category that no original has.
    """

    column: str
    table: str
    read_as: str
    used: bool
    rows: int
    filled: int
    distinct: int
    missing: dict[str, int]
    unknown_cells: int


def ledger_lines(
    name: str,
    tables: Mapping[str, TextTable],
    columns: Mapping[str, TextColumn],
    reading: Reading,
    options: ReadingOptions,
) -> list[LedgerLine]:
    """Return one line for each table of a column.

    Parameters
    ----------
    name : str
    tables : mapping of role to TextTable
    columns : mapping of role to TextColumn
        The columns of that name with their missing cells empty.
    reading : Reading
    options : ReadingOptions
        The user's marks for missing.

    Returns
    -------
    list of LedgerLine
    """
    lines = []
    for role, table in tables.items():
        if role not in columns:
            lines.append(LedgerLine(name, role, "absent", False, table.rows, 0, 0, {}, 0))  # noqa: FBT003 - a field of the record
            continue
        column = columns[role]
        filled = int((column.codes >= 0).sum())
        lines.append(
            LedgerLine(
                column=name,
                table=role,
                read_as=reading.type,
                used=reading.used,
                rows=table.rows,
                filled=filled,
                distinct=len(column.texts),
                missing=_missing(table.columns[name], table.decimals[name], reading, options),
                unknown_cells=_unknown(column, columns["original"], reading)
                if role != "original" and "original" in columns
                else 0,
            )
        )
    return lines


def ledger_frame(lines: Iterable[LedgerLine]) -> pd.DataFrame:
    """Return the lines as a table, the marks for missing as one text.

    Parameters
    ----------
    lines : iterable of LedgerLine

    Returns
    -------
    pandas.DataFrame
        One row for each line, one column for each of its fields.
    """
    import pandas as pd

    rows = [
        asdict(line)
        | {"missing": "; ".join(f"{mark} {count}" for mark, count in line.missing.items())}
        for line in lines
    ]
    return pd.DataFrame(rows, columns=[field.name for field in fields(LedgerLine)])


def _missing(
    column: TextColumn, decimal: str, reading: Reading, options: ReadingOptions
) -> dict[str, int]:
    """Return how many cells of a column, as it was read, each mark takes away."""
    import numpy as np
    import pyarrow as pa

    empty = int((column.codes < 0).sum()) - column.blanks
    found = {EMPTY: empty, BLANKS: column.blanks}
    texts = trimmed(column.texts)
    gone = np.zeros(len(texts), np.bool_)
    for mark in sorted(options.missing):
        number = to_numbers(pa.array([mark], pa.string()), ".")[0][0]
        here = equals_any(texts, frozenset({mark}))
        if np.isfinite(number):
            here |= to_numbers(texts, decimal)[0] == number
        found[mark] = column.cells(here & ~gone)
        gone |= here
    if reading.words_missing:
        for word in sorted(MISSING_WORDS - options.missing):
            found[word] = column.cells(equals_any(texts, frozenset({word})))
    return {mark: count for mark, count in found.items() if count}


def _unknown(column: TextColumn, original: TextColumn, reading: Reading) -> int:
    """Return how many cells hold a category that no original has."""
    import pyarrow.compute as pc

    if reading.type != "categorical" or not reading.used:
        return 0
    texts, originals = (trimmed(as_text(one.texts)) for one in (column, original))
    known = pc.is_in(texts, value_set=originals)
    unknown = ~known.to_numpy(zero_copy_only=False).astype(bool)
    return column.cells(unknown)
