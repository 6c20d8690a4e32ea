"""A folder with the exploration notebooks, parameters filled in, and JupyterLab opened on it."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FIRST: Final = "explore_linkability"
NOTEBOOKS: Final = (FIRST, "explore_utility", "choose_k", "compare_releases")
SETS: Final = "choose_k"
HOST: Final = "127.0.0.1"
_SECONDS_TO_START: Final = 90.0
_SECONDS_TO_END: Final = 10.0
_SECONDS_BETWEEN_LOOKS: Final = 0.2
NOT_INSTALLED: Final = (
    "JupyterLab is not installed; install it with: pip install 'evalkit[explore]'. "
    "With --copy-only the notebooks are written for another editor."
)


def check_installed() -> None:
    """Refuse, saying what to install, where there is no JupyterLab.

    Raises
    ------
    evalkit.InputError
    """
    if find_spec("jupyterlab") is None:
        raise InputError(NOT_INSTALLED)


def copy_notebooks(folder: Path, tables: Mapping[str, str]) -> tuple[list[Path], list[Path]]:
    """Write the exploration notebooks into a folder, with the tables as their parameters.

    Parameters
    ----------
    folder : pathlib.Path
        Made if needed.
    tables : mapping
        ``original``, ``avatars``, ``holdout`` and ``schema``, where given: paths seen from the
        current folder. They are written as seen from `folder`, so that both can be moved
        together. Avatars may be a folder of sets.

    Returns
    -------
    tuple of two list of pathlib.Path
        The notebooks that were written, and those that were there before and were kept.

    Raises
    ------
    evalkit.InputError
        If a table does not exist or the folder cannot be written.
    """
    from evalkit.resources import folder as resource
    from evalkit.running.notebook_file import fill_parameters, read, read_parameters, write
    from evalkit.running.output_folder import check_folder

    filled = {name: _values(name, tables, folder) for name in NOTEBOOKS}
    check_folder(folder, tuple(f"{name}.ipynb" for name in NOTEBOOKS))
    written, kept = [], []
    for name in NOTEBOOKS:
        path = folder / f"{name}.ipynb"
        if path.exists():
            kept.append(path)
            continue
        node = read(resource("notebooks") / path.name)
        known = read_parameters(node)
        fill_parameters(node, {key: one for key, one in filled[name].items() if key in known})
        write(node, path)
        written.append(path)
    return written, kept


def _values(notebook: str, tables: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the parameters of one notebook, paths seen from its folder."""
    given = {name: Path(path) for name, path in tables.items() if path}
    for name, path in given.items():
        if not path.exists():
            raise InputError(f"{name}: there is no file {path.name!r}; correct the path.")
    avatars = given.get("avatars")
    if avatars is not None and (notebook == SETS) != avatars.is_dir():
        # One file is no choice of settings, and a folder of sets no release: its first set is.
        del given["avatars"]
        if notebook != SETS:
            from evalkit.explore.candidates import sets_in

            given["avatars"] = next(iter(sets_in(avatars).values()))
    return {name: _seen_from(folder, path) for name, path in given.items()}


def _seen_from(folder: Path, path: Path) -> str:
    """Return a path as seen from a folder; another drive of Windows has no such path."""
    try:
        return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:
        return str(path.absolute())


def open_lab(folder: Path, *, browser: bool, tell: Callable[[str], Any]) -> None:
    """Run JupyterLab on a folder until it is ended there or by Ctrl-C.

    Parameters
    ----------
    folder : pathlib.Path
        What it shows; nothing outside.
    browser : bool
        Whether it opens a browser.
    tell : callable
        Called with the address once it answers. The address holds a key: who has it may run
        programs in your name.

    Raises
    ------
    evalkit.InputError
        If it does not start.
    """
    from evalkit.start import Interrupted

    port, key = _free_port(), secrets.token_hex(24)
    lab = subprocess.Popen(  # noqa: S603 - this very Python, with arguments made here
        _command(folder, port, browser=browser),
        env=_environment(key),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Ctrl-C is for us: JupyterLab would ask whether it is meant.
        start_new_session=True,
    )
    try:
        _wait_for(lab, port)
        tell(f"http://{HOST}:{port}/lab/tree/{FIRST}.ipynb?token={key}")
        lab.wait()
    except (KeyboardInterrupt, Interrupted) as interruption:
        if getattr(interruption, "code", 128 + signal.SIGINT) != 128 + signal.SIGINT:
            raise
    finally:
        _end(lab)


def _command(folder: Path, port: int, *, browser: bool) -> list[str]:
    options = {
        "ServerApp.root_dir": folder.absolute(),
        "ServerApp.ip": HOST,
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.open_browser": browser,
        "LabApp.default_url": f"/lab/tree/{FIRST}.ipynb",
        # It asks a server of its makers for news otherwise.
        "LabApp.news_url": "None",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    as_root = ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    written = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "jupyterlab", *as_root, *written]


def _environment(key: str) -> dict[str, str]:
    """Return the variables of the process: the key, and where this package lies in a checkout."""
    environment = {**os.environ, "JUPYTER_TOKEN": key}
    home = Path(__file__).resolve().parents[2]
    if str(home) not in {sysconfig.get_path(name) for name in ("purelib", "platlib")}:
        before = os.environ.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(home), *([before] if before else [])])
    return environment


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind((HOST, 0))
        return int(trial.getsockname()[1])


def _wait_for(lab: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the port answers."""
    ends = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < ends:
        if lab.poll() is not None:
            break
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    raise InputError("JupyterLab did not start; try 'jupyter lab' to see why.")


def _end(lab: subprocess.Popen[bytes]) -> None:
    """End the server, and with it the notebooks' processes."""
    if lab.poll() is not None:
        return
    lab.terminate()
    try:
        lab.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        lab.kill()
        lab.wait()
