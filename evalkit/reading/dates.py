"""Dates written in text: ISO and day-first forms, as seconds since 1970."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import matches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

_TIME = (
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>[.,]\d+)?)?"
    r" ?(?P<half>[AaPp]\.?[Mm]\.?)? ?(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?"
)
YEAR_FIRST = r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME
YEAR_LAST = r"(?P<first>\d{1,2})[-/.](?P<next>\d{1,2})[-/.](?P<year>\d{4})" + _TIME
NAMED = r"(?P<day>\d{1,2})(?:er)?[-. ]+(?P<word>\p{L}{3,9})\.?[-, ]+(?P<year>\d{4})" + _TIME
MONTH_ONLY = r"(?P<year>\d{4})-(?P<month>\d{2})"
COMPACT = r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
YEAR_ONLY = r"(?P<year>\d{4})"
CLOCK = (
    r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>[.,]\d+)?)?"
    r" ?(?P<half>[AaPp]\.?[Mm]\.?)?"
)
LONG_CLOCK = r"(?P<hours>\d{1,6}):(?P<minute>\d{2}):(?P<second>\d{2})(?P<part>[.,]\d+)?"
DAYS_AND_CLOCK = r"(?P<sign>-?)(?P<days>\d{1,9}) days?(?:,? \+?" + LONG_CLOCK + r")?"
ISO_DURATION = (
    r"(?P<sign>-?)P(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?:(?P<hours>\d{1,6})H)?(?:(?P<minute>\d+)M)?(?:(?P<second>\d+)(?P<part>[.,]\d+)?S)?)?"
)
TWO_DIGIT_YEAR = r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2}"
SHORT_YEAR = r"(?P<first>\d{1,2})[-/.](?P<next>\d{1,2})[-/.](?P<year>\d{2})" + _TIME
PIVOT_YEAR = 69
"""Of a year of two digits, as POSIX has it: 69 to 99 are in the last century, 00 to 68 in this."""
FORMS = (YEAR_FIRST, YEAR_LAST, NAMED, MONTH_ONLY)
FORCED_FORMS = (*FORMS, COMPACT, YEAR_ONLY, SHORT_YEAR)
"""Whole numbers and years of two digits are dates only where the user says so."""
CLOCK_FORMS = (CLOCK,)
"""Times of day stand for themselves: they are never mixed with dates."""
DURATION_FORMS = (DAYS_AND_CLOCK, ISO_DURATION, LONG_CLOCK)
"""The same of lengths of time."""

_MONTH_STARTS = (
    ("jan",),
    ("feb", "fev"),
    ("mar",),
    ("apr", "avr"),
    ("may", "mai"),
    ("jun", "juin"),
    ("jul", "juil"),
    ("aug", "aou"),
    ("sep",),
    ("oct", "okt"),
    ("nov",),
    ("dec", "dez"),
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def day_order(texts: pa.Array) -> bool | None:
    """Return whether dates such as 3/4/2021 put the day first; None if nothing tells.

    Parameters
    ----------
    texts : pyarrow.Array of string, shape (k,)
        Different trimmed cells of one column.

    Returns
    -------
    bool or None
        True or False where a number over 12 decides it; None where none does, or both.
    """
    if _are_moments(texts):
        return None
    first, following = _year_last_numbers(texts)
    day_first, month_first = bool((first > 12).any()), bool((following > 12).any())  # noqa: PLR2004
    return None if day_first == month_first else day_first


def has_open_order(texts: pa.Array) -> bool:
    """Return whether some dates are written as 3/4/2021, with either reading possible."""
    if _are_moments(texts):
        return False
    first, following = _year_last_numbers(texts)
    return bool(((first <= 12) & (following <= 12) & (first != following)).any())  # noqa: PLR2004


def to_seconds(
    texts: pa.Array, *, day_first: bool, forms: Sequence[str] = FORMS
) -> npt.NDArray[np.float64]:
    """Return trimmed texts as seconds since 1970-01-01, NaN where a text is no date.

    Parameters
    ----------
    texts : pyarrow.Array of string, shape (k,)
    day_first : bool
        Reading of dates such as 3/4/2021.
    forms : sequence of str
        Patterns to try, in this order.

    Returns
    -------
    numpy.ndarray of float64, shape (k,)
        Seconds of universal time where a cell gives its offset, of local time elsewhere.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from evalkit.reading.dates import to_seconds
    >>> to_seconds(pa.array(["1970-01-02", "3 Jan. 1970", "x"]), day_first=True).tolist()
    [86400.0, 172800.0, nan]
    """
    import numpy as np
    import pyarrow as pa

    if _are_moments(texts) and YEAR_FIRST in forms:
        return _moment_seconds(texts)
    texts = as_text(texts)
    seconds = np.full(len(texts), np.nan)
    if not may_be_dates(texts).any():
        return seconds
    for form in forms:
        here = np.isnan(seconds) & matches(texts, form)
        if here.any():
            seconds[here] = _form_seconds(texts.filter(pa.array(here)), form, day_first=day_first)
    return seconds


def may_be_dates(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which texts hold a year, a time of day or a length: a look before the long one."""
    import numpy as np

    if _are_moments(texts):
        return np.ones(len(texts), np.bool_)
    return matches(texts, r".*(?:\d{4}|:\d{2}|\d day).*|-?PT?\d.*|\d+[-/.]\d+[-/.]\d{2}\b.*")


def _are_moments(texts: pa.Array) -> bool:
    """Return whether these are moments as they were stored; their text begins with the year."""
    import pyarrow as pa

    return bool(pa.types.is_timestamp(texts.type))


def _moment_seconds(moments: pa.Array) -> npt.NDArray[np.float64]:
    """Return stored moments in seconds, to the last digit as their text says them."""
    import numpy as np
    import pyarrow as pa

    unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[moments.type.unit]
    whole, part = np.divmod(moments.view(pa.int64()).to_numpy(), unit)
    seconds: npt.NDArray[np.float64] = whole.astype(np.float64) + part / unit
    return seconds


def _form_seconds(texts: pa.Array, form: str, *, day_first: bool) -> npt.NDArray[np.float64]:
    """Return the seconds of texts that all have one form; NaN for days that do not exist."""
    import numpy as np

    parts = _parts(texts, form)
    if form in DURATION_FORMS:
        return _length_seconds(parts, form, len(texts))
    if form == SHORT_YEAR:
        parts["year"] += np.where(parts["year"] >= PIVOT_YEAR, 1900, 2000)
    if form in {YEAR_LAST, SHORT_YEAR}:
        names = ("day", "month") if day_first else ("month", "day")
        parts |= dict(zip(names, (parts["first"], parts["next"]), strict=True))
    zero = np.zeros(len(texts))
    year, month, day = (
        parts.get(unit, start)
        for unit, start in (("year", zero + 1970), ("month", zero + 1), ("day", zero + 1))
    )
    hour, minute, second, part, zone = (
        parts.get(unit, zero) for unit in ("hour", "minute", "second", "part", "zone")
    )
    if "half" in parts:
        hour = _of_the_day(hour, parts["half"])
    time = hour * 3600.0 + minute * 60.0 + second
    time[(hour > 23) | (minute > 59) | (second > 59)] = np.nan  # noqa: PLR2004
    return _days(year, month, day) * 86400.0 + time + part - zone


def _of_the_day(
    hour: npt.NDArray[np.float64], half: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return hours from 0 to 23; `half` is 1 before noon, 2 after it, 0 where nothing is said."""
    import numpy as np

    found = np.where(half > 0, hour % 12 + 12 * (half == 2), hour)  # noqa: PLR2004 - after noon
    # 13 in the afternoon or 0 in the morning is no time.
    found[(half > 0) & ((hour < 1) | (hour > 12))] = np.nan  # noqa: PLR2004
    return found


def _length_seconds(
    parts: dict[str, npt.NDArray[np.float64]], form: str, count: int
) -> npt.NDArray[np.float64]:
    """Return lengths of time in seconds."""
    import numpy as np

    zero = np.zeros(count)
    sign = np.where(parts.get("sign", zero) < 0, -1.0, 1.0)
    if form == DAYS_AND_CLOCK:
        # Of "-1 days +23:00:00", one hour less than nothing, the sign is that of the days alone.
        parts, sign = parts | {"days": parts["days"] * sign}, np.ones(count)
    weights = {"days": 86400.0, "hours": 3600.0, "minute": 60.0, "second": 1.0, "part": 1.0}
    seconds = sum((parts.get(unit, zero) * each for unit, each in weights.items()), start=zero)
    return seconds * sign


def _parts(texts: pa.Array, form: str) -> dict[str, npt.NDArray[np.float64]]:
    """Return the named numbers of texts that all have one form."""
    import pyarrow.compute as pc

    found = pc.extract_regex(texts, f"^(?:{form})$")
    fields = {field.name: pc.struct_field(found, field.name) for field in found.type}
    parts = {
        name: _numbers(texts)
        for name, texts in fields.items()
        if name not in {"word", "part", "zone", "half", "sign"}
    }
    if "word" in fields:
        parts["month"] = _mapped(fields["word"], _month_number)
    if "part" in fields:
        parts["part"] = _mapped(fields["part"], lambda text: float("0" + text.replace(",", ".")))
    if "half" in fields:
        parts["half"] = _mapped(fields["half"], lambda text: 1.0 + (text[0] in "pP"))
    if "sign" in fields:
        parts["sign"] = _mapped(fields["sign"], lambda text: -float(len(text)))
    if "zone" in fields:
        parts["zone"] = _mapped(fields["zone"], _offset_seconds)
    return parts


def _numbers(texts: pa.Array) -> npt.NDArray[np.float64]:
    """Return texts of digits as numbers, nothing as 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.if_else(pc.equal(texts, ""), "0", texts)
    numbers: npt.NDArray[np.float64] = pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False)
    return numbers.copy()


def _mapped(texts: pa.Array, function: Callable[[str], float]) -> npt.NDArray[np.float64]:
    """Return `function` of each text, worked out once for each different text, nothing as 0."""
    import numpy as np

    coded = texts.dictionary_encode()
    values = [function(text) if text else 0.0 for text in coded.dictionary.to_pylist()]
    codes = coded.indices.to_numpy(zero_copy_only=False)
    found: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64)[codes]
    return found


def _month_number(word: str) -> float:
    """Return the month that an English or French name stands for, 0 for another word."""
    plain = unicodedata.normalize("NFKD", word.lower()).encode("ascii", "ignore").decode()
    for number, starts in enumerate(_MONTH_STARTS, start=1):
        if plain.startswith(starts):
            return float(number)
    return 0.0


def _offset_seconds(zone: str) -> float:
    """Return the seconds that a time zone such as +01:30 is ahead of universal time."""
    if zone in {"Z", "UTC"}:
        return 0.0
    sign = -1.0 if zone.startswith("-") else 1.0
    return sign * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)


def _days(
    year: npt.NDArray[np.float64], month: npt.NDArray[np.float64], day: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return days since 1970-01-01 in the Gregorian calendar, NaN for days that do not exist."""
    import numpy as np

    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    named = np.clip(month, 1, 12).astype(np.int64)
    longest = np.asarray(_DAYS)[named - 1] + (leap & (named == 2))  # noqa: PLR2004
    fits = (month == named) & (day >= 1) & (day <= longest) & (year >= 1)
    months = ((np.where(fits, year, 1970).astype(np.int64) - 1970) * 12 + named - 1).astype(
        "datetime64[M]"
    )
    days = months.astype("datetime64[D]").astype(np.int64).astype(np.float64) + day - 1
    days[~fits] = np.nan
    return days


def _year_last_numbers(
    texts: pa.Array,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the first two numbers of the dates that end with a year."""
    import numpy as np
    import pyarrow as pa

    texts = as_text(texts)
    likely = texts.filter(pa.array(may_be_dates(texts)))
    if not len(likely):
        return np.empty(0), np.empty(0)
    found = [
        _parts(likely.filter(pa.array(matches(likely, form))), form)
        for form in (YEAR_LAST, SHORT_YEAR)
    ]
    first, following = (np.concatenate([one[name] for one in found]) for name in ("first", "next"))
    return first, following
