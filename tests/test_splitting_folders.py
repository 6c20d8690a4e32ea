"""A folder of files is split as one table, into two files of its own form."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit import InputError, cli
from evalkit.reading import cutting_text
from evalkit.splitting import split_file

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 61
NOON = pd.Timestamp("2020-01-01 12:00")
SMALLEST = 1  # byte of memory: the table is on disk while it is read
TABLE = pd.DataFrame(
    {
        "age": np.arange(ROWS) * 7 % 53,
        "key": np.arange(ROWS) // 3,
        "town": ['Nice, "old" town', "Lyon", "deux\nlignes", ""] * 15 + ["Brest"],
    }
)


def parquet(frame: pd.DataFrame, path: Path) -> None:
    frame.to_parquet(path, index=False)


def csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False)


def folder(path: Path, write: Callable[[pd.DataFrame, Path], None], cuts: list[int]) -> Path:
    """Write the table as several files, cut at the given rows."""
    path.mkdir()
    ends = [0, *cuts, ROWS]
    for number, (start, stop) in enumerate(itertools.pairwise(ends)):
        write(TABLE.iloc[start:stop], path / f"part.{number}.{write.__name__}")
    return path


def rows(path: Path) -> list[tuple[str, ...]]:
    read: Any = pd.read_parquet if path.suffix == ".parquet" else pd.read_csv
    frame = read(path) if path.suffix == ".parquet" else read(path, keep_default_na=False)
    return [tuple(map(str, row)) for row in frame.itertuples(index=False)]


@pytest.mark.parametrize("write", [parquet, csv])
@pytest.mark.parametrize("memory", [None, SMALLEST])
def test_a_folder_is_cut_as_the_same_table_in_one_file_is(
    write: Callable[[pd.DataFrame, Path], None],
    memory: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting_text, "BLOCK_BYTES", 64)
    monkeypatch.setattr("evalkit.reading.cutting_parquet.BATCH_ROWS", 5)
    several = folder(tmp_path / "several", write, [7, 7, 40])
    write(TABLE, tmp_path / f"one.{write.__name__}")
    working, held, notes = split_file(several, tmp_path / "a", 0.3, 2, memory=memory)
    others = split_file(tmp_path / f"one.{write.__name__}", tmp_path / "b", 0.3, 2)
    assert [path.name for path in (working, held)] == [
        f"{name}.{write.__name__}" for name in ("working", "holdout")
    ]
    assert [rows(working), rows(held)] == [rows(path) for path in others[:2]]
    assert len(rows(held)) == 18
    assert sorted(rows(working) + rows(held)) == sorted(
        tuple(map(str, row)) for row in TABLE.itertuples(index=False)
    )
    assert "folder_split" in [note.code for note in notes]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [held.name, working.name]


@pytest.mark.parametrize("write", [parquet, csv])
def test_the_order_of_the_files_does_not_matter_and_persons_stay_whole(
    write: Callable[[pd.DataFrame, Path], None], tmp_path: Path
) -> None:
    one = folder(tmp_path / "one", write, [10, 33])
    turned = folder(tmp_path / "turned", write, [10, 33])
    (turned / f"part.0.{write.__name__}").rename(turned / f"part.9.{write.__name__}")
    found = [
        split_file(path, tmp_path / f"out {path.name}", seed=3, individual="key")[:2]
        for path in (one, turned)
    ]
    first, second = ([set(rows(path)) for path in pair] for pair in found)
    assert first == second
    working, held = ({row[1] for row in part} for part in first)
    assert not working & held
    assert len(held) == 10


def test_types_that_widen_go_together_and_columns_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "parts"
    path.mkdir()
    codes = pa.array(["a", "b"]).dictionary_encode()
    pq.write_table(pa.table({"n": pa.array([1, 2], pa.int32()), "s": codes}), path / "a")
    pq.write_table(pa.table({"s": ["c", "d"], "n": pa.array([2**40, 4], pa.int64())}), path / "b")
    (path / "c").write_bytes(b"")
    parts = split_file(path, tmp_path / "out")[:2]
    read = pa.concat_tables([pq.read_table(part) for part in parts])
    assert read.schema.types == [pa.int64(), pa.string()]
    assert sorted(read.to_pydict()["n"]) == [1, 2, 4, 2**40]


@pytest.mark.parametrize(("one", "other"), [(2**60 + 1, 0.5), (NOON, NOON.tz_localize("UTC"))])
def test_types_that_do_not_go_together_are_one_line(one: Any, other: Any, tmp_path: Path) -> None:
    path = tmp_path / "parts"
    path.mkdir()
    pq.write_table(pa.table({"n": [one]}), path / "a")
    pq.write_table(pa.table({"n": [other]}), path / "b")
    with pytest.raises(InputError, match=r"^parts: a column has other types in some of the files"):
        split_file(path, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("write", [parquet, csv])
def test_what_folders_say_is_a_column_of_both_files(
    write: Callable[[pd.DataFrame, Path], None], tmp_path: Path
) -> None:
    for year in (2020, 2021):
        below = tmp_path / "visits" / f"year={year}"
        below.mkdir(parents=True)
        write(TABLE.head(9), below / f"a.{write.__name__}")
    parts = split_file(tmp_path / "visits", tmp_path / "out")[:2]
    years = [row[-1] for part in parts for row in rows(part)]
    assert sorted(years) == ["2020"] * 9 + ["2021"] * 9
    assert [len(rows(part)) for part in parts] == [9, 9]


def test_texts_of_several_dialects_become_one(tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.mkdir()
    (path / "1.csv").write_text("")
    (path / "2.csv").write_bytes("town;n\r\nR\u00e9;1\r\n\r\nx;2\r\n".encode("cp1252"))
    (path / "3.csv.gz").write_bytes(gzip.compress("town,n\n\u0142;3\ny,4\n".encode()))
    (path / "4.csv").write_text("town,n\n")
    with pytest.raises(InputError, match=r"3\.csv\.gz: row 1 has 1 cells"):
        split_file(path, tmp_path / "out")
    (path / "3.csv.gz").write_bytes(gzip.compress('town,n\n"\u0142;",3\ny,4'.encode()))
    parts = split_file(path, tmp_path / "out")[:2]
    texts = [part.read_text(encoding="utf-8") for part in parts]
    assert [part.name for part in parts] == ["working.csv", "holdout.csv"]
    records = sorted(line for text in texts for line in text.splitlines()[1:])
    assert records == sorted(["R\u00e9;1", "x;2", '"\u0142;";3', "y;4"])
    assert [text.splitlines()[0] for text in texts] == ["town;n", "town;n"]


def test_utf_16_has_one_mark_at_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes("town;n\na;1\nb;2\nc;3\nd;4\n".encode("utf-16"))
    parts = split_file(path, tmp_path / "out")[:2]
    texts = [part.read_bytes().decode("utf-16") for part in parts]
    assert all(text.startswith("town;n\n") and "\ufeff" not in text for text in texts)
    assert sorted("".join(text[7:] for text in texts).split()) == ["a;1", "b;2", "c;3", "d;4"]


def test_the_two_files_never_lie_in_the_folder_that_is_cut(tmp_path: Path) -> None:
    path = folder(tmp_path / "table", csv, [20])
    with pytest.raises(InputError, match="table: the two files would lie in the table itself"):
        split_file(path, path / "parts")
    assert sorted(one.name for one in path.iterdir()) == ["part.0.csv", "part.1.csv"]


def test_the_command_takes_a_folder_and_never_replaces_a_holdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder(tmp_path / "table", parquet, [20])
    assert cli.main(["split", str(path), "-o", str(tmp_path / "out")]) == 0
    found = capsys.readouterr()
    assert [Path(line).name for line in found.out.split()] == ["working.parquet", "holdout.parquet"]
    assert "cut as one table" in found.err
    assert cli.main(["split", str(path), "-o", str(tmp_path / "out")]) == cli.BAD_INPUT
    assert "working.parquet is already there" in capsys.readouterr().err
