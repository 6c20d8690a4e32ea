"""A metric's page for a terminal: what it asks, how it is computed and read, without a result."""

from __future__ import annotations

import re
import textwrap
from functools import cache

WIDTH = 88
PARTS = (
    "Question",
    "Story",
    "What it measures",
    "Comparison strategy",
    "Formula",
    "Reading",
    "Example",
    "Advantages",
    "Limits",
    "Improvement",
)
"""Parts that speak of the metric; in each, what speaks of one result is left out."""

_BULLET = re.compile(r"^[-*][ \t]+", re.MULTILINE)


def catalogue(language: str) -> str:
    """Return one block of lines for each metric: slug, name, what it belongs to, question.

    Parameters
    ----------
    language : str
        One of the report's languages.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.report.page_text import catalogue
    >>> "linkability_protection_rate" in catalogue("en")
    True
    """
    from evalkit import metrics
    from evalkit.report.words import load_words

    labels = load_words(language)["labels"]
    kinds = labels["kinds"]
    lines = []
    for metric in metrics.all():
        place = ", ".join(
            kinds[one] for one in [metric.section.value, metric.criterion, metric.level] if one
        )
        question = page_part(metric.slug, "Question", language)
        name = page_part(metric.slug, "Name", language)
        asked = [f"  {labels['only_if_asked']}"] if metric.legacy else []
        lines += [f"{metric.slug}: {name} ({place})", _wrapped(question, "  "), *asked, ""]
    return "\n".join(lines).rstrip()


def page_text(slug: str, language: str) -> str:
    """Return a metric's page as wrapped plain text, its formula in LaTeX and in words.

    Parameters
    ----------
    slug : str
        The metric.
    language : str
        One of the report's languages.

    Returns
    -------
    str

    Raises
    ------
    evalkit.InputError
        If the page has not been translated.

    Examples
    --------
    >>> from evalkit.report.page_text import page_text
    >>> "FORMULA" in page_text("correlation_difference_ratio", "en")
    True
    """
    from evalkit.report.words import load_words

    titles = load_words(language)["labels"]["parts"]
    blocks = [page_part(slug, "Name", language), f"({slug})"]
    for heading in PARTS:
        body = _blocks(_sections(slug, language).get(heading, ""))
        if heading == "Formula":
            body[1:1] = _formula(slug, language)
        if body:
            blocks += ["", titles[heading].upper(), "\n\n".join(body)]
    return "\n".join(blocks)


def page_part(slug: str, heading: str, language: str) -> str:
    """Return one part of a metric's page as plain text, one line to a paragraph.

    Parameters
    ----------
    slug, heading, language : str
        The metric, a heading of its page, one of the report's languages.

    Returns
    -------
    str
        Empty where the page has no such part.

    Examples
    --------
    >>> from evalkit.report.page_text import page_part
    >>> page_part("linkability_protection_rate", "Name", "en")
    'Linkability protection rate'
    """
    from evalkit.prose import plain

    return plain(_sections(slug, language).get(heading, ""), ())


@cache
def _sections(slug: str, language: str) -> dict[str, str]:
    """Return the Markdown below each heading of a page, without what depends on a result."""
    from evalkit.report.typography import typeset
    from evalkit.resources import metric_page

    page = typeset(metric_page(slug, language), language)
    cut = re.split(r"^#{1,3}[ \t]+(.+?)[ \t]*$", page, flags=re.MULTILINE)
    return {
        heading: _without_results(body)
        for heading, body in zip(cut[1::2], cut[2::2], strict=True)
        if heading in {"Name", *PARTS}
    }


def _without_results(markdown: str) -> str:
    """Return the lines of a part that hold no value and hang on no condition.

    A page has one sentence on a line, so what is left still reads as sentences.
    """
    kept: list[str] = []
    depth = 0
    for line in markdown.splitlines():
        was_inside = depth > 0
        depth += len(re.findall(r"{%-?\s*(?:if|for|macro)\b", line))
        depth -= len(re.findall(r"{%-?\s*end(?:if|for|macro)\b", line))
        if not was_inside and "{{" not in line and "{%" not in line:
            kept.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _formula(slug: str, language: str) -> list[str]:
    """Return the formula in LaTeX and in words."""
    from evalkit.prose.formula import equations
    from evalkit.report.words import load_words
    from evalkit.resources import folder

    place = folder("report_templates") / "metrics" / slug
    source = (place / "formula.typ").read_text(encoding="utf-8")
    words = [_wrapped(f"{one.alt}.", "  ") for one in equations(source, language)]
    title = load_words(language)["labels"]["in_words"]
    return [textwrap.indent(latex(slug, language), "  "), title, *words]


def latex(slug: str, language: str) -> str:
    """Return a metric's formula in LaTeX, its words in `language`.

    Examples
    --------
    >>> from evalkit.report.page_text import latex
    >>> "catégorielle" in latex("linkability_protection_rate", "fr")
    True
    """
    from evalkit.prose import formula_latex
    from evalkit.resources import folder

    place = folder("report_templates") / "metrics" / slug
    texts = [(place / f"formula.{kind}").read_text(encoding="utf-8") for kind in ("tex", "typ")]
    return formula_latex(texts[0].strip(), texts[1], language)


def _blocks(markdown: str) -> list[str]:
    """Return the paragraphs, lists and tables of a part as wrapped text."""
    return [_block(one) for one in re.split(r"\n{2,}", markdown) if one.strip()]


def _block(markdown: str) -> str:
    """Return one paragraph, list or table as text."""
    from evalkit.prose import plain

    if markdown.startswith("|"):
        return re.sub(r"[*`]", "", markdown)
    items = _BULLET.split(markdown)
    if len(items) > 1:
        return "\n".join(_wrapped(plain(item, ()), "- ", "  ") for item in items if item.strip())
    return _wrapped(plain(markdown, ()))


def _wrapped(text: str, first: str = "", others: str | None = None) -> str:
    """Return a text in lines of at most `WIDTH` letters."""
    rest = first if others is None else others
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
