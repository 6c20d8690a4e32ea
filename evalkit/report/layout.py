"""The two template families: the same view as HTML and as Typst, every value written as text.

Templates hold no arithmetic and no comparison, and their only filters are those of `formats`.
They may come from a user: the engine is sandboxed, `finalize` writes each value in the output's
own language whatever a template does, and nothing outside the template folders can be read.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from jinja2 import BaseLoader, TemplateNotFound, TemplateSyntaxError
from jinja2.loaders import split_template_path
from markupsafe import Markup

from evalkit.errors import InputError
from evalkit.prose import html_text, to_html, to_typst, typst_text
from evalkit.report.blocks import Picture, Prose
from evalkit.report.bounded_templates import BoundedEnvironment, line_in, reason_of
from evalkit.resources import folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from jinja2 import Environment

FAMILY: Final = "technical_assessment"
_PARAGRAPH: Final = re.compile(r"\A<p>(.*)</p>\s*\Z", re.DOTALL)
_REACHES_OUT: Final = re.compile(r"\b(?:import|include|eval|plugin)\b")


class TemplateFolders(BaseLoader):
    """Finds a template in a user's folder first, then in ours; never outside of either.

    Parameters
    ----------
    templates : Path or None
        A user's folder, laid out as ``report_templates``.
    """

    def __init__(self, templates: Path | None) -> None:
        self.ours = folder("report_templates") / FAMILY
        self.theirs = templates / FAMILY if templates else None
        self.used: set[str] = set()
        """Names of the user's templates that were taken."""

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return the source of a template."""
        parts = split_template_path(template)
        if self.theirs:
            path = self.theirs.joinpath(*parts)
            if path.is_file():
                self.used.add(template)
                return self._checked(path, environment), template, lambda: True
        path = self.ours.joinpath(*parts)
        if not path.is_file():
            raise TemplateNotFound(template)
        return path.read_text(encoding="utf-8"), template, lambda: True

    def _checked(self, path: Path, environment: Environment) -> str:
        """Return a user's template; one that could reach out of the report is refused."""
        assert self.theirs is not None
        if not path.resolve().is_relative_to(self.theirs.resolve()):
            raise InputError(f"{path.name}: a template must lie in the folder of templates.")
        try:
            source = path.read_text(encoding="utf-8")
            written = [token for _, kind, token in environment.lex(source) if kind == "data"]
        except TemplateSyntaxError as error:
            raise InputError(f"{path.name}, line {error.lineno}: {reason_of(error)}") from error
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            raise InputError(f"{path.name}: cannot be read ({reason}).") from None
        if path.name.endswith(".typ.j2"):
            found = _REACHES_OUT.search("".join(written))
            if found:
                raise InputError(f"{path.name}: {found[0]!r} may not stand in a Typst template.")
        if path.suffix == ".css" and "<" in source:
            raise InputError(f"{path.name}: '<' may not stand in a style sheet.")
        return source


def render_html(
    view: Mapping[str, Any], templates: Path | None = None, name: str = "document.html.j2"
) -> str:
    """Return the report as one HTML file without script or outside address."""
    return _rendered(name, view, _html_value, templates)


def render_notebook(view: Mapping[str, Any], name: str = "notebook.html.j2") -> str:
    """Return the compact summary for a notebook."""
    return _rendered(name, view, _html_value, None)


def render_typst(
    view: Mapping[str, Any],
    covered: frozenset[int],
    templates: Path | None = None,
    name: str = "document.typ.j2",
) -> str:
    """Return the report as Typst source.

    Parameters
    ----------
    view : mapping
        See `evalkit.report.view`.
    covered : frozenset of int
        Characters that some font has; others are written as their code points.
    templates : Path, optional
        A user's folder.
    name : str
        The template of the whole document.
    """
    return _rendered(name, view, partial(_typst_value, covered), templates)


def _rendered(
    name: str,
    view: Mapping[str, Any],
    finalize: Callable[[Any], Markup],
    templates: Path | None,
) -> str:
    loader = TemplateFolders(templates)
    environment = BoundedEnvironment(
        finalize,
        loader=loader,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    try:
        return environment.get_template(name).render(**view)
    except Exception as error:
        place = line_in(error, loader.used)
        if place is None or isinstance(error, InputError):
            raise  # In a template of ours it is the values that are not those of a run.
        message = f"{place[0]}, line {place[1]}: the template cannot be filled: {reason_of(error)}"
        raise InputError(message) from error


def _html_value(value: Any) -> Markup:
    """Write a value as HTML: text is escaped, prose and pictures are set."""
    if isinstance(value, Markup):  # What a macro wrote.
        return value
    if isinstance(value, Prose):
        html = to_html(value.markdown, value.values)
        paragraph = _PARAGRAPH.match(html) if value.inline else None
        return Markup(paragraph[1] if paragraph else html)  # noqa: S704 - written by to_html
    if isinstance(value, Picture):
        return Markup(value.html)  # noqa: S704 - every text in it was escaped when drawn
    return Markup(html_text(value))  # noqa: S704 - escaped by this call


def _typst_value(covered: frozenset[int], value: Any) -> Markup:
    """Write a value as a Typst expression: a string literal, a content block, or an image."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, Prose):
        markup = to_typst(value.markdown, value.values, covered)
        return Markup(f"[{markup.strip()}]")  # noqa: S704 - values in it are string literals
    if isinstance(value, Picture):
        drawing = typst_text(value.typst, covered)
        alt = typst_text(value.alt, covered)
        image = f'image(bytes({drawing}), format: "svg", alt: {alt}, width: {value.width_pt:.2f}pt)'
        return Markup(image)  # noqa: S704 - both texts are string literals
    return Markup(typst_text(value, covered))  # noqa: S704 - a string literal
