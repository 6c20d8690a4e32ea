"""``evalkit verify``: is a report whole, are the files those assessed, do the results hold."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand, option

_EPILOG = """\b
Examples:
  evalkit verify reports/avatars/technical_assessment.pdf
  evalkit verify assessment.json --original patients.csv --avatars avatars.csv
"""
_TABLES = "Files that were assessed"


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("report")
@option("--original", heading=_TABLES, metavar="FILE", help="The originals.")
@option("--avatars", heading=_TABLES, metavar="FILE", help="The avatars.")
@option("--holdout", heading=_TABLES, metavar="FILE", help="The holdout, if there was one.")
@shared_options.templates
@shared_options.quiet
def command(report: str, templates: str | None, *, quiet: bool, **given: str | None) -> int:
    """Check REPORT: the JSON, HTML or PDF of a Technical Assessment, signed or not.

    Compares its pages with the assessment in it, the files with their recorded SHA-256 and, with
    all files at hand, the results with those measured again. One line for each comparison; exits
    with 3 if anything differs. What could not be compared is listed and counts as no difference.
    """
    import os

    from evalkit.cli import ANSWER_IS_NO, DONE
    from evalkit.running.plain_values import check_path
    from evalkit.running.private_folders import matplotlib_folder
    from evalkit.verifying import DIFFERS, verify

    for name, path in (("report", report), ("templates", templates), *given.items()):
        check_path(name, path or "")
    tables = {role: path for role, path in given.items() if path}
    with TemporaryDirectory(prefix="evalkit-") as private:
        os.environ.update(matplotlib_folder(Path(private)))
        checks = verify(
            Path(report),
            tables,
            templates=Path(templates) if templates else None,
            progress=None if quiet else _say,
        )
    for one in checks:
        click.echo(one)
    return ANSWER_IS_NO if any(one.outcome == DIFFERS for one in checks) else DONE


def _say(done: int, total: int, label: str) -> None:
    """Say on the error stream which measure is taken again."""
    if done < total and "," not in label:
        click.echo(f"measuring again, {done + 1} of {total}: {label}", err=True)
