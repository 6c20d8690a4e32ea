"""The report: an assessment as HTML, as PDF, and as a summary in a notebook. It computes nothing.

Everything here works from the archived JSON alone. No table is at hand, so none can be printed.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from evalkit.errors import InputError
from evalkit.report.bounded_templates import reason_of
from evalkit.report.languages import written_in
from evalkit.report.layout import render_html, render_notebook, render_typst
from evalkit.report.pages import Pages
from evalkit.report.sealing import sealed
from evalkit.report.subject import Subject, with_scenario_names
from evalkit.report.web_style import colours, fonts
from evalkit.report.words import load_words
from evalkit.resources import check_language
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        self.templates = _folder(templates)

    def html(self) -> str:
        """Return the report as one HTML file: no script, no outside address.

        Returns
        -------
        str
            The same text for the same assessment.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> "<script" in evalkit.Report(assessment).html()
        False
        """
        with self._explained():
            view = self._view | {"colours": colours(), "fonts": fonts()}
            return sealed(render_html(view, self.templates))

    def pdf(self) -> bytes:
        """Return the report as PDF/A-3a and PDF/UA-1 with the assessment attached.

        Returns
        -------
        bytes
            The same bytes for the same assessment.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> evalkit.Report(assessment).pdf().startswith(b"%PDF-")
        True
        """
        from evalkit.report.pdf import compile_pdf, font_folders, printable_characters

        folders = font_folders(self.templates)
        with self._explained():
            source = render_typst(self._view, printable_characters(folders), self.templates)
        return compile_pdf(source, self._subject.content, folders)

    def save(
        self, folder: str | Path, formats: Iterable[str] = ("html", "pdf", "json")
    ) -> tuple[Path, ...]:
        """Write the report into `folder`, all files in one step, and return the paths.

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

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in evalkit.Report(assessment).save(folder, ["html", "json"])]
        ['technical_assessment.html', 'assessment.json']
        """
        wanted = list(dict.fromkeys([formats] if isinstance(formats, str) else formats))
        unknown = [one for one in wanted if one not in FILE_NAMES]
        if unknown:
            choices = ", ".join(FILE_NAMES)
            raise InputError(f"formats: {unknown[0]!r} is unknown; use some of: {choices}.")
        contents = {FILE_NAMES[one]: self._content(one) for one in wanted}
        place = Path(folder)
        try:
            return write_whole(place, contents)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no path may hold a NUL character"
            message = f"{place.name}: the report cannot be written ({reason})."
            raise InputError(message) from None

    def _content(self, form: str) -> bytes:
        if form == "html":
            return self.html().encode("utf-8")
        return self.pdf() if form == "pdf" else self._subject.content

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Write in the report's language; tell what does not fit from an error of ours."""
        try:
            with written_in(self.language):
                yield
        except InputError:
            raise
        except Exception as error:
            message = self._misfit(error)
            if message is None:
                raise
            raise InputError(message) from error

    def _misfit(self, error: Exception) -> str | None:
        """Return what does not fit: a result of the file, the user's words, or neither."""
        culprit = self._unfit_result() if self.assessment.source else None
        if culprit is not None:
            what = f"result {culprit}" if culprit else "it"
            return (
                f"{self.assessment.source}: {what} does not hold what its page needs; the file "
                "was changed or is of another version."
            )
        if self.templates is not None:
            return f"templates: {self.templates.name!r} cannot be used: {reason_of(error)}"
        return None

    def _unfit_result(self) -> str | None:
        """Return the slug of a result that makes no report by itself; "" for another part."""
        for one in self.assessment.scenarios():
            for slug, result in one.results.items():
                alone = replace(
                    self.assessment,
                    scenario=one.scenario,
                    results={slug: result},
                    more_scenarios=[],
                )
                if not _makes_a_report(alone, self.language):
                    return slug
        return None if _makes_a_report(replace(self.assessment), self.language) else ""

    @cached_property
    def _subject(self) -> Subject:
        words = load_words(self.language, self.templates)
        return Subject(
            assessment=with_scenario_names(self.assessment, words),
            content=self.assessment.json(),
            words=words,
            pages=Pages(self.language, self.templates),
        )

    @cached_property
    def _view(self) -> dict[str, Any]:
        from evalkit.report.view import build_view

        return build_view(self._subject)

    def _repr_html_(self) -> str:
        """Return the verdict table and a few words, for a notebook and its exported form."""
        with self._explained():
            return render_notebook(self._view)

    def __repr__(self) -> str:
        """Return the verdicts as a few lines of text."""
        with self._explained():
            rows = self._view["verdict"]["rows"]
        lines = [f"  {row['criterion']}: {row['score']}. {row['words']}" for row in rows]
        return "\n".join([f"Report: {self._view['first']['title']}", *lines])


def _folder(templates: str | Path | None) -> Path | None:
    """Return a user's folder of templates, if one is given; it must be there."""
    if templates is None:
        return None
    try:
        path = Path(templates)
        if path.is_dir():
            return path
    except (OSError, TypeError, ValueError):
        raise InputError("templates: give the path of a folder.") from None
    raise InputError(f"templates: {path.name!r} is no folder.")


def _makes_a_report(assessment: Assessment, language: str) -> bool:
    """Return whether an assessment fits our own pages; bad input of another kind counts as fit."""
    try:
        # A copy of the record has no source: what fails in it comes out as it is.
        Report(assessment, language).html()
    except InputError:
        return True
    except Exception:  # noqa: BLE001 - whatever fails is what is asked for
        return False
    return True
