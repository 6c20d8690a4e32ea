"""Read a small YAML file from a stranger: plain values only, bounded, one clear line if bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE_BYTES = 2**20


def parse_yaml(path: Path, purpose: str) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes and the top-level mapping of a YAML file.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    purpose : str
        What it should be, for messages, such as ``"target profile"``.

    Returns
    -------
    bytes
        The content as it was hashed.
    dict
        Plain values; tags are refused, and so are aliases, which can grow without bound.

    Raises
    ------
    evalkit.InputError
        If the file cannot be read, is too large, or is not a mapping of plain values.
    """
    import yaml

    content = _content(path, purpose)
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(content)):
            message = f"{path.name}: aliases (*name) are not allowed in a {purpose}."
            raise InputError(message)
        fields = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        message = f"{path.name}: not readable as YAML{where}; correct the {purpose}."
        raise InputError(message) from None
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        message = f"{path.name}: a {purpose} is a list of 'name: value' lines."
        raise InputError(message)
    return content, fields


def _content(path: Path, purpose: str) -> bytes:
    """Return the bytes of the file within the size limit."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            message = f"{path.name}: too large for a {purpose}; the limit is 1 MB."
            raise InputError(message)
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"{path.name}: cannot be read as a {purpose} ({reason})."
        raise InputError(message) from None
