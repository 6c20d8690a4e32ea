"""Options that several commands take, with the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.commands.grouped import option

if TYPE_CHECKING:
    from collections.abc import Callable

REPORT = "Report"

language = option(
    "--language", heading=REPORT, metavar="CODE", help="Language of the report: en or fr.  [en]"
)
templates = option(
    "--templates",
    heading=REPORT,
    metavar="DIR",
    help="Folder with your own templates, pages or fonts; they come before those of evalkit.",
)
sign = option(
    "--sign",
    heading=REPORT,
    metavar="KEY.p12",
    help="Sign the PDF with this key; its password is asked for, or taken from "
    "EVALKIT_SIGN_PASSWORD.",
)
quiet = option("--quiet", heading=REPORT, is_flag=True, help="Show no progress.")


def output(words: str, *, required: bool = False) -> Callable[[Any], Any]:
    """Return the decorator of ``-o``/``--output`` with its help.

    Examples
    --------
    >>> from evalkit.commands import shared_options
    >>> callable(shared_options.output("Folder of the report."))
    True
    """
    return option("-o", "--output", heading=REPORT, metavar="DIR", required=required, help=words)


def engine(heading: str, words: str) -> Callable[[Any], Any]:
    """Return the decorator of ``--engine`` with its help.

    Examples
    --------
    >>> from evalkit.commands import shared_options
    >>> callable(shared_options.engine("Run", "Where the work runs."))
    True
    """
    return option("--engine", heading=heading, metavar="WHERE", help=words)
