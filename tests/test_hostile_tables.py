"""Tables made to break the reader, or to bring a person's cells into a message or a report."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit.errors import InputError
from evalkit.reading import archives, read_table, sizes, stores, text_columns
from evalkit.reading.cells import form_of
from evalkit.reading.options import reading_options
from evalkit.release import load, split_file

if TYPE_CHECKING:
    from evalkit.release import Release


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Return a function that writes bytes to a file of the given name."""

    def writer(content: bytes | str, name: str = "original.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return writer


def refusal(path: Path | pd.DataFrame, **options: Any) -> str:
    """Return the one line with which a table is refused."""
    with pytest.raises(InputError) as caught:
        read_table(path, "original", reading_options(**options))
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 400
    return line


def codes(release: Release, name: str) -> dict[str, str]:
    """Return the notes of a column by code."""
    return {note.code: note.text for note in release.schema[name].notes}


# Cells stay out of messages and reports


def test_a_form_shows_no_character_that_could_be_the_cell() -> None:
    assert form_of("\N{SNOWMAN}\N{EURO SIGN}<b>$%") == "~~~a~~~"
    assert form_of("\N{DEVANAGARI LETTER KA}\N{DEVANAGARI VOWEL SIGN I}") == "a~"
    assert form_of("2021-03-04 10:15 +1,5?") == "9999-99-99 99:99 +9,9?"
    assert form_of("a\x1b[2J\n") == "a~~9a~"


def test_a_note_on_a_mixture_tells_no_row_number() -> None:
    table = pd.DataFrame({"v": ["1"] * 41 + ["\N{SNOWMAN}"], "w": range(42)})
    note = next(one for one in load(table, table).schema["v"].notes if one.code == "mixed_types")
    assert "row" not in note.values
    assert "42" not in note.text
    assert note.values["form"] == "~"


PEOPLE = "39,State-gov,77516,Bachelors\n50,Private,83311,Masters\n38,Private,215646,Bachelors\n"


def test_a_table_without_a_header_is_refused_and_shows_no_cell(write: Any) -> None:
    line = refusal(write(PEOPLE))
    assert "seems to have no header: 2 of 4 column names" in line
    assert "39" not in line
    assert "State" not in line


def test_repeated_cells_in_the_place_of_names_are_not_listed(write: Any) -> None:
    assert "seems to have no header" in refusal(write("Quill,7,7\nHolm,8,9\nQuill,9,7\n"))


@pytest.mark.parametrize(
    "content",
    [
        "f,Lyon,x\nm,Lyon,y\nf,Nice,z\nf,Lyon,u\nm,Nice,v\n",  # values of their own columns
        "a,2001-02-03,2001-03-04\nb,2002-02-03,2002-03-04\n",
        "31\n45\n52\n",
        "x;1,5;2,5;7\ny;3;4;8\n",
    ],
)
def test_other_first_records_are_no_header_either(write: Any, content: str) -> None:
    assert "seems to have no header" in refusal(write(content))


@pytest.mark.parametrize(
    "content",
    [
        "town,2019,2020,2021\nNice,1,2,3\n",
        "q,1,2\nx,4,5\n",
        "town,2020-01-31,2020-02-29\nNice,1,2\n",
        "asthma,diabetes\nasthma,\n,diabetes\nasthma,diabetes\n",  # ticked boxes
        "age,sex\n31,f\nage,sex\n40,m\n",  # two files joined
    ],
)
def test_names_that_only_resemble_cells_are_names(write: Any, content: str) -> None:
    read_table(write(content), "original", reading_options())


def test_one_name_that_looks_like_a_cell_gives_a_note_by_its_place(write: Any) -> None:
    table = read_table(write("Holm,1951,w\nQuill,1960,z\n"), "original", reading_options())
    note = next(one for one in table.notes if one.code == "name_like_cell")
    assert "name of column 2" in note.text
    assert "1951" not in note.text


def test_tables_without_a_common_column_list_no_name(write: Any) -> None:
    original = write("Quillfeather,Lyon\nHolm,Nice\n")
    avatars = write("name,town\nA,B\n", "avatars.csv")
    with pytest.raises(InputError, match="no column in common") as caught:
        load(original, avatars)
    assert "Quillfeather" not in str(caught.value)


# Names


def test_a_long_name_is_refused_by_its_place_and_start(write: Any) -> None:
    for length in (1001, 100_000, 200_000, 2_000_000):
        line = refusal(write(f"age,income{'x' * length},sex\n1,2,3\n"))
        assert "name of column 2 has over 1,000 characters, starting 'incomexxxxxxxxxxxxxx'" in line
    line = refusal(pd.DataFrame({"y" * 10**6: [1, 2]}))
    assert "name of column 1 has over 1,000 characters" in line


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    assert "name of column 1: holds characters" in refusal(
        pd.DataFrame([[1], [2]], columns=pd.Index(["\ud800"], dtype=object))
    )
    path = tmp_path / "original.parquet"
    pq.write_table(pa.table({"abcdefgh": [1, 2]}), path)
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abcd\xff\xfegh"))
    assert "a column name holds bytes that are no text" in refusal(path)


# Cells


def test_numbers_whose_range_overflows_are_refused_by_table_and_column() -> None:
    original = pd.DataFrame({"x": [1.0, 2.0], "dose": [1e308, 2.0]})
    avatars = pd.DataFrame({"x": [1.0, 2.0], "dose": [3.0, -1.5e308]})
    with pytest.raises(InputError) as caught:
        load(original, avatars)
    assert "avatars, column 'dose': holds numbers too far apart" in str(caught.value)
    load(original, original)
    assert load(original, avatars, ignore=["dose"]).schema.used_names() == ("x",)


def test_a_long_cell_of_many_lines_is_a_cell(write: Any) -> None:
    remark = "one line\n" * 350_000
    table = read_table(write(f'a;b\n1;"{remark}"\n2;x\n'), "original", reading_options())
    assert table.rows == 2
    assert list(table.columns) == ["a", "b"]


def test_parquet_cells_without_a_text_are_refused_by_column_and_type(tmp_path: Path) -> None:
    path = tmp_path / "original.parquet"
    far = pa.array([[2**31 - 1]], pa.list_(pa.int32())).cast(pa.list_(pa.date32()))
    pq.write_table(pa.table({"days": far}), path)
    assert "column 'days': cells of the type" in refusal(path)


def test_moments_of_an_unknown_time_zone_are_moments(tmp_path: Path) -> None:
    moments = pa.array([0, 86_400_000_000], pa.timestamp("us", "Nowhere/Land"))
    table = pa.table({"seen": moments, "n": [1, 2]})
    path = tmp_path / "original.parquet"
    pq.write_table(table, path)
    assert load(path, path).original["seen"].tolist() == [0, 86_400]


# Sizes


def test_a_gzip_file_that_unpacks_beyond_the_limit_is_refused(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_TABLE_BYTES", 2**20)
    bomb = write(gzip.compress(b"a\n" + b"1\n" * 2**20), "original.csv.gz")
    assert "larger than" in refusal(bomb)


def test_a_parquet_file_that_unpacks_beyond_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "original.parquet"
    pq.write_table(pa.table({"a": pa.array(np.zeros(2**19, dtype=np.int8))}), path)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(sizes, "machine_bytes", lambda: 2**20)
    monkeypatch.setattr(stores.shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    with pytest.raises(InputError, match=r"GiB on disk, and the temporary folder has 0\.0 GiB"):
        load(path, path)


def test_a_table_beyond_the_memory_gives_one_line(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(text_columns, "in_blocks", exhausted)
    assert "original.csv: does not fit into the memory" in refusal(write("a\n1\n"))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices on this system")
def test_a_device_or_a_pipe_is_no_table(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        assert "a pipe or a device, not a file" in refusal(path)


# Split


def test_split_copies_long_cells_beside_odd_quotation_marks(write: Any, tmp_path: Path) -> None:
    long = "x" * 140_000
    source = write(f'size,remark\n5" pipe,{long}\n6 pipe,y\n7 pipe,z\n8 pipe,w\n', "pipes.csv")
    working, holdout, _ = split_file(source, tmp_path / "parts")
    read = [read_table(path, "original", reading_options()) for path in (working, holdout)]
    remarks = {cell for table in read for cell in table.columns["remark"].texts.to_pylist()}
    sizes = {cell for table in read for cell in table.columns["size"].texts.to_pylist()}
    assert remarks == {long, "y", "z", "w"}
    assert sizes == {'5" pipe', "6 pipe", "7 pipe", "8 pipe"}


def test_split_leaves_nothing_behind_if_one_file_cannot_be_written(
    write: Any, tmp_path: Path
) -> None:
    source = write("a,b\n1,2\n3,4\n5,6\n", "people.csv")
    parts = tmp_path / "parts"
    (parts / "holdout.csv").mkdir(parents=True)
    with pytest.raises(InputError, match="parts: cannot be written to"):
        split_file(source, parts)
    assert [path.name for path in parts.iterdir()] == ["holdout.csv"]


def test_split_leaves_nothing_behind_on_a_full_disk(write: Any, tmp_path: Path) -> None:
    source = write("a,b\n" + "1,2\n" * 1000, "people.csv")
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal = pytest.importorskip("signal")
    earlier = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, limits[1]))
        with pytest.raises(InputError, match="parts: cannot be written to"):
            split_file(source, tmp_path / "parts", share=0.25)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, earlier)
    assert not list((tmp_path / "parts").iterdir())


# What a newcomer stumbles over


def test_a_holdout_that_is_another_of_the_files_is_refused(write: Any) -> None:
    original, avatars = write("a\n1\n2\n"), write("a\n3\n4\n", "avatars.csv")
    for same, label in ((original, "original.csv"), (avatars, "avatars.csv")):
        copy = write(same.read_bytes(), "held.csv")
        with pytest.raises(InputError) as caught:
            load(original, avatars, copy)
        assert f"held.csv (holdout): is the same file as {label}" in str(caught.value)
        assert "other people" in str(caught.value)
    frames = [pd.read_csv(path) for path in (original, avatars, original)]
    assert "holdout_equals_original" in [note.code for note in load(*frames).notes]


@pytest.mark.parametrize("mark", ["?", ".", "-", "*"])
def test_a_level_that_may_stand_for_missing_is_said_with_its_option(mark: str) -> None:
    table = pd.DataFrame({"job": ["nurse", "clerk", mark, f" {mark} "], "n": [1, 2, 3, 4]})
    note = codes(load(table, table.head(3)), "job")["mark_as_level"]
    assert f"--missing '{mark}'" in note
    assert "2 in original, 1 in avatars" in note
    assert "mark_as_level" not in codes(load(table, table, missing=[mark]), "job")


def test_another_level_is_never_shown() -> None:
    table = pd.DataFrame({"job": ["nurse", "clerk", "!", "??"]})
    assert "mark_as_level" not in codes(load(table, table), "job")


def test_two_whole_numbers_may_be_codes() -> None:
    table = pd.DataFrame({"ill": [0, 1, 1, 0], "dose": [0.5, 1.5, 0.5, 1.5], "n": [1, 2, 3, 4]})
    release = load(table, table)
    assert "--categorical" in codes(release, "ill")["two_numbers"]
    assert "two_numbers" not in codes(release, "dose")
    assert "two_numbers" not in codes(release, "n")
    assert "two_numbers" not in codes(load(table, table, numeric=["ill"]), "ill")
