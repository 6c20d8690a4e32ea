"""The pages of the two founding metrics, rendered over made-up results: every branch says so."""

from __future__ import annotations

import copy
import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest

from evalkit import figures
from evalkit.prose import plain, to_html, to_typst
from evalkit.report.pages import PARTS, Pages

if TYPE_CHECKING:
    from evalkit.report.pages import Page

LINKABILITY = "linkability_protection_rate"
CORRELATION = "correlation_difference_ratio"
LONGEST_TITLE = 55
LONGEST_SUMMARY = 230
FORBIDDEN = re.compile(
    r"\b(anonymous|anonymised (data|avatars|table)|safe|secure|no risk|zero risk|guaranteed"
    r"|certified|compliant|GDPR-proof|approved|cannot be re-identified|significant)\b",
    re.IGNORECASE,
)
TARGET = {"operator": ">=", "value": 80.0, "issuer": "the controller", "definition": "same"}
HOSTILE = "a | b\n# c **d** {{ 7 * 7 }} $x$ <b>"

LINKED: dict[str, Any] = {
    "n_original": 4812,
    "n_avatars": 4812,
    "n_known": 3,
    "n_linked": 746,
    "known_a": ["age", HOSTILE],
    "known_b": ["sex"],
    "expected_score": 84.6,
    "self_score": 3.1,
    "floor_score": 99.6,
    "holdout_score": 87.2,
    "distinct_score": 84.5,
    "original_range_score": 84.6,
    "split_low": 81.9,
    "split_high": 88.0,
    "split_worst": 81.2,
    "split_count": 100,
    "split_total": 462,
    "split_sample": 500,
    "curve_sample": 500,
    "curve_control_sample": 500,
    "curve_orders": 20,
    "mean_tie_set_a": 1.0,
    "mean_tie_set_b": 1.1,
    "certain_links": 702,
    "possible_links": 788,
    "attempts": 4812,
    "success_share": 0.154,
    "naive_share": 0.004,
    "control_attempts": 1204,
    "control_share": 0.128,
    "excess": 0.026,
    "excess_interval": [0.004, 0.047],
    "detectable_excess": 0.031,
    "curve": [
        {"known": 2, "score": 97.1, "low": 96.0, "high": 98.0, "holdout": 97.3, "floor": 99.9},
        {"known": 3, "score": 84.6, "low": 81.9, "high": 88.0, "holdout": 87.2, "floor": 99.6},
    ],
}
CONTROL_FACTS = (
    "control_attempts",
    "control_share",
    "excess",
    "excess_interval",
    "detectable_excess",
    "holdout_score",
)
NO_CONTROL: dict[str, Any] = dict.fromkeys(CONTROL_FACTS)
SQUARE = [[1.0, 0.5, 0.1], [0.5, 1.0, None], [0.1, None, 1.0]]
CORRELATED: dict[str, Any] = {
    "reference_difference": 0.71,
    "avatar_difference": 1.67,
    "kappa": 1.55,
    "n_working": 4812,
    "n_working_avatars": 4812,
    "n_holdout": 1204,
    "variables": ["age", HOSTILE, "weight"],
    "left_out": ["constant"],
    "collapsed": [{"variable": HOSTILE, "table": "avatars"}],
    "floor_score": 4.1,
    "real_score": 98.7,
    "score_at_equal_sizes": 60.4,
    "split_low": None,
    "split_high": None,
    "split_count": None,
    "self_score": 100.0,
    "worst_pairs": [
        {
            "first": "age",
            "second": HOSTILE,
            "working": 0.87,
            "avatars": 0.68,
            "holdout": 0.86,
            "change": -0.19,
        }
    ],
    "matrix_variables": ["age", HOSTILE, "weight"],
    "matrix_working": SQUARE,
    "matrix_avatars": SQUARE,
    "matrix_holdout": SQUARE,
}


def page_of(slug: str, facts: dict[str, Any], holdout_kind: str = "real", **changes: Any) -> Page:
    """Return the rendered page of a made-up result."""
    result: dict[str, Any] = {
        "score": 84.5 if slug == LINKABILITY else 65.8,
        "interval": [83.6, 85.6] if slug == LINKABILITY else [58.9, 73.6],
        "target": None,
        "verdict": "no target",
        "facts": facts,
    } | changes
    context = {
        "result": result,
        "facts": facts,
        "release": {"holdout_kind": holdout_kind, "individual": None},
        "scenario": {"name": HOSTILE},
        "words": {},
    }
    return Pages("en").render(slug, context)


def part(page: Page, heading: str) -> str:
    """Return a part of a page as plain text."""
    prose = page.part(heading)
    assert prose is not None
    return plain(prose.markdown, prose.values)


def everything(page: Page) -> str:
    """Return all that a page says, in one text; both outputs take every part."""
    texts = [page.title]
    for heading in ("Question", "Story", "Verdict", "Summary", *PARTS):
        prose = page.part(heading)
        if prose is not None:
            texts.append(plain(prose.markdown, prose.values))
            assert to_html(prose.markdown, prose.values)
            assert to_typst(prose.markdown, prose.values)
    inline = [*itertools.chain(*page.facts), *page.captions(iter(f"Figure {n}." for n in range(9)))]
    return "\n".join([*texts, *(plain(one.markdown, one.values) for one in inline)])


LINKABILITY_CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "excess": ({}, "an excess above the control", "Evidence of an excess of 0.4 to 4.7 points"),
    "no excess": (
        {"excess_interval": [-0.01, 0.02], "excess": 0.005},
        "no excess above the control seen",
        "up to 2.0 points cannot be excluded",
    ),
    "reverse": (
        {"excess_interval": [-0.06, -0.01], "excess": -0.03},
        "the control is linked more often",
        "come from the same population",
    ),
    "too coarse": (
        {"excess_interval": [-0.01, 0.02], "self_score": 95.0},
        "too weak to tell",
        "too coarse",
    ),
    "few people": (
        {"excess_interval": [-0.2, 0.2], "detectable_excess": 0.3},
        "too weak to tell",
        "No conclusion.",
    ),
    "no better than a guess": (
        {"excess_interval": [-0.01, 0.02], "naive_share": 0.2},
        "too weak to tell",
        "shuffled columns",
    ),
    "no control": (NO_CONTROL, "15.4 % linked, and no control", "cannot be told apart"),
    "no control, all linked": (
        NO_CONTROL | {"success_share": 1.0},
        "100.0 % linked, and no control",
        "100.0 % of the 4,812",
    ),
    "no control, too coarse": (
        NO_CONTROL | {"self_score": 95.0, "curve": []},
        "the known variables are too coarse",
        "15.4 %",
    ),
    "repeated avatars": (
        {"distinct_score": 20.0, "original_range_score": 5.0, "split_count": 1},
        "an excess above the control",
        "Evidence",
    ),
}


@pytest.mark.parametrize("case", LINKABILITY_CASES)
@pytest.mark.parametrize("holdout_kind", ["real", "approximate"])
def test_a_linkability_page_says_what_its_result_shows(case: str, holdout_kind: str) -> None:
    changes, title, verdict = LINKABILITY_CASES[case]
    page = page_of(LINKABILITY, LINKED | changes, holdout_kind)
    assert title in page.title.replace("\u202f", " ")
    assert verdict in part(page, "Verdict").replace("\u202f", " ")


CORRELATION_CASES: dict[str, tuple[dict[str, Any], float, str, str]] = {
    "short": ({}, 65.8, "fall short of", "differ from the originals’ by 1.67"),
    "capped": ({"avatar_difference": 0.5}, 100.0, "as close as", "100.0"),
    "eased": (
        {"avatar_difference": 1.0, "kappa": 22.4, "n_working": 1_000_000},
        100.0,
        "1.4 times as far off as chance",
        "100.0",
    ),
    "copied": ({"avatar_difference": 0.0}, 100.0, "those of the originals", "by definition"),
    "no reference": ({"reference_difference": 0.0}, 0.0, "no independent reference", "must not"),
    "few rows": ({"n_working": 120, "n_holdout": 20, "kappa": 1.0}, 65.8, "short", "n = 120"),
    "coarse": ({"floor_score": 90.0, "real_score": None}, 65.8, "fall short", "1.67"),
    "nothing to show": ({"worst_pairs": []}, 65.8, "fall short", "1.67"),
    "two variables": (
        {"matrix_variables": ["a", "b"], "left_out": [], "collapsed": []},
        65.8,
        "fall short",
        "1.67",
    ),
    "many variables": ({"variables": [f"v{n}" for n in range(30)]}, 65.8, "fall short", "1.67"),
    "range over splits": (
        {"split_count": 50, "split_low": 52.1, "split_high": 71.3},
        65.8,
        "fall short",
        "1.67",
    ),
}


@pytest.mark.parametrize("case", CORRELATION_CASES)
@pytest.mark.parametrize("holdout_kind", ["real", "approximate"])
def test_a_correlation_page_says_what_its_result_shows(case: str, holdout_kind: str) -> None:
    changes, score, title, verdict = CORRELATION_CASES[case]
    page = page_of(CORRELATION, CORRELATED | changes, holdout_kind, score=score)
    assert title in page.title
    assert verdict in part(page, "Verdict")
    caveat = "its people were anonymised too" in part(page, "Verdict")
    assert caveat == (holdout_kind == "approximate" and case != "copied")


def test_a_difference_over_that_of_chance_is_not_called_chance_on_a_large_table() -> None:
    eased = {"avatar_difference": 1.42, "kappa": 22.4, "n_working": 1_000_000}
    said = everything(page_of(CORRELATION, CORRELATED | eased, score=100.0))
    assert "within what chance can do" not in said
    assert "the formula eases the reference for large tables" in said
    assert "So they differ 2.0 times as much, and the score reaches 100 only because" in said


def all_pages() -> list[Any]:
    """Return every made-up page with its facts and slug."""
    linked = [(LINKABILITY, LINKED | case[0], {}) for case in LINKABILITY_CASES.values()]
    correlated = [
        (CORRELATION, CORRELATED | case[0], {"score": case[1]})
        for case in CORRELATION_CASES.values()
    ]
    names = [f"{slug} {name}" for slug, cases in _CASES.items() for name in cases]
    return [
        pytest.param(*values, id=name)
        for values, name in zip([*linked, *correlated], names, strict=True)
    ]


_CASES: dict[str, dict[str, Any]] = {
    LINKABILITY: LINKABILITY_CASES,
    CORRELATION: CORRELATION_CASES,
}


@pytest.mark.parametrize(("slug", "facts", "changes"), all_pages())
@pytest.mark.parametrize("holdout_kind", ["real", "approximate"])
def test_no_page_is_long_in_the_title_or_says_a_forbidden_word(
    slug: str, facts: dict[str, Any], changes: dict[str, Any], holdout_kind: str
) -> None:
    page = page_of(slug, facts, holdout_kind, **changes)
    assert 0 < len(page.title) <= LONGEST_TITLE
    said = everything(page)
    assert FORBIDDEN.search(said) is None
    assert "{%" not in said.replace("{{ 7 * 7 }}", "")
    assert "49" not in said


@pytest.mark.parametrize(("slug", "facts", "changes"), all_pages())
@pytest.mark.parametrize("holdout_kind", ["real", "approximate"])
def test_a_summary_is_short_enough_for_the_first_page(
    slug: str, facts: dict[str, Any], changes: dict[str, Any], holdout_kind: str
) -> None:
    said = part(page_of(slug, facts, holdout_kind, **changes), "Summary").replace(HOSTILE, "name")
    assert 40 < len(said) <= LONGEST_SUMMARY
    assert said.endswith(".")
    assert "  " not in said


@pytest.mark.parametrize(
    ("avatars", "words"),
    [
        (1.67, "2.4 times as much as"),
        (0.71, "about as much as"),
        (0.01, "far less than"),
        (0.0, "to the last digit"),
    ],
)
def test_a_factor_is_told_in_words_where_its_digits_say_nothing(avatars: float, words: str) -> None:
    said = part(page_of(CORRELATION, CORRELATED | {"avatar_difference": avatars}), "Summary")
    assert words in said
    assert not re.search(r"\b[01]\.0 times", said)


def test_a_pair_that_did_not_change_is_not_called_the_one_that_changed_most() -> None:
    same = [CORRELATED["worst_pairs"][0] | {"working": -0.4701, "avatars": -0.4699}]
    said = part(page_of(CORRELATION, CORRELATED | {"worst_pairs": same}), "Summary")
    assert "changed most" not in said
    assert "changed most, from 0.87 to 0.68" in part(page_of(CORRELATION, CORRELATED), "Summary")


@pytest.mark.parametrize(("slug", "facts", "changes"), all_pages())
def test_a_page_has_one_caption_for_each_figure(
    slug: str, facts: dict[str, Any], changes: dict[str, Any]
) -> None:
    facts = copy.deepcopy(facts)
    if len(facts.get("matrix_variables", [])) == 2:
        for name in ("matrix_working", "matrix_avatars", "matrix_holdout"):
            facts[name] = [row[:2] for row in facts[name][:2]]
    captions = page_of(slug, facts, **changes).captions(iter(f"Figure {n}." for n in range(9)))
    drawn = (
        figures.linkability_drawings(facts, None, {}, narrow=False)
        if slug == LINKABILITY
        else figures.correlation_drawings(facts, {}, narrow=False)
    )
    assert len(captions) == len(drawn)


@pytest.mark.parametrize(
    ("verdict", "target", "interval", "words"),
    [
        (
            "met",
            {"value": 80.0},
            [83.6, 85.6],
            "at least 80, set by the controller: met, the whole",
        ),
        ("met", {"value": 84.0}, [83.6, 85.6], "reaches values that would miss it"),
        ("met", {"value": 80.0}, None, "no interval is defined"),
        (
            "not met",
            {"value": 85.5},
            [83.6, 85.6],
            "at least 85.5, set by the controller: not met at",
        ),
        (
            "not met",
            {"value": 90.0, "operator": ">"},
            [83.6, 85.6],
            "over 90, set by the controller: not met.",
        ),
        (
            "not met",
            {"value": 5.0, "operator": "<="},
            [83.6, 85.6],
            "at most 5, set by the controller: not met.",
        ),
        (
            "met",
            {"value": 99.0, "operator": "<"},
            [83.6, 85.6],
            "under 99, set by the controller: met, the",
        ),
        ("met", {"definition": "similar"}, [83.6, 85.6], "similar quantity"),
        ("met", {"definition": "by analogy"}, [83.6, 85.6], "by analogy"),
        ("met", {"issuer": ""}, [83.6, 85.6], "Target of at least 80: met"),
        ("no target", None, [83.6, 85.6], "nobody set a target"),
    ],
)
@pytest.mark.parametrize("slug", [LINKABILITY, CORRELATION])
def test_the_words_of_a_verdict_are_graded_by_the_interval(
    slug: str, verdict: str, target: dict[str, Any] | None, interval: list[float] | None, words: str
) -> None:
    facts = LINKED if slug == LINKABILITY else CORRELATED
    aim = None if target is None else TARGET | target
    page = page_of(slug, facts, verdict=verdict, target=aim, interval=interval, score=84.5)
    assert words in part(page, "Verdict")


def test_a_result_that_is_not_judged_says_so_in_its_title() -> None:
    page = page_of(LINKABILITY, LINKED | NO_CONTROL, verdict="not applicable")
    assert page.title == "Linkability: measured, but not judged"
    assert "Target" not in part(page, "Verdict")


def test_two_scores_on_different_sides_of_the_target_are_told() -> None:
    aim = TARGET | {"value": 62.0}
    page = page_of(CORRELATION, CORRELATED, verdict="met", target=aim)
    assert "on different sides of the target" in part(page, "Reading")


@pytest.mark.parametrize("slug", [LINKABILITY, CORRELATION])
def test_every_sentence_of_a_page_has_a_line_of_its_own(slug: str) -> None:
    from evalkit.resources import metric_page

    for line in metric_page(slug, "en").splitlines():
        words = re.sub(r"\{[{%].*?[%}]\}", "", line)
        if not words.startswith(("#", "- **", "  ")):
            assert re.search(r"[a-z)][.?] [A-Z]", words) is None, line


def test_a_linkability_page_says_what_was_sampled_of_large_tables() -> None:
    sampled = {
        "n_original": 9_000_000,
        "n_sampled": 4812,
        "anchor_sample": 3_000,
        "floor_sample": 2_000,
        "floor_shuffles": 1,
        "anchor_error": 0.125,
    }
    said = everything(page_of(LINKABILITY, LINKED | sampled))
    assert "4,812 of the 9,000,000 originals" in said
    assert "on 3,000 originals" in said
    assert "1 shuffle, on 2,000 originals" in said
    assert "Sample" not in everything(page_of(LINKABILITY, LINKED))
