"""``evalkit compare``: several assessments side by side."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand

_EPILOG = """\b
Examples:
  evalkit compare k5/assessment.json k20/assessment.json -o reports/k
  evalkit compare old/assessment.json new/assessment.json -o reports/change --language fr
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("assessments", nargs=-1, required=True)
@shared_options.output("Folder for comparison.html, .pdf and .json.", required=True)
@shared_options.language
@shared_options.templates
def command(
    assessments: tuple[str, ...], output: str, language: str | None, templates: str | None
) -> None:
    """Compare two or more ASSESSMENTS, each an assessment.json; the first is the one to beat.

    Says what changed beyond its interval, and draws privacy against utility. The data are not
    needed.
    """
    import os

    from evalkit.comparing import compare
    from evalkit.report.comparison import FILES, ComparisonReport
    from evalkit.running.output_folder import check_folder
    from evalkit.running.plain_values import check_path
    from evalkit.running.private_folders import matplotlib_folder

    for name, given in (
        *(("assessment", one) for one in assessments),
        ("output", output),
        ("templates", templates),
    ):
        check_path(name, given or "")
    found = compare(list(assessments))
    check_folder(Path(output), FILES)
    with TemporaryDirectory(prefix="evalkit-") as private:
        os.environ.update(matplotlib_folder(Path(private)))
        chosen = language or found.assessments[0].language
        report = ComparisonReport(found, chosen, templates and Path(templates))
        for path in report.save(output):
            click.echo(path)
