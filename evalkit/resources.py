"""Where the notebooks and the report templates lie, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from evalkit.errors import InputError

LANGUAGES = ("en", "fr")
"""Languages that every page and every template exists in; the contract test reads this."""


def folder(name: str) -> Path:
    """Return the folder `name` (``notebooks`` or ``report_templates``).

    The wheel holds both inside the package; a checkout has them beside it.

    Parameters
    ----------
    name : str
        Name of the folder.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    FileNotFoundError
        If the installation is not complete.

    Examples
    --------
    >>> from evalkit.resources import folder
    >>> folder("report_templates").is_dir()
    True
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    message = f"The folder {name!r} is missing from this installation of evalkit; install it again."
    raise FileNotFoundError(message)


def check_language(language: str) -> str:
    """Return `language` if the report exists in it.

    Parameters
    ----------
    language : str
        Code such as ``"en"``.

    Returns
    -------
    str

    Raises
    ------
    evalkit.InputError
        If the report does not exist in it.

    Examples
    --------
    >>> from evalkit.resources import check_language
    >>> check_language("en")
    'en'
    """
    if language not in LANGUAGES:
        message = f"language: {language!r} is unknown; use one of: {', '.join(LANGUAGES)}."
        raise InputError(message)
    return language


def metric_page(slug: str, language: str) -> str:
    """Return the Markdown source of one metric's page.

    Parameters
    ----------
    slug : str
        The metric.
    language : str
        Code of the language.

    Returns
    -------
    str

    Raises
    ------
    evalkit.InputError
        If the language is not available.

    Examples
    --------
    >>> from evalkit.resources import metric_page
    >>> "Question" in metric_page("correlation_difference_ratio", "en")
    True
    """
    check_language(language)
    path = folder("report_templates") / "metrics" / slug / f"{language}.md"
    return path.read_text(encoding="utf-8")
