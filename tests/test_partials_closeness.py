"""Searches of closeness in pieces and on samples: any cut tells the same, a sample says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.rendering import page_text, people

import evalkit
from evalkit import quantities_closeness, quantities_real_people
from evalkit.engine import Limits, working_on
from evalkit.metrics.inference_protection import right_share
from evalkit.quantities_closeness import (
    closeness,
    copied,
    distance_of,
    find_nearest_originals,
    find_pool_shares,
    find_two_originals,
    pool_answers,
    shuffled,
    strangers,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 90
SCENARIO = evalkit.Scenario(sensitive="pressure", known=["age", "weight", "town"])


@dataclass(frozen=True)
class Few(Limits):
    """As if the tables were so large that forty rows are all that may look for others."""

    def queries(self, queries: int, targets: int, most: int = 0) -> int:
        del targets, most
        return queries if self.exact else min(queries, 40)


def fresh(rows: int = ROWS) -> evalkit.Release:
    avatars = people(rows, 2)
    avatars.loc[:9] = people(rows, 1).loc[:9]
    avatars.loc[20:29] = avatars.loc[:9].to_numpy()
    tables = people(rows, 1), avatars, people(rows - 30, 3)
    return evalkit.load(*tables, row_link=True)


RELEASE = fresh()


def answers_of_pool(rows: int) -> dict[str, NDArray[Any]]:
    near = closeness(RELEASE, 0)
    search = near.people.search([near.avatars], near.people.pool)
    member = np.arange(2 * ROWS - 30) < ROWS
    weights = np.random.default_rng(3).random(ROWS)
    return search.answers(
        near.people.names,
        pool_answers,
        beside={"weights": weights},
        shared=member,
        merge={"hit": np.logical_or, "falling": np.add},
        piece_rows=rows,
    )


@settings(max_examples=15, deadline=None)
@given(rows=st.integers(1, ROWS))
def test_any_cut_of_the_avatars_finds_the_same_records_of_the_pool(rows: int) -> None:
    whole, cut = answers_of_pool(ROWS), answers_of_pool(rows)
    assert whole.keys() == cut.keys()
    for name in ("size", "hit"):
        assert np.array_equal(whole[name], cut[name])
    for name in ("of_working", "falling"):
        assert cut[name] == pytest.approx(whole[name], rel=1e-12, abs=1e-12)
    pairs = {*zip(whole["key"].tolist(), cut["key"].tolist(), strict=True)}
    assert len(pairs) == len(np.unique(whole["key"])) == len(np.unique(cut["key"]))


@settings(max_examples=15, deadline=None)
@given(rows=st.integers(1, ROWS))
def test_any_cut_of_the_people_finds_the_same_distances_and_guesses(rows: int) -> None:
    near = closeness(RELEASE, 0)
    search = near.people.search([near.people.reference, near.avatars], near.people.working)
    ranks = np.random.default_rng(1).integers(0, 5, ROWS)
    low = np.random.default_rng(2).integers(0, 5, len(search.rows))
    found = [
        (
            search.answers(near.people.names, distance_of, piece_rows=size)["distance"],
            search.answers(
                near.people.names,
                right_share,
                beside={"low": low, "high": low + 1},
                shared=ranks,
                piece_rows=size,
            )["right"],
        )
        for size in (rows, ROWS * 2)
    ]
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_tables_that_are_searched_together_find_what_each_finds_alone() -> None:
    together, alone = (
        [*(make(one, 0) for make in (closeness, strangers, copied)), *shuffled(one, 0)]
        for one in (fresh(), fresh())
    )
    for find in (find_nearest_originals, find_two_originals, find_pool_shares):
        find(together)
    for one, other in zip(together, alone, strict=True):
        assert one.to_originals == pytest.approx(other.to_originals, rel=1e-12)
        for first, second in zip(one.two_originals, other.two_originals, strict=True):
            assert first == pytest.approx(second, rel=1e-12)
        assert np.array_equal(one.in_pool.of_working, other.in_pool.of_working)
        assert one.in_pool.n_hit == other.in_pool.n_hit


def test_with_nothing_sampled_large_tables_are_searched_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quantities_closeness, "MOST_BETWEEN", 30)
    monkeypatch.setattr(quantities_closeness, "MOST_TOGETHER", 30)
    found = []
    for exact in (False, True):
        with working_on(limits=Limits(exact=exact)):
            tables = closeness(fresh(), 0), strangers(fresh(), 0)
            find_two_originals(tables)
            found.append([len(one.two_originals.first) for one in tables])
    assert found == [[30, 30], [ROWS, ROWS - 30]]


LOOKS = re.compile("each (looks )?among all")
ATTACKS = "membership_inference_protection", "outlier_protection"
LINKED = "categorical_hidden_rate", "correlation_protection_rate"
SAMPLED = {
    "closest_to_training_share": {"attempts": 40, "sample_avatars": 40, "n_avatars": ROWS},
    "distance_to_closest": {"attempts": 40, "sample_avatars": 40, "sample_holdout": 40},
    "categorical_hidden_rate": {"attempts": 40, "n_original": ROWS},
    "correlation_protection_rate": {"attempts": 40, "n_original": ROWS},
    "inference_protection": {"attempts": 40, "control_attempts": 40, "n_working": ROWS},
}


@pytest.mark.parametrize("slug", sorted(SAMPLED))
def test_a_sample_looks_among_all_and_the_page_says_so(slug: str) -> None:
    with working_on(limits=Few()):
        part, whole = (
            evalkit.assess(fresh(), SCENARIO, metrics=[slug], exact=exact)[slug]
            for exact in (False, True)
        )
    assert {name: part.facts[name] for name in SAMPLED[slug]} == SAMPLED[slug]
    assert whole.facts["attempts"] == ROWS
    pages = page_text(slug, part), page_text(slug, whole)
    assert [bool(LOOKS.search(one)) for one in pages] == [True, False]
    assert part.interval[0] < whole.score + 25
    assert part.interval[1] > whole.score - 25


@pytest.mark.parametrize("slug", ["hidden_rate", "local_cloaking", "closest_distances_ratio"])
def test_the_page_of_a_sample_of_originals_says_that_it_is_one(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalkit import quantities_linked

    monkeypatch.setattr(quantities_linked, "FEWEST_SAMPLED", 40)
    monkeypatch.setattr(quantities_closeness, "MOST_BETWEEN", 40)
    with working_on(limits=Few()):
        result = evalkit.assess(fresh(), SCENARIO, metrics=[slug])[slug]
    assert LOOKS.search(page_text(slug, result))
    assert 40 in {result.facts.get(name) for name in ("attempts", "sample", "sample_avatars")}


@pytest.mark.parametrize("slug", ["membership_inference_protection", "outlier_protection"])
def test_the_page_of_an_attack_on_a_sample_names_its_size(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = evalkit.assess(fresh(400), SCENARIO, metrics=[slug])[slug]
    assert "Drawn at random" not in page_text(slug, whole)
    monkeypatch.setattr(quantities_real_people, "MOST_ATTACKED", 300)
    part = evalkit.assess(fresh(400), SCENARIO, metrics=[slug])[slug]
    assert (part.facts["n_sampled"], part.facts["control_sampled"]) == (300, 300)
    page = page_text(slug, part)
    assert "Drawn at random\n300 people used, 300 of the control" in page
    assert "of 400 originals" not in page


@pytest.mark.parametrize(
    "slug",
    [
        "distance_to_closest",
        "closest_to_training_share",
        "closest_distances_ratio",
        "membership_inference_protection",
        "outlier_protection",
    ],
)
def test_the_page_says_on_how_many_rows_known_cases_were_tried(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quantities_closeness, "MOST_SHUFFLED", 270)
    monkeypatch.setattr(quantities_closeness, "MOST_COPIED", 280)
    monkeypatch.setattr(quantities_closeness, "MOST_BETWEEN", 280)
    result = evalkit.assess(fresh(400), SCENARIO, metrics=[slug])[slug]
    page = page_text(slug, result)
    assert "Shuffled columns\ntried on 270 rows drawn at random" in page
    assert ("Perfect copy\ntried on 280 originals" in page) == (slug not in ATTACKS)


def test_a_sample_is_the_same_for_any_order_of_the_rows() -> None:
    tables = people(ROWS, 1), people(ROWS, 2), people(60, 3)
    order = np.random.default_rng(0).permutation(ROWS)
    moved = tables[0].iloc[order], tables[1].iloc[order[::-1]], tables[2].iloc[::-1]
    unlinked = [slug for slug in SAMPLED if slug not in LINKED]
    found = []
    for some in (tables, moved):
        with working_on(limits=Few()):
            release = evalkit.load(*some)
            results = evalkit.assess(release, SCENARIO, metrics=unlinked)
            found.append([results[slug].score for slug in unlinked])
    assert found[0] == pytest.approx(found[1], rel=1e-12)
