"""A release is aligned once, says what is odd, and its halves follow from content and seed."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalkit
from evalkit.errors import InputError
from evalkit.release import InputTable, load, split, split_file

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.release import Release


def column_codes(release: Release, name: str) -> dict[str, str]:
    """Return the notes of a column by code."""
    return {note.code: note.text for note in release.schema[name].notes}


def release_codes(release: Release) -> list[str]:
    """Return the codes of the notes on the tables."""
    return [note.code for note in release.notes]


@pytest.fixture
def tables(tmp_path: Path) -> Any:
    """Return a function that writes CSV texts and loads them."""

    def loader(original: str | bytes, avatars: str | bytes, **options: Any) -> Release:
        paths = []
        for name, content in (("original.csv", original), ("avatars.csv", avatars)):
            path = tmp_path / name
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            paths.append(path)
        return load(*paths, **options)

    return loader


@pytest.fixture
def people() -> pd.DataFrame:
    """Return 61 mixed rows, some of them equal."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 40, 61),
            "town": rng.choice(["Nice", "Lyon", "Brest"], 61),
            "size": np.where(rng.random(61) < 0.1, np.nan, rng.normal(170, 9, 61).round(1)),
        }
    )


# Alignment


def test_columns_that_differ_give_one_line_that_names_both_lists(tables: Any) -> None:
    with pytest.raises(InputError) as caught:
        tables("age,city,income\n3,a,7\n", "score,city,age\n1,a,4\n")
    assert "only in original.csv: income" in str(caught.value)
    assert "only in avatars.csv: score" in str(caught.value)
    assert "--on-mismatch intersect" in str(caught.value)


def test_the_columns_in_common_are_read_on_request_with_a_note(tables: Any) -> None:
    texts = "age,city,income\n3,a,7\n", "score,city,age\n1,a,4\n"
    release = tables(*texts, on_mismatch="intersect")
    assert release.schema.used_names() == ("age", "city")
    assert list(release.avatars.columns) == ["age", "city"]
    assert "columns_differ" in release_codes(release)
    assert release.inputs["original"].columns == 3


def test_an_ignored_column_may_be_absent_from_any_table(tables: Any) -> None:
    release = tables("age,income\n3,7\n4,8\n", "score,age\n1,4\n", ignore=["income", "score"])
    assert release.schema.used_names() == ("age",)
    assert "income" in release.schema
    assert "ignored" in column_codes(release, "income")


def test_tables_without_a_column_in_common_are_refused(tables: Any) -> None:
    with pytest.raises(InputError, match="no column in common"):
        tables("a\n1\n", "b\n1\n", on_mismatch="intersect")


def test_the_order_of_columns_never_matters(people: pd.DataFrame) -> None:
    turned = people[["size", "town", "age"]]
    one, other = load(people, people), load(people, turned, holdout=turned)
    pd.testing.assert_frame_equal(one.avatars, other.avatars)
    mixed = load(turned, people)
    pd.testing.assert_frame_equal(mixed.working[list(one.working)], one.working)


def test_no_rows_are_refused_and_one_row_is_a_table() -> None:
    one = pd.DataFrame({"a": [1]})
    with pytest.raises(InputError, match="avatars: has no rows"):
        load(one, one.iloc[:0])
    release = load(one, one)
    assert (len(release.working), len(release.reference)) == (1, 0)


def test_a_row_link_needs_tables_of_equal_length(people: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="61 originals and 60 avatars"):
        load(people, people.iloc[:60], row_link=True)


# Cells


def test_cells_have_one_kind_in_all_tables() -> None:
    original = pd.DataFrame({"n": [1, 2], "x": [1.0, 2.0], "c": ["u", "v"], "m": [1, 2]})
    avatars = pd.DataFrame({"n": [3], "x": [2.5], "c": ["w"], "m": [None]})
    release = load(original, avatars)
    for frame in (release.original, release.avatars):
        assert frame["n"].dtype == np.int64
        assert frame["x"].dtype == np.float64
        assert frame["m"].dtype == np.float64
        assert list(frame["c"].cat.categories) == ["u", "v", "w"]
        assert isinstance(frame.index, pd.RangeIndex)
    assert release.avatars["c"].cat.codes.tolist() == [2]


def test_whole_numbers_that_a_float_cannot_hold_stay_exact(tables: Any) -> None:
    release = tables("a\n9007199254740993\n", "a\n9007199254740992\n")
    assert release.original["a"].tolist() == [9007199254740993]
    huge = tables("a\n1e300\n", "a\n123456789012345678901234567890\n")
    assert huge.avatars["a"].tolist() == [123456789012345678901234567890.0]


def test_dates_are_seconds_whatever_the_unit_or_form(tables: Any) -> None:
    release = tables("d\n1970-01-02\n1970-01-03T00:00:01.5Z\n", "d\n02 Jan 1970\n")
    assert release.original["d"].tolist() == [86400.0, 172801.5]
    assert release.avatars["d"].tolist() == [86400.0]
    assert "date_forms_differ" in column_codes(release, "d")
    for unit in ("s", "ms", "us", "ns"):
        days = pd.Series(pd.to_datetime(["1970-01-02", "2021-03-04"])).dt.as_unit(unit)
        frame = pd.DataFrame({"d": days})
        assert load(frame, frame).original["d"].tolist() == [86400, 1614816000]


def test_the_order_of_day_and_month_is_decided_from_all_tables(tables: Any) -> None:
    release = tables("d\n01/02/1970\n", "d\n13/01/1970\n")
    assert release.original["d"].tolist() == [31 * 86400]
    other = tables("d\n01/02/1970\n", "d\n01/13/1970\n")
    assert other.original["d"].tolist() == [86400]
    open_order = tables("d\n01/02/1970\n", "d\n02/02/1970\n")
    assert "day_first_assumed" in column_codes(open_order, "d")


def test_times_of_day_are_seconds_since_midnight(tables: Any) -> None:
    assert tables("t\n00:01\n", "t\n01:00:02\n").avatars["t"].tolist() == [3602]
    with pytest.raises(InputError, match=r"'9999-99-99' .* is no date"):
        tables("t\n00:01\n", "t\n2021-01-02\n")


def test_times_with_an_offset_are_moved_to_universal_time(tables: Any) -> None:
    release = tables("d\n1970-01-01 02:00+02:00\n", "d\n1970-01-01T00:00:00-0130\n")
    assert (release.original["d"].tolist(), release.avatars["d"].tolist()) == ([0], [5400])


def test_a_cell_that_does_not_fit_is_named_by_table_column_row_and_form(tables: Any) -> None:
    with pytest.raises(InputError) as caught:
        tables("age,b\n3,x\n4,y\n", "age,b\n5,x\nBob7,y\n")
    assert "avatars.csv, column 'age', row 2 (header not counted): 'aaa9'" in str(caught.value)
    assert "Bob7" not in str(caught.value)
    with pytest.raises(InputError, match=r"row 1 .*: '99:99' .* is no date"):
        tables("d\n2021-01-02\n", "d\n12:30\n")
    with pytest.raises(InputError, match=r"original\.csv, column 'a', row 2"):
        tables("a\n1\nx\n", "a\n1\n2\n", numeric=["a"])


def test_an_unused_column_may_hold_anything(tables: Any) -> None:
    ids = "\n".join(f"{number},5" for number in range(60))
    release = tables(f"id,age\n{ids}\n", "id,age\nabc,4\n")
    assert release.schema.used_names() == ("age",)


def test_a_level_unknown_to_the_originals_is_counted_not_shown(tables: Any) -> None:
    release = tables("c,n\nx,1\ny,2\n", "c,n\nsecret,1\nsecret,2\nx,3\n")
    text = column_codes(release, "c")["unknown_levels"]
    assert "originals: 1, in 2 of 3 rows" in text
    assert "secret" not in text


@pytest.mark.parametrize("cell", ["2.0", " 2", "2,0", "02"])
def test_the_same_level_in_another_form_is_the_same_level(tables: Any, cell: str) -> None:
    release = tables("Class\n2\n4\n", f'Class\n"{cell}"\n4\n', categorical=["Class"])
    assert release.avatars["Class"].tolist() == ["2", "4"]
    assert "levels_matched" in column_codes(release, "Class")


def test_levels_that_only_differ_by_form_in_the_originals_stay_apart(tables: Any) -> None:
    release = tables("c\n1\n01\n", "c\n1.0\n01\n", categorical=["c"])
    assert release.avatars["c"].tolist() == ["1.0", "01"]


# The hostile cases


def test_a_column_missing_in_the_avatars_only_is_said_with_its_shares(tables: Any) -> None:
    release = tables("age,weight\n3,7.5\n4,8\n", "age,weight\n3,\n4,\n")
    notes = column_codes(release, "weight")
    assert "original.csv 0.0 %, avatars.csv 100.0 %" in notes["missing_differs"]
    assert "avatars.csv" in notes["column_empty"]
    assert release.avatars["weight"].isna().all()


def test_a_constant_column_is_said_with_its_tables(tables: Any) -> None:
    notes = column_codes(tables("dose,b\n5,1\n5,2\n", "dose,b\n6,1\n5,2\n"), "dose")
    assert notes["column_constant"].endswith("in original.csv.")


def test_avatars_that_equal_the_originals_in_any_order_are_a_copy(people: pd.DataFrame) -> None:
    shuffled = people.sample(frac=1, random_state=3)
    assert "copy" in release_codes(load(people, shuffled))
    assert "all_avatars_are_originals" in release_codes(load(people, shuffled.iloc[:30]))
    other = people.assign(age=people["age"] + 1)
    assert "copy" not in release_codes(load(people, other))


def test_a_column_of_codes_has_one_type_in_both_tables(tables: Any) -> None:
    texts = "room\n101\n102\n103\n104\n", "room\n101\n102\n"
    assert tables(*texts).schema["room"].type == "numeric"
    release = tables(*texts, categorical=["room"])
    categories = list(release.original["room"].cat.categories)
    assert (
        list(release.avatars["room"].cat.categories) == categories == ["101", "102", "103", "104"]
    )


def test_semicolons_and_decimal_commas_match_commas_and_points(tables: Any) -> None:
    original = b"\xef\xbb\xbf" + '"Nom";"Âge";"Taille"\r\n"Petit; dit Léo";35;"1,72"\r\n'.encode()
    release = tables(original, "Nom,Âge,Taille\nMarin,40,1.71\n")
    assert release.original["Taille"].tolist() == [1.72]
    assert release.avatars["Taille"].tolist() == [1.71]
    money = tables("p;m\na;1,20\nb;1.234,56\nc;12.000,00\n", "p;m\na;1,30\n")
    assert money.original["m"].tolist() == [1.2, 1234.56, 12000.0]


def test_levels_of_two_encodings_are_equal(tables: Any) -> None:
    release = tables("île;n\nRéunion;868\nRé;17\n".encode("cp1252"), "île;n\nRéunion;860\n")
    assert list(release.original["île"].cat.categories) == ["Ré", "Réunion"]


def test_names_that_look_like_markup_stay_text(tables: Any) -> None:
    text = '"<script>alert(1)</script>","R&D"\n1,a<b\n2,c&d\n'
    assert tables(text, text).schema.used_names() == ("<script>alert(1)</script>", "R&D")


def test_every_form_of_true_is_one_level_and_one_is_matched_with_a_note(tables: Any) -> None:
    release = tables(
        "smoker,n\nTrue,0\nFalse,1\n,2\n", "smoker,n\ntrue,0\nFALSE,1\nTRUE,2\n1,3\n0,4\n"
    )
    assert list(release.original["smoker"].cat.categories) == ["False", "True"]
    assert release.original["smoker"].cat.codes.tolist() == [1, 0, -1]
    assert release.avatars["smoker"].tolist() == ["True", "False", "True", "True", "False"]
    assert "2 cells" in column_codes(release, "smoker")["levels_matched"]


# Holdout and halves


def test_a_real_holdout_is_the_reference(people: pd.DataFrame) -> None:
    release = load(people, people, holdout=people.iloc[:20])
    assert release.holdout_kind == "real"
    assert release.working is release.original
    assert release.working_avatars is release.avatars
    assert release.reference is release.holdout
    assert "holdout_overlap" in release_codes(release)
    assert "holdout_equals_original" in release_codes(load(people, people, holdout=people))
    with pytest.raises(ValueError, match="no halves"):
        release.halves(1)


def test_the_advice_on_a_holdout_follows_the_number_of_rows(people: pd.DataFrame) -> None:
    many = pd.concat([people] * 9)
    assert "few_rows_for_holdout" in release_codes(load(people, people))
    assert "holdout_advised" in release_codes(load(many, people))


def rows_of(*frames: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return all rows as text, sorted."""
    return sorted(tuple(map(str, row)) for frame in frames for row in frame.itertuples(index=False))


def test_halves_share_out_every_original_and_take_the_extra_row(people: pd.DataFrame) -> None:
    release = load(people, people.iloc[:31], seed=5)
    working, avatars, reference = release.working, release.working_avatars, release.reference
    assert (len(working), len(avatars), len(reference)) == (31, 16, 30)
    assert rows_of(working, reference) == rows_of(release.original)
    assert set(rows_of(avatars)) <= set(rows_of(release.avatars))
    assert working.index.tolist() == list(range(31))
    assert list(working["town"].cat.categories) == list(release.original["town"].cat.categories)


def test_halves_follow_from_the_seed(people: pd.DataFrame) -> None:
    release = load(people, people, seed=5)
    for drawn, kept in zip(
        release.halves(5), (release.working, release.working_avatars), strict=False
    ):
        pd.testing.assert_frame_equal(drawn, kept)
    assert rows_of(release.halves(6)[0]) != rows_of(release.working)
    other = load(people, people.assign(age=1), seed=5)
    pd.testing.assert_frame_equal(other.working, release.working)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**63 - 1), order=st.permutations(range(12)), linked=st.booleans())
def test_halves_never_depend_on_the_order_of_rows(
    seed: int, order: list[int], linked: bool
) -> None:
    original = pd.DataFrame({"a": [1, 1, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8], "b": list("xxyxyzxyzxyz")})
    avatars = pd.DataFrame({"a": range(20, 32), "b": list("zzzxxxyyyxyz")})
    one = load(original, avatars, seed=seed, row_link=linked)
    two = load(original.iloc[order], avatars.iloc[order], seed=seed, row_link=linked)
    for first, second in zip(one.halves(seed), two.halves(seed), strict=True):
        pd.testing.assert_frame_equal(first, second)


def test_linked_halves_keep_each_avatar_beside_its_original(people: pd.DataFrame) -> None:
    avatars = people.assign(size=np.arange(61) * 100.0, age=people["age"])
    release = load(people, avatars, row_link=True)
    assert len(release.working_avatars) == 31
    assert release.working["age"].tolist() == release.working_avatars["age"].tolist()


# What is recorded


def test_the_record_holds_sizes_hashes_and_options_but_no_path(tables: Any, tmp_path: Path) -> None:
    release = tables("a,b\n1,?\n", "a,b\n1,?\n2,x\n", missing=["?"], categorical=["a"])
    assert release.inputs["avatars"].name == "avatars.csv"
    assert (release.inputs["avatars"].rows, release.inputs["avatars"].columns) == (2, 2)
    assert len(release.inputs["avatars"].sha256 or "") == 64
    assert release.options["missing"] == ["?"]
    assert release.options["categorical"] == ["a"]
    assert str(tmp_path) not in repr((release.options, release.notes, release.inputs))
    frame = pd.DataFrame({"a": [1]})
    assert load(frame, frame).inputs["original"] == InputTable("original", 1, 1, None)


def test_inputs_stay_as_they_were(people: pd.DataFrame) -> None:
    before = people.copy(deep=True)
    load(people, people)
    split(people)
    pd.testing.assert_frame_equal(people, before)


# Splitting


def test_split_holds_the_share_back_rounded_down(people: pd.DataFrame) -> None:
    working, holdout = evalkit.split(people, share=0.5, seed=0)
    assert (len(working), len(holdout)) == (31, 30)
    assert sorted([*working.index, *holdout.index]) == list(range(61))
    assert working.index.is_monotonic_increasing
    assert len(split(pd.concat([people, people]).iloc[:100], share=0.29)[1]) == 29


def test_split_follows_content_and_seed(people: pd.DataFrame) -> None:
    turned = people.sample(frac=1, random_state=2)[["town", "size", "age"]]
    held = rows_of(split(people, 0.3, 7)[1])
    assert held == rows_of(split(turned, 0.3, 7)[1][["age", "town", "size"]])
    assert held != rows_of(split(people, 0.3, 8)[1])


@pytest.mark.parametrize("share", [0, 1, -0.1, True, "half", 0.001, float("nan")])
def test_a_share_that_leaves_a_part_empty_is_refused(people: pd.DataFrame, share: Any) -> None:
    with pytest.raises(InputError, match="share"):
        split(people, share)


def test_split_file_writes_the_same_records_in_the_same_dialect(tmp_path: Path) -> None:
    header, rows = '"île";n\r\n', [f'"R\u00e9, ""{n}""\nx";{n},50\r\n' for n in range(9)]
    path = tmp_path / "places.csv"
    path.write_bytes((header + "".join(rows)).encode("cp1252"))
    working, holdout, notes = split_file(path, tmp_path / "out", share=0.4, seed=1)
    assert (working.name, holdout.name) == ("working.csv", "holdout.csv")
    texts = [part.read_bytes().decode("cp1252") for part in (working, holdout)]
    assert all(text.startswith(header) for text in texts)
    kept = ["".join(row for row in rows if row in text) for text in texts]
    assert [header + part for part in kept] == texts
    assert [text.count("50\r\n") for text in texts] == [6, 3]
    assert "few_rows_to_split" in [note.code for note in notes]


def test_split_file_keeps_byte_order_mark_gzip_and_a_missing_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "a.v2.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa;b\n1;x\n\n2;y\n3;z"))
    working, holdout, _ = split_file(path, tmp_path / "out", share=0.34)
    assert (working.name, holdout.name) == ("working.csv.gz", "holdout.csv.gz")
    texts = [gzip.decompress(part.read_bytes()) for part in (working, holdout)]
    assert all(text.startswith(b"\xef\xbb\xbfa;b\n") and text.endswith(b"\n") for text in texts)
    assert sorted(b"".join(text[7:] for text in texts).split()) == [b"1;x", b"2;y", b"3;z"]


def test_split_file_copes_with_quotation_marks_that_follow_no_rule(tmp_path: Path) -> None:
    path = tmp_path / "screens.csv"
    path.write_text('size,n\n5" wide,1\n7" wide,2\n9" wide,3\n', encoding="utf-8")
    working, holdout, _ = split_file(path, tmp_path / "out")
    read = pd.concat([pd.read_csv(working), pd.read_csv(holdout)])
    assert sorted(read["size"]) == ['5" wide', '7" wide', '9" wide']


def test_split_file_writes_parquet_with_its_schema(people: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    people.to_parquet(path)
    working, holdout, _ = split_file(path, tmp_path / "out", share=0.2)
    parts = [pd.read_parquet(part) for part in (working, holdout)]
    assert [len(part) for part in parts] == [49, 12]
    assert rows_of(*parts) == rows_of(people)
    assert parts[0].dtypes.equals(people.dtypes)


def test_split_file_never_writes_over_its_input(tmp_path: Path) -> None:
    path = tmp_path / "working.csv"
    path.write_text("a\n1\n2\n", encoding="utf-8")
    with pytest.raises(InputError, match="written over"):
        split_file(path, tmp_path)
    assert path.read_text(encoding="utf-8") == "a\n1\n2\n"
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written to"):
        split_file(path, blocked)


def test_split_file_never_depends_on_the_order_of_rows(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    people.to_csv(tmp_path / "people.csv", index=False)
    _, holdout, _ = split_file(tmp_path / "people.csv", tmp_path / "out", 0.3, 4)
    assert len(pd.read_csv(holdout)) == 18
    turned = people.sample(frac=1, random_state=5)
    turned.to_csv(tmp_path / "turned.csv", index=False)
    _, again, _ = split_file(tmp_path / "turned.csv", tmp_path / "again", 0.3, 4)
    assert rows_of(pd.read_csv(again)) == rows_of(pd.read_csv(holdout))
