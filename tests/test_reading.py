"""Files in every dialect read the same, or are refused with one clear line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.errors import InputError
from evalkit.reading import read_table
from evalkit.reading.options import reading_options
from evalkit.release import load

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.reading import TextTable


def read(path: Path | pd.DataFrame, **options: Any) -> TextTable:
    """Read a table with the options of `load`."""
    checked = reading_options(**options)
    return read_table(path, "original", checked).with_decimals(checked)


def cells(table: TextTable, name: str) -> list[str | None]:
    """Return the cells of a column as text, None where empty."""
    column = table.columns[name]
    return [None if code < 0 else column.texts[int(code)].as_py() for code in column.codes]


def refusal(path: Path | pd.DataFrame, **options: Any) -> str:
    """Return the one line with which a table is refused."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Return a function that writes bytes to a file of the given name."""

    def writer(content: bytes | str, name: str = "original.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return writer


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_delimiter_and_line_end_is_found(write: Any, delimiter: str, line_end: str) -> None:
    lines = ["name,age", "Ann,31", '"Bo, the ""elder""",40']
    text = line_end.join(line.replace(",", delimiter) for line in lines)
    table = read(write(text))
    assert list(table.columns) == ["name", "age"]
    assert cells(table, "name") == ["Ann", f'Bo{delimiter} the "elder"']
    assert table.notes[0].code == "dialect"


def test_a_byte_order_mark_semicolons_and_decimal_commas_are_read(write: Any) -> None:
    content = '"Nom";"Âge";"Taille"\r\n"Petit; dit Léo";35;"1,80"\r\n"Roux";29;"1,65"\r\n'
    table = read(write(b"\xef\xbb\xbf" + content.encode()))
    assert list(table.columns) == ["Nom", "Âge", "Taille"]
    assert cells(table, "Nom") == ["Petit; dit Léo", "Roux"]
    assert table.decimals["Taille"] == ","
    assert table.notes[0].values["encoding"] == "utf-8 with byte order mark"
    assert table.notes[1].code == "decimal_comma"


def test_windows_1252_is_read_where_utf_8_does_not_fit(write: Any) -> None:
    table = read(write("île;n\nRéunion;868\n".encode("cp1252")))
    assert cells(table, "île") == ["Réunion"]
    assert table.notes[0].values["encoding"] == "windows-1252"


def test_utf_16_with_its_mark_is_read(write: Any) -> None:
    assert cells(read(write("a\tb\né\t2\n".encode("utf-16"))), "a") == ["é"]


def test_a_given_encoding_wins(write: Any) -> None:
    path = write("a,b\nß,2\n".encode("cp850"))
    assert cells(read(path, encoding="cp850"), "a") == ["ß"]
    assert "cannot be read as ascii" in refusal(path, encoding="ascii")
    assert "encoding: 'utf-99' is unknown" in refusal(path, encoding="utf-99")


def test_bytes_of_neither_encoding_are_refused(write: Any) -> None:
    assert "--encoding" in refusal(write(b"a,b\n\x81\x8d,2\n"))


def test_a_line_end_inside_a_quoted_cell_is_part_of_the_cell(write: Any) -> None:
    table = read(write('a,b\n"one\ntwo",2\n\n3,4\n'))
    assert cells(table, "a") == ["one\ntwo", "3"]


def test_the_first_line_of_a_spreadsheet_names_the_delimiter(write: Any) -> None:
    assert list(read(write("sep=;\r\na;x,y\r\nb;x,y\r\n")).columns) == ["a", "x,y"]


def test_two_delimiters_that_both_fit_are_refused(write: Any) -> None:
    path = write("a;x,y\nb;x,y\n")
    assert "comma and semicolon both" in refusal(path)
    assert list(read(path, delimiter=";").columns) == ["a", "x,y"]


def test_one_column_with_decimal_commas_is_one_column(write: Any) -> None:
    table = read(write("amount\n1,20\n3,5\n"))
    assert list(table.columns) == ["amount"]
    assert table.notes[0].values["delimiter"] == "one column"


@pytest.mark.parametrize(
    ("lines", "marks"),
    [
        (["1,20", "22,30", "1.234,56", "12.000,00"], ","),
        (["1.20", "22.30", "1,234.56", "12,000.00"], "."),
        (["0,125", "0,250"], ","),
        (["12 000,5", "1"], ","),
        (["1.234", "2.500"], "."),
        (["1", "2"], "."),
        (["1,5", "x"], "."),
        (["1,5", "NA", ""], ","),
    ],
)
def test_the_decimal_mark_is_found_from_the_numbers(
    write: Any, lines: list[str], marks: str
) -> None:
    table = read(write("\n".join(["k;v", *(f"a;{line}" for line in lines)])))
    assert table.decimals["v"] == marks


def test_thousands_commas_beside_clear_decimals_follow_them(write: Any) -> None:
    assert read(write('a;b\n"1,234";1,5\n"2,500";2,5\n')).decimals == {"a": ",", "b": ","}
    assert read(write('a;b\n"1,234";1.5\n"2,500";2.5\n')).decimals == {"a": ".", "b": "."}


def test_columns_with_a_mark_of_their_own_are_named(write: Any) -> None:
    table = read(write("a;b\n1,5;1.5\n2,25;2.25\n"))
    assert table.decimals == {"a": ",", "b": "."}
    assert table.notes[-1].values["columns"] == ["a"]


def test_numbers_of_two_possible_readings_are_refused_with_their_form(write: Any) -> None:
    path = write("k;v\na;1,234\nb;12,500\n")
    message = refusal(path)
    assert "'9,999'" in message
    assert "1,234" not in message
    assert read(path, decimal=",").decimals["v"] == ","
    assert read(path, decimal=".").decimals["v"] == "."


def test_the_row_number_column_is_dropped_with_a_note(write: Any) -> None:
    table = read(write('"","age"\n"1",35\n"2",52\n'))
    assert list(table.columns) == ["age"]
    assert "index_column_dropped" in [note.code for note in table.notes]


def test_a_nameless_column_with_other_cells_is_refused(write: Any) -> None:
    assert "column 2 has no name" in refusal(write("a,\n1,x\n2,y\n"))
    assert list(read(write("a,\n1,\n2,\n")).columns) == ["a"]


def test_duplicate_names_are_refused_by_name(write: Any) -> None:
    assert "'x'" in refusal(write("x,x,y\n1,9,a\n"))
    assert "'x'" in refusal(write("x, x,y\n1,9,a\n"))


def test_blanks_around_names_are_trimmed_with_a_note(write: Any) -> None:
    table = read(write(" age ,town\n3,b\n"))
    assert list(table.columns) == ["age", "town"]
    assert ("names_trimmed", ["age"]) in [(n.code, n.values.get("columns")) for n in table.notes]


def test_names_of_a_frame_are_made_text() -> None:
    table = read(pd.DataFrame({0: [1], "b": [2]}))
    assert list(table.columns) == ["0", "b"]
    assert [note.code for note in table.notes] == ["names_made_text"]


def test_column_names_of_two_levels_are_refused() -> None:
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert "several levels" in refusal(frame)


def test_a_record_that_does_not_fit_is_named_by_its_row(write: Any) -> None:
    message = refusal(write("a,b\n1,2\nsecret,4,5\n"))
    assert "row 2 has 3 cells, the header has 2" in message
    assert "secret" not in message


def test_a_quotation_mark_left_open_is_refused(write: Any) -> None:
    assert "never closed" in refusal(write('a,b\n1,"x\n2,3\n'))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"a,b\n", "has no rows"),
        (b"PK\x03\x04rest", "zip archive is damaged"),
        (b"%PDF-1.7", "a PDF"),
        (b"SQLite format 3\x00\x10", "name a table by an address such as sqlite:///original"),
        (b"a,b\n\x00,1\n", "zero bytes"),
        (b"\x1f\x8bbroken", "gzip archive is damaged"),
        (b"PAR1broken", "Parquet file is damaged"),
        (b",\n1,x\n2,y\n", "column 2 has no name"),
        (b"\xef\xbb\xbf", "is empty"),
    ],
)
def test_what_is_no_table_is_refused_with_one_line(write: Any, content: bytes, said: str) -> None:
    message = refusal(write(content))
    assert said in message
    assert message.startswith("original.csv")


def test_a_folder_and_a_missing_file_give_one_line_each(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    assert "absent.csv: cannot be read (no such file" in refusal(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="int is no table"):
        read_table(3, "avatars", reading_options())


def test_gzip_and_parquet_read_as_the_plain_file(write: Any, tmp_path: Path) -> None:
    text = "age,town\n31,Nice\n,Lyon\n"
    plain = read(write(text))
    frame = pd.DataFrame({"age": [31, None], "town": ["Nice", "Lyon"]})
    frame.to_parquet(tmp_path / "original.parquet")
    packed = write(gzip.compress(text.encode()), "original.csv.gz")
    both = write(gzip.compress((tmp_path / "original.parquet").read_bytes()), "original.pq.gz")
    for path in (packed, tmp_path / "original.parquet", both):
        table = read(path)
        assert cells(table, "age") == cells(plain, "age") == ["31", None]
        assert cells(table, "town") == cells(plain, "town")
        assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_bytes_that_are_no_text_are_refused_by_column(tmp_path: Path) -> None:
    path = tmp_path / "original.parquet"
    pd.DataFrame({"photo": [b"\xff\xfe"], "age": [3]}).to_parquet(path)
    assert "column 'photo': cells of the type 'binary' cannot all be written as text" in refusal(
        path
    )


def test_a_file_that_hides_its_role_is_called_by_both(write: Any) -> None:
    assert read(write("a\n1\n", "data_v2.csv")).label == "data_v2.csv (original)"


def test_rows_without_a_filled_cell_are_counted(write: Any) -> None:
    assert "empty_rows" in [note.code for note in read(write("a,b\n1,2\n,\n,\n")).notes]


def test_frames_of_many_types_become_text() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "small": np.array([0.1, np.nan], dtype="float32"),
            "mixed": pd.Series(["x", 3], dtype="object"),
            "truth": [True, False],
            "level": pd.Categorical([2.0, None]),
            "day": pd.to_datetime(["2021-02-03", None]),
            "span": pd.to_timedelta(["1 day", "90 s"]),
        }
    )
    table = read(frame)
    assert cells(table, "whole") == ["1", None]
    assert cells(table, "small") == ["0.1", None]
    assert cells(table, "mixed") == ["x", "3"]
    assert cells(table, "truth") == ["true", "false"]
    assert cells(table, "level") == ["2", None]
    assert cells(table, "span") == ["PT86400S", "PT90S"]


def test_an_arrow_table_is_a_table() -> None:
    pa = pytest.importorskip("pyarrow")
    assert cells(read(pa.table({"a": [1, None]})), "a") == ["1", None]


NAMES = st.lists(
    st.text(st.characters(codec="cp1252", exclude_categories=["Cc", "Zs"]), min_size=1, max_size=6),
    min_size=2,
    max_size=4,
    unique=True,
)
TEXTS = st.text(st.characters(codec="cp1252", exclude_characters="\0\r"), max_size=8)
NUMBERS = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 4))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_frame_in_any_dialect_reads_back_equal_or_is_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = data.draw(NAMES)
    rows = data.draw(st.integers(1, 5))
    delimiter, decimal = data.draw(
        st.sampled_from([(",", "."), (";", ","), ("\t", ","), ("|", ".")])
    )
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]))
    numbers = data.draw(st.lists(NUMBERS, min_size=rows, max_size=rows))
    texts = {name: data.draw(st.lists(TEXTS, min_size=rows, max_size=rows)) for name in names[1:]}
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(names)
    for row in range(rows):
        number = repr(numbers[row]).replace(".", decimal)
        writer.writerow([number, *(texts[name][row] for name in names[1:])])
    path = tmp_path_factory.mktemp("dialect") / "original.csv"
    path.write_bytes(out.getvalue().encode(encoding))
    try:
        table = read(path)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - a refusal is one of two right outcomes
        return
    assert list(table.columns) == names
    for name in names[1:]:
        wanted = [text if text.strip() else None for text in texts[name]]
        assert cells(table, name) == wanted
    release = load(path, path, ignore=names[1:])
    assert release.original[names[0]].tolist() == pytest.approx(numbers, rel=1e-12)
