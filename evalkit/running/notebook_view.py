"""What the notebook shows beside the report: columns, scenarios, formulas with results.

Each function returns something that Jupyter displays. No cell of a table can occur in it.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.records import Assessment, Result
    from evalkit.release import Release
    from evalkit.scenario import Scenario


@dataclass(frozen=True)
class Sheet:
    """A text that Jupyter shows as Markdown, with formulas set; a terminal shows the source."""

    markdown: str

    def _repr_markdown_(self) -> str:
        """Return the Markdown for Jupyter."""
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown


@dataclass(frozen=True)
class Grid:
    """A table of texts that Jupyter shows whole, left-aligned, every text escaped.

    A frame would cut long notes and put them on the right.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def _repr_html_(self) -> str:
        """Return the table for Jupyter."""
        head = _html_row("th", self.head)
        body = "".join(_html_row("td", row) for row in self.rows)
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        from evalkit.displays.card import aligned

        return "\n".join(aligned([self.head, *self.rows]))


def _html_row(tag: str, cells: Sequence[str]) -> str:
    """Return one row of a table; the style stands in each cell, for Jupyter has its own."""
    style = "text-align: left; white-space: normal; vertical-align: top; max-width: 42em"
    inner = "".join(f'<{tag} style="{style}">{html.escape(cell)}</{tag}>' for cell in cells)
    return f"<tr>{inner}</tr>"


def tables(release: Release) -> Grid:
    """Return the size of each table of a release and the start of its SHA-256.

    Examples
    --------
    >>> from evalkit.running import notebook_view, parameters
    >>> notebook_view.tables(parameters.open_release()).rows[2][:3]
    ('holdout', 'holdout.csv.gz', '2,000')
    """
    rows = [
        (role, one.name, f"{one.rows:,}", f"{one.columns:,}", (one.sha256 or "")[:12])
        for role, one in release.inputs.items()
    ]
    return Grid(("table", "file", "rows", "columns", "SHA-256 begins"), tuple(rows))


def columns(release: Release) -> Grid:
    """Return one row for each column: type, whether it is used, share missing, notes.

    Examples
    --------
    >>> from evalkit.running import notebook_view, parameters
    >>> notebook_view.columns(parameters.open_release()).rows[0][:3]
    ('age', 'numeric', 'yes')
    """
    rows = [
        (
            one.name,
            one.type,
            "yes" if one.used else "no",
            f"{one.missing_share:.1%}",
            " ".join(note.text for note in one.notes),
        )
        for one in release.schema.variables
    ]
    return Grid(("column", "type", "used", "missing", "notes"), tuple(rows))


def notes(release: Release) -> Sheet:
    """Return what was found and decided while reading, as a list.

    Examples
    --------
    >>> from evalkit.running import notebook_view, parameters
    >>> "holdout" in notebook_view.notes(parameters.open_release()).markdown
    True
    """
    kind = {
        "real": "The holdout is real: its rows were never anonymised.",
        "approximate": "No holdout was given: half of the originals stands in for one.",
    }
    lines = [kind[release.holdout_kind], *(note.text for note in release.notes)]
    return Sheet("\n".join(f"- {_text(line)}" for line in lines))


def scenario_table(scenarios: Sequence[Scenario], release: Release) -> Grid:
    """Return one row for each scenario: what the attacker is taken to hold.

    Examples
    --------
    >>> from evalkit.running import notebook_view, parameters
    >>> release = parameters.open_release()
    >>> notebook_view.scenario_table(parameters.scenarios(["age,sex"]), release).rows[0][:2]
    ('known columns', 'age, sex')
    """
    rows = [
        (
            one.name,
            ", ".join(one.known or ()),
            one.sensitive or "none",
            one.context or "not declared",
            str(one.seed),
        )
        for one in (given.settled(release.schema) for given in scenarios)
    ]
    return Grid(("scenario", "known columns", "sensitive column", "recipient", "seed"), tuple(rows))


def scores(assessment: Assessment) -> Grid:
    """Return the table of scores, the same as on the command line.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> from evalkit.running import notebook_view
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> slugs = ["linkability_protection_rate", "correlation_difference_ratio"]
    >>> found = evalkit.assess(evalkit.load(table, table, table), metrics=slugs)
    >>> [row[2] for row in notebook_view.scores(found).rows]
    ['0.0 %', '100.0 %']
    """
    from evalkit.running.score_table import HEAD, score_rows

    return Grid(HEAD, tuple(score_rows(assessment)))


def formulas(assessment: Assessment) -> Sheet:
    """Return each metric with its question, its formula and its results.

    Parameters
    ----------
    assessment : Assessment

    Returns
    -------
    Sheet
        Markdown; formulas in LaTeX, from the metrics' page folders.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> from evalkit.running import notebook_view
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> found = evalkit.assess(evalkit.load(table, table, table))
    >>> "$$" in notebook_view.formulas(found).markdown
    True
    """
    parts = []
    for slug in assessment.results:
        parts += [*_introduction(slug, assessment.language), ""]
        for one in assessment.scenarios():
            if slug in one.results:
                parts += [f"- {_outcome(one.scenario.name, one.results[slug])}"]
        parts += [""]
    return Sheet("\n".join(parts))


def _introduction(slug: str, language: str) -> list[str]:
    """Return name, question and formula of a metric as lines of Markdown."""
    from evalkit.report.page_text import latex, page_part

    name, question = page_part(slug, "Name", language), page_part(slug, "Question", language)
    return [f"### {name}", "", question, "", latex(slug, language)]


def _outcome(scenario: str, result: Result) -> str:
    """Return one result in a line of Markdown."""
    shown = f"{_text(scenario)}: "
    if result.score is None:
        return shown + _text(result.reason.text if result.reason else result.status)
    shown += f"**{result.headline:.1f} {result.unit}**"
    if result.interval:
        shown += f", 95 % interval {result.interval[0]:.1f} to {result.interval[1]:.1f}"
    return f"{shown}; {result.verdict}."


def _text(value: str) -> str:
    """Return a text of the data or the user so that Markdown shows it as it is."""
    safe = html.escape(value, quote=False)
    return "".join(f"&#{ord(one)};" if one in "\\`*_[]|~$" else one for one in safe)
