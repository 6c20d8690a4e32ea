from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from reference.information_oracle import normalised

from evalkit.kernels.binning import (
    bin_codes,
    cell_shares,
    hellinger_distance,
    level_map,
    quantile_cuts,
)
from evalkit.kernels.information import pair_information


def coded(rows: int, levels: list[int], seed: int) -> np.ndarray:
    """Return columns that share what a hidden one holds."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(rows)
    columns = [((hidden + rng.random(rows)) / 2 * size).astype(np.uint16) for size in levels]
    return np.ascontiguousarray(np.stack(columns))


@pytest.mark.parametrize("levels", [[2, 3, 5, 1], [40, 30, 25, 2]])
@pytest.mark.parametrize("chosen", [10, 37, 60, 119, 120])
def test_information_is_that_of_the_formula_for_every_choice_of_rows(
    levels: list[int], chosen: int
) -> None:
    codes = coded(120, levels, 1)
    pairs = np.triu_indices(len(levels), k=1)
    rng = np.random.default_rng(2)
    rows = np.stack([rng.permutation(120)[:chosen] for _ in range(3)]).astype(np.int32)
    found = pair_information(codes, np.array(levels), pairs, rows)
    assert found.shape == (3, 6)
    for k, part in enumerate(rows):
        for at, (i, j) in enumerate(zip(*pairs, strict=True)):
            expected = normalised(codes[i, part].tolist(), codes[j, part].tolist())
            assert found[k, at] == pytest.approx(expected, abs=1e-12)


def test_the_rest_of_a_deal_is_measured_too() -> None:
    codes = coded(80, [3, 4, 6], 3)
    pairs = np.triu_indices(3, k=1)
    first = np.random.default_rng(4).permutation(80).astype(np.int32)
    both = pair_information(codes, np.array([3, 4, 6]), pairs, first[None, :40], rest=True)
    for part, rows in zip(both, (first[:40], first[40:]), strict=True):
        alone = pair_information(codes, np.array([3, 4, 6]), pairs, rows[None])
        assert part == pytest.approx(alone[0], abs=1e-12)


def test_more_pairs_than_a_block_and_threads_change_no_value() -> None:
    levels = np.full(40, 4)
    codes = coded(9000, levels.tolist(), 5)
    pairs = np.triu_indices(40, k=1)
    whole = pair_information(codes, levels, pairs)
    assert whole.shape == (1, 780)
    some = tuple(side[500:530] for side in pairs)
    assert np.array_equal(whole[:, 500:530], pair_information(codes, levels, some))


def test_no_pair_gives_no_value() -> None:
    none = np.zeros(0, np.intp)
    assert pair_information(coded(20, [2], 0), np.array([2]), (none, none)).shape == (1, 0)


@pytest.mark.parametrize("bins", [3, 4, 7, 10])
def test_a_column_of_two_values_has_two_bins_however_rare_one_is(bins: int) -> None:
    for rare in (1, 20, 50, 80, 99):
        values = np.array([0.0] * rare + [1.0] * (100 - rare))
        codes = bin_codes(values, quantile_cuts(values, bins))
        assert len(np.unique(codes)) == 2


def test_bins_of_distinct_numbers_are_as_even_as_can_be_and_never_more_than_asked_for() -> None:
    values = np.random.default_rng(0).normal(size=1003)
    counts = np.bincount(bin_codes(values, quantile_cuts(values, 10)))
    assert len(counts) == 10
    assert set(counts) <= {100, 101}
    tied = np.random.default_rng(1).poisson(1.0, 1003)
    assert len(np.unique(bin_codes(tied, quantile_cuts(tied, 10)))) <= 10


def test_bins_follow_an_increasing_change_of_units_and_set_missing_cells_apart() -> None:
    values = np.array([5.0, 1.0, np.nan, 3.0, 3.0, 9.0, 120.1, 119.9])
    codes = bin_codes(values, quantile_cuts(values, 4))
    changed = values * 2 + 3
    assert bin_codes(changed, quantile_cuts(changed, 4)).tolist() == codes.tolist()
    assert codes[2] == codes.max()
    assert quantile_cuts(np.array([np.nan, 2.0, 2.0]), 3).tolist() == []


def test_rare_levels_are_joined_and_names_do_not_matter() -> None:
    working = np.array([0] * 12 + [1] * 30 + [2] * 9 + [3] * 5 + [-1])
    new = level_map(working, (), 10)
    assert Counter(new[working].tolist()) == {0: 30, 1: 12, 2: 14, 3: 1}
    renamed = np.array([2, 0, 3, 1, -1])
    other = level_map(renamed[working], (), 10)
    assert other[renamed[working]].tolist() == new[working].tolist()


def test_hellinger_is_that_of_the_formula_and_0_to_the_last_digit_for_a_copy() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 9, 70), rng.integers(0, 7, 50)
    p, q = np.bincount(first, minlength=9) / 70, np.bincount(second, minlength=9) / 50
    expected = np.sqrt(1 - np.sum(np.sqrt(p * q)))
    shares = cell_shares(first, 9)
    found = hellinger_distance(shares, cell_shares(second, 9))
    assert found == pytest.approx(expected, abs=1e-12)
    assert hellinger_distance(shares, cell_shares(rng.permutation(first), 9)) == 0.0
