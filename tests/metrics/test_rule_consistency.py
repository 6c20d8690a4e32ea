from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import assert_one_sentence_a_line, page_text, people

import evalkit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SLUG = "rule_consistency"


def measured(rules: list[str], *tables: pd.DataFrame, **options: object) -> evalkit.Result:
    return evalkit.measure(SLUG, *tables, schema={"rules": rules, **options})


def spans(kept: int, broken: int, open_ended: int) -> pd.DataFrame:
    rows = kept + broken + open_ended
    start = np.arange(rows) % 7 + 20
    end = np.where(np.arange(rows) < kept, start + 2.0, start - 2.0)
    end[kept + broken :] = np.nan
    return pd.DataFrame({"start": start, "end": end, "age": np.arange(rows) % 50 + 20})


def test_the_example_of_the_page() -> None:
    avatars = spans(60, 20, 20)
    result = measured(["start <= end", "0 <= age <= 120"], spans(80, 20, 0), avatars)
    assert result.score == pytest.approx(87.5)
    worst, other = result.facts["rules"]
    assert (worst["share"], worst["rows"], worst["broken"], worst["left_out"]) == (0.75, 80, 20, 20)
    assert worst["original"]["share"] == 0.8
    assert other["share"] == 1.0
    assert result.interval_method == "mean_wilson"


def test_one_rule_has_wilsons_interval() -> None:
    result = measured(["start <= end"], spans(80, 20, 0), spans(80, 20, 0))
    assert result.interval_method == "wilson"
    assert result.interval == pytest.approx((71.117, 86.663), abs=0.001)  # 80 of 100
    assert result.facts["self_score"] == 80
    assert result.facts["holdout_score"] is None


CHECKS: dict[str, Callable[[pd.Series], bool]] = {
    "age >= 40": lambda row: row["age"] >= 40,
    "weight + 10 <= pressure - 5": lambda row: row["weight"] + 10 <= row["pressure"] - 5,
    'smoker == "yes" -> age >= 40': lambda row: row["smoker"] != "yes" or row["age"] >= 40,
    'town in ["Aix", "Caen"] or not smoker == "no"': (
        lambda row: row["town"] in {"Aix", "Caen"} or row["smoker"] != "no"
    ),
    "age in 30..60 and pressure > weight": (
        lambda row: 30 <= row["age"] <= 60 and row["pressure"] > row["weight"]
    ),
}


@pytest.mark.parametrize("rule", CHECKS)
def test_shares_are_those_of_plain_counting(rule: str) -> None:
    original, avatars, holdout = people(80, 1), people(70, 2), people(60, 3)
    for table in (original, avatars, holdout):
        table.loc[[3, 9], "weight"] = np.nan
        table.loc[[3, 5], "smoker"] = None
    used = [name for name in avatars if name in rule]

    def share(table: pd.DataFrame) -> float:
        rows = [row for _, row in table.dropna(subset=used).iterrows()]
        return sum(bool(CHECKS[rule](row)) for row in rows) / len(rows)

    [found] = measured([rule], original, avatars, holdout).facts["rules"]
    assert found["share"] == pytest.approx(share(avatars))
    assert found["left_out"] == len(avatars) - len(avatars.dropna(subset=used))
    for role, table in (("original", original), ("holdout", holdout)):
        shown = found[role]["share"]
        assert shown is None or shown == pytest.approx(share(table), abs=5e-5)


@pytest.mark.parametrize(("broken", "shown"), [(0, False), (3, False), (10, False), (11, True)])
def test_a_count_of_people_under_min_count_is_never_told(broken: int, shown: bool) -> None:
    original = spans(200 - broken, broken, 3)
    result = measured(["start <= end"], original, spans(150, 50, 0), original)
    for role in ("original", "holdout"):
        found = result.facts["rules"][0][role]
        assert (found["share"] is not None) == shown
        assert found["at_least"] == (None if shown else 0.95)
        assert found["left_out"] is None
    assert (result.facts["self_score"] is not None) == shown
    assert (result.facts["holdout_score"] is not None) == shown
    assert ("under 11 break it" in page_text(SLUG, result)) != shown


def test_people_who_keep_a_rule_are_not_told_either_if_they_are_few() -> None:
    [found] = measured(["start <= end"], spans(4, 196, 0), spans(50, 50, 0)).facts["rules"]
    assert (found["original"]["share"], found["original"]["at_most"]) == (None, 0.05)


def test_without_rules_the_reason_says_where_to_write_them() -> None:
    result = evalkit.measure(SLUG, people(60, 1), people(60, 2))
    assert result.status == "not applicable"
    assert result.reason is not None
    assert "Write rules in the schema file" in result.reason.text


def test_a_rule_that_no_avatar_can_be_held_against_is_listed() -> None:
    original, avatars = spans(80, 20, 0), spans(4, 1, 95)
    result = measured(["start <= end", "age > 0"], original, avatars)
    assert result.facts["unscored"] == ["start <= end"]
    assert [one.code for one in result.warnings] == ["rules_unscored"]
    alone = measured(["start <= end"], original, avatars)
    assert alone.reason is not None
    assert alone.reason.code == "rules_not_testable"


def test_a_text_that_no_table_holds_is_told() -> None:
    result = measured(['smoker in ["ja", "yes", "no"]'], people(60, 1), people(60, 2))
    assert [one.code for one in result.warnings] == ["rule_unknown_level"]
    assert result.warnings[0].values["level"] == "ja"


def test_shuffled_columns_break_a_rule_that_joins_two() -> None:
    table = people(300, 1)
    table["half"] = table["age"] / 2
    result = measured(["half == age / 2"], table, table)
    assert result.score == 100
    assert result.facts["floor_score"] < 20
    assert measured(["age > 0"], table, table).facts["floor_score"] is None


def test_rules_come_from_a_schema_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(
        "columns: {code: {type: categorical}}\n"
        "rules:\n"
        "  - age >= 30\n"
        "  - {name: Known codes, rule: 'code in [1, 2]'}\n",
        encoding="utf-8",
    )
    table = people(100, 1).assign(code=np.arange(100) % 4)
    result = evalkit.measure(SLUG, table, people(90, 2).assign(code=1), schema=path)
    shares = {one["name"]: one["share"] for one in result.facts["rules"]}
    assert shares["Known codes"] == 1
    assert shares["age >= 30"] == pytest.approx((people(90, 2)["age"] >= 30).mean())


def test_the_page_says_what_each_result_shows() -> None:
    original, avatars, holdout = people(300, 1), people(300, 2), people(300, 3)
    hostile = {"name": '<b>{{ 7 * 7 }}</b> *x* "$"', "rule": "age >= 45"}
    several = measured([hostile, "weight > 60"], original, avatars, holdout)  # type: ignore[list-item]
    page = page_text(SLUG, several)
    assert "Among the holdout" in page
    assert '<b>{{ 7 * 7 }}</b> *x* "$"' in page
    assert "The rule broken most is" in page
    kept = page_text(SLUG, measured(["age >= 0", "weight > 0"], original, avatars, holdout))
    assert "broken most is" not in kept
    assert "One of them is" in kept
    assert "Rules: every avatar keeps the one" in page_text(
        SLUG, measured(["age < 999"], original, avatars)
    )
    assert_one_sentence_a_line(SLUG)


def test_the_order_of_the_rules_decides_between_equal_ones() -> None:
    table = spans(80, 20, 0)
    result = measured(["start < end", "end > start", "age >= 0"], table, table)
    numbers = list(map(operator.itemgetter("number"), result.facts["rules"]))
    assert numbers == [1, 2, 3]


def test_a_share_that_rests_on_few_persons_with_many_rows_is_not_shown() -> None:
    original = spans(300, 60, 0).assign(person=np.arange(360) // 12)  # Five persons break it.
    options = {"schema": {"rules": ["start <= end"]}, "individual": "person"}
    [found] = evalkit.measure(SLUG, original, spans(80, 20, 0), **options).facts["rules"]
    assert {found["original"][key] for key in ("share", "at_least", "at_most")} == {None}
    by_row = measured(["start <= end"], original.drop(columns="person"), spans(80, 20, 0))
    assert by_row.facts["rules"][0]["original"]["share"] == round(300 / 360, 4)
