"""Parameters as plain JSON types, so that a notebook gets what its caller meant.

Papermill turns a NumPy integer, a date or a tuple into a text and refuses a path.
"""

from __future__ import annotations

import datetime as dt
import errno
import math
import numbers
import os
from collections.abc import Mapping
from typing import Any

from evalkit.errors import InputError

PATHS = (
    "original",
    "avatars",
    "holdout",
    "schema",
    "profile",
    "analysis",
    "templates",
    "output",
    "sign",
)
"""Parameters that may name a file or a folder."""
PATH_LISTS = ("assessments",)
"""Parameters that are lists of paths."""
LONGEST_LINE = 600
DEEPEST = 20
"""Levels of lists and dicts in one value."""


def plain(name: str, value: object, depth: int = 0) -> Any:
    """Return `value` in plain JSON types.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        Text, number, truth value, path, date, list, tuple, set or mapping of such; NumPy numbers
        too.
    depth : int
        How many containers stand around the value.

    Returns
    -------
    str, int, float, bool, None, list or dict
        Sets come sorted; dates in ISO form; paths as text.

    Raises
    ------
    evalkit.InputError
        If the value has no plain form: not a finite number, no valid text, another type, or
        nested more than `DEEPEST` levels.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.running.plain_values import plain
    >>> plain("axes", np.int64(3)), plain("known", ("age", "sex"))
    (3, ['age', 'sex'])
    """
    if depth > DEEPEST:
        raise InputError(f"{name}: nested more than {DEEPEST} levels deep; give a simpler value.")
    if isinstance(value, Mapping):
        return {_key(name, key): plain(name, inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(name, inner, depth + 1) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(name, inner, depth + 1) for inner in value), key=str)
    return _scalar(name, value)


def _scalar(name: str, value: object) -> str | int | float | bool | None:
    """Return one value that holds no others in its plain form."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(name, str(value), is_path=name in PATHS)
    if isinstance(value, os.PathLike):
        return _text(name, os.fsdecode(value), is_path=True)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return _number(name, value)


def _number(name: str, value: object) -> int | float | bool:
    """Return a number of any library as Python's own; refuse what is none."""
    if type(value).__name__ in {"bool_", "bool"} and type(value).__module__ == "numpy":
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    kind = "a number that is not finite" if isinstance(value, numbers.Real) else None
    kind = kind or f"a value of type {type(value).__name__}"
    raise InputError(f"{name}: {kind} cannot be handed to a notebook; give a text, number or list.")


def _text(name: str, value: str, *, is_path: bool = False) -> str:
    """Return `value` unless it holds bytes that are no text, as a badly named file does."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        remedy = "rename the file or folder" if is_path else "write it again in valid letters"
        message = f"{name}: holds bytes that are not valid text; {remedy}."
        raise InputError(message) from None
    if "\0" in value:
        raise InputError(f"{name}: holds a NUL character, which no text may; take it out.")
    return value


def _key(name: str, key: object) -> str:
    """Return a key of a mapping, which JSON wants as a text."""
    if not isinstance(key, str):
        raise InputError(f"{name}: the keys inside must be texts, not {type(key).__name__}.")
    return _text(name, key)


def shortened(line: str) -> str:
    """Return a line with the middle left out if it is too long to be read.

    A message repeats what it was given, and an option may hold anything.

    Examples
    --------
    >>> from evalkit.running.plain_values import shortened
    >>> len(shortened("x" * 100_000))
    600
    """
    if len(line) <= LONGEST_LINE:
        return line
    end = LONGEST_LINE // 3
    return f"{line[: LONGEST_LINE - end - 5]} ... {line[-end:]}"


def check_path(name: str, value: str) -> None:
    """Refuse a path that no file system takes.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : str
        The path; what lies there is not asked.

    Raises
    ------
    evalkit.InputError
        If it is too long or holds a character that no path may.

    Examples
    --------
    >>> from evalkit.running.plain_values import check_path
    >>> check_path("original", "x" * 300)
    Traceback (most recent call last):
    evalkit.errors.InputError: original: the path is too long; choose a shorter one.
    """
    try:
        os.lstat(value)
    except ValueError:
        _text(name, value, is_path=True)
        raise InputError(f"{name}: no file can have this path; correct it.") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"{name}: the path is too long; choose a shorter one.") from None
