"""From the plain values of a parameters cell to a release, scenarios, an assessment, files.

A notebook holds no logic. What its cells call to read its parameters is here: empty texts stand
for "not given", and no tables at all for the embedded ones.
"""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.running.progress import report_step, stays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.records import Assessment
    from evalkit.release import Release
    from evalkit.report.document import Report
    from evalkit.scenario import Scenario

FORMATS = ("html", "pdf", "ipynb")
STEPS_AROUND_METRICS = 2
"""Reading the tables and writing the report, beside one step for each metric."""


def open_release(original: str = "", avatars: str = "", holdout: str = "", **given: Any) -> Release:
    """Return the release of a notebook; without tables that of the embedded ones.

    Parameters
    ----------
    original, avatars, holdout : str
        Paths; all empty for the embedded tables, `holdout` alone empty for none.
    **given
        Options of `evalkit.load`; an empty text stands for its default.

    Returns
    -------
    Release

    Raises
    ------
    evalkit.InputError
        If a table or an option cannot be used, or one of the two tables is not given.

    Examples
    --------
    >>> from evalkit.running import parameters
    >>> parameters.open_release().inputs["original"].rows
    2000
    """
    from evalkit.release import load

    report_step(0, STEPS_AROUND_METRICS, "Reading the tables")
    options = {name: value for name, value in given.items() if value != ""}
    if not (original or avatars or holdout):
        from evalkit import demo

        paths = demo.paths()
        return load(paths.original, paths.avatars, paths.holdout, **options)
    for name, value in (("original", original), ("avatars", avatars)):
        if not value:
            raise InputError(f"{name}: no table is given; give the path of a file.")
    return load(original, avatars, holdout or None, **options)


def scenarios(
    known: Sequence[Any] = (), *, sensitive: str = "", context: str = "", **given: int
) -> list[Scenario]:
    """Return one scenario for each entry of `known`; without any, one that knows every column.

    Parameters
    ----------
    known : sequence
        Each entry is a text of column names with commas, ``"age,sex"`` or ``"name=age,sex"``
        (a name that holds a comma or ``=`` stands in double quotation marks), a list of names,
        or a dict ``{name: [names]}``.
    sensitive, context : str
        As in `Scenario`; empty for none.
    **given
        ``min_count`` and ``seed`` of `Scenario`.

    Returns
    -------
    list of Scenario

    Raises
    ------
    evalkit.InputError
        If an entry has another form or no column.

    Examples
    --------
    >>> from evalkit.running import parameters
    >>> [one.known for one in parameters.scenarios(["age,sex", "clinic=age,town"])]
    [('age', 'sex'), ('age', 'town')]
    """
    from evalkit.scenario import Scenario

    everything: list[tuple[str, tuple[str, ...] | None]] = [("", None)]
    pairs = [pair for entry in known for pair in _named(entry)] or everything
    return [
        Scenario(
            name=name, known=columns, sensitive=sensitive or None, context=context or None, **given
        )
        for name, columns in pairs
    ]


def names(text: str) -> list[str]:
    """Return the column names in a text with commas; double quotation marks protect a comma.

    Examples
    --------
    >>> from evalkit.running.parameters import names
    >>> names('age, "height, cm",sex')
    ['age', 'height, cm', 'sex']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True))
    except csv.Error:
        message = "A list of names with commas cannot be read: a name is too long or not closed."
        raise InputError(message) from None
    return [name.strip() for row in rows for name in row if name.strip()]


def assess(  # noqa: PLR0913 - the lines of the parameters cell
    release: Release,
    scenario: Sequence[Scenario],
    *,
    metrics: Sequence[str] = (),
    profile: str = "none",
    by: str = "",
    analysis: Any = "",
    purpose: str = "",
    declared: dict[str, Any] | None = None,
    annex_variables: int = 60,
    engine: str = "local",
    exact: bool = False,
    **given: str,
) -> Assessment:
    """Return the assessment of a notebook, telling its progress to a process that waits.

    Parameters
    ----------
    release : Release
        From `open_release`.
    scenario : list of Scenario
        From `scenarios`.
    metrics : sequence of str
        Slugs; empty for all.
    profile : str
        Name of a target profile or path of a YAML file.
    by : str
        Column of the groups that scores are repeated for; empty for none.
    analysis : str or list
        Path of a YAML file of analyses, or the list itself; empty for none.
    purpose : str
        What the release is for; goes to `declared`.
    declared : dict, optional
        What the controller declares; printed, not verified.
    annex_variables : int
        How many distributions the report's annex draws, the most changed first.
    engine : str
        Where the work runs; empty for this process.
    exact : bool
        Whether nothing is sampled to save time.
    **given
        ``title``, ``assessor``, ``reviewer`` and ``language`` of `evalkit.assess`.

    Returns
    -------
    Assessment

    Examples
    --------
    >>> from evalkit.running import parameters
    >>> release = parameters.open_release()
    >>> found = parameters.assess(release, parameters.scenarios(), purpose="teaching")
    >>> found.declared
    {'purpose': 'teaching'}
    """
    from evalkit.assessment import assess as assess_release

    return assess_release(
        release,
        scenario,
        metrics=list(metrics) or None,
        profile=profile or "none",
        by=by,
        declared={**(declared or {}), **({"purpose": purpose} if purpose else {})},
        options={
            "metrics": list(metrics),
            "profile": Path(profile).name,
            "by": by,
            "annex_variables": annex_variables,
            "analysis": Path(analysis).name if isinstance(analysis, str) else analysis,
        },
        analyses=analysis or None,
        engine=engine or "local",
        exact=exact,
        progress=_next_step,
        **given,
    )


def save(report: Report, output: str, formats: Sequence[str] = FORMATS) -> list[str]:
    """Write the assessment and the report; return the names of the files.

    Parameters
    ----------
    report : Report
        What is written; ``assessment.json`` always is.
    output : str
        Folder; an earlier report in it is replaced when all files are made. Empty: nothing is
        written.
    formats : sequence of str
        Of `FORMATS`; ``ipynb``, the executed notebook, is left to whoever runs the notebook.

    Returns
    -------
    list of str

    Raises
    ------
    evalkit.InputError
        If a format does not exist or the folder cannot be used.

    Examples
    --------
    >>> from evalkit.running import parameters
    >>> parameters.save(None, output="")
    []
    """
    from evalkit.running.output_folder import check_output, publish

    check_formats(formats)
    if not output:
        return []
    check_output(Path(output))
    with TemporaryDirectory(prefix="evalkit-") as scratch:
        report.save(scratch, formats=("json", *(one for one in formats if one != "ipynb")))
        return [path.name for path in publish(Path(scratch), Path(output))]


def check_formats(formats: Sequence[str]) -> None:
    """Refuse a format that does not exist.

    Raises
    ------
    evalkit.InputError
        Naming it and those that exist.
    """
    for one in formats:
        if one not in FORMATS:
            raise InputError(f"formats: {one!r} is unknown; use some of: {', '.join(FORMATS)}.")


def _next_step(done: int, total: int, label: str) -> None:
    """Tell the step of a metric, counted with those around the metrics."""
    words = "Writing the report" if done == total else label
    if not stays(label):
        words = words.replace("_", " ")
    report_step(done + 1, total + STEPS_AROUND_METRICS, words)


def _named(entry: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Return the scenarios in one entry of `known` as names and columns."""
    if isinstance(entry, dict):
        return [(str(name), _columns(columns)) for name, columns in entry.items()]
    if not isinstance(entry, str) or entry.lstrip().startswith('"') or "=" not in entry:
        return [("", _columns(entry))]
    name, _, columns = entry.partition("=")
    return [(name.strip(), _columns(columns))]


def _columns(given: Any) -> tuple[str, ...]:
    """Return the columns of one scenario; refuse what is neither a text nor a list of texts."""
    columns = names(given) if isinstance(given, str) else given
    if not isinstance(columns, list | tuple) or not all(isinstance(one, str) for one in columns):
        raise InputError('known: give texts such as "age,sex" or "clinic=age,sex".')
    if not columns:
        raise InputError("known: an entry names no column; name one or leave the entry out.")
    return tuple(columns)
