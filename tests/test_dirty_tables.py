"""Tables as people have them: for each kind of dirt the right values, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from evalkit.errors import InputError
from evalkit.release import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evalkit.release import Release

    Loader = Callable[..., Release]

DAY = 86400.0


@pytest.fixture
def tables(tmp_path: Path) -> Loader:
    """Return a function that writes texts or bytes and loads them, one table twice by default."""

    def loader(
        original: str | bytes,
        avatars: str | bytes | None = None,
        holdout: str | bytes | None = None,
        **options: Any,
    ) -> Release:
        paths = {}
        contents = {"original": original, "avatars": avatars or original, "holdout": holdout}
        for role, content in contents.items():
            if content is not None:
                paths[role] = tmp_path / f"{role}.csv"
                paths[role].write_bytes(content if isinstance(content, bytes) else content.encode())
        return load(**paths, **options)

    return loader


def values(release: Release, name: str, table: str = "original") -> list[Any]:
    """Return the cells of a column, None where missing."""
    cells = getattr(release, table)[name]
    return [None if pd.isna(cell) else cell for cell in cells]


def column(cells: list[str], name: str = "v") -> str:
    """Return a table of one column beside another one."""
    return "\n".join([f"{name};n", *(f"{cell};{place % 3}" for place, cell in enumerate(cells))])


def codes(release: Release, name: str = "v") -> dict[str, str]:
    """Return the notes of a column by code."""
    return {note.code: note.text for note in release.schema[name].notes}


def release_notes(release: Release) -> dict[str, str]:
    """Return the notes on the tables by code."""
    return {note.code: note.text for note in release.notes}


# The head and the edges of a text file


def test_remarks_before_a_header_are_left_out_with_a_note(tables: Loader) -> None:
    release = tables("# export of Monday, 3 tables\n# no. 2\na,b\n1,x\n2,y\n")
    assert values(release, "a") == [1, 2]
    assert "begin with #" in release_notes(release)["remarks_dropped"]


def test_a_header_that_begins_with_a_mark_is_a_header(tables: Loader) -> None:
    assert tables("#no,b\n7,1\n9,2\n").schema.used_names() == ("#no", "b")


def test_a_delimiter_at_the_end_of_each_row_makes_no_column(tables: Loader) -> None:
    release = tables("a,b\n1,5,\n2,6,\n")
    assert (values(release, "a"), values(release, "b")) == ([1, 2], [5, 6])
    assert "ends with a delimiter" in release_notes(release)["trailing_delimiter"]
    both = tables("a,b,\n1,5,\n2,6,\n")
    assert both.schema.used_names() == ("a", "b")


def test_names_of_rows_as_r_writes_them_are_left_out(tables: Loader) -> None:
    release = tables('"a","b"\n"1",7,"x"\n"2",8,"y"\n')
    assert (values(release, "a"), values(release, "b")) == ([7, 8], ["x", "y"])
    assert {"row_names", "index_column_dropped"} <= release_notes(release).keys()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_read_with_and_without_its_mark(tables: Loader, encoding: str) -> None:
    text = "âge\ttown\n31\tÎle d’Yeu\n40\tŁódź\n"
    release = tables(text.encode(encoding), text)
    assert values(release, "âge") == [31, 40]
    assert values(release, "town") == ["Île d’Yeu", "Łódź"] == values(release, "town", "avatars")


def test_rows_of_a_spreadsheet_that_ran_on_are_counted(tables: Loader) -> None:
    release = tables("a,b\n1,2\n3,4\n,\n,\n")
    assert "2 rows hold no filled cell" in release_notes(release)["empty_rows"]


# Numbers


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.234,5", "-2,25"], [1234.5, -2.25]),
        (["1,234.5", "-2.25"], [1234.5, -2.25]),
        (["1 234,5", "2,5"], [1234.5, 2.5]),
        (["1\u202f234,5", "2,5"], [1234.5, 2.5]),
        (["1'234.5", "2.5"], [1234.5, 2.5]),
        (["1’234.5", "2.5"], [1234.5, 2.5]),
        (["\u22123.5", "+4", "-.5", "7."], [-3.5, 4, -0.5, 7]),
        (["1e3", "2.5E-1", "-1e+2"], [1000, 0.25, -100]),
        (["12.5 %", "3%", "-1 %"], [12.5, 3, -1]),
        (["€ 1.250,50", "€ 3,00"], [1250.5, 3]),
        (["1 250,50 €", "3 €"], [1250.5, 3]),
        (["$5", "$1,250.5"], [5, 1250.5]),
        (["30 EUR", "12.5 EUR"], [30, 12.5]),
    ],
)
def test_numbers_of_many_hands(tables: Loader, cells: list[str], expected: list[float]) -> None:
    assert values(tables(column(cells)), "v") == expected


def test_the_sign_of_a_unit_is_said_and_two_signs_are_no_number(tables: Loader) -> None:
    assert "v (%)" in release_notes(tables(column(["1 %", "2 %"])))["units_read"]
    assert tables(column(["1 €", "2 $"])).schema["v"].type == "categorical"
    assert tables(column(["1 %", "2"])).schema["v"].type == "categorical"


def test_whole_numbers_of_nineteen_digits_are_exact(tables: Loader) -> None:
    cells = ["9223372036854775807", "-9223372036854775808", "9007199254740993"]
    assert values(tables(column(cells)), "v") == [2**63 - 1, -(2**63), 2**53 + 1]


def test_whole_numbers_that_no_integer_holds_are_codes_and_said(tables: Loader) -> None:
    release = tables(column(["9223372036854775808", "1234567890123456789012"]))
    assert values(release, "v") == ["9223372036854775808", "1234567890123456789012"]
    assert "--numeric" in codes(release)["read_as_codes"]


def test_zeros_in_front_are_kept(tables: Loader) -> None:
    release = tables(column(["01000", "75001", "01000"]))
    assert values(release, "v") == ["01000", "75001", "01000"]
    assert values(tables(column(["01000", "75001"]), numeric=["v"]), "v") == [1000, 75001]


def test_codes_with_zeros_in_front_match_those_that_a_spreadsheet_cut(tables: Loader) -> None:
    release = tables(column(["01000", "75001"]), column(["1000", "75001"]))
    assert values(release, "v", "avatars") == ["01000", "75001"]
    assert "1 cells" in codes(release)["levels_matched"]


def test_a_blank_inside_a_column_of_numbers_is_missing(tables: Loader) -> None:
    release = tables(column([" ", "29.85", "1889.5"]))
    assert values(release, "v") == [None, 29.85, 1889.5]
    assert "2 cells hold only blanks" in codes(release)["blank_cells"]  # One in each table.


def test_infinities_are_counted_by_table_and_missing(tables: Loader) -> None:
    release = tables(column(["1", "-inf", "Infinity"]), column(["1", "inf", "2"]))
    assert values(release, "v") == [1, None, None]
    assert "2 in original.csv, 1 in avatars.csv" in codes(release)["infinite"]


def test_numbers_as_text_in_one_table_are_cast_or_named() -> None:
    original = pd.DataFrame({"v": [1.5, 2.0]})
    release = load(original, pd.DataFrame({"v": ["1.50", " 2 "]}))
    assert values(release, "v", "avatars") == [1.5, 2.0]
    with pytest.raises(InputError, match=r"avatars, column 'v', row 2 .*'99 aa' .* is no number"):
        load(original, pd.DataFrame({"v": ["1.50", "12 kg"]}))


# Missing


def test_na_is_missing_among_numbers_and_a_code_among_words(tables: Loader) -> None:
    release = tables("n;country\n1;NA\nNA;FR\n3;NA\n")
    assert values(release, "n") == [1, None, 3]
    assert values(release, "country") == ["NA", "FR", "NA"]
    assert "--missing" in codes(release, "country")["words_as_levels"]
    told = tables("n;country\n1;NA\nNA;FR\n3;NA\n", missing=["NA"])
    assert values(told, "country") == [None, "FR", None]


def test_one_way_of_saying_missing_holds_for_every_table(tables: Loader) -> None:
    # Only the avatars hold the word: decided by the originals, whose cells are numbers.
    assert values(tables(column(["1", "2"]), column(["nan", "2"])), "v", "avatars") == [None, 2]


# Dates and times


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1970-01-02", "1969-12-31"], [DAY, -DAY]),
        (["02/01/1970", "13/01/1970"], [DAY, 12 * DAY]),
        (["01/02/1970", "01/13/1970"], [DAY, 12 * DAY]),
        (["1970/01/02", "1970.1.3"], [DAY, 2 * DAY]),
        (["2 janv. 1970", "3 février 1970"], [DAY, 33 * DAY]),
        (["02-Jan-1970", "03-Mar-1970"], [DAY, 61 * DAY]),
        (["1970-01-01 12:00 AM", "1970-01-01 12:30 PM"], [0, 45000]),
        (["1/2/1970 1:05:09 am", "1/13/1970 11:00 p.m."], [DAY + 3909, 12 * DAY + 82800]),
        (["1970-01-01T02:00+02:00", "1970-01-01T00:00:00Z"], [0, 0]),
        (["1970-01-01 00:00:00.25 -0130", "1970-01-01 00:00:01,5 UTC"], [5400.25, 1.5]),
        (["1970-02", "1970-01"], [31 * DAY, 0]),
        (["12:00 am", "1:00 pm"], [0, 46800]),
        (["00:00", "23:59:59.5"], [0, 86399.5]),
    ],
)
def test_dates_of_many_hands(tables: Loader, cells: list[str], expected: list[float]) -> None:
    release = tables(column(cells))
    assert release.schema["v"].type == "datetime"
    assert values(release, "v") == expected


def test_an_hour_that_is_not_on_the_clock_is_no_time(tables: Loader) -> None:
    assert tables(column(["13:00 am", "1:00 pm"])).schema["v"].type == "categorical"
    assert tables(column(["1970-01-01 25:00", "1970-01-01"])).schema["v"].type == "categorical"


def test_years_from_1_to_9999_are_days_of_one_calendar(tables: Loader) -> None:
    release = tables(column(["0001-01-01", "9999-12-31", "1900-03-01", "1600-02-29"]))
    assert values(release, "v") == [
        -719162 * DAY, 2932896 * DAY, -25508 * DAY, -135081 * DAY
    ]  # fmt: skip
    for day in ("0000-01-01", "1900-02-29"):
        assert tables(column(["1900-03-01", day])).schema["v"].type == "categorical"


def test_day_first_is_found_from_all_tables_together(tables: Loader) -> None:
    open_, shown = column(["03/04/1970", "05/04/1970"]), column(["13/02/1970", "03/04/1970"])
    for release in (tables(open_, shown), tables(open_, open_, shown)):
        assert values(release, "v") == [92 * DAY, 94 * DAY]
        assert "day_first_assumed" not in codes(release)
    reversed_ = tables(open_, column(["02/13/1970", "03/04/1970"]))
    assert values(reversed_, "v") == [62 * DAY, 123 * DAY]
    assert "day_first_assumed" in codes(tables(open_))


def test_tables_whose_dates_contradict_each_other_are_read_each_in_its_own_way(
    tables: Loader,
) -> None:
    release = tables(column(["13/02/1970"]), column(["02/13/1970"]))
    assert values(release, "v") == values(release, "v", "avatars") == [43 * DAY]


def test_years_of_two_digits_are_dates_only_where_the_user_says_so(tables: Loader) -> None:
    cells = ["13/02/70", "01/01/68", "31/12/69"]
    assert "short_years" in codes(tables(column(cells)))
    release = tables(column(cells), datetime=["v"])
    assert values(release, "v") == [43 * DAY, 35794 * DAY, -DAY]
    assert "1969 to 2068" in codes(release)["short_years_read"]
    month_first = tables(column(["02/13/70", "03/04/70"]), datetime=["v"])
    assert values(month_first, "v") == [43 * DAY, 62 * DAY]
    assert "day_first_assumed" in codes(tables(column(["02/03/70"]), datetime=["v"]))
    assert "day_first_assumed" not in codes(month_first)


def test_whole_numbers_are_dates_only_where_the_user_says_so(tables: Loader) -> None:
    assert tables(column(["19700102", "19700103"])).schema["v"].type == "numeric"
    assert values(tables(column(["19700102", "19700103"]), datetime=["v"]), "v") == [DAY, 2 * DAY]
    assert values(tables(column(["1970", "1971"]), datetime=["v"]), "v") == [0, 365 * DAY]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1 days 02:00:00", "-1 days +23:00:00", "3 days"], [93600, -3600, 3 * DAY]),
        (["P1DT2H", "PT90S", "-PT1.5S", "PT1M"], [93600, 90, -1.5, 60]),
        (["36:10:00", "100:00:01"], [130200, 360001]),
        (["0 days 00:00:00.25", "1 day, 1:00:00"], [0.25, 90000]),
    ],
)
def test_lengths_of_time_are_seconds(
    tables: Loader, cells: list[str], expected: list[float]
) -> None:
    release = tables(column(cells))
    assert release.schema["v"].type == "datetime"
    assert values(release, "v") == expected
    assert "seconds" in codes(release)["durations"]


def test_lengths_of_time_from_a_frame_equal_their_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"v": pd.to_timedelta(["1 days 02:00:00", "-1 days +23:00:00"])})
    frame.to_csv(tmp_path / "avatars.csv", index=False)
    release = load(frame, tmp_path / "avatars.csv")
    assert values(release, "v") == values(release, "v", "avatars") == [93600, -3600]


def test_time_zones_of_a_frame_are_moments() -> None:
    moments = pd.to_datetime(["1970-01-01 02:00", "1970-07-01 00:00"])
    there = pd.DataFrame({"v": moments.tz_localize("Europe/Paris")})
    here = pd.DataFrame({"v": ["1970-01-01T01:00:00Z", "1970-06-30 23:00Z"]})
    release = load(there, here)
    assert values(release, "v") == values(release, "v", "avatars") == [3600, 180 * DAY + 82800]


# Words


def test_booleans_with_missing_have_two_levels_and_missing() -> None:
    frame = pd.DataFrame({"v": pd.array([True, None, False], dtype="boolean")})
    release = load(frame, frame)
    assert release.schema["v"].type == "boolean"
    assert release.original["v"].cat.codes.tolist() == [1, -1, 0]


def test_a_composed_letter_and_its_parts_are_one_level(tables: Loader) -> None:
    release = tables(column(["é", "b"]), column(["e\u0301", "b"]))
    assert values(release, "v", "avatars") == ["é", "b"]


def test_names_that_are_numbers_or_padded_are_made_text_with_a_note(tables: Loader) -> None:
    padded = tables(" a ,b\n1,2\n3,4\n")
    assert padded.schema.used_names() == ("a", "b")
    assert "a" in release_notes(padded)["names_trimmed"]
    numbered = pd.DataFrame(np.array([[1, 2], [3, 4]]), columns=[0, 1])
    assert load(numbered, numbered).schema.used_names() == ("0", "1")


def test_columns_of_markup_emoji_and_other_scripts_stay_text(tables: Loader) -> None:
    names = ["<b>", "$x$", r"\frac", "😀", "年齢", "a&b"]
    content = ",".join(names) + "\n" + ",".join(names) + "x\n" + ",".join("pqrstu") + "\n"
    assert tables(content).schema.used_names() == tuple(names)


def test_a_type_is_never_guessed_per_table(tables: Loader) -> None:
    # Each avatar cell could be a number: the originals say that the column holds words.
    release = tables(column(["1", "x"]), column(["1", "2"]))
    assert values(release, "v", "avatars") == ["1", "2"]
    assert "1, in 1 of 2 rows" in codes(release)["unknown_levels"]
