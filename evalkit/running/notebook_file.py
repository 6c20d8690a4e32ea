"""The notebook as a file: its parameters cell, and what may stay in an executed one.

Nothing here runs a notebook.
"""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat.notebooknode import from_dict

from evalkit.errors import InputError
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nbformat import NotebookNode

TAG = "parameters"
INJECTED_TAG = "injected-parameters"
_PLAIN_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
}


def read(path: Path) -> NotebookNode:
    """Return the notebook in a file.

    Raises
    ------
    evalkit.InputError
        If the file holds no notebook.
    """
    try:
        node: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, nbformat.reader.NotJSONError, AttributeError) as error:
        message = f"{path.name}: not a notebook that can be read ({type(error).__name__})."
        raise InputError(message) from None
    return node


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook to a file in one step."""
    text = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    write_whole(path.parent, {path.name: text.encode("utf-8")})


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell: ``name: type = value  # help``."""

    name: str
    type: str
    default: Any


def read_parameters(notebook: NotebookNode) -> dict[str, Parameter]:
    """Return the parameters that a notebook takes, by name.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Notebook with one code cell tagged ``parameters``.

    Returns
    -------
    dict
        `Parameter` by name, in the order of the cell.

    Raises
    ------
    evalkit.InputError
        If there is no such cell, more than one, or a line that is no ``name: type = literal``.

    Examples
    --------
    >>> import nbformat
    >>> from evalkit.running.notebook_file import read_parameters
    >>> cell = nbformat.v4.new_code_cell("axes: int = 5  # axes to keep")
    >>> cell.metadata["tags"] = ["parameters"]
    >>> read_parameters(nbformat.v4.new_notebook(cells=[cell]))["axes"].default
    5
    """
    tagged = [cell for cell in notebook.cells if TAG in cell.metadata.get("tags", [])]
    if len(tagged) != 1 or tagged[0].cell_type != "code":
        raise InputError(f"The notebook has no code cell of its own tagged {TAG!r}; tag one.")
    try:
        lines = ast.parse(tagged[0].source).body
        found = [_parameter(line) for line in lines]
    except (SyntaxError, ValueError):
        message = f"The cell tagged {TAG!r} may hold only lines such as: name: str = 'value'."
        raise InputError(message) from None
    return {parameter.name: parameter for parameter in found}


def _parameter(line: ast.stmt) -> Parameter:
    """Return one annotated assignment of a literal; ValueError for anything else."""
    if not isinstance(line, ast.AnnAssign) or line.value is None:
        raise ValueError
    kind = line.annotation.value if isinstance(line.annotation, ast.Subscript) else line.annotation
    if not isinstance(line.target, ast.Name) or not isinstance(kind, ast.Name):
        raise ValueError  # noqa: TRY004 - one kind of refusal for the caller
    if kind.id not in _PLAIN_TYPES:
        raise ValueError
    return Parameter(line.target.id, kind.id, ast.literal_eval(line.value))


def check_parameters(given: Mapping[str, object], known: Mapping[str, Parameter]) -> None:
    """Refuse a parameter that the notebook does not take, or a value of the wrong type.

    Parameters
    ----------
    given : mapping
        Values in plain JSON types, by name.
    known : mapping
        What `read_parameters` found.

    Raises
    ------
    evalkit.InputError
        Papermill itself would only log an unknown name and run with the default.
    """
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes: {', '.join(known)}."
            raise InputError(f"The notebook takes no parameter {name!r}; {hint}")
        kind = known[name].type
        right = isinstance(value, _PLAIN_TYPES[kind])
        if not right or (isinstance(value, bool) and kind != "bool"):
            message = f"{name}: give a value of type {kind}, not {type(value).__name__}."
            raise InputError(message)


def fill_parameters(notebook: NotebookNode, values: Mapping[str, object]) -> None:
    """Write values into the lines of the parameters cell itself, in place of those there.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Changed in place; each parameter stands on a line of its own with its help.
    values : mapping
        Texts, numbers, truth values or lists of them.

    Examples
    --------
    >>> import nbformat
    >>> from evalkit.running.notebook_file import fill_parameters
    >>> cell = nbformat.v4.new_code_cell('holdout: str = ""  # a path')
    >>> cell.metadata["tags"] = ["parameters"]
    >>> fill_parameters(nbformat.v4.new_notebook(cells=[cell]), {"holdout": "unseen.csv"})
    >>> cell.source
    "holdout: str = 'unseen.csv'  # a path"
    """
    (cell,) = [one for one in notebook.cells if TAG in one.metadata.get("tags", [])]
    lines = []
    for line in cell.source.splitlines():
        start, _, rest = line.partition(" = ")
        name = start.partition(":")[0]
        _, mark, words = rest.partition("  # ")
        lines.append(f"{start} = {values[name]!r}{mark}{words}" if name in values else line)
    cell.source = "\n".join(lines)


def set_injected(notebook: NotebookNode, values: Mapping[str, object]) -> None:
    """Write `values` into the injected cell; add that cell below the parameters if it is missing.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Changed in place.
    values : mapping
        Plain values to show, paths already reduced to base names.
    """
    source = "\n".join(["# Parameters", *(f"{name} = {value!r}" for name, value in values.items())])
    for cell in notebook.cells:
        if INJECTED_TAG in cell.metadata.get("tags", []):
            cell.source = source
            return
    cell = _cell("code", source, "injected", outputs=[], execution_count=None)
    cell.metadata["tags"] = [INJECTED_TAG]
    places = [TAG in cell.metadata.get("tags", []) for cell in notebook.cells]
    notebook.cells.insert(places.index(True) + 1, cell)


def _cell(kind: str, source: str, name: str, **more: Any) -> NotebookNode:
    """Return a new cell of the notebook format."""
    content = {"cell_type": kind, "id": name, "metadata": {}, "source": source, **more}
    cell: NotebookNode = from_dict(content)  # type: ignore[no-untyped-call]
    return cell


def without_traces(notebook: NotebookNode) -> NotebookNode:
    """Return an executed notebook without what tells about the machine or the moment.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Executed notebook; changed in place.

    Returns
    -------
    nbformat.NotebookNode
        Without papermill's paths, environment and times, without identifiers of cells drawn at
        random, and without what libraries wrote to the error stream, where paths stand.
    """
    notebook.metadata.pop("papermill", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
    return notebook


def failed(notebook: NotebookNode, position: int | None, reason: str) -> NotebookNode:
    """Return the notebook as it was started, with a note where it stopped; no output at all.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Notebook with the injected cell; changed in place.
    position : int, optional
        Index of the cell that failed.
    reason : str
        What happened, without a value of the data.

    Returns
    -------
    nbformat.NotebookNode
    """
    without_traces(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    note = _cell("markdown", f"**The run stopped here:** `{reason}`", "stopped")
    notebook.cells.insert(len(notebook.cells) if position is None else position, note)
    return notebook


def where_raised(traceback: list[str]) -> str:
    """Return the innermost place of this package in an IPython traceback, such as ``cli.py:12``.

    Parameters
    ----------
    traceback : list of str
        As a kernel sends it, with colours.

    Returns
    -------
    str
        Base name and line; empty if the package does not occur. Values never occur in it.

    Examples
    --------
    >>> from evalkit.running.notebook_file import where_raised
    >>> where_raised(["File /opt/lib/evalkit/release.py:12, in load(original)"])
    'release.py:12'
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback))
    found: list[str] = re.findall(r"[/\\]evalkit[/\\](?:\w+[/\\])*(\w+\.py):(\d+)", text)
    return ":".join(found[-1]) if found else ""
