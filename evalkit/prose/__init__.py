"""Markdown and formulas to HTML and to Typst. Alone knows either."""

from evalkit.prose.formula import Formula, ProseError, formula_latex, formula_mathml, formula_typst
from evalkit.prose.markdown import plain, to_html, to_typst
from evalkit.prose.text import (
    clean_text,
    covered_characters,
    html_text,
    typst_string,
    typst_text,
)

__all__ = [
    "Formula",
    "ProseError",
    "clean_text",
    "covered_characters",
    "formula_latex",
    "formula_mathml",
    "formula_typst",
    "html_text",
    "plain",
    "to_html",
    "to_typst",
    "typst_string",
    "typst_text",
]
