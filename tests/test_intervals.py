from __future__ import annotations

import math

import numpy as np
import pytest

from evalkit import intervals


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    # Table I of Newcombe 1998 (single proportion), method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_values(
    successes: int, attempts: int, low: float, high: float
) -> None:
    assert intervals.wilson(successes, attempts) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    # Table II of Newcombe 1998 (difference of two proportions), method 10.
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_gives_the_published_values(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    assert intervals.newcombe_difference(*first, *second) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize(("successes", "attempts"), [(0, 1), (1, 1), (0, 10**6), (10**6, 10**6)])
def test_wilson_holds_the_share_and_stays_between_0_and_1(successes: int, attempts: int) -> None:
    low, high = intervals.wilson(successes, attempts)
    assert 0 <= low <= successes / attempts <= high <= 1


def test_no_attempts_say_nothing() -> None:
    assert intervals.wilson(0, 0) == (0, 1)


def test_wilson_covers_in_simulation() -> None:
    rng = np.random.default_rng(0)
    for share, size in ((0.02, 300), (0.15, 200), (0.5, 60)):
        draws = rng.binomial(size, share, 2000)
        inside = [low <= share <= high for low, high in (intervals.wilson(d, size) for d in draws)]
        assert 0.93 <= np.mean(inside) <= 0.995


def test_the_difference_covers_in_simulation_with_unequal_groups() -> None:
    rng = np.random.default_rng(1)
    for share, control, sizes in ((0.1, 0.05, (400, 100)), (0.02, 0.02, (500, 250))):
        pairs = zip(
            rng.binomial(sizes[0], share, 2000), rng.binomial(sizes[1], control, 2000), strict=True
        )
        found = [intervals.newcombe_difference(a, sizes[0], b, sizes[1]) for a, b in pairs]
        inside = [low <= share - control <= high for low, high in found]
        assert 0.93 <= np.mean(inside) <= 0.995


def test_the_detectable_excess_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(2)
    size, control = 2000, 0.1
    excess = intervals.detectable_excess(control, size, size)
    members = rng.binomial(size, control + excess, 4000)
    others = rng.binomial(size, control, 4000)
    seen = [
        intervals.newcombe_difference(a, size, b, size)[0] > 0
        for a, b in zip(members, others, strict=True)
    ]
    # The standard error is taken at the control's rate, a little below that of the difference.
    assert 0.7 <= np.mean(seen) <= 0.85


def test_a_control_without_a_hit_is_taken_as_one_in_its_size() -> None:
    assert intervals.detectable_excess(0.0, 1000, 100) == intervals.detectable_excess(
        0.01, 1000, 100
    )


def test_a_ratio_of_estimates_holds_the_ratio_and_opens_where_the_control_may_be_none() -> None:
    low, high = intervals.ratio(0.6, (0.5, 0.7), 0.8, (0.75, 0.85))
    assert low < 0.75 < high
    assert intervals.ratio(0.5, (0.4, 0.6), 0.3, (0.0, 0.4))[1] == math.inf


def test_the_ends_of_a_median_are_the_outermost_that_cover_95_percent() -> None:
    from scipy.stats import binom

    for count in (6, 7, 8, 9, 20, 21, 100, 101, 683, 5000):
        ranks = intervals.median_ranks(count)
        assert ranks is not None
        low, high = ranks
        assert binom.cdf(low, count, 0.5) <= 0.025 < binom.cdf(low + 1, count, 0.5)
        assert high == count - 1 - low
    assert [intervals.median_ranks(count) for count in range(6)] == [None] * 6
    assert intervals.median_ranks(10**6) == (499019, 500980)
