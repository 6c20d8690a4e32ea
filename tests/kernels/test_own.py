"""The distance of each row to its own target, against one pair of cells at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from evalkit.kernels import Column, nearest, own_distances


def slow(x: float, y: float, column: Column, capped: bool) -> Fraction:
    if not column.numeric:
        return Fraction(int(x != y))
    if math.isnan(x) or math.isnan(y):
        return Fraction(int(math.isnan(x) != math.isnan(y)))
    if column.low is None or column.low == column.high:
        return Fraction(int(capped and x != y))
    found = abs(Fraction(float(x)) - Fraction(float(y))) / Fraction(column.high - column.low)
    return min(found, Fraction(1)) if capped else found


def columns(seed: int) -> list[Column]:
    r = np.random.default_rng(seed)
    n = int(r.integers(1, 12))
    whole = r.integers(0, 9, (2, n))
    broken = r.integers(0, 5, (2, n)) / 4
    broken[r.random((2, n)) < 0.3] = np.nan
    town = r.integers(-1, 3, (2, n))
    return [
        Column(*whole, numeric=True, low=2, high=6),
        Column(*broken, numeric=True, low=0.0, high=1.0),
        Column(*town, numeric=False),
        Column(*whole, numeric=True, low=4, high=4),
        Column(*broken, numeric=True),
    ]


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_own_distances_are_the_mean_of_the_differences(seed: int, capped: bool) -> None:
    used = columns(seed)
    for i, found in enumerate(own_distances(used, capped=capped)):
        parts = [slow(c.query[i].item(), c.target[i].item(), c, capped) for c in used]
        assert found == pytest.approx(float(sum(parts) / len(parts)), abs=1e-12)


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_no_own_target_is_nearer_than_the_nearest(seed: int, capped: bool) -> None:
    used = columns(seed)
    sets, own = nearest(used, capped=capped), own_distances(used, capped=capped)
    for i, distance in enumerate(own):
        assert distance >= sets.distance[i] - 1e-12
        assert (distance <= sets.distance[i] + 1e-9) == (i in sets.members(i))


def test_large_whole_numbers_keep_their_last_digit() -> None:
    far = np.array([2**60, 2**60 + 1])
    column = Column(far, far[::-1].copy(), numeric=True, low=2**60, high=2**60 + 4)
    assert own_distances([column]).tolist() == [0.25, 0.25]
    ends = np.array([-(2**63), 2**63 - 1])
    column = Column(ends, ends[::-1].copy(), numeric=True, low=0, high=8)
    assert own_distances([column], capped=True).tolist() == [1.0, 1.0]


def test_tables_of_different_length_have_no_own_rows() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        own_distances([Column(np.array([1]), np.array([1, 2]), numeric=False)])
