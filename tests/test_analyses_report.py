"""What the report says of the user's own analyses, in both outputs."""

from __future__ import annotations

from typing import Any

import msgspec
import pypdfium2
import pytest
from metrics.rendering import FORBIDDEN, people
from sample_assessment import sample

import evalkit
from evalkit.figures import coefficients, html_svg
from evalkit.messages import say
from evalkit.record_parts import AnalysisRecord, AnalysisTerm, Estimate
from evalkit.report.document import Report

HOSTILE = '<script>x</script> #let $x$ *b* {{ 7 * 7 }} [[link]](u) \\ "q" `c`'


def estimate(value: float, half: float = 1.0) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, p_value=0.1)


def term(name: str = "age", **changes: Any) -> AnalysisTerm:
    given = {
        "original": estimate(3.0),
        "avatars": estimate(2.5),
        "holdout": estimate(2.0),
        "overlap": 0.75,
        "holdout_overlap": 0.5,
        "same_sign": True,
        "same_finding": True,
        "holdout_same_sign": True,
        "holdout_same_finding": True,
    }
    return AnalysisTerm(name=name, **(given | changes))


def analysis(*terms: AnalysisTerm, **changes: Any) -> AnalysisRecord:
    given = {
        "name": "Income",
        "kind": "linear",
        "formula": "income ~ age",
        "status": "measured" if terms else "not applicable",
        "reason": None if terms else say("analysis_few_rows", "12 rows can be used."),
        "rows": {"original": 100, "avatars": 90, "holdout": 80} if terms else {},
        "terms": list(terms),
    }
    return AnalysisRecord(**(given | changes))


def html(*analyses: AnalysisRecord) -> str:
    found = msgspec.structs.replace(sample(), analyses=list(analyses))
    return Report(found).html().replace("\u202f", " ")


def part(*analyses: AnalysisRecord) -> str:
    _, mark, after = html(*analyses).partition("Does my analysis still hold?")
    assert mark
    return after.partition('id="s13"')[0]


def test_without_analyses_nothing_is_said() -> None:
    assert "Does my analysis still hold?" not in html()


def test_findings_that_hold_are_counted_beside_those_of_the_holdout() -> None:
    lost = term("town = Brest (vs Aix)", avatars=estimate(0.5), overlap=0.0, same_finding=False)
    said = part(analysis(term(), lost))
    assert "Your analyses: 1 of 2 findings hold" in said
    assert "Of 2 findings of the originals 1 hold among the avatars" in said
    assert "the mean overlap is 0.38" in said
    assert "Between originals and holdout 2 of 2 hold, with a mean overlap of 0.50" in said
    assert "other: the avatars’ interval holds zero" in said
    assert "differ from the originals on “town = Brest (vs Aix)”" in said
    assert "Rows used: originals 100, avatars 90, holdout 80" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "The one finding of the originals holds among the avatars; the overlap is 0.75"),
        ({"avatars": estimate(-3.0), "same_finding": False}, "other: opposite sides of zero"),
        (
            {"original": estimate(0.2), "same_finding": False},
            "other: only the avatars’ interval excludes zero",
        ),
        (
            {"holdout": None, "holdout_overlap": None, "holdout_same_finding": None},
            "Nothing of the holdout can be shown beside it",
        ),
        ({"avatars": None, "overlap": None, "same_finding": None}, "not compared"),
    ],
)
def test_each_finding_has_its_words(change: dict[str, Any], words: str) -> None:
    assert words in part(analysis(term(**change)))


def test_what_was_not_made_says_why_and_draws_nothing() -> None:
    said = part(analysis())
    assert "Not made: 12 rows can be used." in said
    assert "nothing could be compared" in said
    assert "<svg" not in said


def test_names_formulas_and_notes_are_text_in_html_and_pdf() -> None:
    note = say("analysis_joined", "{column}: 2 rare levels are joined.", column=HOSTILE)
    hostile = analysis(term(HOSTILE), name=HOSTILE, formula=HOSTILE, warnings=[note])
    said = part(hostile)
    assert "<script>x" not in said
    assert "{{ 7 * 7 }}" in said
    found = msgspec.structs.replace(sample(), analyses=[hostile])
    pages = pypdfium2.PdfDocument(Report(found).pdf())
    text = "\n".join(page.get_textpage().get_text_range() for page in pages)
    pages.close()
    assert "#let $x$ *b* {{ 7 * 7 }}" in text.replace("\r\n", " ").replace("\n", " ")


def test_no_word_claims_too_much() -> None:
    lost = term(avatars=estimate(0.5), same_finding=False)
    said = part(analysis(term(), lost), analysis())
    assert FORBIDDEN.search(said.partition("<svg")[0]) is None


def test_a_long_analysis_is_cut_and_says_so() -> None:
    said = part(analysis(*(term(f"x{k}") for k in range(60))))
    assert "The first 40 of 60 terms" in said


def test_a_drawing_holds_whatever_was_estimated() -> None:
    plain = [
        msgspec.to_builtins(one)
        for one in (
            term(holdout=None),
            term(avatars=estimate(50.0)),
            term(original=estimate(2.0, half=0.0)),
            term(HOSTILE, original=estimate(1e9, half=1e8), avatars=None),
        )
    ]
    for narrow in (False, True):
        drawing = coefficients(plain, narrow=narrow, words={})
        assert "age: originals 3 (2 to 4), avatars 2.5 (1.5 to 3.5)." in drawing.alt
        assert html_svg(drawing, "x-", "fig")
    with pytest.raises(ValueError, match="at least one term"):
        coefficients([], narrow=False, words={})


def test_a_report_of_real_tables_shows_rules_and_analyses() -> None:
    tables = [people(120, seed) for seed in (1, 2, 3)]
    release = evalkit.load(*tables, schema={"rules": ["age >= 18", "weight < pressure + 60"]})
    given = [{"kind": "groups", "formula": "pressure by smoker"}]
    found = evalkit.assess(release, metrics=["rule_consistency"], analyses=given)
    said = Report(found).html()
    assert "Rules: " in said
    # Two rules: the mean of Wilson's limits is from sampling, no range over splits.
    assert found["rule_consistency"].interval_method == "mean_wilson"
    assert "range over splits" not in said.partition('id="s13"')[0]
    assert "pressure by smoker" in said


def test_the_limits_speak_of_analyses_only_where_some_were_made() -> None:
    """A report that holds the user's analyses does not say that none was looked at."""
    general, analysed = "measured in general, not for your analysis", "Beyond the analyses that"
    for given, said, unsaid in [
        ((), general, analysed),
        ((analysis(),), general, analysed),
        ((analysis(term()),), analysed, general),
    ]:
        limits = html(*given).partition('id="s14"')[2].partition('id="s15"')[0]
        assert said in limits
        assert unsaid not in limits
