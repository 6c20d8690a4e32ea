"""The three languages a page is written in: HTML, Typst and plain text.

A writer is given the text of a page, values already in it, and the elements from the inside out.
Every text becomes a literal of the language; only the writer's own words are markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from evalkit.prose.formula import equations, formula_mathml, formula_typst
from evalkit.prose.text import clean_text, html_text, typst_text

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

    from evalkit.prose.formula import Formula

# Elements a page may hold, and their tags in HTML; a heading keeps its own.
ELEMENTS: Final = {
    "paragraph": "p",
    "heading": "",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "strong": "strong",
    "em": "em",
    "sub": "sub",
    "softbreak": "",
    "hardbreak": "br",
}
_WITHIN_A_LINE: Final = frozenset({"strong", "em", "sub", "th", "td"})


class Writer(Protocol):
    """How one output language writes text, code, formulas and the elements of a page."""

    def text(self, content: str) -> str:
        """Return running text as text of the language."""

    def code(self, content: str) -> str:
        """Return inline code as text of the language, set as code."""

    def formula(self, formula: Formula) -> str:
        """Return the equations of a formula as a block."""

    def element(self, node: SyntaxTreeNode, inner: str) -> str:
        """Return an element of `ELEMENTS` round what it holds."""


class HtmlWriter:
    """Writes a page as HTML."""

    def text(self, content: str) -> str:
        """Return escaped text."""
        return html_text(content)

    def code(self, content: str) -> str:
        """Return escaped text in a ``code`` element."""
        return f"<code>{html_text(content)}</code>"

    def formula(self, formula: Formula) -> str:
        """Return MathML in blocks."""
        return formula_mathml(formula.source, formula.language) + "\n"

    def element(self, node: SyntaxTreeNode, inner: str) -> str:
        """Return the element with its tag; the paragraphs of a tight list have none."""
        if node.type == "softbreak":
            return "\n"
        if node.type == "hardbreak":
            return "<br>\n"
        if node.type == "paragraph" and node.hidden:
            return inner
        tag = ELEMENTS[node.type] or node.tag
        end = "" if node.type in _WITHIN_A_LINE else "\n"
        return f"<{tag}{self._attributes(node)}>{inner}</{tag}>{end}"

    def _attributes(self, node: SyntaxTreeNode) -> str:
        # The parser writes "text-align:right" and the like here, never a page's own words.
        style = f' style="{node.attrs["style"]}"' if "style" in node.attrs else ""
        start = f' start="{node.attrs["start"]}"' if "start" in node.attrs else ""
        return (' scope="col"' if node.type == "th" else "") + style + start


class TypstWriter:
    """Writes a page as Typst markup, of which every piece begins with ``#``.

    Parameters
    ----------
    covered : frozenset of int or None
        Code points that have a glyph; None: all.

    """

    def __init__(self, covered: frozenset[int] | None) -> None:
        self._covered = covered

    def text(self, content: str) -> str:
        """Return a string literal as content."""
        return f"#{typst_text(content, self._covered)}"

    def code(self, content: str) -> str:
        """Return a string literal as raw content."""
        return f"#raw({typst_text(content, self._covered)})"

    def formula(self, formula: Formula) -> str:
        """Return the equations in a grid."""
        return formula_typst(formula.source, formula.language) + "\n"

    def element(self, node: SyntaxTreeNode, inner: str) -> str:
        """Return the element as a call of its Typst function."""
        if node.type == "paragraph" and node.hidden:
            return inner
        opening, closing = self._frame(node)
        return f"{opening}{inner}{closing}"

    def _frame(self, node: SyntaxTreeNode) -> tuple[str, str]:
        match node.type:
            case "heading":
                # Sections are level 2 in HTML, where the title is level 1, and level 1 in Typst.
                return f"#heading(level: {int(node.tag[1]) - 1})[", "]\n\n"
            case "bullet_list":
                return f"#list(tight: {_is_tight(node)}, ", ")\n\n"
            case "ordered_list":
                start = node.attrs.get("start", 1)
                return f"#enum(start: {start}, tight: {_is_tight(node)}, ", ")\n\n"
            case "th" | "td":
                side = str(node.attrs.get("style", "text-align:left")).partition(":")[2]
                return f"table.cell(align: {side})[", "], "
            case "table":
                columns = len(node.children[0].children[0].children)
                return f"#table(columns: {columns}, column-gutter: 3mm, ", ")\n\n"
            case _:
                return _TYPST_FRAMES[node.type]


_TYPST_FRAMES: Final = {
    "paragraph": ("", "\n\n"),
    "list_item": ("[", "], "),
    "strong": ("#strong[", "]"),
    "em": ("#emph[", "]"),
    "sub": ("#sub[", "]"),
    "softbreak": ('#" "', ""),
    "hardbreak": ("#linebreak()", ""),
    "thead": ("table.header(", "), "),
    "tbody": ("", ""),
    "tr": ("", ""),
}


def _is_tight(markdown_list: SyntaxTreeNode) -> str:
    parts = [part for item in markdown_list.children for part in item.children]
    return str(all(part.hidden for part in parts if part.type == "paragraph")).lower()


class PlainWriter:
    """Writes a page as plain text, one line to a block."""

    def text(self, content: str) -> str:
        """Return the text, cleaned."""
        return clean_text(content)

    def code(self, content: str) -> str:
        """Return the text, cleaned."""
        return clean_text(content)

    def formula(self, formula: Formula) -> str:
        """Return the alternative texts, one line each."""
        found = equations(formula.source, formula.language)
        return "".join(f"{equation.alt}\n" for equation in found)

    def element(self, node: SyntaxTreeNode, inner: str) -> str:
        """Return what the element holds, and a line end after a block."""
        if node.type == "softbreak":
            return " "
        if node.type in {"th", "td"}:
            return f"{inner} "
        return inner if node.type in _WITHIN_A_LINE else f"{inner}\n"
