"""The ledger of reading, by hand, and the command that shows it without computing anything."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalkit
from evalkit.inspecting import inspect
from evalkit.report.document import Report

if TYPE_CHECKING:
    from pathlib import Path

ORIGINAL = "\n".join(
    [
        "id,age,town,seen,empty",
        *(f"p{i:03},{20 + i % 40},Aix,2021-01-0{1 + i % 9}," for i in range(56)),
        "p901,NA,?,,",
        "p902,-9,  ,2021-02-01,",
        "p903,,Brest,2021-02-02,",
        "p904,-9.0,Caen,2021-02-03,",
    ]
)
AVATARS = ORIGINAL.replace("Caen", "Dole")


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "original.csv", tmp_path / "avatars.csv"
    for path, text in zip(paths, (ORIGINAL, AVATARS), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_every_missing_cell_has_its_mark_by_hand(tables: tuple[Path, Path]) -> None:
    found = inspect(tables, missing=["-9", "?"])
    lines = {(line.column, line.table): line for line in found.ledger}
    age = lines["age", "original"]
    assert age.missing == {"empty": 1, "-9": 2, "NA": 1}
    assert (age.rows, age.filled, age.distinct) == (60, 56, 40)
    assert lines["town", "original"].missing == {"blanks": 1, "?": 1}
    assert lines["seen", "original"].missing == {"empty": 1}
    assert lines["empty", "original"].missing == {"empty": 60}
    assert [line.read_as for line in found.ledger[::2]] == [
        "text", "numeric", "categorical", "datetime", "empty",
    ]  # fmt: skip


def test_rows_are_filled_or_missing_and_nothing_else(tables: tuple[Path, Path]) -> None:
    for line in inspect(tables, missing=["-9", "?"]).ledger:
        assert line.filled + sum(line.missing.values()) == line.rows, line


def test_a_category_that_no_original_has_is_counted(tables: tuple[Path, Path]) -> None:
    lines = {(line.column, line.table): line for line in inspect(tables).ledger}
    assert lines["town", "avatars"].unknown_cells == 1
    assert lines["town", "original"].unknown_cells == 0


def test_the_ledger_travels_into_the_record_and_the_report(tables: tuple[Path, Path]) -> None:
    release = evalkit.load(*tables, missing=["-9", "?"])
    assessment = evalkit.assess(release, metrics=["linkability_protection_rate"])
    lines = [one for one in assessment.release.ledger if one.column == "age"]
    assert [one.missing for one in lines] == [{"empty": 1, "-9": 2, "NA": 1}] * 2
    html = Report(assessment).html()
    assert "How each column was read" in html
    assert "56 of 60" in html
    assert "-9 2" in html
    assert "p901" not in html


def test_the_schema_that_is_written_reads_the_tables_the_same(
    tables: tuple[Path, Path], tmp_path: Path
) -> None:
    found = inspect(tables, missing=["-9", "?"])
    path = tmp_path / "s.yaml"
    path.write_text(found.schema_yaml(), encoding="utf-8")
    again = evalkit.load(*tables, missing=["-9", "?"], schema=path)
    assert [(one.name, one.type, one.used) for one in again.schema.variables] == [
        (one.name, one.type, one.used) for one in found.schema.variables
    ]


NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=1, max_size=30
).filter(lambda name: name.strip() == name)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_name_survives_the_schema(names: list[str]) -> None:
    from evalkit.reading.options import reading_options

    try:
        found = inspect([pd.DataFrame({name: [1.5, 2.5, 3.0] for name in names})])
    except evalkit.InputError:  # Two names that are one when written in another way.
        return
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "schema.yaml"
        path.write_text(found.schema_yaml(), encoding="utf-8")
        read = reading_options(schema=path)
    assert list(read.types) == [variable.name for variable in found.schema.variables]


def run(*call: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalkit", "inspect", *call]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_command_shows_types_and_writes_a_schema(tables: tuple[Path, Path]) -> None:
    folder = tables[0].parent
    done = run("original.csv", "avatars.csv", "--missing", "?", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "age    numeric      yes   58, 42; empty 1, NA 1 | 58, 42; empty 1, NA 1" in done.stdout
    assert (folder / "original.schema.yaml").exists()
    assert "Aix" not in done.stdout
    assert "\n\n\n" not in done.stdout
    again = run("original.csv", cwd=folder)
    assert again.returncode == 0
    assert "is there already and was kept" in again.stdout


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["gone.csv"], "gone.csv: cannot be read"),
        (["original.csv"] * 4, "4 tables; give one to three"),
        (["original.csv", "-o", "original.csv"], "is there already"),
        (["original.csv", "-o", "no/such/\0"], "NUL"),
    ],
)
def test_what_cannot_be_inspected_gives_one_line(
    call: list[str], said: str, tables: tuple[Path, Path]
) -> None:
    if any("\0" in one for one in call):
        from evalkit.cli import main

        assert main(["inspect", str(tables[0]), *call[1:]]) == 2
        return
    done = run(*call, cwd=tables[0].parent)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
