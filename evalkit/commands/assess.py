"""``evalkit assess``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from evalkit.commands import shared_options
from evalkit.commands.assess_options import marks
from evalkit.commands.grouped import GroupedCommand, option
from evalkit.errors import InputError, one_line
from evalkit.reading.databases import is_address, shown_address

if TYPE_CHECKING:
    from evalkit.records import Assessment

_EPILOG = """\b
Examples:
  evalkit assess patients.csv avatars.csv --holdout holdout.csv
  evalkit assess patients.csv avatars.csv --known age,sex,town --sensitive income
  evalkit assess patients.csv avatars.csv --known press=age,town --known clinic=age,sex,ward
  evalkit assess --config assessment.yaml

\b
A file for --config holds options by their long names, paths relative to the file:
  original: patients.csv
  avatars: avatars.csv
  known: {press: [age, town], clinic: [age, sex, ward]}
  declared: {purpose: teaching, release model: open file}
"""
_READING, _ATTACKER, _REPORT = "Reading the tables", "Scenario and targets", shared_options.REPORT
_COST = "Time and memory"
_COLUMNS = "Repeatable, or with commas."
GRAVE_NOTES: Final = frozenset({"identifier_shared", "mixed_types"})
"""Notes on reading that are printed below the scores: identifiers recur, a number is text."""


@click.command(cls=GroupedCommand, epilog=_EPILOG)
@click.argument("original", required=False)
@click.argument("avatars", required=False)
@option("--holdout", heading=_READING, metavar="FILE", help="Records the anonymisation never saw.")
@option("--schema", heading=_READING, metavar="FILE", help="YAML file with types of columns.")
@option("--categorical", heading=_READING, metavar="COLS", multiple=True, help=_COLUMNS)
@option("--numeric", heading=_READING, metavar="COLS", multiple=True, help=_COLUMNS)
@option("--datetime", heading=_READING, metavar="COLS", multiple=True, help=_COLUMNS)
@option(
    "--ignore",
    heading=_READING,
    metavar="COLS",
    multiple=True,
    help="Columns that no metric sees; they may be absent from any table.",
)
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
    "--row-link",
    heading=_READING,
    is_flag=True,
    default=None,
    help="Avatar i was made from original i.",
)
@option("--axes", heading=_READING, type=int, metavar="N", help="Principal axes to use.  [5]")
@option(
    "--on-mismatch",
    heading=_READING,
    metavar="HOW",
    help="If the columns differ: error, or intersect to use the common ones.  [error]",
)
@option(
    "--individual",
    heading=_READING,
    metavar="COL",
    help="Personal key of originals and holdout: persons are counted, not rows. No metric sees it.",
)
@option(
    "--known",
    heading=_ATTACKER,
    metavar="[NAME=]COLS",
    multiple=True,
    help="Columns that an attacker is taken to hold, with commas, or all; each use is a scenario "
    "of its own.  [every column]",
)
@option("--sensitive", heading=_ATTACKER, metavar="COL", help="Column whose inference is tested.")
@option(
    "--metrics",
    heading=_ATTACKER,
    metavar="SLUGS",
    multiple=True,
    help="Only these; all for every one.",
)
@option(
    "--profile",
    heading=_ATTACKER,
    metavar="NAME|FILE",
    help="Target profile that scores are judged by.  [none]",
)
@option(
    "--analysis",
    heading=_ATTACKER,
    metavar="FILE",
    help="YAML file of analyses to make on originals, avatars and holdout.",
)
@option(
    "--require-targets",
    heading=_ATTACKER,
    is_flag=True,
    default=None,
    help="Exit with 3 unless every target of the profile is met.",
)
@option(
    "--context",
    heading=_ATTACKER,
    metavar="WHO",
    help="Recipient: internal, trusted-third-party, contractual-third-party, outside-eu, public.",
)
@option(
    "--min-count",
    heading=_ATTACKER,
    type=int,
    metavar="N",
    help="Fewest people behind a level or bar that is shown.  [11]",
)
@option(
    "--by",
    heading=_ATTACKER,
    metavar="COL",
    help="Repeat all scores for each level of COL that enough people carry.",
)
@option("--seed", heading=_ATTACKER, type=int, metavar="N", help="Seed of every draw.  [0]")
@shared_options.engine(
    _COST,
    "Where the work on large tables runs: local, in one process; dask, on processes of this "
    "machine; dask://HOST:8786, on a cluster. The numbers are the same.  [local]",
)
@option(
    "--memory",
    heading=_COST,
    metavar="SIZE",
    help="Such as 4GB: larger tables are kept on disk while they are assessed.  "
    "[half of the machine's]",
)
@option(
    "--exact",
    heading=_COST,
    is_flag=True,
    default=None,
    help="Sample nothing to save time, however long it takes.",
)
@shared_options.output(
    "Folder of the report; an earlier report in it is replaced when the new one is complete.  "
    "[reports/<name of the avatars file>]"
)
@option("--title", heading=_REPORT, metavar="TEXT", help="Title of the report.")
@option("--assessor", heading=_REPORT, metavar="TEXT", help="Who assessed.")
@option("--reviewer", heading=_REPORT, metavar="TEXT", help="Who reviews.")
@option("--purpose", heading=_REPORT, metavar="TEXT", help="What the release is for.")
@option(
    "--formats",
    heading=_REPORT,
    metavar="LIST",
    multiple=True,
    help="Of html, pdf, ipynb; assessment.json is always written.  [html,pdf,ipynb]",
)
@option(
    "--annex-variables",
    heading=_REPORT,
    type=int,
    metavar="N",
    help="Distributions drawn in the annex, the most changed first.  [60]",
)
@shared_options.language
@shared_options.templates
@shared_options.sign
@option("--config", heading=_REPORT, metavar="FILE", help="YAML file with any of these options.")
@shared_options.quiet
def command(**given: Any) -> int:
    """Assess AVATARS against ORIGINAL and write a Technical Assessment.

    Reads CSV, Parquet, Feather, Excel, SAS, SPSS and Stata files, and tables of
    databases (sqlite:///FILE?table=NAME). Leaves in the folder: assessment.json,
    technical_assessment.html, .pdf and .ipynb (the notebook that was run).
    """
    from evalkit.commands.assess_options import merged

    options = merged(given)
    for name in ("original", "avatars"):
        if not options.get(name):
            raise InputError(f"{name.upper()} is not given; see 'evalkit assess --help'.")
    output = options.pop("output", None) or default_output(str(options["avatars"]))
    return assess_and_print(options, Path(output))


def default_output(avatars: str) -> str:
    r"""Return the folder of a report that was given none.

    Parameters
    ----------
    avatars : str
        Path of the avatars, or the address of a table.

    Returns
    -------
    str
        ``reports/`` and the base name without its endings, below the current folder.

    Examples
    --------
    >>> from evalkit.commands.assess import default_output
    >>> default_output("data/avatars.csv.gz").replace("\\", "/")
    'reports/avatars'
    """
    name = shown_address(avatars) if is_address(avatars) else Path(avatars).name
    stem = name.removesuffix(".gz")
    return str(Path("reports") / (Path(stem).stem or "report"))


def assess_and_print(options: dict[str, Any], output: Path) -> int:
    """Run the notebook, print scores and paths, and return the exit code.

    Parameters
    ----------
    options : dict
        Parameters of the notebook, ``quiet``, ``require_targets`` and ``sign``.
    output : pathlib.Path
        Folder of the report.

    Returns
    -------
    int
        0, or 3 if targets were required and are not all met.
    """
    from evalkit.cli import ANSWER_IS_NO, DONE
    from evalkit.commands.signed import signer_for
    from evalkit.engine import check_engine, memory_bytes
    from evalkit.given_values import shown
    from evalkit.records import Assessment
    from evalkit.report.declared import unknown_fields
    from evalkit.resources import check_language
    from evalkit.running import run
    from evalkit.running.output_folder import ASSESSMENT, REPORT_FILES
    from evalkit.running.parameters import check_formats
    from evalkit.running.score_table import score_table

    required, quiet = options.pop("require_targets", False), options.pop("quiet", False)
    if required and options.get("profile", "none") == "none":
        raise InputError("--require-targets needs targets; name a profile with --profile.")
    formats = options.get("formats", ["ipynb"])
    check_formats(formats)
    check_language(options.get("language", "en"))
    # In a cell of a notebook an empty text is the default; here it is a variable that was not set.
    memory_bytes(options.get("memory"))
    check_engine(options.get("engine", "local"))
    sign = signer_for(options.pop("sign", None), formats if "formats" in options else ["pdf"])
    found: list[Assessment] = []
    names: list[str] = []

    def look(files: Path) -> None:
        found.append(Assessment.read(files / ASSESSMENT))
        sign(files)
        names.extend(name for name in REPORT_FILES if (files / name).exists())

    keep = "ipynb" in formats
    run(options, output=output, quiet=bool(quiet), keep_notebook=keep, finished=look)
    assessment = found[0]
    for field in unknown_fields(assessment.declared):
        click.echo(
            f"evalkit: declared: {shown(field)} is no field of the report; it stands in a row of "
            "its own. docs/declaring.md lists the fields.",
            err=True,
        )
    click.echo(score_table(assessment))
    for words in grave_notes(assessment):
        click.echo(words)
    click.echo()
    for name in names:
        click.echo(output / name)
    return ANSWER_IS_NO if required and not targets_met(assessment) else DONE


def grave_notes(assessment: Assessment) -> list[str]:
    """Return what reading found that must not wait for the report: one line each."""
    from evalkit.running.plain_values import shortened

    notes = [note for one in assessment.release.variables for note in one.notes]
    return [shortened(one_line(note.text)) for note in notes if note.code in GRAVE_NOTES]


def targets_met(assessment: Any) -> bool:
    """Return whether every target of the profile is met; what was not measured does not meet it."""
    results = [pair for one in assessment.scenarios() for pair in one.results.items()]
    measured = {slug for slug, _ in results}
    return measured >= set(assessment.profile.targets) and all(
        result.verdict == "met" for _, result in results if result.target is not None
    )
