"""Do the results come out again: the tables read and measured anew, as it was recorded."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evalkit.verifying.checks import DIFFERS, NOT_COMPARED, SAME, Check
from evalkit.verifying.files import ROLES, recorded_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from evalkit.records import Assessment, Result
    from evalkit.release import Release
    from evalkit.targets import Profile

RELATIVE: Final = 1e-9
"""Numbers that agree so far are equal: another processor may add up in another order."""
ABSOLUTE: Final = 1e-12
_FURTHER: Final = {
    "distributions": "the distributions by variable",
    "subgroups": "the scores of the subgroups",
    "analyses": "the user's own analyses",
}
_MAY_DIFFER: Final = frozenset({"seconds", "text"})
"""Running times, and sentences: a message is compared by its code and values."""
_NAMED: Final = frozenset(
    {"notes", *(f"{role}.{field}" for role in ROLES for field in ("name", "sha256"))}
)
"""Of the release: files may have other names now, and notes hold them; hashes come before."""


def result_checks(
    assessment: Assessment,
    tables: Mapping[str, str | Path],
    progress: Callable[[int, int, str], None] | None = None,
    *,
    changed: bool = False,
) -> Iterator[Check]:
    """Measure again and compare; nothing is measured where a table is missing or another one.

    Parameters
    ----------
    assessment : Assessment
        As recorded.
    tables : mapping of str to str or pathlib.Path
        The files at hand, or addresses of databases, by role.
    progress : callable, optional
        As of `evalkit.assess`.
    changed : bool
        Whether a file is known to be another one.

    Yields
    ------
    Check
        One for the tables as read, one for each result.

    Raises
    ------
    evalkit.InputError
        If a table cannot be read with the recorded options.
    """
    missing = [role for role in recorded_tables(assessment) if role not in tables]
    if changed or missing:
        reason = "a file is another one" if changed else f"needs --{' and --'.join(missing)}"
        yield Check(NOT_COMPARED, f"the results: {reason}")
        return
    again = _measured_again(assessment, tables, progress)
    yield _release_check(assessment, again)
    for then, now in zip(assessment.scenarios(), again.scenarios(), strict=True):
        for slug, result in then.results.items():
            name = f"{slug}, scenario {then.scenario.name!r}"
            yield _result_check(name, result, now.results.get(slug))
    for part, what in _FURTHER.items():
        if getattr(assessment, part):
            yield _part_check(what, getattr(assessment, part), getattr(again, part))


def _measured_again(
    assessment: Assessment,
    tables: Mapping[str, str | Path],
    progress: Callable[[int, int, str], None] | None,
) -> Assessment:
    """Return the assessment of the tables under everything that was recorded."""
    from evalkit.assessment import assess
    from evalkit.scenario import Scenario

    scenarios = [
        Scenario(
            name=one.scenario.name,
            known=one.scenario.known,
            sensitive=one.scenario.sensitive,
            context=one.scenario.context,
            min_count=one.scenario.min_count,
            seed=one.scenario.seed,
        )
        for one in assessment.scenarios()
    ]
    return assess(
        _read_again(assessment, tables),
        scenarios,
        metrics=list(assessment.results),
        profile=_profile(assessment) or "none",
        by=assessment.subgroups.by if assessment.subgroups else "",
        analyses=[
            {"name": one.name, "kind": one.kind, "formula": one.formula}
            for one in assessment.analyses
        ]
        or None,
        # Numbers do not depend on the engine; reports of earlier versions name none.
        exact=assessment.options.get("exact") is True,
        progress=progress,
    )


def _read_again(assessment: Assessment, tables: Mapping[str, str | Path]) -> Release:
    """Return the tables, read with the recorded options."""
    from evalkit.release import load

    release = assessment.release
    taken = set(inspect.signature(load).parameters) - {"original", "avatars", "holdout"}
    options: dict[str, Any] = {
        name: value for name, value in assessment.options.items() if name in taken
    }
    options |= {"row_link": release.row_link, "axes": release.axes, "seed": release.seed}
    return load(tables["original"], tables["avatars"], tables.get("holdout"), **options)


def _profile(assessment: Assessment) -> Profile | None:
    """Return the recorded targets; those of a profile that evalkit ships come from its file."""
    from evalkit.errors import InputError
    from evalkit.targets import Profile, read_profile

    record = assessment.profile
    if record is None:
        return None
    try:
        shipped = read_profile(record.name)
    except InputError:
        shipped = None
    if shipped is not None and shipped.record.sha256 == record.sha256:
        return shipped
    kept = {slug: one for slug, one in record.targets.items() if slug not in record.unmeasured}
    return Profile(record, kept)


def _release_check(then: Assessment, now: Assessment) -> Check:
    """Compare what was read: sizes, columns, types, seeds."""
    found = next(differences(_plain(then.release), _plain(now.release), _NAMED), None)
    if found is None:
        return Check(SAME, "rows, columns and types of the tables, read again")
    return Check(DIFFERS, f"tables as read: {found}")


def _part_check(what: str, then: Any, now: Any) -> Check:
    """Compare a part of the assessment that belongs to no single measure."""
    found = next(differences(_plain(then), _plain(now)), None)
    return Check(DIFFERS, f"{what}: {found}") if found else Check(SAME, what)


def _result_check(name: str, then: Result, now: Result | None) -> Check:
    """Compare one result with the one that was measured again."""
    if now is None:
        return Check(NOT_COMPARED, f"{name}: this evalkit does not measure it there")
    if then.version != now.version:
        versions = f"version {then.version} of it, this is version {now.version}"
        return Check(NOT_COMPARED, f"{name}: the report holds {versions}")
    found = list(differences(_plain(then), _plain(now)))
    if not found:
        return Check(SAME, name)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return Check(DIFFERS, f"{name}: {found[0]}{more}")


def differences(
    then: Any, now: Any, left_out: frozenset[str] = frozenset(), place: str = ""
) -> Iterator[str]:
    """Return where two plain values differ, one line for each place.

    Parameters
    ----------
    then, now : dict, list, str, number, bool or None
        As recorded, and as measured again.
    left_out : frozenset of str
        Places that may differ, beside running times and sentences.
    place : str
        Where the values stand.

    Yields
    ------
    str
        The place, with both values where they are numbers.

    Examples
    --------
    >>> from evalkit.verifying.results import differences
    >>> list(differences({"score": 84.6, "seconds": 1.0}, {"score": 94.6, "seconds": 2.0}))
    ['score is 84.6 in the report and 94.6 when measured again']
    """
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            inner = f"{place}.{key}" if place else str(key)
            if key not in _MAY_DIFFER and inner not in left_out:
                yield from differences(then.get(key), now.get(key), left_out, inner)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, pair in enumerate(zip(then, now, strict=True), start=1):
            yield from differences(*pair, left_out, f"{place}[{number}]")
    elif _is_number(then) and _is_number(now):
        if not math.isclose(then, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{place} is {then:.6g} in the report and {now:.6g} when measured again"
    elif then != now:
        yield f"{place or 'the whole'} is another one"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(record: Any) -> Any:
    """Return a record as what its JSON holds: lists for tuples, dicts for structs."""
    return msgspec.json.decode(msgspec.json.encode(record))
