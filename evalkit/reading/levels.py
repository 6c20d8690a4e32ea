"""The levels of a categorical column: one list for all tables."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.messages import say
from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import TRUTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from evalkit.messages import Message
    from evalkit.reading.arrow_columns import TextColumn

_NUMBER = re.compile(r"[+-]?\d{1,15}([.,]\d+)?")
_ONE_ZERO = {"1.0": "True", "0.0": "False"}


def shared_levels(
    name: str, labels: Mapping[str, str], columns: Mapping[str, TextColumn], *, truth: bool
) -> tuple[dict[str, Any], list[Message]]:
    """Return a column of each table as categories with one sorted list of levels, and notes.

    A cell that the originals do not know is read as the level of theirs that says the same: the
    same number in another form, the same text in another Unicode form or with blanks around it.

    Parameters
    ----------
    name : str
        The column.
    labels : mapping of role to str
        How messages call the tables.
    columns : mapping of role to TextColumn
        ``"original"`` among them.
    truth : bool
        Whether all forms of true and false are one level each.

    Returns
    -------
    cells : dict of role to pandas.Categorical
        Missing cells have code -1.
    notes : list of Message
        Levels unknown to the originals and cells matched to a level, counted.

    Raises
    ------
    evalkit.InputError
        If a column declared boolean holds over two levels in the originals.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.arrow_columns import from_arrow
    >>> from evalkit.reading.levels import shared_levels
    >>> columns = {"original": from_arrow(pa.array(["2", "4"])),
    ...            "avatars": from_arrow(pa.array([4.0, 9.0]))}
    >>> shared_levels("Class", dict.fromkeys(columns, "a table"), columns, truth=False)[0][
    ...     "avatars"].tolist()
    ['4', '9']
    """
    original = _texts(columns["original"].texts, truth=truth)
    if truth and len(set(original)) > len(TRUTH):
        message = (
            f"{labels['original']}, column {name!r}: declared boolean, but holds "
            f"{len(set(original))} levels; declare it categorical."
        )
        raise InputError(message)
    known = _known_levels(original)
    named = {"original": original}
    notes: list[Message] = []
    for role, column in columns.items():
        if role != "original":
            texts = _texts(column.texts, truth=truth)
            named[role] = [_level(text, known, truth=truth) for text in texts]
            where = {"table": labels[role], "column": name}
            notes += _level_notes(where, column, texts, named[role], set(original))
    return _categories(columns, named), notes


def _categories(
    columns: Mapping[str, TextColumn], named: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return the categories of each table from the level of each different cell."""
    import numpy as np
    import pandas as pd

    levels = sorted({level for texts in named.values() for level in texts})
    places = {level: place for place, level in enumerate(levels)}
    index = pd.Index(levels, dtype=str)
    cells = {}
    for role, column in columns.items():
        codes = np.array([*(places[level] for level in named[role]), -1], dtype=np.int32)
        cells[role] = pd.Categorical.from_codes(codes[column.codes], categories=index)
    return cells


def _texts(texts: pa.Array, *, truth: bool) -> list[str]:
    """Return texts, with every form of true and false made one where the column is boolean."""
    cells: list[str] = as_text(texts).to_pylist()
    return [TRUTH.get(cell.strip().lower(), cell) for cell in cells] if truth else cells


def _known_levels(texts: Sequence[str]) -> dict[str, str]:
    """Return the originals' levels by themselves and by their plain form, if one alone has it."""
    found: dict[str, set[str]] = {}
    for text in set(texts):
        found.setdefault(_plain(text), set()).add(text)
    alone = {form: levels.pop() for form, levels in found.items() if len(levels) == 1}
    return alone | {text: text for text in texts}


def _level(text: str, known: Mapping[str, str], *, truth: bool) -> str:
    """Return the originals' level that a cell says, or the cell itself."""
    plain = _plain(text)
    other = _ONE_ZERO.get(plain, text) if truth else text
    return known.get(text, known.get(plain, other))


def _plain(text: str) -> str:
    """Return a text without outer blanks, in composed form, a number by its value."""
    plain = unicodedata.normalize("NFC", text.strip())
    return repr(float(plain.replace(",", "."))) if _NUMBER.fullmatch(plain) else plain


def _level_notes(
    where: dict[str, str],
    column: TextColumn,
    texts: Sequence[str],
    levels: Sequence[str],
    known: set[str],
) -> list[Message]:
    """Return notes on cells that the originals do not know; counts only, never a cell."""
    counts = column.counts().tolist()
    notes = []
    matched = [
        count
        for text, level, count in zip(texts, levels, counts, strict=True)
        if text != level and level in known
    ]
    if matched:
        template = (
            "{table}, column {column}: {cells:,} cells are written in another form than in the "
            "originals and were read as the level that says the same."
        )
        notes.append(say("levels_matched", template, **where, cells=sum(matched)))
    unknown: Counter[str] = Counter()
    for level, count in zip(levels, counts, strict=True):
        if level not in known:
            unknown[level] += count
    if unknown:
        template = (
            "{table}, column {column}: levels unknown to the originals: {levels:,}, in {cells:,} "
            "of {rows:,} rows."
        )
        rows = len(column.codes)
        values = {"levels": len(unknown), "cells": unknown.total(), "rows": rows}
        notes.append(say("unknown_levels", template, **where, **values))
    return notes
