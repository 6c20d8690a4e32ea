"""Pages and formulas: markup becomes markup of each language, and data stay text."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
import typst

from evalkit.prose import (
    Formula,
    ProseError,
    covered_characters,
    formula_mathml,
    formula_typst,
    html_text,
    plain,
    to_html,
    to_typst,
    typst_string,
    typst_text,
)
from evalkit.prose.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
FONTS = ROOT / "report_templates" / "fonts"
FORMULAS = sorted((ROOT / "report_templates" / "metrics").glob("*/formula.typ"))
FIRST = "\ue0000\ue001"
HOSTILE = [
    "<script>alert(1)</script>",
    "</p></section>",
    "*a* **b** _c_ ~d~ `e`",
    "# heading",
    "- item",
    "[text](http://example.org)",
    "$x$ \\frac{1}{2} \\u{41} \\",
    '#eval("1+1") #panic("no") ]] ))',
    '"); panic("no"); ("',
    "{{ 7 * 7 }} {% raw %}",
    "&amp; &lt; &#60;",
    "a\u202eb\u2066c",
    "a\x00b\x1bc\x85d\n\n# e",
    "\ue0001\ue001",
    "\ue000",
    "\ud800 \uffff",
    "// comment /* and */ <label> @reference",
    "",
]
PAGE = f"""{FIRST} and **{FIRST}** and *{FIRST}* and `{FIRST}` and *K*~{FIRST}~
and [{FIRST}]({FIRST})

- {FIRST}

1. {FIRST}

### {FIRST}

| {FIRST} | b |
|---|---|
| {FIRST} | {FIRST} |
"""
ALT = "// alt en: in words\n"


def typst_words(markup: str) -> str:
    """Return what the compiler understands of a page: its text, without tags."""
    document = bytes(typst.compile(markup.encode(), format="html")).decode()
    body = document[document.index("<body>") :]
    return spaced(html.unescape(re.sub(r"<[^>]*>", " ", body)))


def spaced(text: str) -> str:
    """Return a text with each run of white space as one space."""
    return re.sub(r"\s+", " ", text)


def test_each_element_of_a_page_has_its_form_in_both_languages() -> None:
    page = "Say **so** *now*\nwith `x`.\n\n- one\n- two\n\n3. c\n4. d\n\n### Part\n\nEnd"
    assert to_html(page, []) == (
        "<p>Say <strong>so</strong> <em>now</em>\nwith <code>x</code>.</p>\n"
        "<ul><li>one</li>\n<li>two</li>\n</ul>\n"
        '<ol start="3"><li>c</li>\n<li>d</li>\n</ol>\n'
        "<h3>Part</h3>\n<p>End</p>\n"
    )
    assert to_typst(page, []) == (
        '#"Say "#strong[#"so"]#" "#emph[#"now"]#" "#"with "#raw("x")#"."\n\n'
        '#list(tight: true, [#"one"], [#"two"], )\n\n'
        '#enum(start: 3, tight: true, [#"c"], [#"d"], )\n\n'
        '#heading(level: 2)[#"Part"]\n\n#"End"\n\n'
    )


def test_a_letter_with_an_index_is_italic_text_with_a_subscript() -> None:
    assert to_html("*K*~A~", []) == "<p><em>K</em><sub>A</sub></p>\n"
    assert to_html("*K~A~*", []) == "<p><em>K<sub>A</sub></em></p>\n"
    assert to_typst("*x*~*i*~", []) == '#emph[#"x"]#sub[#emph[#"i"]]\n\n'
    assert to_html("about ~ 3 and ~ 4, ~~", []) == "<p>about ~ 3 and ~ 4, ~~</p>\n"


def test_a_table_keeps_its_head_and_the_side_of_its_columns() -> None:
    page = "| a | b |\n|---|--:|\n| 1 | 2 |\n"
    assert '<th scope="col">a</th>' in to_html(page, [])
    assert '<td style="text-align:right">2</td>' in to_html(page, [])
    markup = to_typst(page, [])
    assert "columns: 2" in markup
    assert 'table.header(table.cell(align: left)[#"a"]' in markup
    assert "a b 1 2" in typst_words(markup)


@pytest.mark.parametrize("value", HOSTILE)
def test_data_are_text_in_html_whatever_they_hold(value: str) -> None:
    page = to_html(PAGE, [value, "SECOND"])
    tags = set(re.findall(r"<(/?\w+)", page))
    assert tags <= set(re.findall(r"<(/?\w+)", to_html(PAGE, ["plain", ""])))
    assert "SECOND" not in page
    assert page.count(html_text(value)) >= 10
    assert len(ET.fromstring(f"<body>{page}</body>")) > 0  # noqa: S314 - must be whole


@pytest.mark.parametrize("value", HOSTILE)
def test_data_are_text_in_typst_whatever_they_hold(value: str) -> None:
    words = typst_words(to_typst(PAGE, [value, "SECOND"]))
    assert "SECOND" not in words
    assert words.count(spaced(clean_text(value)).strip()) >= 10


def test_what_could_steer_a_screen_or_break_a_file_is_left_out() -> None:
    cleaned = plain(FIRST, ["a\x00\x1b[31m\x9bb\u202ec\u2069d\ttab\nline\ud800"])
    assert cleaned == "a[31mbcd tab line\ufffd"
    assert cleaned.encode()


def test_html_in_a_page_is_shown_and_not_obeyed() -> None:
    assert to_html("<b>x</b>\n\n<script>y</script>", []) == (
        "<p>&lt;b&gt;x&lt;/b&gt;</p>\n<p>&lt;script&gt;y&lt;/script&gt;</p>\n"
    )


def test_a_link_is_printed_with_its_address_and_cannot_be_followed() -> None:
    page = to_html("[Opinion](https://example.org/a?b=1&c)", [])
    assert page == "<p>Opinion (https://example.org/a?b=1&amp;c)</p>\n"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("text\n\n# Title", "heading of level 1, line 3"),
        ("##### Deep", "heading of level 5"),
        ("![a](b)", "image"),
        ("> said", "blockquote, line 1"),
        ("---", "hr"),
        ("```\ncode\n```", "fence"),
        ("    code", "code block"),
        ("\ue0007\ue001", "placeholder 7 of a page has no value: there are 0"),
    ],
)
@pytest.mark.parametrize("write", [to_html, to_typst, plain])
def test_what_a_page_may_not_hold_is_an_error_and_never_dropped(
    write: Callable[..., str], page: str, message: str
) -> None:
    with pytest.raises(ProseError, match=message):
        write(page, [])


def test_plain_text_has_a_line_to_a_paragraph() -> None:
    page = f"One\nand **two**.\n\n- {FIRST}\n\n{FIRST} ends\n\n\ue0001\ue001"
    assert plain(page, ["<i>", Formula(f"{ALT}$ x $")]) == "One and two.\n<i>\n<i> ends\nin words"


def test_a_character_that_no_font_has_is_written_as_its_code_point() -> None:
    covered = frozenset(map(ord, "abc"))
    assert typst_text("ab中c", covered) == '"ab U+4E2D c"'
    assert typst_text("中文", covered) == '" U+4E2D U+6587 "'
    assert typst_text("中", None) == '"中"'
    assert to_typst(FIRST, ["\U0001f600"], covered) == '#" U+1F600 "\n\n'


def test_the_covered_characters_are_those_of_the_fonts_but_not_of_the_last_resort() -> None:
    import matplotlib as mpl

    covered = covered_characters([Path(mpl.get_data_path()) / "fonts" / "ttf", Path("nowhere")])
    assert {ord("a"), ord("é"), ord("≤"), ord("Ж")} <= covered
    assert ord("中") not in covered


def test_a_string_literal_of_typst_cannot_be_left() -> None:
    assert typst_string('a"b\\c') == '"a\\"b\\\\c"'
    assert typst_string(None) == '"None"'


def test_a_formula_becomes_mathml_with_its_words_and_tidy_brackets() -> None:
    source = f'{ALT}$ f (x) = (1/abs(V)) cases(1 & quad "if" x < 2, [0, 1) & "else") $'
    written = formula_mathml(source).encode("ascii", "xmlcharrefreplace").decode()
    assert written == (
        '<div class="eqs"><div class="eq">'
        '<math alttext="in words" aria-label="in words" display="block"><mi>&#119891;</mi>'
        '<mrow><mo stretchy="false">(</mo><mi>&#119909;</mi>'
        '<mo stretchy="false">)</mo></mrow><mo>=</mo>'
        "<mrow><mo>(</mo><mfrac><mn>1</mn><mrow>"
        '<mo stretchy="false">|</mo><mi>&#119881;</mi><mo stretchy="false">|</mo></mrow></mfrac>'
        "<mo>)</mo></mrow>"
        '<mrow><mo>{</mo><mtable class="cases"><mtr><mtd><mn>1</mn></mtd><mtd>'
        '<mspace width="1em" /><mtext>if</mtext><mspace width="0.2222em" /><mi>&#119909;</mi>'
        "<mo>&lt;</mo><mn>2</mn></mtd></mtr>"
        '<mtr><mtd><mrow><mo stretchy="false">[</mo><mrow><mn>0</mn><mo>,</mo><mn>1</mn></mrow>'
        '<mo stretchy="false">)</mo></mrow>'
        '<mspace width="0.2222em" /></mtd><mtd><mtext>else</mtext></mtd></mtr></mtable>'
        "</mrow></math></div></div>"
    )


def test_a_formula_stands_alone_in_its_paragraph_of_a_page() -> None:
    formula = Formula(f"{ALT}$ x $")
    assert to_html(f"Thus\n\n{FIRST}\n\nend", [formula]).count("<math ") == 1
    assert "math.equation" in to_typst(FIRST, [formula])
    with pytest.raises(ProseError, match="stand alone"):
        to_html(f"Thus {FIRST}", [formula])


def test_equations_share_a_row_until_a_blank_line() -> None:
    markup = formula_typst(f"{ALT}$ a $\n{ALT}$ b $\n\n{ALT}$ c $\n")
    assert "columns: 2" in markup
    assert markup.count("math.equation") == 3
    assert 'grid.cell(colspan: 2, math.equation(block: true, alt: "in words", $ c $))' in markup


def test_words_of_a_formula_are_translated_and_each_language_has_its_alternative_text() -> None:
    source = f'{ALT}// alt fr: en mots\n// word fr: otherwise = "sinon"\n$ cases(1, "otherwise") $'
    assert "<mtext>otherwise</mtext>" in formula_mathml(source)
    assert '<mtext>"sinon"</mtext>' in formula_mathml(source, "fr")
    assert 'alttext="en mots"' in formula_mathml(source, "fr")
    with pytest.raises(ProseError, match="equation 1 has no alternative text: add '// alt de: …'"):
        formula_mathml(source, "de")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f'{ALT}$ #read("x") $', "'#': a formula is mathematics without code"),
        (f'{ALT}$ std.read("x") $', "'std'"),
        (f"{ALT}$ x $ #panic()", "text outside an equation"),
        ('#import "x"', "text outside an equation"),
        (f"{ALT}$ x // y $", "'//'"),
        ("$ x $", "no alternative text"),
        ("", "no equation"),
        (f"{ALT}$ foo(x) $", "does not compile: unknown variable: foo"),
    ],
)
def test_a_formula_file_is_mathematics_and_nothing_else(source: str, message: str) -> None:
    with pytest.raises(ProseError, match=re.escape(message)):
        formula_mathml(source)


def test_an_escaped_sign_and_a_quoted_sign_are_no_code() -> None:
    assert "<mtext>#read</mtext>" in formula_mathml(f'{ALT}$ \\#x + "#read" $')


def formula_name(path: Path) -> str:
    return path.parent.name


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("path", FORMULAS, ids=formula_name)
def test_a_formula_of_a_page_fits_the_text_column(path: Path, language: str) -> None:
    block = formula_typst(path.read_text(encoding="utf-8"), language)
    page = (
        '#set text(font: "Libertinus Serif", size: 10.5pt)\n'
        '#show math.equation: set text(font: "STIX Two Math")\n'
        f"#context assert(measure([{block}]).width <= 106mm)\n"
    )
    fonts = {"font_paths": [str(FONTS)], "ignore_system_fonts": True}
    assert typst.compile(page.encode(), format="pdf", **fonts)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("path", FORMULAS, ids=formula_name)
def test_the_characters_of_a_formula_are_in_the_font_that_html_carries(
    path: Path, language: str
) -> None:
    mathematics = runpy.run_path(str(ROOT / "tools" / "build_fonts.py"))["MATHEMATICS"]
    drawn = re.sub(r"<[^>]*>", "", formula_mathml(path.read_text(encoding="utf-8"), language))
    assert set(map(ord, html.unescape(drawn))) <= mathematics


@pytest.mark.parametrize("path", FORMULAS, ids=formula_name)
def test_a_formula_has_a_twin_in_latex_that_a_notebook_shows(path: Path) -> None:
    blocks = path.with_suffix(".tex").read_text(encoding="utf-8").strip().split("\n\n")
    assert all(block.startswith("$$") and block.endswith("$$") for block in blocks)
    assert all(block.count("$") == 4 and block.count("{") == block.count("}") for block in blocks)


def test_the_founding_formulas_keep_their_signs() -> None:
    written = "".join(formula_mathml(path.read_text(encoding="utf-8")) for path in FORMULAS)
    assert "http" not in written
    for sign in ("\U0001d7d9", "arg min", "<mtext>categorical</mtext>", "<mtext>otherwise</mtext>"):
        assert sign in written


def test_a_page_with_data_of_any_kind_meets_the_standards_of_the_pdf() -> None:
    import matplotlib as mpl

    folders = [FONTS, Path(mpl.get_data_path()) / "fonts" / "ttf"]
    covered = covered_characters(folders)
    values = [value for value in [*HOSTILE, "中文 😀 \u200d"] if value]  # a heading needs a title
    pages = "".join(to_typst(PAGE, [value, "x"], covered) for value in values)
    markup = f'#set document(title: "t")\n#heading[#"t"]\n\n{pages}'
    assert typst.compile(
        markup.encode(),
        format="pdf",
        font_paths=[str(folder) for folder in folders],
        ignore_system_fonts=True,
        pdf_standards=["a-3a", "ua-1"],
    )
