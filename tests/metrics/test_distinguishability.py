from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

import evalkit
from evalkit.metrics.distinguishability import score_of
from evalkit.quantities_apart import Contrast, chance_area, most_rows
from evalkit.quantities_models import light_options

SLUG = "distinguishability"


@cache
def measured(kind: str = "rounded") -> evalkit.Result:
    original, avatars, holdout = people(250, 1), people(250, 2), people(200, 3)
    if kind == "rounded":
        avatars["pressure"] = avatars["pressure"].round(-1)
    elif kind == "copy":
        avatars = original
    elif kind == "approximate":
        return evalkit.measure(SLUG, original, avatars)
    elif kind == "hardly any holdout":
        holdout = holdout.head(12)
    return evalkit.measure(SLUG, original, avatars, holdout)


def test_the_example_of_the_page() -> None:
    assert score_of(0.75) == pytest.approx(50)
    assert score_of(0.3) == score_of(0.5) == 100
    assert score_of(1.0) == 0


def test_the_area_is_that_of_plain_models_on_folds_they_never_saw() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(90, 3)), rng.normal(loc=0.7, size=(60, 3))
    found = Contrast(first, second, (False,) * 3).area(np.random.default_rng(5))
    again = np.random.default_rng(5)
    table, label = np.concatenate([first, second]), np.repeat([0, 1], [90, 60])
    fold = np.concatenate([again.permutation(np.arange(size) % 3) for size in (90, 60)])
    areas = []
    for number in range(3):
        test = fold == number
        model = HistGradientBoostingClassifier(class_weight="balanced", **light_options(100))
        with threadpool_limits(limits=1):
            model.fit(table[~test], label[~test])
        areas.append(roc_auc_score(label[test], model.predict_proba(table[test])[:, 1]))
    assert found == pytest.approx(np.mean(areas))
    assert 0.6 < found < 0.95


def test_a_copy_scores_100_and_is_not_overfitted() -> None:
    result = measured("copy")
    assert result.score == result.facts["self_score"] == 100
    assert result.facts["auc"] < 0.5
    assert result.facts["variables"] == []


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(500, 500, 500), (500, 100, 500), (500, 500, 125)])
def test_unseen_real_rows_are_not_told_apart_beyond_chance(sizes: tuple[int, int, int]) -> None:
    result = evalkit.measure(SLUG, *(people(rows, 70 + k) for k, rows in enumerate(sizes)))
    assert result.score >= result.facts["chance_score"]
    assert result.facts["variables"] == []
    chance = chance_area(sizes[0], sizes[2])
    assert result.facts["holdout_auc"] <= chance


def test_the_variable_that_gives_the_avatars_away_comes_first() -> None:
    result = measured()
    assert result.score < result.facts["chance_score"] < 95
    assert result.facts["variables"][0]["variable"] == "pressure"
    assert result.facts["variables"][0]["loss"] > 0.1
    assert result.facts["holdout_score"] > result.score + 20


def test_the_score_lies_in_the_range_over_repeats() -> None:
    result = measured()
    low, high = result.interval
    assert result.interval_method == "repeats"
    assert low <= result.score <= high
    assert low < high
    assert low == pytest.approx(score_of(result.facts["auc_high"]))


def test_a_broken_relation_is_seen_though_every_column_is_kept() -> None:
    rng = np.random.default_rng(2)
    tables = []
    for _ in range(3):
        first = rng.normal(size=250).round(2)
        tables.append(pd.DataFrame({"a": first, "b": (first + rng.normal(0, 0.1, 250)).round(2)}))
    broken = tables[1].apply(rng.permutation)
    assert evalkit.measure(SLUG, tables[0], broken, tables[2]).score < 40


def blank(table: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    return table.mask(np.random.default_rng(seed).random(table.shape) < share)


TABLES: dict[str, Any] = {
    "all numbers": lambda table: table[["age", "pressure", "weight"]],
    "all levels": lambda table: table[["town", "smoker"]],
    "dates": lambda table: table[["town"]].assign(
        born=pd.Timestamp("2000-01-01") + pd.to_timedelta(table["age"] * 100, unit="D")
    ),
    "gaps": lambda table: blank(table, 0.4, len(table)),
    "one column": lambda table: table[["weight"]],
    "useless columns": lambda table: table.assign(
        country="France", nothing=np.nan, key=[f"k{n:05d}x" for n in range(len(table))]
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_kind_are_measured(kind: str) -> None:
    tables = [TABLES[kind](people(rows, k)) for k, rows in enumerate((120, 110, 100))]
    result = evalkit.measure(SLUG, *tables)
    assert result.status == "measured"
    assert result.score >= result.facts["chance_score"]


def test_gaps_in_the_avatars_alone_give_them_away() -> None:
    tables = [people(150, 1), blank(people(150, 2), 0.4, 0), people(150, 3)]
    assert evalkit.measure(SLUG, *tables).score < 30


def test_what_cannot_be_told_is_not_applicable() -> None:
    few = evalkit.measure(SLUG, people(100, 1), people(19, 2), people(100, 3))
    assert (few.status, few.reason.code) == ("not applicable", "too_few_to_tell_apart")
    same = [pd.DataFrame({"a": [1] * 50, "b": ["x"] * 50})] * 3
    result = evalkit.measure(SLUG, *same)
    assert (result.status, result.reason.code) == ("not applicable", "nothing_to_tell_by")


def test_with_hardly_any_holdout_nothing_stands_beside_the_score() -> None:
    facts = measured("hardly any holdout").facts
    assert facts["holdout_score"] is None
    assert facts["n_holdout"] == 12


def test_the_names_of_columns_never_matter() -> None:
    names = {"age": "z", "pressure": "b", "weight": "q", "town": "m", "smoker": "a"}
    tables = [people(80, k) for k in range(3)]
    before = evalkit.measure(SLUG, *tables)
    after = evalkit.measure(SLUG, *(table.rename(columns=names) for table in tables))
    assert after.facts["auc"] == before.facts["auc"]
    assert after.interval == before.interval


def test_chance_shrinks_with_the_rows_and_many_columns_mean_fewer() -> None:
    assert chance_area(50, 50) > chance_area(500, 50) > chance_area(500, 500) > 0.5
    assert chance_area(1, 1) == 1.0
    assert most_rows(100) == 20_000 > most_rows(400) == 5_000


@pytest.mark.parametrize("kind", ["rounded", "copy", "approximate", "hardly any holdout"])
@pytest.mark.parametrize("verdict", ["no target", "met", "not met", "not applicable"])
def test_every_branch_of_the_page(kind: str, verdict: str) -> None:
    target = {"operator": ">=", "value": 90.0, "issuer": "us", "definition": "by analogy"}
    judged = verdict in {"met", "not met"}
    changes = {"verdict": verdict, "target": target if judged else None}
    holdout_kind = "approximate" if kind == "approximate" else "real"
    said = page_text(SLUG, measured(kind), holdout_kind=holdout_kind, **changes)
    assert "a copy of the originals scores 100" in said
    assert "no confidence interval" in said
    assert ("by analogy" in said) == judged
    assert ("pressure gives the avatars away most" in said) == (kind == "rounded")
    assert ("anonymised too" in said) == (kind == "approximate")


@pytest.mark.parametrize(("auc", "words"), [(0.96, "nearly every avatar"), (0.35, "from the twin")])
def test_the_page_of_a_very_low_and_a_copied_table(auc: float, words: str) -> None:
    facts = measured().facts | {"auc": auc, "chance_score": 70.0, "floor_score": 90.0}
    facts |= {"sampled": True, "left_out": ["country"]}
    said = page_text(SLUG, measured(), facts=facts)
    assert words in said
    assert "With so few rows" in said or "with so few rows" in said


def test_every_sentence_of_the_page_has_a_line_of_its_own() -> None:
    assert_one_sentence_a_line(SLUG)
