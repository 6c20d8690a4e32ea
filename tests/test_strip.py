"""The score strip: what stands where, in both skins."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from evalkit.figures import Target, colour_css
from evalkit.figures.style import LIGHT
from evalkit.strip import Anchor, Reading, known_cases, page_strip, table_strip
from evalkit.strip.labels import (
    EDGE,
    LETTER_DISTANCE,
    SLACK,
    WIDTH_PER_CHARACTER,
    headline,
    placed_below,
    spread_letters,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalkit.strip import Strip
    from evalkit.strip.labels import Placed

LINKABILITY = Reading("Linkability", 84.6, (83.6, 85.6), Target(">=", 80.0), "met")
CASES = (Anchor("copy", 3.1), Anchor("shuffled", 99.6), Anchor("real", 87.2))
STRIPS = [table_strip, page_strip]


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - written by our own code a moment ago


def elements(svg: str, name: str) -> list[ET.Element]:
    """Return the elements of a kind, whatever their name space."""
    return [one for one in parsed(svg).iter() if one.tag.rpartition("}")[2] == name]


def said(svg: str) -> list[str]:
    """Return every text of a drawing."""
    return ["".join(one.itertext()).replace("\u00a0\u00a0", " | ") for one in elements(svg, "text")]


@pytest.mark.parametrize("strip", STRIPS)
def test_the_score_stands_at_its_percentage_and_stretches_with_the_line(
    strip: Callable[..., Strip],
) -> None:
    drawn = strip(LINKABILITY, CASES, {})
    (dot,) = elements(drawn.html(), "circle")
    assert dot.get("cx") == "84.60%"
    (fixed,) = elements(drawn.typst(), "circle")
    inside = drawn.width - 10
    assert float(fixed.get("cx", "")) == pytest.approx(5 + 0.846 * inside, abs=0.01)


@pytest.mark.parametrize("strip", STRIPS)
def test_the_mark_says_met_missed_or_neither_without_colour(strip: Callable[..., Strip]) -> None:
    fills = {}
    for verdict in ("met", "not met", "no target", "not applicable"):
        drawn = strip(Reading("m", 50.0, None, None, verdict), (), {}).html()
        fills[verdict] = [dot.get("style", "") for dot in elements(drawn, "circle")]
    assert "fill:var(--paper)" in fills["met"][0]
    assert "fill:var(--ava)" in fills["not met"][0]
    assert fills["no target"] == fills["not applicable"] == []


def test_a_table_strip_has_a_letter_for_each_known_case_and_no_other_word() -> None:
    drawn = table_strip(LINKABILITY, CASES, {})
    assert said(drawn.html()) == ["C", "R", "S"]
    assert drawn.alt == "Linkability: 84.6, 83.6 to 85.6; target: at least 80"
    assert 'class="strip"' in drawn.html()


def test_a_page_strip_says_target_score_and_known_cases_in_words() -> None:
    drawn = page_strip(LINKABILITY, CASES, {})
    words = ["perfect copy 3.1", "shuffled columns 99.6", "unseen real rows 87.2"]
    assert said(drawn.html()) == [*words, "target ≥ 80", "84.6"]
    assert said(drawn.typst()) == said(drawn.html())
    assert all(one in drawn.alt for one in words)
    assert 'class="strip big"' in drawn.html()


def test_the_leftmost_label_of_the_right_takes_the_first_lane() -> None:
    labels = [(3.1, "perfect copy 3.1", "mute"), (99.6, "shuffled columns 99.6", "mute")]
    labels.append((87.2, "unseen real rows 87.2", "holdtx"))
    assert [lane for _, lane in placed_below(labels)] == [0, 1, 0]


@pytest.mark.parametrize("strip", STRIPS)
@pytest.mark.parametrize("verdict", ["met", "not met", "no target"])
def test_the_two_skins_use_only_the_house_colours(
    strip: Callable[..., Strip], verdict: str
) -> None:
    drawn = strip(Reading("m", 65.8, (58.9, 73.6), Target(">", 70.0), verdict), CASES, {})
    names = {part.split(")")[0] for part in drawn.html().split("var(--")[1:]}
    assert names
    assert all(f"--{name}:" in colour_css() for name in names)
    assert "#" not in drawn.html()
    assert "var(" not in drawn.typst()
    colours = {part[:6] for part in drawn.typst().split('"#')[1:]}
    assert colours <= {colour[1:] for colour in LIGHT.values()}


def test_another_language_brings_its_own_words_and_decimal_mark() -> None:
    french = {"figure_decimal": ",", "strip_letter_shuffled": "M", "strip_copy": "copie parfaite"}
    assert "M" in said(table_strip(LINKABILITY, CASES, french).html())
    assert "copie parfaite 3,1" in said(page_strip(LINKABILITY, CASES, french).html())


def test_text_of_a_strip_is_escaped() -> None:
    reading = Reading('<b> "x" & y', 50.0, None, None, "no target")
    words = {"strip_copy": "<i>copy</i>"}
    drawn = page_strip(reading, [Anchor("copy", 0.0)], words)
    assert parsed(drawn.html()).get("aria-label") == drawn.alt
    assert drawn.alt.startswith('<b> "x" & y: 50.0')
    assert "<i>copy</i> 0.0" in said(drawn.html())
    assert "<i>copy</i> 0.0" in said(drawn.typst())


@pytest.mark.parametrize("operator", [">=", ">", "<=", "<"])
def test_every_operator_has_words(operator: str) -> None:
    drawn = table_strip(Reading("m", 5.0, None, Target(operator, 7.5), "met"), (), {})
    assert drawn.alt.endswith(" 7.5")


def test_a_narrow_interval_can_still_be_seen_and_stays_on_the_line() -> None:
    for score in (0.0, 50.0, 100.0):
        drawn = table_strip(Reading("m", score, (score, score), None, "no target"), (), {})
        (bar,) = elements(drawn.html(), "rect")
        start, length = (float(bar.get(one, "").removesuffix("%")) for one in ("x", "width"))
        assert length >= 0.4
        assert 0 <= start <= start + length <= 100


def test_values_beyond_the_line_stay_on_it() -> None:
    drawn = page_strip(Reading("m", 120.0, (-5.0, 130.0), Target(">=", 140.0), "not met"), (), {})
    ends = [float(line.get("x1", "").removesuffix("%")) for line in elements(drawn.html(), "line")]
    assert min(ends) >= 0
    assert max(ends) <= 100


def test_letters_stay_apart_and_on_the_line() -> None:
    for places in itertools.combinations_with_replacement([0.0, 1.0, 50.0, 99.0, 100.0], 4):
        spread = spread_letters(places)
        assert spread == sorted(spread)
        assert 0 <= spread[0] <= spread[-1] <= 100
        gaps = [right - left for left, right in itertools.pairwise(spread)]
        assert min(gaps) > LETTER_DISTANCE - 0.05


def span(one: Placed) -> tuple[float, float]:
    """Return where placed words begin and end, on a telephone."""
    width = WIDTH_PER_CHARACTER * sum(len(words) for words, _, _ in one.parts)
    start = {"start": one.x, "middle": one.x - width / 2, "end": one.x - width}[one.anchor]
    return start, start + width


def test_no_words_above_the_line_overlap_or_leave_the_page() -> None:
    for score, target in itertools.product(range(0, 101, 4), range(0, 101, 4)):
        placed = headline(score, f"{score:.1f}", target, f"target ≥ {target}")
        spans = sorted(span(one) for one in placed)
        # Joined words have a gap between them and may stand out a little more.
        room = SLACK + 2 * WIDTH_PER_CHARACTER * (len(placed) == 1)
        assert spans[0][0] >= -room, (score, target)
        assert spans[-1][1] <= 100 + room, (score, target)
        assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans)), (
            score,
            target,
        )
        assert not any(start + 1 < target < end - 1 for start, end in spans), (score, target)


def test_a_number_without_a_target_stands_above_its_mark_and_on_the_page() -> None:
    assert headline(50.0, "50.0", None, "")[0].x == 50.0
    for score, number in ((0.0, "0.0"), (100.0, "100.0")):
        start, end = span(headline(score, number, None, "")[0])
        assert start >= -SLACK
        assert end <= max(EDGE, 100 + SLACK)


def test_no_words_below_the_line_overlap_or_leave_the_page_and_leaders_hardly_cross_them() -> None:
    names = ["perfect copy {:.1f}", "shuffled columns {:.1f}", "unseen real rows {:.1f}"]
    crossed = []
    for values in itertools.product([0.0, 20.0, 45.0, 62.0, 100.0], repeat=3):
        labels = [(at, name.format(at), "mute") for at, name in zip(values, names, strict=True)]
        placed = placed_below(labels)
        assert min(span(one)[0] for one, _ in placed) >= -SLACK
        assert max(span(one)[1] for one, _ in placed) <= 100 + SLACK
        for (one, lane), (other, other_lane) in itertools.combinations(placed, 2):
            apart = span(one)[1] <= span(other)[0] or span(other)[1] <= span(one)[0]
            assert lane != other_lane or apart, values
        for (at, _, _), (_, lane) in zip(labels, placed, strict=True):
            upper = [span(other) for other, other_lane in placed if other_lane < lane]
            if any(start < at < end for start, end in upper):
                crossed.append(values)
    # With 20 and 62 at once no arrangement on a telephone is without a crossing.
    assert all({20.0, 62.0} <= set(values) for values in crossed)


def test_known_cases_come_from_the_facts_that_exist() -> None:
    facts = {"self_score": 100.0, "floor_score": 4.1, "holdout_score": None, "real_score": 98.0}
    assert known_cases(facts) == (
        Anchor("copy", 100.0),
        Anchor("shuffled", 4.1),
        Anchor("real", 98.0),
    )
    assert known_cases({}) == ()
    assert known_cases({"floor_score": 99.0}) == (Anchor("shuffled", 99.0),)
