"""Reasons, warnings and notes as sentences of the report's language.

A message carries its code, its values and an English sentence. A language that has a file
``messages.yaml`` among its words says the same from code and values alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import fill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.messages import Message
    from evalkit.report.words import Words

_PLACEHOLDER: Final = re.compile(r"\{(\w+)(?::\.(\d)f)?\}")
"""A value of a sentence: ``{rows}``, or ``{score:.1f}`` with its number of decimals."""


def message_words(message: Message | None, words: Words) -> str:
    """Return a message as a sentence of the language of `words`.

    Parameters
    ----------
    message : Message or None
        Reason, warning or note.
    words : dict
        Words of the language. Under ``messages`` they may hold ``sentences`` by code, each a text
        or texts by variant; ``values``, the words of a value by its name; and ``of_table``, how a
        count, a share or a form is told of a table.

    Returns
    -------
    str
        The English sentence where the language has none of this code; empty for None.
    """
    if message is None:
        return ""
    forms = words.get("messages")
    template = forms["sentences"].get(message.code) if forms else None
    if isinstance(template, dict):
        template = template.get(message.values.get("variant"), template.get("default"))
    if forms is None or template is None:
        return message.text

    def written(match: re.Match[str]) -> str:
        name, decimals = match[1], match[2]
        if name not in message.values:
            return match[0]
        return _written(name, message.values[name], int(decimals) if decimals else None, forms)

    return _PLACEHOLDER.sub(written, template)


def _written(name: str, value: Any, decimals: int | None, forms: Mapping[str, Any]) -> str:
    """Return one value in words: numbers as the language writes them, names as they are."""
    if isinstance(value, dict):
        return ", ".join(_of_table(name, label, one, forms) for label, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_written(name, one, decimals, forms) for one in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return formats.number(value, decimals)
    return str(forms["values"].get(name, {}).get(value, "" if value is None else value))


def _of_table(name: str, label: str, value: Any, forms: Mapping[str, Any]) -> str:
    """Return a count, a percentage or a form with the table that it belongs to."""
    kinds = {float: "share", int: "count"}
    form = forms["of_table"][kinds.get(type(value), "form")]
    decimals = 1 if isinstance(value, float) else None
    table = _written("table", label, None, forms)
    return fill(form, table=table, value=_written(name, value, decimals, forms))
