from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score
from threadpoolctl import threadpool_limits

import evalkit
from evalkit.metrics.predictive_ratio import most_rows, score_of
from evalkit.quantities_models import light_options
from evalkit.quantities_outcome import skill_of_levels, skill_of_numbers

SLUG = "predictive_ratio"


def patients(rows: int, seed: int) -> pd.DataFrame:
    """Return people whose ward follows from age and pressure."""
    table = people(rows, seed)
    ill = table["age"] / 14 + table["pressure"] / 11
    return table.assign(ward=np.select([ill > 15.3, ill > 14], ["C", "B"], "A"))


@cache
def measured(kind: str = "unseen") -> evalkit.Result:
    original, avatars, holdout = patients(220, 1), patients(240, 2), patients(150, 3)
    outcome = "age" if kind == "number" else "ward"
    if kind == "copy":
        avatars = original
    elif kind == "shuffled":
        avatars = original.apply(np.random.default_rng(1).permutation)
    elif kind == "level lost":
        avatars = avatars[avatars["ward"] != "C"]
    elif kind == "constant":
        avatars = avatars.assign(ward="B")
    elif kind == "approximate":
        return evalkit.measure(SLUG, original, avatars, sensitive=outcome)
    return evalkit.measure(SLUG, original, avatars, holdout, sensitive=outcome)


def test_the_example_of_the_page() -> None:
    truth = np.repeat([0, 1], 100)
    original = np.concatenate([np.repeat([0, 1], [80, 20]), np.repeat([1, 0], [80, 20])])
    avatar = np.concatenate([np.repeat([0, 1], [77, 23]), np.repeat([1, 0], [77, 23])])
    skills = skill_of_levels(truth, avatar), skill_of_levels(truth, original)
    assert skills == pytest.approx((0.54, 0.6))
    assert score_of(*skills) == pytest.approx(90)


def test_the_skills_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, guessed = rng.integers(0, 4, 200), rng.integers(0, 5, 200)
    with pytest.warns(UserWarning, match="y_pred contains classes not in y_true"):
        expected = balanced_accuracy_score(truth, guessed, adjusted=True)
    assert skill_of_levels(truth, guessed) == pytest.approx(expected)
    numbers = rng.normal(size=200)
    assert skill_of_numbers(numbers, numbers / 2) == pytest.approx(r2_score(numbers, numbers / 2))
    assert skill_of_levels(np.zeros(5), np.zeros(5)) == skill_of_numbers(np.ones(5), truth[:5]) == 0


@threadpool_limits.wrap(limits=1)
def plain_skill(
    training: pd.DataFrame, target: pd.Series, tested: pd.DataFrame, truth: pd.Series
) -> float:
    """Return the skill of a model that anybody would write."""
    of_levels = target.name == "ward"
    options = light_options(len(training), 3 if of_levels else 1)
    options["categorical_features"] = [name == "ward" for name in training]
    if of_levels:
        model = HistGradientBoostingClassifier(class_weight="balanced", **options)
        guessed = model.fit(training, target).predict(tested)
        return float(balanced_accuracy_score(truth, guessed, adjusted=True))
    guessed = HistGradientBoostingRegressor(**options).fit(training, target).predict(tested)
    return float(r2_score(truth, guessed))


@pytest.mark.parametrize("outcome", ["ward", "age"])
def test_without_cuts_the_skills_are_those_of_two_plain_models(outcome: str) -> None:
    columns = ["age", "pressure", "weight", "ward"]
    original, avatars, holdout = (patients(200, seed)[columns] for seed in (1, 2, 3))
    facts = evalkit.measure(SLUG, original, avatars, holdout, sensitive=outcome).facts
    known = [name for name in columns if name != outcome]
    codes = [
        table[known].assign(
            **({"ward": table["ward"].map({"A": 0, "B": 1, "C": 2})} if "ward" in known else {})
        )
        for table in (original, avatars, holdout)
    ]
    skills = [
        plain_skill(codes[place], table[outcome], codes[2], holdout[outcome])
        for place, table in enumerate((original, avatars))
    ]
    # Ranks cut a little elsewhere than values do.
    assert facts["skill_originals"] == pytest.approx(skills[0], abs=0.05)
    assert facts["skill_avatars"] == pytest.approx(skills[1], abs=0.05)


def test_a_copy_teaches_exactly_as_much() -> None:
    result = measured("copy")
    assert result.score == result.facts["self_score"] == 100
    assert result.interval[1] == 100


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["ward", "age"])
@pytest.mark.parametrize("sizes", [(500, 500, 500), (500, 100, 500), (500, 500, 125)])
def test_unseen_real_rows_reach_100_within_the_interval(
    sizes: tuple[int, int, int], outcome: str
) -> None:
    tables = (patients(rows, 80 + k) for k, rows in enumerate(sizes))
    result = evalkit.measure(SLUG, *tables, sensitive=outcome)
    assert result.interval[1] == pytest.approx(100)
    assert result.interval[0] <= result.score
    assert result.facts["n_trained"] == min(sizes[:2])


def test_shuffled_columns_teach_nothing() -> None:
    result = measured("shuffled")
    assert result.score < 25
    assert result.facts["floor_score"] < 25
    assert result.interval[1] < 60
    assert measured().facts["real_score"] > 60


def test_avatars_that_lack_a_level_are_measured_and_told() -> None:
    result = measured("level lost")
    assert [one.code for one in result.warnings] == ["avatars_lack_levels"]
    assert (result.facts["levels"], result.facts["avatar_levels"]) == (3, 2)
    assert result.score < measured().score


def test_a_constant_outcome_among_the_avatars_scores_0() -> None:
    result = measured("constant")
    assert result.score == 0
    assert result.facts["skill_avatars"] == 0


def test_no_filled_outcome_among_the_avatars_scores_0() -> None:
    tables = [patients(100, seed) for seed in range(3)]
    tables[1]["age"] = np.nan
    result = evalkit.measure(SLUG, *tables, sensitive="age", numeric=["age"])
    assert (result.status, result.score) == ("measured", 0)
    assert result.facts["n_avatars_left_out"] == 100


def test_levels_of_hardly_any_original_are_left_out_and_counted() -> None:
    tables = [patients(150, seed) for seed in range(3)]
    tables[0].loc[:3, "ward"] = "rare"
    tables[2].loc[:6, "ward"] = "in the holdout only"
    facts = evalkit.measure(SLUG, *tables, sensitive="ward").facts
    assert facts["n_working_left_out"] == 4
    assert facts["n_holdout_left_out"] == 7
    assert facts["levels"] == 3


def test_rare_levels_that_are_many_together_are_one_level() -> None:
    tables = [patients(150, seed) for seed in range(3)]
    for table in tables:
        table.loc[:5, "ward"] = "rare"
        table.loc[6:11, "ward"] = "rare too"
    facts = evalkit.measure(SLUG, *tables, sensitive="ward").facts
    assert (facts["levels"], facts["n_working_left_out"]) == (4, 0)


def test_what_cannot_be_tried_is_not_applicable() -> None:
    tables = [patients(120, seed) for seed in range(3)]

    def code(given: list[pd.DataFrame], outcome: str, **options: Any) -> str:
        result = evalkit.measure(SLUG, *given, sensitive=outcome, **options)
        assert result.status == "not applicable"
        return str(result.reason.code)

    assert code(tables, "smoker") == "no_skill"
    assert code(tables, "ward", known=["ward"]) == "nothing_to_predict_from"
    assert code([table.assign(ward="A") for table in tables], "ward") == "nothing_to_predict"
    assert code([*tables[:2], tables[2].head(15)], "ward") == "too_few_outcomes"
    assert evalkit.measure(SLUG, *tables).reason.code == "no_sensitive"


def test_gaps_and_dates_are_predictors_like_others() -> None:
    tables = []
    for seed in range(3):
        table = patients(150, seed)
        table["born"] = pd.Timestamp("2000-01-01") - pd.to_timedelta(table["age"] * 365, unit="D")
        gaps = np.random.default_rng(seed).random((150, 5)) < 0.4
        table[list(table.columns[:5])] = table[list(table.columns[:5])].mask(gaps)
        tables.append(table)
    result = evalkit.measure(SLUG, *tables, sensitive="ward")
    assert result.status == "measured"
    by_date = evalkit.measure(SLUG, *tables, sensitive="born", known=["age", "pressure"])
    assert by_date.status == "measured"
    assert by_date.facts["skill_originals"] > 0.3


def test_units_of_the_outcome_never_matter() -> None:
    tables = [people(100, k) for k in range(3)]
    found = [
        evalkit.measure(SLUG, *(t.assign(age=t["age"] * by + 3) for t in tables), sensitive="age")
        for by in (1, 2)
    ]
    assert found[1].score == pytest.approx(found[0].score, abs=1e-6)


def test_many_columns_mean_fewer_rows() -> None:
    assert most_rows(50) == 20_000 > most_rows(100) == 10_000


@pytest.mark.parametrize(
    "kind", ["unseen", "number", "shuffled", "copy", "level lost", "approximate"]
)
@pytest.mark.parametrize("verdict", ["no target", "met", "not met", "not applicable"])
def test_every_branch_of_the_page(kind: str, verdict: str) -> None:
    target = {"operator": ">=", "value": 90.0, "issuer": "us", "definition": "similar"}
    judged = verdict in {"met", "not met"}
    changes = {"verdict": verdict, "target": target if judged else None}
    holdout_kind = "approximate" if kind == "approximate" else "real"
    said = page_text(SLUG, measured(kind), holdout_kind=holdout_kind, **changes)
    assert "A copy scores 100" in said
    assert ("similar quantity" in said) == judged
    assert ("The avatars lack levels" in said) == (kind == "level lost")
    assert ("anonymised too" in said) == (kind == "approximate")


def test_the_page_counts_what_was_left_out() -> None:
    facts = measured().facts | {"n_working_left_out": 4, "skill_originals": 0.1, "real_score": None}
    said = page_text(SLUG, measured(), facts=facts, interval=None)
    assert "Left out were 4 originals" in said
    assert "teach little" in said


def test_every_sentence_of_the_page_has_a_line_of_its_own() -> None:
    assert_one_sentence_a_line(SLUG)
