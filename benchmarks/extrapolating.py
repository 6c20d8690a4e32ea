"""From measured sizes to a thousand million rows, with the arithmetic shown."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Line = dict[str, Any]
    Points = list[tuple[int, float]]

TO_ROWS = 10**9
UNITS = (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0), ("seconds", 1.0))
FEWEST_POINTS = 2
LOADING = "libraries and compiled code"  # the same at any size


def power(points: Points) -> float:
    """Return b of `seconds ~ rows^b` from the last two points, at least 1.

    Examples
    --------
    >>> from extrapolating import power
    >>> round(power([(10, 1.0), (1000, 1000.0)]), 2), power([(10, 1.0), (100, 2.0)])
    (1.5, 1.0)
    """
    (rows, seconds), (more_rows, more_seconds) = points[-2:]
    return max(1.0, log(more_seconds / seconds) / log(more_rows / rows))


def in_words(seconds: float) -> str:
    """Return a time in its largest unit.

    Examples
    --------
    >>> from extrapolating import in_words
    >>> in_words(90.0), in_words(200_000.0)
    ('1.5 minutes', '2.3 days')
    """
    name, size = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    return f"{seconds / size:,.3g} {name}"


def extrapolated(lines: Sequence[Line]) -> list[list[str]]:
    """Return a row for each table and stage: seconds at the largest size, b, and what follows."""
    rows = []
    for table, stage in dict.fromkeys((one["table"], one["stage"]) for one in lines):
        points = [
            (one["rows"], max(one["seconds"], 0.001))
            for one in lines
            if (one["table"], one["stage"]) == (table, stage) and "processor" in one
        ]
        if len(points) < FEWEST_POINTS or stage == LOADING:
            continue
        (n, seconds), b = points[-1], power(points)
        factor = TO_ROWS / n
        sum_of_it = f"{seconds:,.3g} s × {factor:,.0f}^{b:.2f}"
        rows.append([table, stage, f"{b:.2f}", sum_of_it, in_words(seconds * factor**b)])
    return rows


def memory_rows(lines: Sequence[Line]) -> list[list[str]]:
    """Return a row for each table: bytes for each further row, and what follows."""
    rows = []
    for table in dict.fromkeys(one["table"] for one in lines):
        peaks: dict[int, float] = {}
        for one in lines:
            if one["table"] == table and "anonymous_gb" in one:
                most = max(peaks.get(one["rows"], 0.0), one["anonymous_gb"])
                peaks[one["rows"]] = most
        if len(peaks) < FEWEST_POINTS:
            continue
        (n, first), (more, last) = list(peaks.items())[-2:]
        each = (last - first) * 1e9 / (more - n)
        sum_of_it = f"({last:,.3g} - {first:,.3g}) GB / {more - n:,} rows"
        whole = f"{each * TO_ROWS / 1e9:,.0f} GB"
        rows.append([table, "memory of its own", "1", f"{sum_of_it} = {each:,.0f} bytes", whole])
    return rows
