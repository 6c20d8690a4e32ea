"""What the notebook shows beside the report: columns, scenarios, formulas with results.

Each function returns something that Jupyter displays. No cell of a table can occur in it.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

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


def tables(release: Release) -> pd.DataFrame:
    """Return the size of each table of a release and the start of its SHA-256.

    Examples
    --------
    >>> from evalkit import notebook_view, parameters
    >>> notebook_view.tables(parameters.open_release()).loc["holdout", "rows"].item()
    2000
    """
    import pandas as pd

    rows = {
        role: {
            "name": table.name,
            "rows": table.rows,
            "columns": table.columns,
            "sha256": (table.sha256 or "")[:12],
        }
        for role, table in release.inputs.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def columns(release: Release) -> pd.DataFrame:
    """Return one row for each column: type, whether it is used, share missing, notes.

    Examples
    --------
    >>> from evalkit import notebook_view, parameters
    >>> frame = notebook_view.columns(parameters.open_release())
    >>> frame.loc["age", "type"]
    'numeric'
    """
    import pandas as pd

    rows = {
        one.name: {
            "type": one.type,
            "used": "yes" if one.used else "no",
            "missing": f"{one.missing_share:.1%}",
            "notes": " ".join(note.text for note in one.notes),
        }
        for one in release.schema.variables
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def notes(release: Release) -> Sheet:
    """Return what was found and decided while reading, as a list.

    Examples
    --------
    >>> from evalkit import notebook_view, parameters
    >>> "holdout" in notebook_view.notes(parameters.open_release()).markdown
    True
    """
    kind = {
        "real": "The holdout is real: its rows were never anonymised.",
        "approximate": "No holdout was given: half of the originals stands in for one.",
    }
    lines = [kind[release.holdout_kind], *(note.text for note in release.notes)]
    return Sheet("\n".join(f"- {_text(line)}" for line in lines))


def scenario_table(scenarios: Sequence[Scenario], release: Release) -> pd.DataFrame:
    """Return one row for each scenario: what the attacker is taken to hold.

    Examples
    --------
    >>> from evalkit import notebook_view, parameters
    >>> release = parameters.open_release()
    >>> notebook_view.scenario_table(parameters.scenarios(["age,sex"]), release)["known"].iloc[0]
    'age, sex'
    """
    import pandas as pd

    settled = [one.settled(release.schema) for one in scenarios]
    rows = [
        {
            "scenario": one.name,
            "known": ", ".join(one.known or ()),
            "sensitive": one.sensitive or "",
            "recipient": one.context or "",
            "seed": one.seed,
        }
        for one in settled
    ]
    return pd.DataFrame(rows)


def scores(assessment: Assessment) -> pd.DataFrame:
    """Return the table of scores, the same as on the command line.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> from evalkit import notebook_view
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> found = evalkit.assess(evalkit.load(table, table, table))
    >>> notebook_view.scores(found)["score"].tolist()
    ['0.0 %', '100.0 %']
    """
    import pandas as pd

    from evalkit.score_table import HEAD, score_rows

    return pd.DataFrame(score_rows(assessment), columns=list(HEAD))


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
    >>> from evalkit import notebook_view
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
    from evalkit.page_text import page_part
    from evalkit.resources import folder

    name, question = page_part(slug, "Name", language), page_part(slug, "Question", language)
    formula = folder("report_templates") / "metrics" / slug / "formula.tex"
    return [f"### {name}", "", question, "", formula.read_text(encoding="utf-8").strip()]


def _outcome(scenario: str, result: Result) -> str:
    """Return one result in a line of Markdown."""
    from evalkit.score_table import headline

    shown = f"{_text(scenario)}: "
    if result.score is None:
        return shown + _text(result.reason.text if result.reason else result.status)
    shown += f"**{headline(result):.1f} {result.unit}**"
    if result.interval:
        shown += f", 95 % interval {result.interval[0]:.1f} to {result.interval[1]:.1f}"
    return f"{shown}; {result.verdict}."


def _text(value: str) -> str:
    """Return a text of the data or the user so that Markdown shows it as it is."""
    safe = html.escape(value, quote=False)
    return "".join(f"&#{ord(one)};" if one in "\\`*_[]|~$" else one for one in safe)
