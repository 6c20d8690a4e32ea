"""The scores of an assessment as a small table of texts, for a terminal and a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.displays.card import aligned
from evalkit.errors import one_line

if TYPE_CHECKING:
    from evalkit.records import Assessment, Result

HEAD = ("metric", "scenario", "score", "95 % interval", "target", "verdict")


def score_table(assessment: Assessment) -> str:
    """Return one aligned line for each metric and scenario, then why a metric has no verdict.

    Parameters
    ----------
    assessment : Assessment

    Returns
    -------
    str
        Without a line end. The score is the headline number of the report.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> from evalkit.running.score_table import score_table
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> found = evalkit.assess(evalkit.load(table, table, table))
    >>> score_table(found).splitlines()[0].split()[0]
    'metric'
    """
    reasons = {
        slug: result.reason.text
        for one in assessment.scenarios()
        for slug, result in one.results.items()
        if result.reason is not None
    }
    table = aligned([HEAD, *score_rows(assessment)])
    remarks = [f"{slug}: {text}" for slug, text in reasons.items()]
    return "\n".join([*table, *map(one_line, [*remarks, *_profile_remarks(assessment)])])


def _profile_remarks(assessment: Assessment) -> list[str]:
    """Return what a reader must know of the target profile."""
    profile = assessment.profile
    if profile is None:
        return []
    missing = [
        f"{slug}: {profile.name} sets a target; not measured by this version."
        for slug in profile.unmeasured
    ]
    return [*missing, *(message.text for message in profile.warnings)]


def score_rows(assessment: Assessment) -> list[tuple[str, ...]]:
    """Return one row of texts for each metric and scenario, below `HEAD`.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> from evalkit.running.score_table import score_rows
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> slugs = ["correlation_difference_ratio"]
    >>> score_rows(evalkit.assess(evalkit.load(table, table, table), metrics=slugs))[0][:3]
    ('correlation_difference_ratio', 'all columns', '100.0 %')
    """
    return [
        (slug, one_line(one.scenario.name), *_cells(result))
        for one in assessment.scenarios()
        for slug, result in one.results.items()
    ]


def _cells(result: Result) -> tuple[str, str, str, str]:
    """Return score, interval, target and verdict as text."""
    score = result.headline
    low, high = result.interval or (None, None)
    target = result.target
    return (
        "-" if score is None else f"{score:.1f} {result.unit}",
        "-" if low is None else f"{low:.1f} to {high:.1f}",
        "-" if target is None else f"{target.operator} {target.value:g}",
        result.verdict,
    )
