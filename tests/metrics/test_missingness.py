from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from reference.univariate_oracle import missingness

import evalkit

SLUG = "missingness"


def with_gaps(rows: int, seed: int, share: float = 0.4) -> pd.DataFrame:
    """Return people whose weight and town are missing, mostly together."""
    rng = np.random.default_rng(seed)
    table, gone = people(rows, seed), rng.random(rows) < share
    return table.assign(
        weight=table["weight"].mask(gone), town=table["town"].mask(gone & (rng.random(rows) < 0.8))
    )


def test_the_example_of_the_page() -> None:
    blood, weight = [None] * 20 + [1.5] * 80, [None] * 4 + [70.0] * 96
    original = pd.DataFrame({"blood": blood, "weight": weight, "age": [*range(50)] * 2})
    avatars = original.assign(blood=[None] * 30 + [1.5] * 70, weight=70.0)
    result = evalkit.measure(SLUG, original, avatars)
    assert result.score == pytest.approx(93)
    assert result.facts["n_complete"] == 1
    worst = result.facts["worst_variables"][0]
    assert (worst["variable"], worst["original_share"], worst["avatars_share"]) == (
        "blood",
        0.2,
        0.3,
    )


@pytest.mark.parametrize("seed", range(4))
def test_score_and_patterns_are_those_of_plain_counting(seed: int) -> None:
    original, avatars = with_gaps(80, seed), with_gaps(130, seed + 50, 0.2)
    avatars.loc[3, "smoker"] = None
    result = evalkit.measure(SLUG, original, avatars, with_gaps(90, seed + 90))
    score, apart = missingness(original, avatars)
    assert result.score == pytest.approx(score)
    assert result.facts["pattern_distance"] == pytest.approx(apart)


def test_gaps_in_other_rows_change_the_patterns_and_not_the_score() -> None:
    original = with_gaps(400, 1)
    rng = np.random.default_rng(0)
    shuffled = original.assign(town=rng.permutation(original["town"].to_numpy()))
    result = evalkit.measure(SLUG, original, shuffled)
    assert result.score == 100.0
    assert result.facts["pattern_distance"] > 0.1


def test_a_column_without_gaps_raises_no_score() -> None:
    original, avatars = with_gaps(200, 1), with_gaps(200, 2, 0.1)
    before = evalkit.measure(SLUG, original, avatars)
    wider = [one.assign(country="France", dose=range(200)) for one in (original, avatars)]
    assert evalkit.measure(SLUG, *wider).score == before.score


def test_a_column_that_lost_all_its_cells_counts_in_full() -> None:
    original, avatars = people(200, 1), people(200, 2)
    avatars["weight"] = np.nan
    result = evalkit.measure(SLUG, original, avatars)
    assert result.score == 0.0
    assert result.facts["n_variables"] == 1


def test_the_names_of_columns_never_matter() -> None:
    names = {"age": "z", "pressure": "b", "weight": "q", "town": "m", "smoker": "a"}
    tables = with_gaps(200, 1), with_gaps(200, 2, 0.1)
    before = evalkit.measure(SLUG, *tables)
    after = evalkit.measure(SLUG, *(table.rename(columns=names) for table in tables))
    assert after.score == before.score
    assert after.facts["pattern_distance"] == before.facts["pattern_distance"]


def test_nothing_missing_is_not_applicable_and_no_pass() -> None:
    result = evalkit.measure(SLUG, people(60, 1), people(60, 2), with_gaps(60, 3))
    assert result.reason.code == "nothing_missing"
    assert result.verdict == "not applicable"


def test_the_page_says_what_each_result_shows() -> None:
    original, avatars, holdout = with_gaps(300, 1), with_gaps(300, 2), with_gaps(300, 3)
    page = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "cells are missing as often as before" in page
    filled = evalkit.measure(SLUG, original, people(300, 2))
    page = page_text(SLUG, filled, holdout_kind="approximate")
    assert "shares of missing cells changed" in page
    assert f"would score {filled.score:.1f} here" in page
    assert_one_sentence_a_line(SLUG)
