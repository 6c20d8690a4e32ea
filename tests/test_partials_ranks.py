"""Ranks of the own target and the two nearest: the same for any cut of the queries, anywhere."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.engine import working_on
from evalkit.kernels import own_rank, two_nearest
from evalkit.metrics import multivariate_hellinger
from evalkit.quantities import ranges
from evalkit.quantities_axes import fitted_axes
from evalkit.quantities_linked import ranks_in_pieces
from evalkit.quantities_searching import Search
from evalkit.quantities_two_nearest import two_nearest as two_in_pieces
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalkit.kernels.own_ranks import OwnRank
    from evalkit.kernels.two_nearest import TwoNearest

ROWS = 150
WAYS = st.sampled_from(["dense", "compiled"])


class Elsewhere:
    """An engine whose pieces and states go through a pickle, as to another process and back."""

    name, dashboard, lost = "elsewhere", "", False

    def __init__(self) -> None:
        self.pieces = 0

    def states(self, partial: Any, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        """Yield the state of each piece."""
        there = pickle.dumps((partial, shared))
        for piece in pieces:
            self.pieces += 1
            function, common = pickle.loads(there)  # noqa: S301 - our own
            yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(piece)), common)))  # noqa: S301


def people(seed: int, rows: int) -> pd.DataFrame:
    """Make a table with whole numbers, decimals, gaps, and levels that few rows have."""
    r = np.random.default_rng(seed)
    weight = np.round(r.normal(70, 9, rows), 1 if seed % 2 else 9)
    weight[r.random(rows) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "age": r.integers(18, 40, rows),
            "weight": weight,
            "town": pd.Categorical(r.choice([*"abcdefg"], rows), categories=[*"abcdefg"]),
        }
    )


SCHEMA = Schema(
    (Variable("age", "numeric"), Variable("weight", "numeric"), Variable("town", "categorical"))
)


def two(seed: int, rows: int, owned: bool, way: str) -> TwoNearest:
    queries, targets = people(seed, ROWS), people(seed + 2, 2 * ROWS)
    targets.iloc[:20] = targets.iloc[20:40].to_numpy()
    scale = ranges(SCHEMA, [targets], ["age", "weight"])
    search = Search(SCHEMA, [queries[:90], queries[90:]], targets, scale, capped=True)
    owner = np.random.default_rng(seed).integers(0, 40, len(targets)) if owned else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_nearest, "DENSE_CELLS", -1 if way == "compiled" else 10**9)
        return two_in_pieces(search, ["town", "age", "weight"], owner, rows)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 3), rows=st.integers(1, ROWS), owned=st.booleans(), way=WAYS)
def test_any_cut_of_the_queries_finds_the_same_two_nearest(
    seed: int, rows: int, owned: bool, way: str
) -> None:
    whole, engine = two(seed, ROWS, owned, "dense"), Elsewhere()
    with working_on(engine):
        cut = two(seed, rows, owned, way)
    assert engine.pieces == -(-ROWS // rows)
    assert np.array_equal(cut.first, whole.first)
    assert np.array_equal(cut.second, whole.second)
    assert (whole.first < whole.second).any()


def test_no_query_finds_nothing() -> None:
    targets = people(1, 9)
    search = Search(SCHEMA, [targets[:0]], targets, ranges(SCHEMA, [targets], ["age"]))
    assert [len(one) for one in two_in_pieces(search, ["age"])] == [0, 0]


def ranked(seed: int, rows: int, groups: int | None, way: str) -> OwnRank:
    r = np.random.default_rng(seed)
    targets = np.round(r.normal(size=(600, 2 + seed)), 1)
    queries = targets[:ROWS] + r.normal(size=(ROWS, 2 + seed)) * (0.1 if seed % 2 else 1.0)
    owner = None if groups is None else np.r_[np.arange(groups), r.integers(0, groups, 600)][:600]
    own = np.arange(ROWS) if owner is None else owner[:ROWS]
    whole = own_rank(queries, targets, own=own, owner=owner, path="dense")
    with pytest.MonkeyPatch.context() as patch:
        cells = -1 if way == "compiled" else 10**9
        patch.setattr("evalkit.kernels.own_ranks.DENSE_CELLS", cells)
        found = ranks_in_pieces(queries, targets, own, owner, rows)
    assert np.array_equal(found.tied, whole.tied)
    assert np.array_equal(found.nearer, whole.nearer)
    return found


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 3),
    rows=st.integers(1, ROWS),
    groups=st.sampled_from([None, 200]),
    way=WAYS,
)
def test_any_cut_of_the_queries_finds_the_same_ranks(
    seed: int, rows: int, groups: int | None, way: str
) -> None:
    engine = Elsewhere()
    with working_on(engine):
        found = ranked(seed, rows, groups, way)
    assert engine.pieces == -(-ROWS // rows)
    assert len(np.unique(found.nearer)) > 1


@settings(max_examples=10, deadline=None)
@given(rows=st.integers(1, ROWS))
def test_any_cut_of_columns_gives_the_same_coordinates(rows: int) -> None:
    table = people(1, ROWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evalkit.quantities_axes.ROWS_IN_ORDER", 10)
        axes = fitted_axes(table, SCHEMA, 3)
        cells = [table[name].to_numpy() for name in ("age", "weight")]
        columns = [cells[0], table["town"].cat.codes.to_numpy().astype(np.int64), cells[1]]
        patch.setattr("evalkit.quantities_axes.PIECE_ROWS", rows)
        with working_on(Elsewhere()):
            found = axes.project_cells(columns)
    assert np.array_equal(found, axes.project(table))


def test_deals_of_a_large_pool_are_the_same_elsewhere() -> None:
    r = np.random.default_rng(0)
    columns = [r.normal(size=ROWS), r.integers(0, 9, ROWS).astype(float)]
    from evalkit.kernels.dealt_axes import DealtAxes

    shared = DealtAxes(columns, [True, True], 2), 3, 1.0
    deals = [r.random(ROWS) < 0.5 for _ in range(4)]
    score = multivariate_hellinger.score_of_deal
    there = Elsewhere().states(score, deals, shared)
    assert list(there) == [score(one, shared) for one in deals]
