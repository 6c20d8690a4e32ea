"""Scores by group: a leak in a few is seen in theirs, and no group tells of the few."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from sample_assessment import sample

import evalkit
from evalkit.errors import InputError
from evalkit.grouping import groups_of
from evalkit.record_checks import check
from evalkit.records import Subgroup, SubgroupScore, decode
from evalkit.report.document import Report
from evalkit.report.pages import Pages
from evalkit.report.subject import Subject
from evalkit.report.view_subgroups import group_name, standings, worst_sentence
from evalkit.report.words import load_words

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.records import SubgroupsRecord

LINK, SHARE, MATCH = (
    "linkability_protection_rate",
    "closest_to_training_share",
    "row_direct_match_protection",
)
CORRELATION, HIDDEN, INFERENCE = (
    "correlation_difference_ratio",
    "hidden_rate",
    "inference_protection",
)
FEW = [LINK, SHARE, MATCH, CORRELATION]


def people(rows: int, seed: int, levels: dict[str, float]) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 15, rows).round()
    return pd.DataFrame(
        {
            "age": age,
            "pressure": (80 + 0.6 * age + rng.normal(0, 10, rows)).round(1),
            "weight": rng.normal(70, 9, rows).round(1),
            "smoker": rng.choice(["yes", "no"], rows),
            "region": rng.choice(list(levels), rows, p=list(levels.values())),
        }
    )


LEVELS = {"north": 0.5, "south": 0.4, "isle": 0.1}


def tables(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return originals, avatars and holdout; the avatars of the isle are its originals."""
    original, holdout, avatars = (people(400, seed + place, LEVELS) for place in (1, 2, 3))
    others = avatars[avatars["region"] != "isle"]
    leaked = original[original["region"] == "isle"]
    return original, pd.concat([others, leaked], ignore_index=True), holdout


def of_levels(counts: dict[str | None, int]) -> evalkit.Release:
    """Return a release with given numbers of originals at each level."""
    levels = [level for level, count in counts.items() for _ in range(count)]
    table = people(len(levels), 5, LEVELS).drop(columns="region").assign(place=levels)
    return evalkit.load(table, table, categorical=["place"])


def shown(counts: dict[str | None, int], min_count: int = 11) -> dict[str, int]:
    """Return the people of each group by its label, or else its kind."""
    groups, _ = groups_of(of_levels(counts), "place", min_count)
    return {group.label or group.kind: group.people for group in groups}


@cache
def assessed() -> evalkit.Assessment:
    return evalkit.assess(evalkit.load(*tables()), metrics=FEW, by="region")


def record() -> SubgroupsRecord:
    found = assessed().subgroups
    assert found is not None
    return found


def by_label() -> dict[str, Subgroup]:
    return {group.label: group for group in record().groups}


def score_of(label: str, slug: str) -> float:
    score = by_label()[label].results[slug].score
    assert score is not None
    return score


def test_a_leak_in_one_rare_group_is_seen_in_its_row_and_hardly_in_the_mean() -> None:
    for slug in (LINK, SHARE, MATCH):
        whole = assessed()[slug].headline
        assert whole is not None
        assert whole > 70
        assert score_of("isle", slug) < 45
        assert score_of("north", slug) > 75
    isle = by_label()["isle"].results[SHARE]
    assert isle.interval is not None
    assert isle.interval[1] < 100


def test_a_group_scores_as_a_release_of_its_own_would() -> None:
    original, avatars, holdout = (
        table[table["region"] == "north"].drop(columns="region") for table in tables()
    )
    for slug in FEW:
        alone = evalkit.measure(slug, original, avatars, holdout)
        found = by_label()["north"].results[slug]
        assert found.score == pytest.approx(alone.headline, abs=1e-9)
        assert found.interval == pytest.approx(alone.interval, abs=1e-9)


def test_the_people_of_every_table_are_counted_by_hand() -> None:
    for place, key in enumerate(("rows_original", "rows_avatars", "rows_holdout")):
        counts = tables()[place]["region"].value_counts().to_dict()
        assert {label: getattr(group, key) for label, group in by_label().items()} == counts


def test_rare_levels_are_taken_together() -> None:
    assert shown({"a": 40, "b": 30, "c": 6, "d": 7}) == {"a": 40, "b": 30, "rest": 13}


def test_a_single_level_that_is_left_over_takes_the_next_smallest_with_it() -> None:
    assert shown({"a": 40, "b": 30, "c": 20, "d": 3}) == {"a": 40, "b": 30, "rest": 23}


def test_rare_levels_that_stay_too_few_together_take_the_next_smallest_too() -> None:
    assert shown({"a": 40, "b": 30, "c": 20, "d": 3, "e": 2}) == {"a": 40, "b": 30, "rest": 25}


def test_nothing_is_shown_where_no_two_groups_may_be_told_apart() -> None:
    assert shown({"a": 60, "b": 3}) == {}
    _, notes = groups_of(of_levels({"a": 60, "b": 3}), "place", 11)
    assert [note.code for note in notes] == ["no_groups"]


def test_missing_is_a_group_of_its_own_where_enough_people_have_it() -> None:
    assert shown({"a": 40, "b": 30, None: 12}) == {"a": 40, "b": 30, "missing": 12}
    assert shown({"a": 40, "b": 30, None: 5}) == {"a": 40, "rest": 35}


def test_of_many_levels_the_most_frequent_are_shown() -> None:
    counts: dict[str | None, int] = {f"level{place:02d}": 40 - place for place in range(25)}
    groups, notes = groups_of(of_levels(counts), "place", 11)
    assert len(groups) == 21
    assert groups[-1].kind == "rest"
    assert groups[-1].levels == 5
    assert [note.code for note in notes] == ["groups_cut"]


def test_a_number_is_cut_near_its_quartiles_at_round_edges() -> None:
    table = pd.DataFrame({"income": np.arange(1000) + 0.37, "size": np.arange(1000) % 7})
    groups, notes = groups_of(evalkit.load(table, table), "income", 11)
    assert [(group.low, group.high) for group in groups] == [
        (None, 250.0),
        (250.0, 500.0),
        (500.0, 750.0),
        (750.0, None),
    ]
    assert [group.people for group in groups] == [250, 250, 250, 250]
    assert [note.code for note in notes] == ["near_quartiles"]


def test_a_number_with_few_values_or_few_people_gets_fewer_groups() -> None:
    flag = pd.DataFrame({"flag": [0] * 80 + [1] * 20, "size": np.arange(100) % 7})
    assert groups_of(evalkit.load(flag, flag), "flag", 11)[0] == ()
    small = pd.DataFrame({"income": np.arange(40.0), "size": np.arange(40) % 7})
    assert all(one.people >= 11 for one in groups_of(evalkit.load(small, small), "income", 11)[0])


def test_the_order_of_rows_never_matters() -> None:
    turned = [table.sample(frac=1, random_state=4) for table in tables()]
    again = evalkit.assess(evalkit.load(*turned), metrics=FEW, by="region").subgroups
    assert again is not None
    for one, other in zip(record().groups, again.groups, strict=True):
        assert one.label == other.label
        for slug in FEW:
            assert one.results[slug].score == pytest.approx(other.results[slug].score, abs=1e-9)


def test_the_groups_change_no_number_of_the_whole() -> None:
    plain = evalkit.assess(evalkit.load(*tables()), metrics=FEW)
    assert plain.subgroups is None
    for slug in FEW:
        assert plain[slug].score == assessed()[slug].score
        assert plain[slug].facts == assessed()[slug].facts


def test_a_small_holdout_of_a_group_is_neither_told_nor_compared_with() -> None:
    original, avatars, holdout = tables()
    few = holdout[(holdout["region"] != "isle") | (holdout.index < 30)]
    assert 0 < (few["region"] == "isle").sum() < 11
    found = evalkit.assess(evalkit.load(original, avatars, few), metrics=FEW, by="region").subgroups
    assert found is not None
    isle = next(group for group in found.groups if group.label == "isle")
    assert isle.results[SHARE].reason.code == "few_in_group"  # type: ignore[union-attr]
    assert isle.results[LINK].status == "measured"
    # One hidden number is the total minus the others.
    assert sum(group.rows_holdout is None for group in found.groups) == 2


def test_with_a_personal_key_persons_are_counted_and_not_their_rows() -> None:
    original, avatars, holdout = tables()
    isle = original["region"] == "isle"
    keys = np.where(isle, np.cumsum(isle) % 5, 100 + np.arange(400)).astype(str)
    original["key"] = keys
    holdout["key"] = [f"h{row}" for row in range(400)]
    release = evalkit.load(original, avatars, holdout, individual="key")
    groups, _ = groups_of(release, "region", 11)
    assert isle.sum() > 11
    assert [(group.kind, group.levels) for group in groups] == [("level", 1), ("rest", 2)]
    groups, _ = groups_of(release, "region", 5)
    assert {group.label: group.people for group in groups}["isle"] == 5


def test_the_row_link_keeps_the_pairs_whose_original_is_in_the_group() -> None:
    original, _, holdout = tables()
    rng = np.random.default_rng(0)
    avatars = original.assign(region=rng.permutation(original["region"]))
    avatars["age"] += rng.normal(0, 1, len(avatars)).round(2)
    release = evalkit.load(original, avatars, holdout, row_link=True)
    found = evalkit.assess(release, metrics=[HIDDEN], by="region").subgroups
    assert found is not None
    north = original["region"] == "north"
    parts = [table[north].drop(columns="region") for table in (original, avatars)]
    alone = evalkit.measure(HIDDEN, *parts, holdout.drop(columns="region"), row_link=True)
    group = next(group for group in found.groups if group.label == "north")
    assert group.results[HIDDEN].score == pytest.approx(alone.score, abs=1.0)


def test_what_cannot_be_measured_in_a_group_says_why() -> None:
    release = evalkit.load(*tables())
    by_sensitive = evalkit.Scenario(known=["age", "region"], sensitive="region")
    found = evalkit.assess(release, by_sensitive, metrics=[LINK, INFERENCE], by="region").subgroups
    assert found is not None
    for group in found.groups:
        codes = {slug: score.reason.code for slug, score in group.results.items() if score.reason}
        assert codes == {LINK: "few_known_in_group", INFERENCE: "group_is_sensitive"}


def test_a_rule_on_the_column_of_the_groups_is_left_out_in_the_groups() -> None:
    rules = ["age <= pressure", 'region in ["north", "south", "isle"]']
    release = evalkit.load(*tables(), schema={"rules": rules})
    found = evalkit.assess(release, metrics=["rule_consistency"], by="region")
    assert found["rule_consistency"].facts["n_rules"] == 2
    assert found.subgroups is not None
    original = tables()[1].query("region == 'north'")
    kept = 100 * (original["age"] <= original["pressure"]).mean()
    north = next(group for group in found.subgroups.groups if group.label == "north")
    assert north.results["rule_consistency"].score == pytest.approx(kept)


def test_a_group_without_an_avatar_has_no_score() -> None:
    original, avatars, holdout = tables()
    gone = avatars[avatars["region"] != "isle"]
    found = evalkit.assess(
        evalkit.load(original, gone, holdout), metrics=FEW, by="region"
    ).subgroups
    assert found is not None
    isle = next(group for group in found.groups if group.label == "isle")
    assert isle.rows_avatars == 0
    assert {score.reason.code for score in isle.results.values() if score.reason} == {
        "no_avatars_in_group"
    }


def test_without_a_holdout_a_group_needs_two_halves_of_enough_people() -> None:
    original, avatars, _ = tables()
    small = original[(original["region"] != "isle") | (original.index < 150)]
    assert 11 <= (small["region"] == "isle").sum() < 22
    found = evalkit.assess(evalkit.load(small, avatars), metrics=FEW, by="region").subgroups
    assert found is not None
    isle = next(group for group in found.groups if group.label == "isle")
    assert isle.results[CORRELATION].reason.code == "few_in_group"  # type: ignore[union-attr]
    assert isle.results[SHARE].reason.code == "no_real_holdout"  # type: ignore[union-attr]
    assert isle.rows_holdout is None


def test_progress_counts_every_group_and_ends_at_its_total() -> None:
    said: list[tuple[int, int, str]] = []
    evalkit.assess(
        evalkit.load(*tables()),
        metrics=[MATCH],
        by="region",
        progress=lambda done, total, label: said.append((done, total, label)),
    )
    assert said == [
        (0, 4, MATCH),
        (1, 4, f"{MATCH}, group 1 of 3"),
        (2, 4, f"{MATCH}, group 2 of 3"),
        (3, 4, f"{MATCH}, group 3 of 3"),
        (4, 4, "done"),
    ]


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("regoin", "did you mean 'region'"),
        ("remarks", "left out (identifier)"),
        ("visit", "holds dates"),
        (3, "is no text"),
    ],
)
def test_a_column_that_makes_no_groups_is_refused_in_one_line(by: Any, words: str) -> None:
    table = tables()[0].assign(
        remarks=[f"note number {row}" for row in range(400)],
        visit=pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(400) % 90, unit="D"),
    )
    with pytest.raises(InputError, match="by") as caught:
        evalkit.assess(evalkit.load(table, table, ignore=[]), metrics=[MATCH], by=by)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_json_gives_the_groups_back_and_they_pass_the_checks() -> None:
    again = decode(assessed().json(), "assessment.json")
    assert again.subgroups == record()
    check(again, "assessment.json")


CHANGED: list[tuple[str, dict[str, Any]]] = [
    ("rows_original", {"rows_original": 3}),
    ("rows_holdout", {"rows_holdout": 3}),
    ("kind", {"kind": "person"}),
    ("label", {"kind": "missing"}),
    ("levels", {"kind": "rest", "label": "", "levels": 1}),
    ("low", {"low": 3.0}),
    ("high", {"kind": "range", "label": "", "low": 3.0, "high": 2.0}),
]


@pytest.mark.parametrize(("field", "changes"), CHANGED)
def test_a_group_that_no_run_can_have_made_is_refused(field: str, changes: dict[str, Any]) -> None:
    groups = [msgspec.structs.replace(record().groups[0], **changes), *record().groups[1:]]
    bad = msgspec.structs.replace(record(), groups=groups)
    with pytest.raises(InputError, match=rf"subgroups.groups\[0\].{field}"):
        check(msgspec.structs.replace(assessed(), subgroups=bad), "assessment.json")


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("score", {"score": 500.0}),
        ("score", {"score": None}),
        ("interval", {"interval": (60.0, 20.0)}),
        ("status", {"status": "lost"}),
        ("unit", {"unit": "dogs"}),
        ("reason", {"status": "not applicable", "score": None, "interval": None}),
    ],
)
def test_a_score_of_a_group_that_no_run_can_have_made_is_refused(
    field: str, changes: dict[str, Any]
) -> None:
    first = record().groups[0]
    results = first.results | {LINK: msgspec.structs.replace(first.results[LINK], **changes)}
    groups = [msgspec.structs.replace(first, results=results), *record().groups[1:]]
    bad = msgspec.structs.replace(record(), groups=groups)
    with pytest.raises(InputError, match=rf"results.{LINK}.{field}"):
        check(msgspec.structs.replace(assessed(), subgroups=bad), "assessment.json")


def subject_of(assessment: evalkit.Assessment) -> Subject:
    return Subject(assessment, assessment.json(), load_words("en"), Pages("en"))


def test_page_1_names_the_worst_group_and_says_so_where_there_is_none() -> None:
    assert "Worst subgroup by region: isle, n = " in worst_sentence(subject_of(assessed()))
    original, _, holdout = tables()
    fair = evalkit.load(original, people(400, 9, LEVELS), holdout)
    found = evalkit.assess(fair, metrics=[SHARE], by="region")
    assert "no subgroup scores below" in worst_sentence(subject_of(found))
    assert worst_sentence(subject_of(sample())) == ""


def test_the_lowest_group_stands_first() -> None:
    found = standings(LINK, subject_of(assessed()))
    assert next(one.group.label for one in found) == "isle"
    scores = [one.score.score for one in found]
    assert scores == sorted(scores)


def test_a_group_is_called_by_its_kind() -> None:
    subject = subject_of(assessed())

    def named(**given: Any) -> str:
        people_of = {"rows_original": 20, "rows_avatars": 20, "rows_holdout": None, "results": {}}
        return group_name(Subgroup(**{"label": "", "levels": 1} | people_of | given), subject)

    assert named(label="north") == "north"
    assert named() == "empty text"
    assert named(kind="missing") == "missing"
    assert named(kind="rest", levels=3) == "3 rare levels together"
    assert named(kind="range", high=30.0) == "under 30"
    assert named(kind="range", low=30.0, high=45.5) == "30 to under 45.5"
    assert named(kind="range", low=45.5) == "45.5 or more"


def test_the_report_shows_every_group_with_its_people_and_what_chance_does(
    tmp_path: Path,
) -> None:
    Report(assessed()).save(tmp_path)
    html = (tmp_path / "technical_assessment.html").read_text(encoding="utf-8")
    for words in ("Groups by region", "People by region", "Scores by region: Linkability", "isle"):
        assert words in html
    assert "one interval in twenty misses by chance alone" in html
    assert (tmp_path / "technical_assessment.pdf").stat().st_size > 10_000


def test_a_hostile_level_is_text_in_every_output(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> #panic() $x$"
    named = [msgspec.structs.replace(group) for group in record().groups]
    named[0] = msgspec.structs.replace(named[0], label=hostile)
    bad = msgspec.structs.replace(record(), groups=named, by="<b>region</b> {by}")
    Report(msgspec.structs.replace(assessed(), subgroups=bad)).save(tmp_path)
    html = (tmp_path / "technical_assessment.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in html.partition("<main")[2].partition("application/json")[0]
    assert "<b>region" not in html


def test_the_command_line_repeats_the_scores_and_tells_no_rare_level(tmp_path: Path) -> None:
    original, avatars, holdout = tables()
    for table in (original, avatars):
        table.loc[table.index[:3], "region"] = "Zzyzx-on-Sea"
    for name, table in (("original", original), ("avatars", avatars), ("holdout", holdout)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    command = [sys.executable, "-m", "evalkit", "assess", "original.csv", "avatars.csv"]
    options = ["--holdout", "holdout.csv", "--by", "region", "--metrics", f"{SHARE},{MATCH}"]
    done = subprocess.run(
        [*command, *options, "-o", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    content = (tmp_path / "out" / "assessment.json").read_text(encoding="utf-8")
    groups = json.loads(content)["subgroups"]["groups"]
    assert [(one["kind"], one["label"]) for one in groups][-1] == ("rest", "")
    assert "group 2 of 3" in done.stderr
    for path in (tmp_path / "out").iterdir():
        assert b"Zzyzx" not in path.read_bytes(), path.name
    assert "Zzyzx" not in done.stdout + done.stderr


def test_a_score_without_one_says_why() -> None:
    score = SubgroupScore(
        status="not applicable",
        reason=None,
        score=None,
        unit="%",
        interval=None,
        interval_method=None,
    )
    first = record().groups[0]
    groups = [msgspec.structs.replace(first, results={LINK: score}), *record().groups[1:]]
    bad = msgspec.structs.replace(record(), groups=groups)
    with pytest.raises(InputError, match="reason is missing"):
        check(msgspec.structs.replace(assessed(), subgroups=bad), "assessment.json")
