"""Any table written in any dialect reads back equal, or one line says which cell is in doubt."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import io
import lzma
import math
import re
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import evalkit
from evalkit.reading.cells import MISSING_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ROWS = 6
LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
TEXTS = st.one_of(
    st.text(LETTERS, max_size=6),
    st.text("\",;\t| \n\r'é€😀", max_size=6),
    st.sampled_from(["NA", "nan", "1,5", "007", "true", "2021-01-02", "-", "?", "#x", "İ", "ﬀ"]),
)
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(-1e300, 1e300, allow_nan=False),
    st.decimals(-(10**6), 10**6, places=3).map(float),
)
MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1))  # noqa: DTZ001 - a local time
DAYS = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
LENGTHS = st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999))
KINDS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "text": ("categorical", TEXTS),
    "number": ("numeric", NUMBERS),
    "moment": ("datetime", MOMENTS),
    "day": ("datetime", DAYS),
    "length": ("datetime", LENGTHS),
    "truth": ("", st.booleans()),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time


@st.composite
def tables(draw: Any) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame and the kind of each of its columns."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=4))
    rows = draw(st.integers(1, MOST_ROWS))
    columns = {}
    for place, kind in enumerate(kinds):
        name = f"c{place}{draw(TEXTS)}".strip()
        cell = st.one_of(KINDS[kind][1], st.none()) if draw(st.booleans()) else KINDS[kind][1]
        cells = draw(st.lists(cell, min_size=rows, max_size=rows))
        # A column of nothing but words for missing is empty.
        assume({str(one).strip() for one in cells if one is not None} - MISSING_WORDS - {""})
        columns[name] = pd.Series(cells, dtype=object)
    return pd.DataFrame(columns), kinds


def written(cell: Any, decimal: str) -> str:
    """Return a cell as programs write it."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return repr(cell).replace(".", decimal)
    if isinstance(cell, dt.timedelta):
        return str(pd.Timedelta(cell))
    return cell.isoformat() if isinstance(cell, dt.date) else str(cell)


def zipped(content: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("table.csv", content)
    return sink.getvalue()


PACKED["zip"] = zipped


@st.composite
def dialects(draw: Any) -> dict[str, Any]:
    """Return how a text file may be written."""
    return {
        "delimiter": draw(st.sampled_from(",;\t|")),
        "decimal": draw(st.sampled_from(".,")),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        "line_end": draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "cp1252"])),
        "index": draw(st.booleans()),
        "packed": draw(st.sampled_from(sorted(PACKED))),
    }


def text_of(table: pd.DataFrame, how: dict[str, Any]) -> str:
    """Return a table as text."""
    sink = io.StringIO(newline="")
    # Python before 3.13 quotes only the line end that it writes; no program can tell the other.
    if any({"\r", "\n"} & set(str(cell)) for row in [list(table), *cells(table)] for cell in row):
        how = how | {"quoting": csv.QUOTE_ALL}
    writer = csv.writer(
        sink, delimiter=how["delimiter"], quoting=how["quoting"], lineterminator=how["line_end"]
    )
    first = [[""], *([str(row)] for row in range(len(table)))] if how["index"] else []
    rows = [list(table), *([written(cell, how["decimal"]) for cell in row] for row in cells(table))]
    for place, row in enumerate(rows):
        writer.writerow([*(first[place] if first else []), *row])
    return sink.getvalue()


def cells(table: pd.DataFrame) -> list[list[Any]]:
    return [list(row) for row in table.itertuples(index=False, name=None)]


def expected(cell: Any, kind: str) -> Any:
    """Return what a cell is read as: seconds, a number, a text, or None."""
    if cell is None:
        return None
    if kind == "length":
        return cell / dt.timedelta(seconds=1)
    if kind == "moment":
        return (cell - EPOCH) / dt.timedelta(seconds=1)
    if kind == "day":
        return float((cell - EPOCH.date()).days * 86400)
    if kind == "text":
        return cell if cell.strip() else None
    return str(cell) if kind == "truth" else cell


def same(found: Any, wanted: Any) -> bool:
    """Return whether a cell was read right."""
    if pd.isna(found):
        # A word for missing beside nothing but numbers, dates or truth values is missing.
        return wanted is None or (isinstance(wanted, str) and wanted.strip() in MISSING_WORDS)
    if isinstance(wanted, str):
        return bool(found == wanted)
    if isinstance(wanted, int) and isinstance(found, int | np.integer):
        return int(found) == wanted
    return wanted is not None and math.isclose(found, wanted, rel_tol=1e-15, abs_tol=1e-6)


def check(path: Path, table: pd.DataFrame, kinds: list[str], **options: Any) -> None:
    """Read a file and compare every cell, or look at the refusal."""
    types: dict[str, list[str]] = {"categorical": [], "numeric": [], "datetime": []}
    for name, kind in zip(table, kinds, strict=True):
        if KINDS[kind][0]:
            types[KINDS[kind][0]].append(str(name))
    try:
        release = evalkit.load(path, path, **types, **options)
    except evalkit.InputError as error:
        event(re.sub(r"'.*?'", "…", str(error))[:60])
        told(str(error))
        return
    event("read")
    assert list(release.original) == list(table)
    for name, kind in zip(table, kinds, strict=True):
        found = release.original[name].tolist()
        wanted = [expected(cell, kind) for cell in table[name]]
        assert len(found) == len(wanted)
        assert all(map(same, found, wanted)), (kind, found, wanted)


DOUBTS = re.compile(
    r"both cut it into even rows"
    r"|column .*, row \d+.*: the comma in '.*' may mark decimals or thousands"
    r"|column .*, row \d+ .*'.*' \(digits as 9"
    r"|row \d+ has \d+ cells"
    r"|seems to have no header"
)


def told(line: str) -> None:
    """Hold a refusal to what may be in doubt, and to one line."""
    assert "\n" not in line
    assert DOUBTS.search(line), line


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), dialects())
def test_a_text_table_in_any_dialect_reads_back_equal_or_is_refused(
    given_table: tuple[pd.DataFrame, list[str]], how: dict[str, Any]
) -> None:
    table, kinds = given_table
    text, options = text_of(table, how), {}
    try:
        content = text.encode(how["encoding"])
    except UnicodeEncodeError:
        content = text.encode("utf-8")
    if how["encoding"] == "cp1252" and not text.isascii():
        options = {"encoding": "cp1252"} if content == text.encode("cp1252", "ignore") else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "original.csv"
        path.write_bytes(PACKED[how["packed"]](content))
        check(path, table, kinds, **options)


def typed(table: pd.DataFrame, kinds: list[str]) -> pa.Table:
    """Return a frame as an Arrow table with the type of each kind."""
    types = {
        "text": pa.string(), "moment": pa.timestamp("us"), "day": pa.date32(),
        "length": pa.duration("us"), "truth": pa.bool_(),
    }  # fmt: skip
    arrays = []
    for (_, column), kind in zip(table.items(), kinds, strict=True):
        whole = all(one is None or isinstance(one, int) for one in column)
        number = pa.int64() if whole else pa.float64()
        listed = [float(c) if number == pa.float64() and isinstance(c, int) and kind == "number"
                  else c for c in column]  # fmt: skip
        arrays.append(pa.array(listed, types.get(kind, number)))
    return pa.table(arrays, names=list(table))


@pytest.mark.parametrize("form", ["parquet", "feather", "frame"])
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(given_table=tables(), packed=st.sampled_from(sorted(PACKED)))
def test_a_typed_table_reads_back_equal(
    form: str, given_table: tuple[pd.DataFrame, list[str]], packed: str
) -> None:
    table, kinds = given_table
    found = typed(table, kinds)
    if form == "frame":
        check(found.to_pandas(), table, kinds)
        return
    sink = io.BytesIO()
    if form == "parquet":
        pq.write_table(found, sink)
    else:
        pyarrow.feather.write_feather(found, sink)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "original.data"
        path.write_bytes(PACKED[packed](sink.getvalue()))
        check(path, table, kinds)


METRICS = ["linkability_protection_rate", "correlation_difference_ratio", "hellinger"]


def scores(*frames: pd.DataFrame) -> list[float]:
    """Return what a few metrics say of originals, avatars and holdout, to nine decimals."""
    found = evalkit.assess(evalkit.load(*frames), metrics=METRICS)
    results = [found[slug] for slug in METRICS]
    assert all(one.status == "measured" for one in results)
    return [round(end, 9) for one in results for end in (one.score, *(one.interval or ()))]


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_no_order_of_rows_columns_or_index_changes_a_score(random: Any, number: int) -> None:
    rng = np.random.default_rng(number)

    def people(rows: int) -> pd.DataFrame:
        age = rng.integers(20, 60, rows)
        return pd.DataFrame(
            {
                "age": age,
                "income": np.where(
                    rng.random(rows) < 0.2, np.nan, age * 100 + 900 * rng.normal(size=rows)
                ),
                "town": rng.choice(["Nice", "Lyon", None], rows),
                "seen": np.datetime64("2021-01-01") + rng.integers(0, 900, rows),
                "ill": rng.choice([True, False], rows),
            }
        )

    frames = [people(30), people(25), people(20)]
    moved = []
    for frame in frames:
        names, places = list(frame), list(range(len(frame)))
        random.shuffle(names)
        random.shuffle(places)
        other = frame.iloc[places][names]
        moved.append(other.set_axis([f"row {place}" for place in range(len(frame))]))
    assert scores(*frames) == pytest.approx(scores(*moved), abs=2e-9)
