"""Distances between avatars, people used and people never used, against plain counting."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference.linkability_oracle import difference, ranges_of

import evalkit
from evalkit import quantities_real_people
from evalkit.quantities_closeness import closeness, copied, shuffled
from evalkit.quantities_rows import row_keys

NAMES = ["age", "income", "town"]
NUMERIC = {"age", "income"}


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    income = np.round(rng.normal(3, 1, rows), 1)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 26, rows),
            "income": np.where(rng.random(rows) < 0.2, np.nan, income),
            "town": rng.choice(["Aix", "Brest"], rows),
        }
    )


def rows_of(frame: pd.DataFrame) -> list[Any]:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


@pytest.fixture(scope="module")
def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    original, avatars, holdout = table(22, 1), table(19, 2), table(13, 3)
    avatars.loc[0, "age"] = 90  # an avatar stretches no range
    holdout.iloc[0] = original.iloc[0]
    return original, avatars, holdout


@pytest.fixture(scope="module")
def release(tables: tuple[pd.DataFrame, ...]) -> evalkit.Release:
    return evalkit.load(*tables[:2], tables[2], numeric=["age", "income"])


def distances(queries: pd.DataFrame, targets: pd.DataFrame, scale: Any) -> list[list[Fraction]]:
    """Return the capped Gower distances of every pair in exact fractions."""
    return [
        [
            sum(min(Fraction(1), difference(x, y, name, scale)) for name in NAMES) / len(NAMES)
            for y in rows_of(targets)
        ]
        for x in rows_of(queries)
    ]


def test_all_distances_are_those_of_plain_counting(
    release: evalkit.Release, tables: tuple[pd.DataFrame, ...]
) -> None:
    original, avatars, holdout = tables
    pool = pd.concat([original, holdout], ignore_index=True)
    scale = ranges_of(rows_of(pool), NAMES, NUMERIC)
    near = closeness(release, 0)
    to_pool = distances(avatars, pool, scale)
    assert near.to_originals == pytest.approx([float(min(d[:22])) for d in to_pool])
    assert near.of_attacked == pytest.approx(
        [float(min(d)) for d in distances(pool, avatars, scale)]
    )
    ties = [[j for j, one in enumerate(d) if one == min(d)] for d in to_pool]
    shares = [sum(j < 22 for j in tied) / len(tied) for tied in ties]
    assert near.in_pool.of_working == pytest.approx(shares)
    others = [float(min(d[:i] + d[i + 1 :])) for i, d in enumerate(distances(pool, pool, scale))]
    assert near.people.isolation == pytest.approx(others)
    assert near.people.isolation[0] == 0.0
    assert near.people.share == 22 / 35


def test_the_two_nearest_originals_are_different_rows(
    release: evalkit.Release, tables: tuple[pd.DataFrame, ...]
) -> None:
    original, avatars, holdout = tables
    scale = ranges_of(rows_of(pd.concat([original, holdout])), NAMES, NUMERIC)
    found = closeness(release, 0).two_originals
    for i, d in enumerate(distances(avatars, original.drop_duplicates(), scale)):
        first, second = sorted(d)[:2]
        assert found.first[i] == pytest.approx(float(first))
        assert found.second[i] == pytest.approx(float(second))


def test_a_copy_lies_on_the_originals_and_quantities_are_searched_once(
    release: evalkit.Release,
) -> None:
    assert (copied(release, 0).to_originals == 0).all()
    assert closeness(release, 0) is closeness(release, 0)
    assert closeness(release, 0) is not closeness(release, 1)


def test_shuffled_columns_keep_each_column_and_no_row_order(
    tables: tuple[pd.DataFrame, ...],
) -> None:
    original, avatars, holdout = tables
    order = np.random.default_rng(0).permutation(len(avatars))
    first, second = (
        shuffled(evalkit.load(original, one, holdout, numeric=["age", "income"]), 3)
        for one in (avatars, avatars.iloc[order])
    )
    for one, other in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(one.avatars, other.avatars)
        assert sorted(one.avatars["age"]) == sorted(avatars["age"])


def test_large_tables_are_sampled_whatever_the_order_of_their_rows(
    monkeypatch: pytest.MonkeyPatch, tables: tuple[pd.DataFrame, ...]
) -> None:
    monkeypatch.setattr(quantities_real_people, "MOST_ATTACKED", 10)
    original, avatars, holdout = tables
    order = np.random.default_rng(0).permutation(len(original))
    samples = [
        closeness(evalkit.load(one, avatars, holdout, numeric=["age", "income"]), 0).people
        for one in (original, original.iloc[order])
    ]
    assert [len(people.attacked[0]) for people in samples] == [20, 20]
    assert samples[0].member.tolist() == [True] * 10 + [False] * 10
    pd.testing.assert_frame_equal(samples[0].attacked[0], samples[1].attacked[0])


def test_equal_rows_have_one_key_in_every_table(release: evalkit.Release) -> None:
    names = release.schema.used_names()
    frames = [release.original, release.holdout]
    keys = row_keys(frames, release.schema, names)
    assert keys[0][0] == keys[1][0]
    every = pd.concat(frames, ignore_index=True)
    sizes = every.groupby(list(names), dropna=False, observed=True)[names[0]].transform("size")
    (key,) = row_keys([every], release.schema, names)
    assert np.bincount(key)[key].tolist() == sizes.tolist()
