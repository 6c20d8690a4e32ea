"""The exporter that nbconvert calls, and the filters of its template."""

from __future__ import annotations

import base64
import binascii
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape
from nbconvert.exporters import TemplateExporter
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from traitlets import Bool, default

from evalkit.exporting.cleaning import cleaned
from evalkit.prose import clean_text, formula_mathml
from evalkit.report.blocks import fill
from evalkit.report.page_text import latex
from evalkit.report.web_style import colours, fonts
from evalkit.report.words import load_words
from evalkit.resources import LANGUAGES, folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import Environment
    from nbformat import NotebookNode

KINDS: Final = (
    "application/vnd.jupyter.widget-view+json",
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/plain",
)
"""Forms of an output that the annex can show, the best first; a widget is only named."""
PARAMETER_TAGS: Final = frozenset(("parameters", "injected-parameters"))
_LANGUAGE: Final = re.compile(r"""^language(?:: str)? = ["'](\w+)["']""", re.MULTILINE)
_FORMULA: Final = re.compile(r"\$\$\s*(.+?)\s*\$\$", re.DOTALL)
_PLACE: Final = re.compile(r"(?:<p>)?EVALKITFORMULA(\d+)END(?:</p>)?")
_TITLE: Final = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


class TechnicalAssessmentExporter(TemplateExporter):
    """One HTML file of an executed notebook in the dress of the report.

    No script, no address to outside, no code unless it is asked for with
    ``--TechnicalAssessmentExporter.show_code=True``.

    Examples
    --------
    >>> import nbformat
    >>> from evalkit.exporting import TechnicalAssessmentExporter
    >>> cell = nbformat.v4.new_markdown_cell("# Hello")
    >>> book = nbformat.v4.new_notebook(cells=[cell])
    >>> html, _ = TechnicalAssessmentExporter().from_notebook_node(book)
    >>> "<h1>Hello</h1>" in html
    True
    """

    export_from_notebook = "Technical Assessment annex"
    output_mimetype = "text/html"
    show_code = Bool(default_value=False, help="Whether the code of the cells is shown.").tag(
        config=True
    )

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    @default("template_name")
    def _template_name_default(self) -> str:
        return "annex"

    @default("extra_template_basedirs")
    def _default_extra_template_basedirs(self) -> list[str]:
        # nbconvert would look into the folder that it is run in first.
        return [str(folder("report_templates"))]

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the annex of a notebook.

        Parameters
        ----------
        nb : nbformat.NotebookNode
            The executed notebook; it stays as it is.
        resources : dict, optional
            What nbconvert hands on, such as the name of the file.
        **options
            Those of `nbconvert.exporters.TemplateExporter.from_notebook_node`.

        Returns
        -------
        html : str
        resources : dict
        """
        self.exclude_input = not self.show_code
        given = dict(resources or {})
        name = str((given.get("metadata") or {}).get("name") or "")
        self._language = _language(nb)
        self._words: dict[str, str] = load_words(self._language)["annex"]
        titles = [
            found[1]
            for cell in nb.cells
            if cell.cell_type == "markdown" and (found := _TITLE.search(cell.source))
        ]
        given["annex"] = {
            "language": self._language,
            "words": self._words,
            "name": name,
            "title": titles[0] if titles else name or self._words["kicker"],
            "has_title": bool(titles),
            "style": Markup(_style()),  # noqa: S704 - our own rules
        }
        return super().from_notebook_node(nb, given, **options)

    def default_filters(self) -> Iterable[tuple[str, Any]]:
        """Return the filters of the template; those of nbconvert write without escaping."""
        yield "filter_data_type", _kind
        yield "annex_html", self._html
        yield "annex_markdown", self._markdown
        yield "annex_picture", self._picture
        yield "annex_plain", _plain
        yield "annex_error", self._error

    def _create_environment(self) -> Environment:
        environment: Environment = super()._create_environment()  # type: ignore[no-untyped-call]
        environment.autoescape = True
        return environment

    def _html(self, html: str) -> Markup:
        """Return cleaned HTML, with a word where something needed a script."""
        found = cleaned(html)
        note = f'<p class="annex-note">{escape(self._words["script"])}</p>'
        return Markup(found.html + (note if found.had_script else ""))  # noqa: S704 - cleaned

    def _markdown(self, source: str) -> Markup:
        """Return Markdown as cleaned HTML, formulas of the metrics as MathML."""
        slugs = list(_formulas(self._language))
        if "$$" in source:
            for place, formula in enumerate(_formulas(self._language).values()):
                source = source.replace(formula, f"\n\nEVALKITFORMULA{place}END\n\n")
        # Another formula would need a script: its source stands for it.
        source = _FORMULA.sub(r"\n\n```\n\1\n```\n\n", source)
        renderer = IPythonRenderer(escape=False, exclude_anchor_links=True)
        html = cleaned(MarkdownWithMath(renderer=renderer).render(source)).html

        def placed(match: re.Match[str]) -> str:
            place = int(match[1])
            return _mathml(slugs[place], self._language) if place < len(slugs) else ""

        return Markup(_PLACE.sub(placed, html))  # noqa: S704 - cleaned; formulas are ours

    def _picture(self, output: NotebookNode, kind: str) -> Markup:
        """Return a picture with its description, as part of the file."""
        data, metadata = output.data[kind], output.get("metadata", {})
        about = metadata.get(kind) if isinstance(metadata.get(kind), dict) else {}
        alt = str(about.get("alt") or metadata.get("alt") or self._words["picture"])
        content = data.encode() if kind == "image/svg+xml" else _decoded(data)
        if content is None:
            return escape(self._words["other"])
        size = Markup(" ").join(
            Markup('{}="{}"').format(side, about[side])
            for side in ("width", "height")
            if isinstance(about.get(side), int)
        )
        source = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
        return Markup('<img src="{}" alt="{}" {}>').format(source, alt, size)

    def _error(self, output: NotebookNode) -> str:
        """Return that the notebook stopped; of other errors than ours the message may hold data."""
        kind = clean_text(str(output.get("ename", "")))
        if kind == "InputError":
            said = _plain(str(output.get("evalue", "")))
            return fill(self._words["error_said"], message=said)
        return fill(self._words["error"], kind=kind)


def _kind(data: Iterable[str]) -> list[str]:
    """Return the form of an output that is shown; a name without a form where there is none."""
    return next(([kind] for kind in KINDS if kind in data), ["none"])


def _plain(text: str) -> str:
    """Return a text, line by line, without colours of a terminal and what no file may hold."""
    bare: str = strip_ansi(text)  # type: ignore[no-untyped-call]
    return "\n".join(map(clean_text, bare.rstrip().split("\n")))


def _decoded(text: str) -> bytes | None:
    """Return the bytes of a picture in base 64, None if it is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _language(book: NotebookNode) -> str:
    """Return the language that a notebook was run with, English where it does not say."""
    asked = [
        found[1]
        for cell in book.cells
        if PARAMETER_TAGS & set(cell.metadata.get("tags", []))
        for found in _LANGUAGE.finditer(cell.source)
    ]
    return asked[-1] if asked and asked[-1] in LANGUAGES else "en"


@cache
def _style() -> str:
    """Return the rules of the report, its fonts, and those of a notebook's displays."""
    templates = folder("report_templates")
    faces = "".join(
        f'@font-face{{font-family:"{one["family"]}";font-weight:{one["weight"]};'
        f"font-style:{one['style']};"
        f'src:url(data:font/woff2;base64,{one["data"]}) format("woff2")}}'
        for one in fonts()
    )
    report, cards, own = (
        (templates / name).read_text(encoding="utf-8")
        for name in (
            "technical_assessment/style.css",
            "technical_assessment/notebook_style.html.j2",
            "annex/annex.css",
        )
    )
    cards = cards.replace("<style>", "").replace("</style>", "")
    return f"{faces}\n{colours()}\n{report}\n{cards}\n{own}"


@cache
def _formulas(language: str) -> dict[str, str]:
    """Return the formula of each metric in LaTeX, as notebooks show it."""
    from evalkit import metrics

    return {one.slug: latex(one.slug, language) for one in metrics.all()}


def _mathml(slug: str, language: str) -> str:
    source = folder("report_templates") / "metrics" / slug / "formula.typ"
    return formula_mathml(source.read_text(encoding="utf-8"), language)
