"""Random groups of the people of a pool: sizes as recorded, the law of deals of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalkit
from evalkit import quantities_dealt_groups as groups
from evalkit.quantities_content import content_keys, places


def _release(rows: int = 400, holdout: int = 160) -> evalkit.Release:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows + holdout),
            "town": rng.choice(["a", "b"], rows + holdout),
        }
    )
    return evalkit.load(table[:rows], table[:rows].sample(frac=1, random_state=1), table[rows:])


@given(
    people=st.integers(1, 3000),
    shares=st.tuples(st.floats(0, 1.2), st.floats(0, 1.2)),
    width=st.sampled_from([1, 5_000, 50_000]),
)
def test_each_sample_has_its_recorded_size(
    people: int, shares: tuple[float, float], width: int
) -> None:
    sizes = round(shares[0] * people), round(shares[1] * people)
    rng = np.random.default_rng(0)
    found = groups.groups_of_people(people, sizes, rng.permutation(people), width)
    counts = np.bincount(found.of_rows[0], minlength=found.total)
    assert len(counts) == found.total
    assert counts.sum() == people
    if sum(sizes) > people and not found.replaced:  # a very small sample beside a large one
        assert min(sizes) < people / 5
        sizes = min(sizes[0], people - min(sizes)), min(sizes[1], people - min(sizes))
    for sample, size in zip(found.deals(3, rng), sizes, strict=True):
        dealt = sample @ counts
        if found.replaced:
            assert np.all(np.abs(dealt - size) <= counts.max() + size * 3 / counts.min())
        else:
            assert dealt.tolist() == [size] * 3
    if not found.replaced:
        first, second = found.deals(3, rng)
        assert np.all(first + second <= 1)


def test_groups_do_not_depend_on_the_order_of_rows() -> None:
    release = _release()
    shuffled = np.random.default_rng(5).permutation(len(release.original))
    other = evalkit.load(
        release.original.iloc[shuffled], release.avatars, release.holdout, numeric=["age"]
    )
    found = [
        groups.dealt_groups(one, ("working", "reference"), (400, 160), np.random.default_rng(1), 10)
        for one in (release, other)
    ]

    def held(one: evalkit.Release, dealt: groups.DealtGroups) -> list[tuple[int, str, int]]:
        # Equal rows of both tables may change places: the pool as a whole is what is dealt.
        table = pd.concat([one.original, one.holdout]).assign(group=np.concatenate(dealt.of_rows))
        return sorted((row.age, row.town, row.group) for row in table.itertuples())

    assert held(release, found[0]) == held(other, found[1])


def test_persons_stay_whole() -> None:
    table = pd.DataFrame({"key": np.repeat(np.arange(200), 3), "age": np.arange(600) % 70})
    release = evalkit.load(
        table[:300], table[:300][["age"]], table[300:], individual="key", row_link=True
    )
    found = groups.dealt_groups(
        release, ("working", "reference"), (100, 100), np.random.default_rng(0), 1
    )
    for rows, role in zip(found.of_rows, ("working", "reference"), strict=True):
        code = release.persons_of(role).code
        assert all(len(set(rows[code == one])) == 1 for one in np.unique(code))


@pytest.mark.parametrize(("sizes", "width"), [((3000, 1000), 1), ((3000, 3000), 20_000)])
def test_deals_of_groups_have_the_mean_and_spread_of_deals_of_rows(
    sizes: tuple[int, int], width: int
) -> None:
    rng = np.random.default_rng(8)
    people = 4000
    values = rng.gamma(2.0, size=people)
    by_group, by_row = [], []
    for _ in range(20):  # the groups too are drawn anew: together they are deals of rows
        found = groups.groups_of_people(people, sizes, rng.permutation(people), width)
        state = np.stack([np.bincount(found.of_rows[0], w, found.total) for w in (None, values)], 1)
        first, second = (times @ state for times in found.deals(20, rng))
        by_group += list(first[:, 1] / first[:, 0] - second[:, 1] / second[:, 0])
        for _ in range(20):
            fits = sum(sizes) <= people
            drawn = rng.permutation(people) if fits else rng.integers(people, size=sum(sizes))
            parts = values[drawn[: sizes[0]]], values[drawn[sizes[0] : sum(sizes)]]
            by_row.append(parts[0].mean() - parts[1].mean())
    error = np.std(by_row) / np.sqrt(len(by_row))
    assert abs(np.mean(by_group) - np.mean(by_row)) < 5 * error
    assert 0.8 < np.std(by_group) / np.std(by_row) < 1.25


@given(st.lists(st.sampled_from([0.0, -0.0, np.nan, 1.5, -2.0, 1e300]), min_size=1, max_size=30))
def test_equal_rows_have_equal_numbers_whatever_their_place(values: list[float]) -> None:
    frame = pd.DataFrame({"x": values, "y": [1] * len(values)})
    schema = evalkit.load(
        pd.DataFrame({"x": [1.0, 2.0], "y": [1, 2]}), pd.DataFrame({"x": [1.0, 2.0], "y": [1, 2]})
    ).schema
    keys = content_keys(frame, schema, ["x", "y"])
    written = [str(value + 0.0) for value in values]
    assert len(set(keys.tolist())) == len(set(written))
    assert sorted(places([keys])[0].tolist()) == list(range(len(values)))


@pytest.mark.parametrize("sizes", [(900_000, 60), (60, 60), (1_000_000, 300)])
def test_a_very_small_sample_is_another_one_in_each_deal(sizes: tuple[int, int]) -> None:
    people, rng = 1_000_000, np.random.default_rng(0)
    found = groups.groups_of_people(people, sizes, rng.permutation(people), 13_000)
    counts = np.bincount(found.of_rows[0], minlength=found.total)
    assert found.total <= 4_000_000 / 13_000 + 3
    first, second = found.deals(40, rng)
    assert (second @ counts).tolist() == [sizes[1]] * 40
    assert (first @ counts).tolist() == [min(sizes[0], people - sizes[1])] * 40
    assert len({tuple(one) for one in second}) == 40
    assert second[:, -2] @ np.full(40, counts[-2]) < 0.2 * 40 * sizes[1]  # the same in all deals
