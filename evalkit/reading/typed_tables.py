"""The tables of a release with every column typed once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.reading.column_notes import column_notes
from evalkit.reading.conversion import converted, settled_columns
from evalkit.reading.inference import read_column
from evalkit.reading.ledger import ledger_lines
from evalkit.reading.stores import Store, frame_of
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from evalkit.reading import TextTable
    from evalkit.reading.ledger import LedgerLine
    from evalkit.reading.options import ReadingOptions


def typed_tables(
    names: Sequence[str],
    tables: Mapping[str, TextTable],
    options: ReadingOptions,
    store: Store | None = None,
    *,
    keep: bool = True,
) -> tuple[Schema, dict[str, pd.DataFrame], tuple[LedgerLine, ...]]:
    """Return the schema of the originals, every table read by it, and the ledger of reading.

    Parameters
    ----------
    names : sequence of str
        Columns to read, in order.
    tables : mapping of role to TextTable
        ``"original"`` among them.
    options : ReadingOptions
    store : Store, optional
        Keeps the cells of the used columns; by default in memory.
    keep : bool
        False where only the schema and the ledger are wanted: no cell is kept.

    Returns
    -------
    schema : Schema
        All columns in `names`, with notes.
    frames : dict of role to pandas.DataFrame
        The used columns; none of them if no cell is kept.
    ledger : tuple of LedgerLine
        One line for each column of each table.

    Raises
    ------
    evalkit.InputError
        If a cell does not fit the type of its column, or no column can be used.
    """
    store = store or Store()
    cells: dict[str, dict[str, Any]] = {role: {} for role in tables}
    ledger: list[LedgerLine] = []
    variables = []
    for name in names:
        variable, found = _variable(name, tables, options, ledger)
        variables.append(variable)
        for role, values in found.items() if keep else ():
            cells[role][name] = store.cells(values)
    if not any(variable.used for variable in variables):
        message = (
            f"{tables['original'].label}: no column can be used: all are text, empty, identifiers "
            "or ignored; give a type with --categorical or --numeric."
        )
        raise InputError(message)
    if not keep:
        return Schema(tuple(variables)), {}, tuple(ledger)
    frames = {role: frame_of(cells[role], table.rows) for role, table in tables.items()}
    return Schema(tuple(variables)), frames, tuple(ledger)


def _variable(
    name: str,
    tables: Mapping[str, TextTable],
    options: ReadingOptions,
    ledger: list[LedgerLine],
) -> tuple[Variable, dict[str, Any]]:
    """Return one variable, and its cells if it is used; its lines go into `ledger`."""
    original = tables["original"]
    reading = read_column(name, original.columns[name], original.decimals[name], options)
    columns = settled_columns(name, tables, reading, options)
    ledger += ledger_lines(name, tables, columns, reading, options)
    variable = Variable(
        name=name,
        type=reading.type,
        used=reading.used,
        identifier=reading.identifier,
        missing_share=float((reading.column.codes < 0).mean()),
        levels=len(reading.column.texts),
        notes=tuple(column_notes(name, tables, columns, reading)),
    )
    if not reading.used:
        return variable, {}
    found, notes = converted(name, tables, columns, reading)
    facts = _filled_facts(found["original"])
    return replace(variable, notes=(*variable.notes, *notes), **facts), found


def _filled_facts(values: Any) -> dict[str, Any]:
    """Return missing share and number of levels of converted cells, infinities missing."""
    import numpy as np
    import pandas as pd

    if isinstance(values, pd.Categorical):
        counts = np.bincount(values.codes.astype(np.intp) + 1, minlength=1)
        missing, levels = int(counts[0]), int(np.count_nonzero(counts[1:]))
    else:
        missing = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        levels = len(pd.unique(values)) - bool(missing)
    filled = len(values) - missing
    return {"missing_share": float(1 - filled / len(values)), "levels": levels}
