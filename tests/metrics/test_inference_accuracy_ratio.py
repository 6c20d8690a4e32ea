from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import balanced_accuracy_score
from threadpoolctl import threadpool_limits

import evalkit
from evalkit.figures import ENGLISH
from evalkit.metrics.inference_accuracy_ratio import (
    METRIC,
    Contest,
    Rows,
    score_of,
)
from evalkit.persons import Persons
from evalkit.prose import plain
from evalkit.quantities_models import features, rounds
from evalkit.quantities_outcome import balanced_accuracy, joined_levels
from evalkit.report.pages import PARTS, Pages

SLUG = "inference_accuracy_ratio"


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    health = rng.normal(size=rows)
    table = pd.DataFrame(
        {
            "age": (45 + 9 * health + rng.normal(scale=4, size=rows)).round(),
            "town": rng.choice(["Aix", "Brest", "Caen", ""], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "income": np.round(3 - health + rng.normal(scale=0.7, size=rows), 1),
            "sick": np.where(health + rng.normal(scale=0.7, size=rows) > 0, "yes", "no"),
        }
    )
    table.loc[rng.random(rows) < 0.1, "income"] = np.nan
    return table


def plain_features(tables: list[pd.DataFrame], known: list[str]) -> list[np.ndarray[Any, Any]]:
    """Return the known columns as anybody would code them: values, and numbers for towns."""
    return [
        table[known]
        .assign(
            **{
                name: table[name].map({"Aix": 0, "Brest": 1, "Caen": 2, "no": 0, "yes": 1})
                for name in known
                if table[name].dtype.kind not in "if"
            }
        )
        .to_numpy(float)
        for table in tables
    ]


@pytest.mark.parametrize("sensitive", ["sick", "income"])
def test_without_cuts_the_score_is_that_of_two_plain_models(sensitive: str) -> None:
    tables = [people(300, seed) for seed in (1, 2, 3)]
    result = evalkit.measure(SLUG, *tables, sensitive=sensitive, numeric=["age", "income"])
    filled = [table[table[sensitive].notna()].reset_index(drop=True) for table in tables]
    known = [name for name in ["age", "income", "sick", "town"] if name != sensitive]
    tested, *trained = plain_features(filled, known)
    categorical = [name in {"town", "sick"} for name in known]
    options = {"early_stopping": False, "categorical_features": categorical}
    found = []
    size = min(len(filled[1]), len(filled[2]))
    with threadpool_limits(limits=1):
        for training, table in zip(trained, filled[1:], strict=True):
            if sensitive == "sick":
                model = HistGradientBoostingClassifier(class_weight="balanced", **options)
                guessed = model.fit(training, table[sensitive]).predict(tested)
                found.append(balanced_accuracy_score(filled[0][sensitive], guessed))
            else:
                model = HistGradientBoostingRegressor(loss="absolute_error", **options)
                guessed = model.fit(training, table[sensitive]).predict(tested)
                found.append(np.abs(filled[0][sensitive] - guessed).mean())
    ratio = found[1] / found[0] if sensitive == "sick" else found[0] / found[1]
    # Nothing is cut for the levels; for the numbers the missing ones cut the larger table.
    assert result.facts["n_trained"] == size
    assert result.score == pytest.approx(100 * ratio, abs=1e-9 if sensitive == "sick" else 4)


def test_the_example_of_the_page_and_the_limit() -> None:
    nothing = Rows(np.zeros((0, 1)), np.zeros(0), Persons.one_row_each(0))
    levels = Contest(nothing, nothing, nothing, nothing, (True,), of_levels=True)
    numbers = Contest(nothing, nothing, nothing, nothing, (True,), of_levels=False)
    assert score_of(levels, 0.8, 0.72) == pytest.approx(90)
    assert score_of(numbers, 0.9, 1.0) == pytest.approx(90)
    assert score_of(levels, 0.1, 0.9) == score_of(levels, 0.0, 0.5) == 200


def test_each_level_weighs_the_same_in_the_accuracy() -> None:
    rng = np.random.default_rng(0)
    truth, guessed = rng.integers(0, 4, 200), rng.integers(0, 5, 200)
    shares = [np.mean(guessed[truth == level] == level) for level in range(4)]
    assert balanced_accuracy(truth, guessed) == pytest.approx(np.mean(shares))


def test_levels_of_fewer_than_ten_originals_are_one() -> None:
    original = np.array([0] * 12 + [1] * 10 + [2] * 9 + [-1] * 11)
    levels = [original, np.array([0, 1, 2, 3, -1])]
    found = joined_levels(levels, Persons.one_row_each(len(original)))
    assert found[1].tolist() == [1, 2, 3, 3, 0]
    assert len(np.unique(found[0])) == 4


def test_the_larger_table_is_cut_and_the_mean_of_ten_cuts_taken() -> None:
    result = evalkit.measure(SLUG, people(250, 1), people(400, 2), people(120, 3), sensitive="sick")
    assert result.facts["n_trained"] == 120
    assert result.facts["cuts"] == 10
    assert result.facts["cut_low"] < result.score < result.facts["cut_high"]
    assert result.interval is None


def test_a_copy_helps_more_than_outsiders_and_shuffled_columns_teach_nothing() -> None:
    original, holdout = people(300, 1), people(300, 2)
    copied = evalkit.measure(SLUG, original, original, holdout, sensitive="sick")
    assert copied.score < 95
    assert copied.facts["self_score"] == pytest.approx(copied.score)
    assert copied.facts["floor_score"] > 120
    unseen = evalkit.measure(SLUG, original, people(300, 3), holdout, sensitive="sick")
    assert copied.score + 5 < unseen.score


def test_halves_of_the_originals_stand_in_for_a_holdout() -> None:
    result = evalkit.measure(SLUG, people(300, 1), people(300, 2), sensitive="sick")
    assert result.status == "measured"
    assert result.facts["n_trained"] == 150


def test_what_no_model_can_guess_is_not_applicable() -> None:
    rng = np.random.default_rng(0)
    tables = [
        people(80, seed)[["age"]].assign(sick=rng.permutation(["yes", "no"] * 40))
        for seed in range(3)
    ]
    noise = evalkit.measure(SLUG, *tables, sensitive="age", numeric=["age"])
    assert (noise.status, noise.reason.code) == ("not applicable", "no_better_than_chance")
    rare = [table.assign(sick="yes") for table in tables]
    alone = evalkit.measure(SLUG, *rare, sensitive="sick")
    assert alone.reason.code == "nothing_to_guess"
    unknown = evalkit.measure(SLUG, *tables, sensitive="sick", known=["sick"])
    assert unknown.reason.code == "nothing_known"


def test_units_and_names_never_move_the_features() -> None:
    tables = [people(200, seed) for seed in (1, 2)]
    changed = [
        table.assign(age=table["age"] * 1.7 - 3, town=table["town"].map({"Aix": "z", "Brest": "a"}))
        for table in tables
    ]
    plain_towns = [
        table.assign(town=table["town"].where(table["town"].isin(["Aix", "Brest"])))
        for table in tables
    ]
    found = []
    for pair in (plain_towns, changed):
        release = evalkit.load(*pair)
        frames = (release.original, release.avatars)
        found.append(features(release.schema, frames, ("age", "town")).tables)
    for first, second in zip(*found, strict=True):
        np.testing.assert_array_equal(first, second)


def test_many_levels_mean_fewer_rounds() -> None:
    assert [rounds(classes) for classes in (1, 2, 3, 6, 100)] == [100, 100, 100, 50, 10]


@cache
def measured_facts(sensitive: str) -> dict[str, Any]:
    tables = people(120, 1), people(90, 2), people(80, 3)
    return evalkit.measure(SLUG, *tables, sensitive=sensitive, numeric=["age"]).facts


@pytest.mark.parametrize("holdout_kind", ["real", "approximate"])
@pytest.mark.parametrize("verdict", ["no target", "met", "not met", "not applicable"])
@pytest.mark.parametrize("sensitive", ["sick", "age"])
@pytest.mark.parametrize("score", [88.0, 130.0])
def test_every_branch_of_the_page(
    holdout_kind: str, verdict: str, sensitive: str, score: float
) -> None:
    facts = measured_facts(sensitive)
    target = {"operator": ">=", "value": 90.0, "issuer": "us", "definition": "by analogy"}
    has_target = verdict in {"met", "not met"}
    result = {
        "score": score,
        "interval": None,
        "target": target if has_target else None,
        "verdict": verdict,
        "facts": facts,
    }
    context = {
        "result": result,
        "facts": facts,
        "release": {"holdout_kind": holdout_kind, "individual": None},
        "scenario": {},
        "words": {},
    }
    page = Pages("en").render(SLUG, context)
    assert 0 < len(page.title) <= 55
    said = {name: page.part(name) for name in ("Verdict", *PARTS)}
    texts = {name: plain(one.markdown, one.values) for name, one in said.items() if one}
    assert ("by analogy" in texts["Verdict"]) == has_target
    assert ("anonymised too" in texts["Verdict"]) == (holdout_kind == "approximate")
    assert ("no better" in texts["Verdict"]) == (score > 100)
    drawn = METRIC.draw({"facts": facts}, ENGLISH, False)  # noqa: FBT003 - as in a report
    assert len(page.captions(iter(["Figure 1."]))) == len(drawn) == 1
