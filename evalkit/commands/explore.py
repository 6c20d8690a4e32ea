"""``evalkit explore``: the exploration notebooks in JupyterLab, parameters filled in."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand, option
from evalkit.errors import InputError

_EPILOG = """\b
Examples:
  evalkit explore
  evalkit explore patients.csv avatars.csv --holdout holdout.csv
  evalkit explore patients.csv sets-made-with-other-settings -o bench --no-browser
"""
FOLDER = "explore"


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("original", required=False)
@click.argument("avatars", required=False)
@option("--holdout", heading="Tables", metavar="FILE", help="Records never anonymised.")
@option("--schema", heading="Tables", metavar="FILE", help="YAML file with types of columns.")
@shared_options.output(f"Folder of the notebooks; those that are there are kept.  [{FOLDER}]")
@option("--no-browser", heading="JupyterLab", is_flag=True, help="Print the address, open nothing.")
@option(
    "--copy-only", heading="JupyterLab", is_flag=True, help="Copy the notebooks, start nothing."
)
def command(output: str | None, *, no_browser: bool, copy_only: bool, **given: str | None) -> None:
    """Copy the exploration notebooks into a folder and open JupyterLab on it.

    ORIGINAL and AVATARS are written into their parameters, as paths seen from that folder.
    Without tables the embedded example is explored. AVATARS may be a folder of avatar sets made
    with different settings. Ends with JupyterLab, or with Ctrl-C.
    """
    from evalkit.explore.workplace import check_installed, copy_notebooks, open_lab
    from evalkit.reading.databases import is_address
    from evalkit.running.plain_values import check_path

    tables = {name: path for name, path in given.items() if path}
    if ("original" in tables) != ("avatars" in tables):
        raise InputError("Give both ORIGINAL and AVATARS, or none; see 'evalkit explore --help'.")
    for name, path in tables.items():
        if is_address(path):
            # It may hold a password, and a notebook is a file that is passed on.
            raise InputError(f"{name}: an address of a database is not written into notebooks.")
        check_path(name, path)
    folder = Path(output or FOLDER)
    check_path("output", str(folder))
    if not copy_only:
        check_installed()
    written, kept = copy_notebooks(folder, tables)
    for notebook in written:
        click.echo(notebook)
    for notebook in kept:
        click.echo(f"evalkit: {notebook.name}: is there already and was kept as it is.", err=True)
    if not copy_only:
        open_lab(folder, browser=not no_browser, tell=click.echo)
