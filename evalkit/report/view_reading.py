"""How each column of each table was read: a part of annex E, from the ledger of reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import heading, table, text
from evalkit.report.view_front import ROWS_SHOWN
from evalkit.report.wording import shortened

if TYPE_CHECKING:
    from evalkit.records import LedgerRecord
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

LONGEST_NAME: Final = 40
ROLES: Final = ("original", "avatars", "holdout")


def reading_blocks(subject: Subject) -> list[Block]:
    """Return what was read as what in each table, and what was taken as missing, and why."""
    ledger = subject.assessment.release.ledger
    if not ledger:
        return []
    columns: dict[str, dict[str, LedgerRecord]] = {}
    for line in ledger:
        columns.setdefault(line.column, {})[line.table] = line
    types = {one.name: subject.type_of(one) for one in subject.assessment.release.variables}
    held = [role for role in ROLES if any(role in lines for lines in columns.values())]
    rows = [
        (
            (shortened(name, LONGEST_NAME), types.get(name, "")),
            *(_cell(lines.get(role), subject) for role in held),
        )
        for name, lines in list(columns.items())[:ROWS_SHOWN]
    ]
    cut = subject.label("table_cut", shown=ROWS_SHOWN, count=len(columns))
    heads = subject.head("reading")[: 1 + len(held)]
    widths = (46, *[114 / len(held)] * len(held))
    return [
        heading(subject.heading("reading")),
        text(subject.text("reading")),
        table(heads, widths, rows, caption=cut if len(columns) > ROWS_SHOWN else ""),
    ]


def _cell(line: LedgerRecord | None, subject: Subject) -> Any:
    """Return the filled cells of a column in one table, and what became of the others."""
    if line is None or line.read_as == "absent":
        return subject.label("reading_absent")
    filled = subject.label(
        "reading_filled", filled=formats.number(line.filled), rows=formats.number(line.rows)
    )
    names = subject.words["labels"]["reading_marks"]
    parts = [
        subject.label("reading_missing", mark=names.get(mark, mark), count=formats.number(count))
        for mark, count in line.missing.items()
    ]
    if line.unknown_cells:
        count = formats.number(line.unknown_cells)
        parts.append(subject.label("reading_unknown", count=count))
    return (filled, formats.listed(parts))
