"""The call of papermill, and what its failures mean to a caller."""

from __future__ import annotations

import errno
import logging
import os
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.running.beside import beside
from evalkit.running.progress import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nbformat import NotebookNode

SECONDS_TO_START = 120


class CellError(Exception):
    """A run failed: why, without a value, and the index of the cell if it is known."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.position = position


def execute(
    notebook: NotebookNode, values: Mapping[str, Any], scratch: Path, steps: Path
) -> NotebookNode:
    """Return the executed notebook as papermill leaves it.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Notebook with a parameters cell.
    values : mapping
        Checked parameters in plain JSON types, paths absolute.
    scratch : pathlib.Path
        Private folder of the run; the process works in it.
    steps : pathlib.Path
        File for the lines of progress.

    Returns
    -------
    nbformat.NotebookNode

    Raises
    ------
    evalkit.InputError
        If a cell raised it, with the same line.
    CellError
        If anything else failed in the notebook's process.
    """
    with _calm():
        import papermill
        from nbclient.exceptions import DeadKernelError

        try:
            return _papermill(notebook, values, scratch, steps)
        except papermill.PapermillExecutionError as error:
            raise _meaning(error) from None
        except DeadKernelError:
            reason = "the notebook's process was ended, perhaps for lack of memory"
            raise CellError(reason) from None
        except (RuntimeError, TimeoutError) as error:
            reason = f"the notebook's process did not start ({type(error).__name__})"
            raise CellError(reason) from None


def _papermill(
    notebook: NotebookNode, values: Mapping[str, Any], scratch: Path, steps: Path
) -> NotebookNode:
    """Run the cells; nothing is written by papermill itself."""
    import papermill

    from evalkit.running.kernel_process import EXTRA_ARGUMENTS, own_kernel
    from evalkit.running.private_folders import matplotlib_folder

    # What the process leaves behind when it is ended goes with the scratch folder.
    environment = {VARIABLE: str(steps), "TMPDIR": str(scratch), **matplotlib_folder(scratch)}
    kernel = own_kernel(scratch, environment)

    def run() -> NotebookNode:
        executed: NotebookNode = papermill.execute_notebook(
            notebook,
            None,
            parameters=dict(values),
            kernel_name="python3",
            language="python",
            progress_bar=False,
            start_timeout=SECONDS_TO_START,
            kernel_manager_class=kernel,
            extra_arguments=list(EXTRA_ARGUMENTS),
            resources={"metadata": {"path": str(scratch)}},
            record_timing=False,
        )
        return executed

    return beside(run, kernel.end_all)


def _meaning(error: Any) -> Exception:
    """Return our own error for a papermill error; the message of others may hold values."""
    from evalkit.running.notebook_file import where_raised

    if error.ename == "InputError":
        return InputError(" ".join(error.evalue.split()))
    if error.ename == "OSError" and os.strerror(errno.ENOSPC) in error.evalue:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    place = where_raised(error.traceback)
    reason = f"{error.ename} at {place}" if place else str(error.ename)
    return CellError(reason, error.cell_index)


@contextmanager
def _calm() -> Iterator[None]:
    """Keep the libraries' own notices off the error stream: the one line there is ours."""
    loggers = [logging.getLogger(name) for name in ("papermill", "asyncio", "traitlets")]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
