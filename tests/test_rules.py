from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.rules import apply_rule, checked_rule, rule_list

if TYPE_CHECKING:
    from evalkit.rules import Kept

ROWS = 40


@cache
def release() -> evalkit.Release:
    days = pd.date_range("2020-01-01", periods=ROWS)
    number = np.arange(ROWS)
    table = pd.DataFrame(
        {
            "start": days.strftime("%Y-%m-%d"),
            "end": (days + pd.Timedelta(days=4)).strftime("%Y-%m-%d"),
            "age": number + 20,
            "size": np.where(number % 2, 1.5, 2.0),
            "tenth": number / 10,
            "sex": np.where(number % 2, "F", "M"),
            "births": np.where(number % 2, 1.0, np.nan),
            "blood pressure": number + 100,
            'it\'s `odd` "name"': number,
            "âge réel": number + 20,
            "retired": np.where(number < 10, "true", "false"),
            "code": np.where(number % 2, "1", "2"),
            "first": np.where(number % 4 == 0, "a", "b"),
            "second": np.where(number % 2 == 0, "b", "a"),
        }
    )
    return evalkit.load(table, table, categorical=["code"])


def kept(rule: str) -> Kept:
    tree = checked_rule(rule_list([rule], "s.yaml")[0], release().schema)
    return apply_rule(tree, release().original, release().schema)


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        ("start <= end", 40),
        ("start >= 2020-01-11", 30),
        ('start >= "2020-01-11"', 30),
        ("2020-01-11 <= start < 2020-01-21", 10),
        ("start in 2020-01-11..2020-01-20", 10),
        ("end - start == 4 days", 40),
        ("end - start < 96 hours", 0),
        ("end - start == 5 days ± 1 day", 40),
        ("start + 1 week > end", 40),
        ("0 <= age <= 29", 10),
        ("age in 20..29", 10),
        ("age in (10 + 10)..(30 - 1)", 10),
        ("age in [20, 21, 99]", 2),
        ("age not in (20, 21)", 38),
        ("age ≥ 30", 30),
        ("age ≠ 30", 39),
        ("size ** 2 == 4", 20),
        ("size**-1 < 0.6", 20),
        ("-age < -30", 29),
        ("abs(age - 30) <= 2", 5),
        ("tenth * 3 == age * 0.3 - 6", 40),  # 0.1 * 3 is not 0.3 in binary
        ("tenth + 0.2 <= tenth + 0.2", 40),
        ("age == 30 +- 2", 5),
        ("age == 30 +/- 2", 5),
        ("age != 30 ± 2", 35),
        ('sex == "M"', 20),
        ("sex == 'M' and age < 30", 5),
        ('sex == "M" & age < 30', 5),
        ('not (sex == "M" or age < 30)', 15),
        ('sex == "M" -> age < 30', 25),
        ('sex == "M" => age < 30', 25),
        ('sex == "M" implies age < 30', 25),
        ('sex in {"M", "F",}', 40),
        ('sex == "M" -> births is missing', 40),
        ("births is not missing", 20),
        ("`blood pressure` - 80 == age", 40),
        ('`it\'s ``odd`` "name"` + 20 == age', 40),
        ("âge réel == age", None),
        ("`âge réel` == age", 40),
        ("retired == true", 10),
        ("retired != true", 30),
        ("code == 1", 20),
        ("code in [1, 2]", 40),
        ("first == second", 10),
        ("first != second", 30),
        ("1 + 2 * 3 == 7 and age > 0", 40),
        ("(1 + 2) * 3 == 9 and age > 0", 40),
        ("2 ** 2 * 3 == 12 and age > 0", 40),
        ("-2 ** 2 == -4 and age > 0", 40),
        ("8 / 4 / 2 == 1 and age > 0", 40),
        ("age < 25 or age > 50 and sex == 'M'", 5 + 4),
        ("age < 30 -> age < 40 -> age < 20", 30),  # read from the right
    ],
)
def test_a_rule_is_kept_by_the_rows_that_keep_it(rule: str, count: int | None) -> None:
    if count is None:
        with pytest.raises(evalkit.InputError, match="character 5"):
            kept(rule)
    else:
        found = kept(rule)
        assert (found.kept, found.left_out) == (count, 0)


@pytest.mark.parametrize(
    ("rule", "left_out"),
    [
        ("births > 0", 20),
        ('sex == "M" -> births > 0', 20),  # a missing operand, whatever the premise says
        ("size / (age - 20) > 0", 1),  # a division by zero gives no number
        ("(age - 30) ** 0.5 >= 0", 10),
    ],
)
def test_a_row_that_cannot_be_looked_at_is_left_out_and_counted(rule: str, left_out: int) -> None:
    found = kept(rule)
    assert (found.left_out, found.rows) == (left_out, ROWS - left_out)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("__import__('os') == 1", "'__import__' cannot be called"),
        ("age.__class__.__mro__[1] == 3", "no column 'age.__class__.__mro__'|cannot follow"),
        ("(age).real == 3", "has no meaning here"),
        ("open(age) > 1", "'open' cannot be called"),
        ("age.__class__ == 3", "no column 'age.__class__'"),
        ("age > 0 or lambda: 0", "character 18: : has no meaning"),
        ("[x for x in age] == 3", "stands where a value must"),
        ("age > f'{age}'", "a text cannot|cannot follow|no column 'f'"),
        ("age > 10**10**10", "power of a power"),
        ("age > 2**99", "exponent"),
        ("age > 2**age", "exponent"),
        ("age > 1e400", "too large"),
        ("age > 0x41", "has no meaning"),
        ("age > " + "9" * 40, "over 30 characters"),
        ("", "is empty"),
        ("age >", "the end stands where a value must"),
        ("(age > 3", "to close the bracket"),
        ("age > 3)", "cannot follow"),
        ("age = 3", "write == to compare"),
        ("agee > 3", "did you mean 'age'"),
        ("sex == M", "A value goes in quotation marks"),
        ("sex > 'M'", "texts have no order"),
        ("sex in 'A'..'B'", "texts have no order"),
        ("sex == 'M' ± 1", "texts have no order"),
        ("end - start < 4", "30 days"),
        ("start == 3", "2020-01-31"),
        ("start > '01/02/2020'", "is no date"),
        ("start > 2020-13-45", "is no date"),
        ("age == 'x'", "a number is compared with a text"),
        ("age == true", "a number is compared with a text"),
        ("age + sex > 2", "cannot be calculated with"),
        ("start + end > 2020-01-01", "cannot be calculated with"),
        ("age + 1", "no test"),
        ("age and sex", "joins tests"),
        ("not age", "joins tests"),
        ("(age > 1) == (size > 1)", "a test cannot be compared"),
        ("1 == 1", "names no column"),
        ("age ± 3", "cannot follow"),
        ("1 < age < 3 ± 1", "single =="),
        ("age + 1 is missing", "only a column can be missing"),
        ("age is 3", "where missing must"),
        ("age in 3", "cannot follow in"),
        ("age not 3", "where in must"),
        ("sex == 'M", "not closed"),
        ("`age > 3", "not closed"),
        ("age ? 3", "has no meaning here"),
        ("age > 3; age", "has no meaning here"),
        ("(" * 60 + "age" + ")" * 60 + " > 1", "levels deep"),
        ("not " * 60 + "age > 1", "levels deep"),
        ("-" * 60 + "age > 1", "levels deep"),
        ("age > 1 -> " * 60 + "age > 1", "levels deep"),
        ("abs(" * 60 + "age" + ")" * 60 + " > 1", "levels deep"),
        ("age + " * 160 + "age > 1", "over 300 words"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(rule: str, words: str) -> None:
    with pytest.raises(evalkit.InputError, match=words) as error:
        kept(rule)
    assert str(error.value).startswith("s.yaml, rule 1")
    assert len(str(error.value)) < 600
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("length", [1001, 100_000])
def test_a_rule_of_endless_length_is_refused(length: int) -> None:
    with pytest.raises(evalkit.InputError, match="1,000 characters"):
        rule_list(["a" * length], "s.yaml")


def test_comparisons_nested_in_comparisons_end_at_once() -> None:
    rule = "age < (" * 30 + "age" + ") < age" * 30
    started = time.process_time()
    with pytest.raises(evalkit.InputError, match="cannot be compared"):
        kept(rule)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("age > 3", "rules is no list"),
        ({"a": "age > 3"}, "rules is no list"),
        ([3], "rule 1: 3 is no text"),
        (["age > 3", {"name": "x"}], "rule 2: give a text, or name: and rule:"),
        ([{"rule": "age > 3", "if": "x"}], "rule 1: give a text"),
        ([{"rule": "age > 3", "name": 7}], "rule 1, name: 7 is no text"),
        (["age > 3", "age  >  3"], "rule 2: has the name of rule 1"),
        ([f"age > {k}" for k in range(201)], "at most 200"),
    ],
)
def test_what_is_no_list_of_rules_is_refused(given: Any, words: str) -> None:
    with pytest.raises(evalkit.InputError, match=words):
        rule_list(given, "s.yaml")


def test_a_bad_rule_stops_the_reading_and_names_its_number() -> None:
    table = pd.DataFrame({"age": [k % 50 for k in range(60)], "name": [f"n{k}" for k in range(60)]})
    for rule, words in [("aeg > 3", "did you mean 'age'"), ("name == 'x'", "was left out")]:
        with pytest.raises(evalkit.InputError, match=f"schema, rule 2, character 1: .*{words}"):
            evalkit.load(table, table, schema={"rules": ["age > 3", rule]})


def test_the_rules_are_recorded_as_they_were_given() -> None:
    table = pd.DataFrame({"age": [k % 50 for k in range(60)]})
    rules = ["age > 3", {"name": "young", "rule": "age < 50"}]
    options = evalkit.load(table, table, schema={"rules": rules}).options
    assert options["schema"] == {
        "rules": [{"name": "age > 3", "rule": "age > 3"}, {"name": "young", "rule": "age < 50"}]
    }


def test_the_people_behind_the_rows_are_counted_where_a_person_has_several() -> None:
    tree = checked_rule(rule_list(["age < 30"], "s")[0], release().schema)
    person = np.arange(ROWS) // 5  # Two persons keep it, six break it.
    found = apply_rule(tree, release().original, release().schema, person)
    assert (found.kept, found.people_kept, found.people_broken) == (10, 2, 6)


def test_large_whole_numbers_are_compared_exactly() -> None:
    table = pd.DataFrame({"low": [2**53, 2**53 + 1] * 20, "high": [2**53 + 1] * 40})
    loaded = evalkit.load(table, table)
    tree = checked_rule(rule_list(["low == high"], "s")[0], loaded.schema)
    assert apply_rule(tree, loaded.original, loaded.schema).kept == 20
