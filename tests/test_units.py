"""A score that counts avatars is never shown as if it lay between 0 and 100."""

from __future__ import annotations

import re

import msgspec
import pytest
from test_contract import linked, people

import evalkit
from evalkit.records import Target
from evalkit.report.document import Report
from evalkit.report.subject import Subject
from evalkit.report.wording import grade, interval_words, on_strip, score_words, target_words
from evalkit.report.words import load_words
from evalkit.running.score_table import score_table

WORDS = {"labels": {"units": {"avatars": {"one": "{count} avatar", "many": "{count} avatars"}}}}


@pytest.fixture(scope="module")
def assessment() -> evalkit.Assessment:
    original = people(120, 1)
    release = evalkit.load(original, linked(original, 2), row_link=True)
    slugs = ["hidden_rate", "local_cloaking", "correlation_difference_ratio"]
    return evalkit.assess(release, profile="vendor-legacy", metrics=slugs)


def counted(assessment: evalkit.Assessment, score: float, **changes: object) -> evalkit.Result:
    return msgspec.structs.replace(assessment["local_cloaking"], score=score, **changes)


@pytest.mark.parametrize(
    ("score", "words"),
    [(0.0, "0 avatars"), (1.0, "1 avatar"), (2.5, "2.5 avatars"), (4812.0, "4,812 avatars")],
)
def test_a_count_is_written_with_its_unit(
    assessment: evalkit.Assessment, score: float, words: str
) -> None:
    assert score_words(counted(assessment, score), WORDS) == words


def test_the_ends_of_its_interval_are_whole(assessment: evalkit.Assessment) -> None:
    words = load_words("en")
    assert interval_words(counted(assessment, 11.0, interval=(5.0, 19.0)), words) == "5 to 19"
    assert interval_words(counted(assessment, 11.0, interval=(4.5, 19.0)), words) == "4.5 to 19.0"
    assert interval_words(counted(assessment, 11.0, interval=None), words) == "\u2013"
    percent = msgspec.structs.replace(assessment["hidden_rate"], interval=(80.0, 90.0))
    assert interval_words(percent, words) == "80.0 to 90.0"


def test_only_percentages_stand_on_the_strip(assessment: evalkit.Assessment) -> None:
    assert on_strip(assessment["hidden_rate"])
    assert not on_strip(assessment["local_cloaking"])
    unlinked = evalkit.measure("hidden_rate", people(40, 1), people(40, 2))
    assert not on_strip(unlinked)


def test_a_ratio_that_may_be_over_100_stands_on_no_strip(
    assessment: evalkit.Assessment,
) -> None:
    percent = assessment["hidden_rate"]
    for changes in (
        {"score": 101.6},
        {"interval": (90.0, 100.5)},
        {"facts": percent.facts | {"floor_score": 166.0}},
    ):
        assert not on_strip(msgspec.structs.replace(percent, **changes))


def test_the_interval_of_a_median_grades_its_verdict(assessment: evalkit.Assessment) -> None:
    target = Target(operator=">", value=5.0, issuer="us", definition="same")
    changes = {"target": target, "verdict": "met"}
    assert grade(counted(assessment, 11.0, interval=(6.0, 19.0), **changes)) == "met_whole"
    assert grade(counted(assessment, 11.0, interval=(5.0, 19.0), **changes)) == "met_crosses"


def test_a_target_in_avatars_is_written_so() -> None:
    words = load_words("en")
    target = Target(operator=">", value=5.0, issuer="us", definition="same")
    assert "over 5 avatars" in target_words(target, None, words, "avatars")
    assert "avatars" not in target_words(target, None, words)


def test_a_count_never_leads_over_a_percentage_of_the_same_kind(
    assessment: evalkit.Assessment,
) -> None:
    few = msgspec.structs.replace(
        assessment["local_cloaking"], basis="attack", verdict="met", score=2.0
    )
    many = msgspec.structs.replace(assessment["hidden_rate"], verdict="met")
    changed = msgspec.structs.replace(
        assessment, results={"local_cloaking": few, "hidden_rate": many}
    )
    subject = Subject(changed, b"", load_words("en"), None)  # type: ignore[arg-type]
    assert next(one.slug for one in subject.of_criterion("singling out")) == "hidden_rate"


def test_the_whole_report_shows_the_count_as_a_count(assessment: evalkit.Assessment) -> None:
    alone = msgspec.structs.replace(
        assessment, results={"local_cloaking": assessment["local_cloaking"]}
    )
    html = Report(alone).html()
    assert re.search(r"<b>\d+(\.5)? avatars</b>", html)
    assert 'class="strip' not in html
    assert 'class="strip' in Report(assessment).html()
    assert "avatars" in score_table(alone)
    assert alone.frame()["unit"].tolist() == ["avatars"]
