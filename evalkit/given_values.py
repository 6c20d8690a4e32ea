"""Untyped values that notebooks, files and callers hand over, checked at the border."""

from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """Return a value as a message may repeat it: cut after 60 characters.

    Examples
    --------
    >>> from evalkit.given_values import shown
    >>> shown("town"), len(shown("x" * 10**5))
    ("'town'", 63)
    """
    try:
        text = repr(value)
    except ValueError:  # An integer of many thousand digits.
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def whole_number(option: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is a whole number from `low` to `high`, NumPy's too.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    value : object
    low, high : int

    Returns
    -------
    int

    Raises
    ------
    evalkit.InputError
        If it is anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.given_values import whole_number
    >>> whole_number("axes", np.int64(5), 1, 1000)
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        message = f"{option}: {shown(value)} is not a whole number from {low} to {high}."
        raise InputError(message)
    return int(value)


def flag(option: str, value: object) -> bool:
    """Return `value` if it is true or false, NumPy's too, else raise InputError.

    Examples
    --------
    >>> from evalkit.given_values import flag
    >>> flag("row_link", True)
    True
    """
    # NumPy's own truth value is told by its name, so that NumPy need not be imported.
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    raise InputError(f"{option}: {shown(value)} is neither true nor false; give one of them.")


def text(option: str, value: object) -> str:
    """Return `value` if it is a text that a file can hold.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    value : object

    Returns
    -------
    str

    Raises
    ------
    evalkit.InputError
        If it is no text, or holds half a character.

    Examples
    --------
    >>> from evalkit.given_values import text
    >>> text("title", "Wave 3")
    'Wave 3'
    """
    if not isinstance(value, str):
        raise InputError(f"{option}: {shown(value)} is no text; put it in quotation marks.")
    try:
        value.encode()
    except UnicodeEncodeError:
        message = f"{option}: holds characters that are not valid text; write it anew."
        raise InputError(message) from None
    return value


def name_list(option: str, value: object) -> tuple[str, ...]:
    """Return a list of texts as a tuple without repeats.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    value : object
        What the user gave; None stands for nothing.

    Returns
    -------
    tuple of str

    Raises
    ------
    evalkit.InputError
        If it is not a list of texts.

    Examples
    --------
    >>> from evalkit.given_values import name_list
    >>> name_list("ignore", ["a", "b", "a"])
    ('a', 'b')
    """
    if value is None:
        return ()
    if not isinstance(value, list | tuple | set | frozenset) or not all(
        isinstance(one, str) for one in value
    ):
        example = f'["{value[:LONGEST_SHOWN]}"]' if isinstance(value, str) else '["age", "sex"]'
        message = f"{option}: give a list of texts, such as {example}."
        raise InputError(message)
    ordered: Iterable[str] = sorted(value) if isinstance(value, set | frozenset) else value
    return tuple(dict.fromkeys(text(option, one) for one in ordered))


def plain_fields(option: str, value: object) -> dict[str, Any]:
    """Return a mapping in plain JSON types, as it will be archived.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    value : object
        Mapping of names to texts, finite numbers, truth values, dates, lists and mappings of
        such; None stands for nothing.

    Returns
    -------
    dict
        Names are texts, tuples are lists, NumPy's numbers Python's own, dates ISO texts.

    Raises
    ------
    evalkit.InputError
        If it is no mapping or holds anything else.

    Examples
    --------
    >>> from evalkit.given_values import plain_fields
    >>> plain_fields("declared", {"purpose": "teaching", "years": (2019, 2020)})
    {'purpose': 'teaching', 'years': [2019, 2020]}
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{option}: {shown(value)} is no mapping of names to values.")
    try:
        content = json.dumps(dict(value), allow_nan=False, ensure_ascii=False, default=_plain)
        content.encode()
    except (TypeError, ValueError, RecursionError):
        message = f"{option}: may hold texts, finite numbers, lists and mappings of such, no more."
        raise InputError(message) from None
    fields: dict[str, Any] = json.loads(content)
    return fields


def _plain(value: Any) -> Any:
    """Return a number of NumPy or a date in a plain type."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError
