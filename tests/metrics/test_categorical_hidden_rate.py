from __future__ import annotations

import pandas as pd
import pytest
from test_contract import linked, people

import evalkit

SLUG = "categorical_hidden_rate"


def found(original: object, avatars: object, **options: object) -> evalkit.Result:
    return evalkit.measure(SLUG, original, avatars, row_link=True, **options)


def slow(original: pd.DataFrame, avatars: pd.DataFrame, names: list[str]) -> float:
    hits = 0.0
    for i, x in enumerate(original[names].to_numpy().tolist()):
        differing = [
            sum(a != b for a, b in zip(x, y, strict=True))
            for y in avatars[names].to_numpy().tolist()
        ]
        nearest = [j for j, count in enumerate(differing) if count == min(differing)]
        hits += (i in nearest) / len(nearest)
    return 100 * (1 - hits / len(original))


def test_the_example_of_the_page() -> None:
    original = pd.DataFrame(
        {"job": ["nurse", "baker"] * 2, "town": ["Aix", "Aix", "Brest", "Brest"], "age": range(4)}
    )
    avatars = original.assign(
        job=["nurse", "nurse", "nurse", "cook"], town=["Aix", "Aix", "Brest", "Brest"]
    )
    result = found(original, avatars)
    assert result.score == 37.5
    assert result.facts["variables"] == ["job", "town"]


@pytest.mark.parametrize("seed", range(5))
def test_the_score_is_that_of_the_slow_way(seed: int) -> None:
    original = people(50, seed)
    avatars = linked(original, seed + 9)
    result = found(original, avatars, categorical=["visits"])
    names = ["visits", "town", "smoker"]
    assert result.score == pytest.approx(slow(original, avatars, names))
    assert result.facts["self_score"] == pytest.approx(slow(original, original, names))


def test_numbers_alone_give_no_categories_to_search() -> None:
    table = pd.DataFrame({"a": range(40), "b": range(40)})
    result = found(table, table)
    assert (result.status, result.reason.code) == ("not applicable", "no_categories")


def test_it_is_off_unless_it_is_asked_for() -> None:
    original = people(40, 1)
    release = evalkit.load(original, original, row_link=True)
    assert SLUG not in evalkit.assess(release).results
    assert SLUG in evalkit.assess(release, metrics=[SLUG]).results


def test_a_missing_category_is_a_level_of_its_own() -> None:
    original = pd.DataFrame({"job": ["nurse", None, "baker", "cook"], "age": range(4)})
    assert found(original, original).score == 0.0
