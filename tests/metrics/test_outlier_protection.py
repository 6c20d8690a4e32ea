from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit
from evalkit.metrics.outlier_protection import outliers, score_of

SLUG = "outlier_protection"


def slow_area(original: pd.DataFrame, avatars: pd.DataFrame, holdout: pd.DataFrame) -> float:
    """Return the area among the most isolated tenth, pair by pair; number columns only."""
    pool = pd.concat([original, holdout], ignore_index=True)
    spans = pool.max() - pool.min()

    def nearest(row: pd.Series, table: pd.DataFrame) -> float:
        return round(float(((table - row).abs() / spans).sum(axis=1).min()) / len(spans), 9)

    isolation = [nearest(row, pool.drop(i)) for i, row in pool.iterrows()]
    border = sorted(isolation, reverse=True)[-(-len(pool) // 10) - 1]
    rare = [i for i, one in enumerate(isolation) if one >= border]
    near = {i: nearest(pool.loc[i], avatars) for i in rare}
    used, unused = (
        [near[i] for i in rare if (i < len(original)) == kind] for kind in (True, False)
    )
    won = sum((u < v) + (u == v) / 2 for u in used for v in unused)
    return won / (len(used) * len(unused))


def test_the_example_of_the_page() -> None:
    assert score_of(0.9) == pytest.approx(20)


@pytest.mark.parametrize("seed", range(2))
def test_the_area_is_that_of_all_pairs_of_rare_people(seed: int) -> None:
    def numbers(offset: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed + offset)
        return pd.DataFrame({"age": rng.integers(0, 60, 240), "size": rng.integers(0, 40, 240)})

    original, avatars, holdout = numbers(0), numbers(50), numbers(90)
    pool = pd.concat([original, holdout])
    avatars = avatars.clip(pool.min(), pool.max(), axis=1)
    facts = evalkit.measure(SLUG, original, avatars, holdout).facts
    assert facts["area"] == pytest.approx(slow_area(original, avatars, holdout))


def test_people_tied_at_the_border_all_count_and_repeated_ones_never_do() -> None:
    assert outliers(np.array([0.0] * 15 + [0.3] * 5)).sum() == 5
    assert outliers(np.zeros(20)).sum() == 0


def test_copied_outliers_lower_this_score_far_more_than_that_of_everybody() -> None:
    original, holdout, avatars = people(1000, 1), people(1000, 2), people(1000, 3)
    centred = original[["age", "pressure", "weight"]]
    far = ((centred - centred.mean()) / centred.std()).abs().sum(axis=1)
    rarest = far.sort_values().index[-50:]
    leaked = avatars.copy()
    leaked.iloc[:50] = original.loc[rarest].to_numpy()
    leaked = leaked.astype(avatars.dtypes.to_dict())

    def fall(slug: str) -> float:
        before, after = (
            evalkit.measure(slug, original, table, holdout).score for table in (avatars, leaked)
        )
        return before - after

    average = fall("membership_inference_protection")
    assert fall(SLUG) > 15
    assert fall(SLUG) > 3 * average


@pytest.mark.parametrize("n_holdout", [1000, 400])
def test_unseen_real_rows_show_no_excess(n_holdout: int) -> None:
    result = evalkit.measure(SLUG, people(1000, 31), people(1000, 32), people(n_holdout, 33))
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high


def test_too_few_rare_people_are_not_compared() -> None:
    result = evalkit.measure(SLUG, people(200, 1), people(200, 2), people(60, 3))
    assert result.reason.code == "too_few_outliers"
    table = people(60, 1)
    assert evalkit.measure(SLUG, table, table).reason.code == "no_real_holdout"


def test_the_page_says_what_each_result_shows() -> None:
    original, holdout, avatars = people(1600, 1), people(1600, 2), people(1600, 3)
    copied = page_text(SLUG, evalkit.measure(SLUG, original, original, holdout))
    assert "Evidence of an excess" in copied
    unseen = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "No evidence" in unseen or "too weak" in unseen
    few = evalkit.measure(SLUG, original.head(300), avatars, holdout.head(300))
    assert "too weak to tell" in page_text(SLUG, few)
    reverse = page_text(SLUG, evalkit.measure(SLUG, original, holdout, holdout))
    assert "come from the same population" in reverse
    assert_one_sentence_a_line(SLUG)
