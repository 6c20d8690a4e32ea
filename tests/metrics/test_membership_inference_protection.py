from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit
from evalkit.metrics.membership_inference_protection import score_of

SLUG = "membership_inference_protection"


def numbers(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(0, 25, rows), "size": rng.integers(0, 9, rows)})


def slow_area(original: pd.DataFrame, avatars: pd.DataFrame, holdout: pd.DataFrame) -> float:
    """Return the area from the formula, pair by pair; number columns, nothing capped."""
    pool = pd.concat([original, holdout], ignore_index=True)
    spans = pool.max() - pool.min()

    def distances(row: pd.Series, table: pd.DataFrame) -> pd.Series:
        return ((table - row).abs() / spans).sum(axis=1) / len(spans)

    isolation = [distances(row, pool.drop(i)).min() for i, row in pool.iterrows()]
    near = [distances(row, avatars).min() for _, row in pool.iterrows()]
    floor = min(one for one in isolation if one > 0) / 2
    t = [
        round(math.log(max(i, floor)) - math.log(max(d, floor)), 9)
        for i, d in zip(isolation, near, strict=True)
    ]
    used, unused = t[: len(original)], t[len(original) :]
    won = sum((u > v) + (u == v) / 2 for u in used for v in unused)
    return won / (len(used) * len(unused))


def test_the_example_of_the_page() -> None:
    assert score_of(0.75) == 50


@pytest.mark.parametrize("seed", range(4))
def test_the_area_is_that_of_all_pairs(seed: int) -> None:
    original, avatars, holdout = (numbers(k, seed + k) for k in (30, 35, 25))
    pool = pd.concat([original, holdout])
    avatars = avatars.clip(pool.min(), pool.max(), axis=1)
    facts = evalkit.measure(SLUG, original, avatars, holdout).facts
    assert facts["area"] == pytest.approx(slow_area(original, avatars, holdout))
    assert facts["success_share"] == facts["area"]


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess(n: int, n_holdout: int) -> None:
    result = evalkit.measure(SLUG, people(n, 31), people(n, 32), people(n_holdout, 33))
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.interval[1] == 100


def test_the_more_cells_are_resampled_the_higher_the_score() -> None:
    original, holdout = people(400, 11), people(400, 12)
    rng = np.random.default_rng(3)
    scores = []
    for share in (0.0, 0.1, 0.3, 0.6):
        avatars = original.copy()
        for name in avatars:
            drawn = rng.permutation(original[name].to_numpy())
            kept = rng.random(len(avatars)) >= share
            avatars[name] = np.where(kept, original[name], drawn)
        scores.append(evalkit.measure(SLUG, original, avatars, holdout).score)
    assert scores == sorted(scores)
    assert scores[0] < 1


def test_shares_at_few_false_alarms_take_a_holdout_that_can_show_them() -> None:
    original, avatars = people(300, 1), people(300, 2)
    counts = [
        len(evalkit.measure(SLUG, original, avatars, people(n, 3)).facts["at_false_alarms"])
        for n in (99, 100, 1000)
    ]
    assert counts == [0, 1, 2]


def test_without_a_real_or_with_a_tiny_holdout_it_is_not_applicable() -> None:
    table = people(60, 1)
    assert evalkit.measure(SLUG, table, table).reason.code == "no_real_holdout"
    assert evalkit.measure(SLUG, table, table, table.head(9)).reason.code == "holdout_too_small"


def test_people_who_are_all_alike_cannot_be_told_apart() -> None:
    table = pd.DataFrame({"age": [30] * 40, "town": ["Aix"] * 40})
    result = evalkit.measure(SLUG, table, table, table, numeric=["age"])
    assert result.score == 100
    assert result.facts["area"] == 0.5


def test_the_page_says_what_each_result_shows() -> None:
    original, holdout, avatars = people(500, 1), people(500, 2), people(500, 3)
    copied = page_text(SLUG, evalkit.measure(SLUG, original, original, holdout))
    assert "Evidence of an excess" in copied
    assert "At 10.0 % false alarms" in copied
    unseen = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "No evidence" in unseen
    few = evalkit.measure(SLUG, original.head(60), avatars, holdout.head(40))
    assert "too weak to tell" in page_text(SLUG, few)
    reverse = page_text(SLUG, evalkit.measure(SLUG, original, holdout, holdout))
    assert "come from the same population" in reverse
    assert_one_sentence_a_line(SLUG)
