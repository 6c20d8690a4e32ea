"""Groups of people by one column, none of them so small that it tells of its members."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown, text
from evalkit.messages import say
from evalkit.scenario import check_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.messages import Message
    from evalkit.release import Release

    Rows = NDArray[np.bool_]

MOST_GROUPS = 20
FEWEST_GROUPS = 2
FEWEST_IN_REST = 2
STEPS_IN_SPREAD = 8
"""Edges are rounded to a step of which the middle half of the values holds at least so many."""
MISSING = -1


@dataclass(frozen=True, eq=False)
class Group:
    """The rows of every table that belong to one group.

    Attributes
    ----------
    kind : str
        As in `Subgroup`.
    rows : dict of str to ndarray of bool
        Of ``"original"``, ``"avatars"`` and perhaps ``"holdout"``.
    people : int
        In the originals.
    strangers : int, optional
        People in the holdout; None without a real one.
    label : str
        The level, for the kind ``"level"``.
    levels : int
        How many levels of the originals it holds.
    low, high : float, optional
        Ends of a range.
    """

    kind: str
    rows: dict[str, Rows]
    people: int
    strangers: int | None = None
    label: str = ""
    levels: int = 1
    low: float | None = None
    high: float | None = None


def check_by(by: object, release: Release) -> str:
    """Return the column of the groups, or the empty text for none.

    Raises
    ------
    evalkit.InputError
        If there is no such column, no metric sees it, or it holds dates.
    """
    name = text("by", by or "")
    if not name:
        return ""
    check_columns("--by", (name,), release.schema)
    if release.schema[name].type == "datetime":
        message = (
            f"--by: column {shown(name)} holds dates; add a column such as the year to all "
            "tables, or choose another."
        )
        raise InputError(message)
    return name


def groups_of(
    release: Release, by: str, min_count: int
) -> tuple[tuple[Group, ...], tuple[Message, ...]]:
    """Return the groups by one column, and what must be said of how they were made.

    Parameters
    ----------
    release : Release
        With that column in use.
    by : str
        Levels of a categorical or boolean column; a numeric one is cut near its quartiles.
    min_count : int
        Fewest people of the originals in a group. Rarer levels are taken together; what they
        make up must reach it too and hold two levels, else the next smallest level joins.

    Returns
    -------
    groups : tuple of Group
        In the order of levels or ranges, then missing, then the rest; none with fewer than two.
    notes : tuple of Message
    """
    numeric = release.schema[by].is_number
    groups, notes = (_ranges if numeric else _levels)(release, by, min_count)
    if len(groups) < FEWEST_GROUPS:
        return (), (*notes, _no_groups(by, min_count))
    return tuple(groups), tuple(notes)


def _levels(release: Release, by: str, min_count: int) -> tuple[list[Group], list[Message]]:
    """Return one group for each frequent level, and the rare ones together."""
    tables = {role: frame[by].cat.codes.to_numpy() for role, frame in _frames(release).items()}
    names = list(release.original[by].cat.categories)

    def group(kind: str, codes: Iterable[int], label: str = "") -> Group:
        wanted = sorted(codes)
        rows = {role: _isin(found, wanted) for role, found in tables.items()}
        return _group(release, kind, rows, label=label, levels=len(wanted))

    people = _people(release, tables["original"])
    present = sorted(people)
    # The largest first; the order of names settles ties.
    ordered = sorted(present, key=lambda code: (-people[code], code))
    kept = [code for code in ordered if people[code] >= min_count]
    notes = [_cut(by)] if len(kept) > MOST_GROUPS else []
    kept = kept[:MOST_GROUPS]
    rest = [code for code in ordered if code not in kept]
    while rest and kept and not _is_enough(group("rest", rest), min_count):
        rest.append(kept.pop())
    groups = [group("level", [code], str(names[code])) for code in sorted(kept) if code >= 0]
    if MISSING in kept:
        groups.append(group("missing", [MISSING]))
    if rest:
        groups.append(_with_unknown(release, group("rest", rest), groups))
    return groups, notes


def _people(release: Release, codes: NDArray[np.integer]) -> dict[int, int]:
    """Return how many people of the originals carry each level, or lack one."""
    import numpy as np

    persons, shifted = release.persons_of("original"), codes.astype(np.int64) + 1
    if not persons.are_rows:  # each person once a level
        pairs = np.unique(shifted * persons.count + persons.code)
        shifted = pairs // persons.count
    counts = np.bincount(shifted)
    return {int(place) - 1: int(counts[place]) for place in np.flatnonzero(counts)}


def _with_unknown(release: Release, rest: Group, others: Sequence[Group]) -> Group:
    """Return the rest with all rows that no other group holds: levels of no original too."""
    rows = {}
    for role, own in rest.rows.items():
        taken = own & False
        for other in others:
            taken |= other.rows[role]
        rows[role] = ~taken
    return _group(release, "rest", rows, levels=rest.levels)


def _is_enough(rest: Group, min_count: int) -> bool:
    """Return whether rare levels taken together hide each other (report.md 2.1)."""
    return rest.people >= min_count and rest.levels >= FEWEST_IN_REST


def _ranges(release: Release, by: str, min_count: int) -> tuple[list[Group], list[Message]]:
    """Return one group for each range between coarse edges near the quartiles."""
    import numpy as np

    tables = {role: frame[by].to_numpy(np.float64) for role, frame in _frames(release).items()}
    values = tables["original"]
    edges = _coarse_edges(values[~np.isnan(values)])

    def groups() -> list[Group]:
        ends = [None, *edges, None]
        found = []
        for low, high in itertools.pairwise(ends):
            rows = {role: _within(cells, low, high) for role, cells in tables.items()}
            found.append(_group(release, "range", rows, low=low, high=high))
        return found

    while edges and min(group.people for group in groups()) < min_count:
        small = min(range(len(edges) + 1), key=lambda place: groups()[place].people)
        edges.pop(max(0, small - 1))
    found = groups()
    missing = {role: np.isnan(cells) for role, cells in tables.items()}
    unknown = _group(release, "missing", missing)
    if unknown.people >= min_count:
        found.append(unknown)
    return found, [_cut_near_quartiles(by)]


def _coarse_edges(values: NDArray[np.float64]) -> list[float]:
    """Return the quartiles on a coarse grid of steps 1, 2 or 5 times a power of ten."""
    import numpy as np

    if not len(values):
        return []
    quartiles = np.quantile(values, [0.25, 0.5, 0.75])
    spread = float(quartiles[2] - quartiles[0])
    if spread <= 0 or not math.isfinite(spread):
        return []
    power = 10.0 ** math.floor(math.log10(spread / STEPS_IN_SPREAD))
    step = max(times * power for times in (1, 2, 5) if times * power <= spread / STEPS_IN_SPREAD)
    edges = {float(f"{round(float(one) / step) * step:.12g}") for one in quartiles}
    return sorted(edges)


def _within(cells: NDArray[np.float64], low: float | None, high: float | None) -> Rows:
    """Return which cells lie from `low` to under `high`; a missing cell lies nowhere."""
    import numpy as np

    above = cells >= low if low is not None else ~np.isnan(cells)
    found: Rows = above & (cells < high) if high is not None else above
    return found


def _frames(release: Release) -> dict[str, Any]:
    """Return the tables by their roles; the holdout only where it is real."""
    tables = {"original": release.original, "avatars": release.avatars, "holdout": release.holdout}
    return {role: frame for role, frame in tables.items() if frame is not None}


def _isin(codes: NDArray[np.generic], wanted: Sequence[int]) -> Rows:
    import numpy as np

    found: Rows = np.isin(codes, wanted)
    return found


def _group(release: Release, kind: str, rows: dict[str, Rows], **what: Any) -> Group:
    """Return a group with its people counted, who may have several rows each."""
    people = {
        role: release.persons_of(role).count_of(kept)
        for role, kept in rows.items()
        if role != "avatars"
    }
    return Group(kind, rows, people["original"], people.get("holdout"), **what)


def _no_groups(by: str, min_count: int) -> Message:
    return say(
        "no_groups",
        "{by} has no two groups of at least {min_count} people that may be told apart, so nothing "
        "is shown by it.",
        by=by,
        min_count=min_count,
    )


def _cut(by: str) -> Message:
    return say(
        "groups_cut",
        "{by} has many levels: the {shown} most frequent are shown, all others together.",
        by=by,
        shown=MOST_GROUPS,
    )


def _cut_near_quartiles(by: str) -> Message:
    return say(
        "near_quartiles",
        "{by} is a number: its people are in up to four groups, cut near the quartiles at round "
        "numbers.",
        by=by,
    )
