from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
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
