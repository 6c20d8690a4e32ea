"""``evalkit demo``: the main job on embedded data."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand

_EPILOG = """\b
Example:
  evalkit demo -o try
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@shared_options.output("Folder of the report.  [reports/demo]")
@shared_options.quiet
def command(output: str | None, *, quiet: bool) -> int:
    """Assess the embedded tables: 2,000 adults of a census, their avatars and a holdout."""
    from evalkit import demo
    from evalkit.commands.assess import assess_and_print

    paths = demo.paths()
    tables = {"original": paths.original, "avatars": paths.avatars, "holdout": paths.holdout}
    told = {"title": demo.TITLE, "declared": demo.DECLARED, "quiet": quiet}
    return assess_and_print({**tables, **told}, Path(output or "reports/demo"))
