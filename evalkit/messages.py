"""Messages: a code, its values and an English sentence.

Reasons, warnings and notes travel as messages through the JSON file. The code and the values
let a report in another language say the same without the data.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reason, warning or note.

    Attributes
    ----------
    code : str
        Stable name of the kind of message, the key for other languages.
    values : dict
        Plain values (counts, shares, names of columns) that the sentence uses; never a cell.
    text : str
        The English sentence.

    Examples
    --------
    >>> from evalkit.messages import say
    >>> say("few_rows", "{rows} rows are too few to judge.", rows=7).text
    '7 rows are too few to judge.'
    """

    code: str
    values: dict[str, Any]
    text: str


def say(code: str, template: str, **values: Any) -> Message:
    """Return a message whose sentence is `template` filled with `values`.

    Parameters
    ----------
    code : str
        Stable name of the kind of message.
    template : str
        English sentence in `str.format` form; lists of names are joined by commas, and what is
        counted by table reads "3 in a.csv".
    **values
        Plain values; kept beside the sentence. A ``variant`` names which sentence of a code that
        has several was said.

    Returns
    -------
    Message

    Examples
    --------
    >>> from evalkit.messages import say
    >>> say("left_out", "Left out: {columns}.", columns=["id", "remarks"]).text
    'Left out: id, remarks.'
    """
    shown = {key: _shown(value) for key, value in values.items()}
    return Message(code=code, values=values, text=template.format(**shown))


def _shown(value: Any) -> Any:
    """Return a value as the English sentence writes it."""
    if isinstance(value, dict):
        return ", ".join(_of_table(label, one) for label, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _of_table(label: str, value: Any) -> str:
    """Return a count, a percentage or a form with the table that it belongs to."""
    if isinstance(value, float):
        return f"{label} {value:.1f} %"
    return f"{value:,} in {label}" if isinstance(value, int) else f"{label} {value}"
