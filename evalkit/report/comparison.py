"""The comparison of several assessments as HTML and PDF, in the dress of the report."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.report.languages import written_in
from evalkit.report.layout import render_html, render_notebook, render_typst
from evalkit.report.pages import Pages
from evalkit.report.web_style import colours, fonts
from evalkit.report.words import load_words
from evalkit.resources import check_language
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    from evalkit.comparing import Comparison

FILES: Final = ("comparison.html", "comparison.pdf", "comparison.json")


class ComparisonReport:
    """The document of a comparison, in one language.

    Parameters
    ----------
    comparison : Comparison
        From `evalkit.compare`.
    language : str
        Language of the document.
    templates : path, optional
        A folder laid out as ours, as for `evalkit.Report`.

    Raises
    ------
    evalkit.InputError
        If the language does not exist or the folder is missing.
    """

    def __init__(
        self, comparison: Comparison, language: str = "en", templates: str | Path | None = None
    ) -> None:
        self.comparison = comparison
        self.language = check_language(language)
        self.templates = Path(templates) if templates is not None else None
        if self.templates is not None and not self.templates.is_dir():
            raise InputError(f"templates: {self.templates.name!r} is no folder.")

    def html(self) -> str:
        """Return the comparison as one HTML file: no script, no outside address."""
        with written_in(self.language):
            view = self._view | {"colours": colours(), "fonts": fonts()}
            return render_html(view, self.templates, "comparison.html.j2")

    def pdf(self) -> bytes:
        """Return the comparison as PDF/A-3a and PDF/UA-1, what was compared attached."""
        from evalkit.report.pdf import compile_pdf, font_folders, printable_characters

        folders = font_folders(self.templates)
        covered = printable_characters(folders)
        with written_in(self.language):
            source = render_typst(self._view, covered, self.templates, "comparison.typ.j2")
        return compile_pdf(source, self.comparison.json(), folders, FILES[2])

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write HTML, PDF and JSON into `folder` in one step and return the paths.

        Raises
        ------
        evalkit.InputError
            If the folder cannot be written; what was there stays.
        """
        contents: dict[str, bytes | Path] = {
            FILES[0]: self.html().encode("utf-8"),
            FILES[1]: self.pdf(),
            FILES[2]: self.comparison.json(),
        }
        try:
            return write_whole(Path(folder), contents)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no path may hold a NUL character"
            message = f"{Path(folder).name}: the comparison cannot be written ({reason})."
            raise InputError(message) from None

    @cached_property
    def _view(self) -> dict[str, Any]:
        from evalkit.report.view_comparison import comparison_view

        words = load_words(self.language, self.templates)
        pages = Pages(self.language, self.templates)
        digest = hashlib.sha256(self.comparison.json()).hexdigest()
        return comparison_view(self.comparison, words, pages, digest)

    def _repr_html_(self) -> str:
        """Return the table of changes for a notebook and its exported form."""
        with written_in(self.language):
            return render_notebook(self._view, "comparison_notebook.html.j2")
