"""The options of ``evalkit assess`` from the command line and from a file, merged."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

from evalkit.errors import InputError
from evalkit.running.plain_values import PATHS, check_path

_OPTION = re.compile(r"-[oh]|--[a-z][a-z-]*(=.*)?", re.DOTALL)
LISTS = ("categorical", "numeric", "datetime", "ignore", "metrics", "formats")
"""Lists of names with commas."""
ALONE = ("missing", "known")
"""Lists whose entries are taken whole."""


def merged(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options by the names of the notebook's parameters.

    Parameters
    ----------
    given : dict
        What click parsed; None, empty lists and False stand for "not given".

    Returns
    -------
    dict
        Only what was given; the command line comes before the file of ``--config``.

    Raises
    ------
    evalkit.InputError
        If the file cannot be used.

    Examples
    --------
    >>> from evalkit.commands.assess_options import merged
    >>> merged({"ignore": ("id,remarks",), "axes": 3, "title": None, "config": None})
    {'ignore': ['id', 'remarks'], 'axes': 3}
    """
    config = given.pop("config", None)
    typed = {name: value for name, value in given.items() if _was_given(value)}
    file = _from_file(Path(config), {*given, "declared"}) if config else {}
    options = {**file, **{name: _listed(name, value) for name, value in typed.items()}}
    for name in PATHS:
        if isinstance(options.get(name), str):
            check_path(name, options[name])
    return options


def _was_given(value: Any) -> bool:
    """Return whether click found an option; a zero is a value, though Python calls it false."""
    return value is not None and value is not False and value != ()


def marks(context: Any, option: Any, given: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    """Return the marks for missing cells; refuse one that is an option.

    An option that was left without its own value takes the next one for it. This is the form of
    a callback of click, which comes before the complaint about what is left over.

    Examples
    --------
    >>> from evalkit.commands.assess_options import marks
    >>> marks(None, None, ("?", "--"))
    ('?', '--')
    """
    for mark in given:
        if _OPTION.fullmatch(mark):
            message = (
                f"--missing takes a mark, and {mark!r} is an option; give both, as in "
                "--missing '?' -o reports/new."
            )
            raise InputError(message)
    return given


def _from_file(path: Path, known: set[str]) -> dict[str, Any]:
    """Return the options in a YAML file, its paths relative to the file's folder."""
    from evalkit.yaml_file import parse_yaml

    _, fields = parse_yaml(path, "configuration")
    return options_in(fields, known, path.name, path.parent)


def options_in(fields: dict[str, Any], known: set[str], place: str, folder: Path) -> dict[str, Any]:
    """Return options that stand in a file, by the names of the notebook's parameters.

    Parameters
    ----------
    fields : dict
        Options by their long names, as in the file.
    known : set of str
        Options that there are, with underscores.
    place : str
        Where they stand, for messages.
    folder : pathlib.Path
        Paths are relative to it.

    Returns
    -------
    dict
        Only what was given.

    Raises
    ------
    evalkit.InputError
        If an option does not exist or has the wrong form.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.commands.assess_options import options_in
    >>> options_in({"on-mismatch": "error"}, {"on_mismatch"}, "list.yaml", Path())
    {'on_mismatch': 'error'}
    """
    options = {}
    for key, value in fields.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"options: {', '.join(sorted(known))}."
            raise InputError(f"{place}: there is no option {key!r}; {hint}")
        if value is not None:
            options[name] = _of_texts(place, name, _listed(name, value))
    for name in PATHS:
        if _names_a_file(name, options.get(name)):
            options[name] = str(folder / options[name])
    return options


def _of_texts(file: str, name: str, value: Any) -> Any:
    """Return the value of an option; a list of names holds texts only."""
    if name in LISTS or name == "missing":
        odd = [one for one in value if not isinstance(one, str)] if isinstance(value, list) else []
        if odd or not isinstance(value, list):
            kind = type(odd[0] if odd else value).__name__
            message = f"{file}: {name} is a list of texts, and one is of type {kind}; quote it."
            raise InputError(message)
    return value


def _names_a_file(name: str, value: Any) -> bool:
    """Return whether an option's value is a path; a profile may be a name, a table an address."""
    is_text = isinstance(value, str) and value != "" and "://" not in value
    return is_text and (name != "profile" or Path(value).suffix in {".yaml", ".yml"})


def _listed(name: str, value: Any) -> Any:
    """Return an option's value in the form of the notebook's parameter."""
    from evalkit.running.parameters import names

    if name in LISTS and isinstance(value, str):
        return names(value)
    if name in LISTS and isinstance(value, tuple):
        return [one for entry in value for one in names(entry)]
    if name == "known" and isinstance(value, dict):
        return [{scenario: columns} for scenario, columns in value.items()]
    if name in ALONE and isinstance(value, str | tuple):
        return [value] if isinstance(value, str) else list(value)
    return value
