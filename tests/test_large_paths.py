"""The ways that large tables take, on small ones: equal to the formulas written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from reference import large_oracle as oracle

import evalkit
from evalkit import quantities_dealt_groups, quantities_pieces, quantities_tables
from evalkit.metrics import multivariate_hellinger
from evalkit.quantities_searching import Search

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
    monkeypatch.setattr(Search.linked, "__defaults__", (None, PIECE))
    kept = Search.answers.__kwdefaults__ or {}
    monkeypatch.setattr(Search.answers, "__kwdefaults__", kept | {"piece_rows": PIECE})


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
