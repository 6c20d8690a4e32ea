"""The Python process that runs a notebook: ours, whatever Jupyter is set up to start.

A kernelspec of the user, a start-up file of IPython, ``PYTHONSTARTUP``, ``PYTHONPATH`` or a folder
called ``evalkit`` beside the data could each start another Python or change a score without a
word. So no kernelspec is looked up and nothing of the user's set-up is read.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

if TYPE_CHECKING:
    from collections.abc import Mapping

EXTRA_ARGUMENTS = [
    # One level above errors: an interrupt at shutdown would be logged as one.
    "--IPKernelApp.log_level=50",
    # The folder of the data may hold a `evalkit` or a `numpy.py`.
    "--InteractiveShellApp.ignore_cwd=True",
    "--InteractiveShellApp.exec_PYTHONSTARTUP=False",
]

# IPython reads configuration and start-up files of the machine and of the environment too.
# Both lists are shared by reference with the modules that read them.
_BOOT = """\
import sys
sys.path[:] = {path!r}
import IPython.core.application as application
application.SYSTEM_CONFIG_DIRS.clear()
application.ENV_CONFIG_DIRS.clear()
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""


class OwnKernel(AsyncKernelManager):
    """Starts this very Python, isolated, with the import path of this process.

    `own_kernel` makes a subclass with a folder of its own for one run.

    Attributes
    ----------
    folder : str
        Private folder for the connection file and for what IPython writes.
    environment : dict
        Variables added to those of this process.
    """

    folder = ""
    environment: Mapping[str, str] = MappingProxyType({})
    started: list[Any] = []  # noqa: RUF012 - `own_kernel` gives each run a list of its own
    over = False
    # An interrupt comes first, a signal after half of it, the end after all of it.
    shutdown_wait_time = 1.0

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.connection_file = str(Path(self.folder) / "connection.json")
        self.started.append(self)

    async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
        """Start the process; what it writes before cells run is nobody's to read."""
        if type(self).over:
            raise RuntimeError("interrupted before the process was started")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        await super().start_kernel(**{**options, **quiet})

    @classmethod
    def end_all(cls) -> None:
        """End every process of the run, and let no other start."""
        cls.over = True
        for manager in cls.started:
            manager.end_at_once()

    def end_at_once(self) -> None:
        """End the process and those it started, if they are still there.

        After Ctrl-C during the start nobody else does.
        """
        process = getattr(self.provisioner, "process", None)
        if process is None or process.poll() is not None:
            return
        with suppress(OSError):
            if hasattr(os, "killpg"):
                # The process leads a group of its own, apart from ours.
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()

    @property
    def kernel_spec(self) -> KernelSpec:
        """The specification: made here, never looked up."""
        boot = _BOOT.format(path=import_path())
        # `IPYTHONDIR`, because the option --ipython-dir takes the checkout off the import path.
        return KernelSpec(
            argv=[sys.executable, "-I", "-X", "utf8", "-c", boot, "-f", "{connection_file}"],
            env={"IPYTHONDIR": self.folder, **self.environment},
            language="python",
        )


def own_kernel(folder: Path, environment: Mapping[str, str]) -> type[OwnKernel]:
    """Return a kernel manager for one run.

    Parameters
    ----------
    folder : pathlib.Path
        Private folder that the caller removes after the run.
    environment : mapping
        Names and values of variables for the process, on top of ours.

    Returns
    -------
    type

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.running.kernel_process import own_kernel
    >>> own_kernel(Path("/private"), {"A": "1"})().kernel_spec.env["A"]
    '1'
    """
    content = {"folder": str(folder), "environment": dict(environment), "started": []}
    return type("OwnKernel", (OwnKernel,), content)


def import_path() -> list[str]:
    """Return the import path of this process without the current folder.

    Returns
    -------
    list of str
        `sys.path` without empty entries; the folder that holds this package stands first if it
        was not there, as when a session was started inside a checkout.

    Examples
    --------
    >>> from evalkit.running.kernel_process import import_path
    >>> "" in import_path()
    False
    """
    package_home = str(Path(__file__).resolve().parents[2])
    # The kernel runs in another folder: a relative entry would mean something else there.
    path = [str(Path(entry).absolute()) for entry in sys.path if entry]
    known = {str(Path(entry).resolve()) for entry in path}
    return path if package_home in known else [package_home, *path]
