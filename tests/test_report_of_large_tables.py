"""What a report says of large tables: large numbers, and scores that rest on a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from metrics.rendering import page_text, people
from sample_assessment import N_ORIGINAL, linkability, sample, with_result
from test_first_page import subject_of

import evalkit
from evalkit.figures import small_multiples, typst_svg
from evalkit.figures.words import written
from evalkit.messages import say
from evalkit.report.blocks import table
from evalkit.report.document import Report
from evalkit.report.sentences import message_words
from evalkit.report.view_annex import provenance_blocks
from evalkit.report.view_front import data_blocks
from evalkit.report.view_ledger import ledger_blocks, limitation_blocks
from evalkit.report.view_verdict import control_words
from evalkit.report.words import load_words

if TYPE_CHECKING:
    from evalkit.records import Assessment, Result

LINK, MEMBER = "linkability_protection_rate", "membership_inference_protection"


def of_results(**results: Result) -> Assessment:
    return msgspec.structs.replace(sample(), results=results, more_scenarios=[])


def of_facts(**facts: Any) -> Result:
    whole = linkability("real", ["age", "sex"])
    return msgspec.structs.replace(whole, facts=whole.facts | facts)


def rows_used(assessment: Assessment) -> list[str]:
    blocks = ledger_blocks(subject_of(assessment))
    rows = next(block for block in blocks if block["kind"] == "table")["rows"]
    return [row[3]["text"] for row in rows]


def points_of_this_run(assessment: Assessment) -> list[str]:
    return list(limitation_blocks(subject_of(assessment))[-1]["items"])


def test_the_ledger_tells_what_of_a_linkability_was_drawn() -> None:
    used = rows_used(of_results(**{LINK: of_facts(n_sampled=900, split_sample=800)}))[0]
    assert "900 originals drawn" in used
    assert "range over splits on 800 originals" in used
    assert "curve on 500 originals" in used


def test_the_limitations_name_the_measures_that_rest_on_a_sample() -> None:
    of_some = msgspec.structs.replace(of_facts(n_working=2 * N_ORIGINAL), section="privacy")
    points = points_of_this_run(of_results(**{MEMBER: of_some, LINK: of_facts()}))
    said = next(point for point in points if "drawn at random" in point)
    assert "membership inference protection" in said
    assert "linkability" not in said  # Its score rests on all, only its curve on some.
    assert "section 13" in said
    assert any("originals drawn" in one for one in rows_used(of_results(**{MEMBER: of_some})))


@pytest.mark.parametrize("fact", ["n_sampled", "sample", "sample_avatars", "cut_from"])
def test_every_kind_of_sample_is_told(fact: str) -> None:
    assessment = of_results(**{LINK: of_facts(**{fact: 700})})
    assert any("drawn at random" in point for point in points_of_this_run(assessment))
    assert any("700" in used and "drawn" in used for used in rows_used(assessment))


def test_where_all_were_searched_nothing_is_said_of_samples() -> None:
    assessment = of_results(**{LINK: of_facts(sample=N_ORIGINAL)})
    assert not any("drawn at random" in point for point in points_of_this_run(assessment))


def test_a_measure_that_a_warning_concerns_is_named_in_full() -> None:
    warned = with_result(sample(), LINK, warnings=[say("odd", "Something odd.")])
    tables = [block for block in ledger_blocks(subject_of(warned)) if block["kind"] == "table"]
    assert "Linkability protection rate" in [row[1]["text"] for row in tables[-1]["rows"]]


def test_a_column_is_not_named_again_in_its_own_row() -> None:
    one = sample().release.variables[0]
    note = say("odd", "Column {column}: odd cells.", column=one.name)
    release = msgspec.structs.replace(
        sample().release, variables=[msgspec.structs.replace(one, notes=[note])]
    )
    rows = data_blocks(subject_of(msgspec.structs.replace(sample(), release=release)))[-1]["rows"]
    assert rows[0][-1]["text"] == "Odd cells."


def test_no_page_parts_a_row_unless_it_might_fit_on_none() -> None:
    assert table(["A", "B"], (1, 1), [["a", "words " * 100]])["whole_rows"]
    assert not table(["A", "B"], (1, 1), [["a", "words " * 2000]])["whole_rows"]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_title_that_a_run_has_by_default_is_not_printed_beside_its_translation(
    language: str,
) -> None:
    untitled = msgspec.structs.replace(sample(), title="Technical assessment")
    head = Report(untitled, language)._view
    assert not head["release"]
    assert head["title"] == head["document"]


def test_large_numbers_in_figures_have_their_thousands_apart_and_years_have_not() -> None:
    panel = {"name": "fee", "type": "numeric", "bins": [], "edges": [1990.0, 200_000.0]}
    panel |= {"original": [0.2, 0.5, 0.3], "avatars": [0.2, 0.5, 0.3], "holdout": None}
    panel |= {"original_missing": 0.0, "avatars_missing": 0.0}
    for words, large in (({}, "200,000"), ({"figure_thousands": "_"}, "200_000")):
        drawing = small_multiples([panel], narrow=False, words=words)
        svg = typst_svg(drawing, "f-")
        assert f">{large}<" in svg
        assert ">1990<" in svg
    assert written(-1234567.89, 1, {}) == "\u22121,234,567.9"


@pytest.mark.parametrize(
    ("individuals", "said"),
    [(None, "has 1,000 rows, under half"), (400, "has 400 people, under half of the 900 people")],
)
def test_a_small_holdout_is_counted_in_what_the_run_counted(
    individuals: int | None, said: str
) -> None:
    release = sample().release
    holdout = msgspec.structs.replace(release.holdout, rows=1000, individuals=individuals)
    originals = msgspec.structs.replace(release.original, individuals=individuals and 900)
    changed = msgspec.structs.replace(
        release, holdout=holdout, original=originals, n_holdout=1000, holdout_kind="real"
    )
    points = points_of_this_run(msgspec.structs.replace(sample(), release=changed))
    assert any(said in point for point in points)


def test_a_list_among_the_options_is_no_code() -> None:
    assessment = msgspec.structs.replace(sample(), options={"metrics": ["hellinger", "coverage"]})
    tables = [one for one in provenance_blocks(subject_of(assessment)) if one["kind"] == "table"]
    assert "hellinger, coverage" in [row[1]["text"] for row in tables[-1]["rows"]]


@pytest.mark.parametrize(
    ("slug", "facts", "said"),
    [
        (
            "distance_to_closest",
            {"attempts": 900, "sample_avatars": 900, "n_avatars": 1000, "sample_holdout": 80},
            ["of the 900 avatars drawn lie", "as many as a million million comparisons allow"],
        ),
        (
            "closest_to_training_share",
            {"attempts": 900, "sample_avatars": 900, "n_avatars": 1000},
            ["Avatars n = 900.", "900 avatars drawn at random, as many as a million million"],
        ),
        (
            MEMBER,
            {"attempts": 900, "n_working": 1000, "excess_interval": [0.01, 0.1]},
            ["900 people used, drawn from 1,000, are called"],
        ),
    ],
)
def test_a_page_says_that_its_numbers_are_of_a_sample(
    slug: str, facts: dict[str, Any], said: list[str]
) -> None:
    original, holdout = people(80, 1), people(80, 2)
    result = evalkit.measure(slug, original, original, holdout)
    page = page_text(slug, msgspec.structs.replace(result, facts=result.facts | facts))
    for words in said:
        assert words in page
        assert words not in page_text(slug, result)


def test_avatars_counted_as_people_are_no_sample() -> None:
    facts = {"sample_avatars": 900, "n_avatars": 2219, "sample_holdout": 80, "n_holdout": 80}
    result = evalkit.measure("closest_distances_ratio", *(people(80, seed) for seed in (1, 2, 3)))
    counted = msgspec.structs.replace(result, facts=result.facts | facts)
    assert "2,219, counted as 900 people" in page_text("closest_distances_ratio", counted)
    assessment = of_results(closest_distances_ratio=counted)
    assert not any("drawn" in used for used in rows_used(assessment))
    drawn = msgspec.structs.replace(counted, facts=counted.facts | {"drawn_avatars": 1000})
    used = rows_used(of_results(closest_distances_ratio=drawn))
    assert any("1,000 avatars drawn" in one for one in used)


def test_the_control_is_told_in_people_where_people_are_counted() -> None:
    release = sample().release
    holdout = msgspec.structs.replace(release.holdout, rows=1000, individuals=400)
    changed = msgspec.structs.replace(release, holdout=holdout, n_holdout=1000)
    said = control_words(subject_of(msgspec.structs.replace(sample(), release=changed)))
    assert said == "real holdout, 400 people in 1,000 rows; how set aside is not declared"


@pytest.mark.parametrize(("variant", "unit"), [("default", "lignes"), ("persons", "personnes")])
def test_a_french_warning_counts_people_where_people_were_counted(variant: str, unit: str) -> None:
    values = {"n_holdout": 300, "n_working": 900, "score_at_equal_sizes": 50.0, "variant": variant}
    for code in ("small_holdout", "cut_to_small_holdout"):
        said = message_words(say(code, "The holdout is small.", **values), load_words("fr"))
        assert f"300 {unit} contre 900" in said


def test_no_line_ends_between_a_number_of_rows_and_what_they_are() -> None:
    used = rows_used(of_results(**{LINK: of_facts()}))[0]
    assert f"{N_ORIGINAL:,}\u00a0originals, " in used


def test_one_unknown_level_is_no_plural_in_french() -> None:
    values = {"table": "holdout", "column": "town", "levels": 1, "cells": 1, "rows": 2000}
    said = message_words(say("unknown_levels", "One level is unknown.", **values), load_words("fr"))
    assert "1 modalités" not in said
    assert "inconnues des originaux\u00a0: 1 (" in said
