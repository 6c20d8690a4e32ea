"""The figures of a result as matplotlib figures, from its plain numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from evalkit.errors import InputError
from evalkit.report.languages import written_in
from evalkit.report.words import load_words
from evalkit.resources import LANGUAGES

if TYPE_CHECKING:
    from evalkit.figures import Drawing
    from evalkit.figures.house import HouseFigure
    from evalkit.records import Result


def drawings_of(result: Result) -> tuple[Drawing, ...]:
    """Return the drawings of the report's wide form for a result.

    Parameters
    ----------
    result : Result

    Returns
    -------
    tuple of Drawing
        Empty for a result that was not measured.

    Raises
    ------
    evalkit.InputError
        If the result belongs to no assessment, or does not hold what its figures need.
    """
    from evalkit import metrics

    if not result.slug:
        raise InputError("plot: this result belongs to no assessment, so its metric is unknown.")
    if result.status != "measured":
        return ()
    metric = metrics.get(result.slug)
    language = shown_language(result)
    words: dict[str, Any] = load_words(language).get("figures", {})
    try:
        with written_in(language):
            return metric.draw(msgspec.to_builtins(result), words, False)  # noqa: FBT003 - narrow
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        message = (
            f"plot: result {result.slug} does not hold what its figures need; its file was changed "
            "or is of another version."
        )
        raise InputError(message) from error


def all_plots(result: Result) -> dict[str, HouseFigure]:
    """Return every figure of a result by name, the house fonts registered."""
    from evalkit.figures.house import register_fonts

    register_fonts()
    return {one.name: one.figure for one in drawings_of(result)}


def one_plot(result: Result, name: str | None) -> HouseFigure:
    """Return one figure of a result, the first where no name is given."""
    found = all_plots(result)
    if not found:
        reason = f": {result.reason.text}" if result.reason else ""
        raise InputError(f"plot: there is no figure of {result.slug}{reason or '.'}")
    if name is None:
        return next(iter(found.values()))
    if name not in found:
        raise InputError(f"plot: there is no figure {name!r}; use one of: {', '.join(found)}.")
    return found[name]


def shown_language(result: Result) -> str:
    """Return the language of a result; English where its file names one that does not exist."""
    return result.language if result.language in LANGUAGES else "en"
