"""The ways that large tables take, on small ones: equal to the formulas written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import page_text
from reference import large_oracle as oracle

import evalkit
from evalkit import (
    intervals,
    quantities_closeness,
    quantities_dealt_groups,
    quantities_linked,
    quantities_pieces,
    quantities_real_people,
    quantities_searching,
    quantities_tables,
    quantities_two_searches,
)
from evalkit.engine import Limits, working_on
from evalkit.kernels import linking, prepared
from evalkit.metrics import linkability_protection_rate, multivariate_hellinger

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, PIECE = 420, 97
NAMES = ["age", "children", "pay", "same", "score", "sex", "town", "unit"]
NUMERIC = {"age", "children", "pay", "same", "score"}
DECLARED = ["age", "children", "sex", "town"]
KNOWN = [name for name in NAMES if name != "pay"]
Tables = tuple[oracle.Table, oracle.Table, oracle.Table]


def people(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return people with ties, gaps, columns of one value, rare levels and repeated rows."""
    health = rng.normal(size=rows)
    table = pd.DataFrame(
        {
            "age": (50 + 15 * health).round(),
            "children": rng.integers(0, 4, rows).astype(float),
            "pay": np.where(rng.random(rows) < 0.2, 0.0, rng.lognormal(7 + health, 1).round(1)),
            "same": np.full(rows, 7.0),
            "score": (health + rng.normal(size=rows)).round(1) / 3,
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice([f"town {k}" for k in range(14)], rows, p=_falling(14)),
            "unit": np.full(rows, "kg"),
        }
    )
    for name, share in (("age", 0.05), ("score", 0.2), ("town", 0.1), ("pay", 0.02)):
        table.loc[rng.random(rows) < share, name] = np.nan if name in NUMERIC else None
    repeated = rng.integers(0, rows, rows // 10)
    table.iloc[: len(repeated)] = table.iloc[repeated].to_numpy()
    return table.infer_objects()


def _falling(levels: int) -> np.ndarray:
    shares = 1.5 ** -np.arange(levels, dtype=float)
    return shares / shares.sum()


def made_from(original: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return avatars: a tenth are copies, of the others some cells were drawn anew."""
    avatars = original.sample(frac=1, random_state=3).reset_index(drop=True)
    other = people(len(avatars), rng)
    for name in NAMES:
        anew = rng.random(len(avatars)) < 0.3
        anew[: len(avatars) // 10] = False
        avatars.loc[anew, name] = other.loc[anew, name]
    avatars.loc[avatars.index[-5:], "same"] = 8.0  # what no original has
    avatars.loc[avatars.index[-40:], :] = avatars.iloc[-80:-40].to_numpy()
    return avatars.infer_objects()


def tables(rows: int = ROWS) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(11)
    original, holdout = people(rows, rng), people(rows, rng)
    return original, made_from(original, rng), holdout


def plain(frame: pd.DataFrame) -> oracle.Table:
    return {
        name: [None if pd.isna(value) else value for value in frame[name].tolist()]
        for name in NAMES
    }


@pytest.fixture(scope="module")
def given() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return tables()


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small tables take the ways of large ones: pieces, and deals of groups."""
    monkeypatch.setattr(quantities_dealt_groups, "LARGE_POOL", 0)
    for cut in (quantities_pieces.pieces, quantities_tables.table_pieces):
        monkeypatch.setattr(cut, "__defaults__", (None, PIECE))
    for module in (quantities_searching, quantities_two_searches):
        monkeypatch.setattr(module, "PIECE_QUERIES", PIECE)


def result(
    slug: str, given: tuple[pd.DataFrame, ...], known: list[str], sensitive: str | None = None
) -> Any:
    release = evalkit.load(*given, numeric=sorted(NUMERIC), categorical=["unit"])
    scenario = evalkit.Scenario(known=known, sensitive=sensitive)
    return evalkit.assess(release, scenario, metrics=[slug])[slug]


def _shares(share: float, control: float) -> float:
    return 100 * (1 - max(0.0, (share - control) / (1 - control)))


def _ratio(rows: int, reference: float, avatar: float) -> float:
    kappa = max(1.0, rows / 2000) ** 0.5
    return min(100.0, 100 * kappa * reference / avatar)


EXPECTED: dict[str, Callable[[Tables], float]] = {
    "distance_to_closest": lambda t: oracle.distance_to_closest(*t, NAMES, NUMERIC),
    "closest_to_training_share": lambda t: oracle.closest_to_training_share(*t, NAMES, NUMERIC),
    "row_direct_match_protection": lambda t: oracle.row_direct_match_protection(*t[:2], NAMES),
    "replicated_uniques": lambda t: _shares(*oracle.replicated_uniques(*t, DECLARED)),
    "hellinger": lambda t: oracle.hellinger(*t[:2], NAMES, NUMERIC),
    "coverage": lambda t: oracle.coverage(*t[:2], NAMES, NUMERIC),
    "missingness": lambda t: oracle.missingness(*t[:2], NAMES),
    "correlation_difference_ratio": lambda t: _ratio(
        len(t[0]["age"]),
        oracle.correlation_difference(t[0], t[2], sorted(NUMERIC - {"same"})),
        oracle.correlation_difference(t[0], t[1], sorted(NUMERIC - {"same"})),
    ),
    "mutual_information_ratio": lambda t: _ratio(
        len(t[0]["age"]),
        *(
            oracle.information_difference(
                t[0], t[k], [name for name in NAMES if name not in {"same", "unit"}], NUMERIC
            )
            for k in (2, 1)
        ),
    ),
}


@pytest.mark.parametrize("slug", sorted(EXPECTED))
@pytest.mark.usefixtures("large")
def test_a_large_table_scores_what_the_formula_says(
    slug: str, given: tuple[pd.DataFrame, ...]
) -> None:
    known = DECLARED if slug == "replicated_uniques" else NAMES
    found = result(slug, given, known)
    assert found.score == pytest.approx(EXPECTED[slug](tuple(map(plain, given))), abs=1e-9)


@pytest.mark.usefixtures("large")
def test_large_attacks_with_a_sensitive_value_score_what_the_formulas_say(
    given: tuple[pd.DataFrame, ...],
) -> None:
    original, avatars, holdout = map(plain, given)
    found = result("inference_protection", given, KNOWN, "pay").score
    expected = oracle.inference_protection(original, avatars, holdout, KNOWN, "pay", NUMERIC)
    assert found == pytest.approx(expected, abs=1e-9)
    declared = [name for name in DECLARED if name != "town"]
    found = result("attribute_disclosure", given, declared, "town").score
    expected = oracle.attribute_disclosure(original, avatars, holdout, declared, "town")
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.usefixtures("large")
def test_a_large_search_links_as_often_as_the_formula_says(
    given: tuple[pd.DataFrame, ...],
) -> None:
    found = result("linkability_protection_rate", given, NAMES).facts
    original, avatars, holdout = map(plain, given)
    halves = found["known_a"], found["known_b"]
    assert found["expected_score"] == pytest.approx(
        oracle.linkability(original, avatars, halves, NUMERIC), abs=1e-9
    )
    assert found["n_linked"] <= found["possible_links"]
    assert len(holdout["age"]) == found["control_attempts"]


def _dealt(slug: str, given: tuple[pd.DataFrame, ...], seeds: range) -> tuple[float, list[float]]:
    """Return the mean score of real rows, and the middle of their band, over some seeds."""
    found = []
    for seed in seeds:
        release = evalkit.load(*given, numeric=sorted(NUMERIC), categorical=["unit"])
        scenario = evalkit.Scenario(seed=seed)
        found.append(evalkit.assess(release, scenario, metrics=[slug])[slug].facts)
    ends = [_band(facts) for facts in found]
    return float(np.mean([facts["real_score"] for facts in found])), np.mean(ends, axis=0).tolist()


def _band(facts: dict[str, Any]) -> list[float]:
    return facts.get("real_band") or [facts["real_low"], facts["real_high"]]


@pytest.mark.parametrize("slug", ["hellinger", "coverage", "missingness"])
def test_deals_of_groups_have_the_band_of_deals_of_rows_with_one_huge_cell(
    slug: str, given: tuple[pd.DataFrame, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = given[0].copy()
    original.loc[0, "pay"] = 1e12
    tables = original, *given[1:]
    mean, (low, high) = _dealt(slug, tables, range(2))
    monkeypatch.setattr(quantities_dealt_groups, "LARGE_POOL", 0)
    other, ends = _dealt(slug, tables, range(2))
    assert other == pytest.approx(mean, abs=0.15 * (high - low))
    assert ends == pytest.approx([low, high], abs=0.25 * (high - low))


def test_a_dealt_sample_with_a_small_holdout_scores_real_rows_as_all_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    original, holdout = people(2400, rng), people(120, rng)
    tables = original, made_from(original, rng), holdout
    mean, (low, high) = _dealt("multivariate_hellinger", tables, range(1))
    monkeypatch.setattr(quantities_dealt_groups, "LARGE_POOL", 0)
    monkeypatch.setattr(multivariate_hellinger, "DEALT_PEOPLE", 800)
    sampled, ends = _dealt("multivariate_hellinger", tables, range(1))
    assert sampled == pytest.approx(mean, abs=0.25 * (high - low))
    assert ends == pytest.approx([low, high], abs=0.4 * (high - low))


class Few(Limits):
    """As if so few rows could look for others that each table is a sample."""

    def queries(self, queries: int, targets: int, most: int = 0) -> int:
        del targets, most
        return min(queries, 120)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every search that may be sampled be so."""
    monkeypatch.setattr(quantities_linked, "FEWEST_SAMPLED", 120)
    monkeypatch.setattr(quantities_closeness, "MOST_BETWEEN", 120)
    monkeypatch.setattr(quantities_real_people, "MOST_ATTACKED", 300)
    attacker = linkability_protection_rate._Attacker
    monkeypatch.setattr(attacker, "cost", lambda self, _: len(self.release.avatars))


def _sampled_numbers(given: list[pd.DataFrame], slugs: list[str], *, linked: bool) -> list[Any]:
    release = evalkit.load(*given, numeric=sorted(NUMERIC), categorical=["unit"], row_link=linked)
    with working_on(limits=Few()):
        found = evalkit.assess(release, evalkit.Scenario(known=NAMES), metrics=slugs)
    return [(found[slug].score, found[slug].interval, _sizes(found[slug].facts)) for slug in slugs]


def _sizes(facts: dict[str, Any]) -> list[Any]:
    return [facts.get(name) for name in ("attempts", "sample", "sample_avatars", "n_sampled")]


@pytest.mark.usefixtures("sampled")
def test_samples_of_searches_do_not_depend_on_the_order_of_rows(
    given: tuple[pd.DataFrame, ...],
) -> None:
    rng = np.random.default_rng(4)
    order, others = rng.permutation(ROWS), rng.permutation(ROWS)
    slugs = ["hidden_rate", "local_cloaking", "categorical_hidden_rate"]
    slugs += ["correlation_protection_rate"]
    together = [given[0].iloc[order], given[1].iloc[order], given[2].iloc[others]]
    for slug, first, second in zip(
        slugs,
        _sampled_numbers(list(given), slugs, linked=True),
        _sampled_numbers(together, slugs, linked=True),
        strict=True,
    ):
        assert 120 in first[2], slug
        assert second[0] == pytest.approx(first[0], abs=1e-9), slug
        assert second[1] == pytest.approx(first[1], abs=1e-9), slug
    slugs = ["linkability_protection_rate", "closest_distances_ratio"]
    slugs += ["membership_inference_protection", "outlier_protection"]
    apart = [given[0].iloc[order], given[1].iloc[others], given[2].iloc[order]]
    for slug, first, second in zip(
        slugs,
        _sampled_numbers(list(given), slugs, linked=False),
        _sampled_numbers(apart, slugs, linked=False),
        strict=True,
    ):
        assert {120, 300} & {*first[2]}, slug
        assert second[0] == pytest.approx(first[0], abs=1e-9), slug
        assert second[1] == pytest.approx(first[1], abs=1e-9), slug


def test_an_estimated_expectation_widens_the_interval_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slug, rng = "linkability_protection_rate", np.random.default_rng(0)
    names = [f"code {k}" for k in range(10)]
    coded = [pd.DataFrame(rng.integers(0, 9, (300, 10)), columns=names) for _ in range(2)]

    def measured() -> Any:
        release = evalkit.load(*coded, categorical=names)
        return evalkit.assess(release, evalkit.Scenario(), metrics=[slug])[slug]

    whole = measured()
    assert "long ties are estimated" not in page_text(slug, whole)
    for name in ("LEAST_LIST", "LONGEST_LIST"):
        monkeypatch.setattr(prepared, name, 1)
    monkeypatch.setattr(linking, "FEWEST_MEASURED", 20)
    monkeypatch.setattr(linking, "MEASURED_CELLS", 0)
    part = measured()
    error = part.facts["expectation_standard_error"]
    expected = part.facts["expected_score"]
    _, high = intervals.wilson(300 * (1 - expected / 100), 300)
    assert error > 0
    assert part.interval[0] < 100 * (1 - high) - 0.001
    assert abs(expected - whole.facts["expected_score"]) < 4 * error
    assert "long ties are estimated" in page_text(slug, part)


def test_a_sample_without_a_link_does_not_pass_for_exact() -> None:
    count, places = np.full(1000, 3), np.arange(1000)
    mean, error = linking.estimated(count, places, places[:200], np.zeros(200), np.full(200, 0.01))
    assert mean == 0
    # Of links in 1.5 % of the pairs, 200 pairs would show at least one in 95 of 100 samples.
    assert 0.5 * 0.015 * 0.01 < 1.96 * error < 2 * 0.015 * 0.01


@pytest.mark.usefixtures("sampled")
def test_known_cases_never_ask_more_people_than_the_score(
    given: tuple[pd.DataFrame, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = "linkability_protection_rate"
    monkeypatch.setattr(linkability_protection_rate, "ANCHOR_ROWS", 200)
    monkeypatch.setattr(linkability_protection_rate, "FLOOR_ROWS", 150)
    with working_on(limits=Few()):
        found = result(slug, given, NAMES)
        inferred = result("inference_protection", given, KNOWN, "pay").facts
    sizes = [found.facts[name] for name in ("attempts", "anchor_sample", "floor_sample")]
    assert [*sizes, found.facts["split_sample"]] == [120] * 4
    assert inferred["anchor_sample"] == 240  # of both groups
    page = page_text(slug, found)
    assert f"120 of the {ROWS} originals, drawn at random" in page
    assert f"120 people drawn from {ROWS}" in page
    whole = result(slug, given, NAMES).facts
    assert (whole["anchor_sample"], whole["floor_sample"]) == (200, 150)
