"""Folders of files: empty parts are left out, a stranger is named, and never the wrong file."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit import InputError, load
from evalkit.inspecting import inspect
from evalkit.verifying.files import _digest

if TYPE_CHECKING:
    from pathlib import Path

SMALLEST = 1  # byte of memory: everything is on disk
TABLE = pd.DataFrame({"age": [20, 41, 33, 52] * 15, "town": ["Nice", "Lyon", "Brest"] * 20})

pytestmark = pytest.mark.parametrize("memory", [None, SMALLEST])


def parquet(path: Path, frame: pd.DataFrame = TABLE, schema: pa.Schema | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False), path)


def csv(path: Path, frame: pd.DataFrame = TABLE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False)


def refusal(path: Path, memory: int | None) -> str:
    with pytest.raises(InputError) as caught:
        load(path, path, memory=memory)
    said = str(caught.value)
    assert said.isprintable()
    return said


def read(path: Path, memory: int | None) -> tuple[dict[str, Any], dict[str, str]]:
    other = path.parent / "other.csv"
    csv(other, TABLE.iloc[::-1])
    release = load(path, other, memory=memory)
    return release.original.to_dict("list"), {note.code: note.text for note in release.notes}


def test_parts_without_rows_are_left_out_and_told(tmp_path: Path, memory: int | None) -> None:
    path = tmp_path / "original"
    texts = pa.schema([("age", pa.string()), ("town", pa.int64())])
    parquet(path / "a.parquet", TABLE.head(0).astype(object), texts)
    (path / "b.parquet").write_bytes(b"")
    parquet(path / "c.parquet")
    parquet(path / "d.parquet", pd.DataFrame())
    parquet(path / "e.parquet", TABLE.head(0).rename(columns={"age": "old"}))
    cells, notes = read(path, memory)
    assert cells == TABLE.to_dict("list")
    said = "original: files without a row were left out (4): b.parquet, a.parquet, d.parquet, e.par"
    assert notes["empty_parts"].startswith(said)
    assert _digest("original", path) == load(path, tmp_path / "other.csv").inputs["original"].sha256


def test_texts_without_rows_are_left_out_and_told(tmp_path: Path, memory: int | None) -> None:
    path = tmp_path / "original"
    csv(path / "0.csv", TABLE.head(0)[["town"]])
    (path / "1.csv").write_text("")
    (path / "2.csv").write_text("\n \n")
    (path / "3.csv.gz").write_bytes(gzip.compress(b""))
    csv(path / "4.csv")
    csv(path / "5.csv", TABLE.head(0))
    cells, notes = read(path, memory)
    assert cells == TABLE.to_dict("list")
    assert "left out (5)" in notes["empty_parts"]
    assert notes["folder_read"].startswith("original: a folder; its 6 files are one table. Its SHA")
    assert notes["dialect"].count("comma") == 1


@pytest.mark.parametrize("write", [parquet, csv])
def test_a_folder_of_empty_parts_has_no_rows(
    tmp_path: Path, memory: int | None, write: Any
) -> None:
    path = tmp_path / "original"
    write(path / f"0.{write.__name__}", TABLE.head(0))
    (path / f"1.{write.__name__}").write_bytes(b"")
    assert refusal(path, memory).startswith("original: has no rows;")
    (path / f"0.{write.__name__}").write_bytes(b"")
    assert refusal(path, memory).startswith("original: has no rows;")


def test_what_systems_leave_behind_is_left_out(tmp_path: Path, memory: int | None) -> None:
    path = tmp_path / "original"
    parquet(path / "a.parquet")
    for name in (".DS_Store", "_SUCCESS", "._a.parquet", ".a.parquet.crc", "_metadata"):
        (path / name).write_bytes(b"\0\1")
    (path / "_temporary").mkdir()
    parquet(path / "_temporary" / "b.parquet")
    cells, notes = read(path, memory)
    assert cells == TABLE.to_dict("list")
    assert "empty_parts" not in notes


@pytest.mark.parametrize("name", ["Thumbs.db", "README", "zz.txt", "z.parquet"])
@pytest.mark.parametrize(
    "content", [b"Our originals, of 2021.\n\nTwo, or three.", b"\xd0\xcf\x11\xe0\0"]
)
def test_a_stranger_beside_parquet_is_named(
    tmp_path: Path, memory: int | None, name: str, content: bytes
) -> None:
    path = tmp_path / "original"
    parquet(path / "a.parquet")
    (path / name).write_bytes(content)
    assert refusal(path, memory).startswith(
        f"original: {name!r} is no Parquet file, and others are; "
    )
    (path / f"0{name}").write_bytes(content)
    assert f"'0{name}' (and 1 more) is no Parquet file" in refusal(path, memory)


@pytest.mark.parametrize("name", ["Thumbs.db", "README", "notes.docx"])
def test_a_stranger_beside_texts_is_named(tmp_path: Path, memory: int | None, name: str) -> None:
    path = tmp_path / "original"
    csv(path / "a.csv")
    (path / name).write_text("Our originals, of 2021.\n\nTwo, or three.")
    assert refusal(path, memory).startswith(f"original: {name!r} is not named like the tables ")


def test_a_parquet_file_among_texts_is_named(tmp_path: Path, memory: int | None) -> None:
    path = tmp_path / "original"
    for name in "abc":
        csv(path / f"{name}.csv")
    parquet(path / "0.parquet")
    assert refusal(path, memory).startswith(
        "original: '0.parquet' is a Parquet file, and others are"
    )


def test_names_without_an_ending_are_as_good_as_any(tmp_path: Path, memory: int | None) -> None:
    path = tmp_path / "original"
    csv(path / "part-0", TABLE.head(30))
    csv(path / "part-1", TABLE.tail(30))
    assert read(path, memory)[0] == TABLE.to_dict("list")


def test_the_first_file_is_blamed_where_it_is_the_odd_one(
    tmp_path: Path, memory: int | None
) -> None:
    path = tmp_path / "original"
    for name in "012":
        parquet(path / f"{name}.parquet")
        csv(tmp_path / "text" / f"{name}.csv")
    parquet(path / "0.parquet", TABLE.astype({"age": str}))
    said = "0.parquet, column 'age': holds text, in 1.parquet it holds numbers; "
    assert refusal(path, memory).startswith(said)
    parquet(path / "0.parquet", TABLE[["age"]])
    said = "0.parquet: its columns are not those of 1.parquet ('town'); "
    assert refusal(path, memory).startswith(said)
    csv(tmp_path / "text" / "0.csv", TABLE[["age"]])
    said = "0.csv: its header is not that of 1.csv (without 'town'); "
    assert refusal(tmp_path / "text", memory).startswith(said)
    (tmp_path / "text" / "2.csv").unlink()
    assert refusal(tmp_path / "text", memory).startswith("1.csv: its header is not that of 0.csv")


def test_a_damaged_part_is_named(tmp_path: Path, memory: int | None) -> None:
    path = tmp_path / "original"
    for name in "012":
        parquet(path / f"{name}.parquet")
    whole = (path / "1.parquet").read_bytes()
    (path / "1.parquet").write_bytes(whole[: len(whole) // 2])
    assert refusal(path, memory) == (
        "1.parquet: the Parquet file is damaged or cut short; write it again."
    )
    (path / "1.parquet").unlink()
    (path / "1.parquet").symlink_to("nothing")
    assert refusal(path, memory).startswith("1.parquet: cannot be read (no such file or directory)")


@pytest.mark.parametrize("name", ["a\nb\x1b[2J.csv", "\u202ea\u2028.csv", "a\rb\tc.csv"])
def test_a_name_that_moves_a_terminal_is_made_printable(
    tmp_path: Path, memory: int | None, name: str
) -> None:
    path = tmp_path / name
    path.write_text("age,town\n1,2,3\n4,5\n")
    refusal(path, memory)
    refusal(tmp_path / f"no{name}", memory)
    csv(tmp_path / "original" / "first.csv")
    csv(tmp_path / "original" / name, TABLE[["age"]])
    refusal(tmp_path / "original", memory)
    csv(path)
    notes = inspect([path]).notes
    assert notes
    assert all(note.text.isprintable() for note in notes)
