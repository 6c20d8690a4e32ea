from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.metrics.attribute_disclosure import bin_edges
from evalkit.quantities_control import Controlled

SLUG = "attribute_disclosure"
KNOWN = ["age", "town", "sex"]


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 32, rows).astype(float),
            "town": rng.choice(["Aix", "Brest", ""], rows),
            "sex": rng.choice(["f", "m"], rows),
            "income": rng.normal(3, 1, rows).round(1),
        }
    )
    table["sick"] = np.where(table["age"] + rng.normal(scale=3, size=rows) > 27, "yes", "no")
    table.loc[rng.random(rows) < 0.1, ["age", "income"]] = np.nan
    table["sick"] = table["sick"].where(rng.random(rows) >= 0.1, "")
    return table


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    return table.astype(object).where(table.notna(), None).to_dict("records")


def bin_of(value: object, originals: list[object]) -> object:
    """Return the quantile bin by counting: how many tenths of the originals lie below."""
    filled = sorted(one for one in originals if one is not None)
    if value is None:
        return None
    edges = {filled[math.ceil(len(filled) * k / 10) - 1] for k in range(1, 10)}
    return sum(edge < value for edge in edges)


def disclosed_share(
    group: list[dict[str, object]],
    avatars: list[dict[str, object]],
    sensitive: str,
    originals: list[object] | None,
) -> float:
    def value(row: dict[str, object]) -> object:
        return row[sensitive] if originals is None else bin_of(row[sensitive], originals)

    hits = 0
    for x in group:
        alike = {value(y) for y in avatars if all(x[name] == y[name] for name in KNOWN)}
        hits += alike == {value(x)}
    return hits / len(group)


@pytest.mark.parametrize("sensitive", ["sick", "income"])
@pytest.mark.parametrize("seed", range(3))
def test_the_shares_equal_those_of_slow_code(seed: int, sensitive: str) -> None:
    tables = people(120, seed), people(150, seed + 40), people(90, seed + 80)
    found = evalkit.measure(
        SLUG, *tables, known=KNOWN, sensitive=sensitive, numeric=["age", "income"]
    ).facts
    original, avatars, holdout = (records(table) for table in tables)
    numbers = [row[sensitive] for row in original] if sensitive == "income" else None
    for share, group in (("success_share", original), ("control_share", holdout)):
        expected = disclosed_share(group, avatars, sensitive, numbers)
        assert found[share] == pytest.approx(expected)
        assert expected > 0


def test_the_example_of_the_page() -> None:
    assert Controlled(70, 200, 40, 200).score == pytest.approx(81.25)


def test_a_small_table_by_hand() -> None:
    # In town a all avatars are sick, in b they disagree, c has none, in d all are well.
    towns = list("abcd") * 10
    original = pd.DataFrame({"town": towns, "sick": ["yes"] * 40})
    holdout = pd.DataFrame({"town": towns, "sick": ["no"] * 40})
    avatars = pd.DataFrame({"town": list("aabbdd") * 5, "sick": ["yes"] * 10 + ["no"] * 20})
    avatars["sick"] = ["yes", "yes", "yes", "no", "no", "no"] * 5
    result = evalkit.measure(SLUG, original, avatars, holdout, known=["town"], sensitive="sick")
    assert result.facts["success_share"] == 0.25  # those of a
    assert result.facts["control_share"] == 0.25  # those of d
    assert result.score == 100
    alike = holdout.assign(sick="maybe")
    found = evalkit.measure(SLUG, original, avatars, alike, known=["town"], sensitive="sick")
    assert found.score == 75
    assert found.interval == pytest.approx(Controlled(10, 40, 0, 40).interval)


def test_bins_of_equal_values_are_one_and_no_number_makes_no_bin() -> None:
    assert bin_edges(np.array([3.0, np.nan, 3.0, 3.0])).tolist() == [3]
    assert bin_edges(np.array([np.nan])).tolist() == []
    values = np.array([1, 1, 1, 1, 1, 2, 3, 4, 5, 6])
    assert bin_edges(values).tolist() == [1, 2, 3, 4, 5]
    assert (bin_edges(values * 2 + 3) == bin_edges(values) * 2 + 3).all()


def test_a_copy_of_people_whom_the_known_variables_single_out_scores_0() -> None:
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame(
            {"a": rng.permutation(200), "b": rng.permutation(200), "c": rng.choice(9, 200)}
        )
        for _ in range(2)
    ]
    for avatars in (tables[0], pd.concat([tables[0]] * 5)):
        result = evalkit.measure(
            SLUG, tables[0], avatars, tables[1], known=["a", "b"], sensitive="c"
        )
        assert result.score == result.facts["self_score"] == 0
        assert result.facts["floor_score"] > 95


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess(n: int, n_holdout: int) -> None:
    tables = people(n, 31), people(n, 32), people(n_holdout, 33)
    result = evalkit.measure(SLUG, *tables, known=KNOWN, sensitive="sick")
    low, high = result.facts["excess_interval"]
    assert low <= 0 <= high
    assert result.interval[1] == 100


@pytest.mark.parametrize("known", [None, list("abcdefg"), ["sick"]])
def test_known_variables_must_be_declared_and_at_most_six(known: list[str] | None) -> None:
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({name: rng.choice(["x", "y"], 50) for name in "abcdefg"}).assign(
            sick=rng.choice(["yes", "no"], 50)
        )
        for _ in range(3)
    ]
    result = evalkit.measure(SLUG, *tables, known=known, sensitive="sick")
    assert (result.status, result.reason.code) == ("not applicable", "known_undeclared")
    assert "--known" in result.reason.text


def test_the_sensitive_variable_does_not_count_among_the_six() -> None:
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({name: rng.choice(["x", "y"], 90) for name in "abcdefg"}) for _ in range(3)
    ]
    result = evalkit.measure(SLUG, *tables, known=list("abcdefg"), sensitive="g")
    assert result.facts["n_known"] == 6


def test_a_value_that_everybody_has_is_not_applicable() -> None:
    tables = [people(60, seed).assign(sick="yes", age=30) for seed in range(3)]
    result = evalkit.measure(SLUG, *tables, known=["sex"], sensitive="sick")
    assert (result.status, result.reason.code) == ("not applicable", "too_few_spared")
