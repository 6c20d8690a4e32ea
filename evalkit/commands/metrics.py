"""``evalkit metrics``: the catalogue, or one metric's page as text."""

from __future__ import annotations

import click

from evalkit.commands import shared_options
from evalkit.commands.grouped import GroupedCommand

_EPILOG = """\b
Examples:
  evalkit metrics
  evalkit metrics correlation_difference_ratio
"""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("slug", required=False)
@shared_options.language
def command(slug: str | None, language: str | None) -> None:
    """List the metrics, or explain the one called SLUG.

    The page says what a metric asks, how it is computed, how to read it and what it cannot tell.
    """
    from evalkit import metrics
    from evalkit.report.page_text import catalogue, page_text
    from evalkit.resources import check_language

    chosen = check_language(language or "en")
    click.echo(page_text(metrics.get(slug).slug, chosen) if slug else catalogue(chosen))
