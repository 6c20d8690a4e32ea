"""One assessment made by the worker of a cluster; its files come back as bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from evalkit.running.kernel_process import import_path

# The worker holds the other end of the input. When it dies, however it does, this process is
# asked to end too, instead of working on for nobody.
_BOOT: Final = """\
import os, signal, sys, threading
sys.path[:] = {path!r}

def end_with_the_worker():
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=end_with_the_worker, daemon=True).start()
from evalkit.start import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Order:
    """An assessment to be made.

    Attributes
    ----------
    name : str
        Of the folder of its report.
    options : dict
        Of ``evalkit assess``; the worker finds the files under the same paths.
    """

    name: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Made:
    """What became of it.

    Attributes
    ----------
    code : int
        Exit code of ``evalkit assess``.
    said : str
        Last line of the error stream.
    files : dict of str to bytes
        What lies in the folder of the report.
    """

    code: int
    said: str
    files: dict[str, bytes] = field(default_factory=dict)


def assess_there(order: Order, _: object = None) -> Made:
    """Make an assessment in a process of its own, in a private folder of the machine at hand.

    Parameters
    ----------
    order : Order
        What to make.

    Returns
    -------
    Made
    """
    with TemporaryDirectory(prefix="evalkit-", ignore_cleanup_errors=True) as private:
        config, report = Path(private) / "assessment.yaml", Path(private) / "made" / order.name
        config.write_text(json.dumps(order.options), encoding="utf-8")
        python = [sys.executable, "-I", "-X", "utf8", "-c", _BOOT.format(path=import_path())]
        arguments = ["assess", "--config", str(config), "-o", str(report), "--quiet"]
        code, said = _run([*python, *arguments])
        files = sorted(report.iterdir()) if report.is_dir() else []
        return Made(code, said, {path.name: path.read_bytes() for path in files if path.is_file()})


def _run(command: list[str]) -> tuple[int, str]:
    """Return exit code and last line of the error stream of a command."""
    with subprocess.Popen(  # noqa: S603 - this very Python, with arguments made here
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stderr is not None
        # Not `communicate`: that would close the input.
        lines = [line for line in process.stderr if line.strip()]
        code = process.wait()
    return code, lines[-1].rstrip("\n") if lines else f"ended with {code}"
