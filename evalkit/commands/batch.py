"""``evalkit batch``: many assessments from a list."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand, option
from evalkit.errors import InputError

_EPILOG = """\b
Example:
  evalkit batch list.yaml -o reports

\b
A list holds options of 'evalkit assess' by their long names, paths relative to the file:
  defaults: {original: patients.csv, holdout: holdout.csv, profile: vendor-2026}
  assessments:
    - {name: k5, avatars: k5.csv}
    - {name: k20, avatars: k20.csv, known: "age,sex,town"}
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("listed", metavar="LIST")
@shared_options.output("Folder of the reports; each goes into a folder of its name.", required=True)
@option(
    "--jobs",
    heading="Run",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Assessments at the same time; each needs the memory of one.  [1]",
)
@shared_options.engine(
    "Run",
    "Spread whole assessments: dask, over processes of this machine; dask://HOST:8786, over the "
    "workers of a cluster, which find the tables under the same paths.  [local]",
)
@shared_options.language
@shared_options.quiet
def command(  # noqa: PLR0913 - the options
    listed: str,
    output: str,
    jobs: int | None,
    engine: str | None,
    language: str | None,
    *,
    quiet: bool,
) -> int:
    """Make every assessment in LIST, a YAML file, and a summary of all.

    What is made already of the same options and files is kept. One that fails does not stop the
    others; the command then exits with 2, else with 3 where required targets are missed.
    """
    from evalkit.batch import read_list, run_all, write_summary
    from evalkit.batch.running import FAILED
    from evalkit.cli import ANSWER_IS_NO, BAD_INPUT, DONE
    from evalkit.engine import check_engine, dashboard_words, make_engine
    from evalkit.resources import check_language
    from evalkit.running.output_folder import check_folder
    from evalkit.running.plain_values import check_path
    from evalkit.running.private_folders import matplotlib_folder

    check_path("LIST", listed)
    check_path("output", output)
    where = "local" if engine is None else engine
    check_engine(where)
    if jobs and where != "local":
        raise InputError("--jobs is for this machine alone: a cluster has as many as its workers.")
    chosen, folder = check_language(language or "en"), Path(output)
    listing = read_list(Path(listed))
    check_folder(folder, ("batch.html", "batch.csv"))

    def tell(line: str) -> None:
        if not quiet:
            click.echo(line, err=True)

    with make_engine(where) as opened:
        if words := dashboard_words(opened):
            tell(words)
        spread = None if where == "local" else opened
        done = run_all(listing, folder, workers=jobs or 1, engine=spread, tell=tell)
    with TemporaryDirectory(prefix="evalkit-") as private:
        os.environ.update(matplotlib_folder(Path(private)))
        for path in write_summary(done, folder, chosen):
            click.echo(path)
    failed = [one for one in done if one.outcome == FAILED]
    for one in failed:
        click.echo(f"evalkit: {one.job.name}: {one.reason}", err=True)
    if failed:
        return BAD_INPUT
    return ANSWER_IS_NO if any(one.targets_missed for one in done) else DONE
