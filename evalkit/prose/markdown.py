"""Pages in Markdown, and formulas in Typst, as HTML and as Typst. Alone knows either.

A page is rendered in two steps. First the template engine puts a *placeholder* wherever a value
belongs: U+E000, the value's index, U+E001. Then this module reads the Markdown, and each writer
puts the values in as text of its own language. So a value meets no Markdown, HTML or Typst parser:
data never become markup.

Pages may hold paragraphs, strong and emphasised text, inline code, lists, tables, headings of
levels 3 and 4, and subscripts (``*K*~A~``). A link is written as its text, then its address in
brackets. A `Formula` given as a value must stand alone in its paragraph. Anything else is an error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from evalkit.prose.formula import (
    Formula,
    ProseError,
    formula_mathml,
    formula_typst,
)
from evalkit.prose.text import (
    PLACEHOLDER_CLOSE,
    PLACEHOLDER_OPEN,
    clean_text,
    covered_characters,
    html_text,
    typst_string,
    typst_text,
)
from evalkit.prose.writers import ELEMENTS, HtmlWriter, PlainWriter, TypstWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.rules_inline import StateInline

    from evalkit.prose.writers import Writer

__all__ = [
    "Formula",
    "ProseError",
    "covered_characters",
    "formula_mathml",
    "formula_typst",
    "html_text",
    "plain",
    "to_html",
    "to_typst",
    "typst_string",
    "typst_text",
]

_PLACEHOLDER: Final = re.compile(f"{PLACEHOLDER_OPEN}([0-9]{{1,9}}){PLACEHOLDER_CLOSE}")
_HEADINGS: Final = ("h3", "h4")
_SUBSCRIPT_MARK: Final = "~"


def to_html(markdown: str, values: Sequence[object]) -> str:
    r"""Return a page as HTML without any outside address.

    Parameters
    ----------
    markdown : str
        CommonMark with tables and ``~subscripts~``; HTML in it is shown as text.
    values : sequence
        The values of the placeholders, by index; a `Formula`, or anything shown as its text.

    Returns
    -------
    str
        A run of blocks; the empty text for an empty page.

    Raises
    ------
    ProseError
        Something a page may not hold, a placeholder without a value, or a formula inside a text.

    Examples
    --------
    >>> to_html("Known: *K*~A~, **\ue0000\ue001**", ["<i>"])
    '<p>Known: <em>K</em><sub>A</sub>, <strong>&lt;i&gt;</strong></p>\n'

    """
    return _written(_tree(markdown), values, HtmlWriter())


def to_typst(markdown: str, values: Sequence[object], covered: frozenset[int] | None = None) -> str:
    r"""Return a page as Typst markup.

    Parameters
    ----------
    markdown, values
        As in `to_html`.
    covered : frozenset of int or None
        Code points that have a glyph, see `covered_characters`; others are written as their code
        point. None: all are taken to have one.

    Returns
    -------
    str
        A run of blocks. Headings of level 3 and 4 become level 2 and 3: in Typst the sections are
        level 1.

    Raises
    ------
    ProseError
        As `to_html`.

    Examples
    --------
    >>> to_typst("Known: **\ue0000\ue001**", ["#x"])
    '#"Known: "#strong[#"#x"]\n\n'

    """
    return _written(_tree(markdown), values, TypstWriter(covered))


def plain(markdown: str, values: Sequence[object]) -> str:
    r"""Return a page as plain text: one line to a paragraph, formulas in words.

    Parameters
    ----------
    markdown, values
        As in `to_html`.

    Returns
    -------
    str
        Lines without a line end after the last; the empty text for an empty page.

    Raises
    ------
    ProseError
        As `to_html`.

    Examples
    --------
    >>> plain("Of *n* rows,\n\ue0000\ue001 are linked.", [12])
    'Of n rows, 12 are linked.'

    """
    lines = _written(_tree(markdown), values, PlainWriter()).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


class _PageParser(MarkdownIt):
    """Leaves addresses as they are: they are printed, never followed, and may hold a value."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the parser's own name
        return url

    def validateLink(self, url: str) -> bool:  # noqa: N802, ARG002 - the parser's own names
        return True


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = _PageParser("commonmark", {"html": False}).enable("table").disable("autolink")
    parser.inline.ruler.after("emphasis", "subscript", _read_subscript)
    return parser


def _tree(markdown: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(_parser().parse(markdown))


def _read_subscript(state: StateInline, silent: bool) -> bool:
    """Read ``~A~``: no space inside, marks of emphasis allowed."""
    start = state.pos
    if state.src[start] != _SUBSCRIPT_MARK:
        return False
    end = state.src.find(_SUBSCRIPT_MARK, start + 1, state.posMax)
    if end <= start + 1 or any(letter.isspace() for letter in state.src[start + 1 : end]):
        return False
    if not silent:
        limit = state.posMax
        state.push("sub_open", "sub", 1)
        state.pos, state.posMax = start + 1, end
        state.md.inline.tokenize(state)
        state.posMax = limit
        state.push("sub_close", "sub", -1)
    state.pos = end + 1
    return True


def _written(node: SyntaxTreeNode, values: Sequence[object], writer: Writer) -> str:
    if formula := _lone_formula(node, values):
        return writer.formula(formula)
    if node.type in {"text", "code_inline"}:
        content = _filled(node.content, values)
        if not node.content:  # the parser leaves empty texts beside emphasis
            return ""
        return writer.text(content) if node.type == "text" else writer.code(content)
    inner = "".join(_written(child, values, writer) for child in node.children)
    if node.type in {"root", "inline"}:
        return inner
    if node.type == "link":
        address = _filled(str(node.attrs.get("href", "")), values)
        return inner + (writer.text(f" ({address})") if address else "")
    _refuse_unknown(node)
    return writer.element(node, inner)


def _refuse_unknown(node: SyntaxTreeNode) -> None:
    if node.type not in ELEMENTS or (node.type == "heading" and node.tag not in _HEADINGS):
        what = f"heading of level {node.tag[1:]}" if node.type == "heading" else node.type
        where = f", line {node.map[0] + 1}" if node.map else ""
        message = f"a page may not hold this: {what.replace('_', ' ')}{where}"
        raise ProseError(message)


def _lone_formula(node: SyntaxTreeNode, values: Sequence[object]) -> Formula | None:
    if node.type != "paragraph":
        return None
    placeholder = _PLACEHOLDER.fullmatch(node.children[0].content)
    value = _value(placeholder, values) if placeholder else None
    return value if isinstance(value, Formula) else None


def _filled(content: str, values: Sequence[object]) -> str:
    """Put the values in, once: what a value holds is not searched for placeholders again."""

    def text_of(placeholder: re.Match[str]) -> str:
        value = _value(placeholder, values)
        if isinstance(value, Formula):
            message = "a formula must stand alone in its paragraph"
            raise ProseError(message)
        return clean_text(value)

    return _PLACEHOLDER.sub(text_of, content)


def _value(placeholder: re.Match[str], values: Sequence[object]) -> object:
    index = int(placeholder[1])
    if index >= len(values):
        message = f"placeholder {index} of a page has no value: there are {len(values)}"
        raise ProseError(message)
    return values[index]
