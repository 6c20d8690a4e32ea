"""What must hold over the whole family of measures, whatever the table: the anchors of each."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from test_contract import METRICS, NEEDS_GAPS, comparable, linked, people

import evalkit
from evalkit.metric import Need
from evalkit.metrics.linkability_protection_rate import linkability

KNOWN = ["age", "visits", "town", "smoker"]
SENSITIVE = "pressure"
MODELS = {"inference_accuracy_ratio"}  # what a model memorises hardly shows: no property of 7
HELD_BY_THE_CONTRACT = {"linkability_protection_rate"}  # too costly to be held twice
POOLED = [one.slug for one in METRICS if Need.REAL_HOLDOUT in one.needs]
ATTACKS = [*POOLED, "distance_to_closest", "row_direct_match_protection"]
# The values of a column stay in it when cells are resampled: no two of them need be parted.
BY_COLUMN = {"column_direct_match_protection"}
PRIVACY = [
    one.slug
    for one in METRICS
    if one.section == "privacy" and one.slug not in MODELS | HELD_BY_THE_CONTRACT | BY_COLUMN
]
WITH_FLOOR = [
    one.slug for one in METRICS if one.level in {"bivariate", "multivariate"} and not one.legacy
]
SIZES = [(1000, 1000), (1000, 250), (800, 200)]
DEALS = 3


def assessed(
    slugs: list[str],
    original: pd.DataFrame,
    avatars: pd.DataFrame,
    holdout: pd.DataFrame,
    *,
    row_link: bool = False,
) -> evalkit.Assessment:
    release = evalkit.load(original, avatars, holdout, row_link=row_link)
    scenario = evalkit.Scenario(sensitive=SENSITIVE, known=KNOWN)
    return evalkit.assess(release, scenario, metrics=slugs)


@cache
def once_and_five_times() -> tuple[evalkit.Assessment, evalkit.Assessment]:
    """Return a third of the originals published as they are, each avatar once and five times."""
    original, avatars, holdout = people(600, 31), people(600, 33), people(400, 32)
    avatars.iloc[:200] = original.iloc[:200]
    five = pd.concat([avatars] * 5, ignore_index=True)
    first, second = (assessed(POOLED, original, table, holdout) for table in (avatars, five))
    return first, second


@pytest.mark.parametrize("slug", POOLED)
def test_copying_each_avatar_five_times_gains_nothing(slug: str) -> None:
    once, five = (assessment[slug] for assessment in once_and_five_times())
    assert once.score < 90
    assert five.score == pytest.approx(once.score, abs=1e-9)
    assert five.interval == pytest.approx(once.interval, abs=1e-9)


@cache
def unseen(n: int, n_holdout: int) -> list[evalkit.Assessment]:
    """Return deals of people whom the avatars, who are other people, cannot give away."""
    slugs = [*ATTACKS, "closest_distances_ratio"]
    return [
        assessed(slugs, *(people(rows, 1000 + 10 * deal + k) for k, rows in enumerate(tables)))
        for deal, tables in enumerate([(n, n, n_holdout)] * DEALS)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_holdout"), SIZES)
@pytest.mark.parametrize("slug", ATTACKS)
def test_unseen_real_rows_show_no_excess(slug: str, n: int, n_holdout: int) -> None:
    deals = [one[slug] for one in unseen(n, n_holdout)]
    found = [one for one in deals if one.status == "measured"]
    if slug == "outlier_protection" and len(found) < DEALS:
        # A holdout of 200 has 20 outliers on average, and 20 are the fewest that are compared.
        assert {one.reason.code for one in deals if one not in found} == {"too_few_outliers"}
        assert n_holdout < 1000
        return
    assert len(found) == DEALS
    # One interval in 40 lies wholly above 0 by luck; two of three would not be luck.
    assert sum(one.facts["excess_interval"][0] > 0 for one in found) <= 1
    # 2.8 standard errors of one deal are the detectable excess, so this is 2.8 of the mean.
    excess = float(np.mean([one.facts["excess"] for one in found]))
    detectable = float(np.mean([one.facts["detectable_excess"] for one in found]))
    assert excess <= detectable / np.sqrt(len(found))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_holdout"), SIZES)
def test_unseen_real_rows_are_as_far_from_two_originals_as_strangers_are(
    n: int, n_holdout: int
) -> None:
    found = [one["closest_distances_ratio"] for one in unseen(n, n_holdout)]
    assert sum(one.interval[1] < 100 for one in found) <= 1
    assert np.mean([one.score for one in found]) > 95


def resampled(original: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return the table with a share of the cells of each column drawn from that column."""
    rng = np.random.default_rng(3)
    kept = {name: rng.random(len(original)) >= share for name in original}
    drawn = {name: rng.permutation(original[name].to_numpy()) for name in original}
    return original.assign(
        **{name: np.where(kept[name], original[name], drawn[name]) for name in original}
    )


@cache
def by_share() -> list[evalkit.Assessment]:
    original, holdout = people(600, 41), people(600, 42)
    return [
        assessed(PRIVACY, original, resampled(original, share), holdout, row_link=True)
        for share in (0.0, 0.1, 0.3, 0.6)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("slug", PRIVACY)
def test_the_more_cells_are_resampled_the_higher_every_privacy_score(slug: str) -> None:
    scores = [comparable(assessment[slug]) for assessment in by_share()]
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]


@pytest.mark.parametrize("slug", WITH_FLOOR)
def test_shuffled_columns_sit_at_the_floor(slug: str) -> None:
    original, holdout = people(400, 51), people(400, 52)
    rng = np.random.default_rng(8)
    scores = [
        assessed([slug], original, original.apply(rng.permutation), holdout)[slug].score
        for _ in range(5)
    ]
    kept = assessed([slug], original, people(400, 53), holdout)[slug]
    # A model that learnt from shuffled columns has a skill of 0, give or take its noise.
    assert np.mean(scores) == pytest.approx(kept.facts["floor_score"], rel=0.15, abs=5)
    assert max(scores) < kept.score


def renamed(names: dict[str, str]) -> evalkit.Assessment:
    """Return the assessment of leaking avatars under other names of the columns."""
    original, holdout = people(300, 1), people(300, 3)
    tables = (original, linked(original, 4), holdout)
    rules = [f"{names.get('age', 'age')} < 60"]
    renamed_tables = [table.rename(columns=names) for table in tables]
    release = evalkit.load(*renamed_tables, row_link=True, schema={"rules": rules})
    known = [names.get(name, name) for name in KNOWN]
    scenario = evalkit.Scenario(sensitive=names.get(SENSITIVE, SENSITIVE), known=known)
    return evalkit.assess(release, scenario, metrics=[one.slug for one in METRICS])


AS_BEFORE: dict[str, str] = {}
IN_ORDER = {"age": "c1", "pressure": "c2", "smoker": "c3", "town": "c4", "visits": "c5"}
OUT_OF_ORDER = {"age": "z", "pressure": "b", "visits": "q", "town": "m", "smoker": "a"}
# What models draw and how linkability cuts its variables follows the order of the names.
FOLLOWS_NAMES = HELD_BY_THE_CONTRACT | MODELS


@cache
def under_names() -> tuple[evalkit.Assessment, evalkit.Assessment, evalkit.Assessment]:
    return renamed(AS_BEFORE), renamed(IN_ORDER), renamed(OUT_OF_ORDER)


@pytest.mark.slow
@pytest.mark.parametrize("slug", [one.slug for one in METRICS if one.slug not in NEEDS_GAPS])
def test_the_names_of_columns_never_matter(slug: str) -> None:
    before, in_order, out_of_order = (one[slug] for one in under_names())
    assert before.status == "measured"
    for after in (in_order, *([] if slug in FOLLOWS_NAMES else [out_of_order])):
        assert comparable(after) == pytest.approx(comparable(before), abs=1e-9)
        if before.interval_method != "redeal":  # rows are dealt in an order that follows the names
            assert after.interval == pytest.approx(before.interval, abs=1e-9)


def test_linkability_is_that_of_its_halves_whatever_their_names() -> None:
    original = people(300, 1)
    tables = original, linked(original, 4)
    before = linkability(evalkit.load(*tables), ["age", "town"], ["pressure", "smoker"])
    release = evalkit.load(*(table.rename(columns=OUT_OF_ORDER) for table in tables))
    after = linkability(release, ["z", "m"], ["b", "a"])
    assert 0 < before.score < 100
    assert after.score == before.score


def incomes(rows: int, seed: int) -> pd.DataFrame:
    """Return people of whom a few are far from all others in everything."""
    rng = np.random.default_rng(seed)
    wealth = rng.standard_t(3, rows)
    names = ["income", "rent", "savings", "debts"]
    return pd.DataFrame({name: (wealth + rng.standard_t(3, rows)).round(3) for name in names})


def test_copied_outliers_lower_the_score_of_outliers_far_more_than_that_of_everybody() -> None:
    original, avatars, holdout = (incomes(1000, seed) for seed in (61, 62, 63))
    far = (original - original.median()).abs().sum(axis=1).sort_values().index[-50:]
    leaked = avatars.copy()
    leaked.iloc[:50] = original.loc[far].to_numpy()
    slugs = ["outlier_protection", "membership_inference_protection"]
    before, after = (
        evalkit.assess(evalkit.load(original, table, holdout), metrics=slugs)
        for table in (avatars, leaked)
    )
    outliers, everybody = (before[slug].score - after[slug].score for slug in slugs)
    assert outliers > 15
    assert outliers > 3 * max(everybody, 1)
