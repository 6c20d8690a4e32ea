"""The report in French: nothing English is left in it, and every branch of a page fits its room."""

from __future__ import annotations

import html
import re
from typing import Any

import pypdfium2
import pytest
import test_control_attack_pages as control_pages
import test_metric_pages as founding_pages
from sample_assessment import sample
from test_contract import linked_tables

import evalkit
from evalkit.prose import plain
from evalkit.report.document import Report
from evalkit.report.pages import PARTS, Pages

ENGLISH = re.compile(
    r"\b(the|of|and|with|are|is|was|were|not|people|from|by|for|this|that|none|rows|unknown|least"
    r"|under|over|share|target|missing|between|found|known|shown|than|their|one|two)\b"
)
TITLES = (
    "Confidence intervals for an effect size measure based on the Mann–Whitney statistic",
    "Holdout-based empirical assessment of mixed-type synthetic data",
    "disclosive in synthetic and correct in original",
    "Note on the bias of information estimates",
    "train on synthetic, test on real",
    "Real-valued (medical) time series generation with recurrent conditional GANs",
    "Patient-centric synthetic data generation, no reason to risk re-identification in biomedical",
    "Construction of confidence limits about effect measures",
    "Membership inference attacks against synthetic data through overfitting detection",
    "Information Theory in Psychology",
    "Revisiting classifier two-sample tests, International Conference on Learning Representations",
)
"""Titles of sources, which stay in their language."""
NUMBER_WITH_POINT = re.compile(r"(?<![\d.:])\d+\.\d+(?![\d.])")
OPTIONS = re.compile(r"--[a-z-]+")
LONGEST_TITLE, LONGEST_SUMMARY = 55, 230


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a French report on every measure, two scenarios, a profile and real numbers."""
    tables = linked_tables()
    release = evalkit.load(*tables, row_link=True)
    scenarios = [
        evalkit.Scenario(sensitive="smoker"),
        evalkit.Scenario("mairie", known=["age", "town"], sensitive="smoker"),
    ]
    slugs = [metric.slug for metric in evalkit.metrics.all()]
    assessment = evalkit.assess(release, scenarios, metrics=slugs, profile="vendor-2026")
    return Report(assessment, "fr")


def sections(report: Report) -> dict[str, str]:
    """Return the text of each section as a reader sees it."""
    markup = report.html()
    found = re.findall(r'<section id="(\w+)".*?</section>', markup, re.DOTALL)
    parts = [markup.split(f'<section id="{one}"')[1].split("</section>")[0] for one in found]
    return {one: text_of(part) for one, part in zip(found, parts, strict=True)}


def text_of(markup: str) -> str:
    """Return what markup says, figures and their alternatives included."""
    alternatives = " ".join(re.findall(r'aria-label="([^"]*)"', markup))
    words = re.sub(r"<(style|math)\b.*?</\1>|<[^>]+>", " ", markup, flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", f"{words} {alternatives}"))


def test_nothing_english_is_left_outside_data_and_titles(report: Report) -> None:
    said = sections(report)
    assert len(said) == 22
    for name in said.keys() - {"sB", "sC", "sF"}:
        text = said[name]
        for title in TITLES:
            text = text.replace(title, "")
        text = OPTIONS.sub("", text)
        found = [text[max(0, one.start() - 60) : one.end() + 40] for one in ENGLISH.finditer(text)]
        assert not found, name


def test_every_number_of_the_findings_has_a_decimal_comma(report: Report) -> None:
    said = sections(report)
    for name in ("s1", "s8", "s9", "s10", "s11", "s12"):
        text = re.sub(r"arXiv.\d+\.\d+|scikit-learn [\d.]+", "", said[name])
        assert NUMBER_WITH_POINT.search(text) is None, name
    assert re.search(r"\d,\d \u00e0 \d+,\d", said["s1"])


def test_the_documents_say_that_they_are_in_french() -> None:
    report = Report(sample(), "fr")
    assert report.html().startswith('<!doctype html>\n<html lang="fr">')
    assert 'lang="fr"' in report._repr_html_()
    content = report.pdf()
    assert b"/Lang(fr)/StructTreeRoot" in content
    with pypdfium2.PdfDocument(content) as document:
        first = document[0].get_textpage().get_text_bounded()
    assert "29 novembre 2026" in re.sub(r"\s", " ", first)
    assert "3\u00a0nov.\u00a02026" in first or "nov. 2026" in re.sub(r"\s", " ", first)


def test_the_archived_file_is_the_same_in_every_language() -> None:
    assert Report(sample(), "fr").assessment.json() == Report(sample(), "en").assessment.json()
    assert "all columns" in sample().json().decode()
    assert "toutes les colonnes" in Report(sample(), "fr").html()


def made_up_pages() -> list[Any]:
    """Return pages with their made-up contexts, every branch that the English tests know."""
    founding = [
        pytest.param(slug, facts, changes, kind, id=f"{slug}-{place}-{kind}")
        for place, one in enumerate(founding_pages.all_pages())
        for slug, facts, changes in [one.values]
        for kind in ("real", "approximate")
    ]
    changes_of = {name: case[0] for name, case in control_pages.CASES.items()}
    attacks = [
        pytest.param(slug, control_pages.ATTACK | facts | change, {}, "real", id=f"{slug}-{name}")
        for slug, facts in control_pages.FACTS.items()
        for name, change in [
            *changes_of.items(),
            *((str(place), one) for place, one in enumerate(control_pages.OTHERS.get(slug, []))),
        ]
    ]
    return [*founding, *attacks]


@pytest.mark.parametrize(("slug", "facts", "changes", "kind"), made_up_pages())
def test_every_branch_of_a_page_fits_its_room_in_french(
    slug: str, facts: dict[str, Any], changes: dict[str, Any], kind: str
) -> None:
    result = {
        "score": 84.5,
        "interval": [83.6, 85.6],
        "target": founding_pages.TARGET,
        "verdict": "met",
        "facts": facts,
    } | changes
    context = {
        "result": result,
        "facts": facts,
        "release": {"holdout_kind": kind, "individual": None},
        "scenario": {"name": "mairie", "sensitive": "sexe", "min_count": 11},
        "words": {},
    }
    page = Pages("fr").render(slug, context)
    assert 0 < len(page.title) <= LONGEST_TITLE
    summary = page.part("Summary")
    assert summary is not None
    said = plain(summary.markdown, summary.values)
    assert 40 < len(said.replace(founding_pages.HOSTILE, "name")) <= LONGEST_SUMMARY
    for heading in ("Verdict", *PARTS):
        part = page.part(heading)
        words = plain(part.markdown, part.values) if part else ""
        assert "\ue000" not in words
        assert re.search(r" [;!?%»]|« | :(?:\s|$)", words) is None, words


def test_a_comparison_is_in_french_too() -> None:
    from evalkit.report.comparison import ComparisonReport

    compared = ComparisonReport(
        evalkit.compare([sample(), sample(holdout_kind="approximate")]), "fr"
    )
    said = text_of(compared.html())
    assert "toutes les colonnes" in said
    assert "29 novembre 2026" in said
    assert not [one[0] for one in ENGLISH.finditer(said.replace(sample().title, ""))]
