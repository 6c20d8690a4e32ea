"""Templates stay dumb, twins stay together, and a user's templates cannot reach out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jinja2 import Environment, nodes
from sample_assessment import bare, sample

import evalkit
from evalkit.report.document import Report
from evalkit.report.formats import FILTERS
from evalkit.resources import folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAMILY = folder("report_templates") / "technical_assessment"
TEMPLATES = sorted(FAMILY.rglob("*.j2"))
COMPUTING = (nodes.Compare, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.Mod, nodes.Pow)
MAKE = (nodes.FloorDiv, nodes.Call, nodes.CondExpr)


def parsed(path: Path) -> nodes.Template:
    # `not` and `~` are allowed: they choose and join, they do not compute.
    return Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))


def named(path: Path) -> str:
    return path.relative_to(FAMILY).as_posix()


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_a_layout_template_computes_nothing_and_compares_nothing(path: Path) -> None:
    tree = parsed(path)
    assert not list(tree.find_all((*COMPUTING, *MAKE)))
    assert {found.name for found in tree.find_all(nodes.Filter)} <= set(FILTERS)


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_a_layout_template_names_no_metric(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not [metric.slug for metric in evalkit.metrics.all() if metric.slug in source]


def test_every_piece_exists_for_html_and_for_typst() -> None:
    stems = {
        kind: {named(path).removesuffix(kind) for path in TEMPLATES if path.name.endswith(kind)}
        for kind in (".html.j2", ".typ.j2")
    }
    assert stems[".html.j2"] - stems[".typ.j2"] == {
        "batch",
        "comparison_notebook",
        "display",
        "exploration",
        "notebook",
        "notebook_style",
    }
    assert stems[".typ.j2"] - stems[".html.j2"] == {"style"}


def test_the_style_sheet_holds_nothing_that_a_template_engine_would_read() -> None:
    style = (FAMILY / "style.css").read_text(encoding="utf-8")
    assert not [mark for mark in ("{{", "{%", "{#", "<") if mark in style]


@pytest.fixture
def override(tmp_path: Path) -> Callable[[str, str], Path]:
    """Return a function that puts one file into a user's folder of templates."""

    def put(name: str, content: str) -> Path:
        path = tmp_path / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return tmp_path / "templates"

    return put


def test_a_users_part_takes_the_place_of_ours(override: Callable[[str, str], Path]) -> None:
    templates = override("technical_assessment/blocks/items.html.j2", "<p>Our own list.</p>")
    assert "<p>Our own list.</p>" in Report(bare(), templates=templates).html()


def test_a_users_words_take_the_place_of_ours(override: Callable[[str, str], Path]) -> None:
    templates = override("technical_assessment/en/labels.yaml", "not_tested: Left open")
    report = Report(bare(), templates=templates)
    assert '<h2 class="h3">Left open</h2>' in report.html()


def test_a_users_page_takes_the_place_of_ours(override: Callable[[str, str], Path]) -> None:
    page = "# Found {{ facts.n_linked | number }}\n\n## Name\n\nBridge\n\n## Question\n\nWhy?\n"
    templates = override("metrics/linkability_protection_rate/en.md", page)
    markup = Report(sample(), templates=templates).html()
    assert '<h2 id="h-s9">Found 746</h2>' in markup
    assert "<p><em>Why?</em></p>" in markup


ESCAPES = [
    "{{ title.__class__.__mro__ }}",
    "{{ ''.__class__ }}",
    "{{ sections.append.__self__ }}",
    "{{ title | safe }}",
    "{{ self.__init__.__globals__ }}",
    "{% include '../../../etc/hostname' %}",
    "{{ nothing_of_that_name }}",
    "{% for x in range(3) %}{% endfor %}",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_a_users_template_cannot_reach_into_python_or_out_of_its_folder(
    override: Callable[[str, str], Path], source: str
) -> None:
    templates = override("technical_assessment/blocks/items.html.j2", source)
    with pytest.raises(evalkit.InputError, match=r"items\.html\.j2|cannot be filled"):
        Report(bare(), templates=templates).html()


@pytest.mark.parametrize("source", ["{{ ''.__class__ }}", "{{ facts | safe }}", "{{ absent }}"])
def test_a_users_page_cannot_reach_into_python(
    override: Callable[[str, str], Path], source: str
) -> None:
    templates = override("metrics/linkability_protection_rate/en.md", f"# A\n\n{source}\n")
    with pytest.raises(evalkit.InputError, match=r"linkability_protection_rate/en\.md"):
        Report(sample(), templates=templates).html()


def test_switching_the_escaping_off_changes_nothing(
    override: Callable[[str, str], Path],
) -> None:
    source = "{% autoescape false %}{{ '<b>' ~ title ~ '</b>' }}{% endautoescape %}"
    templates = override("technical_assessment/blocks/items.html.j2", source)
    assert "&lt;b&gt;Technical assessment" in Report(bare(), templates=templates).html()


def test_a_link_out_of_the_folder_is_refused(
    override: Callable[[str, str], Path], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    templates = override("technical_assessment/blocks/note.html.j2", "")
    (templates / "technical_assessment" / "blocks" / "items.html.j2").symlink_to(secret)
    with pytest.raises(evalkit.InputError, match="must lie in the folder"):
        Report(bare(), templates=templates).html()


@pytest.mark.parametrize(
    "source", ['#import "@preview/x:0.1.0"', '#include "/etc/passwd"', '#eval("1")', '#plugin("x")']
)
def test_a_users_typst_template_cannot_call_for_other_files(
    override: Callable[[str, str], Path], source: str
) -> None:
    templates = override("technical_assessment/blocks/items.typ.j2", source)
    with pytest.raises(evalkit.InputError, match="may not stand in a Typst template"):
        Report(bare(), templates=templates).pdf()


def test_a_users_typst_template_can_read_nothing_outside_the_report(
    override: Callable[[str, str], Path],
) -> None:
    templates = override("technical_assessment/blocks/items.typ.j2", '#read("/etc/hostname")')
    with pytest.raises(evalkit.InputError, match="The PDF could not be set"):
        Report(bare(), templates=templates).pdf()


def test_words_of_another_form_are_refused_in_one_line(
    override: Callable[[str, str], Path],
) -> None:
    templates = override("technical_assessment/en/labels.yaml", "no_such_label: x")
    with pytest.raises(evalkit.InputError, match="unknown entry 'no_such_label'"):
        Report(bare(), templates=templates).html()
    templates = override("technical_assessment/en/labels.yaml", "not_tested: [a, b]")
    with pytest.raises(evalkit.InputError, match="another form"):
        Report(bare(), templates=templates).html()


def test_a_missing_folder_of_templates_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(evalkit.InputError, match="'none_here' is no folder"):
        Report(bare(), templates=tmp_path / "none_here")
