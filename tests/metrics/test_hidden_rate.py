from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference import own_avatar_oracle as oracle
from test_contract import linked, people
from vectors import real_table

import evalkit

SLUG = "hidden_rate"
AGES = pd.DataFrame({"age": [20, 30, 40, 50]})
OTHERS = pd.DataFrame({"age": [29, 22, 41, 41]})


def found(original: object, avatars: object, **options: object) -> evalkit.Result:
    return evalkit.measure(SLUG, original, avatars, row_link=True, **options)


def test_the_example_of_the_page() -> None:
    result = found(AGES, OTHERS)
    assert result.score == 75.0
    assert result.facts["ties_as_hits"] == 50.0
    assert (result.facts["certain_hits"], result.facts["possible_hits"]) == (0, 2)
    assert result.facts["success_share"] == 0.25
    assert result.facts["naive_share"] == 0.25


@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_the_slow_way(seed: int, axes: int) -> None:
    original = people(60, seed)
    avatars = linked(original, seed + 50)
    ranks = oracle.ranks(*oracle.coordinates(original, avatars, axes))
    result = found(original, avatars, axes=axes)
    assert result.score == pytest.approx(oracle.hidden_rate(ranks))
    assert result.facts["ties_as_hits"] == pytest.approx(oracle.ties_as_hits(ranks))
    copied = oracle.ranks(*oracle.coordinates(original, original, axes))
    assert result.facts["self_score"] == pytest.approx(oracle.hidden_rate(copied))


def test_the_published_value_of_the_wisconsin_data() -> None:
    original = real_table("wbcd/full_original.csv")
    avatars = real_table("wbcd/full_avatars.csv")
    result = found(original, avatars, ignore=["Sample_code_number"], categorical=["Class"], axes=2)
    assert result.score == pytest.approx(92.69, abs=0.005)
    assert result.facts["ties_as_hits"] == pytest.approx(57.69, abs=0.005)
    assert [warning.code for warning in result.warnings] == ["ties_move_hidden_rate"]


def test_without_a_row_link_nothing_is_measured() -> None:
    result = evalkit.measure(SLUG, people(40, 1), people(40, 2))
    assert (result.status, result.reason.code) == ("not applicable", "no_row_link")
    assert result.score is None


def test_rows_without_any_link_score_near_what_chance_gives() -> None:
    result = found(people(300, 1), people(300, 2))
    assert result.facts["floor_score"] == pytest.approx(100 * (1 - 1 / 300))
    low, high = result.interval
    assert low <= result.facts["floor_score"] <= high


def test_shuffled_columns_find_the_own_avatar_once_in_n_on_average() -> None:
    original = people(60, 3)
    scores = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        mixed = original.apply(rng.permutation)
        scores.append(found(original, mixed).score)
    assert np.mean(scores) == pytest.approx(100 * (1 - 1 / 60), abs=0.6)


def test_changing_more_cells_hides_more() -> None:
    original = people(300, 4)
    rng = np.random.default_rng(5)
    scores = []
    for share in (0.0, 0.1, 0.3, 0.6):
        avatars = original.copy()
        for name in original:
            kept = rng.random(len(original)) >= share
            avatars[name] = original[name].where(kept, rng.permutation(original[name]))
        scores.append(found(original, avatars).score)
    assert scores == sorted(scores)
    assert scores[0] < 10
    assert scores[-1] > 80


def test_a_copy_of_a_coarse_table_says_that_ties_move_it() -> None:
    table = pd.DataFrame({"a": ["x", "y"] * 30, "b": [1, 1, 2, 2] * 15})
    result = found(table, table)
    assert result.score == pytest.approx(100 * (1 - 1 / 15))
    assert result.facts["ties_as_hits"] == 0.0
    assert [warning.code for warning in result.warnings] == ["ties_move_hidden_rate"]


def test_one_shape_of_all_rows_is_a_tie_of_all() -> None:
    table = pd.DataFrame({"a": [3] * 25, "b": ["x"] * 25})
    assert found(table, table).score == pytest.approx(96.0)


def test_a_sample_of_the_originals_looks_among_all_avatars(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit import quantities_linked

    original = people(200, 6)
    avatars = linked(original, 7)
    whole = found(original, avatars)
    monkeypatch.setattr(quantities_linked, "LARGEST_SEARCH", 0)
    monkeypatch.setattr(quantities_linked, "FEWEST_SAMPLED", 120)
    part = found(original, avatars)
    assert part.facts["attempts"] == 120
    assert part.facts["n_avatars"] == 200
    assert part.interval[0] <= whole.score <= part.interval[1]


def test_a_row_link_that_is_not_there_is_doubted_and_a_true_one_is_not() -> None:
    rng = np.random.default_rng(4)
    original = pd.DataFrame(rng.normal(size=(80, 3)).round(2), columns=list("abc"))
    linked = original + rng.normal(scale=0.5, size=original.shape).round(2)
    unlinked = pd.DataFrame(rng.normal(size=(80, 3)).round(2), columns=list("abc"))
    for avatars, doubted in ((linked, False), (unlinked, True)):
        result = evalkit.measure(SLUG, original, avatars, row_link=True)
        codes = [warning.code for warning in result.warnings]
        assert ("link_looks_absent" in codes) == doubted


def test_axes_that_hold_little_are_told() -> None:
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 30))).add_prefix("x")
    codes = {one.code for one in found(noise, noise + 1).warnings}
    assert "axes_hold_little" in codes
