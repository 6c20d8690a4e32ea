"""Scores of one fixed table, for each version of a metric: a number that moves needs a version.

`python tests/test_golden.py` writes the files that are missing; it never changes one.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_contract import NEEDS_GAPS, people, with_gaps

import evalkit

if TYPE_CHECKING:
    from evalkit.metric import Metric

FOLDER = Path(__file__).resolve().parent / "golden"
METRICS = evalkit.metrics.all()


def path_of(metric: Metric) -> Path:
    return FOLDER / f"{metric.slug}.v{metric.version}.json"


@cache
def release(*, gaps: bool) -> evalkit.Release:
    original, holdout = people(400, 101), people(300, 103)
    avatars = people(400, 102)
    # A third of the avatars copy their original in all but the age: a leak to be measured.
    avatars.loc[:129] = original.loc[:129].assign(age=avatars.loc[:129, "age"])
    if gaps:
        tables = (original, 104), (avatars, 105), (holdout, 106)
        original, avatars, holdout = (with_gaps(table, seed) for table, seed in tables)
    rules = ["age < 60", "age <= 3 * visits + 40", 'smoker == "yes" -> visits <= age / 20']
    return evalkit.load(original, avatars, holdout, row_link=True, schema={"rules": rules})


def numbers_of(metric: Metric) -> dict[str, Any]:
    known = ["age", "visits", "town", "smoker"]
    scenario = evalkit.Scenario(known=known, sensitive="pressure", seed=5)
    tables = release(gaps=metric.slug in NEEDS_GAPS)
    result = evalkit.assess(tables, scenario, metrics=[metric.slug])[metric.slug]
    facts = {
        name: value
        for name, value in result.facts.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return {"score": result.score, "interval": result.interval, "facts": facts}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.slug)
def test_the_numbers_of_a_version_never_change(metric: Metric) -> None:
    path = path_of(metric)
    assert path.is_file(), f"run: python {Path(__file__).name}"
    golden = json.loads(path.read_text(encoding="utf-8"))
    found = numbers_of(metric)
    # Sums in another processor's order may differ in the last digits.
    assert found["score"] == pytest.approx(golden["score"], abs=1e-6)
    assert found["interval"] == (
        None if golden["interval"] is None else pytest.approx(tuple(golden["interval"]), abs=1e-6)
    )
    assert found["facts"] == pytest.approx(golden["facts"], abs=1e-6)


if __name__ == "__main__":
    for one in METRICS:
        if not path_of(one).is_file():
            content = json.dumps(numbers_of(one), indent=1, sort_keys=True)
            path_of(one).write_text(content + "\n", encoding="utf-8")
