"""The tie sets of every path are those of exact fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.random_columns import numeric, random_columns
from reference import nearest_oracle as oracle

from evalkit.kernels import Column, link_probability, nearest, pruned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evalkit.kernels import NearestSets, blocks
    from evalkit.kernels.dense import Ties
    from evalkit.kernels.grouping import Groups
    from evalkit.kernels.problem import Problem
    from evalkit.kernels.search import Path

PLANS: dict[str, dict[str, Any]] = {
    "tree of single rows": {"shape": "tree", "leaf": 1, "block": 3},
    "tree of four rows": {"shape": "tree", "leaf": 4, "block": 1},
    "plain scan": {"shape": "scan", "block": 24},
    "short lists": {"shape": "tree", "leaf": 2, "longest": 1},
}


def plan_all(monkeypatch: pytest.MonkeyPatch, plan: dict[str, Any]) -> None:
    """Make every compiled search follow one plan."""
    real = pruned.search_pruned

    def search(
        problem: Problem,
        rows: NDArray[Any],
        target: Groups,
        given_plan: pruned.Plan,
        crew: blocks.Crew,
    ) -> Ties:
        chosen = {"longest": given_plan.longest} | plan
        return real(problem, rows, target, pruned.Plan(**chosen), crew)

    monkeypatch.setattr(pruned, "search_pruned", search)


def assert_exact(columns: list[Column], path: Path, *, capped: bool) -> NearestSets:
    sets = nearest(columns, capped=capped, path=path)
    for i, (distance, near) in enumerate(oracle.nearest_targets(columns, capped=capped)):
        assert set(sets.members(i).tolist()) == near
        assert sets.size[i] == len(near)
        assert sets.distance[i] == pytest.approx(float(distance), rel=1e-12, abs=1e-14)
    return sets


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_the_dense_path_finds_the_tie_sets_of_exact_fractions(seed: int, capped: bool) -> None:
    assert_exact(random_columns(seed), "dense", capped=capped)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("seed", range(100, 150))
def test_the_compiled_path_finds_the_tie_sets_of_exact_fractions(
    monkeypatch: pytest.MonkeyPatch, seed: int, plan: str
) -> None:
    plan_all(monkeypatch, PLANS[plan])
    assert_exact(random_columns(seed), "compiled", capped=bool(seed % 2))


@pytest.mark.parametrize("path", ["dense", "compiled"])
@pytest.mark.parametrize("seed", range(200, 230))
def test_link_probabilities_are_those_of_exact_fractions(
    monkeypatch: pytest.MonkeyPatch, seed: int, path: Path
) -> None:
    plan_all(monkeypatch, PLANS["short lists"] if seed % 2 else PLANS["tree of four rows"])
    columns = random_columns(seed, kinds=["decimals", "levels", "few integers", "half-shared keys"])
    halves = columns[:2], columns[2:]
    result = link_probability(*(nearest(half, path=path) for half in halves))
    exact = oracle.link_chances(*(oracle.nearest_targets(half, capped=False) for half in halves))
    assert result.exact
    assert result.standard_error == 0
    assert result.probability == pytest.approx([float(chance) for chance in exact], rel=1e-12)


whole = st.integers(-5, 5).map(float)
hundredth = st.integers(-300, 300).map(lambda k: k / 100)
seventh = st.integers(-(10**6), 10**6).map(lambda k: k / 7)


@st.composite
def searches(draw: st.DrawFn) -> list[Column]:
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            cells = st.lists(st.integers(-1, 2), min_size=n + m, max_size=n + m)
            codes = np.array(draw(cells))
            columns.append(Column(codes[:n], codes[n:], numeric=False))
        else:
            cell = draw(st.sampled_from([whole, hundredth, seventh])) | st.just(np.nan)
            values = np.array(draw(st.lists(cell, min_size=n + m, max_size=n + m)))
            ends = values[:n] if draw(st.booleans()) else values
            columns.append(numeric(values[:n], values[n:], ends))
    return columns


@given(searches(), st.booleans())
@settings(max_examples=150)
def test_no_small_table_makes_a_wrong_tie_set(columns: list[Column], capped: bool) -> None:
    dense = assert_exact(columns, "dense", capped=capped)
    compiled = nearest(columns, capped=capped, path="compiled")
    assert np.array_equal(dense.distance, compiled.distance)
    assert np.array_equal(dense.size, compiled.size)
    assert np.array_equal(dense.groups, compiled.groups)
