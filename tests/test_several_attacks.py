"""Holm's correction: of several attacks, which excess is said to be shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml
from sample_assessment import linkability, sample
from scipy.stats import norm

from evalkit import intervals
from evalkit.report.document import Report
from evalkit.report.findings import findings_of
from evalkit.report.pages import Pages
from evalkit.report.subject import Subject
from evalkit.report.view_rows import criterion_words
from evalkit.report.view_verdict import plain_sentences, verdict_title
from evalkit.report.words import load_words
from evalkit.several_attacks import holm, p_value

if TYPE_CHECKING:
    from evalkit.records import Assessment, Result

TEMPLATES = Path(__file__).resolve().parent.parent / "report_templates"
LINK = "linkability_protection_rate"
JUST_OVER = {"excess": 0.026, "excess_interval": [0.001, 0.051]}
STRONG = {"excess": 0.2, "excess_interval": [0.18, 0.22]}
QUIET = {"excess": 0.0, "excess_interval": [-0.02, 0.02]}


@pytest.mark.parametrize(
    ("p_values", "stands"),
    # By hand: 0.05/3 = 0.0167, 0.05/2 = 0.025, 0.05.
    [
        ([0.01, 0.03, 0.04], [True, False, False]),
        ([0.04, 0.01, 0.02], [True, True, True]),
        ([0.03, 0.04, 0.02], [False, False, False]),
        ([0.026, 0.016, 0.001], [True, True, True]),
        ([0.05], [True]),
        ([0.06], [False]),
        ([], []),
    ],
)
def test_holm_compares_the_smallest_first(p_values: list[float], stands: list[bool]) -> None:
    assert holm(p_values) == stands


def test_ten_attacks_need_one_in_two_hundred() -> None:
    others = [1.0] * 9
    assert holm([0.0049, *others])[0]
    assert not holm([0.0051, *others])[0]


@pytest.mark.parametrize("counts", [(60, 200, 20, 200), (8, 500, 0, 500), (480, 500, 110, 125)])
def test_the_p_value_of_two_groups_is_where_their_own_interval_reaches_0(
    counts: tuple[int, int, int, int],
) -> None:
    hits, n, control_hits, m = counts
    facts = {
        "excess": hits / n - control_hits / m,
        "excess_interval": intervals.newcombe_difference(*counts),
        "success_share": hits / n,
        "attempts": n,
        "control_share": control_hits / m,
        "control_attempts": m,
    }
    found = p_value(facts)
    assert found is not None
    low, _ = intervals.newcombe_difference(*counts, quantile=float(norm.isf(found / 2)))
    assert low == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("excess", "ends", "p"),
    [
        (0.1, [0.0, 0.2], 0.05),
        (0.2, [0.1, 0.3], float(2 * norm.sf(2 * norm.isf(0.025)))),
        (-0.1, [-0.2, 0.0], 1.0),
        (0.1, [0.1, 0.1], 0.0),
    ],
)
def test_the_p_value_of_any_other_interval_stretches_it(
    excess: float, ends: list[float], p: float
) -> None:
    assert p_value({"excess": excess, "excess_interval": ends}) == pytest.approx(p, rel=1e-6)


def test_without_a_control_there_is_no_p_value() -> None:
    assert p_value({"excess": None, "excess_interval": None}) is None


def attack(facts: dict[str, Any], **changes: Any) -> Result:
    result = linkability("real", ["age", "sex"])
    fields = {"target": None, "verdict": "no target", **changes}
    return msgspec.structs.replace(result, facts=result.facts | facts, **fields)


def of_attacks(*leading: Result, quiet: int) -> Assessment:
    """Return an assessment of these attacks, the first under its own name, and quiet ones."""
    results = {LINK: leading[0]}
    results |= {f"further_{number}": one for number, one in enumerate(leading[1:])}
    results |= {
        f"quiet_{number}": attack(QUIET, criterion="singling out") for number in range(quiet)
    }
    return msgspec.structs.replace(sample(), results=results, more_scenarios=[])


def subject_of(assessment: Assessment) -> Subject:
    return Subject(assessment, b"", load_words("en"), Pages("en"))


def test_one_attack_of_ten_that_is_just_over_is_not_said_to_show_a_leak() -> None:
    subject = subject_of(of_attacks(attack(JUST_OVER), quiet=9))
    title = verdict_title(subject)
    assert title == "No target was set; an excess in linkability that may be chance"
    cell = criterion_words(subject.of_criterion("linkability"), subject)
    assert cell.startswith(
        "The 95\u202f% interval of the excess over the control lies above 0 (0.1 to 5.1 points),"
        " but of ten attacks this may be chance (Holm’s correction)."
    )
    assert "Evidence" not in cell
    said = " ".join(plain_sentences(subject))
    assert "among ten attacks this may be chance" in said
    assert "Evidence of an excess" not in said


def test_alone_the_same_attack_shows_its_excess() -> None:
    subject = subject_of(of_attacks(attack(JUST_OVER), quiet=0))
    assert verdict_title(subject).endswith("; an excess in linkability")
    cell = criterion_words(subject.of_criterion("linkability"), subject)
    assert cell.startswith("Evidence of an excess over the control: 0.1 to 5.1 points (95\u202f%")


def test_a_strong_leak_is_said_among_ten_attacks_too() -> None:
    subject = subject_of(of_attacks(attack(STRONG), quiet=9))
    assert verdict_title(subject).endswith("; an excess in linkability")
    cell = criterion_words(subject.of_criterion("linkability"), subject)
    assert cell.startswith(
        "Evidence of an excess over the control: 18.0 to 22.0 points (95\u202f% interval); of ten "
        "attacks, it stands after Holm’s correction."
    )


def test_an_excess_that_stands_leads_one_that_may_be_chance() -> None:
    lower = attack(JUST_OVER | {"expected_score": 1.0})
    subject = subject_of(of_attacks(lower, attack(STRONG), quiet=8))
    assert subject.of_criterion("linkability")[0].slug == "further_0"


def test_scenarios_are_corrected_apart() -> None:
    few, many = {LINK: attack(JUST_OVER)}, of_attacks(attack(JUST_OVER), quiet=9).results
    assert findings_of(few)[LINK] == ("excess", 1)
    assert findings_of(many)[LINK] == ("chance", 10)


def test_the_section_of_such_an_attack_says_that_its_page_reads_it_alone() -> None:
    report = Report(of_attacks(attack(JUST_OVER), quiet=9))
    section = report.html().split('<section id="s9"')[1].split("</section>")[0]
    told = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", section))
    assert "Linkability: an excess that may be chance" in told
    assert "What follows reads this attack alone, at 95 %." in told
    assert "an excess above the control" not in told


def test_methods_say_how_several_attacks_are_judged() -> None:
    html = Report(of_attacks(attack(JUST_OVER), quiet=9)).html()
    assert "Attacks compared with a control in this report: 10." in html
    assert "Holm, S. (1979)" in html


YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def test_every_source_that_a_page_names_stands_in_the_references() -> None:
    text = (TEMPLATES / "technical_assessment/en/references.yaml").read_text(encoding="utf-8")
    entries = [(one.partition(",")[0], one) for one in yaml.safe_load(text)["entries"]]
    named = {
        (path.parent.name, line)
        for path in TEMPLATES.glob("metrics/*/en.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if YEAR.search(line)
    }
    assert len(named) >= 10
    for page, line in named:
        found = [
            entry
            for surname, entry in entries
            if surname in line and any(f"({year})" in entry for year in YEAR.findall(line))
        ]
        assert found, (page, line)
