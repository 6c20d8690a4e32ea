"""The spaces and marks of a language, put into its words by one function.

The French words are written with plain spaces and straight apostrophes. What stands between
placeholders, or comes from data, never passes through here: only the words of the report do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

NARROW_SPACE: Final = "\u202f"
NO_BREAK_SPACE: Final = "\u00a0"
APOSTROPHE: Final = "\u2019"

_CODE: Final = re.compile(r"(`+[^`]*`+)")
_PERCENT: Final = re.compile(r"(?<=[\d\ue001}]) %")
_MONTHS: Final = (
    "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_FRENCH: Final = (
    (re.compile(r"(?<=[\w.\ue001}])'(?=[\w«*\ue000{])"), APOSTROPHE),
    (re.compile(r" (?=[;!?%](?:\W|$))"), NARROW_SPACE),
    (re.compile(r" (?=:(?:[\s*_]|$))"), NO_BREAK_SPACE),
    (re.compile(r"(?<=«) "), NARROW_SPACE),
    (re.compile(r" (?=»)"), NARROW_SPACE),
    (re.compile(r"(?<=\d) (?=\d{3}(?!\d))"), NARROW_SPACE),
    (re.compile(r"(?<=§) "), NO_BREAK_SPACE),
    (re.compile(rf"(?<=\d) (?=(?:{_MONTHS})\b)"), NO_BREAK_SPACE),
    (re.compile(rf"(?<=\d[\u00a0])({_MONTHS}) (?=\d)"), rf"\1{NO_BREAK_SPACE}"),
)
_UNDER_TWO: Final = re.compile(r"\u2212?[01](?:,\d+)?")
_POINTS: Final = re.compile(r"(?:(?<![\d,\u202f])([\u2212\d,\u202f]+)|\ue000(\d+)\ue001) points\b")


def typeset(text: str, language: str) -> str:
    r"""Return words of the report with the spaces and apostrophes of their language.

    Parameters
    ----------
    text : str
        Words of ours, plain or Markdown; inline code in it stays as it is, and so does every
        placeholder.
    language : str
        Code of the language. In English a per cent sign keeps to its number; in French a narrow
        no-break space stands before ``; ! ? %`` and inside guillemets, a no-break space before a
        colon and inside dates.

    Returns
    -------
    str

    Examples
    --------
    >>> typeset("l'avatar : « 4 812 »", "fr").replace(NARROW_SPACE, "_")
    'l’avatar\xa0: «_4_812_»'
    >>> typeset("`l'a : b`", "fr")
    "`l'a : b`"
    """
    if language != "fr":
        return _PERCENT.sub(f"{NARROW_SPACE}%", text)
    parts = _CODE.split(text)
    parts[::2] = [_french(part) for part in parts[::2]]
    return "".join(parts)


def typeset_all(words: Any, language: str) -> Any:
    """Return words as a YAML file holds them, each text typeset; keys stay as they are.

    Examples
    --------
    >>> typeset_all({"a": ["l'un", 3]}, "fr")
    {'a': ['l’un', 3]}
    """
    if isinstance(words, str):
        return typeset(words, language)
    if isinstance(words, list):
        return [typeset_all(one, language) for one in words]
    if isinstance(words, dict):
        return {key: typeset_all(one, language) for key, one in words.items()}
    return words


def agreed(text: str, language: str, values: Sequence[Any] = ()) -> str:
    """Return a filled text in which a count under two has its unit in the singular, in French.

    Parameters
    ----------
    text : str
        With its values, or with placeholders and the `values` that go there.
    language : str
        Code of the language; only French changes.
    values : sequence
        Texts by the index of their placeholders.

    Returns
    -------
    str

    Examples
    --------
    >>> agreed("jusqu’à 0,4 points, de 0,4 à 4,7 points", "fr")
    'jusqu’à 0,4 point, de 0,4 à 4,7 points'
    """
    if language != "fr":
        return text

    def singular(match: re.Match[str]) -> str:
        written = str(values[int(match[2])]) if match[2] else match[1]
        return match[0][:-1] if _UNDER_TWO.fullmatch(written) else match[0]

    return _POINTS.sub(singular, text)


def _french(text: str) -> str:
    for pattern, mark in _FRENCH:
        text = pattern.sub(mark, text)
    return text
