"""One table in every form that is read: the cells come out the same, or one line says why not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import evalkit
from evalkit.reading import archives, packed_like, read_table, unpacked
from evalkit.reading.options import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLE = pd.DataFrame(
    {
        "age": [31, 45, 52, 38] * 6,
        "weight": [70.5, None, 81.25, 64.0] * 6,
        "town": ["Nice", "Lyon", None, "Île d’Yeu"] * 6,
    }
)
CSV = TABLE.to_csv(index=False).encode()


def read(path: Any) -> pd.DataFrame:
    return evalkit.load(path, path).original


EXPECTED = read(TABLE)


def check(path: Any) -> None:
    pd.testing.assert_frame_equal(read(path), EXPECTED)


def refusal(path: Any) -> str:
    with pytest.raises(evalkit.InputError) as caught:
        read_table(path, "original", ReadingOptions())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def zipped(content: bytes, name: str = "table.csv", **more: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        for other, what in more.items():
            archive.writestr(other, what)
    return sink.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "table.csv.gz": gzip.compress,
    "table.csv.bz2": bz2.compress,
    "table.csv.xz": lzma.compress,
    "table.csv.zst": lambda content: pa.compress(content, "zstd", asbytes=True),
    "table.csv.zip": zipped,
}


@pytest.mark.parametrize("name", PACKED)
def test_a_compressed_table_is_read_and_split_in_its_own_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED[name](CSV))
    check(path)
    from evalkit.splitting import split_file

    working, holdout, _ = split_file(path, tmp_path / "parts")
    assert working.name == name.replace("table", "working")
    assert len(read(working)) + len(read(holdout)) == len(TABLE)


@pytest.mark.parametrize("name", PACKED)
def test_a_cut_or_endless_archive_gives_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = PACKED[name](b"a,b\n" + b"1,2\n" * 100_000)
    path = tmp_path / name
    path.write_bytes(content[: len(content) // 2])
    assert "damaged or cut short" in refusal(path)
    path.write_bytes(content)
    monkeypatch.setattr(archives, "LARGEST_TABLE_BYTES", 10_000)
    assert "larger than" in refusal(path)


def test_a_zip_archive_of_several_files_or_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    path.write_bytes(zipped(CSV, other=CSV))
    assert "holds 2 files" in refusal(path)
    path.write_bytes(zipped(CSV, **{"__MACOSX/._table.csv": b"x"}))
    check(path)
    locked = bytearray(zipped(CSV))
    for start in (b"PK\x03\x04", b"PK\x01\x02"):
        locked[locked.index(start) + (6 if start[2] == 3 else 8)] |= 1
    path.write_bytes(locked)
    assert "has a password" in refusal(path)


def test_what_is_packed_like_a_file_unpacks_to_itself() -> None:
    for name, pack in PACKED.items():
        assert unpacked(packed_like(pack(CSV), b"a,b\n", "part.csv"), name) == b"a,b\n"


def test_feather_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.feather"
    for codec in ("uncompressed", "lz4", "zstd"):
        pyarrow.feather.write_feather(TABLE, path, compression=codec)
        check(path)
    path.write_bytes(path.read_bytes()[:-40])
    assert "Feather file is damaged" in refusal(path)


def test_an_arrow_or_polars_frame_is_read() -> None:
    import polars as pl

    table = pa.Table.from_pandas(TABLE)
    check(table)
    check(pl.DataFrame(table.to_pydict()))


def test_a_workbook_is_read_and_a_second_sheet_is_said(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for row in [list(TABLE), *TABLE.astype(object).where(TABLE.notna(), None).to_numpy().tolist()]:
        sheet.append(row)
    path = tmp_path / "table.xlsx"
    book.save(path)
    check(path)
    book.create_sheet("other").append(["a", "b"])
    book.save(path)
    notes = evalkit.load(path, path).notes
    assert [note.values["sheet"] for note in notes if note.code == "first_sheet"] == ["Sheet"] * 2
    sheet["A2"] = "=1/0"
    sheet["A2"].data_type = "e"
    sheet["A2"].value = "#DIV/0!"
    book.save(path)
    assert read(path)["age"].isna().sum() == 1
    path.write_bytes(zipped(b"<x/>", "xl/workbook.xml"))
    assert "workbook is damaged" in refusal(path)


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_files_of_statistics_packages_are_read(ending: str, tmp_path: Path) -> None:
    import pyreadstat

    write = {
        "sav": pyreadstat.write_sav,
        "dta": pyreadstat.write_dta,
        "xpt": pyreadstat.write_xport,
    }[ending]
    path = tmp_path / f"table.{ending}"
    plain = TABLE.assign(town=TABLE["town"].fillna(""))
    write(plain, str(path))
    check(path)
    path.write_bytes(path.read_bytes()[:90])
    assert "damaged" in refusal(path) or "no rows" in refusal(path)


def test_value_labels_stand_for_values_where_every_value_has_one(tmp_path: Path) -> None:
    import pyreadstat

    table = pd.DataFrame({"sex": [1.0, 2.0, 1.0, None] * 5, "income": [10.0, 99.0, 12.0, 13.0] * 5})
    path = tmp_path / "table.sav"
    labels = {"sex": {1: "woman", 2: "man"}, "income": {99: "refused"}}
    pyreadstat.write_sav(table, str(path), variable_value_labels=labels)
    release = evalkit.load(path, path)
    assert list(release.original["sex"].cat.categories) == ["man", "woman"]
    assert release.original["income"].tolist()[:2] == [10, 99]
    assert {"labels_used", "labels_left"} <= {note.code for note in release.notes}


@pytest.mark.parametrize(
    ("module", "name", "content"),
    [
        ("openpyxl", "a.xlsx", zipped(b"", "xl/workbook.xml")),
        ("pyreadstat", "a.sav", b"$FL2"),
        ("sqlalchemy", "sqlite:///a.db?table=t", None),
    ],
)
def test_a_form_whose_package_is_missing_says_what_to_install(
    module: str, name: str, content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    source: Any = name
    if content is not None:
        source = tmp_path / name
        source.write_bytes(content)
    said = refusal(source)
    assert module in said
    assert "pip install 'evalkit[" in said


# Databases


def test_a_table_of_sqlite_is_read(tmp_path: Path) -> None:
    import sqlalchemy

    path = tmp_path / "base.db"
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    TABLE.to_sql("patients", engine, index=False)
    engine.dispose()
    address = f"sqlite:///{path}?table=patients"
    check(address)
    assert evalkit.load(address, address).inputs["original"].name == "patients"
    assert "no such table" in refusal(f"sqlite:///{path}?table=gone")
    assert "names no table" in refusal(f"sqlite:///{path}")
    assert "no such database file" in refusal(f"sqlite:///{tmp_path}/gone.db?table=a")
    assert not (tmp_path / "gone.db").exists()


def test_a_table_of_duckdb_is_read(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "base.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", TABLE)
        connection.execute('CREATE TABLE "the ""patients""" AS SELECT * FROM frame')
    check(f'duckdb:///{path}?table=the "patients"')
    assert "no such table" in refusal(f"duckdb:///{path}?table=gone; DROP TABLE x")
    assert "no such database file" in refusal(f"duckdb:///{tmp_path}/gone.db?table=a")


def test_a_password_in_an_address_is_never_repeated() -> None:
    secret = "hunter2"
    for scheme in ("postgresql", "postgresql+psycopg", "mysql", "nonsense"):
        said = refusal(f"{scheme}://me:{secret}@127.0.0.1:1/base?table=patients")
        assert secret not in said
        assert "127.0.0.1" not in said


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    program = shutil.which("initdb") or (str(found[-1]) if found else None)
    if program is None:
        pytest.skip("no PostgreSQL server on this machine")
    tools = Path(program).parent
    # Not in the folder of the tests: the server refuses to be root, and that one is root's alone.
    place = Path(tempfile.mkdtemp(prefix="evalkit-"))
    as_user = []
    if os.name == "posix" and os.geteuid() == 0:
        program_for_another = shutil.which("runuser")
        if program_for_another is None:
            pytest.skip("PostgreSQL does not run as the root user")
        shutil.chown(place, "nobody")
        as_user = [program_for_another, "-u", "nobody", "--"]
    data, log = place / "data", place / "log"

    def run(*call: str) -> None:
        done = subprocess.run(
            [*as_user, *call], check=False, capture_output=True, text=True, cwd=place
        )
        assert done.returncode == 0, done.stderr

    run(program, "-D", str(data), "-U", "me", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-k {place} -c listen_addresses=''"
    run(str(tools / "pg_ctl"), "-D", str(data), "-l", str(log), "-o", options, "-w", "start")
    yield f"postgresql+psycopg://me@/postgres?host={place}"
    run(str(tools / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
    shutil.rmtree(place, ignore_errors=True)


def test_a_table_of_postgresql_is_read(postgresql: str) -> None:
    import sqlalchemy

    engine = sqlalchemy.create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE SCHEMA care"))
        TABLE.to_sql("patients", connection, schema="care", index=False)
    engine.dispose()
    check(f"{postgresql}&table=care.patients")
    assert "no such table" in refusal(f"{postgresql}&table=care.gone")


def test_the_command_reads_a_database(tmp_path: Path) -> None:
    import sqlalchemy

    rng = np.random.default_rng(1)
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'base.db'}")
    for name in ("original", "avatars"):
        pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).to_sql(
            name, engine, index=False
        )
    engine.dispose()
    tables = [f"sqlite:///base.db?table={name}" for name in ("original", "avatars")]
    call = [sys.executable, "-m", "evalkit", "assess", *tables, "-o", "out", "--formats", "html"]
    call += ["--metrics", "linkability_protection_rate"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert evalkit.Assessment.read(tmp_path / "out" / "assessment.json").release.original.rows == 60


def test_an_executed_notebook_shows_the_table_and_not_the_address() -> None:
    from evalkit.running.runner import _absolute, _base_name

    address = "postgresql://me:hunter2@host/base?table=care.patients"
    assert _base_name("original", address) == "care.patients"
    assert _absolute("original", address) == address
    assert _absolute("avatars", "sqlite:///a.db?table=t") == f"sqlite:///{Path.cwd()}/a.db?table=t"
