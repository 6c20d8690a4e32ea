"""Pictures of single variables: what may be shown, and that nothing else is."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pandas as pd
import pytest
from metrics.rendering import people

import evalkit
from evalkit.distributions import distribution_records
from evalkit.figures import ENGLISH, html_svg, small_multiples, worst_variables
from evalkit.figures.distributions import edge_words
from evalkit.quantities_distributions import joined_bins, joined_levels
from evalkit.quantities_edges import date_edges, quantile_edges, round_edges
from evalkit.report.document import Report

if TYPE_CHECKING:
    from evalkit.record_parts import DistributionRecord

MIN_COUNT = 11


def records(
    original: pd.DataFrame, avatars: pd.DataFrame, holdout: pd.DataFrame | None = None
) -> dict[str, DistributionRecord]:
    release = evalkit.load(original, avatars, holdout)
    return {one.name: one for one in distribution_records(release, MIN_COUNT)}


def inside(values: pd.Series, low: float, high: float) -> int:
    return int(((values > low) & (values <= high)).sum())


@pytest.mark.parametrize("seed", range(5))
def test_every_bin_holds_enough_originals_and_enough_of_the_holdout(seed: int) -> None:
    original, avatars, holdout = people(300, seed), people(300, seed + 10), people(200, seed + 20)
    found = records(original, avatars, holdout)
    for name in ("age", "pressure", "weight"):
        one = found[name]
        ends = [-np.inf, *one.edges, np.inf]
        counts = [inside(original[name], *pair) for pair in itertools.pairwise(ends)]
        assert min(counts) >= MIN_COUNT
        assert one.original == pytest.approx([count / 300 for count in counts], abs=1e-4)
        assert len(one.bins) == len(counts) >= 4
        assert original[name].min() < one.edges[0]
        assert one.edges[-1] < original[name].max()
        if one.holdout is not None:
            others = [inside(holdout[name], *pair) for pair in itertools.pairwise(ends)]
            assert min(others) >= MIN_COUNT
            assert one.holdout == pytest.approx([count / 200 for count in others], abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_no_level_and_no_rest_can_be_worked_out_for_few_people(seed: int) -> None:
    rng = np.random.default_rng(seed)
    real = [rng.integers(0, 30, size=7), rng.integers(0, 30, size=7)][: 1 + seed % 2]
    groups = joined_levels(real, MIN_COUNT)
    if not groups:
        return
    assert sorted(itertools.chain(*groups)) == list(range(7))
    for counts in real:
        assert all(counts[group].sum() >= MIN_COUNT for group in groups[:-1])
        assert counts[groups[-1]].sum() == 0 or counts[groups[-1]].sum() >= MIN_COUNT
    assert (real[0][groups[-1]] > 0).sum() != 1


def test_a_single_rare_level_takes_the_next_one_with_it() -> None:
    assert joined_levels([np.array([50, 30, 4])], MIN_COUNT) == [[0], [1, 2]]
    assert joined_levels([np.array([50, 4])], MIN_COUNT) == []
    # A level that avatars alone carry says nothing of a person.
    assert joined_levels([np.array([50, 30, 0])], MIN_COUNT) == [[0], [1], [2]]


def test_the_holdout_is_left_out_where_it_would_blur_the_picture() -> None:
    original, avatars = people(400, 1), people(400, 2)
    small = records(original, avatars, people(30, 3))
    alone = records(original, avatars)
    assert small["pressure"].holdout is None
    assert small["pressure"].reason.code == "distribution_holdout_hidden"
    assert small["pressure"].bins == alone["pressure"].bins
    assert small["smoker"].holdout is None or min(small["smoker"].holdout) * 30 >= MIN_COUNT


def test_bins_are_joined_from_the_left_and_the_last_takes_what_is_left() -> None:
    assert joined_bins([np.array([11, 0, 3, 9, 40, 2])], MIN_COUNT) == [[0], [1, 2, 3], [4, 5]]
    assert joined_bins([np.array([5, 9])], MIN_COUNT) == []


def test_edges_are_round_and_never_those_of_a_single_cell() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(170, 10, 500)
    edges = round_edges(values)
    assert set(np.diff(edges)) == {5.0}
    assert not set(edges) & set(values)
    assert round_edges(rng.integers(0, 4, 300).astype(float)).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert round_edges(np.array([0.1, 0.30000000000000004] * 50)).tolist() == [
        0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.24, 0.26, 0.28, 0.3,
    ]  # fmt: skip
    assert len(quantile_edges(np.array([0.0] * 50 + [*np.geomspace(1, 1e6, 50)]))) > 4


@pytest.mark.parametrize("values", [[], [5.0] * 30, [np.inf] * 3, [-1.7e308, 1.7e308] * 20])
def test_columns_without_a_spread_have_no_round_edges(values: list[float]) -> None:
    assert len(round_edges(np.array(values))) == 0


def test_a_column_of_which_most_cells_are_one_value_keeps_it_apart() -> None:
    gains = [0] * 240 + [*range(1000, 1060)]
    one = records(pd.DataFrame({"gain": gains}), pd.DataFrame({"gain": gains}))["gain"]
    assert one.edges[0] == 0.0
    assert one.original[0] == 0.8


def test_dates_end_at_days_months_or_years() -> None:
    days = pd.date_range("2015-01-01", periods=400, freq="9D")
    table = pd.DataFrame({"seen": days.astype(str), "age": range(400)})
    one = records(table, table)["seen"]
    assert one.type == "datetime"
    assert one.bins[0] == "up to 2015-12-31"
    assert edge_words(one.edges[0], "datetime", ENGLISH) == "2015-12-31"
    hours = pd.date_range("2024-03-01", periods=300, freq="7min").astype("datetime64[s]")
    edges = date_edges(hours.astype(np.int64).to_numpy().astype(float))
    assert set(np.diff(edges)) == {6 * 3600.0}


def test_columns_that_hold_next_to_nothing_are_named_and_not_drawn() -> None:
    original, avatars = people(200, 1), people(200, 2)
    original["dose"], avatars["dose"] = 4, 4
    original["country"], avatars["country"] = "France", "France"
    original["rare"] = [7.5] * 5 + [np.nan] * 195
    avatars["rare"] = 7.5
    found = records(original, avatars)
    assert found["country"].bins == ["France"]
    for name in ("dose", "rare"):
        assert found[name].original is found[name].avatars is None
        assert found[name].reason.code == "distribution_hidden"
    assert next(iter(found)) == "rare"  # the one that changed most


def test_rows_and_columns_in_another_order_change_nothing() -> None:
    original, avatars, holdout = people(200, 1), people(200, 2), people(200, 3)
    tables = [table.iloc[::-1][list(table)[::-1]] for table in (original, avatars, holdout)]
    assert records(original, avatars, holdout) == records(*tables)


def test_the_pictures_hold_every_name_as_text() -> None:
    hostile = {"a<b>": "a<b>", "town": "<i>&amp;"}
    original, avatars = (people(200, k).rename(columns={"age": "a<b>"}) for k in (1, 2))
    for table in (original, avatars):
        table.loc[table["town"] == "Aix", "town"] = hostile["town"]
    panels = [msgspec.to_builtins(one) for one in records(original, avatars).values()]
    for narrow in (False, True):
        drawing = small_multiples(panels, narrow=narrow, words={})
        svg = html_svg(drawing, "x-", "fig")
        assert "a&lt;b&gt;" in svg
        assert "&lt;i&gt;&amp;amp;" in svg
        assert "<i>" not in svg


def test_pictures_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        small_multiples([], narrow=False, words={})
    with pytest.raises(ValueError, match="at least one"):
        worst_variables([], narrow=False, words={})


def many(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({f"column_{k}": rng.normal(size=rows).round(2) for k in range(8)})


def test_the_annex_draws_the_most_changed_first_and_says_what_it_left_out() -> None:
    original, avatars = many(120, 1), many(120, 2)
    avatars["column_5"] += 3
    release = evalkit.load(original, avatars)
    whole, cut, none = (
        evalkit.assess(release, metrics=["missingness"], options=options)
        for options in ({}, {"annex_variables": 2}, {"annex_variables": 0})
    )
    assert whole.distributions[0].name == "column_5"
    assert whole.distributions == cut.distributions
    assert "columns that changed most are drawn" not in Report(whole).html()
    page = Report(cut).html()
    assert "The 2 of 8 columns that changed most are drawn" in page
    assert "--annex-variables" in page
    assert page.count("Distributions of 2 variables") > 0
    assert "Distributions of" not in Report(none).html()


@pytest.mark.parametrize("wrong", [-1, "many", 2.5, True])
def test_a_number_of_pictures_that_is_none_is_refused(wrong: object) -> None:
    release = evalkit.load(many(60, 1), many(60, 2))
    with pytest.raises(evalkit.InputError, match="annex_variables"):
        evalkit.assess(release, metrics=["missingness"], options={"annex_variables": wrong})


def test_rows_of_one_person_make_no_level_that_may_be_shown() -> None:
    original = people(200, 1).assign(person=range(200))
    avatars = people(200, 2).assign(person=range(1000, 1200))
    original.loc[:29, "town"] = "Quillfeather"
    rows = evalkit.load(original, avatars, ignore=["person"])
    assert "Quillfeather" in str(distribution_records(rows, MIN_COUNT))
    original.loc[:29, "person"] = original["person"] % 3  # thirty rows of three people
    persons = evalkit.load(original, avatars, individual="person")
    assert "Quillfeather" not in str(distribution_records(persons, MIN_COUNT))
