from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit

SLUG = "column_direct_match_protection"


def test_the_example_of_the_page() -> None:
    incomes, ages = [*range(1000, 1040), 5, 5], [1, 2, 3, 4] + [9] * 38
    original = pd.DataFrame({"income": incomes, "age": ages})
    avatars = pd.DataFrame({"income": [*range(1000, 1010), 5], "age": [1, 2, 3] + [9] * 8})
    result = evalkit.measure(SLUG, original, avatars, numeric=["income", "age"])
    assert result.score == pytest.approx(50)
    assert result.facts["worst_columns"] == [
        {"variable": "income", "unique": 40, "returned_share": 0.25, "holdout_share": None}
    ]
    assert result.facts["n_small_columns"] == 1  # four people are too few to show


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_those_of_plain_counting(seed: int) -> None:
    original, avatars, holdout = (people(60, seed + k) for k in (0, 100, 200))
    original.loc[[3, 9], "weight"] = np.nan
    shares = []
    for name in original:
        counts = Counter(original[name].dropna())
        once = {value for value, count in counts.items() if count == 1}
        if once:
            shares.append(
                [len(once & set(other[name])) / len(once) for other in (avatars, holdout)]
            )
    facts = evalkit.measure(SLUG, original, avatars, holdout).facts
    found = [facts["success_share"], facts["control_share"]]
    assert found == pytest.approx(np.mean(shares, axis=0).tolist())
    assert facts["n_columns"] == len(shares)


def test_a_missing_cell_is_no_value_even_if_only_one_is_missing() -> None:
    original, avatars = people(60, 1), people(60, 2)
    before = evalkit.measure(SLUG, original, avatars).facts["n_unique"]
    original.loc[0, "town"] = None
    original.loc[1, "smoker"] = None
    assert evalkit.measure(SLUG, original, avatars).facts["n_unique"] == before


def test_too_few_unique_values_say_nothing() -> None:
    table = pd.DataFrame({"town": ["Aix", "Brest"] * 20, "sex": ["f", "m"] * 20})
    result = evalkit.measure(SLUG, table, table)
    assert result.reason.code == "too_few_unique_values"


def test_it_is_off_unless_it_is_asked_for() -> None:
    release = evalkit.load(people(60, 1), people(60, 2))
    assert SLUG not in evalkit.assess(release).results


def test_the_page_says_what_each_result_shows() -> None:
    original, avatars, holdout = people(300, 1), people(300, 2), people(300, 3)
    page = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "of unique values return" in page
    assert "Among people who were never used" in page
    none = evalkit.measure(SLUG, original, avatars.tail(1))
    page_text(SLUG, none)
    assert_one_sentence_a_line(SLUG)
