"""What a checker of files finds in the report: PDF/A, PDF/UA, a closed and accessible page."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pikepdf
import pytest
from sample_assessment import sample

from evalkit.report.document import Report
from evalkit.resources import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
VOID = {"meta", "col", "br", "link", "img", "input"}
LARGEST_HTML_BYTES = 1_000_000


@pytest.fixture(scope="module")
def report() -> Report:
    return Report(sample())


@pytest.fixture(scope="module")
def pdf(report: Report) -> bytes:
    return report.pdf()


@pytest.fixture(scope="module")
def markup(report: Report) -> str:
    return report.html()


class Outline(HTMLParser):
    """Elements with their attributes, and whether every element was closed in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open[-1] == tag, (self.open[-3:], tag)
        self.open.pop()

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def outline(markup: str) -> Outline:
    parser = Outline()
    parser.feed(markup)
    return parser


def test_the_pdf_is_well_formed_and_says_what_it_conforms_to(pdf: bytes) -> None:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        assert document.check_pdf_syntax() == []
        with document.open_metadata() as metadata:
            assert metadata["pdfaid:part"] == "3"
            assert metadata["pdfaid:conformance"] == "A"
            assert metadata["pdfuaid:part"] == "1"
        assert str(document.docinfo["/Title"]).startswith("Technical assessment: Northern cohort")
        assert str(document.Root.Lang) == "en"


def test_the_assessment_is_attached_byte_for_byte(report: Report, pdf: bytes) -> None:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        assert list(document.attachments) == ["assessment.json"]
        attached = document.attachments["assessment.json"]
        assert attached.get_file().read_bytes() == report.assessment.json()
        assert str(attached.obj["/AFRelationship"]) == "/Data"


def test_the_pdf_has_bookmarks_for_every_section(pdf: bytes) -> None:
    with pikepdf.open(io.BytesIO(pdf)) as document, document.open_outline() as bookmarks:
        titles = [item.title for item in bookmarks.root]
    assert titles[1] == "What is where"
    assert len(titles) == 22


def test_every_font_of_the_pdf_is_embedded_and_none_is_a_stranger(pdf: bytes) -> None:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        fonts = [
            one
            for one in document.objects
            if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/FontDescriptor"
        ]
    names = {str(font["/FontName"]).partition("+")[2] for font in fonts}
    families = ("LibertinusSerif", "SourceSans3", "STIXTwoMath", "DejaVuSans")
    assert all(any(name.startswith(family) for name in names) for family in families[:3])
    assert not [name for name in names if not name.startswith(families)]
    assert not [name for name in names if name.endswith("-Bold")]
    assert all(font.keys() & {"/FontFile", "/FontFile2", "/FontFile3"} for font in fonts)


def test_a_smoke_test_of_the_accessibility_standard_finds_nothing(
    pdf: bytes, tmp_path: Path
) -> None:
    import pdfua

    path = tmp_path / "report.pdf"
    path.write_bytes(pdf)
    assert [finding.message for finding in pdfua.validate(path).findings] == []


def test_the_html_is_one_closed_file(markup: str, outline: Outline) -> None:
    assert outline.open == []
    assert len(markup.encode()) < LARGEST_HTML_BYTES
    policies = [one for one in outline.of("meta") if "http-equiv" in one]
    assert policies == [{"http-equiv": "Content-Security-Policy", "content": POLICY}]
    assert outline.found[3][1] == policies[0]  # html, head, charset, policy
    assert not outline.of("script") + outline.of("link") + outline.of("img") + outline.of("iframe")


def test_no_address_of_the_html_leads_outside(markup: str, outline: Outline) -> None:
    addresses = [
        value
        for _, attributes in outline.found
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href", "action", "data", "poster", "srcset"}
    ]
    assert addresses
    assert all(address.startswith("#") for address in addresses)
    style = "".join(re.findall(r"(?s)<style>(.*?)</style>", markup))
    assert "@import" not in style
    assert all(
        address.startswith(("data:font/woff2", "#"))
        for address in re.findall(r"url\(([^)]*)\)", style)
    )
    assert not [name for _, attributes in outline.found for name in attributes if name[:2] == "on"]


def test_the_html_has_the_structure_that_a_listener_needs(outline: Outline) -> None:
    assert outline.of("html")[0]["lang"] == "en"
    assert len(outline.of("h1")) == len(outline.of("main")) == len(outline.of("title")) == 1
    ids = [attributes["id"] for _, attributes in outline.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = {attributes["aria-labelledby"] for attributes in outline.of("section")}
    assert named <= set(ids)
    targets = [one["href"][1:] for one in outline.of("a")]
    assert set(targets) <= set(ids)
    labels = [one["aria-label"] for one in outline.of("aside")]
    assert len(labels) == len(set(labels))


def test_every_drawing_and_formula_is_told_in_words(outline: Outline) -> None:
    drawings = outline.of("svg")
    assert len(drawings) >= 8
    assert all(one["role"] == "img" and len(one["aria-label"]) > 20 for one in drawings)
    formulas = outline.of("math")
    assert len(formulas) >= 5
    assert all(len(one["alttext"]) > 10 for one in formulas)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_browser_finds_no_barrier_and_asks_for_nothing(
    tmp_path: Path, browser: Any, scheme: str, width: int, language: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    (path,) = Report(sample(), language).save(tmp_path, formats=["html"])
    size = {"width": width, "height": 900}
    page = browser.new_page(viewport=size, color_scheme=scheme)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    violations = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations] == []
    assert [url for url in asked if not url.startswith(("data:", path.as_uri()))] == []
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_poppler_reads_the_pdf_without_a_word_of_complaint(pdf: bytes, tmp_path: Path) -> None:
    program = shutil.which("pdfinfo")
    if program is None:
        pytest.skip("pdfinfo is not on this machine")
    (tmp_path / "report.pdf").write_bytes(pdf)
    done = subprocess.run(
        [program, str(tmp_path / "report.pdf")], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "Tagged:          yes" in done.stdout
