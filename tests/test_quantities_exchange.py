"""Whether the holdout is a sample of the same people, and what follows if it is not."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from test_contract import people

import evalkit
from evalkit import quantities_exchange
from evalkit.quantities_exchange import Exchange, area_under_curve, exchange
from evalkit.report.document import Report

LINKABILITY, CORRELATION = "linkability_protection_rate", "correlation_difference_ratio"


def release(holdout: pd.DataFrame, rows: int = 160) -> evalkit.Release:
    return evalkit.load(people(rows, 1), people(rows, 2), holdout)


def older(rows: int, seed: int) -> pd.DataFrame:
    return people(rows, seed).assign(age=lambda table: table["age"] + 25)


def unrelated(rows: int, seed: int) -> pd.DataFrame:
    """People of the same ages and pressures, which have nothing to do with each other."""
    table = people(rows, seed)
    return table.assign(pressure=np.random.default_rng(seed).permutation(table["pressure"]))


@cache
def of_other_people() -> evalkit.Assessment:
    return evalkit.assess(release(older(150, 3)), metrics=[LINKABILITY, CORRELATION])


@pytest.mark.parametrize("seed", range(6))
def test_a_holdout_of_the_same_people_is_taken_as_such(seed: int) -> None:
    found = exchange(release(people(150, 10 + seed)), 0)
    assert found is not None
    assert not found.differs
    assert found.warning is None
    assert 0.35 < found.area < 0.65


def test_older_people_are_told_apart() -> None:
    found = exchange(release(older(150, 3)), 0)
    assert found is not None
    assert found.differs
    assert found.area > 0.8


def test_other_correlations_are_seen_by_the_deals() -> None:
    found = exchange(release(unrelated(150, 3)), 0)
    assert found is not None
    assert found.rank == 1.0
    assert found.differs


def test_other_categories_are_seen_without_any_number() -> None:
    def towns(rows: int, seed: int, share: float) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        town = np.where(rng.random(rows) < share, "Aix", "Brest")
        return pd.DataFrame({"town": town, "job": rng.choice(["a", "b", "c"], rows)})

    original = towns(200, 1, 0.2)
    found = exchange(evalkit.load(original, original, towns(200, 2, 0.7)), 0)
    assert found is not None
    assert found.rank is None
    assert found.differs


def test_people_with_missing_cells_are_other_people() -> None:
    holdout = people(150, 3)
    gaps = holdout.assign(pressure=holdout["pressure"].mask(np.arange(150) % 2 == 0))
    found = exchange(release(gaps), 0)
    assert found is not None
    assert found.area > 0.65


def test_the_originals_themselves_are_no_other_people() -> None:
    found = exchange(release(people(160, 1)), 0)
    assert found is not None
    assert found.rank == 0.0
    assert not found.differs


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_that_of_a_known_code(seed: int) -> None:
    rng = np.random.default_rng(seed)
    members, others = rng.integers(0, 6, 20) / 5, rng.integers(0, 5, 30) / 5
    known = roc_auc_score(np.repeat([1, 0], [20, 30]), np.concatenate([members, others]))
    assert area_under_curve(members, others) == pytest.approx(known)


@pytest.mark.parametrize(
    ("rank", "area", "rows", "differs"),
    [
        (0.995, 0.55, 200, False),
        (1.0, 0.5, 200, True),
        (None, 0.59, 5000, False),
        (None, 0.61, 5000, True),
        (None, 0.65, 30, False),  # what a forest finds among so few may be chance
        (None, 0.80, 30, True),
    ],
)
def test_when_a_holdout_counts_as_other_people(
    rank: float | None, area: float, rows: int, differs: bool
) -> None:
    assert Exchange(rank, 200, area, rows, rows).differs == differs


def test_too_few_rows_or_no_real_holdout_say_nothing() -> None:
    assert exchange(release(people(29, 3)), 0) is None
    assert exchange(evalkit.load(people(60, 1), people(60, 2)), 0) is None


def test_the_order_of_rows_and_columns_never_matters() -> None:
    original, holdout = people(90, 1), people(80, 3)
    rng = np.random.default_rng(0)
    shuffled = [
        table.iloc[rng.permutation(len(table))][list(rng.permutation(table.columns))]
        for table in (original, holdout)
    ]
    first = exchange(evalkit.load(original, original, holdout), 0)
    second = exchange(evalkit.load(shuffled[0], original, shuffled[1]), 0)
    assert first is not None
    assert second is not None
    assert (second.area, second.rank) == (first.area, first.rank)


def test_large_tables_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantities_exchange, "MOST_ROWS", 60)
    found = exchange(release(people(150, 3)), 0)
    assert found is not None
    assert (found.rows_original, found.rows_holdout) == (60, 60)


def test_huge_numbers_are_only_ranked() -> None:
    table = people(60, 1)
    far = table.assign(pressure=np.linspace(-1e300, 1e300, 60))
    assert exchange(evalkit.load(far, far, far), 0) is not None


def test_nothing_is_judged_against_other_people() -> None:
    found = of_other_people()
    assert found.release.exchange is not None
    assert found.release.exchange.differs
    correlation, linkability = found[CORRELATION], found[LINKABILITY]
    assert correlation.status == "measured"
    assert correlation.verdict == "not applicable"
    assert correlation.reason.code == "holdout_differs"
    assert linkability.verdict == "no target"  # its score needs no holdout
    assert [message.code for message in linkability.warnings] == ["holdout_differs"]


def test_one_test_serves_all_metrics_and_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    test = quantities_exchange._exchange
    monkeypatch.setattr(
        quantities_exchange, "_exchange", lambda *given: calls.append(1) or test(*given)
    )
    scenarios = [evalkit.Scenario(), evalkit.Scenario(name="clinic", known=["age", "town"])]
    one = release(people(150, 3))
    evalkit.assess(one, scenarios, metrics=[LINKABILITY, CORRELATION])
    evalkit.assess(one, metrics=[LINKABILITY])
    assert calls == [1]


def test_it_is_left_out_where_no_metric_looks_at_the_holdout() -> None:
    original = people(60, 1)
    one = evalkit.load(original, original, people(60, 2), row_link=True)
    assert evalkit.assess(one, metrics=["hidden_rate"]).release.exchange is None


def test_the_report_says_what_the_holdout_is_worth() -> None:
    html = Report(of_other_people()).html()
    said = re.sub(r"<[^>]*>", "", html)
    assert "not a sample of the same people as the originals" in said
    assert "is of other people" in said
    assert "Evidence of an excess" not in said
    assert re.search(r"area under the curve of 0\.[89]\d", said)
    alike = Report(evalkit.assess(release(people(150, 3)), metrics=[CORRELATION])).html()
    assert "Nothing speaks against its being a sample of the same people" in alike


def test_the_warning_names_the_test_that_found_the_difference() -> None:
    by_correlations = Exchange(1.0, 200, 0.5, 300, 300).warning
    by_forest = Exchange(0.4, 200, 0.9, 300, 300).warning
    assert by_correlations is not None
    assert by_forest is not None
    assert "any of 200 random deals" in by_correlations.text
    assert "classifier" not in by_correlations.text
    assert "area under the curve of 0.90" in by_forest.text
