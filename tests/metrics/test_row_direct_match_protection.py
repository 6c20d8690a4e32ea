from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit

SLUG = "row_direct_match_protection"


def test_the_example_of_the_page() -> None:
    original, avatars, holdout = people(900, 1), people(1000, 2), people(500, 3)
    avatars.iloc[:20] = original.iloc[:20]
    holdout.iloc[:10] = original.iloc[50:60]
    result = evalkit.measure(SLUG, original, avatars, holdout)
    assert result.score == pytest.approx(98)
    assert result.facts["success_share"] == result.facts["control_share"] == 0.02
    low, high = result.facts["excess_interval"]
    assert low < 0 < high


@pytest.mark.parametrize("seed", range(4))
def test_matches_are_those_of_a_set_of_rows(seed: int) -> None:
    def coarse(rows: int, offset: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed + offset)
        return pd.DataFrame(
            {
                "age": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 4, rows)),
                "town": rng.choice(["Aix", "Brest", "Caen"], rows),
            }
        )

    original, avatars, holdout = coarse(9, 0), coarse(40, 100), coarse(30, 200)
    known = {tuple(map(repr, row)) for row in original.to_numpy()}
    found = [
        np.mean([tuple(map(repr, row)) in known for row in table.to_numpy()])
        for table in (avatars, holdout)
    ]
    facts = evalkit.measure(SLUG, original, avatars, holdout, numeric=["age"]).facts
    assert [facts["success_share"], facts["control_share"]] == pytest.approx(found)


def test_a_number_written_in_two_ways_is_one_number() -> None:
    original = pd.DataFrame({"age": [1, 2, 3], "size": [0.0, 1.5, 2.5]})
    avatars = pd.DataFrame({"age": [1.0, 2.0, 9.0], "size": [-0.0, 1.5, 2.5]})
    facts = evalkit.measure(SLUG, original, avatars).facts
    assert facts["n_matches"] == 2


def test_without_a_holdout_nothing_stands_beside_it() -> None:
    result = evalkit.measure(SLUG, people(50, 1), people(50, 2))
    assert result.status == "measured"
    assert result.facts["control_share"] is None
    assert result.facts["excess_interval"] is None


def test_the_page_says_what_each_result_shows() -> None:
    original, avatars, holdout = people(300, 1), people(300, 2), people(300, 3)
    none = page_text(SLUG, evalkit.measure(SLUG, original, avatars, holdout))
    assert "no avatar equals an original" in none
    copied = page_text(SLUG, evalkit.measure(SLUG, original, original, holdout))
    assert "Some avatars are copies." in copied
    alone = page_text(SLUG, evalkit.measure(SLUG, original, original))
    assert "cannot be told apart" in alone
    same = page_text(SLUG, evalkit.measure(SLUG, original, original, original))
    assert "no more frequent than among strangers" in same
    assert_one_sentence_a_line(SLUG)
