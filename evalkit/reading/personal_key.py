"""The column that says which rows belong to one person; its values go no further."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.reading.arrow_columns import as_text
from evalkit.reading.conversion import settled_columns
from evalkit.reading.identifiers import plain_value
from evalkit.reading.inference import read_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from evalkit.reading.options import ReadingOptions
    from evalkit.reading.tables import TextTable

KEYED = ("original", "holdout")
"""Tables of real people. The avatars' own keys, if they have any, stand for nobody."""


def check_personal_key(tables: Mapping[str, TextTable], options: ReadingOptions) -> None:
    """Refuse a personal key that a table of real people does not carry.

    Raises
    ------
    evalkit.InputError
        Naming the table and the column.
    """
    import difflib

    name = options.individual
    for role in KEYED if name is not None else ():
        if role in tables and name not in tables[role].columns:
            near = difflib.get_close_matches(str(name), list(tables[role].columns), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "name the column of the personal key."
            message = f"--individual: {tables[role].label} has no column {shown(name)}; {hint}"
            raise InputError(message)


def person_keys(
    tables: Mapping[str, TextTable], options: ReadingOptions
) -> dict[str, npt.NDArray[np.int64]]:
    """Return a number for the personal key of each row, the same for the same key in any table.

    Parameters
    ----------
    tables : mapping of role to TextTable
        ``"original"`` among them, and perhaps ``"holdout"``, with their decimal marks found.
    options : ReadingOptions
        With a personal key that both carry.

    Returns
    -------
    dict of role to ndarray of int64, shape (rows,)

    Raises
    ------
    evalkit.InputError
        If a cell of the key is missing, or all originals are rows of one person.
    """
    import numpy as np

    name, original = str(options.individual), tables["original"]
    keyed = {role: tables[role] for role in KEYED if role in tables}
    reading = read_column(name, original.columns[name], original.decimals[name], options)
    numbers: dict[str, int] = {}
    found = {}
    for role, column in settled_columns(name, keyed, reading, options).items():
        missing = column.codes < 0
        if missing.any():
            # Were each such row a person of its own, more people would be counted than there are.
            message = (
                f"{tables[role].label}: column {shown(name)} of --individual is missing in row "
                f"{int(np.argmax(missing)) + 1:,} (missing cells: {int(missing.sum()):,}); give "
                "each row the key of its person, or leave these rows out."
            )
            raise InputError(message)
        codes = [
            numbers.setdefault(plain_value(text), len(numbers))
            for text in as_text(column.texts).to_pylist()
        ]
        found[role] = np.array(codes, np.int64)[column.codes]
    if len(np.unique(found["original"])) < 2:  # noqa: PLR2004 - one person can be set against nobody
        message = (
            f"{original.label}: column {shown(name)} of --individual holds a single key: all rows "
            "would be one person's. Name the column of the personal key."
        )
        raise InputError(message)
    return found
