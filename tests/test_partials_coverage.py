"""Coverage, missing cells and models of large tables: any pieces in any order, as small ones."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.rendering import page_text, people

import evalkit
from evalkit import quantities_apart, quantities_dealt_groups, quantities_order
from evalkit.metrics.coverage import HIGH, LOW, middle_range
from evalkit.persons import Persons
from evalkit.quantities_dealt_cells import (
    Held,
    Pool,
    carriers_of_piece,
    held_of_piece,
    merged,
    window_edges,
)
from evalkit.quantities_dealt_groups import groups_of_people
from evalkit.quantities_missing import (
    counts_of_piece,
    distance_of_patterns,
    groups_of_piece,
    patterns_of_piece,
)
from evalkit.quantities_pieces import pieces
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from evalkit.quantities_pieces import Piece

SCHEMA = Schema((Variable("age", "numeric"), Variable("town", "categorical")))
KINDS = {"age": True, "town": False}


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(rows) < 0.2, np.nan, rng.gamma(2.0, 9.0, rows).round(1))
    town = pd.Categorical.from_codes(rng.integers(-1, 3, rows), ["Aix", "Brest", "Caen"])
    return pd.DataFrame({"age": age, "town": town})


def cut(frame: pd.DataFrame, beside: np.ndarray, ends: list[int]) -> list[Piece]:
    """Return the table in pieces that end where they are told to."""
    found = []
    for start, stop in zip([0, *ends], [*ends, len(frame)], strict=True):
        part = frame.iloc[start:stop]
        found += list(pieces(part, SCHEMA, ["age", "town"], beside=beside[start:stop], rows=10**6))
    return found


@settings(max_examples=40, deadline=None)
@given(ends=st.lists(st.integers(0, 90), max_size=5), order=st.randoms(use_true_random=False))
def test_counts_are_the_same_for_any_pieces_in_any_order(ends: list[int], order: object) -> None:
    frame, groups = table(90, 0), np.random.default_rng(1).integers(0, 4, 90).astype(np.int32)
    edges, _ = window_edges(frame["age"].dropna().to_numpy(), (LOW, HIGH), 5)
    parts = cut(frame, groups, sorted(ends))
    order.shuffle(parts)  # type: ignore[attr-defined]
    whole = cut(frame, groups, [])
    for partial, shared in (
        (counts_of_piece, KINDS),
        (groups_of_piece, (KINDS, 4)),
        (carriers_of_piece, ("town", (4, 3))),
    ):
        found = reduce(np.add, [partial(piece, shared) for piece in parts])
        np.testing.assert_array_equal(found, partial(whole[0], shared))
    patterns = [patterns_of_piece(piece, KINDS) for piece in parts]
    assert reduce(lambda a, b: a + b, patterns) == patterns_of_piece(whole[0], KINDS)
    shared = ("age", edges, 4)
    found = reduce(merged, [held_of_piece(piece, shared) for piece in parts])
    for one, other in zip(found, held_of_piece(whole[0], shared), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("columns", [1, 8, 9, 64, 70])
def test_patterns_are_told_apart_however_many_columns_there_are(columns: int) -> None:
    rng = np.random.default_rng(columns)
    schema = Schema(tuple(Variable(f"v{k}", "numeric") for k in range(columns)))
    frames = [
        pd.DataFrame(
            np.where(rng.random((60, columns)) < 0.1, np.nan, 1.0),
            columns=list(schema.used_names()),
        )
        for _ in range(2)
    ]
    kinds = dict.fromkeys(schema.used_names(), True)
    found = [patterns_of_piece(next(pieces(frame, schema, list(kinds))), kinds) for frame in frames]
    shares = [frame.isna().apply(tuple, axis=1).value_counts(normalize=True) for frame in frames]
    apart = shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2
    assert distance_of_patterns(*found) == pytest.approx(apart)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).gamma(2.0, size=3000),
        np.random.default_rng(1).integers(0, 100, 3000),
        np.where(np.random.default_rng(2).random(3000) < 0.93, 0, np.arange(3000)),
        np.zeros(3000, np.int64),
        np.random.default_rng(3).choice([-(2**63), 2**63 - 1, 4], 3000),
    ],
)
@pytest.mark.parametrize("sizes", [(1500, 700), (3000, 2500)])
def test_quantiles_of_dealt_groups_are_those_of_their_cells(
    values: np.ndarray, sizes: tuple[int, int]
) -> None:
    rng = np.random.default_rng(4)
    groups = groups_of_people(len(values), sizes, rng.permutation(len(values)), 10)
    frame = pd.DataFrame({"age": values})
    pool = Pool([frame], [Persons.one_row_each(len(values))], SCHEMA, groups)
    samples = groups.deals(5, rng)
    for times, found in zip(samples, pool.ranges("age", samples, (LOW, HIGH)), strict=True):
        for deal, quantiles in zip(times, found, strict=True):
            cells = np.repeat(values, deal[groups.of_rows[0]].astype(int))
            assert tuple(quantiles) == middle_range(cells)


def test_a_quantile_far_from_that_of_the_pool_is_found_all_the_same() -> None:
    values = np.arange(2000)
    groups = groups_of_people(2000, (1000, 1000), values, 10)  # by value: no random groups
    pool = Pool([pd.DataFrame({"age": values})], [Persons.one_row_each(2000)], SCHEMA, groups)
    samples = groups.deals(4, np.random.default_rng(0))
    for times, found in zip(samples, pool.ranges("age", samples, (LOW, HIGH)), strict=True):
        for deal, quantiles in zip(times, found, strict=True):
            assert tuple(quantiles) == middle_range(values[deal[groups.of_rows[0]] > 0])


def test_a_sample_without_a_filled_cell_has_no_quantile() -> None:
    groups = groups_of_people(200, (100, 100), np.arange(200), 1)
    frame = pd.DataFrame({"age": np.full(200, np.nan)})
    pool = Pool([frame], [Persons.one_row_each(200)], SCHEMA, groups)
    for found in pool.ranges("age", groups.deals(2, np.random.default_rng(0)), (LOW, HIGH)):
        assert np.isnan(found).all()


def test_people_of_a_group_are_counted_once_a_level() -> None:
    rng = np.random.default_rng(5)
    code = rng.integers(0, 40, 200)
    persons = Persons(np.unique(code, return_inverse=True)[1], len(np.unique(code)))
    groups = groups_of_people(persons.count, (20, 10), rng.permutation(persons.count), 1)
    rows = groups.of_rows[0][persons.code]
    frame = table(200, 6)
    dealt = quantities_dealt_groups.DealtGroups(
        (rows,), groups.total, groups.equal, groups.dealt, groups.replaced
    )
    held = Pool([frame], [persons], SCHEMA, dealt).carriers("town", 3)
    seen = frame.assign(person=persons.code, group=rows).dropna(subset=["town"])
    for group in range(groups.total):
        for level, town in enumerate(["Aix", "Brest", "Caen"]):
            chosen = seen[(seen["group"] == group) & (seen["town"] == town)]
            assert held[group, level] == chosen["person"].nunique()


def test_held_cells_add_up_over_groups() -> None:
    held = Held((np.array([0, 1, 3]), np.array([5, 2, 7])), bins=2, groups=2)
    assert held.of(np.array([1.0, 3.0])).tolist() == [11.0, 32.0]


def with_gaps(rows: int, seed: int) -> pd.DataFrame:
    gone = np.random.default_rng(seed).random((rows, 2)) < (0.1, 0.3)
    found = people(rows, seed)
    return found.assign(
        weight=found["weight"].mask(gone[:, 0]), town=found["town"].mask(gone[:, 1])
    )


@pytest.mark.parametrize("slug", ["coverage", "missingness"])
def test_a_large_pool_scores_as_a_small_one_and_its_page_says_how_it_was_dealt(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [with_gaps(rows, seed) for rows, seed in ((2000, 1), (1500, 2), (900, 3))]
    small = evalkit.measure(slug, *tables)
    monkeypatch.setattr(quantities_dealt_groups, "LARGE_POOL", 100)
    large = evalkit.measure(slug, *tables)
    assert large.score == small.score
    assert large.facts["deal_groups"] > 50
    assert "deal_groups" not in small.facts
    assert large.facts["real_score"] == pytest.approx(small.facts["real_score"], abs=0.2)
    wide = float(np.ptp(small.facts["real_band"]))
    np.testing.assert_allclose(large.facts["real_band"], small.facts["real_band"], atol=wide)
    assert "random groups" in page_text(slug, large)
    assert "random groups" not in page_text(slug, small)


@pytest.mark.parametrize(
    "slug", ["distinguishability", "predictive_ratio", "inference_accuracy_ratio"]
)
def test_models_draw_from_a_large_table_before_it_is_ranked(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [with_gaps(rows, seed) for rows, seed in ((500, 1), (450, 2), (350, 3))]
    monkeypatch.setattr(quantities_order, "FEWEST_PREPARED", 300)
    monkeypatch.setattr(quantities_order, "MOST_PREPARED", 300)
    monkeypatch.setattr(quantities_apart, "MOST_ROWS", 300)
    found = [
        evalkit.measure(slug, *rows, sensitive="age")
        for rows in (tables, [one.sample(frac=1.0, random_state=7) for one in tables])
    ]
    assert found[0].score == found[1].score
    assert found[0].facts == found[1].facts
    if slug != "distinguishability":
        assert found[0].facts["cut_from"] == 300
    if found[0].status == "measured":
        assert "drawn at random" in page_text(slug, found[0])
