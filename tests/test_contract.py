"""What every metric must obey, run over the registry: no metric can be forgotten."""

from __future__ import annotations

import copy
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.figures import ENGLISH
from evalkit.metric import Need
from evalkit.resources import LANGUAGES, folder

if TYPE_CHECKING:
    from evalkit.metric import Metric

METRICS = evalkit.metrics.all()
HEADINGS = [
    "Name",
    "Question",
    "Story",
    "Verdict",
    "Summary",
    "What it measures",
    "Comparison strategy",
    "Reading",
    "Example",
    "Specificity",
    "Formula",
    "Improvement",
    "Facts",
    "Captions",
]
HIGHEST_SCORES = {"inference_accuracy_ratio": 200.0}  # else 100, or no limit for a count
COPY_OPTIONS: dict[str, dict[str, Any]] = {"categorical_hidden_rate": {"categorical": list("abcd")}}
RULES = {"rule_consistency": ["{0} < 60", "{0} <= 3 * {2} + 40", "{2} <= {0} / 4"]}
NEEDS_GAPS = {"missingness"}  # without a missing cell it has nothing to compare
# What the last column, drawn at random, cannot show: a model must be able to predict the outcome.
OUTCOMES = {"predictive_ratio": "age"}
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.slug)


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    health = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "age": (50 + 12 * health + rng.normal(scale=8, size=rows)).round().astype(int),
            "pressure": (120 + 9 * health + rng.normal(scale=6, size=rows)).round(1),
            "visits": rng.poisson(np.exp(0.5 + 0.3 * health)),
            "town": rng.choice(["Aix", "Brest", "Caen", "Dole"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "smoker": np.where(rng.random(rows) < 0.3, "yes", "no"),
        }
    )


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return people(260, 1), people(270, 2), people(250, 3)


def linked(original: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return avatars of which row i was made from row i: four cells in ten come from others."""
    rng = np.random.default_rng(seed)
    drawn = {name: rng.permutation(original[name].to_numpy()) for name in original}
    kept = {name: rng.random(len(original)) < 0.6 for name in original}
    return original.assign(
        **{name: np.where(kept[name], original[name], drawn[name]) for name in original}
    )


@cache
def linked_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    original, _, holdout = tables()
    return original, linked(original, 4), holdout


def with_gaps(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the table with a cell in five missing in its second and its fourth column."""
    rng = np.random.default_rng(seed)
    names = [table.columns[1], table.columns[3]]
    return table.assign(**{name: table[name].mask(rng.random(len(table)) < 0.2) for name in names})


@cache
def tables_with_gaps() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    original, avatars, holdout = tables()
    return with_gaps(original, 6), with_gaps(avatars, 7), with_gaps(holdout, 8)


def tables_for(metric: Metric) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    if metric.slug in NEEDS_GAPS:
        return tables_with_gaps()
    return linked_tables() if Need.ROW_LINK in metric.needs else tables()


def options_for(metric: Metric, columns: list[str]) -> dict[str, Any]:
    """Return what must be declared for a metric: the sensitive variable is the last column."""
    options: dict[str, Any] = {}
    if Need.ROW_LINK in metric.needs:
        options["row_link"] = True
    if Need.SENSITIVE in metric.needs:
        sensitive = OUTCOMES.get(metric.slug, columns[-1])
        sensitive = sensitive if sensitive in columns else columns[-1]
        known = [name for name in columns if name != sensitive]
        options |= {"sensitive": sensitive, "known": known}
    if metric.slug in RULES:
        numbers = [name for name in columns if name not in {"town", "smoker"}]
        options["schema"] = {"rules": [rule.format(*numbers) for rule in RULES[metric.slug]]}
    return options


def measured(metric: Metric, **changes: Any) -> evalkit.Result:
    original, avatars, holdout = changes.pop("tables", None) or tables_for(metric)
    columns = [name for name in tables()[0] if name in original] or list(original)
    options = options_for(metric, columns) | changes
    return evalkit.measure(metric.slug, original, avatars, holdout, **options)


def assessed(metric: Metric, slugs: list[str]) -> evalkit.Assessment:
    original, avatars, holdout = tables_for(metric)
    options = options_for(metric, list(original))
    reading = {key: options.pop(key) for key in ("row_link", "schema") if key in options}
    release = evalkit.load(original, avatars, holdout, **reading)
    return evalkit.assess(release, evalkit.Scenario(**options), metrics=slugs)


def comparable(result: evalkit.Result) -> float:
    found = result.facts.get("expected_score", result.score)
    assert found is not None
    return float(found)


def test_the_registry_is_the_folder() -> None:
    files = Path(evalkit.metrics.__file__).parent.glob("[!_]*.py")
    assert sorted(path.stem for path in files) == sorted(metric.slug for metric in METRICS)
    assert len(METRICS) >= 2


@every_metric
def test_the_score_and_its_interval_lie_in_their_range(metric: Metric) -> None:
    result = measured(metric)
    highest = HIGHEST_SCORES.get(metric.slug, 100.0) if metric.unit == "%" else math.inf
    assert result.status == "measured"
    assert 0 <= comparable(result) <= highest
    assert (result.interval is None) == (result.interval_method is None)
    if result.interval is not None:
        low, high = result.interval
        assert 0 <= low <= high <= highest


@every_metric
def test_the_same_seed_gives_the_same_result_and_inputs_stay_as_they_were(metric: Metric) -> None:
    before = [table.copy(deep=True) for table in tables_for(metric)]
    first, second = (msgspec.structs.replace(measured(metric), seconds=None) for _ in range(2))
    assert first == second
    for table, copied in zip(tables_for(metric), before, strict=True):
        pd.testing.assert_frame_equal(table, copied)


@every_metric
def test_no_other_metric_changes_the_result(metric: Metric) -> None:
    together = assessed(metric, [one.slug for one in METRICS])[metric.slug]
    alone = assessed(metric, [metric.slug])[metric.slug]
    assert together.score == alone.score
    assert together.facts == alone.facts


@every_metric
def test_the_order_of_rows_and_columns_never_matters(metric: Metric) -> None:
    rng = np.random.default_rng(5)
    chosen = tables_for(metric)
    orders = [rng.permutation(len(table)) for table in chosen]
    if Need.ROW_LINK in metric.needs:
        orders[1] = orders[0]
    shuffled = tuple(
        table.iloc[order][list(rng.permutation(table.columns))]
        for table, order in zip(chosen, orders, strict=True)
    )
    first, second = measured(metric), measured(metric, tables=shuffled)
    assert second.score == pytest.approx(first.score, abs=1e-9)
    assert comparable(second) == pytest.approx(comparable(first), abs=1e-9)
    if first.interval is None:
        assert second.interval is None
    else:
        assert second.interval == pytest.approx(first.interval, abs=1e-9)
    for name, value in first.facts.items():
        if isinstance(value, float):
            assert second.facts[name] == pytest.approx(value, abs=1e-9), name


@every_metric
def test_a_linear_change_of_units_never_matters(metric: Metric) -> None:
    changed = tuple(
        table.assign(pressure=table["pressure"] * 2 + 3) for table in tables_for(metric)
    )
    first, second = measured(metric), measured(metric, tables=changed)
    assert second.score == pytest.approx(first.score, abs=1e-6)
    assert comparable(second) == pytest.approx(comparable(first), abs=1e-6)


@every_metric
def test_the_names_of_levels_never_matter(metric: Metric) -> None:
    renamed = {"Aix": "z", "Brest": "y", "Caen": "x", "Dole": "w"}
    changed = tuple(table.assign(town=table["town"].map(renamed)) for table in tables_for(metric))
    assert comparable(measured(metric, tables=changed)) == pytest.approx(
        comparable(measured(metric)), abs=1e-9
    )


@every_metric
def test_the_index_never_matters(metric: Metric) -> None:
    changed = tuple(table.set_axis(table.index * 3 + 7) for table in tables_for(metric))
    assert measured(metric, tables=changed).score == measured(metric).score


@every_metric
def test_a_constant_column_never_changes_a_utility_score(metric: Metric) -> None:
    changed = tuple(table.assign(country="France", dose=4) for table in tables_for(metric))
    if metric.section == "utility":
        assert comparable(measured(metric, tables=changed)) == pytest.approx(
            comparable(measured(metric)), abs=1e-9
        )
    else:
        known = list(tables()[0].columns)
        assert comparable(measured(metric, tables=changed, known=known)) == pytest.approx(
            comparable(measured(metric)), abs=1e-9
        )


@every_metric
def test_a_perfect_copy_of_distinct_rows_gets_the_declared_score(metric: Metric) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.permutation(240) for name in "abcd"})
    # Other people, near the originals but for the last column, which can then be sensitive.
    holdout = (table + rng.integers(0, 3, table.shape)).assign(d=rng.permutation(240))
    if metric.slug in NEEDS_GAPS:
        table = with_gaps(table, 9)
    copied = (table, table, holdout)
    found = measured(metric, tables=copied, **COPY_OPTIONS.get(metric.slug, {}))
    # Without a declared score, the run prints that of a copy, which may be anything.
    assert metric.copy_score is None or comparable(found) == metric.copy_score


@every_metric
def test_the_facts_survive_json_and_hold_no_array(metric: Metric) -> None:
    assessment = assessed(metric, [metric.slug])
    again = evalkit.records.decode(assessment.json(), "assessment.json")
    assert again == assessment
    assert again.json() == assessment.json()
    assert all(math.isfinite(value) for value in numbers_in(again[metric.slug].facts))


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers_in(item)]
    return [float(value)] if isinstance(value, int | float) else []


@every_metric
def test_the_figures_come_from_the_json_alone_and_leave_it_as_it_was(metric: Metric) -> None:
    words = ENGLISH
    result = msgspec.to_builtins(measured(metric))
    before = copy.deepcopy(result)
    for narrow in (False, True):
        drawings = metric.draw(result, words, narrow)
        assert drawings
        assert all(drawing.alt for drawing in drawings)
    assert result == before


@every_metric
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_complete_in_every_language(metric: Metric, language: str) -> None:
    page = metric.page(language)
    found = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    expected = [name for name in HEADINGS if name != "Comparison strategy" or name in found]
    assert found == expected
    assert page.startswith(("# ", "{%"))
    assert "### Advantages" in page
    assert "### Limits" in page


@every_metric
def test_every_metric_has_its_formula_in_both_notations(metric: Metric) -> None:
    pages = folder("report_templates") / "metrics" / metric.slug
    for name in ("formula.tex", "formula.typ"):
        assert (pages / name).read_text(encoding="utf-8").strip()


@every_metric
def test_every_metric_has_a_test_file_of_its_name(metric: Metric) -> None:
    assert (Path(__file__).parent / "metrics" / f"test_{metric.slug}.py").is_file()


@every_metric
def test_few_rows_are_computed_but_never_judged(metric: Metric) -> None:
    small = tuple(table.head(9) for table in tables_for(metric))
    result = measured(metric, tables=small)
    assert result.verdict == "not applicable"
    assert result.reason.code == "too_few_rows" or result.status == "not applicable"


def test_resampling_more_cells_is_monotone_in_both_founding_metrics() -> None:
    table = people(400, 11)
    holdout = people(400, 12)
    rng = np.random.default_rng(3)
    linkability, correlation = [], []
    for share in (0.0, 0.1, 0.3, 0.6):
        avatars = table.copy()
        for name in avatars:
            rows = np.flatnonzero(rng.random(len(avatars)) < share)
            drawn = rng.permutation(table[name].to_numpy())[: len(rows)]
            avatars[name] = avatars[name].to_numpy(copy=True)
            avatars.iloc[rows, avatars.columns.get_loc(name)] = drawn
        slug = "linkability_protection_rate"
        found = evalkit.measure(slug, table, avatars, holdout)
        linkability.append(found.facts["expected_score"])
        slug = "correlation_difference_ratio"
        correlation.append(evalkit.measure(slug, table, avatars, holdout).score)
    assert linkability == sorted(linkability)
    assert correlation == sorted(correlation, reverse=True)


@pytest.mark.parametrize(("n", "n_holdout"), [(1000, 1000), (1000, 250), (800, 200)])
def test_unseen_real_rows_show_no_excess_in_linkability(n: int, n_holdout: int) -> None:
    original, avatars, holdout = people(n, 21), people(n, 22), people(n_holdout, 23)
    facts = evalkit.measure("linkability_protection_rate", original, avatars, holdout).facts
    low, high = facts["excess_interval"]
    assert low <= 0 <= high
