"""``evalkit inspect``: what would be read as what, before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.commands.assess_options import marks
from evalkit.commands.grouped import GroupedCommand, option
from evalkit.errors import InputError, one_line

if TYPE_CHECKING:
    from evalkit.inspecting import Inspection
    from evalkit.reading.ledger import LedgerLine
    from evalkit.schema import Variable

_EPILOG = """\b
Examples:
  evalkit inspect patients.csv
  evalkit inspect patients.csv avatars.csv holdout.csv --missing '?'
Then edit the schema it wrote, and:
  evalkit assess patients.csv avatars.csv --schema patients.schema.yaml
"""
_READING = "Reading the tables"
LONGEST_NAME = 40


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True)
@option(
    "-o",
    "--output",
    heading="Schema",
    metavar="FILE",
    help="Schema to write.  [<name>.schema.yaml]",
)
@option("--schema", heading=_READING, metavar="FILE", help="YAML file with types of columns.")
@option(
    "--missing",
    heading=_READING,
    metavar="MARK",
    multiple=True,
    callback=marks,
    help="A cell that stands for missing, such as '?'. Repeatable.",
)
@option("--delimiter", heading=_READING, metavar="MARK", help="Mark between cells; else found.")
@option("--encoding", heading=_READING, metavar="NAME", help="Encoding of the files; else found.")
@option("--decimal", heading=_READING, metavar="MARK", help="Decimal mark, . or ,; else found.")
@option(
    "--on-mismatch",
    heading=_READING,
    metavar="HOW",
    help="If the columns differ: error, or intersect.  [error]",
)
def command(files: tuple[str, ...], output: str | None, **given: Any) -> None:
    """Show how FILES would be read: the originals, then the avatars, then the holdout.

    Nothing is computed, and no cell is shown. A schema to edit is written, unless one of that
    name is there.
    """
    from evalkit.inspecting import inspect
    from evalkit.running.plain_values import check_path

    for file in files:
        check_path("FILE", file)
    target = Path(output) if output else Path(f"{_stem(files[0])}.schema.yaml")
    check_path("output", str(target))
    if output and target.exists():
        raise InputError(f"{target.name}: is there already; choose another name, or remove it.")
    found = inspect(files, **{name: value for name, value in given.items() if value})
    for line in shown(found):
        click.echo(line)
    click.echo(_written(target, found.schema_yaml()))


def shown(found: Inspection) -> list[str]:
    """Return what is printed: tables, columns, then notes; one line each, no cell of any table."""
    from evalkit.running.plain_values import shortened

    lines = [
        f"{role}: {one_line(found.names[role])}, {rows:,} rows" for role, rows in found.rows.items()
    ]
    width = max((min(len(one.name), LONGEST_NAME) for one in found.schema.variables), default=0)
    lines += ["", f"{'column':{width}}  {'read as':12} {'used':5} filled, distinct; missing"]
    by_column: dict[str, list[LedgerLine]] = {}
    for line in found.ledger:
        by_column.setdefault(line.column, []).append(line)
    for variable in found.schema.variables:
        name = one_line(variable.name)[:LONGEST_NAME]
        kind = "identifier" if variable.identifier else variable.type
        cells = " | ".join(_cells(line) for line in by_column[variable.name])
        used = "yes" if variable.used else "no"
        lines.append(f"{name:{width}}  {kind:12} {used:5} {cells}")
    notes = [note.text for note in (*found.notes, *_variable_notes(found.schema.variables))]
    return [*lines, *([""] if notes else []), *(shortened(one_line(note)) for note in notes)]


def _variable_notes(variables: tuple[Variable, ...]) -> list[Any]:
    return [note for variable in variables for note in variable.notes]


def _cells(line: LedgerLine) -> str:
    """Return filled and different cells of a column in one table, and what is missing because."""
    if line.read_as == "absent":
        return "absent"
    missing = ", ".join(f"{mark} {count:,}" for mark, count in line.missing.items())
    return f"{line.filled:,}, {line.distinct:,}" + (f"; {missing}" if missing else "")


def _stem(source: str) -> str:
    """Return the name of a table without its endings."""
    from evalkit.reading.databases import is_address, shown_address

    name = shown_address(source) if is_address(source) else Path(source).name
    return name.split(".")[0] or "table"


def _written(target: Path, content: str) -> str:
    """Write the schema unless a file of that name is there; return what happened to it."""
    from evalkit.whole_files import write_whole

    if target.exists():
        return f"\n{target}: is there already and was kept; write another one with -o FILE."
    try:
        write_whole(target.parent, {target.name: content.encode()})
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(f"{target.name}: cannot be written ({reason}); choose -o FILE.") from None
    return f"\n{target}: edit it and give it with --schema."
