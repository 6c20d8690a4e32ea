"""Notebooks run strictly, in a Python of our own, all or nothing."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import numpy as np
import pytest

from evalkit import InputError
from evalkit.running import NotebookError, progress, run, runner
from evalkit.running.notebook_file import read_parameters, where_raised
from evalkit.running.output_folder import check_output, publish
from evalkit.running.plain_values import plain
from evalkit.running.progress import TerminalProgress

if TYPE_CHECKING:
    from typing import BinaryIO

ROOT = Path(__file__).resolve().parent.parent
SECRET = "Zebulon-4711"
PARAMETERS = """\
original: str = ""  # path
known: list = []  # names
axes: int = 5  # axes
share: float = 0.5
row_link: bool = False
declared: dict = {}
output: str = ""  # folder
"""


def notebook(path: Path, *sources: str, parameters: str = PARAMETERS) -> Path:
    """Write a notebook with a parameters cell and one code cell for each source."""
    first = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    cells = [first, *(nbformat.v4.new_code_cell(source) for source in sources)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """One run that succeeds, looked at from many sides."""
    folder = tmp_path_factory.mktemp("run")
    source = notebook(
        folder / "small.ipynb",
        "import json, os, sys\n"
        "from pathlib import Path\n"
        "import evalkit\n"
        "from evalkit.running.progress import report_step\n"
        "report_step(0, 2, 'Reading')\n"
        "print('error' + '-line', file=sys.stderr)\n"
        "seen = {name: globals()[name] for name in"
        " ('original', 'known', 'axes', 'share', 'row_link', 'declared')}\n"
        "seen |= {'package': evalkit.__file__, 'executable': sys.executable, 'cwd': os.getcwd()}\n"
        "report_step(2, 2, 'Writing')\n"
        "_ = Path(output, 'seen.json').write_text(json.dumps(seen))",
        "'shown'",
    )
    steps: list[tuple[int, int, str]] = []
    values = {
        "original": Path("data") / "patients.csv",
        "known": ("é \"quoted\" 'too' \\ {braces} $x$\n", "sex"),
        "axes": np.int64(3),
        "share": np.float64(0.25),
        "row_link": np.bool_(True),  # noqa: FBT003 - the very type that papermill garbles
        "declared": {"review": dt.date(2026, 11, 29), "nested": {"a": [1, 2.5, None]}},
    }
    path = run(
        values,
        notebook=source,
        output=folder / "out é {x}",
        progress=lambda *step: steps.append(step),
    )
    seen = json.loads(text_of(path.parent / "seen.json"))
    return {"path": path, "seen": seen, "steps": steps, "folder": folder}


def test_values_reach_the_notebook_as_they_were_meant(done: dict[str, dict[str, object]]) -> None:
    seen = done["seen"]
    assert seen["known"] == ["é \"quoted\" 'too' \\ {braces} $x$\n", "sex"]
    assert (seen["axes"], seen["share"], seen["row_link"]) == (3, 0.25, True)
    assert seen["declared"] == {"review": "2026-11-29", "nested": {"a": [1, 2.5, None]}}
    assert seen["original"] == str(Path.cwd() / "data" / "patients.csv")


def test_the_notebook_runs_in_this_python_with_this_package(
    done: dict[str, dict[str, object]],
) -> None:
    assert done["seen"]["executable"] == sys.executable
    assert Path(str(done["seen"]["package"])).parent == ROOT / "evalkit"
    assert done["seen"]["cwd"] != os.getcwd()  # noqa: PTH109 - texts are compared


def test_progress_is_told_as_the_notebook_goes(done: dict[str, object]) -> None:
    assert done["steps"] == [(0, 2, "Reading"), (2, 2, "Writing"), (2, 2, "done")]


def test_the_executed_notebook_shows_base_names_and_nothing_of_the_machine(
    done: dict[str, Path],
) -> None:
    text = text_of(done["path"])
    assert "original = 'patients.csv'" in text
    assert "output = 'out é {x}'" in text
    assert "shown" in text
    for told in (str(done["folder"]), str(Path.cwd()), "papermill", "start_time", "error-line"):
        assert told not in text


def test_the_output_folder_holds_the_files_of_the_run_and_nothing_else(
    done: dict[str, Path],
) -> None:
    assert sorted(one.name for one in done["path"].parent.iterdir()) == ["seen.json", "small.ipynb"]


def test_an_input_error_in_the_notebook_comes_out_with_its_line_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    source = notebook(
        tmp_path / "bad.ipynb",
        "from pathlib import Path\nPath(output, 'half.txt').write_text('half')",
        "from evalkit import InputError\nraise InputError('avatars.csv has no rows; give one.')",
    )
    with pytest.raises(InputError, match=r"^avatars\.csv has no rows; give one\.$"):
        run({}, notebook=source, output=tmp_path / "out", quiet=True)
    assert not (tmp_path / "out").exists()


def test_an_internal_error_keeps_a_notebook_without_outputs_or_values(tmp_path: Path) -> None:
    source = notebook(
        tmp_path / "broken.ipynb",
        f"print('{SECRET[:3]}' + '{SECRET[3:]}')",
        f"from evalkit.intervals import wilson\nwilson('{SECRET[:3]}' + '{SECRET[3:]}', [])",
    )
    out = tmp_path / "out"
    out.mkdir()
    (out / "earlier.html").write_text("an earlier report")
    with pytest.raises(NotebookError, match=r"^\w+Error at intervals\.py:\d+$") as caught:
        run({"original": "a/b/c.csv"}, notebook=source, output=out, quiet=True)
    assert SECRET not in str(caught.value)
    assert sorted(path.name for path in out.iterdir()) == ["broken.failed.ipynb", "earlier.html"]
    kept = text_of(out / "broken.failed.ipynb")
    assert SECRET not in kept
    assert "The run stopped here" in kept
    assert "original = 'c.csv'" in kept
    assert all(not cell.get("outputs") for cell in nbformat.reads(kept, as_version=4).cells)


def test_a_process_that_dies_is_one_clear_line(tmp_path: Path) -> None:
    source = notebook(tmp_path / "dies.ipynb", "import os\nos._exit(1)")
    with pytest.raises(NotebookError, match="process was ended, perhaps for lack of memory"):
        run({}, notebook=source, output=tmp_path / "out", quiet=True)


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"axis": 3}, r"takes no parameter 'axis'; did you mean 'axes'\?"),
        ({"zzz": 3}, "takes no parameter 'zzz'; it takes: original, known"),
        ({"axes": "3"}, "axes: give a value of type int, not str"),
        ({"axes": True}, "axes: give a value of type int, not bool"),
        ({"row_link": 1}, "row_link: give a value of type bool, not int"),
        ({"known": "age"}, "known: give a value of type list, not str"),
        ({"share": float("nan")}, "share: a number that is not finite"),
        ({"original": object()}, "original: a value of type object"),
        ({"original": b"x.csv".decode() + "\udcff"}, "original: holds bytes that are not valid"),
        ({"declared": {1: "a"}}, "declared: the keys inside must be texts"),
    ],
)
def test_a_wrong_parameter_is_refused_before_anything_runs(
    tmp_path: Path, parameters: dict[str, object], line: str
) -> None:
    source = notebook(tmp_path / "small.ipynb")
    with pytest.raises(InputError, match=line):
        run(parameters, notebook=source, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "cell",
    ["axes = 5", "import os", "axes: int = 2 + 3", "axes: int", "x.y: int = 3", "axes: int = ("],
)
def test_a_parameters_cell_holds_annotated_literals_only(cell: str) -> None:
    node = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell, metadata={"tags": ["parameters"]})]
    )
    with pytest.raises(InputError, match="may hold only lines such as"):
        read_parameters(node)


def test_a_notebook_without_a_parameters_tag_is_refused() -> None:
    node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("axes: int = 5")])
    with pytest.raises(InputError, match="no code cell of its own tagged 'parameters'"):
        read_parameters(node)


@pytest.mark.parametrize("name", ["no_such_notebook", "no/such.ipynb"])
def test_a_missing_notebook_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no notebook"):
        run({}, notebook=name, output=tmp_path / "out")


def test_a_file_that_is_no_notebook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.ipynb").write_text("no JSON")
    with pytest.raises(InputError, match=r"text\.ipynb: not a notebook"):
        run({}, notebook=tmp_path / "text.ipynb", output=tmp_path / "out")


def test_the_executed_notebook_never_replaces_its_source(tmp_path: Path) -> None:
    source = notebook(tmp_path / "mine.ipynb", "1")
    before = text_of(source)
    with pytest.raises(InputError, match="would replace its source"):
        run({}, notebook=source, output=tmp_path)
    assert text_of(source) == before


def test_the_shipped_notebook_is_not_replaced_by_its_run() -> None:
    with pytest.raises(InputError, match="choose another"):
        run({}, output=ROOT / "notebooks")


def test_values_nested_too_deep_are_refused() -> None:
    value: list[object] = []
    for _ in range(30):
        value = [value]
    with pytest.raises(InputError, match="nested more than 20 levels deep"):
        plain("known", value)


def test_a_place_in_the_code_is_found_without_the_values_around_it() -> None:
    lines = ["\x1b[32mFile /opt/x/evalkit/kernels/search.py:7, in f(a)\x1b[0m\n  7 f('cell')"]
    assert where_raised(lines) == "search.py:7"
    assert where_raised(["File /opt/pandas/core.py:7, in f(a)"]) == ""


# The output folder


def write_report(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "assessment.json").write_text('{"evalkit": "0.1.0", "schema_version": 1}')
    for name in names:
        (folder / name).write_text("earlier")


def test_an_earlier_report_is_replaced_whole(tmp_path: Path) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    write_report(out, "technical_assessment.pdf", "technical_assessment.html", "notes.txt")
    check_output(out)
    write_report(scratch, "technical_assessment.html")
    publish(scratch, out)
    names = sorted(path.name for path in out.iterdir())
    assert names == ["assessment.json", "notes.txt", "technical_assessment.html"]


@pytest.mark.parametrize("name", ["assessment.json", "technical_assessment.html"])
def test_files_of_others_under_our_names_are_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"mine": 1}')
    with pytest.raises(InputError, match=f"holds {name} but no report of evalkit"):
        check_output(tmp_path)


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="'file' is not a folder"):
            check_output(output)


def test_a_disk_that_fails_leaves_the_earlier_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    write_report(out, "technical_assessment.html")
    write_report(scratch, "technical_assessment.html", "technical_assessment.pdf")
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(source: BinaryIO, target: BinaryIO) -> None:
        target.write(b"half")
        if source.name.endswith("pdf"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("evalkit.whole_files.shutil.copyfileobj", full)
    with pytest.raises(InputError, match="No space left on device"):
        publish(scratch, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


# Ctrl-C


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")
def test_an_interrupt_ends_the_process_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    source = notebook(
        tmp_path / "slow.ipynb",
        f"import os, time\nfrom pathlib import Path\n"
        f"Path({str(mark)!r}).write_text(str(os.getpid()))\ntime.sleep(300)",
    )
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from evalkit.running import run\n"
        f"run({{}}, notebook={str(source)!r}, output={str(tmp_path / 'out')!r}, quiet=True)\n"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", script],
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
    )
    while not (mark.exists() and mark.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in error
    assert not (tmp_path / "out").exists()
    assert list(scratch.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


class Terminal(io.StringIO):
    """An error stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with TerminalProgress() as show:
        show(0, 2, "Reading the tables")
        show(1, 4, "linkability")
    shown = sys.stderr.getvalue()
    assert "Reading the tables" in shown
    assert "1/4" in shown
    assert shown.rstrip(" \r").endswith("00:00")
    assert shown.endswith("\r")


def test_elsewhere_a_plain_line_stands_for_each_step_after_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with TerminalProgress() as show:
        show(0, 2, "Reading the tables")
        show(1, 2, "linkability")
    assert capsys.readouterr().err == "[1/2] linkability\n"


def test_the_clock_goes_on_while_a_step_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_TICKS", 0.005)
    threads = threading.active_count()
    with TerminalProgress() as show:
        show(1, 4, "linkability")
        bar = show._bar
        assert bar is not None
        first = sys.stderr.getvalue()
        bar.start_t -= 65
        while "01:05" not in sys.stderr.getvalue()[len(first) :]:
            time.sleep(0.005)
    assert threading.active_count() == threads


def test_the_clock_stops_when_the_run_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    show = TerminalProgress()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(progress, "_new_bar", interrupted)
    with pytest.raises(KeyboardInterrupt), show:
        show(1, 4, "linkability")
    assert not show._clock.is_alive()


def test_a_terminal_that_is_gone_stops_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Terminal()
    monkeypatch.setattr(sys, "stderr", gone)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_TICKS", 0.005)
    with TerminalProgress() as show:
        show(1, 4, "linkability")
        monkeypatch.setattr(gone, "write", _broken)
        show._over.wait(0.05)
        assert show._clock.is_alive()
        monkeypatch.undo()


def _broken(_: str) -> int:
    raise BrokenPipeError


def test_an_address_stands_in_full_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    address = "Dask dashboard at http://127.0.0.1:38787/a_long_way/status"
    with TerminalProgress() as show:
        show(0, 4, "Reading the tables")
        show(1, 4, address)
        show(2, 4, "linkability")
    assert address + "\n" in sys.stderr.getvalue()


def test_a_terminal_that_tells_no_width_is_taken_for_a_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(Terminal, "fileno", lambda _: 2)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))
    monkeypatch.setattr("tqdm.std._screen_shape_wrapper", lambda: lambda _: (0, -1))
    with TerminalProgress() as show:
        show(1, 4, "linkability")
    line = sys.stderr.getvalue().split("\r")[1]
    assert len(line) == 80
    assert line.endswith("/4 00:00")


def test_elsewhere_a_first_step_that_is_long_has_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_TICKS", 0.001)
    with TerminalProgress() as show:
        show(0, 2, "Reading the tables")
        while show._held_back:
            time.sleep(0.002)
        show(1, 2, "linkability")
    assert capsys.readouterr().err == "[0/2] Reading the tables\n[1/2] linkability\n"


def test_paths_are_told_from_names() -> None:
    assert runner._base_name("profile", "vendor-2026") == "vendor-2026"
    assert runner._base_name("profile", "policies/ours.yaml") == "ours.yaml"
    assert runner._base_name("title", "a/b") == "a/b"
    assert runner._absolute("holdout", "") == ""
