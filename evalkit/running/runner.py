"""Run a notebook with parameters: strictly, in a Python of our own, all or nothing.

Papermill runs the cells. Around it stands what it leaves open: an unknown parameter is an error, no
set-up of the user reaches the process, and the executed notebook names no path of the machine.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.reading.databases import absolute_address, is_address, shown_address
from evalkit.running.output_folder import NOTEBOOK, REPORT_FILES, check_output, publish
from evalkit.running.plain_values import PATH_LISTS, PATHS, check_path
from evalkit.running.progress import TerminalProgress, Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nbformat import NotebookNode

    from evalkit.running.execution import CellError
    from evalkit.running.progress import Progress

TABLES = ("original", "avatars", "holdout")
"""Parameters that may be the address of a table in a database."""


class NotebookError(RuntimeError):
    """The run failed for a reason that is not the input: an error in evalkit or the machine.

    The message names the kind of error and the place in the code, never a value.
    """


@dataclass(frozen=True)
class _Run:
    """One run: the notebook, its values, and the scratch folders."""

    notebook: NotebookNode
    values: dict[str, Any]
    shown: dict[str, Any]
    scratch: Path

    @property
    def files(self) -> Path:
        """Folder in which the notebook leaves its files."""
        return self.scratch / "files"

    @property
    def steps(self) -> Path:
        """File of the progress lines."""
        return self.scratch / "steps"


def run(  # noqa: PLR0913 - the two paths and how to show and keep the run
    parameters: Mapping[str, object],
    *,
    notebook: str | Path = "technical_assessment",
    output: str | Path,
    keep_notebook: bool = True,
    quiet: bool = False,
    progress: Progress | None = None,
    finished: Callable[[Path], object] | None = None,
) -> Path:
    """Run a notebook with parameters and return the path of the executed notebook.

    Parameters
    ----------
    parameters : mapping
        Values by name, as in the notebook's parameters cell; None stands for the notebook's own
        value. Paths may be relative to the current folder.
    notebook : str or pathlib.Path
        Name of a notebook that evalkit brings, or the path of an ``.ipynb`` file.
    output : str or pathlib.Path
        Folder for the files of the run. An earlier report in it is replaced when all is done.
    keep_notebook : bool
        Whether the executed notebook is left in `output`.
    quiet : bool
        Show no progress.
    progress : callable, optional
        ``progress(done, total, label)`` instead of the display on the error stream.
    finished : callable, optional
        Called with the private folder of the finished files before they are moved to `output`;
        what it raises leaves `output` as it was. A later run may replace the files there at once.

    Returns
    -------
    pathlib.Path
        The executed notebook; where it would be if it is not kept.

    Raises
    ------
    evalkit.InputError
        If a parameter or the data are bad; nothing is written.
    NotebookError
        If something else failed; ``<notebook>.failed.ipynb``, without outputs, says where.

    Examples
    --------
    >>> from evalkit import running
    >>> running.run({"originl": "patients.csv"}, output="reports/patients")
    Traceback (most recent call last):
    evalkit.errors.InputError: The notebook takes no parameter 'originl'; did you mean 'original'?
    """
    from evalkit.running.execution import CellError
    from evalkit.running.notebook_file import write

    source, folder = _notebook_path(notebook), Path(output)
    names = REPORT_FILES if source.name == NOTEBOOK else (source.name,)
    with TemporaryDirectory(prefix="evalkit-", ignore_cleanup_errors=True) as scratch:
        one = _prepare(source, parameters, folder, Path(scratch))
        _check_folder(folder, source)
        try:
            executed = _execute(one, quiet=quiet, progress=progress)
        except CellError as error:
            _keep_failed(one, error, folder / f"{source.stem}.failed.ipynb")
            raise NotebookError(str(error)) from None
        if keep_notebook:
            write(executed, one.files / source.name)
        if finished is not None:
            finished(one.files)
        publish(one.files, folder, replace=(*names, f"{source.stem}.failed.ipynb"))
    return folder / source.name


def _notebook_path(notebook: str | Path) -> Path:
    """Return the path of a notebook given by name or path."""
    from evalkit.resources import folder

    path = Path(notebook)
    if path.suffix != ".ipynb":
        path = folder("notebooks") / f"{notebook}.ipynb"
    if not path.is_file():
        raise InputError(f"There is no notebook {path.name!r}; give a name or the path of a file.")
    return path


def _check_folder(folder: Path, source: Path) -> None:
    """Refuse an output folder that cannot be written or whose files are not ours to replace."""
    target = folder / source.name
    if target.resolve() == source.resolve():
        raise InputError("Output: the executed notebook would replace its source; choose another.")
    check_output(folder, REPORT_FILES if source.name == NOTEBOOK else ())


def _prepare(source: Path, parameters: Mapping[str, object], output: Path, scratch: Path) -> _Run:
    """Read the notebook, check the parameters and make the scratch folders."""
    from evalkit.running.notebook_file import check_parameters, read, read_parameters
    from evalkit.running.plain_values import plain

    node = read(source)
    given = {name: plain(name, value) for name, value in parameters.items() if value is not None}
    for name, value in given.items():
        if _is_path(name, value):
            check_path(name, value)
    known = read_parameters(node)
    check_parameters(given, known)
    given = {name: given[name] for name in known if name in given}
    values = {name: _absolute(name, value) for name, value in given.items()}
    if "output" in known:
        values["output"], given["output"] = str(scratch / "files"), plain("output", output)
    shown = {name: _base_name(name, value) for name, value in given.items()}
    one = _Run(node, values, shown, scratch)
    one.files.mkdir()
    return one


def _is_path(name: str, value: object) -> bool:
    """Return whether a parameter's value names a file or folder."""
    if name not in PATHS or not isinstance(value, str) or not value or "://" in value:
        return False
    # A profile is a name or a file; the same ending decides in targets.py.
    return name != "profile" or Path(value).suffix in {".yaml", ".yml"}


def _paths(name: str, value: Any) -> list[str]:
    """Return the paths of a parameter that is a list of them."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{name}: give a list of paths.")
    for one in value:
        check_path(name, one)
    return value


def _absolute(name: str, value: Any) -> Any:
    """Return a path as the process of the notebook, in another folder, needs it."""
    if name in PATH_LISTS:
        return [str(Path(one).absolute()) for one in _paths(name, value)]
    if name in TABLES and is_address(value):
        return absolute_address(value)
    return str(Path(value).absolute()) if _is_path(name, value) else value


def _base_name(name: str, value: Any) -> Any:
    """Return a path as the executed notebook shows it; of an address, the name of the table."""
    if name in PATH_LISTS:
        return [Path(one).absolute().name for one in _paths(name, value)]
    if name in TABLES and is_address(value):
        return shown_address(value)
    return Path(value).absolute().name if _is_path(name, value) else value


def _execute(one: _Run, *, quiet: bool, progress: Progress | None) -> NotebookNode:
    """Return the executed notebook, fit to be kept."""
    from evalkit.running.execution import execute
    from evalkit.running.notebook_file import set_injected, without_traces

    shown = nullcontext(progress) if progress or quiet else TerminalProgress()
    with shown as show:
        with Watcher(one.steps, show) as watcher:
            executed = execute(one.notebook, one.values, one.scratch, one.steps)
        if show is not None and watcher.total:
            show(watcher.total, watcher.total, "done")
    set_injected(executed, one.shown)
    return without_traces(executed)


def _keep_failed(one: _Run, error: CellError, path: Path) -> None:
    """Leave the notebook without outputs, saying where it stopped."""
    from evalkit.running.notebook_file import failed, set_injected, write

    set_injected(one.notebook, one.shown)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(failed(one.notebook, error.position, str(error)), path)
