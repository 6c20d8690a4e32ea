from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from reference.linkability_oracle import difference, ranges_of

import evalkit
from evalkit.metrics.closest_to_training_share import score_of

SLUG = "closest_to_training_share"


def rows_of(frame: pd.DataFrame) -> list[Any]:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def slow_score(original: pd.DataFrame, avatars: pd.DataFrame, holdout: pd.DataFrame) -> float:
    """Return the score from the formula, in exact fractions."""
    names = list(original.columns)
    pool = rows_of(original) + rows_of(holdout)
    numeric = {name for name in names if pd.api.types.is_numeric_dtype(original[name])}
    scale = ranges_of(pool, names, numeric)
    total = Fraction(0)
    for y in rows_of(avatars):
        distances = [
            sum(min(Fraction(1), difference(x, y, name, scale)) for name in names) for x in pool
        ]
        nearest = [i for i, one in enumerate(distances) if one == min(distances)]
        total += Fraction(sum(i < len(original) for i in nearest), len(nearest))
    share, pi = total / len(avatars), Fraction(len(original), len(pool))
    return float(100 * min(Fraction(1), (1 - share) / (1 - pi)))


def test_the_example_of_the_page() -> None:
    assert score_of(0.9, 0.8) == pytest.approx(50)


def test_two_avatars_by_hand() -> None:
    original = pd.DataFrame({"age": [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]})
    holdout = original + 5
    avatars = pd.DataFrame({"age": [11, 12, 14, 15, *[25] * 16]})
    # Nearest: 10, 10, 15, 15, then 16 times 25: two in twenty lie at people who were used.
    facts = evalkit.measure(SLUG, original, avatars, holdout).facts
    assert facts["success_share"] == pytest.approx(0.1)
    assert facts["expected_share"] == 0.5
    assert facts["n_hit"] == 3
    # Two avatars fall to one of them, two to another, sixteen to the third.
    assert facts["independent_hits"] == pytest.approx(20**2 / (2**2 + 2**2 + 16**2))


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_exact_fractions_with_ties_and_gaps(seed: int) -> None:
    tables = []
    for rows, offset in ((23, 0), (31, 50), (17, 99)):
        rng = np.random.default_rng(seed + offset)
        income = np.round(rng.normal(3, 1, rows), 1)
        tables.append(
            pd.DataFrame(
                {
                    "age": rng.integers(20, 26, rows),
                    "income": np.where(rng.random(rows) < 0.2, np.nan, income),
                    "town": rng.choice(["Aix", "Brest"], rows),
                }
            )
        )
    found = evalkit.measure(SLUG, *tables, numeric=["age", "income"])
    assert found.score == pytest.approx(slow_score(*tables), abs=1e-9)


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess(n: int, n_holdout: int) -> None:
    result = evalkit.measure(SLUG, people(n, 31), people(n, 32), people(n_holdout, 33))
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.interval[1] == 100
    assert result.score > 85


def test_a_fifth_of_copied_rows_lowers_the_score_by_a_fifth() -> None:
    unseen, leaked = [], []
    for seed in range(1000, 1040, 5):
        original, holdout, avatars = (
            people(rows, seed + k) for k, rows in enumerate((800, 200, 800))
        )
        unseen.append(evalkit.measure(SLUG, original, avatars, holdout).score)
        avatars.iloc[:160] = original.iloc[:160]
        leaked.append(evalkit.measure(SLUG, original, avatars, holdout).score)
    assert np.mean(unseen) > 93
    assert 74 < np.mean(leaked) < 86


def test_copying_each_avatar_five_times_narrows_no_interval() -> None:
    original, holdout, avatars = people(300, 1), people(300, 2), people(300, 3)
    once = evalkit.measure(SLUG, original, avatars, holdout)
    five = evalkit.measure(SLUG, original, pd.concat([avatars] * 5), holdout)
    assert five.score == pytest.approx(once.score)
    assert five.interval == pytest.approx(once.interval)


def test_without_a_real_or_with_a_tiny_holdout_it_is_not_applicable() -> None:
    table = people(60, 1)
    assert evalkit.measure(SLUG, table, table).reason.code == "no_real_holdout"
    assert evalkit.measure(SLUG, table, table, table.head(9)).reason.code == "holdout_too_small"


def test_the_page_says_what_each_result_shows() -> None:
    original, holdout, avatars = people(800, 1), people(800, 2), people(800, 3)
    copied = page_text(SLUG, evalkit.measure(SLUG, original, original, holdout))
    assert "nearer to the people used\n" in copied
    unseen = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "No evidence" in unseen
    few = evalkit.measure(SLUG, original.head(60), avatars, holdout.head(40))
    assert "No conclusion." in page_text(SLUG, few)
    reverse = page_text(SLUG, evalkit.measure(SLUG, original, holdout, holdout))
    assert "come from the same population" in reverse
    assert_one_sentence_a_line(SLUG)
