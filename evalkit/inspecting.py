"""What would be read as what: the tables looked at, nothing computed, a schema to edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.reading import read_table
from evalkit.reading.alignment import aligned_names
from evalkit.reading.options import reading_options
from evalkit.reading.sizes import store_for
from evalkit.reading.typed_tables import typed_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from evalkit.messages import Message
    from evalkit.reading.ledger import LedgerLine
    from evalkit.schema import Schema

ROLES = ("original", "avatars", "holdout")


@dataclass(frozen=True, eq=False)
class Inspection:
    """How tables would be read.

    Attributes
    ----------
    names : dict of str to str
        Role of each table to its name.
    rows : dict of str to int
    schema : Schema
        Types found in the originals, with a note on whatever is odd.
    notes : tuple of Message
        On the files.
    ledger : tuple of LedgerLine
        One line for each column of each table.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.inspecting import inspect
    >>> inspect([pd.DataFrame({"age": [31, 45, 52]})])
    Inspection: 1 of 1 column used: 1 numeric
      3 rows in original.
      column  type     used  missing  remarks
      age     numeric  yes   none
    """

    names: dict[str, str]
    rows: dict[str, int]
    schema: Schema
    notes: tuple[Message, ...]
    ledger: tuple[LedgerLine, ...]

    def frame(self) -> pd.DataFrame:
        """Return the ledger: one row for each column of each table, counts and no cell.

        Returns
        -------
        pandas.DataFrame
            The columns of `evalkit.Release.frame`.

        Examples
        --------
        >>> import pandas as pd
        >>> from evalkit.inspecting import inspect
        >>> inspect([pd.DataFrame({"age": [31, 45]})]).frame()["read_as"].tolist()
        ['numeric']
        """
        from evalkit.reading.ledger import ledger_frame

        return ledger_frame(self.ledger)

    def _repr_html_(self) -> str:
        """Return the columns and the notes for a notebook; never a cell."""
        from evalkit.displays.inputs import inspection_card

        return inspection_card(self).html()

    def __repr__(self) -> str:
        from evalkit.displays.inputs import inspection_card

        return inspection_card(self).text()

    def schema_yaml(self) -> str:
        """Return the schema as YAML that ``--schema`` takes, with the notes as remarks.

        Returns
        -------
        str

        Examples
        --------
        >>> import pandas as pd
        >>> from evalkit.inspecting import inspect
        >>> print(inspect([pd.DataFrame({"age": [31, 45]})]).schema_yaml().splitlines()[-1])
          age: {type: numeric, use: true}
        """
        import yaml

        lines = [
            "# What each column is read as. Edit type and use, and give the file with --schema.\n"
        ]
        lines.append(
            "# type: numeric, categorical, boolean, datetime or text; use: true or false.\n"
        )
        lines.append("columns:\n")
        for variable in self.schema.variables:
            lines += [f"  # {' '.join(note.text.split())}\n" for note in variable.notes]
            name = yaml.safe_dump({variable.name: None}, allow_unicode=True, width=10**6)
            # A name may need quotation marks, or be so long that it becomes a key of its own form.
            key = name.removesuffix("\n").removesuffix(" null")
            type_ = f"type: {variable.type}, " if variable.type != "empty" else ""
            lines.append(f"  {key} {{{type_}use: {'true' if variable.used else 'false'}}}\n")
        return "".join(lines)


def inspect(sources: Sequence[str | Path], **options: Any) -> Inspection:
    """Return how up to three tables would be read together, without computing anything.

    Parameters
    ----------
    sources : sequence of path or DataFrame
        The originals, then perhaps the avatars, then perhaps the holdout.
    **options
        Those of `evalkit.load` that concern reading.

    Returns
    -------
    Inspection

    Raises
    ------
    evalkit.InputError
        With one clear line, if a table cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.inspecting import inspect
    >>> inspect([pd.DataFrame({"age": [31, 45]})]).schema["age"].type
    'numeric'
    """
    if not 1 <= len(sources) <= len(ROLES):
        message = (
            f"{len(sources)} tables; give one to three: the originals, then the avatars, then the "
            "holdout."
        )
        raise InputError(message)
    chosen = reading_options(**options)
    store = store_for(sources, memory=None)
    tables = {
        role: read_table(source, role, chosen, store).with_decimals(chosen)
        for role, source in zip(ROLES, sources, strict=False)
    }
    names, notes = aligned_names(tables, chosen)
    schema, _, ledger = typed_tables(names, tables, chosen, keep=False)
    return Inspection(
        names={role: table.name for role, table in tables.items()},
        rows={role: table.rows for role, table in tables.items()},
        schema=schema,
        notes=(*(note for table in tables.values() for note in table.notes), *notes),
        ledger=ledger,
    )
