"""How often an original finds its own avatar by Gower's distance, where the rows are linked.

Where a person has several rows, any avatar made from one of them is the person's own, and persons
are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.engine import limits
from evalkit.intervals import wilson
from evalkit.kernels import Column, own_distances
from evalkit.kernels.answers import answered_share
from evalkit.persons import numbered
from evalkit.quantities import TIE, cells, ranges
from evalkit.quantities_asked import Asked
from evalkit.quantities_linked import linked_order
from evalkit.quantities_searching import Search
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.kernels import NearestSets
    from evalkit.quantities_searching import QueryPiece
    from evalkit.release import Release


@dataclass(frozen=True, eq=False)
class OwnHits:
    """How likely each original finds its own avatar by Gower's distance on some variables.

    Of a person with several rows each attribute is their mean.

    Attributes
    ----------
    probability : ndarray of float64, shape (n,)
        Part of the nearest avatars that is the person's own.
    among : ndarray of float64, shape (n,)
        Whether an own avatar is among the nearest ones.
    size : ndarray of float64, shape (n,)
        How many avatars are nearest.
    copy_share : float
        Mean probability had the avatars been a perfect copy of the originals.
    people : int
        How many originals, or persons, there are; n are asked.
    """

    probability: NDArray[np.float64]
    among: NDArray[np.float64]
    size: NDArray[np.float64]
    copy_share: float
    people: int

    @property
    def share(self) -> float:
        """Expected share of originals that find their own avatar, 0 to 1."""
        return _mean(self.probability)

    def facts(self, names: Sequence[str], n_avatars: int) -> dict[str, Any]:
        """Return the facts of the attack on the variables `names`; it has no control."""
        n = len(self.probability)
        others = min(self.people, n_avatars)  # persons, or avatars
        return {
            "n_original": self.people,
            "n_avatars": n_avatars,
            "variables": list(names),
            "n_variables": len(names),
            "ties_as_hits": 100 * (1 - float(self.among.mean())),
            "mean_tie_set": math.fsum(self.size) / n,
            "self_score": 100 * (1 - self.copy_share),
            "floor_score": 100 * (1 - 1 / others),
            "attempts": n,
            "success_share": self.share,
            "success_interval": list(wilson(n * self.share, n)),
            "naive_share": 1 / others,
            "control_attempts": None,
            "control_share": None,
            "control_interval": None,
            "excess": None,
            "excess_interval": None,
            "detectable_excess": None,
            **({"sample": n} if n < self.people else {}),
        }


def own_hits(release: Release, names: Sequence[str], seed: int) -> OwnHits:
    """Return how likely each original finds its own avatar as the nearest on `names`.

    Parameters
    ----------
    release : Release
        With linked rows.
    names : sequence of str
        Used columns, at least one.
    seed : int
        Of the scenario: it draws a sample of the originals where all would take too long.

    Returns
    -------
    OwnHits
        Ranges are those of the real records, and a difference counts at most 1.
    """
    asked = _asked(release, stream(seed, "originals that look for their own avatar"))
    share, size = _own_share(release, release.avatars, names, asked)
    persons, copied = asked.persons, _own_share(release, release.original, names, asked)[0]
    return OwnHits(
        persons.means(share),
        persons.means(share > 0),
        persons.means(size),
        _mean(persons.means(copied)),
        release.persons_of("original").count,
    )


def _asked(release: Release, rng: np.random.Generator) -> Asked:
    """Return all originals, or a sample where all would take too long.

    Equal originals may have different avatars: the order of a draw is that of both.
    """
    whole = Asked.of(release, "original")
    most = limits().queries(len(whole.table), len(release.avatars))
    if len(whole.table) <= most:
        return whole
    order, persons = linked_order(release), whole.persons
    if not persons.are_rows:
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        persons = numbered(persons.code, place)
    rows = np.sort(persons.drawn(order, most, rng))
    return Asked(whole.table, rows, whole.persons.part(rows))


def _own_share(
    release: Release, targets: pd.DataFrame, names: Sequence[str], asked: Asked
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return which part of the nearest targets of each row is its person's own, and their number.

    Rows of `targets` and of the originals belong together.
    """
    schema, persons = release.schema, release.persons_of("original")
    real = [release.original, *([] if release.holdout is None else [release.holdout])]
    scale = ranges(schema, real, names)
    search = Search(schema, [release.original], targets, scale, capped=True)
    rows = np.asarray(asked.places)
    if not persons.are_rows:
        code = persons.code
        beside, places = {"own": code[rows]}, asked.places
        found = search.answers(names, share_of_own, places=places, beside=beside, shared=code)
        return found["share"], found["size"]
    found = search.answers(names, reach_of_nearest, places=asked.places)
    columns = []
    for name in sorted(names):
        both = [cells(table, schema, name)[rows] for table in (release.original, targets)]
        low, high = scale.get(name) or (None, None)
        columns.append(Column(both[0], both[1], schema[name].is_number, low, high))
    own = own_distances(columns, capped=True) <= found["distance"] + TIE
    return own / found["size"], found["size"]


def reach_of_nearest(sets: NearestSets, piece: QueryPiece) -> dict[str, NDArray[Any]]:
    """Return how far the nearest targets of each query of a piece are, and how many."""
    del piece
    return {"distance": sets.distance, "size": sets.size}


def share_of_own(sets: NearestSets, piece: QueryPiece) -> dict[str, NDArray[Any]]:
    """Return which part of the nearest targets of each query of a piece is its person's own."""
    own: Any = piece.beside["own"]
    return {"share": answered_share(sets, piece.shared, own, own), "size": sets.size}


def _mean(shares: NDArray[np.float64]) -> float:
    """Return the mean, the same for any order."""
    return math.fsum(shares) / len(shares)
