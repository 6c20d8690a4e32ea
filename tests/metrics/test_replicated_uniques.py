from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.quantities_control import Controlled

SLUG = "replicated_uniques"


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 50, rows).astype(float),
            "town": rng.choice(["Aix", "Brest", "Caen", ""], rows),
            "visits": rng.poisson(2, rows),
        }
    )
    table.loc[rng.random(rows) < 0.1, "age"] = np.nan
    return table


def rows_of(table: pd.DataFrame, known: list[str]) -> list[tuple[object, ...]]:
    cells = table[known].astype(object).where(table[known].notna(), None)
    return [tuple(row) for row in cells.itertuples(index=False)]


@pytest.mark.parametrize("known", [["age", "town", "visits"], ["age", "visits"]])
@pytest.mark.parametrize("seed", range(3))
def test_the_shares_equal_those_of_slow_code(seed: int, known: list[str]) -> None:
    tables = people(120, seed), people(200, seed + 40), people(90, seed + 80)
    facts = evalkit.measure(SLUG, *tables, known=known, numeric=["age", "visits"]).facts
    original, avatars, holdout = (rows_of(table, known) for table in tables)
    count = Counter(original + holdout)
    for prefix, group in (("", original), ("control_", holdout)):
        unique = [row for row in group if count[row] == 1]
        found = sum(row in avatars for row in unique)
        share = "success_share" if prefix == "" else "control_share"
        assert facts[f"{prefix}attempts"] == len(unique)
        assert facts[share] == pytest.approx(found / len(unique))
        assert facts[f"{prefix}unique_share"] == pytest.approx(len(unique) / len(group))


def test_the_example_of_the_page() -> None:
    def numbers(first: int, count: int) -> list[int]:
        return list(range(first, first + count))

    doubles = [value for value in numbers(5000, 200) for _ in range(2)]
    original = pd.DataFrame({"code": numbers(0, 100) + doubles})
    holdout = pd.DataFrame({"code": numbers(1000, 100) + doubles})
    avatars = pd.DataFrame({"code": numbers(0, 40) + numbers(1000, 20) + numbers(5000, 100)})
    result = evalkit.measure(SLUG, original, avatars, holdout, numeric=["code"])
    assert result.score == pytest.approx(75)
    assert result.facts["attempts"] == result.facts["control_attempts"] == 100
    assert (result.facts["found"], result.facts["control_found"]) == (40, 20)
    assert result.interval == pytest.approx(Controlled(40, 100, 20, 100).interval)
    assert result.interval_method == "mover"


def test_a_copy_scores_0_and_repeating_it_gains_nothing() -> None:
    rng = np.random.default_rng(0)
    original = pd.DataFrame({name: rng.permutation(200) for name in "ab"})
    holdout = pd.DataFrame({name: rng.permutation(200) for name in "ab"})
    repeated = pd.concat([original] * 5)
    for avatars in (original, repeated):
        result = evalkit.measure(SLUG, original, avatars, holdout)
        assert result.score == result.facts["self_score"] == 0
        assert result.facts["excess_interval"][0] > 0.9


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess(n: int, n_holdout: int) -> None:
    tables = people(n, 51), people(n, 52), people(n_holdout, 53)
    result = evalkit.measure(SLUG, *tables)
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.interval[1] == 100


def test_few_people_found_are_not_counted_out() -> None:
    table = pd.DataFrame({"code": range(300)})
    avatars = pd.DataFrame({"code": [*range(5), *range(900, 990)]})
    result = evalkit.measure(SLUG, table.iloc[:200], avatars, table.iloc[200:], numeric=["code"])
    assert result.facts["found"] is None
    assert result.facts["control_found"] == 0


def test_known_variables_that_single_out_nobody_are_not_applicable() -> None:
    tables = [pd.DataFrame({"sex": ["f", "m"] * 40}) for _ in range(3)]
    result = evalkit.measure(SLUG, *tables)
    assert (result.status, result.reason.code) == ("not applicable", "too_few_unique")
    assert "--known" in result.reason.text


def test_a_holdout_that_is_found_whole_leaves_nothing_to_compare() -> None:
    table = pd.DataFrame({"code": range(100)})
    result = evalkit.measure(SLUG, table.iloc[:50], table, table.iloc[50:], numeric=["code"])
    assert result.reason.code == "too_few_unique"


def test_an_approximate_holdout_is_no_control() -> None:
    result = evalkit.measure(SLUG, people(100, 1), people(100, 2))
    assert result.reason.code == "no_real_holdout"


def test_a_control_that_always_fails_or_never_does() -> None:
    assert Controlled(0, 50, 0, 40).score == 100
    assert Controlled(50, 50, 0, 40).interval[0] == 0
    with pytest.raises(ValueError, match="nothing to compare"):
        _ = Controlled(3, 50, 40, 40).score
