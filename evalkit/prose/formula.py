r"""Formulas: one Typst source, set in the PDF as it stands and in HTML as MathML.

A file ``formula.typ`` is a list of equations, and is itself valid Typst::

    // alt en: G V of x and y is the mean of delta v over the variables v in V
    // alt fr: G V de x et y est la moyenne des delta v sur les variables v de V
    $ G_V (x, y) = 1/abs(V) sum_(v in V) delta_v (x, y) $

    // alt en: kappa is the square root of N over 2000 for N over 2000, else one
    // alt fr: kappa vaut la racine de N sur 2000 si N dépasse 2000, sinon un
    // word fr: otherwise = sinon
    $ kappa = cases(sqrt(N/2000) & quad N > 2000, 1 & quad "otherwise") $

Each equation stands between dollar signs, after its alternative text in each language. ``word``
translates one quoted word of the equations that follow. Equations with no blank line between them
share a row where there is room; a blank line begins the next row. Nothing else may stand in the
file. Mathematics only: code (``#``, but for ``#true`` and ``#false``) and ``std`` are refused, so
that a page from elsewhere can neither read a file nor call anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from evalkit.prose.text import html_text, typst_string

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALT: Final = re.compile(r"//\s*alt\s+(\w+):\s*(.+)")
_WORD: Final = re.compile(r"//\s*word\s+(\w+):\s*(.+?)\s*=\s*(.+)")
_TEXT: Final = re.compile(r"\\text\{(\s*)([^{}]*?)(\s*)\}")
_MATH: Final = re.compile(r"\$\s((?:\\.|\"(?:\\.|[^\"\\])*\"|[^$\"\\])*?)\s\$", re.DOTALL)
_OPAQUE: Final = re.compile(r"\\.|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_FORBIDDEN: Final = re.compile(r"#(?!(?:true|false)\b)|\$|//|/\*|\bstd\b")
_MATHML: Final = re.compile(r"<math\b.*?</math>", re.DOTALL)

_BRACKETS: Final = frozenset("()[]{}|‖⟨⟩⌊⌋⌈⌉")
_TALL: Final = frozenset({"mfrac", "munder", "mover", "munderover", "mtable", "msqrt", "mroot"})


class ProseError(ValueError):
    """A page or a formula that cannot be set; the message says what and where in one line."""


@dataclass(frozen=True)
class Formula:
    r"""The text of a ``formula.typ``, to be given to a page as a value.

    Parameters
    ----------
    source : str
        The file's text.
    language : str
        Language of the alternative texts and of translated words, as ``"en"``.

    Examples
    --------
    >>> Formula("// alt en: x is one\n$ x = 1 $").language
    'en'

    """

    source: str
    language: str = "en"


@dataclass(frozen=True)
class Equation:
    """One equation: its place in the rows, its words and its Typst mathematics."""

    row: int
    alt: str
    mathematics: str


@lru_cache(maxsize=256)
def equations(source: str, language: str = "en") -> tuple[Equation, ...]:
    r"""Return the equations of a ``formula.typ`` in one language, in order.

    Parameters
    ----------
    source : str
        Text of the file, in the form that the module's documentation gives.
    language : str
        Language of alternative texts and words.

    Returns
    -------
    tuple of Equation
        At least one.

    Raises
    ------
    ProseError
        No equation, an equation without alternative text in the language, code in an equation, or
        text outside equations.

    Examples
    --------
    >>> equations("// alt en: x is one\n$ x = 1 $")
    (Equation(row=0, alt='x is one', mathematics='x = 1'),)

    """
    found = tuple(_equations(source, language))
    if not found:
        message = "a formula file holds no equation; write one as $ … $ after a line '// alt en: …'"
        raise ProseError(message)
    return found


def formula_latex(latex: str, source: str, language: str = "en") -> str:
    r"""Return a ``formula.tex`` with its words in a language.

    Parameters
    ----------
    latex : str
        Text of the file.
    source : str
        Text of the ``formula.typ`` beside it, which translates the words.
    language : str
        Language of the words.

    Returns
    -------
    str

    Examples
    --------
    >>> source = "// alt fr: x vaut un\n// word fr: otherwise = sinon\n$ x = 1 $"
    >>> formula_latex(r"1 & \text{otherwise }", source, "fr")
    '1 & \\text{sinon }'

    """
    words = {found[2]: found[3] for found in _WORD.finditer(source) if found[1] == language}

    def translated(match: re.Match[str]) -> str:
        before, word, after = match.groups()
        return rf"\text{{{before}{words.get(word, word)}{after}}}"

    return _TEXT.sub(translated, latex)


def _equations(source: str, language: str) -> Iterator[Equation]:
    row, end, number = 0, 0, 0
    words: dict[str, str] = {}
    for number, match in enumerate(_MATH.finditer(source), start=1):
        before = source[end : match.start()]
        row += bool(number > 1 and re.search(r"\n[ \t]*\n", before))
        alternatives, translated_words = _remarks(before, number)
        words |= translated_words.get(language, {})
        if language not in alternatives:
            message = f"equation {number} has no alternative text: add '// alt {language}: …'"
            raise ProseError(message)
        mathematics = _checked(match[1].strip(), number)
        for word, translated in words.items():
            mathematics = mathematics.replace(typst_string(word), typst_string(translated))
        yield Equation(row, alternatives[language], mathematics)
        end = match.end()
    _remarks(source[end:], number + 1)


def _remarks(text: str, number: int) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Read the comment lines before an equation: alternative texts and words by language."""
    alternatives: dict[str, str] = {}
    words: dict[str, dict[str, str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        if alternative := _ALT.fullmatch(line):
            alternatives[alternative[1]] = alternative[2]
        elif word := _WORD.fullmatch(line):
            words.setdefault(word[1], {})[word[2]] = word[3]
        elif not line.startswith("//"):
            message = f"text outside an equation, before equation {number} of a formula file"
            raise ProseError(message)
    return alternatives, words


def _checked(mathematics: str, number: int) -> str:
    if found := _FORBIDDEN.search(_OPAQUE.sub(" ", mathematics)):
        message = f"equation {number} holds {found[0]!r}: a formula is mathematics without code"
        raise ProseError(message)
    return mathematics


def formula_typst(source: str, language: str = "en") -> str:
    r"""Return the formulas as Typst markup: an unbroken block, one grid row to a row of equations.

    The page's own settings (font of the mathematics, gap of ``cases``) are left to the template.

    Parameters
    ----------
    source : str
        Text of a ``formula.typ``.
    language : str
        Language of alternative texts and words.

    Returns
    -------
    str
        Typst markup; each equation carries its alternative text.

    Raises
    ------
    ProseError
        As `equations`.

    Examples
    --------
    >>> print(formula_typst("// alt en: x is one\n$ x = 1 $").splitlines()[1])
      math.equation(block: true, alt: "x is one", $ x = 1 $),

    """
    found = equations(source, language)
    rows = [[each for each in found if each.row == row] for row in range(found[-1].row + 1)]
    width = max(map(len, rows))
    cells = "\n".join(f"  {cell}," for row in rows for cell in _cells(row, width))
    return (
        f"#block(inset: (left: 5mm), breakable: false, grid(columns: {width}, "
        f"column-gutter: 7mm, row-gutter: 8pt, align: left + horizon,\n{cells}\n))\n"
    )


def _cells(row: list[Equation], width: int) -> Iterator[str]:
    for place, equation in enumerate(row, start=1):
        cell = (
            f"math.equation(block: true, alt: {typst_string(equation.alt)}, "
            f"$ {equation.mathematics} $)"
        )
        spare = width - place if place == len(row) else 0
        yield f"grid.cell(colspan: {spare + 1}, {cell})" if spare else cell


@lru_cache(maxsize=256)
def formula_mathml(source: str, language: str = "en") -> str:
    r"""Return the formulas as HTML: MathML, each in its own ``.eq`` inside one ``.eqs``.

    Parameters
    ----------
    source : str
        Text of a ``formula.typ``.
    language : str
        Language of alternative texts and words.

    Returns
    -------
    str
        HTML without outside address. Kept in memory per source and language.

    Raises
    ------
    ProseError
        As `equations`, or the message of the Typst compiler.

    Examples
    --------
    >>> formula_mathml("// alt en: one is one\n$ 1 = 1 $").startswith('<div class="eqs">')
    True

    """
    found = equations(source, language)
    drawn = _MATHML.findall(_exported("\n".join(f"$ {each.mathematics} $\n" for each in found)))
    blocks = [
        f'<div class="eq">{_tidied(mathml, equation.alt)}</div>'
        for mathml, equation in zip(drawn, found, strict=True)
    ]
    return f'<div class="eqs">{"".join(blocks)}</div>'


def _exported(markup: str) -> str:
    import typst

    try:
        document = typst.compile(markup.encode(), format="html")
    except typst.TypstError as error:
        hints = "; ".join(error.hints or [])
        message = f"a formula does not compile: {error.message}" + (hints and f" ({hints})")
        raise ProseError(message) from error
    return bytes(document).decode()


def _tidied(mathml: str, alt: str) -> str:
    """Name the formula in words, and keep brackets round plain content at their natural height."""
    root = ET.fromstring(mathml)  # noqa: S314 - written by the compiler, not by a user
    for lines in root.findall("mtable"):  # the rows of an equation on several lines
        lines.set("displaystyle", "true")
    for group in root.iter():
        tall = any(part.tag in _TALL for part in group.iter() if part is not group)
        brackets = [part for part in group if part.tag == "mo" and part.text in _BRACKETS]
        for bracket in brackets if group.tag == "mrow" and not tall else ():
            bracket.set("stretchy", "false")
    words = html_text(alt)
    body = ET.tostring(root, encoding="unicode")
    return body.replace("<math ", f'<math alttext="{words}" aria-label="{words}" ', 1)
