from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit
from evalkit.metrics.distance_to_closest import compare

SLUG = "distance_to_closest"


def slow_score(avatars: list[float], strangers: list[float]) -> float:
    """Return the score from the formula, by counting."""
    q = sorted(strangers)[-(-len(strangers) // 20) - 1]
    near, usual = (sum(one <= q for one in some) / len(some) for some in (avatars, strangers))
    parts = [1.0, 1 - max(0.0, (near - usual) / (1 - usual))]
    if np.median(strangers) > 0:
        parts.append(float(np.median(avatars) / np.median(strangers)))
    return 100 * min(parts)


def test_the_example_of_the_page() -> None:
    strangers = np.array([0.02] * 5 + [0.10] * 95)
    avatars = np.array([0.01] * 24 + [0.08] * 76)
    found = compare(avatars, strangers)
    assert found.excess == pytest.approx(0.2)
    assert found.ratio == pytest.approx(0.8)
    assert found.score == pytest.approx(80)


@pytest.mark.parametrize("seed", range(6))
def test_the_score_is_that_of_plain_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    avatars, strangers = rng.integers(0, 9, 57) / 10, rng.integers(seed % 3, 12, 83) / 10
    found = compare(avatars, strangers)
    assert found.score == pytest.approx(slow_score(avatars.tolist(), strangers.tolist()))
    low, high = found.interval()
    assert low <= found.score + 1e-9
    assert found.score <= high + 1e-9


def test_both_groups_look_for_their_nearest_original_on_the_same_scale() -> None:
    original = pd.DataFrame({"age": np.arange(0, 201, 10)})
    holdout = original.assign(age=original["age"] + np.tile([4, 4, 1], 7))
    avatars = original + 2
    facts = evalkit.measure(SLUG, original, avatars, holdout, numeric=["age"]).facts
    # Distances over the range of 204: 2 for each avatar; 4, 4 and 1 for strangers, so q is 1.
    assert facts["ratio"] == pytest.approx(0.5)
    assert facts["success_share"] == 0.0
    assert facts["control_share"] == pytest.approx(1 / 3)


def test_a_third_of_copied_rows_moves_the_second_part_and_hardly_the_median() -> None:
    original, holdout, avatars = people(600, 1), people(600, 2), people(600, 3)
    avatars.iloc[:180] = original.iloc[:180]
    facts = evalkit.measure(SLUG, original, avatars, holdout).facts
    assert facts["near_copy_score"] < 80
    assert facts["ratio_score"] > facts["near_copy_score"]
    assert facts["excess_interval"][0] > 0


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_score_as_strangers_do(n: int, n_holdout: int) -> None:
    result = evalkit.measure(SLUG, people(n, 31), people(n, 32), people(n_holdout, 33))
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.score > 90


def test_quantiles_of_few_people_are_not_shown() -> None:
    facts = evalkit.measure(SLUG, people(60, 1), people(60, 2), people(20, 3)).facts
    assert facts["near_distance"] is None
    assert facts["holdout_median_distance"] is None
    assert facts["median_distance"] is not None


def test_what_it_needs_is_said() -> None:
    table = people(60, 1)
    assert evalkit.measure(SLUG, table, people(60, 2)).reason.code == "no_real_holdout"
    assert evalkit.measure(SLUG, table, table, row_link=True).status == "measured"
    assert evalkit.measure(SLUG, table, table, table.head(9)).reason.code == "holdout_too_small"
    same = evalkit.measure(SLUG, table, table, table)
    assert same.reason.code == "strangers_all_near"


def test_the_page_says_what_each_result_shows() -> None:
    original, holdout, avatars = people(300, 1), people(300, 2), people(300, 3)
    copied = page_text(SLUG, evalkit.measure(SLUG, original, original, holdout))
    assert "Some avatars look like copies." in copied
    unseen = evalkit.measure(SLUG, original, avatars, holdout)
    assert "Some avatars look like copies." not in page_text(SLUG, unseen)
    near = pd.concat([original.assign(weight=original["weight"] + 3)])
    page_text(SLUG, evalkit.measure(SLUG, original, near, holdout))
    page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout.head(15)))
    halves = evalkit.measure(SLUG, original, avatars, row_link=True)
    assert "anonymised too" in page_text(SLUG, halves, holdout_kind="approximate")
    assert_one_sentence_a_line(SLUG)


@pytest.mark.parametrize(
    ("near", "said"),
    [(0.0, "equal to an original"), (0.0000033, "nearer than 0.0001"), (0.0213, "within 0.0213")],
)
def test_a_distance_too_small_to_print_is_no_zero(near: float, said: str) -> None:
    result = evalkit.measure(SLUG, people(80, 1), people(80, 2), people(80, 3))
    facts = result.facts | {"near_distance": near, "median_distance": near}
    page = page_text(SLUG, msgspec.structs.replace(result, facts=facts))
    assert said in page
    assert ("under 0.0001" in page) == (near == 0.0000033)
