"""Files of a folder that are unlike the others: blame must not fall on whoever comes second."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from evalkit.errors import InputError, one_line
from evalkit.given_values import shown
from evalkit.messages import say

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from evalkit.messages import Message

_MOST_NAMES: Final = 5
_PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
_TEXTS: Final = frozenset({".csv", ".tsv", ".tab", ".psv"})
_PERHAPS: Final = frozenset({".txt", ".dat"})
"""Endings that tables have, and notes beside them too."""


def odd_one(values: Sequence[Hashable]) -> tuple[int, int] | None:
    """Return the place of the first value that is unlike most, and of one that is like most.

    Parameters
    ----------
    values : sequence
        What each file has; at least one.

    Returns
    -------
    tuple of int and int, or None
        None if all are alike. Where two are equally frequent, the earlier counts as usual.

    Examples
    --------
    >>> from evalkit.reading.strangers import odd_one
    >>> odd_one(["text", "number", "number"]), odd_one(["number", "text"]), odd_one([1, 1])
    ((0, 1), (1, 0), None)
    """
    usual = Counter(values).most_common(1)[0][0]
    odd = next((place for place, value in enumerate(values) if value != usual), None)
    return None if odd is None else (odd, values.index(usual))


def refuse_strangers(folder: str, names: Sequence[str], are_parquet: Sequence[bool]) -> None:
    """Refuse a folder in which a file is of another form than the tables, and name that file.

    Parameters
    ----------
    folder : str
        Base name of the folder.
    names : sequence of str
        Base names of its files that are not empty.
    are_parquet : sequence of bool
        What each begins like.

    Raises
    ------
    evalkit.InputError

    Examples
    --------
    >>> from evalkit.reading.strangers import refuse_strangers
    >>> refuse_strangers("parts", ["Thumbs.db", "a.csv"], [False, False])
    Traceback (most recent call last):
    evalkit.errors.InputError: parts: 'Thumbs.db' is not named like the tables beside it; take it
    out of the folder, or rename it.
    """
    parquet = sum(are_parquet)
    texts = [_ending(name) in _TEXTS for name in names]
    if 0 < parquet < len(names):
        # Parquet is a table for sure; other bytes are one only if their name says so.
        stranger = sum(texts) > parquet
        odd = [name for name, one in zip(names, are_parquet, strict=True) if one is stranger]
        what = "a Parquet file, and others are not"
        what = what if stranger else "no Parquet file, and others are"
        message = f"{folder}: {_some(odd)} is {what}; take it out, or write it again."
        raise InputError(message)
    odd = [name for name in names if _ending(name) not in _TEXTS | _PERHAPS]
    if not parquet and odd and len(odd) <= sum(texts):
        message = (
            f"{folder}: {_some(odd)} is not named like the tables beside it; take it out of the "
            "folder, or rename it."
        )
        raise InputError(message)


def empty_parts(label: str, names: Sequence[str]) -> list[Message]:
    """Return the note on files of a folder that hold no row.

    Parameters
    ----------
    label : str
        How messages call the table.
    names : sequence of str
        Base names of the files.

    Returns
    -------
    list of Message
        One, or none if there is no such file.
    """
    if not names:
        return []
    template = "{table}: files without a row were left out ({count:,}): {files}."
    some = [one_line(name) for name in names[:_MOST_NAMES]]
    files = [*some, *(["..."] if len(names) > len(some) else [])]
    return [say("empty_parts", template, table=label, count=len(names), files=files)]


def _ending(name: str) -> str:
    """Return what a name ends with, without that of an archive."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in _PACKED else path.suffix


def _some(names: Sequence[str]) -> str:
    """Return the first of some names, with the number of the others."""
    more = f" (and {len(names) - 1:,} more)" if len(names) > 1 else ""
    return f"{shown(names[0])}{more}"
