"""Templates of a stranger: every error is one line with its place, and nothing grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jinja2.exceptions import SecurityError
from sample_assessment import bare, sample

import evalkit
from evalkit.report.bounded_templates import BoundedEnvironment
from evalkit.report.document import Report

if TYPE_CHECKING:
    from pathlib import Path

SLUG = "linkability_protection_rate"


def filled(source: str) -> str:
    return BoundedEnvironment(str).from_string(source).render(rows=["a", "b"])


def test_numbers_are_computed_and_short_texts_joined() -> None:
    assert filled("{{ 2 * 3 }} {{ 7 % 4 }} {{ 2 ** 5 }} {{ 'a' + 'b' ~ 1 }}") == "6 3 32 ab1"
    assert filled("{% for row in rows %}{{ loop.index }}{{ row }}{% endfor %}") == "1a2b"


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' * 10**9 }}",
        "{{ 10**9 * [1] }}",
        "{{ 10**5000 }}",
        "{{ 2**60 ** 40 }}",
        "{% set a = 2**60 %}" + "{% set a = a * a %}" * 9 + "{{ a }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ 1 | number(1000000000) }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ 'x'.replace('x', 'xx') }}",
        "{% set a = 'xxxxxxxx' %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
        "{% set a = 'xxxxxxxx' %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
        "{% set a = [1, 2] %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
        "{% set a %}xxxxxxxx{% endset %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40,
        "{% set s = '0123456789' %}" + "{% for a in s %}" * 20 + "x" + "{% endfor %}" * 20,
    ],
)
def test_what_would_grow_without_end_is_refused(source: str) -> None:
    with pytest.raises(SecurityError):
        filled(source)


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """Return the folder of a user who has no template yet."""
    (tmp_path / "technical_assessment" / "blocks").mkdir(parents=True)
    (tmp_path / "metrics" / SLUG).mkdir(parents=True)
    (tmp_path / "fonts").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "source",
    [
        "{{ 1/0 }}",
        "{{ '%s' % (1,2) }}",
        "{{ 10**5000 }}",
        "{% include '/etc/passwd' %}",
        "{{ 'x'*10**9 }}",
        "{{ absent }}",
        "{% if %}",
        "![x](http://evil/x.png)",
    ],
)
def test_an_error_in_a_users_page_names_the_file_and_the_line(templates: Path, source: str) -> None:
    page = f"# A\n\n## Name\n\nLink\n\n## Reading\n\n{source}\n"
    (templates / "metrics" / SLUG / "en.md").write_text(page, encoding="utf-8")
    with pytest.raises(evalkit.InputError) as caught:
        Report(sample(), templates=templates).html()
    told = str(caught.value)
    assert told.startswith((f"{SLUG}/en.md, line 9: ", f"{SLUG}/en.md, part 'Reading' from line 7"))
    assert "\n" not in told


def test_a_users_page_or_template_in_bad_letters_is_one_line(templates: Path) -> None:
    (templates / "metrics" / SLUG / "en.md").write_bytes(b"# \xff\n")
    with pytest.raises(evalkit.InputError, match=rf"{SLUG}/en\.md: cannot be read \(not UTF-8"):
        Report(sample(), templates=templates).html()
    (templates / "metrics" / SLUG / "en.md").unlink()
    (templates / "technical_assessment" / "document.html.j2").write_bytes(b"\xff")
    with pytest.raises(evalkit.InputError, match=r"document\.html\.j2: cannot be read \(not UTF-8"):
        Report(bare(), templates=templates).html()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("\n{{ 1/0 }}", "line 2: the template cannot be filled: division by zero"),
        ("{% extends 'document.html.j2' %}", "calls itself without end"),
        ("{% if %}", "line 1: "),
        ("\n{{ 'x'*10**9 }}", "line 2: the template cannot be filled: '*' may join numbers only"),
        ("\n\n{{ title['x']['y'] }}", "line 3: "),
    ],
)
def test_an_error_in_a_users_template_names_the_file_and_the_line(
    templates: Path, source: str, reason: str
) -> None:
    path = templates / "technical_assessment" / "document.html.j2"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(evalkit.InputError) as caught:
        Report(bare(), templates=templates).html()
    assert str(caught.value).startswith("document.html.j2, line ")
    assert reason in str(caught.value)


def test_a_broken_formula_of_a_user_is_one_line(templates: Path) -> None:
    (templates / "metrics" / SLUG / "formula.typ").write_text("#nonsense(", encoding="utf-8")
    with pytest.raises(evalkit.InputError, match=f"^{SLUG}/"):
        Report(sample(), templates=templates).html()


def test_a_picture_in_a_users_words_is_one_line(templates: Path) -> None:
    words = templates / "technical_assessment" / "en"
    words.mkdir()
    words.joinpath("texts.yaml").write_text("data: ['![x](http://evil/x.png)']\n", encoding="utf-8")
    with pytest.raises(evalkit.InputError, match=r"templates: .* cannot be used: "):
        Report(bare(), templates=templates).html()


def test_a_file_that_is_no_font_is_named(templates: Path) -> None:
    (templates / "fonts" / "X.ttf").write_bytes(b"garbage")
    with pytest.raises(evalkit.InputError, match=r"fonts/X\.ttf: not a font"):
        Report(bare(), templates=templates).pdf()


def test_no_private_folder_is_named_by_an_error_of_the_compiler(templates: Path) -> None:
    path = templates / "technical_assessment" / "blocks" / "items.typ.j2"
    path.write_text('#read("/etc/hostname")', encoding="utf-8")
    with pytest.raises(evalkit.InputError, match="The PDF could not be set") as caught:
        Report(bare(), templates=templates).pdf()
    assert "evalkit-" not in str(caught.value)


@pytest.mark.parametrize("given", ["x" * 300, "a\0b", 5])
def test_a_folder_that_no_file_system_takes_is_one_line(given: str) -> None:
    with pytest.raises(evalkit.InputError, match="templates: "):
        Report(bare(), templates=given)
