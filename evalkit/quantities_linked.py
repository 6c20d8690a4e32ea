"""How each original finds the avatar that was made from it, where the rows are linked.

Searched once for all metrics that need the row link, with the known cases: a perfect copy, and
avatars with shuffled columns. Of the latter, each is as likely the nearest as any other, so the
own one is hit with probability 1/n. Where a person has several rows, any avatar made from one of
them is the person's own, and persons are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalkit.engine import Announced, gather, limits
from evalkit.kernels.own_ranks import OwnRank, rank_search
from evalkit.messages import say
from evalkit.quantities import content_order, remembered
from evalkit.quantities_axes import coordinates
from evalkit.quantities_shuffled import shuffled_tables
from evalkit.randomness import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels.own_ranks import RankTargets, Ringed
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities_shuffled import ShuffledTable
    from evalkit.release import Release

SHUFFLES = 5
SHUFFLED_ROWS = 2_000  # originals that look for an avatar with shuffled columns
LARGEST_SEARCH = 10_000_000_000  # distances in the axes before a sample of originals is taken
FEWEST_SAMPLED = 3_000
DOUBT_STANDARD_ERRORS = 3.5
PIECE_QUERIES = 2_048  # queries that are counted for at once: each is compared with millions


@dataclass(frozen=True, eq=False)
class OwnRanks:
    """How the own avatar of each original lies among all avatars in the principal axes.

    Attributes
    ----------
    avatars : OwnRank
        Of the originals that were searched for. With several rows a person it counts persons who
        have a nearer avatar, and those who have one as near.
    persons : Persons
        Whose rows these are.
    copy : OwnRank
        The same had the avatars been a perfect copy of the originals.
    shuffled : tuple of OwnRank
        The same for avatars with each column shuffled, for a sample of the originals.
    shuffled_persons : Persons
        Whose rows the sample is.
    candidates : int
        Among how many the own one is sought: avatars, or persons.
    axes : int
        Number of axes.
    variance_share : float
        What they hold of the variance of the originals, 0 to 1.
    """

    avatars: OwnRank
    persons: Persons
    copy: OwnRank
    shuffled: tuple[OwnRank, ...]
    shuffled_persons: Persons
    candidates: int
    axes: int
    variance_share: float


def own_ranks(release: Release, seed: int) -> OwnRanks:
    """Return where the own avatar of each original lies in the principal axes.

    Parameters
    ----------
    release : Release
        With linked rows.
    seed : int
        Seed of the scenario: it draws the shuffles, and a sample of the originals where all
        pairs would be more than ten thousand million distances.

    Returns
    -------
    OwnRanks
        Computed once for a release and seed; the order of rows and columns never matters.
    """
    return remembered(release, ("own ranks", seed), lambda: _own_ranks(release, seed))


def link_doubt(found: OwnRanks) -> Message | None:
    """Return a warning where the own avatar lies no nearer than any other, or nothing.

    Without a link the place of the own avatar among all is uniform: its mean is one half, with a
    standard error of 1 / sqrt(12 n).

    Parameters
    ----------
    found : OwnRanks

    Returns
    -------
    Message or None
    """
    ranks = found.avatars
    of_rows = (ranks.nearer + (ranks.tied - 1) / 2) / max(1, found.candidates - 1)  # 0 to 1
    places = found.persons.means(of_rows)
    mean = _mean(places)
    if mean < 0.5 - DOUBT_STANDARD_ERRORS / math.sqrt(12 * len(places)):
        return None
    return say(
        "link_looks_absent",
        "The declared row link looks absent: an original's own avatar is nearer than only "
        "{percent:.0f} % of the others, as by chance. Leave --row-link out unless row i of the "
        "avatars was made from row i of the originals.",
        percent=100 * (1 - mean),
    )


def _own_ranks(release: Release, seed: int) -> OwnRanks:
    rng = stream(seed, "own avatars in the principal axes")
    found = coordinates(release)
    order = linked_order(release)
    n, persons = len(order), release.persons_of("original").part(order)
    most = max(FEWEST_SAMPLED, limits().queries(n, n, LARGEST_SEARCH))
    some = persons.drawn(np.arange(n), most, rng)  # places in the order of content
    few = persons.drawn(np.arange(n), SHUFFLED_ROWS, rng)
    whose = order if persons.are_rows else persons.code  # of each place
    owner = np.empty(n, np.int64)  # of each row
    owner[order] = persons.code

    def ranked(targets: NDArray[np.float64]) -> OwnRank:
        groups = None if persons.are_rows else owner
        return ranks_in_pieces(found.original[order[some]], targets, whose[some], groups)

    def by_chance(table: ShuffledTable) -> OwnRank:
        # One by one: the coordinates of a shuffled table are as many numbers as those of another.
        cells = [cells for _, cells in table.columns(found.axes.names)]
        targets = found.axes.project_cells(cells)
        own, groups = (few, None) if persons.are_rows else (persons.code[few], persons.code)
        return ranks_in_pieces(found.original[order[few]], targets, own, groups)

    tables = shuffled_tables(release.avatars, release.schema, rng, SHUFFLES)
    return OwnRanks(
        avatars=ranked(found.avatars),
        persons=persons.part(some),
        copy=ranked(found.original),
        shuffled=tuple(by_chance(table) for table in tables),
        shuffled_persons=persons.part(few),
        candidates=persons.count,
        axes=found.original.shape[1],
        variance_share=found.variance_share,
    )


def ranks_in_pieces(
    queries: NDArray[np.float64],
    targets: NDArray[np.float64],
    own: NDArray[np.integer],
    owner: NDArray[np.integer] | None = None,
    piece_rows: int = PIECE_QUERIES,
) -> OwnRank:
    """Return how the own target of each query lies among all targets, piece by piece.

    Parameters
    ----------
    queries, targets, own, owner
        As for `evalkit.kernels.own_rank`; at least one query.
    piece_rows : int
        Queries of a piece.

    Returns
    -------
    OwnRank
        The same however the queries are cut.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.quantities_linked import ranks_in_pieces
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> ranks_in_pieces(line, line + 1.0, np.arange(3), piece_rows=2).nearer.tolist()
    [0, 1, 1]
    """
    ready, ringed = rank_search(queries, targets, own, owner)
    starts = range(0, len(queries), piece_rows)
    cut = (ringed.part(start, start + piece_rows) for start in starts)
    found = gather(ranks_of_piece, Announced(cut, len(starts)), ready)
    parts = [one.nearer for one in found], [one.tied for one in found]
    return OwnRank(*(np.concatenate(part) for part in parts))


def ranks_of_piece(piece: Ringed, shared: RankTargets) -> OwnRank:
    """Return how the own targets of a piece of the queries lie among all: a partial."""
    return shared.ranks(piece)


def _mean(shares: NDArray[np.float64]) -> float:
    """Return the mean, the same for any order."""
    return math.fsum(shares) / len(shares)


def linked_order(release: Release) -> NDArray[np.intp]:
    """Return the order of linked rows by the content of the original and of its avatar.

    Parameters
    ----------
    release : Release
        With as many avatars as originals.

    Returns
    -------
    ndarray of intp, shape (n,)
    """
    return content_order(
        [
            (frame[name] if release.schema[name].is_number else frame[name].cat.codes).to_numpy()
            for frame in (release.original, release.avatars)
            for name in sorted(frame.columns)
        ]
    )
