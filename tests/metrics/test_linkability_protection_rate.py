from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference import linkability_oracle as oracle
from vectors import cases, real_table

import evalkit
from evalkit.engine import Limits
from evalkit.intervals import wilson
from evalkit.metrics.linkability_protection_rate import (
    _Attacker,
    _chosen_splits,
    _draw_ties,
    count_splits,
    linkability,
)
from evalkit.quantities import ranges
from evalkit.quantities_searching import Search
from evalkit.steps import Steps

SLUG = "linkability_protection_rate"


def mixed_table(rows: int, seed: int, *, missing: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 40, rows),
            "income": np.round(rng.normal(3, 1, rows), 1),
            "town": rng.choice(["Aix", "Brest", "Caen"], rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )
    if missing:
        table.loc[rng.random(rows) < 0.2, "income"] = np.nan
        table["town"] = table["town"].where(rng.random(rows) >= 0.2, "")
    return table


def as_rows(table: pd.DataFrame) -> list[oracle.Row]:
    cells = table.astype(object).where(table.notna() & (table != ""), None)
    return cells.to_dict("records")


def load_case(case: dict[str, Any]) -> evalkit.Release:
    names = [*case["known_a"], *case["known_b"]]
    numeric = [name for name in names if name in case["numeric"]]
    types = {"numeric": numeric, "categorical": [n for n in names if n not in numeric]}
    if "files" not in case:
        return evalkit.load(pd.DataFrame(case["original"]), pd.DataFrame(case["avatars"]), **types)
    tables = [
        pd.read_csv(real_table(file), nrows=case["rows"], keep_default_na=False)[names]
        for file in case["files"]
    ]
    return evalkit.load(*tables, **types)


def attack_of(case: dict[str, Any]) -> Any:
    release = load_case(case)
    if case["name"] in {"wbcd_self", "wbcd_holdout_targets"}:
        # These two take their ranges over originals and avatars, whoever is attacked.
        tables = ["wbcd/original.csv", "wbcd/avatars.csv"]
        outer = load_case(case | {"files": tables})
        names = (*case["known_a"], *case["known_b"])
        together = ranges(outer.schema, (outer.original, outer.avatars), names)
        halves = tuple(case["known_a"]), tuple(case["known_b"])
        attacker = _Attacker.of(release, names, Steps(1))
        search = Search(release.schema, [release.original], release.avatars, together)
        return attacker.attack(attacker.people("original"), halves, search)
    return linkability(release, case["known_a"], case["known_b"])


@pytest.mark.parametrize("case", cases(SLUG))
def test_the_expectation_equals_that_of_slow_independent_code(case: dict[str, Any]) -> None:
    found = attack_of(case)
    assert found.score == pytest.approx(case["expected_score"], abs=1e-8)
    assert int((found.probability == 1.0).sum()) == case["certain_links"]
    assert int((found.probability > 0.0).sum()) == case["possible_links"]
    assert found.size_a.mean() == pytest.approx(case["mean_tie_set_a"], abs=1e-6)
    assert found.size_b.mean() == pytest.approx(case["mean_tie_set_b"], abs=1e-6)
    assert (len(found.probability)) == case["n"]


@pytest.mark.parametrize("seed", range(8))
def test_the_score_equals_the_oracle_in_exact_fractions_on_mixed_tables(seed: int) -> None:
    original, avatars = mixed_table(23, seed), mixed_table(31, seed + 100)
    release = evalkit.load(original, avatars, numeric=["age", "income"])
    halves = ["age", "town"], ["income", "sex"]
    expected = oracle.expected_score(
        as_rows(original), as_rows(avatars), *halves, {"age", "income"}
    )
    assert linkability(release, *halves).score == pytest.approx(expected, abs=1e-9)


def test_the_halves_named_in_the_facts_give_the_score_in_the_facts() -> None:
    original, avatars = mixed_table(40, 1), mixed_table(50, 2)
    facts = evalkit.measure(SLUG, original, avatars, numeric=["age", "income"]).facts
    expected = oracle.expected_score(
        as_rows(original),
        as_rows(avatars),
        facts["known_a"],
        facts["known_b"],
        {"age", "income"},
    )
    assert facts["expected_score"] == pytest.approx(expected, abs=1e-9)
    assert len(facts["known_a"]) == len(facts["known_b"]) == 2


def test_the_first_half_takes_the_extra_variable() -> None:
    original = mixed_table(30, 1)
    facts = evalkit.measure(
        SLUG, original, mixed_table(30, 2), known=["age", "income", "sex"]
    ).facts
    assert len(facts["known_a"]) == 2
    assert len(facts["known_b"]) == 1


def test_one_draw_scatters_around_the_average_over_ties() -> None:
    probability = np.array([0.0, 1.0, 0.5, 0.25, 0.25])
    rng = np.random.default_rng(0)
    draws = [_draw_ties(probability, rng) for _ in range(4000)]
    assert np.mean(draws) == pytest.approx(2.0, abs=0.05)
    # Variance of independent draws: 0.25 + 2 * 0.1875.
    assert np.var(draws) == pytest.approx(0.625, abs=0.05)
    assert min(draws) == 1


def test_a_draw_is_the_same_for_any_order_of_the_rows() -> None:
    probability = np.random.default_rng(5).random(200)
    first = _draw_ties(probability, np.random.default_rng(1))
    assert _draw_ties(probability[::-1], np.random.default_rng(1)) == first


def test_the_score_is_the_drawn_share_and_the_interval_that_of_the_expectation() -> None:
    result = evalkit.measure(SLUG, mixed_table(60, 1), mixed_table(60, 2))
    facts = result.facts
    assert result.score == pytest.approx(100 * (1 - facts["n_linked"] / 60))
    low, high = result.interval
    assert 0 <= low < facts["expected_score"] < high <= 100


def test_one_known_variable_is_not_applicable_and_says_what_to_do() -> None:
    table = mixed_table(30, 1)
    result = evalkit.measure(SLUG, table, table, known=["age"])
    assert (result.status, result.verdict, result.score) == ("not applicable",) * 2 + (None,)
    assert "--known" in result.reason.text


def test_a_single_avatar_links_everybody() -> None:
    result = evalkit.measure(SLUG, mixed_table(12, 1), mixed_table(1, 2, missing=False))
    assert result.score == 0
    assert result.verdict == "not applicable"
    assert result.reason.code == "too_few_rows"


def test_a_single_original_is_measured_but_not_judged() -> None:
    result = evalkit.measure(SLUG, mixed_table(1, 1, missing=False), mixed_table(30, 2))
    assert result.score in {0.0, 100.0}
    assert result.verdict == "not applicable"


def distinct_table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({name: rng.permutation(rows) * 7 for name in "abcd"})


def test_a_perfect_copy_of_distinct_rows_scores_0_and_so_does_its_self_score() -> None:
    table = distinct_table(50)
    result = evalkit.measure(SLUG, table, table.sample(frac=1, random_state=1))
    assert result.score == 0
    assert result.facts["self_score"] == 0
    assert result.facts["certain_links"] == 50


def test_coarse_known_variables_bring_a_warning() -> None:
    table = pd.DataFrame({"a": ["x", "y"] * 30, "b": ["u"] * 30 + ["v"] * 30})
    result = evalkit.measure(SLUG, table, table)
    assert result.facts["self_score"] > 90
    assert "known_too_coarse" in [warning.code for warning in result.warnings]


def test_repeating_avatars_is_seen_by_the_distinct_score() -> None:
    table = distinct_table(60)
    repeated = pd.concat([table] * 5, ignore_index=True)
    result = evalkit.measure(SLUG, table, repeated)
    assert result.facts["expected_score"] == pytest.approx(80)
    assert result.facts["distinct_score"] == 0
    assert "repeated_avatars" in [warning.code for warning in result.warnings]


def test_one_far_avatar_that_stretches_a_range_is_named() -> None:
    rng = np.random.default_rng(0)
    original = pd.DataFrame({name: rng.normal(size=80).round(3) for name in "abcd"})
    avatars = original + rng.normal(scale=0.02, size=original.shape).round(3)
    avatars.loc[0, "b"] = 1e9
    result = evalkit.measure(SLUG, original, avatars, known=["a", "b", "c", "d"])
    warning = next(w for w in result.warnings if w.code == "stretched_ranges")
    assert "b" in warning.text.split(" of ")[-1]
    assert result.facts["expected_score"] - result.facts["original_range_score"] > 2


def test_the_control_gives_an_excess_with_its_interval() -> None:
    table = distinct_table(200)
    original, holdout = table.iloc[:120], table.iloc[120:]
    result = evalkit.measure(SLUG, original, original, holdout)
    facts = result.facts
    assert facts["success_share"] == 1
    assert facts["control_attempts"] == 80
    assert facts["excess"] == pytest.approx(1 - facts["control_share"])
    assert facts["excess_interval"][0] > 0
    assert 0 < facts["detectable_excess"] < 1
    assert facts["holdout_score"] == pytest.approx(100 * (1 - facts["control_share"]))


def test_without_a_real_holdout_there_is_no_control() -> None:
    facts = evalkit.measure(SLUG, mixed_table(40, 1), mixed_table(40, 2)).facts
    assert facts["control_share"] is None
    assert facts["excess_interval"] is None
    assert facts["attempts"] == 40


@pytest.mark.parametrize(("n_known", "count"), [(2, 1), (3, 3), (4, 3), (5, 10), (9, 126)])
def test_the_number_of_unordered_splits(n_known: int, count: int) -> None:
    assert count_splits(n_known) == count


def test_every_split_is_used_where_there_are_few_and_100_different_ones_where_there_are_many() -> (
    None
):
    rng = np.random.default_rng(0)
    few = _chosen_splits(("a", "b", "c", "d"), 3, rng)
    assert few == [(("a", "b"), ("c", "d")), (("a", "c"), ("b", "d")), (("a", "d"), ("b", "c"))]
    known = tuple("abcdefghij")
    many = _chosen_splits(known, count_splits(10), rng)
    assert len({frozenset(map(frozenset, split)) for split in many}) == 100
    assert all(sorted(first + second) == list(known) for first, second in many)


def test_the_range_over_splits_holds_the_score_of_every_split() -> None:
    original, avatars = mixed_table(50, 1), mixed_table(60, 2)
    facts = evalkit.measure(SLUG, original, avatars).facts
    release = evalkit.load(original, avatars)
    scores = [
        linkability(release, first, second).score
        for first, second in _chosen_splits(
            ("age", "income", "sex", "town"), 3, np.random.default_rng(0)
        )
    ]
    assert facts["split_worst"] == pytest.approx(min(scores))
    assert facts["split_total"] == facts["split_count"] == 3
    assert facts["split_low"] <= facts["split_high"] <= max(scores) + 1e-9


def test_shuffled_columns_of_a_copy_lift_the_score_to_the_floor() -> None:
    table = distinct_table(300)
    facts = evalkit.measure(SLUG, table, table).facts
    assert facts["floor_score"] > 98
    assert facts["naive_share"] == pytest.approx(1 - facts["floor_score"] / 100)


def numbers(result: Any) -> dict[str, float]:
    """Give the plain numbers of a result."""
    return {k: v for k, v in result.facts.items() if isinstance(v, int | float)} | {
        f"{key} at {point['known']}": value
        for point in result.facts["curve"]
        for key, value in point.items()
        if value is not None
    }


LARGE = {
    "ANCHOR_ROWS": 60,
    "FLOOR_ROWS": 30,
    "SHUFFLED_ROWS": 400,
    "SPLIT_ROWS": 1000,
    "LARGE": 100,
}


def test_known_cases_of_a_large_table_are_tried_on_a_sample_that_the_facts_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, avatars = mixed_table(200, 1), mixed_table(210, 2)
    avatars.iloc[:60] = original.iloc[:60]
    options = {"numeric": ["age", "income"], "holdout": mixed_table(80, 3)}
    before = evalkit.measure(SLUG, original, avatars, **options)
    for name, value in LARGE.items():
        monkeypatch.setattr(f"evalkit.metrics.linkability_protection_rate.{name}", value)
    after = evalkit.measure(SLUG, original, avatars, **options)
    facts = after.facts
    assert (after.score, after.interval) == (before.score, before.interval)
    assert facts["expected_score"] == before.facts["expected_score"]
    assert facts["holdout_score"] == before.facts["holdout_score"]
    assert (facts["anchor_sample"], facts["floor_sample"], facts["floor_shuffles"]) == (60, 30, 1)
    assert facts["split_count"] == 3
    assert "anchor_sample" not in before.facts
    for name in ("self_score", "distinct_score", "original_range_score"):
        assert abs(facts[name] - before.facts[name]) < 5 * facts["anchor_error"]
    order = np.random.default_rng(0).permutation(200)
    moved = evalkit.measure(SLUG, original.iloc[order], avatars.iloc[::-1], **options)
    assert numbers(moved) == pytest.approx(numbers(after))


def test_originals_are_sampled_past_the_comparisons_that_are_worth_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    original, avatars = (
        pd.DataFrame(rng.normal(size=(k, 4)), columns=[*"abcd"]) for k in (300, 310)
    )
    avatars.iloc[:60] = original.iloc[:60]
    whole = evalkit.measure(SLUG, original, avatars)
    real = Limits.queries
    monkeypatch.setattr(Limits, "queries", lambda *given: real(*given[:3], most=30_000))
    found = evalkit.measure(SLUG, original, avatars)
    n = found.facts["n_sampled"]
    assert 90 <= n < 100 < found.facts["n_original"]
    assert found.facts["attempts"] == n
    share = found.facts["success_share"]
    low, high = wilson(n * share, n)
    assert found.interval == pytest.approx((100 * (1 - high), 100 * (1 - low)))
    assert found.interval[0] < whole.facts["expected_score"] < found.interval[1]
    order = np.random.default_rng(0).permutation(300)
    moved = evalkit.measure(SLUG, original.iloc[order], avatars)
    assert numbers(moved) == pytest.approx(numbers(found))
    exact = evalkit.measure(SLUG, original, avatars, exact=True)
    assert exact.facts == whole.facts


def test_a_search_that_prunes_is_never_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most originals have an equal avatar here, so hardly any comparison is made."""
    table = mixed_table(300, 1)
    real = Limits.queries
    monkeypatch.setattr(Limits, "queries", lambda *given: real(*given[:3], most=6_000))
    found = evalkit.measure(SLUG, table, table.iloc[::-1], numeric=["age", "income"])
    assert "n_sampled" not in found.facts
    assert found.facts["attempts"] == 300
