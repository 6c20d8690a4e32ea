from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest
from metrics.test_hidden_rate import AGES, OTHERS
from reference.linkability_oracle import tie_set
from test_contract import linked, people

import evalkit

SLUG = "correlation_protection_rate"


def found(original: object, avatars: object, **options: object) -> evalkit.Result:
    return evalkit.measure(SLUG, original, avatars, row_link=True, **options)


def slow(original: pd.DataFrame, avatars: pd.DataFrame, names: list[str]) -> float:
    numeric = [name for name in names if pd.api.types.is_numeric_dtype(original[name])]
    ends = {name: (original[name].min(), original[name].max()) for name in numeric}
    ranges = {name: Fraction(str(high)) - Fraction(str(low)) for name, (low, high) in ends.items()}
    rows = avatars.to_dict("records")
    hits = Fraction(0)
    for i, x in enumerate(original.to_dict("records")):
        nearest = tie_set(x, rows, names, ranges)
        hits += Fraction(int(i in nearest), len(nearest))
    return float(100 * (1 - hits / len(original)))


def test_the_example_of_the_page() -> None:
    assert found(AGES, OTHERS).score == 75.0


@pytest.mark.parametrize("known", [["age", "town"], ["age", "pressure", "visits", "smoker"]])
@pytest.mark.parametrize("seed", range(3))
def test_the_score_is_that_of_the_slow_way(seed: int, known: list[str]) -> None:
    original = people(40, seed)
    avatars = linked(original, seed + 9)
    result = found(original, avatars, known=known)
    assert result.score == pytest.approx(slow(original, avatars, known))
    assert result.facts["self_score"] == pytest.approx(slow(original, original, known))
    assert result.facts["variables"] == known


def test_an_avatar_far_outside_cannot_stretch_the_ranges() -> None:
    original = people(60, 1)
    avatars = linked(original, 2)
    before = found(original, avatars, known=["age", "pressure"])
    avatars.loc[0, "age"] = 10**9
    after = found(original, avatars, known=["age", "pressure"])
    assert after.score == pytest.approx(before.score, abs=100 / 60 + 1e-9)


def test_a_scenario_without_known_variables_has_nothing_to_search() -> None:
    original = people(40, 1)
    release = evalkit.load(original, original, row_link=True)
    result = evalkit.assess(release, evalkit.Scenario(known=[]), metrics=[SLUG])[SLUG]
    assert (result.status, result.reason.code) == ("not applicable", "no_known")


def test_it_is_off_unless_it_is_asked_for() -> None:
    original = people(40, 1)
    release = evalkit.load(original, original, row_link=True)
    assert SLUG not in evalkit.assess(release).results
