"""The list of a batch: a YAML file of assessments, each the options of ``evalkit assess``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.yaml_file import parse_yaml_value

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = re.compile(r"\w[\w .+=-]{0,79}")
PURPOSE: Final = "list of assessments"
NOT_IN_A_LIST: Final = frozenset({"config", "output", "quiet"})


@dataclass(frozen=True)
class Job:
    """One assessment of a batch.

    Attributes
    ----------
    name : str
        Also the name of its folder.
    options : dict
        Options of ``evalkit assess`` by the names of the notebook's parameters.
    """

    name: str
    options: dict[str, Any]


def read_list(path: Path) -> tuple[Job, ...]:
    """Return the assessments in a list.

    Parameters
    ----------
    path : pathlib.Path
        A YAML file: a list of mappings, or a mapping of ``defaults`` and ``assessments``. Each
        assessment has a ``name`` and options of ``evalkit assess`` by their long names, paths
        relative to the file; its own options come before the defaults.

    Returns
    -------
    tuple of Job
        In the order of the file.

    Raises
    ------
    evalkit.InputError
        If the file has another form, an option does not exist, or two names are alike.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evalkit.batch import read_list
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "list.yaml"
    ...     _ = path.write_text("[{name: k5, original: a.csv, avatars: b.csv}]")
    ...     read_list(path)[0].name
    'k5'
    """
    _, content = parse_yaml_value(path, PURPOSE)
    defaults, entries = _parts(content, path.name)
    known = _known_options()
    common = _options(defaults, known, f"{path.name}, defaults", path.parent)
    jobs = [_job(entry, place, known, common, path) for place, entry in enumerate(entries, start=1)]
    seen: set[str] = set()
    for job in jobs:
        # Some file systems take two names that differ in capitals for one.
        if job.name.casefold() in seen:
            raise InputError(f"{path.name}: the name {job.name!r} stands twice; change one.")
        seen.add(job.name.casefold())
    return tuple(jobs)


def _parts(content: Any, file: str) -> tuple[dict[str, Any], list[Any]]:
    """Return defaults and entries of the file."""
    defaults: Any = {}
    if isinstance(content, dict):
        unknown = sorted(content.keys() - {"defaults", "assessments"})
        if unknown:
            message = f"{file}: {unknown[0]!r} is unknown; use 'defaults' and 'assessments'."
            raise InputError(message)
        defaults, content = content.get("defaults") or {}, content.get("assessments")
    if not isinstance(defaults, dict) or not isinstance(content, list) or not content:
        message = f"{file}: a {PURPOSE} is a list of entries with a name and options."
        raise InputError(message)
    return defaults, content


def _known_options() -> set[str]:
    from evalkit.commands.assess import command

    return {str(one.name) for one in command.params} - NOT_IN_A_LIST | {"declared"}


def _options(fields: dict[str, Any], known: set[str], place: str, folder: Path) -> dict[str, Any]:
    from evalkit.commands.assess_options import options_in

    for name in NOT_IN_A_LIST & fields.keys():
        raise InputError(f"{place}: {name} is not for a list; give it to 'evalkit batch'.")
    return options_in(fields, known, place, folder)


def _job(entry: Any, place: int, known: set[str], common: dict[str, Any], path: Path) -> Job:
    """Return one entry, its options before the common ones."""
    if not isinstance(entry, dict):
        raise InputError(f"{path.name}: entry {place} is no mapping of a name and options.")
    fields = dict(entry)
    name = fields.pop("name", None)
    if not isinstance(name, str) or not NAME.fullmatch(name) or name != name.strip(" ."):
        message = (
            f"{path.name}: the name of entry {place}, {shown(name)}, cannot be that of a folder; "
            "use letters, digits, spaces and . _ - + =."
        )
        raise InputError(message)
    options = common | _options(fields, known, f"{path.name}, {name}", path.parent)
    for needed in ("original", "avatars"):
        if not options.get(needed):
            raise InputError(f"{path.name}, {name}: {needed} is not given.")
    return Job(name, options)
