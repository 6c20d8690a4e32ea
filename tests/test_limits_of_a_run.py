"""Nothing weak, unmeasured, unjudged or recurring is passed over: limitations, title, page 1."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd
import pytest
from sample_assessment import bare, correlation, linkability, not_applicable, sample
from test_contract import people

import evalkit
from evalkit.commands.assess import grave_notes
from evalkit.messages import say
from evalkit.records import Target
from evalkit.report import view_verdict
from evalkit.report.pages import Pages
from evalkit.report.subject import Subject
from evalkit.report.view_ledger import limitation_blocks
from evalkit.report.view_rows import verdict_key, verdict_row
from evalkit.report.view_verdict import (
    control_words,
    not_tested,
    plain_sentences,
    verdict_blocks,
    verdict_title,
)
from evalkit.report.words import load_words
from evalkit.resources import LANGUAGES

if TYPE_CHECKING:
    from evalkit.records import Assessment, Result

LINK, ROWS = "linkability_protection_rate", "row_direct_match_protection"
WEAK = {"excess_interval": [-0.2, 0.2], "detectable_excess": 0.3}


def subject_of(assessment: Assessment, language: str = "en") -> Subject:
    return Subject(assessment, b"", load_words(language), Pages(language))


def points_of(assessment: Assessment, language: str = "en") -> list[str]:
    return list(limitation_blocks(subject_of(assessment, language))[-1]["items"])


def said_in(assessment: Assessment, words: str) -> str:
    found = [point for point in points_of(assessment) if words in point]
    return found[0] if found else ""


def of(**results: Result) -> Assessment:
    return msgspec.structs.replace(sample(), results=results, more_scenarios=[])


def linked(facts: dict[str, Any], **changes: Any) -> Result:
    whole = linkability("real", ["age", "sex"])
    return msgspec.structs.replace(whole, facts=whole.facts | facts, **changes)


def free(result: Result) -> Result:
    return msgspec.structs.replace(result, target=None, verdict="no target")


@cache
def matched(copies: int) -> Result:
    """Return the exact matches where so many of 100 avatars are originals."""
    original, avatars, holdout = (people(100, seed) for seed in (1, 2, 3))
    mixed = pd.concat([original[:copies], avatars[copies:]], ignore_index=True)
    return evalkit.measure(ROWS, original, mixed, holdout)


def attacked() -> Result:
    return msgspec.structs.replace(free(linked({})), criterion="singling out")


def with_shared_identifier(*shared: int) -> Assessment:
    template = (
        "Privacy warning: {shared:,} of the {levels:,} values of the identifier {column} occur "
        "among the avatars."
    )
    column = sample().release.variables[0]
    variables = [
        msgspec.structs.replace(
            column,
            name=f"key_{place}",
            notes=[
                say("identifier_shared", template, shared=one, levels=1000, column=f"key_{place}")
            ],
        )
        for place, one in enumerate(shared)
    ]
    release = msgspec.structs.replace(sample().release, variables=variables)
    return msgspec.structs.replace(sample(), release=release)


def test_an_attack_too_weak_to_tell_is_a_limitation() -> None:
    assert "linkability protection rate" in said_in(of(**{LINK: linked(WEAK)}), "Too weak to tell")
    assert not said_in(of(**{LINK: linked({})}), "Too weak to tell")


def test_known_variables_that_even_a_copy_passes_are_a_limitation() -> None:
    coarse = of(**{LINK: linked({"self_score": 94.8})})
    assert "over 90 in linkability protection rate" in said_in(coarse, "perfect copy")
    assert not said_in(of(**{LINK: linked({"self_score": 90.0})}), "perfect copy")


def test_what_was_not_measured_is_a_limitation_though_it_was_asked_for() -> None:
    lost = of(**{LINK: not_applicable()})
    assert "linkability" in said_in(lost, "Nothing follows for")
    assert "linkability protection rate" in said_in(lost, "Asked for but not measured")
    assert "linkability" not in said_in(of(**{LINK: linked({})}), "Nothing follows for")


def test_targets_set_for_others_and_targets_not_judged_are_limitations() -> None:
    warning = say("other_recipient", "The targets of {profile} were set for others.", profile="v")
    profile = sample().profile
    assert profile is not None
    profile = msgspec.structs.replace(profile, warnings=[warning], unmeasured=["of_tomorrow"])
    target = Target(operator=">=", value=50.0, issuer="us", definition="same")
    lost = msgspec.structs.replace(not_applicable(), target=target)
    assessment = msgspec.structs.replace(of(hidden_rate=lost), profile=profile)
    assert said_in(assessment, "were set for others")
    assert "hidden rate and of tomorrow" in said_in(assessment, "could not be judged")


def test_without_targets_nothing_is_met_or_missed() -> None:
    free_of = msgspec.structs.replace(of(**{LINK: free(linked({}))}), profile=None)
    assert said_in(free_of, "No target was set")
    assert not said_in(sample(), "No target was set")


def test_where_no_attack_was_run_none_is_said_to_lack_a_control() -> None:
    utility = of(correlation_difference_ratio=correlation("real", ["age", "sex"]))
    assert said_in(utility, "No attack was run.")
    assert not said_in(utility, "could be compared")
    alone = of(**{LINK: linked({"excess_interval": None, "control_share": None})})
    assert said_in(alone, "could be compared")


@pytest.mark.parametrize(("rows", "told"), [(300, True), (300_000, False)])
def test_only_a_holdout_of_few_people_makes_a_control_uncertain(rows: int, told: bool) -> None:
    release = msgspec.structs.replace(sample().release, n_working=1_000_000, n_holdout=rows)
    assessment = msgspec.structs.replace(sample(), release=release)
    assert bool(said_in(assessment, "less certain than the data")) is told


def test_a_holdout_is_an_assumption_unless_it_was_declared() -> None:
    assert said_in(sample(), "was not declared")
    declared = msgspec.structs.replace(sample(), declared={"holdout made": "drawn by person"})
    assert not said_in(declared, "was not declared")


def test_nothing_beyond_stands_only_where_nothing_was_found() -> None:
    results = {
        f"{name}_attack": linked({}, criterion=name)
        for name in ("singling out", "linkability", "inference", "membership")
    }
    release = sample().release
    used = [one for one in release.variables if one.used]
    clean = msgspec.structs.replace(
        sample(),
        results=results,
        declared={"holdout_made": "by person"},
        release=msgspec.structs.replace(release, variables=used, n_holdout=4812),
    )
    several = msgspec.structs.replace(sample().more_scenarios[0], results={LINK: linked({})})
    clean = msgspec.structs.replace(clean, more_scenarios=[several])
    assert points_of(clean) == ["Nothing beyond the general points."]
    weak = msgspec.structs.replace(clean, results=results | {LINK: linked(WEAK)})
    assert len(points_of(weak)) == 1
    assert "Too weak" in points_of(weak)[0]


def test_the_title_counts_every_target() -> None:
    target = Target(operator=">=", value=50.0, issuer="us", definition="same")
    lost = msgspec.structs.replace(not_applicable(), target=target)
    three = msgspec.structs.replace(
        sample(), results=sample().results | {"hidden_rate": lost}, more_scenarios=[]
    )
    assert verdict_title(subject_of(three)).startswith("One target met, one missed, one not judged")
    alone = of(hidden_rate=lost, **{LINK: free(linked({}))})
    assert verdict_title(subject_of(alone)).startswith("One target set, but not judged; ")


def test_a_quiet_title_names_the_attacks_that_were_too_weak() -> None:
    quiet = linked({"excess_interval": [-0.01, 0.02]}, criterion="membership")
    title = verdict_title(subject_of(of(a=quiet, b=linked(WEAK))))
    assert title.endswith("; no excess seen in membership; too weak an attack on linkability")
    loud = linked({"excess_interval": [0.1, 0.2]}, criterion="membership")
    assert "too weak" not in verdict_title(subject_of(of(a=loud, b=linked(WEAK))))


@pytest.mark.parametrize(("copies", "told"), [(57, True), (3, False)])
def test_avatars_that_equal_records_are_on_page_one_whatever_leads(
    copies: int,
    told: bool,
) -> None:
    said = plain_sentences(subject_of(of(outlier=attacked(), **{ROWS: matched(copies)})))
    assert any("equal an original" in one for one in said) is told


def test_what_leads_is_told_once() -> None:
    said = plain_sentences(subject_of(of(**{ROWS: matched(57)})))
    assert sum("equal an original" in one for one in said) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_identifier_values_among_the_avatars_are_on_page_one_and_in_the_limitations(
    language: str,
) -> None:
    assessment = with_shared_identifier(12, 848)
    said = plain_sentences(subject_of(assessment, language))
    assert "848" in said[0]
    assert "key_1" in said[0]
    assert "key_0" not in said[0]
    told = " ".join(points_of(assessment, language))
    assert "848" in told
    assert "key_0" in told


def test_identifier_values_among_the_avatars_are_printed_below_the_scores() -> None:
    assessment = with_shared_identifier(848)
    column = assessment.release.variables[0]
    odd = say("identifier_shared", "Identifier {column} recurs.", column="to\x1b[2Jwn")
    notes = [*column.notes, odd, say("odd", "Something odd.")]
    variables = [msgspec.structs.replace(column, notes=notes)]
    release = msgspec.structs.replace(assessment.release, variables=variables)
    printed = grave_notes(msgspec.structs.replace(assessment, release=release))
    assert printed[0].startswith("Privacy warning: 848 of the 1,000 values")
    assert printed[1:] == ["Identifier to?[2Jwn recurs."]


def test_page_one_names_a_criterion_that_was_asked_for_but_not_measured() -> None:
    points = not_tested(subject_of(of(**{LINK: not_applicable()}, other=attacked())))
    assert "Linkability: not measured." in points
    assert not any("Linkability" in one and "no measure" in one for one in points)


def test_page_one_says_how_the_measure_of_a_row_is_chosen() -> None:
    several = of(**{LINK: linked({}), "other_attack": linked({})})
    assert "the gravest" in verdict_blocks(subject_of(several))[-1]["text"]
    assert "the gravest" not in verdict_blocks(subject_of(bare()))[-1]["text"]


def test_long_sentences_on_page_one_are_set_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not verdict_blocks(subject_of(sample()))[0]["dense"]
    monkeypatch.setattr(view_verdict, "LINES_AT_FULL_SIZE", 4)
    assert verdict_blocks(subject_of(sample()))[0]["dense"]


def test_a_holdout_is_not_called_unused_unless_that_was_declared() -> None:
    assert control_words(subject_of(sample())).endswith("how set aside is not declared")
    declared = msgspec.structs.replace(sample(), declared={"holdout made": "by person"})
    assert control_words(subject_of(declared)).endswith("set aside as declared")


def test_the_other_half_is_not_called_unseen() -> None:
    key = verdict_key(subject_of(sample(holdout_kind="approximate")))
    assert "the other half, anonymised too" in key
    assert "unseen" not in key


def test_a_row_without_a_strip_says_why() -> None:
    high = linked({"holdout_score": 130.0})
    row = verdict_row("linkability", subject_of(of(**{LINK: high})))
    assert row["strip"] is None
    assert "a known case lies over 100" in row["basis"]
    assert "known case" not in verdict_row("linkability", subject_of(sample()))["basis"]
