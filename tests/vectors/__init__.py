"""Values of slow independent code, and where the real tables for some of them lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
REAL_TABLES = HERE.parents[2] / "shared" / "data"


def cases(metric: str) -> list[Any]:
    """Return the cases of one metric as parameters named after them."""
    found = json.loads((HERE / "founding_metrics.json").read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["name"]) for case in found if case["metric"] == metric]


def real_table(name: str) -> Path:
    """Return the path of a real table, or skip the test where there is none."""
    path = REAL_TABLES / name
    if not path.is_file():
        pytest.skip(f"the real table {name} is not beside this checkout")
    return path
