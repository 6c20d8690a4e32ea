"""The pages of the metrics that need the row link, over measured and made-up results."""

from __future__ import annotations

from typing import Any

import msgspec
import pandas as pd
import pytest
from test_contract import linked, people
from test_metric_pages import FORBIDDEN, LONGEST_TITLE, TARGET, everything, part

import evalkit
from evalkit.report.pages import Pages

SLUGS = (
    "hidden_rate",
    "local_cloaking",
    "categorical_hidden_rate",
    "correlation_protection_rate",
)
COARSE = pd.DataFrame({"a": ["x", "y"] * 30, "b": [1, 1, 2, 2] * 15})
TABLES: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {
    "linked": (people(90, 1), linked(people(90, 1), 2)),
    "unlinked": (people(90, 1), people(90, 2)),
    "copied": (people(90, 1), people(90, 1)),
    "coarse": (COARSE, COARSE),
    "few": (people(5, 1), people(5, 2)),
}


def page_of(slug: str, tables: str, **changes: Any) -> Any:
    result = msgspec.to_builtins(evalkit.measure(slug, *TABLES[tables], row_link=True)) | changes
    context = {
        "result": result,
        "facts": result["facts"],
        "release": {"holdout_kind": "approximate"},
        "scenario": {"name": "all columns"},
        "words": {},
    }
    return Pages("en").render(slug, context)


@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_is_short_in_the_title_and_says_no_forbidden_word(slug: str, tables: str) -> None:
    page = page_of(slug, tables)
    said = everything(page)
    assert 0 < len(page.title) <= LONGEST_TITLE
    assert FORBIDDEN.search(said) is None
    assert "{%" not in said
    assert len(page.captions(iter(f"Figure {n}." for n in range(9)))) == 1


@pytest.mark.parametrize("slug", SLUGS)
def test_few_rows_are_said_not_to_be_judged(slug: str) -> None:
    assert page_of(slug, "few").title.endswith("not judged")


@pytest.mark.parametrize("slug", sorted({*SLUGS} - {"local_cloaking"}))
def test_people_who_are_all_alike_are_too_coarse_to_tell(slug: str) -> None:
    page = page_of(slug, "coarse")
    if slug == "hidden_rate":
        assert "too much alike" in page.title
    else:
        assert "too coarse" in page.title
    assert "even a perfect copy" in part(page, "Verdict").lower()


@pytest.mark.parametrize(
    ("verdict", "target", "interval", "words"),
    [
        ("met", {"value": 5.0}, [8.0, 12.0], "at least 5"),
        ("met", {"value": 9.0, "operator": ">"}, [8.0, 12.0], "reaches values that would miss it"),
        ("met", {"value": 5.0}, None, "no interval is defined"),
        ("not met", {"value": 11.0}, [8.0, 12.0], "the interval does not exclude it"),
        ("not met", {"value": 90.5}, [8.0, 12.0], "at least 90.5"),
        ("met", {"definition": "similar"}, [8.0, 12.0], "similar quantity"),
        ("met", {"definition": "by analogy"}, [8.0, 12.0], "by analogy"),
        ("no target", None, [8.0, 12.0], "nobody set a target"),
    ],
)
@pytest.mark.parametrize("slug", SLUGS)
def test_the_words_of_a_verdict_are_graded_by_the_interval(
    slug: str, verdict: str, target: dict[str, Any] | None, interval: list[float] | None, words: str
) -> None:
    aim = None if target is None else TARGET | target
    page = page_of(slug, "linked", verdict=verdict, target=aim, interval=interval, score=10.0)
    assert words in part(page, "Verdict")


def test_local_cloaking_is_told_as_a_number_of_avatars() -> None:
    page = page_of("local_cloaking", "linked", verdict="met", target=TARGET | {"value": 5.0})
    assert "at least 5 avatars, set by the controller" in part(page, "Verdict")
    assert "%" not in page.title


def test_ties_that_move_the_hidden_rate_are_told() -> None:
    assert "every tie counted as found" in part(page_of("hidden_rate", "coarse"), "Verdict")
    assert "every tie" not in part(page_of("hidden_rate", "linked"), "Verdict")
