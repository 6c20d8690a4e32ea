"""Read a small YAML file from a stranger: plain values only, bounded, one clear line if bad."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.limited_files import limited_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from yaml.nodes import MappingNode, Node, ScalarNode

LARGEST_FILE_BYTES = 2**20
LONGEST_TEXT = 100_000
MOST_DIGITS = 30
_TAG = "tag:yaml.org,2002:"
# Dates stay as they are written, and so does the lone "=" that YAML 1.1 gives a meaning.
_TEXTS = {_TAG + name for name in ("str", "timestamp", "value", "merge")}


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
        Texts, whole numbers, finite floats, truth values, None, lists and dicts of such. Keys
        and dates are texts as they are written.

    Raises
    ------
    evalkit.InputError
        If the file cannot be read, is larger than 1 MB, or is not a mapping of plain values.
        Refused are aliases, which can grow without bound; tags of other types; a key that
        stands twice; numbers of over 30 digits, in base 60 (``12:30``), infinite or no number;
        texts of over 100,000 characters.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evalkit.yaml_file import parse_yaml
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "types.yaml"
    ...     _ = path.write_text("columns: {2019: {use: no}}")
    ...     parse_yaml(path, "schema")[1]
    {'columns': {'2019': {'use': False}}}
    """
    content, fields = parse_yaml_value(path, purpose)
    if not isinstance(fields, dict):
        message = f"{path.name}: a {purpose} is a list of 'name: value' lines."
        raise InputError(message)
    return content, fields


def parse_yaml_value(path: Path, purpose: str) -> tuple[bytes, Any]:
    """Return the bytes and the content of a YAML file, which may be a list too.

    Parameters, limits and errors are those of `parse_yaml`; the content is a plain value, or None
    for an empty file.
    """
    import yaml

    content = _content(path, purpose)
    try:
        root = yaml.compose(content, Loader=yaml.SafeLoader)
        return content, _Reading(path.name, purpose).value(root) if root else None
    except (yaml.YAMLError, ValueError, LookupError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        message = f"{path.name}: not readable as YAML{where}; correct the {purpose}."
        raise InputError(message) from None


def _content(path: Path, purpose: str) -> bytes:
    """Return the bytes of the file within the size limit."""
    try:
        content = limited_bytes(path, LARGEST_FILE_BYTES)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"{path.name}: cannot be read as a {purpose} ({reason})."
        raise InputError(message) from None
    if len(content) > LARGEST_FILE_BYTES:
        message = f"{path.name}: too large for a {purpose}; the limit is 1 MB."
        raise InputError(message)
    return content


class _Reading:
    """Plain values from the nodes of one file; the loader of the package makes too much of them."""

    def __init__(self, name: str, purpose: str) -> None:
        self.name = name
        self.purpose = purpose
        self.seen: set[int] = set()

    def value(self, node: Node) -> Any:
        """Return the value of a node and all below it."""
        from yaml.nodes import MappingNode, ScalarNode, SequenceNode

        if id(node) in self.seen:
            raise self.refusal(node, "aliases (*name) are not allowed; write the value out")
        self.seen.add(id(node))
        if isinstance(node, ScalarNode):
            return self.scalar(node)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item) for item in node.value]
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self.mapping(node)
        raise self.refusal(node, _not_plain(node))

    def mapping(self, node: MappingNode) -> dict[str, Any]:
        """Return a mapping; the last of two equal keys would win in silence."""
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key.value, str):
                raise self.refusal(key, "a name must be a text, no list or mapping")
            self.scalar(key)
            if key.value in found:
                raise self.refusal(key, f"{shown(key.value)} stands twice; keep one")
            found[key.value] = self.value(value)
        return found

    def scalar(self, node: ScalarNode) -> str | int | float | bool | None:
        """Return a text, number, truth value or None."""
        from yaml.constructor import SafeConstructor

        kind, text = node.tag.removeprefix(_TAG), node.value
        if len(text) > LONGEST_TEXT:
            raise self.refusal(node, f"a text has over {LONGEST_TEXT:,} characters; shorten it")
        if node.tag in _TEXTS:
            return str(text)
        if kind == "null":
            return None
        if kind == "bool":
            return bool(SafeConstructor().construct_yaml_bool(node))
        if kind not in {"int", "float"} or kind == node.tag:
            raise self.refusal(node, _not_plain(node))
        return self.number(node, kind)

    def number(self, node: ScalarNode, kind: str) -> int | float:
        """Return a number, or one clear line on a form that is none in daily life."""
        from yaml.constructor import SafeConstructor

        if ":" in node.value:
            fault = f"{shown(node.value)} would be read in base 60; put it in quotation marks"
            raise self.refusal(node, fault)
        if sum(character.isalnum() for character in node.value) > MOST_DIGITS:
            raise self.refusal(node, f"a number has over {MOST_DIGITS} digits; shorten it")
        if kind == "int":
            return int(SafeConstructor().construct_yaml_int(node))
        value = float(SafeConstructor().construct_yaml_float(node))
        if not math.isfinite(value):
            raise self.refusal(node, f"{shown(node.value)} is no finite number; correct it")
        return value

    def refusal(self, node: Node, fault: str) -> InputError:
        """Return the error that names the line."""
        line = node.start_mark.line + 1
        return InputError(f"{self.name}, line {line} of the {self.purpose}: {fault}.")


def _not_plain(node: Node) -> str:
    """Return what is wrong with a value of a type that is not read."""
    return f"a value of the type {shown(node.tag)} is not allowed; write it as a text"
