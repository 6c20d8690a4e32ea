"""Numbers, shares and dates as text in the language of a report.

The four filters of the templates and of the metrics' pages are the first four functions here.
"""

from __future__ import annotations

import math
from datetime import date as calendar_date
from typing import TYPE_CHECKING, Any, Final

from evalkit.report.languages import notation
from evalkit.report.typography import NARROW_SPACE, NO_BREAK_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterable

MINUS: Final = "\u2212"
LARGE: Final = 10_000
NO_VALUE: Final = "\u2013"

SMALLEST_WITH_ONE_DECIMAL: Final = 0.0005
_ISO_DATE_LENGTH: Final = len("2026-11-29")


def score(value: float | None) -> str:
    """Return a score with one decimal.

    Parameters
    ----------
    value : float or None
        In the unit of the score.

    Returns
    -------
    str
        A dash for None and for what is not finite.

    Examples
    --------
    >>> score(84.5667)
    '84.6'
    """
    return number(value, 1)


def number(value: float | None, decimals: int | None = None) -> str:
    """Return a number with its thousands apart and a true minus, as its language writes it.

    Parameters
    ----------
    value : float or int or None
        A dash is written for None and for what is not finite.
    decimals : int, optional
        By default none for whole numbers of type int, else two. From 10,000 on there are none.

    Returns
    -------
    str

    Examples
    --------
    >>> number(4812), number(0.7081), number(-3, 1).replace(MINUS, "-")
    ('4,812', '0.71', '-3.0')
    """
    if value is None or not math.isfinite(value):
        return NO_VALUE
    digits = decimals if decimals is not None else (0 if isinstance(value, int) else 2)
    if abs(value) >= LARGE:  # nobody reads the decimals of five digits
        digits = 0
    text = f"{value:,.{digits}f}"
    if text.startswith("-"):
        text = text[1:] if not any(sign in text for sign in "123456789") else MINUS + text[1:]
    return _in_notation(text)


def _in_notation(text: str) -> str:
    """Return a number written in English with the marks of the language in use."""
    marks = notation()
    return text.translate({ord(","): marks.thousands, ord("."): marks.decimal})


def share(value: float | None, decimals: int = 1) -> str:
    """Return a share from 0 to 1 as a percentage.

    Parameters
    ----------
    value : float or None
        From 0 to 1.
    decimals : int
        Of the percentage.

    Returns
    -------
    str
        A dash for None; what would be rounded to nothing is less than the last decimal.

    Examples
    --------
    >>> share(0.154).replace(NARROW_SPACE, " "), share(1e-6).replace(NARROW_SPACE, " ")
    ('15.4 %', '<0.1 %')
    """
    if value is None or not math.isfinite(value):
        return NO_VALUE
    least = 10.0**-decimals
    if 0 < 100 * value < least / 2:
        return f"<{number(least, decimals)}{NARROW_SPACE}%"
    return f"{number(100 * value, decimals)}{NARROW_SPACE}%"


def date(value: str | None, *, short: bool = False) -> str:
    """Return a date or a time in ISO form as day, month and year that no line break parts.

    Parameters
    ----------
    value : str or None
        What is no date in ISO form is returned as it is; a dash for None and for an empty text.
    short : bool
        Whether the month is cut short where the language does so only for want of room.

    Returns
    -------
    str

    Examples
    --------
    >>> date("2026-11-03").replace(NO_BREAK_SPACE, " ")
    '3 Nov 2026'
    """
    if not value:
        return NO_VALUE
    try:
        day = calendar_date.fromisoformat(str(value)[:_ISO_DATE_LENGTH])
    except ValueError:
        return str(value)
    words = notation()
    months = words.short_months if short else words.months
    number = words.first_day if day.day == 1 else str(day.day)
    return NO_BREAK_SPACE.join([number, months[day.month - 1], str(day.year)])


def points(value: float | None) -> str:
    """Return a difference of two shares in percentage points, without the word.

    Parameters
    ----------
    value : float or None
        From -1 to 1.

    Returns
    -------
    str
        One decimal, and as many as it takes to show that a small difference is not 0; a dash for
        None.

    Examples
    --------
    >>> points(0.0261), points(0.00021), points(0.0)
    ('2.6', '0.02', '0.0')
    """
    if value is None or not math.isfinite(value):
        return NO_VALUE
    tiny = 0 < abs(value) < SMALLEST_WITH_ONE_DECIMAL
    return number(100 * value, 1 - math.floor(math.log10(abs(1000 * value))) if tiny else 1)


def interval(low_high: Any, decimals: int = 1) -> str:
    """Return a pair of numbers as "a to b", or a dash for None.

    Examples
    --------
    >>> interval([83.6, 85.61])
    '83.6 to 85.6'
    """
    if low_high is None:
        return NO_VALUE
    low, high = low_high
    return f"{number(low, decimals)} {notation().between} {number(high, decimals)}"


def points_interval(low_high: Any) -> str:
    """Return two differences of shares as an interval in points, or a dash for None.

    Examples
    --------
    >>> points_interval([0.004, 0.047])
    '0.4 to 4.7'
    """
    if low_high is None:
        return NO_VALUE
    low, high = low_high
    return f"{points(low)} {notation().between} {points(high)}"


def labelled(label: str, value: str) -> str:
    """Return a label and what it stands for.

    Examples
    --------
    >>> labelled("recipient", "internal")
    'recipient: internal'
    """
    return f"{label}{notation().colon}{value}"


def listed(parts: Iterable[str]) -> str:
    """Return parts of a sentence in one line, semicolons between them.

    Examples
    --------
    >>> listed(["matches", "row link declared"])
    'matches; row link declared'
    """
    return notation().semicolon.join(parts)


def threshold(value: float) -> str:
    """Return the value of a target with no more decimals than it has.

    Examples
    --------
    >>> threshold(80.0), threshold(0.09)
    ('80', '0.09')
    """
    return _in_notation(f"{value:g}").replace("-", MINUS)


def count_word(count: int) -> str:
    """Return a count in words up to twelve, in figures above.

    Examples
    --------
    >>> count_word(3), count_word(4812)
    ('three', '4,812')
    """
    words = notation().counts
    return words[count] if 0 <= count < len(words) else number(count)


FILTERS: Final = {
    "score": score,
    "number": number,
    "share": share,
    "points": points,
    "date": date,
}
"""The only filters that templates and pages have."""
