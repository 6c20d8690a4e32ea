from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit
from evalkit.kernels.axes import axes_of_products, code_columns, coded_matrix
from evalkit.kernels.dealt_axes import DealtAxes

SLUG = "multivariate_hellinger"
SIZES = [(500, 500, 500), (500, 100, 500), (500, 500, 125)]


def measured(
    working: pd.DataFrame,
    avatars: pd.DataFrame,
    holdout: pd.DataFrame | None = None,
    **options: Any,
) -> evalkit.Result:
    return evalkit.measure(SLUG, working, avatars, holdout, **options)


def resampled(table: pd.DataFrame, share: float, seed: int = 3) -> pd.DataFrame:
    """Return the table with a share of the cells of each column drawn from that column."""
    rng = np.random.default_rng(seed)
    return table.assign(
        **{
            name: np.where(rng.random(len(table)) < share, rng.permutation(column), column)
            for name, column in table.items()
        }
    )


def related(rows: int, seed: int) -> pd.DataFrame:
    """Return people whose columns hang together closely."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    numbers = {
        name: (size + rng.normal(0, 0.3, rows)).round(3) for name in ("height", "reach", "stride")
    }
    return pd.DataFrame(numbers | {"group": np.where(size > 0.5, "tall", "other")})


def slow_score(working: pd.DataFrame, avatars: pd.DataFrame, grid: int, count: int) -> float:
    """Return the score of numeric tables from the formula: SVD, sorted quantiles, counted cells."""
    mean, deviation = working.to_numpy().mean(axis=0), working.to_numpy().std(axis=0)
    tables = [(table.to_numpy() - mean) / deviation for table in (working, avatars)]
    _, _, axes = np.linalg.svd(tables[0], full_matrices=False)
    signs = [np.sign(axis[np.argmax(np.abs(axis))]) for axis in axes]
    points = [table @ (axes[:count] * np.array(signs[:count])[:, None]).T for table in tables]
    cells = []
    for table in points:
        ordered = np.sort(points[0], axis=0)
        places = [k * len(ordered) // grid for k in range(1, grid)]
        cells.append([[int((row >= ordered[places]).sum(axis=0)[axis]) for axis in range(count)]
                      for row in table])  # fmt: skip
    found = []
    for i, j in itertools.combinations(range(count), 2):
        total = 0.0
        for cell in itertools.product(range(grid), repeat=2):
            p, q = (np.mean([(row[i], row[j]) == cell for row in table]) for table in cells)
            total += np.sqrt(p * q)
        found.append(np.sqrt(1 - total))
    return float(100 * (1 - np.mean(found)))


def test_the_score_is_that_of_slow_independent_code() -> None:
    columns = ["height", "reach", "stride"]
    working, avatars, holdout = (related(150, seed)[columns] for seed in (1, 2, 3))
    result = measured(working, avatars, holdout)
    assert (result.facts["grid"], result.facts["axes_used"]) == (3, 3)
    assert result.score == pytest.approx(slow_score(working, avatars, 3, 3), abs=1e-9)


def test_the_example_of_the_page_by_hand() -> None:
    from evalkit.kernels.binning import cell_shares, hellinger_distance

    working = np.repeat([0, 1, 2, 3], 25)
    avatars = np.repeat([0, 1, 2, 3], [36, 16, 16, 32])
    found = hellinger_distance(cell_shares(working, 4), cell_shares(avatars, 4))
    assert found == pytest.approx(0.131, abs=0.0005)
    assert round(100 * (1 - found)) == 87


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_axes_of_a_deal_are_those_of_its_rows(missing: float) -> None:
    table = related(300, 4)
    rng = np.random.default_rng(0)
    columns = [table["height"].to_numpy(copy=True), table["reach"].to_numpy(copy=True)]
    columns[0][rng.random(300) < missing] = np.nan
    columns += [pd.factorize(table["group"], sort=True)[0].astype(np.int64)]
    columns += [np.full(300, 7.0), rng.integers(-1, 3, 300)]
    numeric = [True, True, False, True, False]
    dealt = rng.permutation(300) < 140
    found = DealtAxes(columns, numeric, 2).coordinates(dealt)
    codings = code_columns([column[dealt] for column in columns], numeric)
    part = coded_matrix([column[dealt] for column in columns], codings)
    loadings, _ = axes_of_products(part.T @ part, 2)
    expected = coded_matrix(columns, codings) @ loadings
    for axis in range(2):
        assert abs(np.corrcoef(found[:, axis], expected[:, axis])[0, 1]) > 0.9999
        assert found[:, axis].std() == pytest.approx(expected[:, axis].std(), rel=1e-3)


def test_a_copy_scores_100() -> None:
    table = people(200, 1)
    assert measured(table, table.sample(frac=1, random_state=2), people(90, 3)).score == 100


@pytest.mark.parametrize("sizes", SIZES)
def test_unseen_real_rows_lie_in_the_band_of_real_rows(sizes: tuple[int, int, int]) -> None:
    results = [
        measured(
            people(sizes[0], 100 * deal),
            people(sizes[2], 100 * deal + 1),
            people(sizes[1], 100 * deal + 2),
        )
        for deal in range(5)
    ]
    # One in forty lies below by luck; two of five would not be luck.
    assert sum(one.score < one.facts["real_low"] for one in results) <= 1
    gaps = [one.score - one.facts["real_score"] for one in results]
    assert abs(np.mean(gaps)) < 1.5


def test_more_columns_than_people_deserve_do_not_push_unseen_rows_out_of_the_band() -> None:
    # Axes fitted on few rows with many columns suit these rows more than any others.
    rng = np.random.default_rng(1)
    tables = [pd.DataFrame(rng.normal(size=(120, 40)).round(2)).add_prefix("v") for _ in range(3)]
    result = measured(*tables)
    assert result.score >= result.facts["real_low"] - 1
    assert result.facts["real_score"] < 85


@pytest.mark.parametrize("sizes", SIZES)
def test_shuffled_columns_sit_at_the_floor(sizes: tuple[int, int, int]) -> None:
    working, holdout, avatars = (related(rows, rows + k) for k, rows in enumerate(sizes))
    scores = [measured(working, resampled(avatars, 1.0, k), holdout).score for k in range(3)]
    kept = measured(working, avatars, holdout)
    assert np.mean(scores) == pytest.approx(kept.facts["floor_score"], abs=2)
    assert max(scores) < kept.facts["real_low"]


def test_the_more_cells_are_resampled_the_lower_the_score() -> None:
    table, holdout = related(500, 41), related(500, 42)
    scores = [
        measured(table, resampled(table, share), holdout).score for share in (0.0, 0.1, 0.3, 0.6)
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 100


@cache
def with_and_without() -> tuple[tuple[pd.DataFrame, ...], evalkit.Result]:
    tables = related(300, 1), resampled(related(300, 2), 0.3), related(200, 3)
    return tables, measured(*tables)


@pytest.mark.parametrize("kind", ["constant", "empty", "identifier"])
def test_a_column_that_says_nothing_changes_no_score(kind: str) -> None:
    tables, before = with_and_without()
    columns = {
        "constant": lambda rows, _: ["France"] * rows,
        "empty": lambda rows, _: [None] * rows,
        "identifier": lambda rows, k: [f"P{1000 * k + n:05d}x" for n in range(rows)],
    }
    changed = [table.assign(added=columns[kind](len(table), k)) for k, table in enumerate(tables)]
    after = measured(*changed)
    assert after.score == pytest.approx(before.score, abs=1e-9)
    assert after.facts["real_score"] == pytest.approx(before.facts["real_score"], abs=0.3)


def test_a_direction_that_no_single_column_shows_is_seen() -> None:
    working, holdout = related(400, 1), related(400, 2)
    turned = related(400, 3).assign(reach=lambda table: -table["reach"])
    result = measured(working, turned, holdout)
    assert result.score < result.facts["real_low"]
    assert "changed its shape" in page_text(SLUG, result)


def test_facts_name_variables_and_shares_and_hold_no_level() -> None:
    _, result = with_and_without()
    facts = result.facts
    assert {"height", "reach", "stride"} & set(facts["axes"][0]["variables"])
    assert "tall" not in str(facts)
    shown = [pair["avatars"] for pair in facts["axis_pairs"]]
    assert shown == sorted(shown)
    assert len(shown) <= 6
    assert 0 < facts["variance_share"] <= 1


def test_under_40_rows_and_with_one_axis_it_is_not_applicable() -> None:
    result = measured(people(100, 1), people(100, 2), people(39, 3))
    assert result.status == "not applicable"
    assert "40 rows" in result.reason.text
    one = [people(100, seed)[["smoker"]] for seed in range(3)]
    assert measured(*one).reason.code == "too_few_axes"


def test_axes_that_hold_little_are_said() -> None:
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(80, 55)).round(2)).add_prefix("v") for _ in range(3)]
    result = measured(*tables)
    assert [warning.code for warning in result.warnings] == ["axes_hold_little"]
    assert result.facts["redeal_count"] == 20
    assert "more axes" in page_text(SLUG, result)


@pytest.mark.parametrize("avatars", ["copy", "unseen", "resampled"])
@pytest.mark.parametrize("holdout_kind", ["real", "approximate"])
def test_the_page_says_what_the_result_shows(avatars: str, holdout_kind: str) -> None:
    tables, _ = with_and_without()
    original, moved, holdout = tables
    chosen = {"copy": original, "unseen": related(300, 5), "resampled": moved}[avatars]
    result = measured(original, chosen, holdout)
    said = page_text(SLUG, result, holdout_kind=holdout_kind)
    assert ("cell by cell" in said or "fill the cells" in said) == (avatars == "copy")
    assert ("below that range" in said) == (avatars == "resampled")
    assert ("its people were anonymised too" in said) == (
        holdout_kind == "approximate" and avatars != "copy"
    )


def test_every_sentence_of_the_page_has_a_line_of_its_own() -> None:
    assert_one_sentence_a_line(SLUG)
