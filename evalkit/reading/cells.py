"""What a cell of text says: a number, a truth value, nothing; and its form for messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalkit.reading.arrow_columns import as_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from evalkit.reading.arrow_columns import TextColumn

MISSING_WORDS = frozenset({"NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
TRUTH = {"true": "True", "false": "False"}
LONGEST_FORM = 24
SHOWN_MARKS = " .,:;-+/_*?"
"""Marks that numbers, dates, codes and missing cells are written with."""
MISSING_MARKS = ("?", ".", "-", "*")
"""Levels that may stand for missing; the only ones that a note ever shows."""

_BLOCK_CELLS = 2**16
_YEAR = re.compile(r"\d{4}-")
_SIGN = "[+\u2212-]?"
_BLANKS = "' \u00a0\u202f\u2019"
_PLAIN = {
    mark: rf"{_SIGN}(?:\d+{re.escape(mark)}?\d*|{re.escape(mark)}\d+)(?:[eE][+-]?\d+)?"
    for mark in ".,"
}
_GROUPED = {
    ".": rf"{_SIGN}[1-9]\d{{0,2}}(?:[,{_BLANKS}]\d{{3}})+(?:\.\d+)?",
    ",": rf"{_SIGN}[1-9]\d{{0,2}}(?:[.{_BLANKS}]\d{{3}})+(?:,\d+)?",
}
_INFINITE = rf"{_SIGN}[Ii][Nn][Ff](?:[Ii][Nn][Ii][Tt][Yy])?"


def form_of(cell: str) -> str:
    """Return the form of a cell: digits as 9, letters as a, few marks as they are, the rest as ~.

    Cut after 24 characters.

    Examples
    --------
    >>> from evalkit.reading.cells import form_of
    >>> form_of("12 rue B"), form_of("3 \N{EURO SIGN}")
    ('99 aaa a', '9 ~')
    """
    form = "".join(map(_masked, cell[:LONGEST_FORM]))
    return form + ("..." if len(cell) > LONGEST_FORM else "")


def _masked(character: str) -> str:
    """Return what stands for a character in a form."""
    if character.isdigit():
        return "9"
    if character.isalpha():
        return "a"
    return character if character in SHOWN_MARKS else "~"


def trimmed(texts: pa.Array) -> pa.Array:
    """Return the texts without blanks at either end; stored numbers and moments as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(texts.type):
        return texts
    return pc.utf8_trim_whitespace(texts)


def matches(texts: pa.Array, pattern: str) -> npt.NDArray[np.bool_]:
    """Return which texts the pattern describes from end to end."""
    import pyarrow.compute as pc

    found = pc.match_substring_regex(as_text(texts), f"^(?:{pattern})$")
    answer: npt.NDArray[np.bool_] = found.to_numpy(zero_copy_only=False).astype(bool)
    return answer


def all_match(texts: pa.Array, pattern: str) -> bool:
    r"""Return whether the pattern describes every text; the first that it does not settles it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.cells import all_match
    >>> all_match(pa.array(["1", "22"]), r"\d+"), all_match(pa.array([1.5]), r"\d+")
    (True, False)
    """
    starts = range(0, len(texts), _BLOCK_CELLS)
    return all(matches(texts[start : start + _BLOCK_CELLS], pattern).all() for start in starts)


def equals_any(texts: pa.Array, words: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Return which texts are one of `words`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(texts.type):
        return _stored_as(texts, words)
    found = pc.is_in(texts, value_set=pa.array(sorted(words), pa.string()))
    answer: npt.NDArray[np.bool_] = found.to_numpy(zero_copy_only=False).astype(bool)
    return answer


def _stored_as(values: pa.Array, words: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Return which stored numbers or moments are written as one of `words`."""
    import numpy as np
    import pyarrow as pa

    found = np.zeros(len(values), np.bool_)
    if pa.types.is_timestamp(values.type):
        likely = frozenset(word for word in words if _YEAR.match(word))
        return equals_any(as_text(values), likely) if likely else found
    bits = values.view(pa.int64()).to_numpy()
    for word in words:
        try:
            number = pa.scalar(word).cast(values.type)
        except pa.ArrowInvalid:
            continue
        one = pa.array([number.as_py()], values.type)
        if as_text(one)[0].as_py() == word:  # 1.0 is stored like 1, and written 1
            found |= bits == one.view(pa.int64())[0].as_py()
    return found


def are_numbers(texts: pa.Array, decimal: str) -> npt.NDArray[np.bool_]:
    """Return which trimmed texts are numbers, infinities included.

    Parameters
    ----------
    texts : pyarrow.Array of string, shape (k,)
    decimal : {".", ","}

    Returns
    -------
    numpy.ndarray of bool, shape (k,)
    """
    import numpy as np
    import pyarrow as pa

    if pa.types.is_timestamp(texts.type):
        return np.zeros(len(texts), np.bool_)
    if _are_stored(texts, decimal):
        return np.ones(len(texts), np.bool_)
    return matches(texts, f"{_PLAIN[decimal]}|{_GROUPED[decimal]}|{_INFINITE}")


def all_numbers(texts: pa.Array, decimal: str) -> bool:
    """Return whether all trimmed texts are numbers; the first that is none settles it."""
    starts = range(0, len(texts), _BLOCK_CELLS)
    return all(are_numbers(texts[start : start + _BLOCK_CELLS], decimal).all() for start in starts)


def _are_stored(texts: pa.Array, decimal: str) -> bool:
    """Return whether these are stored numbers that their text says too, with that mark."""
    import pyarrow as pa

    kind = texts.type
    return bool(pa.types.is_int64(kind) or (pa.types.is_float64(kind) and decimal == "."))


def are_grouped(texts: pa.Array, decimal: str) -> npt.NDArray[np.bool_]:
    """Return which trimmed texts are numbers with thousands marks, such as 1,234.5."""
    return matches(texts, _GROUPED[decimal])


def to_numbers(
    texts: pa.Array, decimal: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64] | None]:
    """Return trimmed texts as numbers.

    Parameters
    ----------
    texts : pyarrow.Array of string, shape (k,)
    decimal : {".", ","}

    Returns
    -------
    floats : numpy.ndarray of float64, shape (k,)
        NaN where a text is no number; infinities stay.
    integers : numpy.ndarray of int64, shape (k,), optional
        The exact values if every text is a whole number that fits into 64 bits.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.cells import to_numbers
    >>> to_numbers(pa.array(["1.234,5", "7"]), ",")[0].tolist()
    [1234.5, 7.0]
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if _are_stored(texts, decimal):
        return _stored_numbers(texts)
    texts = as_text(texts)
    known = are_numbers(texts, decimal)
    floats = np.full(len(texts), np.nan)
    plain = pc.replace_substring_regex(
        texts.filter(pa.array(known)), rf"[{_BLANKS}{'.' if decimal == ',' else ','}]|^\+", ""
    )
    plain = pc.replace_substring(plain, "\u2212", "-")
    plain = pc.replace_substring(plain, decimal, ".")
    floats[known] = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
    return floats, _exact(plain) if known.all() else None


def _stored_numbers(
    values: pa.Array,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64] | None]:
    """Return stored numbers as `to_numbers` reads their text."""
    import numpy as np
    import pyarrow as pa

    found = values.to_numpy()
    if pa.types.is_int64(values.type):
        return found.astype(np.float64), found.copy()
    whole = bool((np.isfinite(found) & (found == np.floor(found))).all())
    return found.copy(), _exact(as_text(values)) if whole else None


def _exact(plain: pa.Array) -> npt.NDArray[np.int64] | None:
    """Return whole numbers as they are, or None where one is none or needs more than 64 bits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not matches(plain, r"-?\d{1,19}").all():
        return None
    try:
        whole: npt.NDArray[np.int64] = pc.cast(plain, pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return whole


def without_marks(column: TextColumn, marks: frozenset[str], decimal: str) -> TextColumn:
    """Return a column with the user's marks for missing read as empty.

    A mark that is a number also stands for the same number in another form: -1 for -1.0.

    Parameters
    ----------
    column : TextColumn
    marks : frozenset of str
    decimal : {".", ","}

    Returns
    -------
    TextColumn
    """
    import numpy as np
    import pyarrow as pa

    if not marks:
        return column
    texts = trimmed(column.texts)
    numbers, _ = to_numbers(pa.array(sorted(marks), pa.string()), ".")
    numbers = numbers[np.isfinite(numbers)]
    gone = equals_any(texts, marks)
    if len(numbers):
        gone |= np.isin(to_numbers(texts, decimal)[0], numbers)
    return column.without(gone)
