"""Several rows per person: persons are counted, whole persons are drawn, keys go nowhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pypdfium2
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
    with pytest.raises(evalkit.InputError, match=r"row 7 \(missing cells: 2"):
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


def test_a_key_that_stands_in_several_rows_is_pointed_out() -> None:
    table = people(120, 1).assign(patient_id=[f"P{row // 3}" for row in range(120)])
    variable = evalkit.load(table, table).schema["patient_id"]
    assert "repeated_key" in [note.code for note in variable.notes]


LEAKING = ["age", "visits", "town", "smoker"]
INVARIANT = [
    "linkability_protection_rate",
    "attribute_disclosure",
    "closest_distances_ratio",
    "closest_to_training_share",
    "column_direct_match_protection",
    "distance_to_closest",
    "inference_protection",
    "membership_inference_protection",
    "replicated_uniques",
    "row_direct_match_protection",
    "singling_out_protection",
    "correlation_difference_ratio",
]
LINKED = ["hidden_rate", "local_cloaking", "categorical_hidden_rate", "correlation_protection_rate"]


def leaking() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return visits of 150 persons, avatars that copy a third of them, and a holdout."""
    original, holdout = visits(150, 2, 1), visits(120, 2, 3, "Q")
    avatars = people(300, 2)
    avatars.loc[:99] = original.drop(columns=KEY).loc[:99]
    return original, avatars, holdout


def assessed(
    tables: tuple[pd.DataFrame, ...], slugs: list[str], **options: Any
) -> dict[str, evalkit.Result]:
    scenario = evalkit.Scenario(known=LEAKING, sensitive="pressure", seed=5)
    release = evalkit.load(*tables, **options)
    return evalkit.assess(release, scenario, metrics=slugs).results


def repeated(table: pd.DataFrame) -> pd.DataFrame:
    return table.loc[table.index.repeat(3)].reset_index(drop=True)


def same(one: evalkit.Result, other: evalkit.Result) -> bool:
    assert one.status == other.status == "measured"
    assert other.headline == pytest.approx(one.headline, abs=1e-9)
    assert other.interval == pytest.approx(one.interval, abs=1e-6)
    return True


def test_repeating_every_row_of_each_person_moves_neither_score_nor_interval() -> None:
    original, avatars, holdout = leaking()
    once = assessed((original, avatars, holdout), INVARIANT, individual=KEY)
    again = assessed((repeated(original), avatars, repeated(holdout)), INVARIANT, individual=KEY)
    assert all(same(once[slug], again[slug]) for slug in INVARIANT)
    assert not any(one.code == "counts_rows" for slug in once for one in once[slug].warnings)


def test_repeated_linked_rows_move_no_measure_that_needs_the_link() -> None:
    original, avatars, _ = leaking()
    once = assessed((original, avatars), LINKED, individual=KEY, row_link=True)
    tables = repeated(original), repeated(avatars)
    again = assessed(tables, LINKED, individual=KEY, row_link=True)
    assert all(same(once[slug], again[slug]) for slug in LINKED)


def test_without_the_key_repeated_rows_would_narrow_the_interval() -> None:
    original, avatars, holdout = leaking()
    tables = repeated(original).drop(columns=KEY), avatars, repeated(holdout).drop(columns=KEY)
    slug = "inference_protection"
    by_row = assessed(tables, [slug])[slug]
    by_person = assessed((original, avatars, holdout), [slug], individual=KEY)[slug]
    assert np.ptp(by_row.interval or ()) < 0.8 * np.ptp(by_person.interval or ())


def test_with_one_row_each_every_score_is_that_without_a_key() -> None:
    original, avatars, holdout = visits(60, 1, 1), people(60, 2), visits(50, 1, 3, "Q")
    plain = original.drop(columns=KEY), avatars, holdout.drop(columns=KEY)
    slugs = ["linkability_protection_rate", "inference_protection", "distance_to_closest"]
    keyed, unkeyed = (
        assessed((original, avatars, holdout), slugs, individual=KEY),
        assessed(plain, slugs),
    )
    for slug in slugs:
        one, other = keyed[slug], unkeyed[slug]
        assert (one.score, one.interval) == (other.score, other.interval)
        numbers = {name for name, value in one.facts.items() if isinstance(value, int | float)}
        for name in numbers:
            assert one.facts[name] == pytest.approx(other.facts[name], abs=1e-9), name


def mean_over_persons(keys: pd.Series, values: list[float]) -> float:
    """Return the plain mean of the persons' plain means."""
    by_person: dict[str, list[float]] = {}
    for key, value in zip(keys, values, strict=True):
        by_person.setdefault(key, []).append(value)
    means = [sum(one) / len(one) for one in by_person.values()]
    return sum(means) / len(means)


def test_linkability_equals_slow_independent_code() -> None:
    original = pd.DataFrame({KEY: list("aaab"), "age": [20, 20, 40, 50], "size": [1, 1, 3, 9]})
    avatars = pd.DataFrame({"age": [20, 40, 51], "size": [2, 3, 4]})
    linked = []
    for _, person in original.iterrows():
        nearest = []
        for name in ("age", "size"):
            gaps = [abs(person[name] - value) for value in avatars[name]]
            nearest.append({row for row, gap in enumerate(gaps) if gap == min(gaps)})
        common = nearest[0] & nearest[1]
        linked.append(len(common) / (len(nearest[0]) * len(nearest[1])))
    options = {"individual": KEY, "numeric": ["age", "size"]}
    found = evalkit.measure("linkability_protection_rate", original, avatars, **options)
    expected = mean_over_persons(original[KEY], linked)
    assert found.facts["n_original"] == 2
    assert found.headline == pytest.approx(100 * (1 - expected))


def test_attribute_disclosure_equals_slow_independent_code() -> None:
    original, avatars, holdout = leaking()
    scenario = evalkit.Scenario(known=["town", "smoker", "visits"], sensitive="pressure")
    release = evalkit.load(original, avatars, holdout, individual=KEY, categorical=["pressure"])
    facts = (
        evalkit.assess(release, scenario, metrics=["attribute_disclosure"])
        .results["attribute_disclosure"]
        .facts
    )
    offered: dict[tuple[Any, ...], set[Any]] = {}
    known = ["town", "smoker", "visits"]
    for row in avatars.fillna("missing").itertuples():
        offered.setdefault((row.town, row.smoker, row.visits), set()).add(row.pressure)
    for table, share in ((original, "success_share"), (holdout, "control_share")):
        rows = table.fillna("missing")
        hits = [
            float(offered.get(tuple(row[name] for name in known)) == {row["pressure"]})
            for _, row in rows.iterrows()
        ]
        assert facts[share] == pytest.approx(mean_over_persons(table[KEY], hits))


def test_a_description_that_fits_only_rows_of_one_person_isolates_that_person() -> None:
    from evalkit.kernels.boxes import Boxes, SortedRows

    rows = np.array([[1], [1], [2], [2]], np.int32)
    boxes = Boxes(np.array([[0], [0]]), np.array([[1], [2]]), np.array([[1], [2]]))
    assert SortedRows(rows).only(boxes).tolist() == [-1, -1]
    assert SortedRows(rows, np.array([7, 7, 8, 9])).only(boxes).tolist() == [7, -1]


def test_the_isolation_of_a_record_leaves_out_those_of_the_same_person() -> None:
    from evalkit.quantities_closeness import closeness

    rng = np.random.default_rng(4)
    original, holdout = (
        pd.DataFrame({KEY: [f"{mark}{row // 3}" for row in range(30)], "x": rng.random(30)})
        for mark in "PQ"
    )
    release = evalkit.load(original, original[["x"]], holdout, individual=KEY, numeric=["x"])
    people_found = closeness(release, 0).people
    pool = pd.concat([original, holdout])
    width = pool["x"].max() - pool["x"].min()
    expected = [
        (pool.loc[pool[KEY] != key, "x"] - x).abs().min() / width
        for key, x in zip(pool[KEY], pool["x"], strict=True)
    ]
    assert people_found.isolation == pytest.approx(expected)
    found = people_found.two_originals(release.avatars)
    others = [
        (original.loc[original[KEY] != key, "x"] - x).abs().min() / width
        for key, x in zip(original[KEY], original["x"], strict=True)
    ]
    assert found.first == pytest.approx(np.zeros(30))
    assert found.second == pytest.approx(others)


@pytest.mark.parametrize("link", [False, True])
def test_the_report_says_how_many_persons_there_are_and_no_key(link: bool, tmp_path: Path) -> None:
    original = visits(40, 3, 1, "Quillfeather-")
    release = evalkit.load(original, people(120, 2), individual=KEY, row_link=link)
    assessment = evalkit.assess(release, metrics=["correlation_difference_ratio"])
    assert assessment.release.individual == KEY
    assert assessment.release.original.individuals == 40
    report = evalkit.Report(assessment)
    assessment.save(tmp_path / "assessment.json")
    for content in (report.html(), (tmp_path / "assessment.json").read_text(encoding="utf-8")):
        assert "Quillfeather" not in content
    assert "40 persons in 120 rows" in report.html()
    assert "halves were drawn by person" in report.html()
    assert "each row was taken for a person" not in report.html()


def test_the_command_line_counts_persons_and_prints_no_key(tmp_path: Path) -> None:
    visits(40, 3, 1, "Quillfeather-").to_csv(tmp_path / "visits.csv", index=False)
    people(60, 2).to_csv(tmp_path / "avatars.csv", index=False)

    def evalkit_command(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "evalkit", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    cut = evalkit_command("split", "visits.csv", "-o", "parts", "--individual", KEY)
    assert cut.returncode == 0, cut.stderr
    assert "20 (60 rows) held back" in cut.stderr
    tables = "parts/working.csv", "avatars.csv", "--holdout", "parts/holdout.csv"
    options = "--individual", KEY, "--metrics", "row_direct_match_protection", "-o", "out"
    done = evalkit_command("assess", *tables, *options)
    assert done.returncode == 0, done.stderr
    found = evalkit.Assessment.read(tmp_path / "out" / "assessment.json")
    assert found.options["individual"] == found.release.individual == KEY
    assert found.release.holdout is not None
    assert found.release.holdout.individuals == 20
    for name in ("assessment.json", "technical_assessment.html", "technical_assessment.ipynb"):
        assert "Quillfeather" not in (tmp_path / "out" / name).read_text(encoding="utf-8")
    document = pypdfium2.PdfDocument(tmp_path / "out" / "technical_assessment.pdf")
    try:
        printed = "".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()
    assert KEY in printed
    assert "Quillfeather" not in printed + done.stdout + done.stderr


def smooth(persons: int, seed: int) -> pd.DataFrame:
    """Return visits of people who differ from each other more than their own rows do."""
    rng = np.random.default_rng(seed)
    level = np.repeat(rng.normal(50, 15, persons), 4)
    return pd.DataFrame(
        {
            KEY: [f"{seed}-{row // 4}" for row in range(4 * persons)],
            "age": level.round(1),
            "pressure": (80 + 0.8 * level + rng.normal(0, 6, 4 * persons)).round(1),
            "weight": (70 + 0.2 * level + rng.normal(0, 9, 4 * persons)).round(1),
        }
    )


def test_the_folds_of_distinguishability_never_cut_a_person() -> None:
    from evalkit.quantities_apart import Contrast

    rng = np.random.default_rng(3)
    table = np.repeat(rng.normal(size=(60, 2)), 5, axis=0)
    persons = Persons(np.repeat(np.arange(60), 5), 60)
    found = Contrast(table[:150], table[150:], (False, False), (persons.part(np.arange(150)),) * 2)
    for fold in found._folds(np.random.default_rng(1)):
        assert len(fold.unseen) == 5 * fold.persons.count == 100
        assert set(np.bincount(fold.persons.code)) == {5}
    by_row = Contrast(table[:150], table[150:], (False, False)).area(np.random.default_rng(1))
    # Persons are not told apart by rows of their own, as rows of a table without a key are.
    assert found.area(np.random.default_rng(1)) < 0.75 < by_row


def smooth_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return three tables of visits; a relation is lost among the avatars."""
    original, holdout, avatars = smooth(60, 1), smooth(50, 3), smooth(60, 2).drop(columns=KEY)
    avatars["pressure"] = avatars["pressure"].sample(frac=1, random_state=1).to_numpy()
    return original, avatars, holdout


def once_and_thrice(
    slug: str,
    tables: tuple[pd.DataFrame, ...],
    scenario: evalkit.Scenario | None = None,
    **options: Any,
) -> tuple[evalkit.Result, evalkit.Result]:
    """Return a result, and that of the same people with each row three times."""
    original, avatars, holdout = tables
    thrice = repeated(original), avatars, repeated(holdout)
    found = [
        evalkit.assess(evalkit.load(*one, individual=KEY, **options), scenario, metrics=[slug])
        for one in (tables, thrice)
    ]
    once, again = (one.results[slug] for one in found)
    assert once.status == again.status == "measured"
    assert not any(one.code == "counts_rows" for one in (*once.warnings, *again.warnings))
    return once, again


def test_repeated_rows_hardly_move_distinguishability() -> None:
    once, again = once_and_thrice("distinguishability", smooth_tables())
    assert again.facts["chance_auc"] == once.facts["chance_auc"]
    assert again.score == pytest.approx(once.score, abs=5)
    assert again.facts["holdout_auc"] == pytest.approx(once.facts["holdout_auc"], abs=0.1)


def test_the_rows_of_an_outcome_are_cut_redrawn_and_dealt_by_whole_persons() -> None:
    from evalkit.quantities_outcome import filled_rows

    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(30), 4)
    table = filled_rows(rng.random((120, 2)), owner.astype(float), Persons(owner, 30))
    avatars = filled_rows(
        rng.random((120, 2)), owner.astype(float), Persons.one_row_each(120), 0.25
    )
    assert (table.people, len(table), avatars.people) == (30, 120, 30)
    assert len(avatars.sampled(10, rng)) == 40
    assert avatars.shuffled(rng).people == 30
    for part in (table.sampled(10, rng), table.redrawn(rng), *table.halves(rng)):
        assert set(np.unique(part.sensitive, return_counts=True)[1] % 4) == {0}
    assert table.sampled(10, rng).people == 10
    first, second = table.halves(rng)
    assert not set(first.sensitive) & set(second.sensitive)


@pytest.mark.parametrize("outcome", ["pressure", "high"])
def test_repeated_rows_hardly_move_the_predictive_ratio(outcome: str) -> None:
    original, avatars, holdout = (
        table.assign(high=np.where(table["pressure"] > 120, "yes", "no"))
        for table in (smooth(90, 1), smooth(90, 2), smooth(80, 3))
    )
    avatars["age"] = (avatars["age"] * 0.8).round(1)
    tables = original, avatars.drop(columns=KEY), holdout
    scenario = evalkit.Scenario(known=["age", "weight"], sensitive=outcome)
    once, again = once_and_thrice("predictive_ratio", tables, scenario)
    assert again.facts["n_trained"] == once.facts["n_trained"] == 90
    assert again.facts["n_tested"] == once.facts["n_tested"] == 80
    assert once.score < 90
    assert again.score == pytest.approx(once.score, abs=6)


def with_gaps_by_person(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return a table in which some people have no pressure in any of their four rows."""
    gaps = np.random.default_rng(seed).random(len(table) // 4) < 0.3
    return table.assign(pressure=table["pressure"].mask(np.repeat(gaps, 4)))


@pytest.mark.parametrize("slug", ["hellinger", "coverage", "missingness"])
@pytest.mark.parametrize("real", [True, False])
def test_repeated_rows_move_no_distribution_and_no_deal(slug: str, real: bool) -> None:
    parts = smooth(60, 1), smooth(60, 2).drop(columns=KEY), smooth(50, 3)
    original, avatars, holdout = (with_gaps_by_person(one, k) for k, one in enumerate(parts))
    for table in (original, avatars, holdout):
        table["kind"] = pd.cut(table["weight"], 7).astype(str)
    size = 3 if real else 2
    thrice = (repeated(original), avatars, repeated(holdout))[:size]
    tables = (original, avatars, holdout)[:size]
    once, again = (assessed_plainly(one, slug, individual=KEY) for one in (tables, thrice))
    assert again.score == pytest.approx(once.score, abs=1e-9)
    for name in ("real_score", "real_band", "holdout_score"):
        assert again.facts[name] == pytest.approx(once.facts[name], abs=1e-9), name
    assert not any(one.code == "counts_rows" for one in once.warnings)


def assessed_plainly(tables: Any, slug: str, **options: Any) -> evalkit.Result:
    return evalkit.assess(evalkit.load(*tables, **options), metrics=[slug]).results[slug]


def test_deals_never_cut_a_person() -> None:
    from evalkit.quantities_univariate import deals

    rng, persons = np.random.default_rng(0), Persons(np.repeat(np.arange(30), 4), 30)
    for sizes in ((12, 18), (30, 20)):
        for drawn, size in zip(next(deals(persons, *sizes, 3, rng)), sizes, strict=True):
            times = np.bincount(drawn, minlength=120).reshape(30, 4)
            assert (times == times[:, :1]).all()
            assert times[:, 0].sum() == size


def test_unseen_people_differ_more_than_as_many_rows_do() -> None:
    parts = smooth(60, 1), smooth(60, 2).drop(columns=KEY), smooth(50, 3)
    tables = [with_gaps_by_person(one, k) for k, one in enumerate(parts)]
    plain = [table.drop(columns=KEY, errors="ignore") for table in tables]
    by_person = assessed_plainly(tables, "missingness", individual=KEY).facts["real_band"]
    by_row = assessed_plainly(plain, "missingness").facts["real_band"]
    assert np.ptp(by_person) > 1.5 * np.ptp(by_row)


@pytest.mark.parametrize("real", [True, False])
def test_repeated_rows_hardly_move_the_clouds(real: bool) -> None:
    original, avatars, holdout = smooth(120, 1), smooth(120, 2).drop(columns=KEY), smooth(100, 3)
    avatars["pressure"] = avatars["pressure"].sample(frac=1, random_state=1).to_numpy()
    size = 3 if real else 2
    thrice = (repeated(original), avatars, repeated(holdout))[:size]
    slug, tables = "multivariate_hellinger", (original, avatars, holdout)[:size]
    once, again = (assessed_plainly(one, slug, individual=KEY) for one in (tables, thrice))
    assert again.facts["grid"] == once.facts["grid"]
    # Equal rows may fall on either side of a cell's edge, as sums err in their last digit.
    assert again.score == pytest.approx(once.score, abs=0.5)
    for name in ("real_score", "real_low", "real_high", "holdout_score"):
        assert again.facts[name] == pytest.approx(once.facts[name], abs=0.5), name
    assert not any(one.code == "counts_rows" for one in once.warnings)


def test_the_clouds_of_real_rows_are_dealt_by_whole_persons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from evalkit.kernels import dealt_axes

    class Watched(dealt_axes.DealtAxes):
        """Axes that know whose the rows are, from the first column."""

        deals = 0

        def __init__(self, columns: Any, numeric: Any, count: int) -> None:
            super().__init__(columns, numeric, count)
            self.owner = columns[0]

        def coordinates(self, dealt: Any) -> Any:
            Watched.deals += 1
            parts = set(self.owner[dealt]), set(self.owner[~dealt])
            assert not parts[0] & parts[1]
            assert [len(part) for part in parts] == [60, 50]
            return super().coordinates(dealt)

    monkeypatch.setattr(dealt_axes, "DealtAxes", Watched)
    original, avatars, holdout = smooth(60, 1), smooth(60, 2).drop(columns=KEY), smooth(50, 3)
    for start, table in ((0, original), (100, holdout)):
        table["age"] = start + np.arange(len(table)) // 4
    slug = "multivariate_hellinger"
    assert assessed_plainly((original, avatars, holdout), slug, individual=KEY).status == "measured"
    assert Watched.deals == 100


@pytest.mark.parametrize("real", [True, False])
def test_repeated_rows_move_no_relation_and_no_deal(real: bool) -> None:
    original, avatars, holdout = smooth(200, 1), smooth(190, 2).drop(columns=KEY), smooth(170, 3)
    avatars["pressure"] = avatars["pressure"].sample(frac=1, random_state=1).to_numpy()
    for table in (original, avatars, holdout):
        table["kind"] = pd.cut(table["weight"], range(0, 200, 10)).astype(str)
    size = 3 if real else 2
    thrice = (repeated(original), avatars, repeated(holdout))[:size]
    slug, tables = "mutual_information_ratio", (original, avatars, holdout)[:size]
    once, again = (assessed_plainly(one, slug, individual=KEY) for one in (tables, thrice))
    assert 0 < once.score < 80
    assert same(once, again)
    assert once.facts["n_cut"] == again.facts["n_cut"] == (170 if real else 100)
    for name in ("real_score", "reference_difference", "split_low", "split_high"):
        assert again.facts[name] == pytest.approx(once.facts[name], abs=1e-9), name
    assert not any(one.code == "counts_rows" for one in once.warnings)


def test_cuts_and_deals_of_relations_never_cut_a_person() -> None:
    from evalkit.quantities_information import _cut_persons, _rows_of

    persons = Persons(np.repeat(np.arange(30), 4), 30)
    cuts = _cut_persons(persons, 12, 3, 5)
    assert cuts is not None
    for rows in (*cuts, _rows_of(np.arange(0, 24, 2), persons)):
        assert set(np.unique(persons.code[rows], return_counts=True)[1]) == {4}
        assert len(rows) == 48
    assert _cut_persons(persons, 30, 3, 5) is None
