"""Columns that look like a key of persons."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import to_numbers, trimmed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn

FEWEST_CELLS = 50
_WHOLE = r"^(\d+)[.,]0+$"
_KEY_WORDS = frozenset(
    {"cle", "code", "guid", "id", "ident", "identifiant", "identifier", "ids", "idx", "index"}
    | {"key", "matricule", "nir", "no", "nr", "num", "number", "numero", "nummer"}
    | {"ref", "reference", "row", "schluessel", "ssn", "uid", "uuid"}
)
_KEY_ENDS = re.compile(
    r"(case|client|customer|member|patient|person|record|row|sample|student|subject|user)"
    r"(code|id|key|no|nr|num|number)"
)


def is_identifier(name: str, type_: str, column: TextColumn, decimal: str) -> bool:
    """Return whether a column of the originals is a key of persons.

    Parameters
    ----------
    name : str
    type_ : str
        What the cells show: ``"text"``, ``"numeric"`` or another type.
    column : TextColumn
    decimal : {".", ","}

    Returns
    -------
    bool
        True if at least 50 cells are filled, all differ, and they are text, or whole numbers
        that are named like a key or grow by the same step from row to row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.identifiers import is_identifier
    >>> is_identifier("line", "numeric", from_arrow(pa.array(range(60))), ".")
    True
    """
    if not all_differ(column):
        return False
    if type_ == "numeric":
        return are_whole(column, decimal) and (is_key_name(name) or _counts_up(column, decimal))
    return type_ == "text"


def all_differ(column: TextColumn) -> bool:
    """Return whether there are at least 50 filled cells, all different."""
    filled = int((column.codes >= 0).sum())
    return filled >= FEWEST_CELLS and len(column.texts) == filled


def are_whole(column: TextColumn, decimal: str) -> bool:
    """Return whether all filled cells are whole numbers."""
    import numpy as np

    numbers = _numbers(column, decimal)
    return bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())


def is_key_name(name: str) -> bool:
    """Return whether a column is named like a key: id, key, code, number and the like.

    Examples
    --------
    >>> from evalkit.reading.identifiers import is_key_name
    >>> [is_key_name(name) for name in ("customerID", "sample_code_number", "paid")]
    [True, True, False]
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", plain)}
    return bool(words & _KEY_WORDS) or any(_KEY_ENDS.fullmatch(word) for word in words)


def is_repeated_key(name: str, column: TextColumn) -> bool:
    """Return whether a column is named like a key and its values stand in a few rows each.

    Parameters
    ----------
    name : str
    column : TextColumn

    Returns
    -------
    bool
        True if at least 50 cells are filled and hold fewer different values, but at least one
        for ten cells.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.identifiers import is_repeated_key
    >>> is_repeated_key("patient_id", from_arrow(pa.array([row // 3 for row in range(60)])))
    True
    """
    filled, values = int((column.codes >= 0).sum()), len(column.texts)
    return filled >= FEWEST_CELLS and filled <= 10 * values < 10 * filled and is_key_name(name)


def shared_values(original: TextColumn, avatars: TextColumn) -> int:
    """Return how many different values of the originals' column occur among the avatars.

    Numbers written with and without a fraction of zero are the same value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.identifiers import shared_values
    >>> shared_values(from_arrow(pa.array(["7", "8"])), from_arrow(pa.array(["8.0"])))
    1
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if all(pa.types.is_int64(column.texts.type) for column in (original, avatars)):
        found = pc.is_in(original.texts, value_set=avatars.texts)
    else:
        found = pc.is_in(_plain_values(original), value_set=_plain_values(avatars))
    return int(pc.sum(found, min_count=0).as_py())


def _plain_values(column: TextColumn) -> pa.Array:
    """Return the different cells as plain keys, each once."""
    import pyarrow.compute as pc

    plain = pc.replace_substring_regex(trimmed(as_text(column.texts)), _WHOLE, r"\1")
    return plain.unique()


def plain_value(text: str) -> str:
    """Return a key without blanks around it, a whole number without its fraction of zero.

    Examples
    --------
    >>> from evalkit.reading.identifiers import plain_value
    >>> plain_value(" 7.0"), plain_value("A-7")
    ('7', 'A-7')
    """
    return re.sub(_WHOLE, r"\1", text.strip())


def _counts_up(column: TextColumn, decimal: str) -> bool:
    """Return whether numbers grow by the same step from row to row."""
    import numpy as np

    steps = np.diff(_numbers(column, decimal)[column.codes[column.codes >= 0]])
    return bool(steps[0] > 0 and (steps == steps[0]).all())


def _numbers(column: TextColumn, decimal: str) -> npt.NDArray[np.float64]:
    """Return the different cells as numbers."""
    return to_numbers(trimmed(column.texts), decimal)[0]
