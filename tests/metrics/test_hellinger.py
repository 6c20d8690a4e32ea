from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from reference.univariate_oracle import hellinger

import evalkit
from evalkit.metrics.hellinger import METRIC, number_of_bins
from evalkit.randomness import stream

SLUG = "hellinger"
NUMERIC = {"age", "pressure", "weight", "seen"}


def with_gaps(rows: int, seed: int) -> pd.DataFrame:
    table = people(rows, seed)
    gone = np.random.default_rng(seed).random((rows, 2)) < 0.4
    return table.assign(
        weight=table["weight"].mask(gone[:, 0]), town=table["town"].mask(gone[:, 1])
    )


def test_the_example_of_the_page() -> None:
    original = pd.DataFrame({"smoker": ["yes"] * 50 + ["no"] * 50})
    avatars = pd.DataFrame({"smoker": ["yes"] * 18 + ["no"] * 82})
    result = evalkit.measure(SLUG, original, avatars, original)
    distance = (1 - (0.5 * 0.18) ** 0.5 - (0.5 * 0.82) ** 0.5) ** 0.5
    assert result.score == pytest.approx(100 * (1 - distance))
    assert round(result.score, 1) == 75.6
    assert result.facts["worst_variables"][0]["distance"] == pytest.approx(distance)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [(60, 45), (200, 320)])
def test_the_score_is_that_of_plain_counting(seed: int, sizes: tuple[int, int]) -> None:
    original, avatars = with_gaps(sizes[0], seed), with_gaps(sizes[1], seed + 50)
    result = evalkit.measure(SLUG, original, avatars, with_gaps(90, seed + 90))
    assert result.score == pytest.approx(hellinger(original, avatars, NUMERIC))
    assert result.facts["bins"] == number_of_bins(*sizes)


def test_worst_variables_stand_first_with_the_holdout_beside() -> None:
    original, holdout = people(300, 1), people(300, 3)
    avatars = people(300, 2)
    avatars["weight"] += 15
    facts = evalkit.measure(SLUG, original, avatars, holdout).facts
    worst = facts["worst_variables"]
    assert worst[0]["variable"] == "weight"
    assert worst[0]["score"] < 80 < worst[0]["real"]
    assert [one["distance"] for one in worst] == sorted([o["distance"] for o in worst])[::-1]
    assert facts["real_band"][0] <= facts["real_score"] <= facts["real_band"][1]
    assert abs(facts["holdout_score"] - facts["real_score"]) < 4  # of one size here


@pytest.mark.parametrize("n_holdout", [100, 400, 1200])
def test_unseen_real_rows_lie_in_the_band_whatever_the_size_of_the_holdout(n_holdout: int) -> None:
    original, holdout = people(400, 11), people(n_holdout, 12)
    inside = 0
    for seed in range(20, 28):
        release = evalkit.load(original, people(400, seed), holdout)
        outcome = METRIC.compute(release, evalkit.Scenario(), stream(0, SLUG))
        low, high = outcome.facts["real_band"]
        inside += low - 0.5 <= outcome.score <= high + 0.5
    assert inside >= 6


def test_a_column_that_is_one_value_in_both_tables_raises_no_score() -> None:
    original, avatars, holdout = people(200, 1), people(200, 2), people(200, 3)
    before = evalkit.measure(SLUG, original, avatars, holdout)
    wider = [
        table.assign(country="France", dose=4.5, number=range(1, 201))
        for table in (original, avatars, holdout)
    ]
    after = evalkit.measure(SLUG, *wider)
    assert after.score == before.score
    assert after.facts["left_out"] == ["country", "dose"]
    key = "variable"
    old = {one[key]: one["distance"] for one in before.facts["worst_variables"]}
    new = {one[key]: one["distance"] for one in after.facts["worst_variables"]}
    assert old == new


def test_a_column_that_is_constant_in_one_table_only_counts_as_lost() -> None:
    original, avatars = people(200, 1), people(200, 2)
    for first, second in ((4, [4, 5] * 100), ([4, 5] * 100, 4), (4, 7)):
        result = evalkit.measure(SLUG, original.assign(x=first), avatars.assign(x=second))
        worst = result.facts["worst_variables"][0]
        assert worst["variable"] == "x"
        assert worst["score"] < 60
    assert worst["distance"] == 1.0  # 4 in one table and 7 in the other have nothing in common


def test_a_column_without_a_filled_cell_among_the_avatars_scores_nothing() -> None:
    original, avatars = people(200, 1), people(200, 2)
    avatars[["weight", "town"]] = np.nan
    worst = evalkit.measure(SLUG, original, avatars).facts["worst_variables"]
    assert {one["variable"] for one in worst[:2]} == {"weight", "town"}
    assert [one["score"] for one in worst[:2]] == [0.0, 0.0]


def test_dates_are_seen_as_numbers() -> None:
    days = pd.date_range("2020-01-01", periods=200).astype(str)
    original, avatars = people(200, 1).assign(seen=days), people(200, 2).assign(seen=days)
    same = evalkit.measure(SLUG, original, avatars)
    later = pd.date_range("2021-01-01", periods=200).astype(str)
    moved = evalkit.measure(SLUG, original, avatars.assign(seen=later))
    assert moved.score < same.score - 10
    assert moved.facts["worst_variables"][0]["type"] == "datetime"


def test_too_few_avatars_are_not_applicable() -> None:
    result = evalkit.measure(SLUG, people(100, 1), people(19, 2), people(50, 3))
    assert result.reason.code == "too_few_avatars"
    alone = evalkit.measure(SLUG, pd.DataFrame({"x": [1] * 50}), pd.DataFrame({"x": [1] * 50}))
    assert alone.reason.code == "nothing_varies"


def test_a_rare_level_is_in_no_fact() -> None:
    original, avatars = people(200, 1), people(200, 2)
    for table in (original, avatars):
        table["town"] = "Aix"
        table.loc[:80, "town"] = "Brest"
        table.loc[:20, "town"] = "Dole"
    original.loc[:4, "town"] = "Quillfeather"
    avatars["town"] = "Aix"
    facts = evalkit.measure(SLUG, original, avatars).facts
    assert "Brest" in str(facts["pictures"])
    assert "Quillfeather" not in str(facts)


def test_the_page_says_what_each_result_shows() -> None:
    original, avatars, holdout = people(300, 1), people(300, 2), people(300, 3)
    page = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "as close as a real sample" in page
    target = {"operator": ">", "value": 70.0, "issuer": "the seller", "definition": "similar"}
    poor = evalkit.measure(SLUG, original, avatars.assign(weight=avatars["weight"] + 30))
    page = page_text(SLUG, poor, holdout_kind="approximate", target=target, verdict="not met")
    assert "weight lost most" in page
    assert "changed more than by chance" in page
    assert "similar quantity" in page
    assert_one_sentence_a_line(SLUG)


def test_the_target_of_the_newer_vendor_profile_is_judged() -> None:
    release = evalkit.load(people(300, 1), people(300, 2), people(300, 3))
    assessment = evalkit.assess(release, metrics=[SLUG], profile="vendor-2026")
    assert assessment[SLUG].verdict == "met"
    assert assessment[SLUG].target.definition == "similar"
    assert SLUG not in assessment.profile.unmeasured
