from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit
from evalkit.metrics.closest_distances_ratio import score_of

SLUG = "closest_distances_ratio"


def slow_ratio(table: pd.DataFrame, original: pd.DataFrame, spans: dict[str, float]) -> float:
    """Return the median ratio by sorting all distances, number columns only."""
    distinct = original.drop_duplicates()
    ratios = []
    for _, row in table.iterrows():
        gaps = sum((distinct[name] - row[name]).abs() / span for name, span in spans.items())
        first, second = sorted(gaps)[:2]
        ratios.append(first / second)
    return float(np.median(ratios))


def numbers(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(0, 60, rows), "size": rng.normal(size=rows).round(2)})


def test_the_example_of_the_page() -> None:
    assert score_of(0.03 / 0.05, 0.8) == pytest.approx(75)


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_sorted_distances(seed: int) -> None:
    original, avatars, holdout = (numbers(k, seed + k) for k in (40, 33, 27))
    original = pd.concat([original, original.head(7)], ignore_index=True)
    real = pd.concat([original, holdout])
    spans = {name: float(real[name].max() - real[name].min()) for name in real}
    avatars = avatars.clip(real.min(), real.max(), axis=1)  # inside the ranges: nothing is capped
    ratios = [slow_ratio(table, original, spans) for table in (avatars, holdout)]
    result = evalkit.measure(SLUG, original, avatars, holdout)
    assert result.facts["ratio"] == pytest.approx(ratios[0] / ratios[1])
    assert result.score == pytest.approx(100 * min(1.0, ratios[0] / ratios[1]))


def test_repeated_originals_count_once() -> None:
    original, avatars, holdout = people(200, 1), people(200, 2), people(200, 3)
    once = evalkit.measure(SLUG, original, avatars, holdout)
    twice = evalkit.measure(SLUG, pd.concat([original, original]), avatars, holdout)
    assert twice.score == pytest.approx(once.score)


def test_avatars_that_cling_to_one_original_score_low() -> None:
    original, holdout = people(400, 1), people(400, 2)
    nudged = original.assign(weight=original["weight"] + 0.3)
    result = evalkit.measure(SLUG, original, nudged, holdout)
    assert result.score < 25
    assert result.interval[1] < 40


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_score_as_strangers_do(n: int, n_holdout: int) -> None:
    result = evalkit.measure(SLUG, people(n, 31), people(n, 32), people(n_holdout, 33))
    assert result.score > 93
    assert result.interval[1] == 100


def test_what_it_needs_is_said() -> None:
    table = people(60, 1)
    assert evalkit.measure(SLUG, table, people(60, 2)).reason.code == "no_real_holdout"
    assert evalkit.measure(SLUG, table, table, row_link=True).status == "measured"
    assert evalkit.measure(SLUG, table, table, table.head(9)).reason.code == "holdout_too_small"
    assert evalkit.measure(SLUG, table, table, table).reason.code == "strangers_all_matched"
    one = table.iloc[[0] * 30].reset_index(drop=True)
    assert evalkit.measure(SLUG, one, table, table).reason.code == "one_distinct_original"


def test_the_page_says_what_each_result_shows() -> None:
    original, holdout, avatars = people(300, 1), people(300, 2), people(300, 3)
    copied = page_text(SLUG, evalkit.measure(SLUG, original, original, holdout))
    assert "more clearly than strangers do" in copied
    unseen = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "cling to one original\n" not in unseen
    few = evalkit.measure(SLUG, original, avatars, holdout.head(15))
    assert few.facts["holdout_median_ratio"] is None
    page_text(SLUG, few)
    halves = evalkit.measure(SLUG, original, avatars, row_link=True)
    assert "anonymised too" in page_text(SLUG, halves, holdout_kind="approximate")
    assert_one_sentence_a_line(SLUG)
