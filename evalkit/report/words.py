"""The words of a report in one language, read from the YAML files beside its templates."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.report.typography import typeset_all
from evalkit.resources import check_language, folder
from evalkit.yaml_file import parse_yaml

if TYPE_CHECKING:
    from pathlib import Path

Words = dict[str, Any]


def load_words(language: str, templates: Path | None = None) -> Words:
    """Return the words of `language`, one entry to a file, keyed by the file's stem.

    Parameters
    ----------
    language : str
        One of the report's languages.
    templates : Path, optional
        A user's folder, laid out as ours; an entry found there takes the place of ours.

    Returns
    -------
    dict
        ``{"labels": {...}, "outline": [...], ...}``.

    Raises
    ------
    evalkit.InputError
        If the language is unknown or a user's file is not YAML of the same form.

    Examples
    --------
    >>> load_words("en")["labels"]["originals"]
    'originals'
    """
    check_language(language)
    words = dict(_own_words(language))
    if templates is not None:
        for path in sorted((templates / "technical_assessment" / language).glob("*.yaml")):
            theirs = typeset_all(_read(path), language)
            words[path.stem] = _merged(words.get(path.stem), theirs, path.name)
    return words


@lru_cache(maxsize=4)
def _own_words(language: str) -> Words:
    place = folder("report_templates") / "technical_assessment" / language
    read = {path.stem: _read(path) for path in sorted(place.glob("*.yaml"))}
    return dict(typeset_all(read, language))


def _read(path: Path) -> Any:
    return parse_yaml(path, "file of words")[1]


def _merged(ours: Any, theirs: Any, name: str) -> Any:
    """Return `ours` with the entries of `theirs` in their place; the form must be the same."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        unknown = sorted(map(str, theirs.keys() - ours.keys()))
        if unknown:
            message = f"{name}: unknown entry {unknown[0]!r}; compare it with the file it replaces."
            raise InputError(message)
        return ours | {key: _merged(ours[key], value, name) for key, value in theirs.items()}
    if type(ours) is not type(theirs):
        message = f"{name}: an entry has another form than ours; compare it with our file."
        raise InputError(message)
    return theirs
