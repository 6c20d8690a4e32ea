"""Page 1: one page whatever was measured, and no more than the evidence holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import pypdfium2
import pytest
from sample_assessment import bare, correlation, linkability, not_applicable, sample, with_result
from test_contract import people

import evalkit
from evalkit.messages import say
from evalkit.records import Subgroup, SubgroupScore, SubgroupsRecord, Target
from evalkit.report.blocks import table
from evalkit.report.document import Report
from evalkit.report.pages import Pages
from evalkit.report.subject import Subject
from evalkit.report.view_ledger import ledger_blocks
from evalkit.report.view_rows import criterion_words, verdict_key, verdict_row
from evalkit.report.view_verdict import plain_sentences, verdict_title
from evalkit.report.wording import attack_words
from evalkit.report.words import load_words
from evalkit.resources import metric_page

if TYPE_CHECKING:
    from evalkit.records import Assessment, Result

LINK, ROWS, HIDDEN = "linkability_protection_rate", "row_direct_match_protection", "hidden_rate"
LONG = "a_column_whose_name_is_longer_than_any_table_is_wide_and_goes_on"


def subject_of(assessment: Assessment) -> Subject:
    return Subject(assessment, b"", load_words("en"), Pages("en"))


def linked(**changes: Any) -> Result:
    return msgspec.structs.replace(linkability("real", ["age", "sex"]), **changes)


def with_measures(**results: Result) -> Subject:
    """Return a report on these results of linkability alone."""
    assessment = msgspec.structs.replace(sample(), results=results, more_scenarios=[])
    return subject_of(assessment)


def words_for(**results: Result) -> str:
    subject = with_measures(**results)
    return criterion_words(subject.of_criterion("linkability"), subject)


def judged(verdict: str, **changes: Any) -> Result:
    value = 80.0 if verdict == "met" else 90.0
    target = Target(operator=">=", value=value, issuer="us", definition="same")
    return linked(target=target, verdict=verdict, facts={"expected_score": 84.6}, **changes)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    """Return every measure with a target, in two scenarios, with long names everywhere."""
    tables = [people(160, seed).rename(columns={"pressure": LONG}) for seed in (1, 2, 3)]
    release = evalkit.load(*tables, row_link=True)
    targets = "\n".join(
        f"  - {{metric: {one.slug}, operator: '>=', value: {90 if place % 2 else 5}, "
        f"unit: '{one.unit}', definition: {('same', 'similar', 'by analogy')[place % 3]}}}"
        for place, one in enumerate(evalkit.metrics.all())
    )
    path = tmp_path_factory.mktemp("profile") / "long.yaml"
    path.write_text(
        "name: long\ntitle: {en: Long}\nissuer: The controller of the cohort of the north\n"
        "issuer_role: controller\ndate: 2026-11-03\nstatus: internal\nsource: {title: none}\n"
        f"caveat: {{en: none}}\ntargets:\n{targets}\n",
        encoding="utf-8",
    )
    scenarios = [
        evalkit.Scenario("press", known=["age", "town"], sensitive=LONG),
        evalkit.Scenario("clinic", known=["age", "town", "visits"], sensitive=LONG),
    ]
    return evalkit.assess(
        release,
        scenarios,
        metrics=[one.slug for one in evalkit.metrics.all()],
        profile=str(path),
        title="A release with a title that is as long as a title of a release may be at all",
        declared={"purpose": "a purpose of many words " * 9, "recipient": "a recipient " * 9},
    )


HEADS = {"en": ("Verdict by criterion.", "What is where"), "fr": ("Verdict par", "Où trouver quoi")}
LOWEST_PT = 48.0
"""What stands lower runs into the margin of the page."""


def first_two(assessment: Assessment, language: str) -> tuple[str, str]:
    """Return the texts of pages 1 and 2; nothing of page 1 stands in its margin."""
    with pypdfium2.PdfDocument(Report(assessment, language).pdf()) as document:
        texts = [document[place].get_textpage() for place in (0, 1)]
        lowest = min(texts[0].get_rect(one)[1] for one in range(texts[0].count_rects()))
        assert lowest >= LOWEST_PT
        first, second = (re.sub(r"\s+", " ", one.get_text_bounded()) for one in texts)
    return first, second


@pytest.mark.parametrize("language", HEADS)
def test_the_first_page_is_one_page_in_every_language(
    everything: Assessment, language: str
) -> None:
    key, contents = HEADS[language]
    first, second = first_two(everything, language)
    assert key in first
    assert contents in second
    copied = [say("copy", "A copy."), say("all_avatars_are_originals", "All.")]
    release = msgspec.structs.replace(everything.release, holdout_kind="approximate", notes=copied)
    first, second = first_two(msgspec.structs.replace(everything, release=release), language)
    assert key in first
    assert contents in second


@pytest.fixture(scope="module")
def pages(everything: Assessment) -> list[str]:
    with pypdfium2.PdfDocument(Report(everything).pdf()) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def test_every_measure_with_a_target_in_two_scenarios_fits_on_the_first_page(
    pages: list[str],
) -> None:
    first, second = pages[:2]
    assert "A motivated intruder with outside sources" in re.sub(r"\s+", " ", first)
    assert "Verdict by criterion." in first
    assert "What is where" in second


def test_the_worst_subgroup_fits_on_the_first_page_too(everything: Assessment) -> None:
    slug = max(everything.results, key=lambda one: everything.results[one].score or 0.0)
    score = SubgroupScore(
        status="measured",
        reason=None,
        score=0.0,
        unit="%",
        interval=(0.0, 0.1),
        interval_method="wilson",
    )
    groups = [
        Subgroup(
            label=f"{LONG} {place}",
            levels=1,
            rows_original=1234,
            rows_avatars=1234,
            rows_holdout=1234,
            results={slug: score},
        )
        for place in range(3)
    ]
    record = SubgroupsRecord(by=LONG, groups=groups)
    grouped = msgspec.structs.replace(everything, subgroups=record)
    with pypdfium2.PdfDocument(Report(grouped).pdf()) as document:
        first, second = (document[place].get_textpage().get_text_bounded() for place in (0, 1))
    assert "Worst subgroup by" in first
    assert "Verdict by criterion." in first
    assert "What is where" in second


def test_a_row_names_one_measure_and_counts_the_others(everything: Assessment) -> None:
    subject = subject_of(everything)
    for criterion in ("singling out", "linkability", "inference"):
        row = verdict_row(criterion, subject)
        others = len({one.slug for one in subject.of_criterion(criterion)}) - 1
        counts = [int(count) for count in re.findall(r"(\d+) (?:further|other)", row["further"])]
        assert sum(counts) == others
        assert len(row["words"]) < 150


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["met", "met"], "Both targets met, at the estimate only."),
        (["met", "met", "met"], "All three targets met, at the estimate only."),
        (["met", "not met", "met"], "One of three targets missed"),
        (["not met", "not met"], "Both targets missed, at the estimate only."),
        (["no target", "met"], "A 1: target met."),
        (["no target", "not met"], "Target not met"),
    ],
)
def test_a_criterion_is_met_only_if_every_target_in_it_is(verdicts: list[str], words: str) -> None:
    results = {
        f"a_{place}": judged(verdict)
        if verdict != "no target"
        else linked(target=None, verdict="no target", facts={"excess_interval": [0.01, 0.02]})
        if words.startswith("A 1")
        else linked(target=None, verdict="no target", facts={})
        for place, verdict in enumerate(verdicts)
    }
    results = {
        slug: msgspec.structs.replace(one, interval=(70.0, 95.0)) for slug, one in results.items()
    }
    assert words in words_for(**results)


def test_an_excess_leads_though_every_target_is_met() -> None:
    excess = linked(target=None, verdict="no target")
    said = words_for(distance=judged("met", basis="distances"), attack=excess)
    assert said.startswith(
        "Evidence of an excess over the control: 0.4 to 4.7 points (95\u202f% interval)."
    )
    assert "Distance: target met." in said


@pytest.mark.parametrize("basis", ["distances", "matches"])
def test_without_an_attack_a_criterion_is_indicative_only(basis: str) -> None:
    said = words_for(near=judged("met", basis=basis), lost=not_applicable())
    assert said.startswith("Indicative only: no attack was run.")
    assert "Indicative" not in words_for(near=judged("not met", basis=basis), attack=linked())


def test_what_was_not_measured_is_counted_in_its_row() -> None:
    subject = with_measures(near=judged("met"), lost=not_applicable(), gone=not_applicable())
    assert verdict_row("linkability", subject)["further"] == "2 others not measured"


def test_only_measures_that_use_what_is_known_are_named_with_a_scenario(
    everything: Assessment,
) -> None:
    subject = subject_of(everything)
    rows = {one: verdict_row(one, subject) for one in ("linkability", "membership", "utility")}
    assert re.search(r"scenario (press|clinic), of 2", rows["linkability"]["basis"])
    assert "scenario" not in rows["membership"]["basis"] + rows["utility"]["basis"]


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("copy", "The avatars are a copy of the originals"),
        ("all_avatars_are_originals", "Every avatar is an original"),
    ],
)
def test_a_copy_leads_the_first_page(code: str, title: str) -> None:
    release = msgspec.structs.replace(sample().release, notes=[say(code, "a copy")])
    subject = subject_of(msgspec.structs.replace(sample(), release=release))
    assert verdict_title(subject) == title
    assert "copy of" in plain_sentences(subject)[0]
    assert "copy of" not in plain_sentences(subject_of(sample()))[0]


def test_the_key_explains_no_mark_that_is_not_there() -> None:
    assert verdict_key(subject_of(bare())) == ""
    key = verdict_key(with_measures(one=linked(target=None, verdict="no target", facts={})))
    assert key == "Upright bar: score without a verdict. Band: 95\u202f% interval."
    full = verdict_key(subject_of(sample()))
    assert "Rule: target." in full
    assert "C, a perfect copy; S, shuffled columns; R, unseen real rows" in full


def test_a_title_agrees_with_the_number_of_its_criteria() -> None:
    facts = {"success_share": 0.1}
    one = linked(target=None, verdict="no target", facts=facts)
    other = msgspec.structs.replace(one, criterion="singling out")
    assert verdict_title(with_measures(a=one)).endswith("; linkability has no control")
    assert verdict_title(with_measures(a=one, b=other)).endswith(
        "; singling out and linkability have no control"
    )


def test_luck_is_named_where_the_control_is_in_one_pool_with_the_data() -> None:
    facts = {"excess_interval": [0.1, 0.2], "control_share": None}
    said = attack_words(linked(facts=facts), load_words("en"))
    assert said == "Evidence of an excess over luck: 10.0 to 20.0 points (95\u202f% interval)."


def test_an_excess_is_never_said_to_begin_at_nothing() -> None:
    facts = linked().facts | {"excess_interval": [0.0002, 0.008]}
    assert "0.02 to 0.8 points" in attack_words(linked(facts=facts), load_words("en"))


def test_a_reason_for_no_verdict_is_said_once() -> None:
    reason = say("few", "Under 30 people no verdict is given.")
    fields = {"verdict": "not applicable", "target": None, "reason": reason}
    results = {
        LINK: linked(**fields),
        "correlation_difference_ratio": msgspec.structs.replace(
            correlation("real", ["age", "sex"]), **fields
        ),
    }
    said = plain_sentences(with_measures(**results))
    assert sum("Under 30 people" in one for one in said) == 1


def test_a_measure_without_a_page_is_told_by_its_score() -> None:
    subject = with_measures(of_tomorrow=linked())
    assert "Of tomorrow scores 84.6 of 100 (83.6 to 85.6)." in plain_sentences(subject)


def test_names_of_any_length_are_cut_on_the_first_page() -> None:
    assessment = sample()
    pair = assessment.results["correlation_difference_ratio"].facts["worst_pairs"][0]
    facts = assessment.results["correlation_difference_ratio"].facts | {
        "worst_pairs": [pair | {"first": LONG, "second": LONG}]
    }
    changed = with_result(assessment, "correlation_difference_ratio", facts=facts)
    said = " ".join(plain_sentences(subject_of(changed)))
    assert LONG[:30] in said
    assert LONG not in said


def test_no_line_ends_between_a_number_and_its_per_cent_sign() -> None:
    said = " ".join(plain_sentences(subject_of(sample())))
    assert "15.4\u202f%" in said
    assert not re.search(r"\d %", said)


def section_of(report: Report, number: str) -> str:
    markup = report.html().split(f'<section id="s{number}"')[1].split("</section>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup)).replace("\u202f", " ")


def test_a_section_tells_of_the_scenario_that_leads_and_tables_the_others() -> None:
    quiet = {"excess_interval": [-0.01, 0.02], "excess": 0.005, "success_share": 0.111}
    assessment = sample()
    clinic = msgspec.structs.replace(assessment.more_scenarios[0], results={LINK: linked()})
    assessment = msgspec.structs.replace(
        with_result(assessment, LINK, facts=assessment.results[LINK].facts | quiet),
        more_scenarios=[clinic],
    )
    report = Report(assessment)
    section = section_of(report, "9")
    assert "Linkability: an excess above the control" in section
    assert "Scenario “register office”, which leads" in section
    assert "11.1 % of 4,812" in section
    assert "2.6" in section
    assert "0.4 to 4.7" in section
    assert "No evidence of an excess over the control" in section


def test_seeds_say_what_they_draw() -> None:
    approximate = section_of(Report(sample(holdout_kind="approximate")), "2")
    assert re.search(r"Seed all columns 20261103, register office 20261103, halves 0", approximate)
    assert "halves" not in section_of(Report(bare()), "2")


def test_a_holdout_is_not_called_declared_where_nothing_was() -> None:
    assert "as declared" not in section_of(Report(sample()), "6")
    declared = msgspec.structs.replace(
        sample(), declared={"holdout_made": "drawn by person before treatment"}
    )
    assert "as declared, were set aside" in section_of(Report(declared), "6")


@pytest.mark.parametrize("slug", [one.slug for one in evalkit.metrics.all()])
def test_no_page_takes_neighbours_for_granted(slug: str) -> None:
    for line in metric_page(slug, "en").splitlines():
        if "neighbours (k)" in line or "their number (k)" in line:
            assert re.search(r"method uses|methods that use|uses them", line), line


def test_a_section_of_several_measures_begins_with_a_table_of_them(everything: Assessment) -> None:
    subject = subject_of(everything)
    found = subject.of_criterion("singling out")
    report = Report(everything)
    markup = report.html().split('<section id="s8"')[1].split("</section>")[0]
    titles = re.findall(r'<h3 class="finding">', markup)
    measured = {one.slug for one in found if one.result.status == "measured"}
    assert len(titles) == len(measured)
    rows = markup.split("</table>")[0].count('<th scope="row"')
    assert rows == len({one.slug for one in found})
    assert markup.index("</table>") < markup.index('<h3 class="finding">')
    # What is no attack tells its finding there too: nobody has to turn the page for it.
    told = re.sub(r"<[^>]+>", " ", markup.split("</table>")[0])
    matches = next(one for one in found if one.slug == ROWS)
    assert "original." in told
    assert "not judged. Measured, but not judged" not in told
    assert matches.result.basis == "matches"


def test_each_measure_begins_a_page_of_its_own(everything: Assessment, pages: list[str]) -> None:
    subject = subject_of(everything)
    found = [one for one in subject.of_criterion("singling out") if one.result.score is not None]
    starts = [re.sub(r"\s+", " ", page)[:220] for page in pages]
    for name in {subject.name(one.slug) for one in found}:
        assert any(f"{name} " in start for start in starts), name


def test_a_table_that_fits_on_a_page_is_not_parted_and_keeps_its_introduction() -> None:
    rows = [("a", "b")] * 12
    assert table(["One", "Two"], (50, 110), rows)["whole"]
    assert not table(["One", "Two"], (50, 110), rows * 4)["whole"]
    assert not table(["One", "Two"], (50, 110), [("a", "word " * 900)])["whole"]
    seventh = next(one for one in Report(sample())._view["sections"] if one["number"] == "7")[
        "blocks"
    ]
    place = [block["kind"] for block in seventh].index("table")
    assert place > 0
    assert all(block["sticky"] for block in seventh[:place])


def test_the_ledger_names_a_scenario_only_where_a_measure_depends_on_it(
    everything: Assessment,
) -> None:
    rows = next(
        block
        for block in ledger_blocks(subject_of(everything))
        if block["kind"] == "table" and len(block["columns"]) == 5
    )["rows"]
    names = {row[0]["text"]: row[1]["text"] for row in rows}
    assert names["Membership inference protection"] == "any"
    assert names["Correlation difference ratio"] == "any"
    assert names["Linkability protection rate"] == "clinic"


def tables_in(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    inner = [one for block in blocks for one in tables_in(block.get("main", []))]
    return inner + [block for block in blocks if block["kind"] == "table"]


def test_no_word_at_the_head_of_a_table_has_to_be_broken(everything: Assessment) -> None:
    page_px, gap_px, letter_px = 736, 17.6, 7.0
    sections = Report(everything)._view["sections"]
    heads = [
        (column["head"], page_px * float(column["percent"]) / 100 - gap_px)
        for section in sections
        for found in tables_in(section["blocks"])
        for column in found["columns"]
    ]
    assert len(heads) > 50
    for head, width in heads:
        assert max(map(len, head.replace("\u202f", " ").split())) * letter_px <= width, head
