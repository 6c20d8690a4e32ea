from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
METRICS = runpy.run_path(str(ROOT / "benchmarks" / "metric_coverage.py"))
RUNS = 120
REPEATED = "no leak, 20 % are 10 rows repeated 8 times"
SIMULATIONS = runpy.run_path(str(ROOT / "benchmarks" / "interval_coverage.py"))["SIMULATIONS"]
ONE_EXPECTED_HIT = "p = 0.002, n = 500"
"""Wilson's interval is known to cover a little less where one success is expected in all."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "simulation"),
    list(enumerate(SIMULATIONS)),
    ids=[f"{one.kind}: {one.setting}" for one in SIMULATIONS],
)
def test_an_interval_of_95_percent_holds_the_truth_that_often(number: int, simulation: Any) -> None:
    least = 0.91 if simulation.setting == ONE_EXPECTED_HIT else 0.93
    assert least <= simulation.coverage(1000, number) <= 0.995


def test_the_published_table_lists_every_simulation() -> None:
    table = (ROOT / "docs" / "intervals.md").read_text(encoding="utf-8")
    assert all(f"| {one.kind} | {one.setting} |" in table for one in SIMULATIONS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "slug"),
    [
        (REPEATED, "closest_to_training_share"),
        ("2 % copied, 400 / 400 / 400", "replicated_uniques"),
    ],
)
def test_the_interval_of_a_whole_metric_holds_the_truth_that_often(setting: str, slug: str) -> None:
    [chosen] = [one for one in METRICS["SETTINGS"] if one.name == setting]
    [found] = METRICS["simulate"](chosen, RUNS, 1, (slug,))
    score, excess = found.covered()
    error = (0.95 * 0.05 / RUNS) ** 0.5
    assert min(score, excess) >= 0.93 - 2 * error


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["hidden_rate", "closest_to_training_share"])
def test_the_interval_of_a_sample_holds_the_score_of_the_whole_table(slug: str) -> None:
    [chosen] = [one for one in METRICS["SAMPLED"] if one.slug == slug]
    found, whole, part = METRICS["simulate_sampled"](chosen, 40, 1)
    held = [
        low - 1e-9 <= score <= high + 1e-9
        for score, (low, high) in zip(whole, found.intervals, strict=True)
    ]
    assert sum(held) >= 0.93 * 40 - 2 * (0.95 * 0.05 * 40) ** 0.5
    assert whole != part


def test_the_published_table_lists_every_metric_that_samples() -> None:
    table = (ROOT / "docs" / "intervals.md").read_text(encoding="utf-8")
    sampled = table.split("## Samples of large tables")[1].split("##")[0]
    assert all(f"| {one.slug} |" in sampled for one in METRICS["SAMPLED"])


def test_the_published_table_lists_every_setting_of_whole_metrics() -> None:
    table = (ROOT / "docs" / "intervals.md").read_text(encoding="utf-8")
    for setting in METRICS["SETTINGS"]:
        for one in METRICS["ESTIMATORS"]:
            assert f"| {setting.name} | {one.slug} |" in table
