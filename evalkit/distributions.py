"""Each used variable of a release as a record: the same bins in every table, worst first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evalkit.given_values import whole_number
from evalkit.messages import say
from evalkit.quantities_distributions import distribution
from evalkit.record_parts import DistributionRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.messages import Message
    from evalkit.quantities_distributions import Distribution
    from evalkit.release import Release

ANNEX = "annex_variables"
MOST_VARIABLES = 100_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def distribution_records(release: Release, min_count: int) -> list[DistributionRecord]:
    """Return one record for each used variable, the one that changed most first.

    Parameters
    ----------
    release : Release
        All originals, all avatars and a real holdout; half of the originals is no third table.
    min_count : int
        Fewest originals, and fewest holdout records, in a bin that is shown.

    Returns
    -------
    list of DistributionRecord
        By half the sum of the differences of shares between originals and avatars, then by name.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.distributions import distribution_records
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 20})
    >>> distribution_records(evalkit.load(table, table), 11)[0].bins
    ['up to 20', 'over 20 to 30', 'over 30 to 40', 'over 40']
    """
    found = [distribution(release, name, min_count) for name in release.schema.used_names()]
    ordered = sorted(found, key=lambda one: (-one.gap, one.name))
    return [_record(one, min_count) for one in ordered]


def check_annex(options: Mapping[str, Any]) -> None:
    """Refuse a number of variables for the report's annex that is none.

    Raises
    ------
    evalkit.InputError
        If it is given and no whole number from 0 on.

    Examples
    --------
    >>> from evalkit.distributions import check_annex
    >>> check_annex({"annex_variables": 200})
    """
    if ANNEX in options:
        whole_number(ANNEX, options[ANNEX], 0, MOST_VARIABLES)


def _record(found: Distribution, min_count: int) -> DistributionRecord:
    """Return one variable as it is archived."""
    return DistributionRecord(
        name=found.name,
        type=found.type,
        bins=_ranges(found) if found.edges is not None else list(found.levels),
        edges=None if found.edges is None else list(found.edges),
        original=found.shares[0],
        avatars=found.shares[1],
        holdout=found.shares[2],
        original_missing=found.missing[0],
        avatars_missing=found.missing[1],
        holdout_missing=found.missing[2],
        reason=_reason(found, min_count),
    )


def _ranges(found: Distribution) -> list[str]:
    """Return the bins of a number column in words; a bin holds its upper edge."""
    if not found.edges:
        return []
    marks = [_mark(edge, found.type) for edge in found.edges]
    inner = [f"over {low} to {high}" for low, high in pairwise(marks)]
    return [f"up to {marks[0]}", *inner, f"over {marks[-1]}"]


def _mark(edge: float, kind: str) -> str:
    """Return an edge as text: a date is the last one that the bin holds."""
    if kind != "datetime":
        return f"{edge:.15g}"
    try:
        moment = EPOCH + timedelta(seconds=edge)
    except OverflowError:
        return f"{edge:.15g}"
    whole_day = (moment.hour, moment.minute, moment.second) == (23, 59, 59)
    return f"{moment:%Y-%m-%d}" if whole_day else f"{moment:%Y-%m-%d %H:%M:%S}"


def _reason(found: Distribution, min_count: int) -> Message | None:
    """Return why a variable or its holdout is not shown, or nothing."""
    if found.hidden == "all":
        return say(
            "distribution_hidden",
            "No two bins hold at least {min_count} originals each; nothing is shown.",
            min_count=min_count,
        )
    if found.hidden == "holdout":
        return say(
            "distribution_holdout_hidden",
            "The holdout has under {min_count} records in too many bins; it is not shown.",
            min_count=min_count,
        )
    return None
