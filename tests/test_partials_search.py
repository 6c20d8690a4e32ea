"""Searches in pieces of queries: the same answers for any cut, any order and any place."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit import quantities_two_searches
from evalkit.engine import working_on
from evalkit.kernels import link_probability, linking
from evalkit.kernels.sharing import ever_nearest, tie_share
from evalkit.quantities import Pairing, ranges
from evalkit.quantities_searching import Search
from evalkit.quantities_two_searches import linked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalkit.kernels import NearestSets
    from evalkit.quantities import QueryPiece
    from evalkit.release import Release

HALVES = ("age", "town", "weight"), ("income", "size", "visits")


def table(seed: int, rows: int) -> pd.DataFrame:
    """Make a table with decimals, gaps, levels, a huge range and a column that hardly varies."""
    r = np.random.default_rng(seed)
    weight = np.round(r.normal(70, 9, rows), 1)
    weight[r.random(rows) < 0.1] = np.nan
    town = r.choice([*"abcdefg", None], rows)
    return pd.DataFrame(
        {
            "age": r.integers(18, 60, rows),
            "town": pd.Series(town, dtype="object"),
            "weight": weight,
            "income": np.where(r.random(rows) < 0.02, 10**9, r.integers(0, 4000, rows)),
            "size": r.choice(["s", "m", "l"], rows),
            "visits": r.normal(size=rows).round(2 if seed % 2 else 9),
        }
    )


def release_of(seed: int, rows: int = 400) -> Release:
    original, avatars = table(seed, rows), table(seed + 1, rows + 50)
    avatars.iloc[:40] = original.iloc[:40].to_numpy()
    avatars = avatars.astype(original.dtypes)
    return evalkit.load(original, avatars, table(seed + 2, rows // 2))


def whole(release: Release, *, capped: bool = False) -> Pairing:
    scale = ranges(release.schema, (release.original, release.avatars), release.schema.used_names())
    return Pairing(release.schema, release.original, release.avatars, scale, capped=capped)


def search(release: Release, *, capped: bool = False, holdout: bool = True) -> Search:
    scale = ranges(release.schema, (release.original, release.avatars), release.schema.used_names())
    people = [release.original, *([release.holdout] if holdout else [])]
    return Search(release.schema, people, release.avatars, scale, capped=capped)


class Elsewhere:
    """An engine whose pieces and states go through a pickle, as to another process and back."""

    name = "elsewhere"

    def states(self, partial: Any, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        """Yield the state of each piece."""
        there = pickle.dumps((partial, shared))
        for piece in pieces:
            function, given = pickle.loads(there)  # noqa: S301 - our own
            yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(piece)), given)))  # noqa: S301


def read(sets: NearestSets, piece: QueryPiece) -> dict[str, Any]:
    """Read what a caller may want off the sets of a piece."""
    return {
        "distance": sets.distance,
        "size": sets.size,
        "marked": tie_share(sets, piece.shared) * piece.beside["weight"],
        "hit": ever_nearest(sets),
    }


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_answers_are_the_same_for_any_cut_and_any_engine(seed: int, capped: bool) -> None:
    release = release_of(seed)
    names, n = release.schema.used_names(), len(release.original)
    marks = np.arange(len(release.avatars)) % 3 == 0
    given = {"beside": {"weight": np.arange(n)}, "shared": marks, "merge": {"hit": np.logical_or}}
    before = whole(release, capped=capped).answers(names, read, **given)
    cut = search(release, capped=capped, holdout=False)
    for rows in (7, 150, n):
        after = cut.answers(names, read, places=range(n), piece_rows=rows, **given)
        assert after.keys() == before.keys()
        for name, values in before.items():
            assert np.array_equal(after[name], values), name
    with working_on(Elsewhere()):
        after = cut.answers(names, read, places=range(n), piece_rows=100, **given)
    assert all(np.array_equal(after[name], values) for name, values in before.items())


def test_large_tables_are_asked_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(1)
    marks = np.ones(len(release.avatars), np.bool_)
    given = {"beside": {"weight": np.ones(400)}, "shared": marks, "merge": {"hit": np.logical_or}}
    before = whole(release).answers(["age", "town"], read, **given)
    monkeypatch.setattr("evalkit.quantities.PIECE_QUERIES", 64)
    after = whole(release).answers(["age", "town"], read, **given)
    assert all(np.array_equal(after[name], values) for name, values in before.items())


@pytest.mark.parametrize("seed", range(4))
def test_links_are_the_same_for_any_cut_any_order_and_any_engine(seed: int) -> None:
    release = release_of(seed)
    pairing, n = whole(release), len(release.original)
    before = link_probability(*(pairing.nearest(half) for half in HALVES))
    places = np.random.default_rng(seed).permutation(n)
    cut = search(release)
    for rows in (9, 100, 10**6):
        assert np.array_equal(linked(cut, *HALVES, range(n), rows).probability, before.probability)
        some = linked(cut, *HALVES, places, rows)
        assert np.array_equal(some.probability, before.probability[places])
        assert np.array_equal(some.size_a, pairing.nearest(HALVES[0]).size[places])
    with working_on(Elsewhere()):
        there = linked(cut, *HALVES, range(n), 100)
    assert np.array_equal(there.probability, before.probability)
    assert there.standard_error == 0.0


def test_queries_of_several_tables_are_asked_together() -> None:
    release = release_of(2)
    n, together = len(release.original), search(release)
    unseen = Pairing(
        release.schema,
        release.holdout,
        release.avatars,
        ranges(release.schema, (release.original, release.avatars), release.schema.used_names()),
    )
    before = link_probability(*(unseen.nearest(half) for half in HALVES))
    after = linked(together, *HALVES, range(n, n + len(release.holdout)), 60)
    assert np.array_equal(after.probability, before.probability)
    mixed = np.array([n + 3, 5, n, 0])
    found = linked(together, *HALVES, mixed).probability
    every = linked(together, *HALVES).probability
    assert np.array_equal(found, every[mixed])


@pytest.mark.parametrize("most", [10**6, 6])
def test_tie_sets_too_long_to_list_are_measured_alike_for_any_cut(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A sample of them is the same for any cut and any order of the queries."""
    monkeypatch.setattr("evalkit.kernels.prepared.LONGEST_LIST", 0)
    monkeypatch.setattr("evalkit.kernels.prepared.LEAST_LIST", 1)
    monkeypatch.setattr(linking, "measured_at_most", lambda _a, _b: most)
    monkeypatch.setattr(quantities_two_searches, "measured_at_most", lambda _a, _b: most)
    release = release_of(3, 200)
    halves = ("age", "size"), ("town", "weight")
    before = linked(search(release), *halves, range(200))
    assert (before.standard_error > 0) == (most == 6)
    for rows in (10, 77):
        after = linked(search(release), *halves, range(200), rows)
        assert np.array_equal(after.probability, before.probability)
        assert after.standard_error == pytest.approx(before.standard_error, rel=1e-12)
    order = np.random.default_rng(0).permutation(200)
    after = linked(search(release), *halves, order, 33)
    assert np.allclose(after.probability, before.probability[order], rtol=1e-12)


def test_the_cost_of_a_query_is_what_it_is_compared_with() -> None:
    release = release_of(0)
    names = ["age", "town", "weight"]
    cut = search(release)
    groups = len(cut.ready(names).target.count)
    whole_cost = cut.cost([names], range(len(release.original)))
    assert 0 < whole_cost < groups
    assert cut.cost([names], np.arange(40)) == 0  # these have an equal avatar
    both = cut.cost([names, ["town"]], range(len(release.original)))
    assert both == max(whole_cost, cut.cost([["town"]], range(len(release.original))))
