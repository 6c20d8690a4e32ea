"""The pages of the metrics: Markdown with values, read into the parts that a report needs.

A page is Jinja first: conditions by result, and values. Every value leaves the template engine
as a placeholder, so a column name can never become Markdown, HTML or Typst. Then the text is cut
at its fixed headings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from evalkit.errors import InputError
from evalkit.prose import Formula, ProseError, plain, to_html, to_typst
from evalkit.report.blocks import Prose
from evalkit.report.bounded_templates import BoundedEnvironment, line_in, reason_of
from evalkit.report.languages import written_in
from evalkit.report.typography import agreed, typeset
from evalkit.resources import folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_HEADING: Final = re.compile(r"^(#{1,3})[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_BULLET: Final = re.compile(r"^[-*][ \t]+", re.MULTILINE)
_SAID: Final = re.compile(r"^(//\s*alt\s+\w+:)(.+)$", re.MULTILINE)
_SLUG: Final = re.compile(r"[a-z0-9_]+")
PARTS: Final = (
    "What it measures",
    "Comparison strategy",
    "Formula",
    "Reading",
    "Limits",
    "Improvement",
)
"""Parts below the figures, in the order of the report."""
MARGIN_PARTS: Final = {"Reading": "Example", "Limits": "Advantages"}
"""What stands in the margin, beside which part."""
LIMIT_BESIDE: Final = "Improvement"
"""The part beside which the limit of the criterion stands."""
LISTED: Final = "Limits"
"""The part that is a list: beside the other list it stays on one page."""


@dataclass(frozen=True)
class Page:
    """One metric's page with the values of one result.

    Attributes
    ----------
    markdown : str
        The whole page, values as placeholders.
    values : tuple
        The values by index.
    formula : Formula or None
        Set after the first paragraph of the part "Formula".
    """

    markdown: str
    values: tuple[Any, ...]
    formula: Formula | None

    @cached_property
    def _cut(self) -> dict[str, str]:
        """Return the text below each heading; the title under the empty key."""
        marks = list(_HEADING.finditer(self.markdown))
        ends = [*(mark.start() for mark in marks[1:]), len(self.markdown)]
        cut = {
            mark[2]: self.markdown[mark.end() : end].strip()
            for mark, end in zip(marks, ends, strict=True)
        }
        titles = [mark[2] for mark in marks if mark[1] == "#"]
        return cut | {"": titles[0] if titles else ""}

    @property
    def headings(self) -> list[str]:
        """Return the headings in their order."""
        return [heading for heading in self._cut if heading]

    @property
    def title(self) -> str:
        """Return the finding in one line of plain text."""
        return plain(self._cut[""], self.values)

    def part(self, heading: str, *, inline: bool = False) -> Prose | None:
        """Return the text below a heading, or None where the page says nothing there."""
        markdown = self._cut.get(heading, "")
        if heading == "Formula" and self.formula is not None:
            return self._with_formula(markdown, self.formula)
        return Prose(markdown, self.values, inline) if markdown else None

    @property
    def facts(self) -> list[tuple[Prose, Prose]]:
        """Return labels and values for the margin."""
        return [
            (self._inline(label), self._inline(value))
            for label, colon, value in (one.partition(": ") for one in self._bullets("Facts"))
            if colon
        ]

    def captions(self, labels: Iterator[str]) -> list[Prose]:
        """Return the captions of the figures, each beginning with the next of `labels`."""
        captions = []
        for caption in self._bullets("Captions"):
            label = next(labels)
            bold = caption.startswith("**")
            captions.append(
                self._inline(f"**{label} {caption[2:]}" if bold else f"**{label}** {caption}")
            )
        return captions

    def _inline(self, markdown: str) -> Prose:
        return Prose(markdown.strip(), self.values, inline=True)

    def _bullets(self, heading: str) -> list[str]:
        """Return the points of a list; a point may run over several lines."""
        points = _BULLET.split("\n" + self._cut.get(heading, ""))[1:]
        # Only spaces that may break are joined: a number keeps its per cent sign.
        return [re.sub(r"[ \t\n]+", " ", point).strip() for point in points]

    def _with_formula(self, markdown: str, formula: Formula) -> Prose:
        first, _, rest = markdown.partition("\n\n")
        placeholder = f"\ue000{len(self.values)}\ue001"
        text = "\n\n".join(filter(None, [first, placeholder, rest]))
        return Prose(text, (*self.values, formula))


class Pages:
    """The pages of all metrics in one language.

    Parameters
    ----------
    language : str
        One of the report's languages.
    templates : Path, optional
        A user's folder; ``metrics/<slug>/`` in it comes before ours.
    """

    def __init__(self, language: str, templates: Path | None = None) -> None:
        self.language = language
        self.templates = templates

    def name(self, slug: str) -> str:
        """Return the plain name of a measure, from its page or made from the slug."""
        source = self._read(slug, f"{self.language}.md")
        cut = source.partition("## Name\n")[2].strip() if source else ""
        name = typeset(cut.splitlines()[0].strip(), self.language) if cut else ""
        return name or slug.replace("_", " ").capitalize()

    def has(self, slug: str) -> bool:
        """Return whether there is a page, for an assessment may come from another version."""
        return self._read(slug, f"{self.language}.md") is not None

    def render(self, slug: str, context: Mapping[str, Any]) -> Page:
        """Return the page of `slug` with the values of `context`.

        Raises
        ------
        evalkit.InputError
            If a user's page cannot be filled or set: naming the file and the line.
        """
        name = f"{self.language}.md"
        source = self._read(slug, name) or ""
        theirs = self._is_theirs(slug, name)
        try:
            page = self._filled(slug, source, context)
        except Exception as error:
            if not theirs or isinstance(error, InputError):
                raise  # In a page of ours it is the values that are not those of a run.
            place = line_in(error, ["<template>"])
            where = f"{slug}/{name}" + (f", line {place[1]}" if place else "")
            message = f"{where}: the page cannot be filled: {reason_of(error)}"
            raise InputError(message) from error
        if theirs or self._is_theirs(slug, "formula.typ"):
            self._check_parts(slug, source, page)
        return page

    def _filled(self, slug: str, source: str, context: Mapping[str, Any]) -> Page:
        values: list[Any] = []
        with written_in(self.language):
            markdown = _environment(values).from_string(source).render(**context)
        formula = _typeset_words(self._read(slug, "formula.typ") or "", self.language)
        markdown = agreed(typeset(markdown, self.language), self.language, values)
        return Page(markdown, tuple(values), Formula(formula, self.language) if formula else None)

    def _check_parts(self, slug: str, source: str, page: Page) -> None:
        """Refuse a user's page whose Markdown or formula cannot be set in both outputs."""
        for heading in page.headings:
            part = page.part(heading)
            try:
                if part is not None:
                    to_html(part.markdown, part.values)
                    to_typst(part.markdown, part.values, frozenset())
            except (ProseError, ValueError, RecursionError) as error:
                line = next(
                    (
                        source.count("\n", 0, mark.start()) + 1
                        for mark in _HEADING.finditer(source)
                        if mark[2] == heading
                    ),
                    1,
                )
                where = f"{slug}/{self.language}.md, part {heading!r} from line {line}"
                raise InputError(f"{where}: cannot be set: {reason_of(error)}") from error

    def _read(self, slug: str, name: str) -> str | None:
        path = self._path(slug, name)
        try:
            return path.read_text(encoding="utf-8") if path else None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise InputError(f"{slug}/{name}: cannot be read ({reason}).") from None

    def _path(self, slug: str, name: str) -> Path | None:
        """Return the file of a page, a user's before ours."""
        if not _SLUG.fullmatch(slug):  # A slug comes from a file and becomes part of a path.
            return None
        places = [self.templates] if self.templates else []
        for place in (*places, folder("report_templates")):
            path = place / "metrics" / slug / name
            if path.is_file() and path.resolve().is_relative_to(place.resolve()):
                return path
        return None

    def _is_theirs(self, slug: str, name: str) -> bool:
        path = self._path(slug, name)
        return (
            path is not None and self.templates is not None and path.is_relative_to(self.templates)
        )


def _typeset_words(source: str, language: str) -> str:
    """Return the text of a formula file, the words for those who cannot see it typeset."""
    return _SAID.sub(lambda found: found[1] + typeset(found[2], language), source)


def _environment(values: list[Any]) -> BoundedEnvironment:
    """Return an engine for one page whose every value becomes a placeholder in `values`."""

    def placeholder(value: Any) -> Markup:
        if isinstance(value, Markup):  # What a macro wrote holds placeholders already.
            return value
        values.append(str(value))  # Raises where the page names a value that is not there.
        return Markup("\ue000{}\ue001").format(len(values) - 1)

    return BoundedEnvironment(placeholder)
