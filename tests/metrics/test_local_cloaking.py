from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metrics.test_hidden_rate import AGES, OTHERS
from reference import own_avatar_oracle as oracle
from test_contract import linked, people
from vectors import real_table

import evalkit

SLUG = "local_cloaking"


def found(original: object, avatars: object, **options: object) -> evalkit.Result:
    return evalkit.measure(SLUG, original, avatars, row_link=True, **options)


def test_the_example_of_the_page() -> None:
    result = found(AGES, OTHERS)
    assert result.score == 0.5
    assert result.facts["with_ties"] == 1.0
    assert result.facts["n_uncovered"] == 2
    assert result.interval is None
    assert result.unit == "avatars"


@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_the_slow_way(seed: int, axes: int) -> None:
    original = people(60, seed)
    avatars = linked(original, seed + 50)
    ranks = oracle.ranks(*oracle.coordinates(original, avatars, axes))
    result = found(original, avatars, axes=axes)
    assert result.score == oracle.local_cloaking(ranks)
    assert result.facts["with_ties"] == oracle.local_cloaking(ranks, with_ties=True)
    assert result.facts["n_uncovered"] == sum(nearer == 0 for nearer, _ in ranks)


def test_the_published_value_of_the_wisconsin_data() -> None:
    original = real_table("wbcd/full_original.csv")
    avatars = real_table("wbcd/full_avatars.csv")
    result = found(original, avatars, ignore=["Sample_code_number"], categorical=["Class"], axes=2)
    assert result.score == 11.0
    assert result.facts["with_ties"] == 24.0


def test_without_a_row_link_nothing_is_measured() -> None:
    result = evalkit.measure(SLUG, people(40, 1), people(40, 2))
    assert (result.status, result.reason.code) == ("not applicable", "no_row_link")


def test_a_copy_of_a_coarse_table_has_no_cover_though_ties_would_give_it() -> None:
    table = pd.DataFrame({"a": ["x", "y"] * 30, "b": [1, 1, 2, 2] * 15})
    result = found(table, table)
    assert result.score == 0.0
    assert result.facts["self_score"] == 0.0
    assert result.facts["with_ties"] == 14.0
    assert result.facts["uncovered_share"] == 1.0


def test_rows_without_any_link_are_covered_by_half_of_all_avatars() -> None:
    result = found(people(300, 1), people(300, 2))
    assert result.facts["floor_score"] == pytest.approx(150, abs=15)
    assert result.score == pytest.approx(150, abs=40)
    assert result.interval[0] <= result.score <= result.interval[1]


def test_the_cover_is_one_search_for_both_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit import quantities_linked

    calls = []
    search = quantities_linked.rank_search
    monkeypatch.setattr(
        quantities_linked, "rank_search", lambda *a, **k: calls.append(1) or search(*a, **k)
    )
    original = people(40, 1)
    release = evalkit.load(original, linked(original, 2), row_link=True)
    evalkit.assess(release, metrics=["hidden_rate", SLUG])
    assert len(calls) == 2 + quantities_linked.SHUFFLES


def test_a_target_in_avatars_is_judged_by_the_median() -> None:
    from evalkit.records import Target
    from evalkit.targets import meets

    more_than_five = Target(operator=">", value=5.0, issuer="us", definition="same")
    assert meets(found(people(300, 1), people(300, 2)).score, more_than_five)


def test_a_row_link_that_is_not_there_is_doubted_and_a_true_one_is_not() -> None:
    rng = np.random.default_rng(4)
    original = pd.DataFrame(rng.normal(size=(80, 3)).round(2), columns=list("abc"))
    linked = original + rng.normal(scale=0.5, size=original.shape).round(2)
    unlinked = pd.DataFrame(rng.normal(size=(80, 3)).round(2), columns=list("abc"))
    for avatars, doubted in ((linked, False), (unlinked, True)):
        result = evalkit.measure(SLUG, original, avatars, row_link=True)
        codes = [warning.code for warning in result.warnings]
        assert ("link_looks_absent" in codes) == doubted
