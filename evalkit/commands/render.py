"""``evalkit render``: HTML and PDF from an assessment alone."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand

_EPILOG = """\b
Example:
  evalkit render reports/avatars/assessment.json -o reports/again
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("assessment")
@shared_options.output("Folder for the files; an earlier report in it is replaced.", required=True)
@shared_options.language
@shared_options.templates
@shared_options.sign
def command(
    assessment: str, output: str, language: str | None, templates: str | None, sign: str | None
) -> None:
    """Make HTML and PDF from ASSESSMENT, an assessment.json. The data are not needed.

    The JSON file is written beside them, so that the three belong together.
    """
    import os

    from evalkit.commands.signed import signer_for
    from evalkit.records import Assessment
    from evalkit.running.output_folder import check_output, publish
    from evalkit.running.plain_values import check_path
    from evalkit.running.private_folders import matplotlib_folder

    for name, given in (("assessment", assessment), ("output", output), ("templates", templates)):
        check_path(name, given or "")
    signed = signer_for(sign, ["pdf"])
    found = Assessment.read(assessment)
    check_output(Path(output))
    with (
        TemporaryDirectory(prefix="evalkit-") as scratch,
        TemporaryDirectory(prefix="evalkit-") as private,
    ):
        os.environ.update(matplotlib_folder(Path(private)))
        from evalkit.report.document import Report

        report = Report(found, language or found.language, templates and Path(templates))
        report.save(scratch, formats=("html", "pdf", "json"))
        signed(Path(scratch))
        for path in publish(Path(scratch), Path(output)):
            click.echo(path)
