"""Any table reads the same from memory, from a file, and in batches onto disk."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz_targets import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st
from test_reading_out_of_core import SMALLEST, parquet, plain, table

from evalkit import InputError, load
from evalkit.reading import arrow_columns, large_texts, parquet_columns, read_table
from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cells import all_numbers, are_numbers, equals_any, to_numbers
from evalkit.reading.dates import FORMS, day_order, may_be_dates, to_seconds
from evalkit.reading.options import reading_options
from evalkit.reading.stores import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ODD_FLOATS = (0.0, -0.0, 1.0, 0.1, 1.234, 1e16, 1e20, 1e-7, 5e-324, 1e300, float("inf"), 2.0**53)
ODD_INTEGERS = (0, 1, -1, 7, 10**17, 10**18, 2**63 - 1, -(2**63))
ODD_TEXTS = ("", " ", "NA", "nan", "?", "1,5", "1.234", "01", "x", "2021-03-04", "3/4/2021", "é")
WORDS = frozenset(
    {"-1", "1.0", "1", "0", "-0", "NA", "inf", "1e+20", "2021-01-01 00:00:00", "0.10"}
)

FLOATS = st.one_of(st.sampled_from(ODD_FLOATS), st.floats(allow_nan=False))
INTEGERS = st.one_of(st.sampled_from(ODD_INTEGERS), st.integers(-(2**63), 2**63 - 1))
MOMENTS = st.integers(-62_135_596_800 * 10**6, 253_402_300_799 * 10**6)  # years 1 to 9999
STORED = st.one_of(
    st.lists(FLOATS, min_size=1, max_size=20).map(lambda cells: pa.array(cells, pa.float64())),
    st.lists(INTEGERS, min_size=1, max_size=20).map(lambda cells: pa.array(cells, pa.int64())),
    st.lists(MOMENTS, min_size=1, max_size=20).map(lambda one: pa.array(one, pa.timestamp("us"))),
    st.lists(INTEGERS.filter(lambda one: one > 0), min_size=1, max_size=20).map(
        lambda cells: pa.array(cells, pa.timestamp("ns", "UTC"))
    ),
)


@given(values=STORED)
@settings(max_examples=80, deadline=None)
def test_stored_cells_say_what_their_text_says(values: pa.Array) -> None:
    texts = as_text(values)
    for mark in (".", ","):
        assert are_numbers(values, mark).tolist() == are_numbers(texts, mark).tolist()
        assert all_numbers(values, mark) == all_numbers(texts, mark)
        (floats, whole), (found, exact) = to_numbers(values, mark), to_numbers(texts, mark)
        np.testing.assert_array_equal(floats, found)
        assert (whole is None) == (exact is None)
        assert whole is None or whole.tolist() == exact.tolist()  # type: ignore[union-attr]
    for word in WORDS:
        words = frozenset({word})
        assert equals_any(values, words).tolist() == equals_any(texts, words).tolist(), word
    assert may_be_dates(values).tolist() == may_be_dates(texts).tolist()
    assert day_order(values) == day_order(texts)
    np.testing.assert_array_equal(
        to_seconds(values, day_first=True, forms=FORMS),
        to_seconds(texts, day_first=True, forms=FORMS),
    )


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 60))
    kinds: list[tuple[pa.DataType, Any]] = [
        (pa.float64(), FLOATS),
        (pa.float64(), st.integers(0, 9).map(float)),
        (pa.int64(), INTEGERS),
        (pa.int16(), st.integers(-5, 300)),
        (pa.uint64(), st.integers(0, 2**64 - 1)),
        (pa.float32(), st.sampled_from((0.1, 1.5, -0.0, 3.0))),
        (pa.string(), st.sampled_from(ODD_TEXTS)),
        (pa.bool_(), st.booleans()),
        (pa.timestamp("us"), MOMENTS),
        (pa.date32(), st.integers(0, 30_000)),
        (pa.duration("ms"), st.integers(-(10**9), 10**9)),
        (pa.null(), st.none()),
        (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(("a", "b"))),
    ]
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))
    columns = {}
    for place, (kind, cells) in enumerate(chosen):
        filled = st.one_of(st.none(), cells) if draw(st.booleans()) else cells
        values = draw(st.lists(filled, min_size=rows, max_size=rows))
        columns[f"c{place}"] = pa.array(values, kind)
    return pa.table(columns)


def outcome(function: Callable[[], Any]) -> Any:
    """Return what a reading says, or the one line that refuses it."""
    try:
        return plain(function())
    except InputError as error:
        return str(error).replace("t.parquet (original)", "original")


@given(original=tables(), groups=st.integers(1, 9))
@settings(max_examples=25, deadline=None)
def test_any_parquet_file_on_disk_gives_the_release_of_the_table_in_memory(
    original: pa.Table, groups: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "t.parquet"
        pq.write_table(original, path, row_group_size=groups)
        patch.setattr(arrow_columns, "FEWEST_KEPT", 2**60)
        expected = outcome(lambda: load(original, original, missing=["-1", "7"]))
        patch.setattr(arrow_columns, "FEWEST_KEPT", 0)
        patch.setattr(parquet_columns, "BATCH_ROWS", 7)
        found = outcome(lambda: load(path, path, missing=["-1", "7"], memory=SMALLEST))
    assert found == expected


def columns_read(path: Path, store: Store) -> Any:
    """Return the columns and notes of a file, or the one line that refuses it."""
    try:
        found = read_table(path, "original", reading_options(), store)
    except InputError as error:
        return str(error)
    columns = {
        name: (column.codes.tolist(), column.texts.to_pylist(), column.blanks)
        for name, column in found.columns.items()
    }
    return columns, [(note.code, note.text) for note in found.notes], found.sha256


DIRTY = {path.name: path.read_bytes() for path in sorted((CORPUS / "read").iterdir())} | {
    "latin": "place,n\nîle,1\nville,2\n".encode("latin-1"),
    "marked": b"\xef\xbb\xbfplace;n\na;1,5\nb;2,5\n",
    "wide": "place,n\nîle,1\nville,2\n".encode("utf-16"),
    "remarks": b"# made on Monday\nsep,n\na,1\n",
    "said": b"sep=;\nplace;n\na;1\nb;2\n",
    "zeros": b"place,n\n\0,1\n",
    "nothing": b"\n\n",
    "long": b'place,n\n"' + b"a\n" * 3000 + b'",1\nb,2\n',
    "short": b"place,n\na,1\nb\n",
    "blank lines": b"\r\n\r\nplace,n\r\na,1\r\n\r\nb,2\r\n",
    "foreign": b"%PDF-1.4",
    "cut": gzip.compress(b"place,n\n" + b"a,1\n" * 9999)[:-20],
}


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Beginnings and blocks of a few bytes, so that every text is longer than one."""
    monkeypatch.setattr(large_texts, "_BLOCK_BYTES", 11)
    return


@pytest.mark.parametrize("name", DIRTY)
@pytest.mark.usefixtures("blocks")
def test_a_dirty_text_reads_the_same_in_batches(name: str, tmp_path: Path) -> None:
    path = tmp_path / "original.csv"
    path.write_bytes(DIRTY[name])
    assert columns_read(path, Store(on_disk=True)) == columns_read(path, Store())


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, pa.compress])
def test_a_packed_text_reads_the_same_in_batches(
    pack: Callable[..., bytes], tmp_path: Path
) -> None:
    content = table().to_csv(index=False).encode()
    packed = pa.compress(content, "zstd", asbytes=True) if pack is pa.compress else pack(content)
    path = tmp_path / "original.csv.packed"
    path.write_bytes(packed)
    assert columns_read(path, Store(on_disk=True)) == columns_read(path, Store())
    path.write_bytes(packed[: len(packed) // 2])
    assert "damaged or cut short" in columns_read(path, Store(on_disk=True))


def test_a_text_longer_than_its_beginning_is_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_texts, "HEAD_BYTES", 64)
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "windows-1252"):
        path = tmp_path / "original.csv"
        frame = pd.DataFrame({"a": range(999), "b": "é"})
        path.write_bytes(frame.to_csv(index=False).encode(encoding))
        assert columns_read(path, Store(on_disk=True)) == columns_read(path, Store())


def test_parquet_that_cannot_be_asked_by_name_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "original.parquet"
    nested = pa.array([{"x": 1}, {"x": 2}])
    pq.write_table(pa.table({"a": nested, "b": pa.array([1, 2])}), path)
    assert columns_read(path, Store(on_disk=True)) == columns_read(path, Store())
    pq.write_table(pa.table({"a": pa.array([5, 6]), "a.b": pa.array([1, 2])}), path)
    found = columns_read(path, Store(on_disk=True))
    assert found[0]["a"][1] == ["5", "6"]
    assert found[0]["a.b"][1] == ["1", "2"]


def test_parts_of_unlike_numbers_are_numbers_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "original"
    folder.mkdir()
    parquet(pd.DataFrame({"a": [1, 2]}), folder / "0.parquet")
    parquet(pd.DataFrame({"a": [1.5, np.nan]}), folder / "1.parquet")
    pq.write_table(pa.table({"a": pa.nulls(2)}), folder / "2.parquet")
    for store in (Store(), Store(on_disk=True)):
        codes, texts, _ = columns_read(folder, store)[0]["a"]
        assert (codes, texts) == ([0, 1, 2, -1, -1, -1], ["1", "2", "1.5"])


def test_many_stored_numbers_and_moments_are_kept_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_columns, "FEWEST_KEPT", 100)
    path = parquet(table(), tmp_path / "original.parquet")
    found = read_table(path, "original", reading_options())
    kinds = {name: str(column.texts.type)[:9] for name, column in found.columns.items()}
    assert (kinds["age"], kinds["size"], kinds["seen"]) == ("string", "double", "timestamp")
