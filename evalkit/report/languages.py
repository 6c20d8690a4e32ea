"""How numbers and dates are written in each language of the report, and in which one just now.

A report is made inside `written_in`; the functions of `formats` ask for the language there, so no
part of the report has to hand it on.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Notation:
    """How a language writes numbers and dates.

    Attributes
    ----------
    language : str
        Its code.
    decimal, thousands : str
        The marks inside a number.
    between : str
        Between the two ends of an interval, without spaces.
    colon, semicolon : str
        With their spaces.
    months, short_months : tuple of str
        From January.
    first_day : str
        The first of a month.
    counts : tuple of str
        Counts in words, from none.
    """

    language: str
    decimal: str
    thousands: str
    between: str
    colon: str
    semicolon: str
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    first_day: str
    counts: tuple[str, ...]


_ENGLISH_MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "June"),
    *("July", "Aug", "Sept", "Oct", "Nov", "Dec"),
)
NOTATIONS: Final = {
    "en": Notation(
        language="en",
        decimal=".",
        thousands=",",
        between="to",
        colon=": ",
        semicolon="; ",
        months=_ENGLISH_MONTHS,
        short_months=_ENGLISH_MONTHS,
        first_day="1",
        counts=(
            *("no", "one", "two", "three", "four", "five", "six"),
            *("seven", "eight", "nine", "ten", "eleven", "twelve"),
        ),
    ),
    "fr": Notation(
        language="fr",
        decimal=",",
        thousands="\u202f",
        between="à",
        colon="\u00a0: ",
        semicolon="\u202f; ",
        months=(
            *("janvier", "février", "mars", "avril", "mai", "juin"),
            *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
        ),
        short_months=(
            *("janv.", "févr.", "mars", "avr.", "mai", "juin"),
            *("juill.", "août", "sept.", "oct.", "nov.", "déc."),
        ),
        first_day="1er",
        counts=(
            *("aucun", "un", "deux", "trois", "quatre", "cinq", "six"),
            *("sept", "huit", "neuf", "dix", "onze", "douze"),
        ),
    ),
}
"""Notations by the code of the language."""

_notation: ContextVar[Notation] = ContextVar("notation", default=NOTATIONS["en"])


@contextmanager
def written_in(language: str) -> Iterator[None]:
    """Write numbers and dates in `language` inside the block.

    Parameters
    ----------
    language : str
        One of the report's languages; another one writes as in English.

    Examples
    --------
    >>> with written_in("fr"):
    ...     notation().decimal
    ','
    """
    token = _notation.set(NOTATIONS.get(language, NOTATIONS["en"]))
    try:
        yield
    finally:
        _notation.reset(token)


def notation() -> Notation:
    """Return the notation in use; English outside of `written_in`.

    Examples
    --------
    >>> notation().between
    'to'
    """
    return _notation.get()
