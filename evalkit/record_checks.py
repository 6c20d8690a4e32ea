"""What the types of the records cannot say: words from fixed lists, sizes, orders, bounds.

A file that is read back may have been changed by hand, or be of another version.
"""

from __future__ import annotations

import math
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.record_checks_analyses import analyses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalkit.record_parts import DistributionRecord
    from evalkit.records import (
        Assessment,
        InputRecord,
        ReleaseRecord,
        Result,
        ScenarioRecord,
        Subgroup,
        SubgroupScore,
        SubgroupsRecord,
    )

_WORDS: Final[dict[str, tuple[str | None, ...]]] = {
    "section": ("privacy", "utility"),
    "basis": ("attack", "matches", "distances", "comparison"),
    "status": ("measured", "not applicable"),
    "verdict": ("met", "not met", "no target", "not applicable"),
    "unit": ("%", "avatars"),
    "direction": ("higher",),
}
_CRITERIA: Final = ("singling out", "linkability", "inference", "membership")
_LEVELS: Final = ("univariate", "bivariate", "multivariate", "individual")
_OPERATORS: Final = (">=", ">")
_GROUP_KINDS: Final = ("level", "range", "missing", "rest")
_FEWEST_IN_REST: Final = 2
_HOLDOUT_KINDS: Final = ("real", "approximate")
_HIGHEST_PERCENTAGE: Final = 200.0
"""Avatars may do better than a holdout; such a ratio is cut here by its metric."""
_ROUNDING: Final = 1e-6
_LARGEST_COUNT: Final = 1e12
_SHOWN_LETTERS: Final = 40


def check(assessment: Assessment, name: str) -> None:
    """Refuse an assessment whose values no run can have produced.

    Parameters
    ----------
    assessment : Assessment
        Of the right types.
    name : str
        Name of its file, for the message.

    Raises
    ------
    evalkit.InputError
        Naming the first field that cannot be.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.record_checks import check
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> check(evalkit.assess(evalkit.load(table, table, table)), "assessment.json")
    """
    for field, trouble in _troubles(assessment):
        message = (
            f"{name}: {field} {trouble}; the file was changed or is of another version of evalkit."
        )
        raise InputError(message)


def _troubles(assessment: Assessment) -> Iterator[tuple[str, str]]:
    """Return each field that cannot be, with what is wrong."""
    if not _is_day(assessment.created[:10]):
        yield "created", "is not a date such as 2026-11-29T19:00:00Z"
    yield from _release(assessment.release)
    seen: set[str] = set()
    for one in assessment.scenarios():
        if one.scenario.name in seen:
            yield "more_scenarios", "has two scenarios of the same name"
        seen.add(one.scenario.name)
        yield from _scenario(one.scenario)
        for slug, result in one.results.items():
            yield from ((f"results.{_short(slug)}.{key}", why) for key, why in _result(result))
    if assessment.subgroups:
        yield from _subgroups(assessment.subgroups, assessment.scenario.min_count)
    for variable in assessment.distributions:
        yield from _distribution(variable)
    yield from analyses(assessment.analyses)
    profile = assessment.profile
    for slug, target in profile.targets.items() if profile else ():
        yield from _target(f"profile.targets.{_short(slug)}", target)


def _release(release: ReleaseRecord) -> Iterator[tuple[str, str]]:
    """Check sizes and words of the tables."""
    for role in ("original", "avatars", "holdout"):
        table: InputRecord | None = getattr(release, role)
        for key in ("rows", "columns") if table else ():
            yield from _at_least(0, f"release.{role}.{key}", getattr(table, key))
        if table and table.individuals is not None:
            yield from _at_least(0, f"release.{role}.individuals", table.individuals)
    for key in ("n_working", "n_working_avatars", "n_holdout", "axes"):
        yield from _at_least(0, f"release.{key}", getattr(release, key))
    yield from _one_of(_HOLDOUT_KINDS, "release.holdout_kind", release.holdout_kind)
    for line in release.ledger:
        counts = (line.rows, line.filled, line.distinct, line.unknown_cells, *line.missing.values())
        if not all(0 <= count <= line.rows for count in counts):
            yield "release.ledger", "has a count that is none of its rows"
    for variable in release.variables:
        if not 0 <= variable.missing_share <= 1:
            yield "release.variables.missing_share", "is no share from 0 to 1"


def _distribution(found: DistributionRecord) -> Iterator[tuple[str, str]]:
    """Check one variable's shares, and that its bins and edges belong to each other."""
    for key in ("original", "avatars", "holdout"):
        shares = getattr(found, key)
        if shares is not None and len(shares) != len(found.bins):
            yield f"distributions.{key}", "has another number of shares than there are bins"
        gone = getattr(found, f"{key}_missing")
        if not all(0 <= share <= 1 for share in [*(shares or []), gone or 0.0]):
            yield f"distributions.{key}", "is no share from 0 to 1"
    if (found.original is None) != (found.avatars is None):
        yield "distributions", "shows originals or avatars alone"
    edges = found.edges or []
    if edges and len(edges) + 1 != len(found.bins):
        yield "distributions.edges", "has another number than there are gaps between the bins"
    if any(not low < high for low, high in pairwise(edges)):
        yield "distributions.edges", "does not ascend"


def _scenario(scenario: ScenarioRecord) -> Iterator[tuple[str, str]]:
    """Check the numbers of a scenario."""
    yield from _at_least(1, "scenario.min_count", scenario.min_count)


def _result(result: Result) -> Iterator[tuple[str, str]]:
    """Check one result: its words, then its numbers."""
    for key, allowed in _WORDS.items():
        yield from _one_of(allowed, key, getattr(result, key))
    privacy = result.section == "privacy"
    yield from _one_of(_CRITERIA if privacy else (None,), "criterion", result.criterion)
    yield from _one_of((None,) if privacy else (*_LEVELS, None), "level", result.level)
    yield from _numbers(result)
    if result.target:
        yield from _target("target", result.target)


def _subgroups(record: SubgroupsRecord, min_count: int) -> Iterator[tuple[str, str]]:
    """Check the groups: what may be shown of them, then their scores."""
    if len(record.groups) == 1:
        yield "subgroups.groups", "holds a single group"
    for place, group in enumerate(record.groups):
        for key, why in (*_group(group, min_count), *_group_scores(group)):
            yield f"subgroups.groups[{place}].{key}", why


def _group(group: Subgroup, min_count: int) -> Iterator[tuple[str, str]]:
    """Check the people of a group and what it is called."""
    yield from _one_of(_GROUP_KINDS, "kind", group.kind)
    yield from _at_least(min_count, "rows_original", group.rows_original)
    yield from _at_least(0, "rows_avatars", group.rows_avatars)
    if group.rows_holdout is not None:
        yield from _at_least(min_count, "rows_holdout", group.rows_holdout)
    yield from _at_least(_FEWEST_IN_REST if group.kind == "rest" else 1, "levels", group.levels)
    if group.label and group.kind != "level":
        yield "label", "stands beside a kind that has none"
    ends = [end for end in (group.low, group.high) if end is not None]
    if bool(ends) != (group.kind == "range"):
        yield "low", "and high belong to a range, and only to it"
    if len(ends) > 1 and ends[0] >= ends[1]:
        yield "high", "is not above the low end"


def _group_scores(group: Subgroup) -> Iterator[tuple[str, str]]:
    """Check the scores of a group: words, then numbers."""
    for slug, score in group.results.items():
        for key in ("status", "unit"):
            for field, why in _one_of(_WORDS[key], key, getattr(score, key)):
                yield f"results.{_short(slug)}.{field}", why
        yield from ((f"results.{_short(slug)}.{key}", why) for key, why in _numbers(score))


def _numbers(result: Result | SubgroupScore) -> Iterator[tuple[str, str]]:
    """Check the score and its interval."""
    measured = result.status == "measured"
    if measured != (result.score is not None):
        yield "score", "is missing" if measured else "stands beside 'not applicable'"
    if not measured and result.interval is not None:
        yield "interval", "stands beside 'not applicable'"
    if not measured and result.reason is None:
        yield "reason", "is missing"
    highest = _HIGHEST_PERCENTAGE if result.unit == "%" else _LARGEST_COUNT
    low, high = result.interval or (0.0, 0.0)
    for key, value in (("score", result.score or 0.0), ("interval", low), ("interval", high)):
        if not -_ROUNDING <= value <= highest + _ROUNDING:
            yield key, f"does not lie between 0 and {highest:g}"
    if low > high:
        yield "interval", "ends before it begins"


def _target(field: str, target: Any) -> Iterator[tuple[str, str]]:
    yield from _one_of(_OPERATORS, f"{field}.operator", target.operator)
    if not math.isfinite(target.value) or abs(target.value) > _LARGEST_COUNT:
        yield f"{field}.value", "is out of all bounds"


def _one_of(
    allowed: tuple[str | None, ...], field: str, value: str | None
) -> Iterator[tuple[str, str]]:
    if value not in allowed:
        words = ", ".join("null" if one is None else repr(one) for one in allowed)
        yield field, f"is none of {words}"


def _at_least(fewest: int, field: str, value: int) -> Iterator[tuple[str, str]]:
    if not fewest <= value <= _LARGEST_COUNT:
        yield field, f"is no count of at least {fewest}"


def _short(name: str) -> str:
    """Return a slug as a message may repeat it."""
    return name if len(name) <= _SHOWN_LETTERS else f"{name[:_SHOWN_LETTERS]}..."


def _is_day(text: str) -> bool:
    """Return whether a text is a day as ISO 8601 writes it."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
