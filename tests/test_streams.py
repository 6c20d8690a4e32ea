"""Whatever the streams are: nothing ends in a traceback, and no letter stops a report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit import cli

ROOT = Path(__file__).resolve().parent.parent
START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from evalkit.start import main; sys.exit(main())"
)
needs_a_shell = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def shell(ending: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line from a shell, with its streams changed by `ending`."""
    line = f'exec "$0" -c "$1" "${{@:2}}" {ending}'
    return subprocess.run(
        ["bash", "-c", line, sys.executable, START, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="latin-1",
        timeout=60,
        check=False,
    )


@needs_a_shell
def test_a_letter_that_the_output_has_not_is_written_as_its_code() -> None:
    done = shell("", "metrics", "attribute_disclosure", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "person\\u2019s" in done.stdout


@needs_a_shell
@pytest.mark.parametrize("ending", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_error(ending: str) -> None:
    done = shell(ending, "metrics", "linkability_protection_rate")
    assert (done.returncode, done.stderr) == (0, "")


@needs_a_shell
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_output_is_one_line() -> None:
    done = shell(">/dev/full", "metrics", "linkability_protection_rate")
    assert done.returncode == cli.BAD_INPUT
    assert done.stderr.startswith("evalkit: No space left on device")
    assert done.stderr.count("\n") == 1


def test_a_full_disk_under_temporary_files_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evalkit.report.page_text.catalogue", full)
    assert cli.main(["metrics"]) == cli.BAD_INPUT
    error = capsys.readouterr().err
    assert error.startswith("evalkit: No space left on device")
    assert "internal" not in error


def test_a_long_option_is_not_repeated_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["metrics", "x" * 100_000]) == cli.BAD_INPUT
    error = capsys.readouterr().err
    assert len(error) < 700
    assert error.startswith("evalkit: ")
