"""The report: the same facts in both outputs, no word too much, nothing lost."""

from __future__ import annotations

import functools
import html
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pypdfium2
import pytest
from sample_assessment import HOSTILE, NAMES, bare, sample, with_result

import evalkit
from evalkit.messages import say
from evalkit.records import Assessment, Target
from evalkit.report.document import Report
from evalkit.report.wording import attack_finding, grade, verdict_words
from evalkit.report.words import load_words

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.records import Result

FORBIDDEN = re.compile(
    r"\b(anonymous|anonymized|anonymised data|safe|secure|no risk|zero risk|guaranteed|certified|"
    r"compliant|gdpr-proof|approved by the cnil|cannot be re-identified|significant)\b",
    re.IGNORECASE,
)
RISK_SCALE = re.compile(r"negligible\s+limited\s+significant\s+maximum")
"""The scale of the sign-off form, which the controller fills in."""
LINK, CORRELATION = "linkability_protection_rate", "correlation_difference_ratio"


VARIANTS = ("real holdout", "approximate holdout", "nothing measured", "two columns")


@functools.cache
def report_of(variant: str) -> Report:
    """Return the report of a variant; drawing its figures takes most of a second."""
    if variant == "nothing measured":
        return Report(bare())
    if variant == "two columns":
        return Report(sample(names=NAMES[:2]))
    return Report(sample(holdout_kind=variant.split(maxsplit=1)[0]))


def pdf_pages(report: Report) -> list[str]:
    with pypdfium2.PdfDocument(report.pdf()) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def words_of(markup: str) -> str:
    """Return what a reader sees of an HTML report, the attached JSON left out."""
    body = re.sub(r"(?s)<style>.*?</style>|<details.*?</details>", " ", markup)
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


@pytest.fixture
def report() -> Report:
    return report_of("real holdout")


def test_the_same_assessment_gives_the_same_bytes_twice(report: Report) -> None:
    again = Report(msgspec.json.decode(sample().json(), type=Assessment))
    assert again.html() == report.html()
    assert again.pdf() == report.pdf()


def test_saving_writes_three_whole_files_and_leaves_no_other(
    report: Report, tmp_path: Path
) -> None:
    paths = report.save(tmp_path / "out")
    names = ["technical_assessment.html", "technical_assessment.pdf", "assessment.json"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    assert paths[2].read_bytes() == report.assessment.json()


def test_an_unknown_format_or_language_is_one_clear_line_and_nothing_is_written(
    report: Report, tmp_path: Path
) -> None:
    with pytest.raises(evalkit.InputError, match="'docx' is unknown"):
        report.save(tmp_path / "out", formats=("html", "docx"))
    assert not (tmp_path / "out").exists()
    with pytest.raises(evalkit.InputError, match="'xx' is unknown"):
        Report(sample(), language="xx")


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_section_stands_in_its_order_in_both_outputs(variant: str) -> None:
    report = report_of(variant)
    outline = load_words("en")["outline"]["sections"]
    numbers = re.findall(r'<section id="s(\w+)"', report.html())
    assert numbers == [entry["number"] for entry in outline]
    contents = pdf_pages(report)[1].split("What is where")[1]
    purposes = [contents.find(entry["purpose"]) for entry in outline]
    assert -1 not in purposes
    assert purposes == sorted(purposes)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_verdict_takes_one_page(variant: str) -> None:
    pages = pdf_pages(report_of(variant))
    assert "This report supports a decision, it does not take it." in pages[0]
    assert "Not tested" in pages[0]
    assert "What is where" in pages[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_forbidden_word_is_printed(variant: str) -> None:
    report = report_of(variant)
    text = words_of(report.html())
    for printed in (text, " ".join(pdf_pages(report))):
        assert not FORBIDDEN.findall(RISK_SCALE.sub("", printed))


def test_the_scan_for_forbidden_words_finds_one() -> None:
    assert FORBIDDEN.search("These data are anonymous.")
    assert FORBIDDEN.search("A significant excess")


def test_html_and_pdf_say_the_same_on_the_first_page(report: Report) -> None:
    first = re.sub(r"\s+", " ", pdf_pages(report)[0])
    section = report.html().split('<section id="contents"')[0]
    for words in (
        "One target met, one missed; an excess in linkability",
        "Evidence of an excess over the control: 0.4 to 4.7 points (95 % interval).",
        "83.6 to 85.6",
        "5b70c9e2",
    ):
        assert words in re.sub(r"\s+", " ", words_of(section))
        assert words in first


def test_the_average_over_ties_is_the_number_on_the_first_page(report: Report) -> None:
    rows = report._view["verdict"]["rows"]
    assert [row["score"] for row in rows] == ["–", "84.6", "–", "–", "65.8"]


def test_the_caveat_of_an_approximate_holdout_stands_on_the_first_page() -> None:
    report = Report(sample(holdout_kind="approximate"))
    caveat = "its people were anonymised too, so it is no independent control"
    assert caveat in re.sub(r"\s+", " ", pdf_pages(report)[0])
    assert "No control: leak and general knowledge cannot be told apart." in words_of(report.html())


def test_what_was_not_declared_is_said(report: Report) -> None:
    section = report.html().split('<section id="s3"')[1].split("<section")[0]
    declared = [entry[0] for entry in load_words("en")["context"]["context"]]
    assert section.count("<strong>not declared</strong>") == len(declared) - 2
    assert "method development for length-of-stay models" in section


def test_a_declaration_is_found_however_its_key_is_written() -> None:
    declared = {"Release model": "open file", "intruder": {"Done-by": "a student"}}
    text = words_of(Report(msgspec.structs.replace(bare(), declared=declared)).html())
    assert re.search(r"Release model \(open file[^)]*\)\s+open file", text)
    assert re.search(r"hours spent\s+a student", text)
    assert "A motivated intruder with outside sources: not done." not in text


def test_an_unknown_declaration_is_printed_too() -> None:
    declared = {"favourite_colour": "blue"}
    report = Report(msgspec.structs.replace(sample(), declared=declared))
    assert "favourite_colour" in words_of(report.html())


def test_every_warning_is_in_the_ledger_once_and_counted() -> None:
    twice = say("odd", "Something odd in {column}.", column="age")
    assessment = with_result(sample(), LINK, warnings=[twice, twice])
    ledger = Report(assessment).html().split('id="h-s13"')[1].split("<section")[0]
    assert ledger.count("Something odd in age.") == 1
    row = ledger.split("Something odd in age.")[1].split("</tr>")[0]
    assert "Linkability protection rate" in row
    assert re.findall(r"<span>(\d+)</span>", row) == ["2"]


def test_a_measure_of_another_version_without_a_page_is_still_reported() -> None:
    assessment = sample()
    results = assessment.results | {"../../secret": assessment.results[LINK]}
    text = words_of(Report(msgspec.structs.replace(assessment, results=results)).html())
    assert "This version of evalkit has no page for this measure." in text


def test_names_from_the_data_stay_text_in_both_outputs() -> None:
    report = Report(sample(names=[*HOSTILE, "a" * 300, "b\x00\u202e c"]))
    markup = report.html()
    assert "<script" not in markup
    assert html.escape(HOSTILE[0], quote=True).replace("&#x27;", "'") in markup
    assert "49" not in re.findall(r"<td[^>]*>\s*<span>(\d+)</span>", markup)
    text = re.sub(r"\s+", "", "".join(pdf_pages(report))).replace("\u200b", "")
    for name in HOSTILE[:2]:
        assert re.sub(r"\s+", "", name) in text


def test_a_name_that_no_font_has_is_spelt_and_not_dropped() -> None:
    report = Report(sample(names=["中文", *NAMES[1:]]))
    assert "U+4E2D" in " ".join(pdf_pages(report))
    assert "中文" in report.html()


STRANGE = [
    *("\U0001f469\u200d\U0001f467", "e\u0301", "\u0639\u0631\u0628\u064a", "a\u00adb", "z\u200bw"),
    *("\ufe0f", "\ue0ff", "\U000f0000", "\u0378", "\u2028", "\U0001f1eb\U0001f1f7", "x" * 90),
]


def test_no_name_of_a_column_keeps_the_pdf_from_being_made() -> None:
    assessment = bare()
    first = assessment.release.variables[0]
    variables = [msgspec.structs.replace(first, name=name) for name in STRANGE]
    release = msgspec.structs.replace(assessment.release, variables=variables)
    scenario = msgspec.structs.replace(assessment.scenario, known=STRANGE)
    strange = msgspec.structs.replace(assessment, release=release, scenario=scenario)
    assert "U+E0FF" in " ".join(pdf_pages(Report(strange)))


def test_a_folder_that_is_a_file_is_one_clear_line(report: Report, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(evalkit.InputError, match="taken: the report cannot be written"):
        report.save(tmp_path / "taken", formats=["json"])


def test_the_display_in_a_notebook_is_small_static_and_keeps_to_itself(report: Report) -> None:
    shown = report._repr_html_()
    assert len(shown) < 20_000
    assert not re.search(r"<(script|iframe|link|img)\b", shown)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", shown)
    classes = re.findall(r'class="([^"]*)"', shown)
    assert all(name.startswith("evalkit-") or name == "strip" for name in classes)
    rules = re.search(r"(?s)<style>(.*?)</style>", shown)
    assert rules is not None
    assert all(rule.lstrip().startswith(".evalkit-report") for rule in rules[1].strip().split("\n"))


def test_the_text_form_names_each_criterion(report: Report) -> None:
    lines = repr(report).splitlines()
    assert lines[0] == "Report: One target met, one missed; an excess in linkability"
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        *("Singling out", "Linkability", "Inference", "Membership", "Utility")
    ]


def changed(**fields: object) -> Result:
    return with_result(sample(), CORRELATION, **fields).results[CORRELATION]


@pytest.mark.parametrize(
    ("key", "fields"),
    [
        ("met_whole", {"verdict": "met", "score": 90.0, "interval": (80.0, 95.0)}),
        ("met_crosses", {"verdict": "met", "score": 71.0, "interval": (70.0, 95.0)}),
        ("met_alone", {"verdict": "met", "score": 90.0, "interval": None}),
        ("met_alone", {"verdict": "met", "score": 90.0, "interval_method": "splits"}),
        ("not_met_crosses", {"interval": (58.9, 70.1)}),
        ("not_met_whole", {"interval": (58.9, 70.0)}),
        ("no_target", {"verdict": "no target", "target": None}),
        ("not_judged", {"verdict": "not applicable", "reason": say("few", "too few rows")}),
        ("not_measured", {"status": "not applicable", "reason": say("few", "too few rows")}),
    ],
)
def test_the_words_of_a_verdict_follow_the_interval(key: str, fields: dict[str, object]) -> None:
    result = changed(**fields)
    assert grade(result) == key
    words = verdict_words(result, load_words("en"))
    assert words
    assert "{" not in words
    assert ("Too few rows." in words) == (key in {"not_judged", "not_measured"})


def test_a_range_over_splits_is_called_so_on_the_first_page() -> None:
    assessment = with_result(sample(), CORRELATION, interval_method="splits")
    row = Report(assessment)._view["verdict"]["rows"][4]
    assert row["interval"] == "range over splits 58.9 to 73.6"


@pytest.mark.parametrize(
    ("finding", "facts"),
    [
        ("excess", {}),
        ("excess", {"detectable_excess": 0.2}),
        ("no_evidence", {"excess_interval": [-0.01, 0.04]}),
        ("reverse", {"excess_interval": [-0.05, -0.01]}),
        ("too_weak", {"excess_interval": [-0.01, 0.04], "detectable_excess": 0.11}),
        ("too_weak", {"excess_interval": [-0.01, 0.04], "self_score": 91.0}),
        ("too_weak", {"excess_interval": [-0.01, 0.04], "naive_share": 0.2}),
        ("no_control", {"excess_interval": None}),
    ],
)
def test_an_attack_is_worded_by_its_control(finding: str, facts: dict[str, object]) -> None:
    result = sample().results[LINK]
    assert attack_finding(msgspec.structs.replace(result, facts=result.facts | facts)) == finding


def test_a_missed_privacy_target_leads_its_row_and_names_the_way_on() -> None:
    target = Target(operator=">=", value=90.0, issuer="hospital", definition="same")
    assessment = with_result(sample(), LINK, target=target, verdict="not met")
    text = re.sub(r"\s+", " ", words_of(Report(assessment).html()))
    assert "Two targets missed; an excess in linkability" in text
    assert "target not met under the profile northern-2026, set by hospital." in text


def test_a_report_is_made_from_the_file_alone_where_pandas_cannot_be_imported(
    tmp_path: Path,
) -> None:
    path = sample().save(tmp_path / "assessment.json")
    script = (
        "import sys; sys.modules['pandas'] = None; sys.modules['pyarrow'] = None\n"
        "import evalkit\n"
        "report = evalkit.Report(evalkit.Assessment.read(sys.argv[1]))\n"
        "report.save(sys.argv[2]); report._repr_html_()\n"
        "loaded = {'evalkit.release', 'evalkit.reading', 'evalkit.quantities'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    command = [sys.executable, "-c", script, str(path), str(tmp_path / "out")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "technical_assessment.pdf").read_bytes().startswith(b"%PDF")
