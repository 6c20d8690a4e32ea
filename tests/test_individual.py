"""Several rows per person: persons are counted, whole persons are drawn, keys go nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from test_contract import people

import evalkit
from evalkit.persons import Persons, numbered
from evalkit.splitting import split_file

if TYPE_CHECKING:
    from pathlib import Path

KEY = "patient"


def visits(persons: int, rows_each: int, seed: int, mark: str = "P") -> pd.DataFrame:
    """Return a table in which each person has the same number of different rows."""
    table = people(persons * rows_each, seed)
    return table.assign(**{KEY: [f"{mark}{row // rows_each:04d}" for row in range(len(table))]})


def loaded(**options: Any) -> evalkit.Release:
    tables = visits(40, 3, 1), people(120, 2), visits(30, 3, 3, "Q")
    return evalkit.load(*tables, individual=KEY, **options)


def test_persons_of_each_table_are_counted() -> None:
    release = loaded()
    assert {role: one.individuals for role, one in release.inputs.items()} == {
        "original": 40,
        "avatars": None,
        "holdout": 30,
    }
    assert release.persons_of("working").count == 40
    assert release.persons_of("reference").count == 30


def test_the_personal_key_is_no_variable_and_the_notes_say_so() -> None:
    variable = loaded().schema[KEY]
    assert (variable.used, variable.identifier) == (False, True)
    assert [note.code for note in variable.notes] == ["personal_key"]


def test_no_key_is_kept_in_a_release() -> None:
    release = loaded()
    assert KEY not in release.original
    assert release.persons["original"].code.dtype == np.int64
    assert sorted(set(release.persons["original"].code)) == list(range(40))


def test_keys_of_persons_among_the_avatars_are_a_privacy_warning() -> None:
    original = visits(40, 3, 1)
    release = evalkit.load(original, people(120, 2).assign(**{KEY: original[KEY]}), individual=KEY)
    assert "identifier_shared" in [note.code for note in release.schema[KEY].notes]


def test_avatars_follow_the_persons_of_their_rows_where_these_are_linked() -> None:
    release = loaded(row_link=True)
    assert release.persons_of("avatars") is release.persons_of("original")
    assert loaded().persons_of("avatars").are_rows


@pytest.mark.parametrize("row_link", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_halves_never_cut_a_person(row_link: bool, seed: int) -> None:
    original = visits(41, 3, 1)
    original["age"] = original[KEY].str[1:].astype(int)  # tells whose row it is
    release = evalkit.load(original, people(123, 2), individual=KEY, row_link=row_link)
    working, avatars, reference = release.halves(seed)
    assert not set(working["age"]) & set(reference["age"])
    assert (working["age"].nunique(), reference["age"].nunique()) == (21, 20)
    assert len(avatars) == (len(working) if row_link else 62)


def test_halves_do_not_depend_on_the_order_of_the_rows_or_on_the_keys() -> None:
    original = visits(41, 3, 1)
    shuffled = original.sample(frac=1, random_state=5)
    shuffled[KEY] = shuffled[KEY].str[::-1]
    first, second = (
        evalkit.load(table, people(123, 2), individual=KEY).halves(0)
        for table in (original, shuffled)
    )
    for one, other in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_with_one_row_each_the_halves_are_those_without_a_key() -> None:
    original, avatars = visits(80, 1, 1), people(80, 2)
    keyed = evalkit.load(original, avatars, individual=KEY).halves(3)
    plain = evalkit.load(original.drop(columns=KEY), avatars).halves(3)
    for one, other in zip(keyed, plain, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_a_key_is_the_same_with_and_without_a_fraction_of_zero() -> None:
    original = visits(40, 3, 1).assign(**{KEY: np.arange(120) // 3})
    holdout = visits(30, 3, 3).assign(**{KEY: 39.0 + np.arange(90) // 3})
    assert evalkit.load(original, people(120, 2), holdout, individual=KEY).shared == 1


def test_nothing_is_judged_against_a_holdout_with_anonymised_people() -> None:
    original, holdout = visits(40, 3, 1), visits(30, 3, 3, "Q")
    holdout.loc[holdout[KEY] == "Q0007", KEY] = "P0007"
    release = evalkit.load(original, people(120, 2), holdout, individual=KEY)
    note = next(note for note in release.notes if note.code == "persons_in_holdout")
    assert note.values == {"shared": 1}
    result = evalkit.assess(release, metrics=["correlation_difference_ratio"]).results
    found = result["correlation_difference_ratio"]
    assert (found.verdict, found.reason and found.reason.code) == (
        "not applicable",
        "persons_in_holdout",
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"individual": "patiend"}, "original has no column 'patiend'; did you mean 'patient'"),
        ({"individual": KEY, "ignore": [KEY]}, "--individual and --ignore both name column"),
        ({"individual": 7}, "individual: 7 is no text"),
        (
            {"individual": KEY, "schema": {"columns": {KEY: {"use": True}}}},
            "is to be used, and --individual names it",
        ),
    ],
)
def test_a_key_that_cannot_be_one_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(evalkit.InputError, match=words):
        evalkit.load(visits(40, 3, 1), people(120, 2), **options)


def test_a_missing_key_is_refused_with_table_and_row() -> None:
    holdout = visits(30, 3, 3, "Q")
    holdout.loc[[6, 9], KEY] = None
    with pytest.raises(evalkit.InputError, match=r"holdout: column 'patient' .* row 7 \(2 rows"):
        evalkit.load(visits(40, 3, 1), people(120, 2), holdout, individual=KEY)


def test_a_holdout_without_the_key_is_refused() -> None:
    tables = visits(40, 3, 1), people(120, 2), people(90, 3)
    with pytest.raises(evalkit.InputError, match="holdout has no column 'patient'"):
        evalkit.load(*tables, individual=KEY)


def test_a_key_of_one_person_is_refused() -> None:
    with pytest.raises(evalkit.InputError, match="holds a single key"):
        evalkit.load(visits(1, 60, 1), people(60, 2), individual=KEY)


def test_the_personal_key_is_known_to_no_attacker() -> None:
    with pytest.raises(evalkit.InputError, match="is the personal key"):
        evalkit.assess(loaded(), evalkit.Scenario(known=["age", KEY]))


def test_split_holds_whole_persons_back() -> None:
    table = visits(45, 4, 1)
    working, holdout = evalkit.split(table, share=0.5, individual=KEY)
    assert not set(working[KEY]) & set(holdout[KEY])
    assert (working[KEY].nunique(), holdout[KEY].nunique()) == (23, 22)
    assert sorted([*working.index, *holdout.index]) == list(range(180))


def test_split_of_a_file_says_how_many_persons_are_in_either_part(tmp_path: Path) -> None:
    visits(45, 4, 1).to_csv(tmp_path / "visits.csv", index=False)
    _, held, notes = split_file(tmp_path / "visits.csv", tmp_path / "out", individual=KEY)
    said = {note.code: note for note in notes}
    assert said["split_by_person"].values["holdout"] == pd.read_csv(held)[KEY].nunique() == 22
    assert said["few_persons_to_split"].values["persons"] == 45


def test_split_needs_the_key_in_every_row() -> None:
    table = visits(45, 4, 1)
    table.loc[3, KEY] = " "
    with pytest.raises(evalkit.InputError, match="missing in row 4"):
        evalkit.split(table, individual=KEY)


def test_a_person_with_ten_equal_rows_counts_once() -> None:
    persons = Persons(np.array([0] * 10 + [1]), 2)
    assert persons.means(np.array([True] * 10 + [False])).tolist() == [1.0, 0.0]
    assert persons.weights.sum() == pytest.approx(2)


def test_means_do_not_depend_on_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    code, values = np.repeat(np.arange(50), 7), rng.random(350)
    expected = Persons(code, 50).means(values)
    order = rng.permutation(350)
    assert (Persons(code[order], 50).means(values[order]) == expected).all()


def test_persons_are_numbered_by_their_rows_however_often_these_are_repeated() -> None:
    keys, content = np.array([4, 4, 2, 9, 9]), np.array([3, 1, 0, 1, 2])
    once = numbered(keys, content).code
    assert once.tolist() == [2, 2, 0, 1, 1]
    assert (numbered(np.repeat(keys, 3), np.repeat(content, 3)).code == np.repeat(once, 3)).all()
