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
LEAST_SECONDS = 0.001
BESIDE = {"libraries and compiled code", "whole process"}  # lines that are no stage


def power(points: Points) -> float:
    """Return b of `seconds ~ rows^b` from the last two points.

    Examples
    --------
    >>> from extrapolating import power
    >>> round(power([(10, 1.0), (1000, 1000.0)]), 2)
    1.5
    """
    (rows, seconds), (more_rows, more_seconds) = points[-2:]
    return log(more_seconds / seconds) / log(more_rows / rows)


def measured_points(lines: Sequence[Line]) -> dict[tuple[str, str], Points]:
    """Return rows and seconds of each table and stage that was measured at two sizes or more."""
    found: dict[tuple[str, str], Points] = {}
    for one in sorted(lines, key=lambda line: line["rows"]):
        if one["stage"] not in BESIDE:
            points = found.setdefault((one["table"], one["stage"]), [])
            points.append((one["rows"], max(one["seconds"], LEAST_SECONDS)))
    return {key: points for key, points in found.items() if len(points) >= FEWEST_POINTS}


def powers(lines: Sequence[Line]) -> dict[tuple[str, str], float]:
    """Return the power of each table and stage."""
    return {key: power(points) for key, points in measured_points(lines).items()}


def in_words(seconds: float) -> str:
    """Return a time in its largest unit.

    Examples
    --------
    >>> from extrapolating import in_words
    >>> in_words(90.0), in_words(200_000.0)
    ('1.5 minutes', '2.3 days')
    """
    name, size = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    return f"{float(f'{seconds / size:.2g}'):,g} {name}"


def extrapolated(lines: Sequence[Line]) -> list[list[str]]:
    """Return a row for each table and stage: b, the arithmetic, and what follows."""
    rows = []
    for (table, stage), points in measured_points(lines).items():
        (n, seconds), b = points[-1], max(1.0, power(points))
        factor = TO_ROWS / n
        sum_of_it = f"{seconds:,.3g} s × {factor:,.0f}^{b:.2f}"
        rows.append([table, stage, f"{b:.2f}", sum_of_it, in_words(seconds * factor**b)])
    return rows


def memory_rows(lines: Sequence[Line]) -> list[list[str]]:
    """Return a row for each table: bytes for each further row, and what follows."""
    rows = []
    for table in dict.fromkeys(one["table"] for one in lines):
        peaks: dict[int, float] = {}
        for one in sorted(lines, key=lambda line: line["rows"]):
            if one["table"] == table and "anonymous_gb" in one:
                peaks[one["rows"]] = max(peaks.get(one["rows"], 0.0), one["anonymous_gb"])
        if len(peaks) < FEWEST_POINTS:
            continue
        (n, first), (more, last) = list(peaks.items())[-2:]
        each = (last - first) * 1e9 / (more - n)
        sum_of_it = f"({last:,.3g} - {first:,.3g}) GB / {more - n:,} rows"
        whole = f"{each * TO_ROWS / 1e9:,.0f} GB"
        rows.append([table, "memory of its own", "1", f"{sum_of_it} = {each:,.0f} bytes", whole])
    return rows
