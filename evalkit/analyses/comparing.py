"""Make one analysis on every table and say whether its findings hold among the avatars.

The overlap of two intervals is the mean of the shares of both that they have in common:

    J = 1/2 * (overlap / length of the first + overlap / length of the second)

0 where they do not meet. Source: Karr, A. F., Kohnen, C. N., Oganian, A., Reiter, J. P. and Sanil,
A. P. (2006), A framework for evaluating the utility of data altered to protect confidentiality,
The American Statistician 60(3), 224-232.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.analyses.designs import NotFitted, designs, told_apart
from evalkit.analyses.fitting import fit
from evalkit.analyses.groups import are_shares, group_estimates
from evalkit.messages import say
from evalkit.record_parts import AnalysisRecord, AnalysisTerm, Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.analyses.designs import Design, Designs
    from evalkit.analyses.listing import Analysis
    from evalkit.messages import Message
    from evalkit.release import Release

    Estimates = Sequence[Estimate | None]

DIGITS = 4
"""Significant digits of every number that leaves: more would say more than an analysis can."""


def compare_analysis(
    analysis: Analysis,
    release: Release,
    min_count: int,
    unlike: Message | None = None,
    drawn: Mapping[str, NDArray[np.intp]] | None = None,
) -> AnalysisRecord:
    """Return one analysis on originals, avatars and holdout, term by term.

    Parameters
    ----------
    analysis : Analysis
    release : Release
        Working originals, their avatars and the holdout are used, every row of them but where
        `drawn` says which.
    min_count : int
        Fewest real people behind a coefficient.
    unlike : Message, optional
        That the holdout is not of the same people; noted, since it is drawn beside.
    drawn : mapping of str to ndarray of intp, optional
        Rows of ``"original"``, ``"avatars"`` or ``"holdout"`` that stand for a large table; noted.

    Returns
    -------
    AnalysisRecord
        Not applicable, with the reason, where the originals or the avatars cannot be analysed.

    Examples
    --------
    >>> import evalkit, pandas as pd
    >>> from evalkit.analyses import analysis_list, compare_analysis
    >>> table = pd.DataFrame({"age": [30, 40, 50] * 40, "sex": ["f"] * 60 + ["m"] * 60})
    >>> release = evalkit.load(table, table, holdout=table)
    >>> [analysis] = analysis_list([{"kind": "groups", "formula": "age by sex"}], release.schema)
    >>> compare_analysis(analysis, release, 11).terms[0].overlap
    1.0
    """
    tables = {
        "original": release.working,
        "avatars": release.working_avatars,
        "holdout": release.reference,
    }
    drawn = drawn or {}
    tables |= {role: tables[role].iloc[rows] for role, rows in drawn.items()}
    notes: list[Message] = [unlike] if unlike else []
    notes += [_sampled(drawn)] if drawn else []
    rows: dict[str, int] = {}
    try:
        made = designs(analysis, tables, release.schema, min_count, _persons(release, notes, drawn))
        rows = {role: one.rows for role, one in made.tables.items()}
        notes += made.notes
        found = _estimates(analysis, made, min_count, notes)
    except NotFitted as trouble:
        return _record(analysis, rows, notes, reason=trouble.reason)
    terms = [_term(name, *one) for name, *one in zip(made.names, *found, strict=True)]
    if all(term.original is None for term in terms):
        reason = say("analysis_nothing_shown", "No term can be shown for the originals.")
        return _record(analysis, rows, notes, reason=reason)
    return _record(analysis, rows, notes, terms=terms)


def _sampled(drawn: Mapping[str, NDArray[np.intp]]) -> Message:
    """Return the note that not all rows are analysed."""
    template = (
        "The tables are large: of each that has more, {rows:,} rows drawn at random are analysed, "
        "and the intervals are those of so many."
    )
    return say("analysis_sampled", template, rows=max(map(len, drawn.values())))


def _persons(
    release: Release, notes: list[Message], drawn: Mapping[str, NDArray[np.intp]]
) -> dict[str, NDArray[np.int64]]:
    """Return to whom the rows of each table of real people belong, and note what that means."""
    owners = {"original": "working", "holdout": "reference"}
    found = {role: release.persons_of(name) for role, name in owners.items()}
    several = {role: one.code for role, one in found.items() if not one.are_rows}
    if several:
        template = (
            "A person has several rows, and each counts by itself: the intervals are too narrow. "
            "What is shown rests on at least as many persons as are asked for."
        )
        notes.append(say("analysis_counts_rows", template))
    return {role: one[drawn[role]] if role in drawn else one for role, one in several.items()}


def _record(
    analysis: Analysis,
    rows: dict[str, int],
    notes: list[Message],
    *,
    reason: Message | None = None,
    terms: list[AnalysisTerm] | None = None,
) -> AnalysisRecord:
    """Return the record, measured if there are terms."""
    return AnalysisRecord(
        name=analysis.name,
        kind=analysis.kind,
        formula=analysis.text,
        status="measured" if terms else "not applicable",
        reason=reason,
        rows=rows,
        terms=terms or [],
        warnings=notes,
    )


def _estimates(
    analysis: Analysis, made: Designs, min_count: int, notes: list[Message]
) -> list[Estimates]:
    """Return the estimates of the three tables; only the holdout may lack them, with a note."""
    found: list[Estimates] = []
    shares = are_shares(made.tables["original"])
    for role, design in made.tables.items():
        fewest = 0 if role == "avatars" else min_count
        try:
            found.append(_of_table(analysis, design, fewest, shares=shares))
        except NotFitted as trouble:
            if role != "holdout":
                raise
            notes.append(trouble.reason)
            found.append([None] * len(made.names))
    return found


def _of_table(analysis: Analysis, design: Design, fewest: int, *, shares: bool) -> Estimates:
    """Return the estimates of one table; None where fewer than `fewest` rows would show."""
    if analysis.kind == "groups":
        return group_estimates(design, shares=shares and are_shares(design), fewest=fewest)
    if fewest and analysis.kind != "linear":
        told = design.event if design.event is not None else design.outcome
        if told_apart(told, design.person) < fewest:
            template = "Table {table}: fewer than {fewest} rows have the outcome, or lack it."
            raise NotFitted(say("analysis_rare_event", template, table=design.table, fewest=fewest))
    found = fit(analysis.kind, design, intercept=analysis.formula.intercept).estimates
    enough = [told_apart(column, design.person) >= fewest for column in design.matrix.T]
    return [one if shown else None for one, shown in zip(found, enough, strict=True)]


def _term(
    name: str, original: Estimate | None, avatars: Estimate | None, holdout: Estimate | None
) -> AnalysisTerm:
    """Return one term with what its estimates have in common."""
    return AnalysisTerm(
        name=name,
        original=_rounded(original),
        avatars=_rounded(avatars),
        holdout=_rounded(holdout),
        overlap=overlap(original, avatars),
        holdout_overlap=overlap(original, holdout),
        same_sign=_same_sign(original, avatars),
        same_finding=_same_finding(original, avatars),
        holdout_same_sign=_same_sign(original, holdout),
        holdout_same_finding=_same_finding(original, holdout),
    )


def overlap(first: Estimate | None, second: Estimate | None) -> float | None:
    """Return the mean share of two intervals that they have in common, 0 to 1.

    Parameters
    ----------
    first, second : Estimate, optional
        None where there is nothing to compare.

    Returns
    -------
    float or None
        0 where the intervals do not meet.

    Examples
    --------
    >>> from evalkit.analyses.comparing import overlap
    >>> from evalkit.record_parts import Estimate
    >>> overlap(Estimate(value=1, low=0, high=2), Estimate(value=2, low=1, high=5))
    0.375
    """
    if first is None or second is None:
        return None
    common = min(first.high, second.high) - max(first.low, second.low)
    lengths = (first.high - first.low, second.high - second.low)
    if min(lengths) <= 0:
        return 1.0 if first == second else 0.0
    return round(max(0.0, sum(common / length for length in lengths) / 2), DIGITS)


def _same_sign(first: Estimate | None, second: Estimate | None) -> bool | None:
    """Return whether two estimates lie on the same side of zero."""
    if first is None or second is None:
        return None
    return (first.value > 0) == (second.value > 0)


def _same_finding(first: Estimate | None, second: Estimate | None) -> bool | None:
    """Return whether both intervals exclude zero on the same side, or both hold it."""
    if first is None or second is None:
        return None
    return _finding(first) == _finding(second)


def _finding(one: Estimate) -> int:
    """Return 1 or -1 for an interval above or below zero, 0 for one that holds it."""
    return int(one.low > 0) - int(one.high < 0)


def _rounded(one: Estimate | None) -> Estimate | None:
    """Return an estimate in four significant digits."""
    if one is None:
        return None
    value, low, high = (float(f"{part:.{DIGITS}g}") for part in (one.value, one.low, one.high))
    p_value = None if one.p_value is None else float(f"{one.p_value:.{DIGITS}g}")
    return Estimate(value=value, low=low, high=high, p_value=p_value)
