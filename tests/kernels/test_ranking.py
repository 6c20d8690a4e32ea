"""The area under the ROC curve and points on it, against counting pair by pair."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from evalkit.kernels.ranking import area_of_ranks, true_share_at


@pytest.mark.parametrize("seed", range(20))
def test_the_area_is_the_share_of_pairs_with_ties_for_a_half(seed: int) -> None:
    rng = np.random.default_rng(seed)
    members, others = rng.integers(0, 6, 17).astype(float), rng.integers(0, 6, 23).astype(float)
    members[0] = np.inf
    won = sum(Fraction(int(x > y) * 2 + int(x == y), 2) for x in members for y in others)
    assert area_of_ranks(members, others) == float(won / (17 * 23))


def test_the_curve_goes_straight_through_ties_and_up_at_steps() -> None:
    members, others = np.array([5.0, 3.0, 3.0, 1.0]), np.array([3.0, 3.0, 2.0, 0.0])
    shares = {false: true_share_at(members, others, false) for false in (0, 0.25, 0.5, 0.75, 1)}
    assert shares == {0: 0.25, 0.25: 0.5, 0.5: 0.75, 0.75: 1.0, 1: 1.0}


def test_equal_values_recognise_nobody_better_than_chance() -> None:
    same = np.zeros(50)
    assert area_of_ranks(same, same) == 0.5
    assert true_share_at(same, same, 0.1) == pytest.approx(0.1)
