"""The measurements of large tables work on small ones, and the pages show what was measured."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import evalkit

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "benchmarks" / "scale.json"
LINE = {"table": "mixed", "rows": 10_000, "engine": "local", "processor": 2.0, "resident_gb": 0.25}
LINES = [
    LINE | {"stage": "reading", "seconds": 0.5, "anonymous_gb": 0.2},
    LINE | {"stage": "reading", "rows": 100_000, "seconds": 4.0, "anonymous_gb": 0.2},
    {"table": "mixed", "rows": 100_000, "stage": "whole process", "seconds": 1234.5, "end": ""},
]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))

    def one(name: str) -> ModuleType:
        __import__(name)
        return sys.modules[name]

    return one


@pytest.fixture
def big_tables(load: Any, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module: ModuleType = load("big_tables")
    monkeypatch.setattr(module, "PART_ROWS", 400)
    return module


@pytest.fixture
def census(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    table = {"age": rng.integers(17, 90, 300), "code": rng.integers(0, 3, 300)}
    path = tmp_path / "census.csv"
    pd.DataFrame({**table, "town": rng.choice(["Nice", "?"], 300)}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("table", ["discrete", "mixed"])
def test_a_larger_table_begins_with_the_smaller_one(
    big_tables: Any, table: str, tmp_path: Path
) -> None:
    small = big_tables.make(table, 500, 100, tmp_path / "small")
    large = big_tables.make(table, 900, 100, tmp_path / "large")
    for role in ("original", "avatars"):
        first, second = (pd.read_parquet(folder / role) for folder in (small, large))
        pd.testing.assert_frame_equal(first.head(400), second.head(400))
        assert (len(first), len(second)) == (500, 900)


@pytest.mark.parametrize(("table", "columns"), [("discrete", 6), ("mixed", 14)])
def test_avatars_are_originals_with_some_cells_drawn_again(
    big_tables: Any, table: str, columns: int, tmp_path: Path
) -> None:
    folder = big_tables.make(table, 600, 200, tmp_path)
    original, avatars, holdout = (
        pd.read_parquet(folder / role) for role in ("original", "avatars", "holdout")
    )
    same = (original.astype(str) == avatars.astype(str)).to_numpy().mean()
    assert 0.8 < same < 0.95
    assert original.shape == avatars.shape == (600, columns)
    assert not holdout.equals(original.head(200))


def test_a_table_with_other_rows_is_written_anew(big_tables: Any, tmp_path: Path) -> None:
    big_tables.make("discrete", 900, 0, tmp_path)
    big_tables.make("discrete", 300, 0, tmp_path)
    assert big_tables.held(tmp_path / "original") == 300
    assert not (tmp_path / "holdout").exists()


def test_rows_of_a_file_are_drawn_again_and_only_its_numbers_jittered(
    big_tables: Any, census: Path, tmp_path: Path
) -> None:
    folder = big_tables.make(str(census), 500, 100, tmp_path / "made")
    made = pd.read_parquet(folder / "original")
    assert set(made["code"]) == {0, 1, 2}
    assert set(made["town"]) == {"Nice", "?"}
    assert made["age"].between(17, 90).all()
    assert made["age"].dtype == "int64"


@pytest.mark.parametrize(("text", "rows"), [("300k", 300_000), ("10M", 10**7), ("50", 50)])
def test_sizes_are_read_as_they_are_printed(load: Any, text: str, rows: int) -> None:
    assert load("big_tables").count(text) == rows
    assert load("scale_tables").named(rows) == text


def test_each_stage_of_a_run_tells_seconds_and_memory(
    load: Any, big_tables: Any, tmp_path: Path
) -> None:
    stages, told = load("stages"), []
    folder = str(big_tables.make("mixed", 300, 100, tmp_path))
    asked = ["search", "founding", "attribute_disclosure", "rule_consistency", "report"]
    run = stages.Run("mixed", 300, folder, asked)
    stages.work(run, told.append)
    assert [line["stage"] for line in told] == [
        "libraries and compiled code",
        "reading",
        "avatars made ready",
        "search and expectation",
        "checks before",
        "linkability_protection_rate",
        "correlation_difference_ratio",
        "rule_consistency",
        "attribute_disclosure",
        "JSON",
        "HTML",
        "PDF",
    ]
    assert all(line["seconds"] >= 0 and line["table"] == "mixed" for line in told)
    if Path("/proc/self/status").exists():
        assert all(0 < line["anonymous_gb"] <= line["resident_gb"] for line in told)


def test_a_table_has_a_row_for_each_stage_and_says_how_a_run_ended(load: Any) -> None:
    tables = load("scale_tables")
    lines = [*LINES[:2], LINES[2] | {"end": "stopped after 1800 s"}]
    assert "| mixed, 10k | reading | 0.50 | 2.0 | 0.25 | 0.20 |" in tables.stage_table(lines)
    assert "| whole process, stopped after 1800 s | 1,234 |" in tables.stage_table(lines)
    assert "| mixed | reading | 0.50 | 4.0 |" in tables.growth_table(LINES)


def test_marked_places_of_a_page_are_written_anew_and_only_they(load: Any) -> None:
    filled = load("scale_tables").filled
    page = "a\n<!-- measured: growth -->\nold\n<!-- end of growth -->\nz\n"
    new = filled(page, {"growth": "| new |", "metrics": "| none |"})
    assert new == "a\n<!-- measured: growth -->\n| new |\n<!-- end of growth -->\nz\n"
    assert filled(new, {"growth": "| new |"}) == new


def test_the_curve_is_one_picture_of_all_tables(load: Any, tmp_path: Path) -> None:
    path = tmp_path / "pictures" / "growth.png"
    load("growth").picture([*LINES, *({**one, "table": "discrete"} for one in LINES)], path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 60_000


def test_a_thousand_million_rows_are_worked_out_from_the_last_two_sizes(load: Any) -> None:
    table = load("scale_tables").billion_table(LINES)
    # Ten times the rows took eight times the seconds: no growth below that of the rows is assumed.
    assert "| mixed | reading | 1.00 | 4 s × 10,000^1.00 | 11 hours |" in table
    steep = [LINES[0], LINES[1] | {"seconds": 50.0}]
    assert "| 2.00 | 50 s × 10,000^2.00 |" in load("scale_tables").billion_table(steep)
    assert "mixed, reading: 2.00.](pictures/growth.png)" in load("scale_tables").curve_line(steep)
    assert "(0.2 - 0.2) GB / 90,000 rows = 0 bytes | 0 GB |" in table


def test_the_page_says_of_every_metric_what_it_costs() -> None:
    page = ROOT / "docs" / "scale.md"
    if not page.exists():
        pytest.skip("the archive of the source is without the pages for readers")
    first_cells = "".join(re.findall(r"^\| `.*?\|", page.read_text("utf-8"), re.MULTILINE))
    named = re.findall(r"`(\w+)`", first_cells)
    assert {one.slug for one in evalkit.metrics.all()} <= set(named)


@pytest.mark.skipif(not MEASURED.exists(), reason="nothing is measured yet")
def test_the_pages_show_what_was_measured(load: Any) -> None:
    tables = load("scale_tables")
    marked = tables.texts(json.loads(MEASURED.read_text("utf-8")))
    for page in tables.PAGES:
        if not page.exists():
            pytest.skip("the archive of the source is without the pages for readers")
        text = page.read_text("utf-8")
        assert tables.filled(text, marked) == text
