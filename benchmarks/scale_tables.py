"""What was measured on large tables, as Markdown tables in the pages and as a curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrapolating import BESIDE, extrapolated, memory_rows, powers

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "docs" / "scale.md", ROOT / "benchmarks" / "README.md")
PICTURE = ROOT / "docs" / "pictures" / "growth.png"
WITHOUT_FRACTION = 100
Line = dict[str, Any]


def named(rows: int) -> str:
    """Return a number of rows in few letters: 300k, 10M."""
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if rows >= size:
            return f"{rows / size:g}{unit}"
    return str(rows)


def stage_table(lines: Sequence[Line]) -> str:
    """Return a row for each stage: seconds, processor seconds, memory."""
    rows = [
        [
            f"{one['table']}, {named(one['rows'])}",
            one["stage"] + (f", {one['end']}" if one.get("end") else ""),
            *(_number(one.get(key)) for key in ("seconds", "processor")),
            *(_number(one.get(key)) for key in ("resident_gb", "anonymous_gb")),
        ]
        for one in lines
    ]
    head = ["table", "stage", "seconds", "of the processors", "peak, GB", "of it own, GB"]
    return _markdown(head, rows)


def growth_table(lines: Sequence[Line]) -> str:
    """Return a row for each table and stage, a column for each size: seconds and the peak."""
    sizes = sorted({one["rows"] for one in lines})
    stages = [one for one in lines if one["stage"] not in BESIDE]
    names = dict.fromkeys((one["table"], one["stage"]) for one in stages)
    rows = [
        [table, stage, *(_cell(lines, table, stage, size, "seconds") for size in sizes)]
        for table, stage in names
    ]
    rows += [
        [table, "peak of memory, GB", *(_most(lines, table, size) for size in sizes)]
        for table in dict.fromkeys(table for table, _ in names)
    ]
    return _markdown(["table", "seconds of", *(named(size) for size in sizes)], rows)


def _cell(lines: Sequence[Line], table: str, stage: str, rows: int, key: str) -> str:
    found = [
        one[key]
        for one in lines
        if (one["table"], one["stage"], one["rows"]) == (table, stage, rows)
    ]
    return _number(found[0]) if found else "–"


def _most(lines: Sequence[Line], table: str, rows: int) -> str:
    of_run = [one for one in lines if (one["table"], one["rows"]) == (table, rows)]
    return _number(max((one.get("resident_gb", 0.0) for one in of_run), default=None))


def _number(value: float | None) -> str:
    """Return a measured number with as many digits as it deserves."""
    if value is None:
        return ""
    digits = 2 if value < 1 else 1 if value < WITHOUT_FRACTION else 0
    return f"{value:,.{digits}f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = "|---|---|" + "--:|" * (len(head) - 2)
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)])


def billion_table(lines: Sequence[Line]) -> str:
    """Return what a thousand million rows would take if growth went on as it was measured."""
    head = ["table", "stage", "power b", "arithmetic", "at 10⁹ rows"]
    return _markdown(head, extrapolated(lines) + memory_rows(lines))


def curve_line(lines: Sequence[Line]) -> str:
    """Return the picture of the growth with its finding in words."""
    found = "; ".join(f"{table}, {stage}: {b:.2f}" for (table, stage), b in powers(lines).items())
    return (
        "![Seconds against rows, both on logarithmic scales, a line for each stage and a dashed "
        "one that grows as the rows do. "
        f"Powers over the last two sizes: {found}.](pictures/growth.png)"
    )


def machine_line(machine: dict[str, str]) -> str:
    """Return on what the figures were taken."""
    return (
        f"{machine['processors']}, {machine['memory']} of memory, Python {machine['python']}; "
        f"load at the start {machine['load']}."
    )


def texts(kept: dict[str, Any]) -> dict[str, str]:
    """Return what stands between the marks of the pages, by the name of the mark."""
    found = {"machine": machine_line(kept["machine"])} if "machine" in kept else {}
    if "growth" in kept:
        found["growth"] = growth_table(kept["growth"])
        found["billion"] = billion_table(kept["growth"])
        found["curve"] = curve_line(kept["growth"])
    for part in ("founding", "metrics"):
        if part in kept:
            found[part] = stage_table(kept[part])
    return found


def filled(page: str, marked: dict[str, str]) -> str:
    """Return a page with what stands between `<!-- measured: name -->` and its end written anew."""
    for name, text in marked.items():
        begin, end = f"<!-- measured: {name} -->", f"<!-- end of {name} -->"
        if begin in page:
            before, _, rest = page.partition(begin)
            page = f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    return page


def write_pages(measured: Path) -> None:
    """Write the tables into the pages and the curve beside them, from a file of `scale.py plan`."""
    from growth import picture

    kept = json.loads(measured.read_text())
    for page in PAGES:
        page.write_text(filled(page.read_text("utf-8"), texts(kept)), "utf-8")
        print(f"wrote {page.relative_to(ROOT)}")
    if "growth" in kept:
        picture(kept["growth"], PICTURE)
        print(f"wrote {PICTURE.relative_to(ROOT)}")
