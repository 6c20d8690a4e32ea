"""``evalkit split``: set a holdout aside before the anonymisation."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand, option
from evalkit.errors import InputError, one_line

_EPILOG = """\b
Example:
  evalkit split patients.csv -o parts
Then anonymise parts/working.csv alone, and keep parts/holdout.csv for:
  evalkit assess parts/working.csv avatars.csv --holdout parts/holdout.csv
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("original")
@shared_options.output("Folder for the two files; made if needed.", required=True)
@option("--share", heading="Draw", type=float, default=0.5, help="Share held back.  [0.5]")
@option("--seed", heading="Draw", type=int, default=0, help="Seed of the draw.  [0]")
@option(
    "--individual",
    heading="Draw",
    metavar="COL",
    help="Personal key: all rows of a person stay together, and SHARE is one of persons.",
)
@option(
    "--delimiter", heading="Reading", metavar="MARK", help="Mark between cells; found if not given."
)
@option("--encoding", heading="Reading", metavar="NAME", help="Encoding; found if not given.")
def command(  # noqa: PLR0913, PLR0917 - the options of the command
    original: str,
    output: str,
    share: float,
    seed: int,
    individual: str | None,
    delimiter: str | None,
    encoding: str | None,
) -> None:
    """Hold rows of ORIGINAL back, for a reference that the anonymisation never saw.

    Writes the working and the holdout rows in the format and encoding of the input; a folder of
    Parquet or CSV files becomes two files. The draw follows the content of the rows, not their
    order.
    """
    from evalkit.running.plain_values import check_path
    from evalkit.splitting import split_file

    check_path("original", original)
    check_path("output", output)
    _refuse_existing(Path(original), Path(output))
    working, holdout, notes = split_file(
        original,
        output,
        share,
        seed,
        individual=individual,
        delimiter=delimiter,
        encoding=encoding,
    )
    for note in notes:
        click.echo(f"evalkit: {one_line(note.text)}", err=True)
    click.echo(f"{working}\n{holdout}")


def _refuse_existing(original: Path, folder: Path) -> None:
    """Refuse to replace a holdout: the avatars may rest on the first draw."""
    from evalkit.reading.cutting import cut_ending

    ending = cut_ending(original)
    for name in (f"working{ending}", f"holdout{ending}"):
        if (folder / name).exists():
            message = f"Output: {name} is already there; choose another folder or move it away."
            raise InputError(message)
