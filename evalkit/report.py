"""The report: an assessment as HTML, as PDF, and as a summary in a notebook. It computes nothing.

Everything here works from the archived JSON alone. No table is at hand, so none can be printed.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.layout import render_html, render_notebook, render_typst
from evalkit.pages import Pages
from evalkit.resources import check_language
from evalkit.subject import Subject
from evalkit.web_style import colours, fonts
from evalkit.words import load_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalkit.records import Assessment

FILE_NAMES: Final = {
    "html": "technical_assessment.html",
    "pdf": "technical_assessment.pdf",
    "json": "assessment.json",
}


class Report:
    """The Technical Assessment of one assessment, in one language.

    Parameters
    ----------
    assessment : Assessment
        From `evalkit.assess` or `evalkit.Assessment.read`.
    language : str
        Language of the report.
    templates : path, optional
        A folder laid out as ours; its templates, words, pages and fonts come before ours. They
        can neither read files elsewhere nor reach into Python.

    Raises
    ------
    evalkit.InputError
        If the language does not exist, the folder is missing, or something in it cannot be used.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
    >>> evalkit.Report(assessment).html().startswith("<!doctype html>")
    True
    """

    def __init__(
        self, assessment: Assessment, language: str = "en", templates: str | Path | None = None
    ) -> None:
        self.assessment = assessment
        self.language = check_language(language)
        self.templates = Path(templates) if templates is not None else None
        if self.templates is not None and not self.templates.is_dir():
            raise InputError(f"templates: {self.templates.name!r} is no folder.")

    def html(self) -> str:
        """Return the report as one HTML file: no script, no outside address.

        Returns
        -------
        str
            The same text for the same assessment.
        """
        view = self._view | {"colours": colours(), "fonts": fonts()}
        return render_html(view, self.templates)

    def pdf(self) -> bytes:
        """Return the report as PDF/A-3a and PDF/UA-1 with the assessment attached.

        Returns
        -------
        bytes
            The same bytes for the same assessment.
        """
        from evalkit.pdf import compile_pdf, font_folders, printable_characters

        folders = font_folders(self.templates)
        source = render_typst(self._view, printable_characters(folders), self.templates)
        return compile_pdf(source, self._subject.content, folders)

    def save(
        self, folder: str | Path, formats: Iterable[str] = ("html", "pdf", "json")
    ) -> tuple[Path, ...]:
        """Write the report into `folder`, each file in one step, and return the paths.

        Parameters
        ----------
        folder : path
            Made if it is missing.
        formats : iterable of str
            Of ``html``, ``pdf``, ``json``.

        Returns
        -------
        tuple of pathlib.Path
            In the order of `formats`.

        Raises
        ------
        evalkit.InputError
            If a format is unknown, and nothing is written then; or if the folder cannot be used.
        """
        wanted = list(dict.fromkeys([formats] if isinstance(formats, str) else formats))
        unknown = [one for one in wanted if one not in FILE_NAMES]
        if unknown:
            choices = ", ".join(FILE_NAMES)
            raise InputError(f"formats: {unknown[0]!r} is unknown; use some of: {choices}.")
        contents = [self._content(one) for one in wanted]
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
            return tuple(
                _written(place / FILE_NAMES[one], content)
                for one, content in zip(wanted, contents, strict=True)
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(f"{place.name}: the report cannot be written ({reason}).") from None

    def _content(self, form: str) -> bytes:
        if form == "html":
            return self.html().encode("utf-8")
        return self.pdf() if form == "pdf" else self._subject.content

    @cached_property
    def _subject(self) -> Subject:
        return Subject(
            assessment=self.assessment,
            content=self.assessment.json(),
            words=load_words(self.language, self.templates),
            pages=Pages(self.language, self.templates),
        )

    @cached_property
    def _view(self) -> dict[str, Any]:
        from evalkit.view import build_view

        return build_view(self._subject)

    def _repr_html_(self) -> str:
        """Return the verdict table and a few words, for a notebook and its exported form."""
        return render_notebook(self._view)

    def __repr__(self) -> str:
        """Return the verdicts as a few lines of text."""
        rows = self._view["verdict"]["rows"]
        lines = [f"  {row['criterion']}: {row['score']}. {row['words']}" for row in rows]
        return "\n".join([f"Report: {self._view['first']['title']}", *lines])


def _written(target: Path, content: bytes) -> Path:
    """Write under a temporary name, then move: no half file is ever seen."""
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(content)
    return part.replace(target)
