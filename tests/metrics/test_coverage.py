from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from reference.univariate_oracle import coverage

import evalkit

SLUG = "coverage"


def test_the_example_of_the_page() -> None:
    towns = ["Aix", "Brest", "Caen", "Dole"] * 25
    ages = [20] * 5 + [50] * 89 + [80] * 6
    original = pd.DataFrame({"town": towns, "age": ages})
    avatars = pd.DataFrame(
        {"town": ["Aix", "Brest", "Caen", "Aix"] * 25, "age": [30] * 5 + [50] * 89 + [80] * 6}
    )
    result = evalkit.measure(SLUG, original, avatars)
    assert result.score == pytest.approx((75 + 100 * 50 / 60) / 2)
    assert round(result.score, 1) == 79.2
    worst = result.facts["worst_variables"][0]
    assert (worst["variable"], worst["lost"], worst["n_lost"]) == ("town", ["Dole"], 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_plain_counting(seed: int) -> None:
    original, avatars = people(150, seed), people(70, seed + 50)
    gone = np.random.default_rng(seed).random(150) < 0.4
    original["weight"] = original["weight"].mask(gone)
    avatars["age"] = avatars["age"].clip(lower=45)
    avatars.loc[avatars["town"] == "Caen", "town"] = "Elba"
    result = evalkit.measure(SLUG, original, avatars, people(90, seed + 90))
    assert result.score == pytest.approx(coverage(original, avatars, {"age", "pressure", "weight"}))
    assert result.facts["n_unknown"] == 1


def test_levels_that_few_people_carry_neither_count_nor_appear() -> None:
    original, avatars = people(200, 1), people(200, 2)
    before = evalkit.measure(SLUG, original, avatars)
    original.loc[:9, "town"] = "Quillfeather"
    after = evalkit.measure(SLUG, original, avatars)
    assert after.score == before.score
    assert "Quillfeather" not in str(after.facts)
    original.loc[:10, "town"] = "Quillfeather"  # the eleventh
    assert "Quillfeather" in str(evalkit.measure(SLUG, original, avatars).facts)


def test_a_level_of_many_rows_of_few_people_is_not_named() -> None:
    original, avatars = people(200, 1).assign(person=range(200)), people(200, 2)
    avatars = avatars.assign(person=range(1000, 1200))
    original.loc[:29, "town"] = "Quillfeather"
    original.loc[:29, "person"] = original["person"] % 3
    without = [table.drop(columns="person") for table in (original, avatars)]
    assert evalkit.measure(SLUG, *without).facts["n_lost"] == 1
    facts = evalkit.measure(SLUG, original, avatars, individual="person").facts
    assert facts["n_lost"] == 0
    assert "Quillfeather" not in str(facts)


def test_a_column_that_says_nothing_raises_no_score() -> None:
    original, avatars = people(200, 1), people(200, 2).assign(age=50)
    before = evalkit.measure(SLUG, original, avatars)
    codes = [f"{k % 40}x" for k in range(200)]  # forty levels of five people each
    wider = [one.assign(country="France", dose=4, code=codes) for one in (original, avatars)]
    after = evalkit.measure(SLUG, *wider)
    assert after.score == before.score
    assert (after.facts["left_out"], after.facts["rare"]) == (["country", "dose"], ["code"])


def test_a_range_of_one_value_counts_wholly_or_not() -> None:
    original = pd.DataFrame({"gain": [0] * 97 + [5, 6, 7], "age": [*range(50)] * 2})
    same = evalkit.measure(SLUG, original, original.assign(gain=[0] * 96 + [9, 9, 9, 9]))
    wider = evalkit.measure(SLUG, original, original.assign(gain=[0] * 90 + [9] * 10))
    assert (same.score, wider.score) == (100.0, 50.0)


def test_avatars_without_a_filled_cell_cover_nothing() -> None:
    original, avatars = people(200, 1), people(200, 2)
    avatars[["weight", "town"]] = np.nan
    worst = evalkit.measure(SLUG, original, avatars).facts["worst_variables"]
    assert [(one["variable"], one["score"]) for one in worst[:2]] == [
        ("town", 0.0),
        ("weight", 0.0),
    ]


def test_nothing_that_varies_is_not_applicable() -> None:
    table = pd.DataFrame({"country": ["France"] * 50, "dose": [4] * 50})
    assert evalkit.measure(SLUG, table, table).reason.code == "nothing_to_cover"


def test_the_page_says_what_each_result_shows() -> None:
    original, avatars, holdout = people(300, 1), people(300, 2), people(300, 3)
    page = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "levels and ranges are still there" in page
    assert "originals none is gone." in page
    assert "No level of the avatars is unknown to the originals." in page
    lost = avatars.assign(town="Aix")
    page = page_text(SLUG, evalkit.measure(SLUG, original, lost), holdout_kind="approximate")
    assert "3 levels are gone" in page
    assert "town lost 3 of 4 levels, among them Brest, Caen, Dole." in page
    narrow = avatars.assign(weight=70 + avatars["weight"] / 100)
    assert "ranges of values changed" in page_text(SLUG, evalkit.measure(SLUG, original, narrow))
    assert_one_sentence_a_line(SLUG)
