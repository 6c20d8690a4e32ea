"""One table in many forms, in memory and on disk: the same release; nothing is left behind."""

from __future__ import annotations

import errno
import gc
import gzip
import hashlib
import os
import re
import stat
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit import InputError, load
from evalkit.reading import arrow_columns, stores, typed_tables
from evalkit.reading.stores import is_on_disk
from evalkit.verifying.files import _digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalkit.release import Release

ROWS = 240
SMALLEST = 1  # byte of memory: everything is on disk


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sizes = np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(170, 9, ROWS))
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, ROWS),
            "size": sizes,
            "whole": np.where(rng.random(ROWS) < 0.1, np.nan, rng.integers(0, 9, ROWS)),
            "town": rng.choice(["Nice", "Lyon", "", 'été, "en" ville', "NA"], ROWS),
            "member": rng.choice([True, False], ROWS),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**9, ROWS), "s"),
        }
    )


def said(notes: Any) -> list[tuple[str, str]]:
    """Return notes without the names of files."""
    texts = [(note.code, re.sub(r"[^\s(]+ \((\w+)\)", r"\1", note.text)) for note in notes]
    return [one for one in texts if one[0] not in {"dialect", "folder_read"}]


def plain(release: Release) -> dict[str, Any]:
    """Return everything that a release says, without names and hashes of files."""
    frames = {
        role: None if frame is None else (frame.dtypes.astype(str).to_dict(), frame.to_dict("list"))
        for role, frame in (
            ("original", release.original),
            ("avatars", release.avatars),
            ("holdout", release.holdout),
            ("working", release.working),
            ("working_avatars", release.working_avatars),
            ("reference", release.reference),
        )
    }
    fields = ("name", "type", "used", "identifier", "levels", "missing_share")
    schema = [
        ([getattr(one, field) for field in fields], said(one.notes))
        for one in release.schema.variables
    ]
    return {
        "frames": repr(frames),
        "schema": schema,
        "notes": said(release.notes),
        "ledger": [asdict(line) for line in release.ledger],
        "options": release.options,
        "sizes": {role: (one.rows, one.columns) for role, one in release.inputs.items()},
    }


def parquet(frame: pd.DataFrame, path: Path, **options: Any) -> Path:
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)
    return path


def folder(frame: pd.DataFrame, path: Path, count: int, write: Callable[..., Any]) -> Path:
    path.mkdir(parents=True)
    cuts = np.linspace(0, len(frame), count + 1).astype(int)
    for place in range(count):
        write(frame.iloc[cuts[place] : cuts[place + 1]], path / f"part.{place * 9}{write.__name__}")
    (path / "_SUCCESS").write_text("")
    (path / ".hidden").write_text("x")
    return path


def csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of its own, which must be empty at any time."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(stores.tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and moments are kept as they are, however few."""
    monkeypatch.setattr(arrow_columns, "FEWEST_KEPT", 0, raising=False)


PARQUET_FORMS: dict[str, Callable[[pd.DataFrame, Path], Path]] = {
    "one": lambda frame, path: parquet(frame, path / "t.parquet"),
    "row by row": lambda frame, path: parquet(frame, path / "t.parquet", row_group_size=1),
    "folder of 1": lambda frame, path: folder(frame, path / "t", 1, parquet),
    "folder of 3": lambda frame, path: folder(frame, path / "t", 3, parquet),
}


def gz(frame: pd.DataFrame, path: Path) -> Path:
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    return path


def plain_csv(frame: pd.DataFrame, path: Path) -> Path:
    csv(frame, path)
    return path


TEXT_FORMS: dict[str, Callable[[pd.DataFrame, Path], Path]] = {
    "one": lambda frame, path: plain_csv(frame, path / "t.csv"),
    "gzip": lambda frame, path: gz(frame, path / "t.csv.gz"),
    "folder of 1": lambda frame, path: folder(frame, path / "t", 1, csv),
    "folder of 3": lambda frame, path: folder(frame, path / "t", 3, csv),
}


@pytest.mark.parametrize("memory", [None, SMALLEST])
@pytest.mark.parametrize("form", PARQUET_FORMS)
@pytest.mark.usefixtures("stored")
def test_parquet_in_any_form_and_memory_gives_the_same_release(
    form: str, memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(arrow_columns, "FEWEST_KEPT", 2**60, raising=False)
        expected = plain(load(table(0), table(1)))
    paths = []
    for seed in (0, 1):
        (tmp_path / str(seed)).mkdir()
        paths.append(PARQUET_FORMS[form](table(seed), tmp_path / str(seed)))
    assert plain(load(*paths, memory=memory)) == expected


@pytest.mark.parametrize("memory", [None, SMALLEST])
@pytest.mark.parametrize("form", TEXT_FORMS)
def test_text_in_any_form_and_memory_gives_the_same_release(
    form: str, memory: int | None, tmp_path: Path
) -> None:
    paths, first = [], []
    for seed in (0, 1):
        (tmp_path / str(seed)).mkdir()
        paths.append(TEXT_FORMS[form](table(seed), tmp_path / str(seed)))
        first.append(plain_csv(table(seed), tmp_path / f"t{seed}.csv"))
    assert plain(load(*paths, memory=memory)) == plain(load(*first))


def cells(frame: pd.DataFrame, name: str) -> Any:
    column = frame[name]
    is_level = isinstance(column.dtype, pd.CategoricalDtype)
    return column.array.codes if is_level else column.to_numpy()


def test_columns_on_disk_are_parts_of_one_file_and_never_copied(
    tmp_path: Path, temporary: Path
) -> None:
    paths = [parquet(table(seed), tmp_path / f"{seed}.parquet") for seed in (0, 1)]
    release = load(*paths, memory=SMALLEST)
    for frame in (release.original, release.avatars, release.working, release.reference):
        for name in frame.columns:
            kept, part = cells(frame, name), cells(frame.iloc[3:7], name)
            assert is_on_disk(kept), name
            assert np.shares_memory(kept[3:7], part), name
    assert list(temporary.iterdir()) == []


def test_a_folder_is_known_by_its_name_and_by_the_names_and_bytes_of_its_files(
    tmp_path: Path,
) -> None:
    path = folder(table(0), tmp_path / "originals", 3, parquet)
    release = load(path, folder(table(1), tmp_path / "avatars", 1, parquet))
    names = [f"part.{place}parquet" for place in (0, 9, 18)]
    lines = [f"{hashlib.sha256((path / one).read_bytes()).hexdigest()}  {one}\n" for one in names]
    assert release.inputs["original"].name == "originals"
    assert release.inputs["original"].sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert _digest("original", path) == release.inputs["original"].sha256


def test_folders_such_as_year_2021_are_a_column(tmp_path: Path) -> None:
    for place, value in enumerate(("2020", "2021", "__HIVE_DEFAULT_PARTITION__")):
        inside = tmp_path / "t" / f"year={value}"
        inside.mkdir(parents=True)
        parquet(table(place), inside / "0.parquet")
    for memory in (None, SMALLEST):
        years = load(tmp_path / "t", tmp_path / "t", memory=memory).original["year"]
        assert years.iloc[[0, ROWS]].tolist() == [2020, 2021]
        assert years.isna().sum() == ROWS


@pytest.mark.parametrize("memory", [None, SMALLEST])
def test_files_that_are_unlike_give_one_line_with_the_file(
    tmp_path: Path, memory: int | None
) -> None:
    def refusal(path: Path) -> str:
        with pytest.raises(InputError) as caught:
            load(path, path, memory=memory)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    path = folder(table(0), tmp_path / "a", 2, parquet)
    parquet(table(0).drop(columns="age"), path / "z.parquet")
    assert refusal(path).startswith("z.parquet: its columns are not those of part.0parquet ('age')")
    parquet(table(0).assign(age="old"), path / "z.parquet")
    assert "z.parquet, column 'age': holds text, in part.0parquet it holds numbers" in refusal(path)
    csv(table(0), path / "z.parquet")
    assert "a: 'z.parquet' is no Parquet file, and others are" in refusal(path)
    path = folder(table(0), tmp_path / "b", 2, csv)
    csv(table(0).drop(columns="age"), path / "z.csv")
    assert refusal(path).startswith("z.csv: its header is not that of part.0csv (without 'age')")
    (tmp_path / "empty").mkdir()
    assert "is a folder without a file" in refusal(tmp_path / "empty")


def test_files_have_no_name_and_only_their_owner_can_read_them(temporary: Path) -> None:
    with stores.scratch_file() as file:
        found = os.fstat(file.fileno())
        assert (stat.S_IMODE(found.st_mode), found.st_nlink) == (0o600, 0)
        assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("error", [InputError("no"), KeyboardInterrupt(), MemoryError()])
def test_an_error_or_an_interruption_leaves_nothing_behind(
    error: BaseException, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plain_csv(table(0), tmp_path / "t.csv")
    before = open_files()

    def fail(*_: Any) -> None:
        assert open_files() > before  # there are columns on disk by now
        raise error

    monkeypatch.setattr(typed_tables, "converted", fail)
    with pytest.raises(type(error)):
        load(path, path, memory=SMALLEST)
    assert list(temporary.iterdir()) == []
    error.__traceback__ = None  # its frames hold the columns
    gc.collect()
    assert open_files() == before


def test_a_release_that_is_let_go_frees_its_room(tmp_path: Path, temporary: Path) -> None:
    path = plain_csv(table(0), tmp_path / "t.csv")
    before = open_files()
    release = load(path, path, memory=SMALLEST)
    assert len(release.working) == ROWS / 2
    assert open_files() > before
    del release
    gc.collect()
    assert open_files() == before
    assert list(temporary.iterdir()) == []


def open_files() -> int:
    """Return how many files this process has open, mapped ones included."""
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("this system does not list open files")
    return len(list(folder.iterdir()))


def test_a_full_or_closed_temporary_folder_gives_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plain_csv(table(0), tmp_path / "t.csv")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full_file() -> Any:
        file = open_scratch()
        return SimpleNamespace(
            fileno=file.fileno, truncate=file.truncate, seek=file.seek, close=file.close, write=full
        )

    open_scratch = stores.scratch_file
    with monkeypatch.context() as patch:
        patch.setattr(stores, "scratch_file", full_file)
        with pytest.raises(InputError, match=r"cannot be written to \(no space left on device\)"):
            load(path, path, memory=SMALLEST)
    for method in ("write_batch", "close"):
        with monkeypatch.context() as patch:
            patch.setattr(pq.ParquetWriter, method, full)
            with pytest.raises(InputError, match=r"cannot be written to \(no space left on devic"):
                load(path, path, memory=SMALLEST)
    with monkeypatch.context() as patch:
        patch.setattr(stores.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
        with pytest.raises(InputError, match=r"need about 0\.0 GiB on disk"):
            load(path, path, memory=SMALLEST)
    monkeypatch.setattr(stores.tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"cannot be written to \(no such file or directory\)"):
        load(path, path, memory=SMALLEST)


def test_a_column_too_long_for_the_memory_gives_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet(table(0), tmp_path / "t.parquet")
    monkeypatch.setattr(stores, "SMALLEST_MEMORY", 100)
    with pytest.raises(InputError, match=r"t\.parquet: one column of 240 rows needs about"):
        load(path, path, memory=SMALLEST)


def test_memory_is_an_amount_and_no_part_of_the_options(tmp_path: Path) -> None:
    path = parquet(table(0), tmp_path / "t.parquet")
    release = load(path, path, memory="4GB")
    assert "memory" not in release.options
    assert not is_on_disk(release.original["age"].to_numpy())
    with pytest.raises(InputError, match="memory: give an amount such as 4GB"):
        load(path, path, memory="much")


def test_persons_are_the_same_on_disk(tmp_path: Path) -> None:
    frame = table(0).assign(key=np.arange(ROWS) // 3)
    path = parquet(frame, tmp_path / "t.parquet")
    one, two = (load(path, path, individual="key", memory=memory) for memory in (None, SMALLEST))
    assert plain(one) == plain(two)
    assert one.persons["original"].code.tolist() == two.persons["original"].code.tolist()


@pytest.mark.skipif(os.name == "nt", reason="pipes and names of POSIX")
def test_a_pipe_or_a_name_that_is_no_text_in_a_folder_is_one_line(tmp_path: Path) -> None:
    path = folder(table(0), tmp_path / "originals", 2, parquet)
    os.mkfifo(path / "pipe.parquet")
    with pytest.raises(InputError, match=r"^originals: 'pipe.parquet' is a pipe or a device, .*$"):
        load(path, path)
    (path / "pipe.parquet").unlink()
    Path(os.fsdecode(os.fsencode(path) + b"/\xff.parquet")).write_bytes(b"")
    with pytest.raises(InputError, match=r"^originals: a name in this folder is not UTF-8; .*$"):
        load(path, path)
