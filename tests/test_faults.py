"""What a machine does to a run: the earlier report stays whole, and one line says what happened."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from test_signals import START, begin, wait_for_kernel

from evalkit import cli

TABLE = "age,town\n31,Nice\n45,Lyon\n52,Nice\n38,Brest\n"


def kernel_of(folder: Path) -> int:
    """Return the process that runs the notebook of a run with this folder of temporary files."""
    mark = str(folder / "temporary")
    for process in Path("/proc").iterdir():
        try:
            call = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if process.name.isdecimal() and mark in call and "connection.json" in call:
            return int(process.name)
    raise LookupError("no such process")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
def test_a_killed_kernel_is_one_line_and_leaves_the_earlier_report(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    earlier = {
        "assessment.json": b'{"evalkit": "0.1.0", "schema_version": 1}',
        "technical_assessment.html": b"<p>earlier</p>",
    }
    for name, content in earlier.items():
        (out / name).write_bytes(content)
    process = begin(START, "demo", "-o", "out", cwd=tmp_path)
    assert process.stderr is not None
    wait_for_kernel(process, tmp_path)
    assert process.stderr.readline()  # The first step is told: the notebook runs.
    os.kill(kernel_of(tmp_path), signal.SIGKILL)
    printed, errors = process.communicate(timeout=120)
    assert (process.returncode, printed) == (1, b"")
    told = [line for line in errors.splitlines() if line.startswith(b"evalkit: ")]
    assert len(told) == 1
    assert b"perhaps for lack of memory" in told[0]
    assert b"Traceback" not in errors
    found = {path.name: path.read_bytes() for path in out.iterdir()}
    # The notebook that failed is kept for whoever looks for the cause, without outputs or values.
    assert found.pop("technical_assessment.failed.ipynb").find(b'"output_type"') == -1
    assert found == earlier
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_a_schema_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE, encoding="utf-8")
    assert cli.main(["inspect", "people.csv", "-o", "/proc/none/people.yaml"]) == 2
    said = capsys.readouterr().err
    assert "people.yaml: cannot be written" in said
    assert said.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["people.csv"]


def test_a_table_read_in_small_blocks_is_the_table_read_in_one(tmp_path: Path) -> None:
    # A record longer than a block, and those that cross one, come out whole.
    from evalkit.reading import read_table, text_files
    from evalkit.reading.options import reading_options

    path = tmp_path / "original.csv"
    rows = [f'{place},"{"x" * (place % 97)}\n{place}"' for place in range(3000)]
    path.write_text("n,t\n" + "\n".join(rows) + "\n", encoding="utf-8")
    whole = read_table(path, "original", reading_options())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files, "BLOCKS", (64, 512, 2**20))
        parts = read_table(path, "original", reading_options())
    for name in ("n", "t"):
        assert parts.columns[name].texts.equals(whole.columns[name].texts)
        assert (parts.columns[name].codes == whole.columns[name].codes).all()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_letter_that_crosses_two_blocks_is_one_letter(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalkit.reading import dialect, read_table
    from evalkit.reading.options import reading_options

    monkeypatch.setattr(dialect, "_BLOCK_BYTES", 3)
    path = tmp_path / "original.csv"
    path.write_bytes("âge,lieu\n31,Île d’Yeu\n40,Orléans\n".encode(encoding))
    table = read_table(path, "original", reading_options())
    assert list(table.columns) == ["âge", "lieu"]
    assert table.columns["lieu"].texts.to_pylist() == ["Île d’Yeu", "Orléans"]


def test_bytes_that_are_no_text_are_found_in_any_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalkit.errors import InputError
    from evalkit.reading import dialect, read_table
    from evalkit.reading.options import reading_options

    monkeypatch.setattr(dialect, "_BLOCK_BYTES", 3)
    path = tmp_path / "original.csv"
    for content, said in ((b"a,b\n1,\xc3\n\x81", "cannot be read as UTF-8"), (b"a\n1\n\0", "zero")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=said):
            read_table(path, "original", reading_options())
