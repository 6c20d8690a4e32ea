"""The pages of attacks with a control, rendered over made-up results: every branch says so."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest

import evalkit
from evalkit.figures import ENGLISH
from evalkit.prose import plain, to_html, to_typst
from evalkit.report.pages import PARTS, Pages
from evalkit.resources import metric_page

if TYPE_CHECKING:
    from evalkit.report.pages import Page

LONGEST_TITLE = 55
LONGEST_SUMMARY = 230
BESIDE = {"singling_out_protection": "above luck"}  # its control is in the same pool
FORBIDDEN = re.compile(
    r"\b(anonymous|anonymised (data|avatars|table)|safe|secure|no risk|zero risk|guaranteed"
    r"|certified|compliant|GDPR-proof|approved|cannot be re-identified|significant)\b",
    re.IGNORECASE,
)
TARGET = {"operator": ">=", "value": 80.0, "issuer": "the controller", "definition": "same"}
HOSTILE = "a | b\n# c **d** {{ 7 * 7 }} $x$ <b>"

ATTACK: dict[str, Any] = {
    "attempts": 4812,
    "control_attempts": 1204,
    "success_share": 0.154,
    "success_interval": [0.144, 0.164],
    "control_share": 0.128,
    "control_interval": [0.11, 0.148],
    "naive_share": 0.1,
    "excess": 0.026,
    "excess_interval": [0.004, 0.047],
    "detectable_excess": 0.031,
    "self_score": 3.1,
    "floor_score": 99.6,
    "shuffles": 5,
}
FACTS: dict[str, dict[str, Any]] = {
    "singling_out_protection": {
        "pool_share": 0.8,
        "kind": "univariate",
        "landed": 321,
        "people": 300,
        "landed_share": 0.86,
        "conditions": 4,
        "fewest_landed": 50,
        "most_landed": 500,
        "most_tried": 20_000,
        "univariate_tried": 600,
        "univariate_kept": 590,
        "univariate_landed": 321,
        "univariate_score": 70.0,
        "multivariate_tried": 20_000,
        "multivariate_kept": 1570,
        "multivariate_landed": 90,
        "multivariate_score": 88.0,
        "naive_share": 0.8,
        "control_share": None,
        "control_attempts": None,
        "control_interval": None,
        "n_original": 4812,
        "n_holdout": 1204,
        "people_share": 0.053,
        "people_control_share": 0.04,
    },
    "inference_protection": {
        "sensitive": HOSTILE,
        "sensitive_is_number": True,
        "n_known": 3,
        "n_avatars": 4812,
        "tolerance_share": 0.05,
    },
    "replicated_uniques": {
        "n_known": 3,
        "n_original": 4900,
        "n_holdout": 1300,
        "n_avatars": 4812,
        "unique_share": 0.98,
        "control_unique_share": 0.93,
        "found": 741,
        "control_found": None,
        "naive_share": None,
        "shuffled_share": 0.1,
    },
    "attribute_disclosure": {
        "sensitive": HOSTILE,
        "sensitive_is_number": True,
        "bins": 10,
        "known": ["age", HOSTILE, "town"],
        "n_known": 3,
        "n_avatars": 4812,
    },
}
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "excess": ({}, "an excess above the control", "Evidence of an excess of 0.4 to 4.7 points"),
    "no excess": (
        {"excess_interval": [-0.01, 0.02], "excess": 0.005},
        "no excess above the control seen",
        "up to 2.0 points cannot be excluded",
    ),
    "reverse": (
        {"excess_interval": [-0.06, -0.01], "excess": -0.03},
        "the control is hit more often",
        "come from the same population",
    ),
    "too coarse": (
        {"excess_interval": [-0.01, 0.02], "self_score": 95.0},
        "this attack was too weak to tell",
        "too coarse",
    ),
    "few people": (
        {"excess_interval": [-0.2, 0.2], "detectable_excess": 0.3},
        "this attack was too weak to tell",
        "No conclusion.",
    ),
}
OTHERS: dict[str, list[dict[str, Any]]] = {
    "singling_out_protection": [
        {"kind": "multivariate", "univariate_score": None, "floor_score": 40.0},
        {"multivariate_score": None, "self_score": None, "floor_score": None},
    ],
    "inference_protection": [{"self_score": None, "sensitive_is_number": False}],
    "replicated_uniques": [{"found": None, "control_found": 0, "floor_score": None}],
    "attribute_disclosure": [{"self_score": None}, {"self_score": 65.0, "bins": 9}],
}
every_page = pytest.mark.parametrize("slug", FACTS)


def page_of(slug: str, changes: dict[str, Any], **others: Any) -> Page:
    """Return the rendered page of a made-up result."""
    facts = ATTACK | FACTS[slug] | changes
    result: dict[str, Any] = {
        "score": 84.5,
        "interval": [83.6, 85.6],
        "target": None,
        "verdict": "no target",
        "facts": facts,
    } | others
    context = {
        "result": result,
        "facts": facts,
        "release": {"holdout_kind": "real"},
        "scenario": {"name": HOSTILE, "sensitive": HOSTILE, "min_count": 11},
        "words": {},
    }
    return Pages("en").render(slug, context)


def part(page: Page, heading: str) -> str:
    """Return a part of a page as plain text."""
    prose = page.part(heading)
    assert prose is not None
    return plain(prose.markdown, prose.values).replace("\u202f", " ")


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


@every_page
@pytest.mark.parametrize("case", CASES)
def test_a_page_says_what_the_attack_shows(slug: str, case: str) -> None:
    changes, title, verdict = CASES[case]
    page = page_of(slug, changes)
    assert title.replace("above the control", BESIDE.get(slug, "above the control")) in page.title
    assert verdict in part(page, "Verdict")


@every_page
@pytest.mark.parametrize("case", CASES)
def test_a_summary_is_short_and_says_where_nothing_can_be_told(slug: str, case: str) -> None:
    said = part(page_of(slug, CASES[case][0]), "Summary").replace(HOSTILE, "name")
    assert 40 < len(said) <= LONGEST_SUMMARY
    assert ("too weak to tell" in said) == ("too weak" in CASES[case][1])


def test_what_singles_out_is_a_description_and_not_a_person() -> None:
    said = part(page_of("singling_out_protection", {}), "Summary")
    assert said.startswith("Of the 321 descriptions that fit exactly one real person, 86.0 % fit")
    assert "80.0 %" in said


@every_page
def test_a_result_that_is_not_judged_says_so_in_its_title(slug: str) -> None:
    quiet = {"excess_interval": [-0.01, 0.02]}
    page = page_of(slug, quiet, verdict="not applicable")
    assert page.title.endswith("measured, but not judged")
    assert "Target" not in part(page, "Verdict")


@every_page
def test_an_attack_that_beats_no_naive_guess_is_too_weak(slug: str) -> None:
    page = page_of(slug, {"excess_interval": [-0.01, 0.02], "naive_share": 0.2})
    if slug in BESIDE or FACTS[slug].get("naive_share", 0) is None:
        return
    assert "too weak" in page.title
    assert "Neither group" in part(page, "Verdict")


@every_page
@pytest.mark.parametrize(
    ("verdict", "target", "interval", "words"),
    [
        ("met", {}, [83.6, 85.6], "at least 80, set by the controller: met, the whole"),
        ("met", {"value": 84.0}, [83.6, 85.6], "reaches values that would miss it"),
        ("met", {}, None, "no interval is defined"),
        ("not met", {"value": 85.5}, [83.6, 85.6], "the interval does not exclude it"),
        ("not met", {"value": 90.0, "operator": ">"}, [83.6, 85.6], "over 90, set by"),
        ("met", {"definition": "similar"}, [83.6, 85.6], "similar quantity"),
        ("met", {"definition": "by analogy", "issuer": ""}, [83.6, 85.6], "by analogy"),
        ("no target", None, [83.6, 85.6], "nobody set a target"),
    ],
)
def test_the_words_of_a_verdict_are_graded_by_the_interval(
    slug: str, verdict: str, target: dict[str, Any] | None, interval: list[float] | None, words: str
) -> None:
    aim = None if target is None else TARGET | target
    # The facts list prints the interval too, so a page must not break where there is none.
    page = page_of(slug, {}, verdict=verdict, target=aim, interval=interval)
    assert words in part(page, "Verdict")


@every_page
def test_no_page_is_long_in_the_title_or_says_a_forbidden_word(slug: str) -> None:
    for changes in (*(case[0] for case in CASES.values()), *OTHERS.get(slug, [])):
        page = page_of(slug, changes)
        assert 0 < len(page.title) <= LONGEST_TITLE
        said = everything(page)
        assert FORBIDDEN.search(said) is None
        assert "{%" not in said.replace("{{ 7 * 7 }}", "")
        drawn = evalkit.metrics.get(slug).draw(
            {"facts": ATTACK | FACTS[slug] | changes, "target": None},
            ENGLISH,
            False,  # noqa: FBT003 - as the report calls it
        )
        assert len(page.captions(iter(f"Figure {n}." for n in range(9)))) == len(drawn)


@every_page
def test_every_sentence_of_a_page_has_a_line_of_its_own(slug: str) -> None:
    for line in metric_page(slug, "en").splitlines():
        words = re.sub(r"\{[{%].*?[%}]\}", "", line)
        if not words.startswith(("#", "- **", "  ")):
            assert re.search(r"[a-z)][.?] [A-Z]", words) is None, line
