"""A process that is asked to end does so at once, in one line, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalkit import cli
from evalkit.start import Interrupted

ROOT = Path(__file__).resolve().parent.parent
PATH = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
START = f"{PATH}; from evalkit.start import main; sys.exit(main())"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")


def begin(code: str, *arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    """Start a process whose temporary files go to a folder of their own."""
    (cwd / "temporary").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-I", "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "TMPDIR": str(cwd / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_heed_a_hangup,  # noqa: PLW1509 - no thread runs here yet
    )


def _heed_a_hangup() -> None:
    """Undo what `nohup` around the tests hands down: there a hangup is to be ignored, rightly."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for_kernel(process: subprocess.Popen[bytes], cwd: Path) -> None:
    """Wait until the process of the notebook has been started."""
    while not list((cwd / "temporary").glob("evalkit-*/connection.json")):
        assert process.poll() is None
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_run_that_is_asked_to_end_leaves_one_line_and_no_file(
    tmp_path: Path, number: int, code: int
) -> None:
    process = begin(START, "demo", "-o", "out", "--quiet", cwd=tmp_path)
    wait_for_kernel(process, tmp_path)
    process.send_signal(number)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", b"evalkit: interrupted\n")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_an_interrupt_during_the_imports_is_one_line(tmp_path: Path) -> None:
    slow = (
        f"{PATH}; import importlib.abc, os, signal\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'evalkit.cli': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from evalkit.start import main; sys.exit(main())"
    )
    process = begin(slow, "metrics", cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"evalkit: interrupted\n")


def test_a_signal_that_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    # As under nohup.
    code = (
        f"{PATH}; import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from evalkit import cli, start\n"
        "cli.main = lambda: os.kill(os.getpid(), signal.SIGHUP) or 0\n"
        "sys.exit(start.main())"
    )
    process = begin(code, cwd=tmp_path)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 0


def test_an_interruption_is_one_line_with_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(*_: object, **__: object) -> None:
        raise Interrupted(signal.SIGTERM)

    monkeypatch.setattr("evalkit.report.page_text.catalogue", end)
    assert cli.main(["metrics"]) == 143
    assert capsys.readouterr().err == "evalkit: interrupted\n"
