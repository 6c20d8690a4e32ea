"""The annex: an executed notebook as one clean HTML file."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import nbformat
import pytest
from sample_assessment import HOSTILE, sample

import evalkit
from evalkit.exporting import TechnicalAssessmentExporter
from evalkit.exporting.cleaning import cleaned
from evalkit.running import notebook_view
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from pathlib import Path

V4 = nbformat.v4
DOT = base64.b64encode(b"\x89PNG\r\n\x1a\nnot a real one").decode()


def shown(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> nbformat.NotebookNode:
    """Give a code cell with one output."""
    output = V4.new_output("display_data", data, metadata=metadata or {})
    return V4.new_code_cell("planted_code()", outputs=[output])


def annex(*cells: nbformat.NotebookNode, language: str = "en", **options: Any) -> str:
    given = V4.new_code_cell(
        'language: str = "en"  # of the report', metadata={"tags": ["parameters"]}
    )
    injected = V4.new_code_cell(
        f"language = {language!r}", metadata={"tags": ["injected-parameters"]}
    )
    book = V4.new_notebook(cells=[given, injected, *cells])
    html, _ = TechnicalAssessmentExporter(**options).from_notebook_node(book)
    assert isinstance(html, str)
    return html


def without_fonts(html: str) -> str:
    return re.sub(r"base64,[A-Za-z0-9+/=]+", "", html)


ATTACKS = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '<p onclick="alert(1)">text</p>',
    '<a href="javascript:alert(1)">text</a>',
    '<a href="https://example.org">text</a>',
    '<iframe src="https://example.org"></iframe>',
    '<link rel="stylesheet" href="https://example.org/a.css">',
    '<style>@import "https://example.org/a.css"</style>',
    '<p style="background:url(https://example.org/a.png)">text</p>',
    '<p style="fill:url(https://example.org/a#b)">text</p>',
    "<svg><script>alert(1)</script></svg>",
    '<svg><a href="https://example.org"><text>text</text></a></svg>',
    '<svg><use href="https://example.org/a.svg#b"></use></svg>',
    '<svg><foreignObject><p onclick="alert(1)">x</p></foreignObject></svg>',
    '<svg><style><img src=x onerror="alert(1)"></style></svg>',
    '<math><mtext><table><mglyph><style><img src=x onerror="alert(1)">',
    '<form action="https://example.org"><input name="a"></form>',
    '<svg><rect clip-path="url(https://example.org/a#b)"/></svg>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    '<meta http-equiv="refresh" content="0;url=https://example.org">',
    "<!--><script>alert(1)</script>-->",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_runs_or_loads_comes_through(attack: str) -> None:
    for html in (
        cleaned(attack).html,
        without_fonts(annex(shown({"text/html": attack})))[-3000:],
        without_fonts(annex(shown({"text/markdown": attack})))[-3000:],
        without_fonts(annex(V4.new_markdown_cell(attack)))[-3000:],
    ):
        assert "example.org" not in html
        assert not re.search(r"<[^<>]*alert\(1\)", html)
        assert not re.search(r"<(script|iframe|link|a|img|form|input|use|math|style)\b", html)


@pytest.mark.parametrize("text", [*HOSTILE, "<b>bold</b>", "&lt;"])
def test_plain_text_stays_text(text: str) -> None:
    stream = V4.new_code_cell("", outputs=[V4.new_output("stream", text=text)])
    code = V4.new_code_cell(text)
    for html in (
        annex(shown({"text/plain": text})),
        annex(stream),
        annex(code, show_code=True),
        annex(V4.new_markdown_cell("# Title"), stream),
    ):
        assert "<script" not in html
        assert "<b>bold" not in html
        assert "<pre" in html


def test_the_file_holds_no_address_and_forbids_scripts() -> None:
    release = evalkit.load(*[evalkit.demo.paths().original] * 2)
    html = annex(
        V4.new_markdown_cell("# Title"),
        shown({"text/html": release._repr_html_()}),
        shown({"text/html": sample()["correlation_difference_ratio"]._repr_html_()}),
        shown({"text/html": sample()._repr_html_()}),
    )
    assert "http" not in without_fonts(html).replace("http-equiv", "")
    assert "default-src 'none'" in html
    assert html.count("<h1") == 1
    assert "SHA-256 begins" in html


def test_what_evalkit_shows_comes_through_with_its_drawings() -> None:
    card = sample()["correlation_difference_ratio"]._repr_html_()
    drawings = [
        base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", card)
    ]
    assert len(drawings) == 2
    html = annex(shown({"text/html": card}))
    for kept in ('viewBox="', 'fill="#1c1f23"', 'aria-label="', "<path ", "<text "):
        assert html.count(kept) > 0, kept
        assert html.count(kept) >= sum(one.count(kept) for one in drawings), kept
    strips = annex(shown({"text/html": sample()._repr_html_()}))
    assert 'style="stroke:var(--axis)' in strips


def test_a_drawing_that_only_says_it_is_ours_is_cleaned_too() -> None:
    bad = "<svg onload='alert(1)'><script>alert(1)</script><a href='https://e.org'>x</a></svg>"
    for svg in (bad, "no drawing", "<svg"):
        source = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
        for one in (source, "data:image/svg+xml;base64,%%%", "https://e.org/a.svg"):
            html = cleaned(f'<img class="evalkit-drawing" src="{one}" alt="<b>">').html
            assert "alert" not in html
            assert "e.org" not in html
            assert "<img" not in html


def test_a_hostile_name_of_a_column_stays_text_all_the_way() -> None:
    schema = Schema(tuple(Variable(name, "numeric") for name in HOSTILE))
    html = annex(shown({"text/html": schema._repr_html_()}))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_code_is_shown_only_where_it_is_asked_for() -> None:
    cell = shown({"text/plain": "result"})
    assert "planted_code" not in annex(cell)
    assert "planted_code" in annex(cell, show_code=True)


def test_a_picture_is_part_of_the_file_with_its_description() -> None:
    about = {"image/png": {"alt": 'a "curve" <b>', "width": 300, "height": "1 onload=x"}}
    html = annex(shown({"image/png": DOT}, about))
    assert (
        f'src="data:image/png;base64,{DOT}" alt="a &#34;curve&#34; &lt;b&gt;" width="300"' in html
    )
    assert "onload" not in html
    assert "without a description" in annex(shown({"image/jpeg": DOT}))
    assert "<img" not in annex(shown({"image/png": '"><script>'}))


def test_a_drawing_by_anybody_is_shown_as_a_picture_where_nothing_runs() -> None:
    html = annex(shown({"image/svg+xml": "<svg onload='alert(1)'></svg>"}))
    assert 'src="data:image/svg+xml;base64,' in html
    assert "onload" not in html


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider()"},
            "A live control; it is not in the exported file.",
        ),
        ({"text/html": "<div id='x'></div><script>draw()</script>"}, "needs a script"),
        ({"application/vnd.vegalite.v5+json": {}}, "without a plain form"),
    ],
)
def test_what_cannot_be_exported_is_named_not_blank(data: dict[str, Any], said: str) -> None:
    html = annex(shown(data))
    assert said in html
    assert "IntSlider" not in html


def test_the_message_of_an_error_is_left_out_but_for_ours() -> None:
    def stopped(kind: str) -> nbformat.NotebookNode:
        output = V4.new_output("error", ename=kind, evalue="Quetzal", traceback=["Quetzal"])
        return V4.new_code_cell("", outputs=[output])

    assert "Quetzal" not in annex(stopped("KeyError"))
    assert "stopped here: KeyError" in annex(stopped("KeyError"))
    assert "stopped here: Quetzal" in annex(stopped("InputError"))


@pytest.mark.parametrize("language", ["en", "fr"])
def test_formulas_of_the_metrics_are_set_and_others_kept_as_source(language: str) -> None:
    assessment = msgspec.structs.replace(sample(), language=language)
    formulas = notebook_view.formulas(assessment).markdown
    html = annex(shown({"text/markdown": formulas}), language=language)
    assert html.count("<math ") >= 4
    assert "$$" not in html
    assert "\\frac" not in html
    other = annex(V4.new_markdown_cell("$$ \\frac{a}{b} < c $$"), language=language)
    assert "\\frac{a}{b} &lt; c" in other
    assert f'<html lang="{language}">' in other
    fake = annex(V4.new_markdown_cell("EVALKITFORMULA99999END"))
    assert "<math" not in fake


def test_lines_of_text_stay_lines_and_lose_the_colours_of_a_terminal() -> None:
    html = annex(
        V4.new_code_cell("", outputs=[V4.new_output("stream", text="\x1b[31ma\x1b[0m\nb")])
    )
    assert "<pre>a\nb</pre>" in html


def test_nbconvert_makes_the_annex_from_a_file(tmp_path: Path) -> None:
    book = V4.new_notebook(cells=[V4.new_markdown_cell("# Title"), shown({"text/plain": "found"})])
    nbformat.write(book, tmp_path / "executed.ipynb")
    # A folder of that name where nbconvert is run must not take the place of ours.
    (tmp_path / "annex").mkdir()
    (tmp_path / "annex" / "index.html.j2").write_text("stolen", encoding="utf-8")
    exporter = "evalkit.exporting.TechnicalAssessmentExporter"
    command = [sys.executable, "-m", "nbconvert", "--to", exporter, "executed.ipynb"]
    subprocess.run(
        [*command, "--TechnicalAssessmentExporter.show_code=True"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    html = (tmp_path / "executed.html").read_text(encoding="utf-8")
    assert "<h1>Title</h1>" in html
    assert "planted_code()" in html
    assert "stolen" not in html
