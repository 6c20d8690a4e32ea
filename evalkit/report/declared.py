"""Fields that the controller declares: their keys, however they were written."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from evalkit.report.words import load_words
from evalkit.resources import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping

_GROUPS: Final = ("treatment", "intruder", "scenarios")
"""Fields that hold fields; those of scenarios go by the names of the scenarios."""


def key_of(name: str) -> str:
    """Return the key of a field however it was written: "Release model" is ``release_model``."""
    plain = name.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return "_".join(plain.replace("-", " ").replace("_", " ").split())


def field_key(name: str) -> str:
    """Return the key of a declared field, written as its key or as the report prints it."""
    key = key_of(name)
    return _printed_names().get(key, key)


@cache
def _printed_names() -> dict[str, str]:
    """Return the keys of declared fields by what the report calls them in any language."""
    found: dict[str, set[str]] = {}
    for language in LANGUAGES:
        for group in load_words(language)["context"].values():
            for key, label in group if isinstance(group, list) else []:
                for name in (label, re.split(r"[;:,(]", label)[0]):
                    found.setdefault(key_of(name), set()).add(key)
    keys = declared_keys() | load_words(LANGUAGES[0])["context"].keys()
    return {name: min(of) for name, of in found.items() if len(of) == 1 and name not in keys}


@cache
def declared_keys() -> frozenset[str]:
    """Return the keys of all fields that the report has a row for."""
    groups = load_words(LANGUAGES[0])["context"].values()
    return frozenset(key for group in groups if isinstance(group, list) for key, _ in group)


def unknown_fields(declared: Mapping[str, Any]) -> list[str]:
    """Return the names of declared fields that the report has no row of its own for.

    Examples
    --------
    >>> from evalkit.report.declared import unknown_fields
    >>> unknown_fields({"Harm to groups": "none", "colour of the sky": "blue"})
    ['colour of the sky']
    """
    known = declared_keys() | set(_GROUPS)
    return [name for name in declared if field_key(name) not in known]
