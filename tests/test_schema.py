"""Types are decided once, from the originals or by the user, and hold for every table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from evalkit.errors import InputError
from evalkit.release import load
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from pathlib import Path


def variable(cells: list[Any], name: str = "v", **options: Any) -> Variable:
    """Return how a column of the originals is read beside a column that is always used."""
    frame = pd.DataFrame(
        {name: cells, "other": ["p", "q"] * (len(cells) // 2) + ["p"] * (len(cells) % 2)}
    )
    return load(frame, frame, **options).schema[name]


def codes(one: Variable) -> list[str]:
    """Return the codes of a variable's notes."""
    return [note.code for note in one.notes]


def note(one: Variable, code: str) -> Any:
    """Return the one note with this code."""
    (found,) = [note for note in one.notes if note.code == code]
    return found


@pytest.mark.parametrize(
    ("cells", "type_"),
    [
        (["1", "2", ""], "numeric"),
        (["1", "1", "1"], "numeric"),
        ([0, 1, 0], "numeric"),
        (["1e3", "-.5", "+7"], "numeric"),
        (["1", "NA", "nan", "N/A", "NULL"], "numeric"),
        (["1", "inf"], "numeric"),
        (["True", "false", "TRUE", ""], "boolean"),
        ([True, False, None], "boolean"),
        (["true", "None"], "boolean"),
        (["yes", "no"], "categorical"),
        (["true", "1"], "categorical"),
        (["2021-02-03", "2021-12-31"], "datetime"),
        (["2021-02-03T10:00:00Z", "2021-12-31 23:59"], "datetime"),
        (["31/12/2021", "01/02/2021"], "datetime"),
        (["12/31/2021", "01/02/2021"], "datetime"),
        (["03.02.2021", "28.02.2021"], "datetime"),
        (["05 Feb 2021", "1er août 2020"], "datetime"),
        (["2021-02", "2021-03"], "datetime"),
        (["1500-01-01", "2021-03-04"], "datetime"),
        (["12:30", "07:15:30.5"], "datetime"),
        (["12:30", "2021-03-04"], "categorical"),
        (["12:30", "24:00"], "categorical"),
        (["03/02/21", "28/02/21"], "categorical"),
        (["2021-02-30", "2021-02-03"], "categorical"),
        (["31/12/2021", "12/31/2021"], "categorical"),
        (["", " ", None], "empty"),
        (["NA", "NA"], "empty"),
        (["1", "x"], "categorical"),
        ([f"remark {n}" for n in range(49)], "categorical"),
        ([f"remark {n}" for n in range(46)] + ["same"] * 4, "text"),
        ([f"remark {n}" for n in range(45)] + ["same"] * 5, "text"),
        ([f"remark {n}" for n in range(44)] + ["same"] * 6, "categorical"),
    ],
)
def test_the_cells_of_the_originals_show_the_type(cells: list[Any], type_: str) -> None:
    one = variable(cells)
    assert one.type == type_
    assert one.used == (type_ not in {"text", "empty"})


def test_a_text_column_whose_cells_all_differ_is_an_identifier() -> None:
    one = variable([f"A-{n}" for n in range(50)])
    assert (one.type, one.identifier, one.used) == ("text", True, False)
    assert note(one, "identifier_shared").values["shared"] == 50


@pytest.mark.parametrize(
    ("name", "cells", "identifier"),
    [
        ("patient_id", [7 * n % 101 for n in range(60)], True),
        ("customerID", [7 * n % 101 for n in range(60)], True),
        ("Numéro", [7 * n % 101 for n in range(60)], True),
        ("score", [7 * n % 101 for n in range(60)], False),
        ("score", list(range(60)), True),
        ("score", list(range(100, 700, 10)), True),
        ("score", [n * n for n in range(60)], False),
        ("patient_id", [n + 0.5 for n in range(60)], False),
        ("patient_id", [7 * n % 101 for n in range(49)], False),
        ("patient_id", [7 * n % 59 for n in range(60)], False),
    ],
)
def test_an_integer_key_is_found_by_its_name_or_by_counting_up(
    name: str, cells: list[Any], identifier: bool
) -> None:
    one = variable(cells, name)
    assert (one.identifier, one.used) == (identifier, not identifier)


def test_an_identifier_tells_how_many_of_its_values_are_among_the_avatars() -> None:
    original = pd.DataFrame({"id": range(60), "age": [20, 30] * 30})
    avatars = pd.DataFrame({"id": ["3.0", "4", "ab"], "age": [20, 30, 40]})
    one = load(original, avatars).schema["id"]
    assert note(one, "identifier_shared").values["shared"] == 2
    assert "privacy warning" in note(one, "identifier_shared").text.lower()


def test_any_other_integer_column_whose_cells_all_differ_warns_and_stays() -> None:
    one = variable([7 * n % 101 for n in range(60)], "score")
    assert one.used
    assert "--ignore" in note(one, "all_different").text


def test_the_user_overrules_what_the_cells_show() -> None:
    one = variable(list(range(60)), "id", numeric=["id"])
    assert (one.used, one.identifier) == (True, True)
    assert "all the same" in note(one, "identifier").text
    assert variable(["2", "4"], categorical=["v"]).type == "categorical"
    assert variable([f"t{n}" for n in range(60)], categorical=["v"]).used
    assert variable(["20210203", "20211231"], datetime=["v"]).type == "datetime"
    assert variable(["1", "2"], ignore=["v"]).used is False
    assert codes(variable(["1", "2"], ignore=["v"])) == ["ignored"]


def test_a_schema_file_gives_types_and_use(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text("columns: {v: {type: categorical}, other: {use: false}}", encoding="utf-8")
    frame = pd.DataFrame({"v": [1, 2], "other": ["p", "q"]})
    release = load(frame, frame, schema=path)
    assert release.schema["v"].type == "categorical"
    assert release.schema.used_names() == ("v",)
    same = load(frame, frame, schema={"columns": release.options["schema"]["columns"]})
    assert same.schema == release.schema
    used = load(frame, frame, schema={"columns": {"v": {"type": "boolean", "use": True}}})
    assert used.schema["v"].type == "boolean"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("columns: {v: {typ: numeric}}", "type and use, nothing else"),
        ("columns: {v: {type: number}}", "'number' is unknown"),
        ("columns: {v: {use: 3}}", "not true or false"),
        ("columns: {v: {type: text, use: true}}", "cannot be used as text"),
        ("colums: {}", "unknown key 'colums'"),
        ("columns: [v]", "not a mapping"),
        ("- v", "list of 'name: value' lines"),
        ("columns: {w: {type: numeric}}", "no column 'w'"),
        ("{", "not readable as YAML in line 1"),
        ("!!python/object/apply:os.system ['true']", "of the type 'tag:yaml"),
        ("a: &a [1]\nb: *a\n", "aliases (*name) are not allowed"),
        ("\x00", "not readable as YAML"),
    ],
)
def test_a_wrong_schema_gives_one_clear_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(content, encoding="utf-8")
    frame = pd.DataFrame({"v": [1, 2]})
    with pytest.raises(InputError) as caught:
        load(frame, frame, schema=path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_schema_file_gives_one_clear_line(tmp_path: Path) -> None:
    frame = pd.DataFrame({"v": [1, 2]})
    with pytest.raises(InputError, match=r"no\.yaml: cannot be read as a schema"):
        load(frame, frame, schema=tmp_path / "no.yaml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"categorical": "v"}, 'categorical: give a list of texts, such as \\["v"\\]'),
        ({"categorical": [3]}, "categorical: give a list"),
        ({"categorical": ["v"], "numeric": ["v"]}, "was given the type categorical as well"),
        ({"ignore": ["w"]}, "no column 'w'"),
        ({"numeric": ["vv"]}, "did you mean 'v'"),
        ({"delimiter": ";;"}, "delimiter: ';;' is not one character"),
        ({"decimal": "x"}, "decimal: 'x' is unknown"),
        ({"on_mismatch": "skip"}, "on-mismatch: 'skip' is unknown"),
        ({"axes": 0}, "axes: 0 is not a whole number"),
        ({"seed": -1}, "seed: -1 is not a whole number"),
        ({"seed": True}, "seed: True is not a whole number"),
        ({"ignore": ["v"]}, "no column can be used"),
        ({"schema": 3}, "schema: give the path"),
    ],
)
def test_a_wrong_option_gives_one_clear_line(options: dict[str, Any], said: str) -> None:
    frame = pd.DataFrame({"v": [1, 2]})
    with pytest.raises(InputError, match=said):
        load(frame, frame, **options)


def test_missing_words_are_levels_with_a_warning_where_the_others_are_words() -> None:
    one = variable(["NA", "x", "None", ""])
    assert one.levels == 3
    assert one.missing_share == 0.25
    assert "--missing" in note(one, "words_as_levels").text


def test_missing_words_are_missing_with_a_note_where_the_others_are_numbers() -> None:
    one = variable(["NA", "1", "nan", "2"])
    assert (one.levels, one.missing_share) == (2, 0.5)
    assert "2 in original" in note(one, "words_missing").text
    forced = variable(["NA", "1", "nan", "2"], categorical=["v"])
    assert forced.missing_share == 0.5


def test_every_mark_the_user_names_is_missing_everywhere() -> None:
    one = variable(["?", " ?", "x", "-"], missing=["?", "-"])
    assert (one.levels, one.missing_share) == (1, 0.75)
    coded = variable(["-1.0", "-1", "4", "5"], missing=["-1"])
    assert (coded.type, coded.missing_share) == ("numeric", 0.5)


def test_cells_of_blanks_are_missing_with_a_note() -> None:
    one = variable([" ", "3", "4", "\u00a0"])
    assert (one.type, one.missing_share) == ("numeric", 0.5)
    assert note(one, "blank_cells").values["cells"] == 4


def test_infinite_cells_are_counted_and_missing() -> None:
    one = variable([1.0, float("inf"), float("-inf"), 4.0])
    assert (one.levels, one.missing_share) == (2, 0.5)
    assert "2 in original" in note(one, "infinite").text


def test_a_mixture_of_numbers_and_words_is_said_with_counts_and_a_form() -> None:
    one = variable(["1", "2", "Bob-7", "4"])
    found = note(one, "mixed_types")
    assert (found.values["numbers"], found.values["others"]) == (3, 1)
    assert found.values["form"] == "aaa-9"
    assert "Bob" not in found.text


def test_one_word_among_many_numbers_or_dates_is_said_even_where_it_makes_text() -> None:
    one = variable([*(str(n / 7) for n in range(60)), "n.n."])
    assert (one.type, one.used) == ("text", False)
    assert note(one, "mixed_types").values["numbers"] == 60
    days = variable(["2021-01-02", "2021-01-03", "later"])
    assert note(days, "mixed_types").values["dates"] == 2
    assert "mixed_types" not in codes(variable(["12 rue B", "x"]))


def test_codes_with_leading_zeros_are_said() -> None:
    assert "read_as_codes" in codes(variable(["01", "75"]))
    assert variable(["01", "75"]).type == "categorical"
    assert "read_as_codes" not in codes(variable(["0", "10", "0.5"]))


def test_dates_with_short_years_are_said() -> None:
    assert "short_years" in codes(variable(["03/02/21", "28/02/21"]))


def test_a_boolean_of_three_levels_is_refused() -> None:
    schema = {"columns": {"v": {"type": "boolean"}}}
    with pytest.raises(InputError, match="holds 3 levels"):
        variable(["yes", "no", "perhaps"], schema=schema)
    assert variable(["yes", "no", ""], schema=schema).levels == 2


def test_a_single_value_is_said() -> None:
    assert "column_constant" in codes(variable(["5", "5"]))


def test_number_names_follow_the_given_names() -> None:
    schema = Schema(
        (Variable("a", "numeric"), Variable("b", "text", used=False), Variable("c", "boolean"))
    )
    assert schema.used_names() == ("a", "c")
    assert schema.number_names() == ("a",)
    assert schema.number_names(["c"]) == ()
    assert "b" in schema
    assert "z" not in schema
    with pytest.raises(KeyError):
        schema["z"]
