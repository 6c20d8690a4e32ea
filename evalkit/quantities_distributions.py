"""One variable in all tables on the same bins, coarse enough to be shown.

Every bin that is shown holds at least `min_count` originals, and as many holdout records where
the holdout is shown. Edges are round numbers and the outer bins are open, so no least or greatest
value appears. Rare levels are shown together or not at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.engine import fold
from evalkit.quantities import cells
from evalkit.quantities_edges import date_edges, quantile_edges, round_edges
from evalkit.quantities_pieces import pieces
from evalkit.quantities_univariate import missing_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.quantities_pieces import Piece
    from evalkit.release import Release

    Counts = NDArray[np.int64]

MOST_LEVELS = 8
ROUNDING = 1e-9
CROWDED = 0.7
"""Over this share in one bin of a round grid, quantiles may part the cells better."""


@dataclass(frozen=True)
class Distribution:
    """One variable on the same bins in each table.

    Attributes
    ----------
    name, type : str
        The variable.
    levels : tuple of str
        Levels by frequency; the empty text stands for the rest taken together. Empty for numbers.
    edges : tuple of float or None
        Inner edges of a number column, ascending; a bin holds its upper edge. None for levels.
    shares : tuple of (list of float or None)
        Originals, avatars and holdout: share of the filled cells in each bin, four decimals.
    missing : tuple of (float or None)
        Share of missing cells in each table.
    hidden : str
        ``"all"`` if nothing may be shown, ``"holdout"`` if the holdout may not, else empty.
    """

    name: str
    type: str
    levels: tuple[str, ...]
    edges: tuple[float, ...] | None
    shares: tuple[list[float] | None, list[float] | None, list[float] | None]
    missing: tuple[float, float, float | None]
    hidden: str = ""

    def plain(self) -> dict[str, Any]:
        """Return what a picture needs, as plain values by the names of the archived record."""
        return {
            "name": self.name,
            "type": self.type,
            "bins": list(self.levels),
            "edges": None if self.edges is None else list(self.edges),
            **dict(zip(("original", "avatars", "holdout"), self.shares, strict=True)),
            "original_missing": self.missing[0],
            "avatars_missing": self.missing[1],
            "holdout_missing": self.missing[2],
        }

    @property
    def gap(self) -> float:
        """Half the sum of the differences of shares, originals to avatars, missing ones too."""
        first, second = self.shares[:2]
        missing = abs(self.missing[0] - self.missing[1])
        if first is None or second is None:
            return missing
        filled = math.fsum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2
        return max(filled, missing)


def distribution(release: Release, name: str, min_count: int) -> Distribution:
    """Return one variable of originals, avatars and a real holdout on bins that may be shown.

    Parameters
    ----------
    release : Release
        The tables.
    name : str
        A used column.
    min_count : int
        Fewest people of the originals, and of the holdout, in a bin that is shown. A person with
        several rows counts once over all bins, each row with its part.

    Returns
    -------
    Distribution
        A bin of avatars may hold any number of them, none too. A holdout that would cost over a
        quarter of the bins is hidden.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.quantities_distributions import distribution
    >>> table = pd.DataFrame({"town": ["Aix"] * 30 + ["Brest"] * 20 + ["Caen", "Dole"] * 6})
    >>> found = distribution(evalkit.load(table, table), "town", 11)
    >>> found.levels, found.shares[0]
    (('Aix', 'Brest', ''), [0.4839, 0.3226, 0.1935])
    """
    variable, bins = release.schema[name], _Bins.of(release, name, min_count)
    real = [bins.people[0], *bins.people[2:]]
    choose = joined_bins if variable.is_number else joined_levels
    groups, hidden = _chosen(choose(real[:1], min_count), choose(real, min_count))
    fine, edges, categories = bins.counts, bins.edges, bins.categories
    if not variable.is_number and groups and not any(one[groups[-1]].any() for one in fine):
        groups = groups[:-1]
        levels = _labels(categories, groups)
    elif not variable.is_number and groups:
        levels = (*_labels(categories, groups[:-1]), "")
    else:
        levels = ()
    shown = [None if hidden == "all" else _shares(counts, groups) for counts in fine]
    gone = bins.missing
    third = len(fine) > 2  # noqa: PLR2004 - originals and avatars are two
    return Distribution(
        name=name,
        type=variable.type,
        levels=levels,
        edges=None if edges is None else _kept_edges(edges, groups),
        shares=(shown[0], shown[1], shown[2] if third and not hidden else None),
        missing=(round(gone[0], 4), round(gone[1], 4), round(gone[2], 4) if third else None),
        hidden=hidden,
    )


@dataclass(frozen=True)
class _Bins:
    """One variable on fine bins: rows and people in each, before any are joined.

    `people` counts a person once over all bins at most, so any bins together hold at least so
    many people.
    """

    edges: NDArray[np.float64] | None
    categories: Sequence[str]
    counts: list[Counts]
    people: list[Counts]
    missing: list[float]

    @classmethod
    def of(cls, release: Release, name: str, min_count: int) -> _Bins:
        """Return the bins of originals, avatars and perhaps a holdout, in this order."""
        variable = release.schema[name]
        tables = {"original": release.original, "avatars": release.avatars}
        tables |= {} if release.holdout is None else {"holdout": release.holdout}
        edges: NDArray[np.float64] | None = None
        categories: tuple[str, ...] = ()
        if variable.is_number:
            values = cells(release.original, release.schema, name)
            filled = values[~missing_cells(values)].astype(np.float64)
            edges = _number_edges(filled, min_count, dates=variable.type == "datetime")
        else:
            categories = tuple(map(str, release.original[name].cat.categories))
        size = len(categories) if edges is None else len(edges) + 1
        found = [
            fold(
                counts_of_piece,
                pieces(table, release.schema, [name], beside=_worth(release.persons_of(role))),
                np.add,
                (name, edges, size),
            )
            for role, table in tables.items()
        ]  # each (2, bins and missing)
        return cls(
            edges,
            categories,
            [counts[0, :-1].astype(np.int64) for counts in found],
            # A sum of parts of people may err in its last digit.
            [np.floor(counts[1, :-1] + ROUNDING).astype(np.int64) for counts in found],
            [
                float(counts[0, -1]) / len(table) if len(table) else 0.0
                for counts, table in zip(found, tables.values(), strict=True)
            ],
        )


def _worth(persons: Persons) -> NDArray[np.float64] | None:
    """Return what each row counts, nothing where each is a person."""
    return None if persons.are_rows else persons.weights


def counts_of_piece(
    piece: Piece, shared: tuple[str, NDArray[np.float64] | None, int]
) -> NDArray[np.float64]:
    """Return rows, and people, in each bin of one variable: a partial.

    Parameters
    ----------
    piece : Piece
        With what each row counts beside it, or nothing where each counts 1.
    shared : tuple
        The variable, the edges of a number column or None, and the number of bins.

    Returns
    -------
    ndarray of float64, shape (2, bins + 1)
        Rows and people; the last column counts missing cells.
    """
    name, edges, size = shared
    values, worth = piece.columns[name], piece.beside
    gone = values < 0 if edges is None else missing_cells(values)
    places = values if edges is None else np.searchsorted(edges, values, side="left")
    places = np.where(gone, size, places).astype(np.intp)
    rows = np.bincount(places, minlength=size + 1).astype(np.float64)
    people = rows if worth is None else np.bincount(places, weights=worth, minlength=size + 1)
    return np.stack([rows, people])


def joined_bins(real: Sequence[Counts], min_count: int) -> list[list[int]]:
    """Return neighbouring bins joined until each holds enough records of every table.

    Parameters
    ----------
    real : sequence of ndarray
        Counts of originals and perhaps holdout in the same bins.
    min_count : int
        Fewest records of each in a bin.

    Returns
    -------
    list of list of int
        The bins in each joined one; empty where fewer than two remain.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_distributions import joined_bins
    >>> joined_bins([np.array([5, 9, 20, 4])], 11)
    [[0, 1], [2, 3]]
    """
    groups: list[list[int]] = []
    open_group: list[int] = []
    for place in range(len(real[0])):
        open_group.append(place)
        if all(int(counts[open_group].sum()) >= min_count for counts in real):
            groups.append(open_group)
            open_group = []
    if groups:
        groups[-1] += open_group
    return groups if len(groups) > 1 else []


def joined_levels(real: Sequence[Counts], min_count: int) -> list[list[int]]:
    """Return the levels that may be shown, most frequent first, and last the rest together.

    The rest, where any real record is in it, holds enough of each table and two levels of the
    originals: it takes in the least frequent level shown until it does. Otherwise the total would
    give away a rare level by subtraction.

    Parameters
    ----------
    real : sequence of ndarray
        Counts of originals and perhaps holdout in the same levels.
    min_count : int
        Fewest records of each in a level that is shown.

    Returns
    -------
    list of list of int
        One level each, but for the last, which is the rest and may be empty; an empty list where
        no level may be shown.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_distributions import joined_levels
    >>> joined_levels([np.array([20, 3, 40, 12])], 11)
    [[2], [0], [3, 1]]
    """
    order = sorted(range(len(real[0])), key=lambda place: (-int(real[0][place]), place))
    enough = [all(int(counts[place]) >= min_count for counts in real) for place in order]
    shown = [place for place, fits in zip(order, enough, strict=True) if fits][:MOST_LEVELS]
    rest = [place for place in order if place not in set(shown)]
    while shown and not _may_stand(real, rest, min_count):
        rest = [shown.pop(), *rest]
    return [*([place] for place in shown), rest] if shown else []


def _may_stand(real: Sequence[Counts], rest: list[int], min_count: int) -> bool:
    """Return whether the rest of the levels discloses nobody."""
    totals = [int(counts[rest].sum()) for counts in real]
    if any(0 < total < min_count for total in totals):
        return False
    carried = int((real[0][rest] > 0).sum())
    return carried != 1


def _number_edges(
    values: NDArray[np.float64], min_count: int, *, dates: bool
) -> NDArray[np.float64]:
    """Return round edges, or those between quantiles where they part the values better."""
    edges = date_edges(values) if dates else round_edges(values)
    counts = _counts(values, edges)
    if dates or not len(values) or counts.max() <= CROWDED * len(values):
        return edges
    others = quantile_edges(values)
    finer = joined_bins([_counts(values, others)], min_count)
    return others if len(finer) > len(joined_bins([counts], min_count)) else edges


def _counts(values: NDArray[np.float64], edges: NDArray[np.float64]) -> Counts:
    """Return how many values are in each bin; a bin holds its upper edge."""
    places = np.searchsorted(edges, values, side="left")
    return np.bincount(places, minlength=len(edges) + 1).astype(np.int64)


def _chosen(alone: list[list[int]], together: list[list[int]]) -> tuple[list[list[int]], str]:
    """Return the bins to show and what they hide."""
    if not alone:
        return [], "all"
    # A small holdout would blur the picture of the originals: it is left out instead.
    return (together, "") if 4 * len(together) >= 3 * len(alone) else (alone, "holdout")


def _shares(counts: Counts, groups: list[list[int]]) -> list[float]:
    """Return the share of a table in each group, four decimals."""
    total = max(1, int(counts.sum()))
    return [round(int(counts[group].sum()) / total, 4) for group in groups]


def _labels(levels: Sequence[str], groups: list[list[int]]) -> tuple[str, ...]:
    """Return the name of the one level in each group."""
    return tuple(levels[group[0]] for group in groups)


def _kept_edges(edges: NDArray[np.float64], groups: list[list[int]]) -> tuple[float, ...]:
    """Return the upper edges of all joined bins but the last, which is open."""
    return tuple(float(edges[group[-1]]) for group in groups[:-1])
