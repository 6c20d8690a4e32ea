"""Small tables that broke other tools: each is assessed, and the right result is in the report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Assess = Callable[..., evalkit.Assessment]

AGES = [34, 51, 27, 63, 45, 39, 58, 22, 70, 48, 31, 55]
WEIGHTS = [71.5, 80.2, 58.9, 90.4, 66.0, 77.3, 84.8, 55.1, 69.7, 73.6, 62.2, 88.0]


@pytest.fixture
def assess(tmp_path: Path) -> Assess:
    """Return a function that writes tables as CSV, reads them and measures."""

    def assessor(*tables: pd.DataFrame | str, metrics: list[str], **options: Any) -> Any:
        paths = []
        for name, table in zip(("original", "avatars", "holdout"), tables, strict=False):
            paths.append(tmp_path / f"{name}.csv")
            text = table if isinstance(table, str) else table.to_csv(index=False)
            paths[-1].write_text(text, encoding="utf-8")
        release = evalkit.load(*paths, **options)
        return evalkit.assess(release, metrics=metrics)

    return assessor


def html(assessment: evalkit.Assessment) -> str:
    """Return the report."""
    return evalkit.Report(assessment).html()


def notes(assessment: evalkit.Assessment, name: str) -> dict[str, str]:
    """Return the notes on a column by code."""
    for variable in assessment.release.variables:
        if variable.name == name:
            return {note.code: note.text for note in variable.notes}
    raise KeyError(name)


CORRELATIONS = "correlation_difference_ratio"
LINKABILITY = "linkability_protection_rate"


def test_numbers_all_missing_in_the_avatars_are_named_and_never_vanish(assess: Assess) -> None:
    original = pd.DataFrame({"age": AGES, "weight": WEIGHTS})
    avatars = pd.DataFrame({"age": [age + 1 for age in AGES], "weight": None})
    found = assess(original, avatars, metrics=[CORRELATIONS, LINKABILITY, "missingness"])
    assert "0.0 %, avatars.csv 100.0 %" in notes(found, "weight")["missing_differs"]
    assert found["missingness"].facts["worst_variables"][0]["variable"] == "weight"
    # A column that died in the avatars is a failure to be seen, not a gap.
    assert found[CORRELATIONS].facts["collapsed"] == [{"variable": "weight", "table": "avatars"}]
    assert "weight" in html(found)


def test_a_constant_column_is_named_and_the_rest_is_measured(assess: Assess) -> None:
    def table(shift: int) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "age": [age + shift for age in AGES],
                "dose": 5,
                "weight": [weight - shift for weight in WEIGHTS],
            }
        )

    avatars = table(1)
    avatars.loc[0, "dose"] = 6
    found = assess(table(0), avatars, table(3), metrics=[CORRELATIONS])
    assert "original.csv" in notes(found, "dose")["column_constant"]
    result = found[CORRELATIONS]
    assert result.score == pytest.approx(100)
    assert "dose" not in result.facts["variables"]
    assert "dose" in str(result.facts["left_out"])
    assert not re.search(r"\bnan\b", html(found), re.IGNORECASE)


def test_missing_only_in_the_avatars_is_a_difference(assess: Assess) -> None:
    steps = range(10)
    original = pd.DataFrame({"temp": [36.2 + 0.3 * n for n in steps], "pulse": range(60, 80, 2)})
    avatars = original.assign(pulse=original["pulse"] + 1)
    avatars.loc[[1, 4, 7], "temp"] = None
    found = assess(original, avatars, metrics=["missingness"])
    assert "original.csv 0.0 %, avatars.csv 30.0 %" in notes(found, "temp")["missing_differs"]
    assert found["missingness"].score < 100


def test_columns_that_differ_give_one_line_or_go_on_in_any_order(assess: Assess) -> None:
    towns = ["Lyon", "Nice", "Brest", "Lyon", "Lyon", "Nice"] * 2
    original = pd.DataFrame({"age": AGES, "city": towns, "income": range(1800, 3000, 100)})
    avatars = pd.DataFrame({"score": 0.5, "city": towns[::-1], "age": AGES[::-1]})
    with pytest.raises(InputError) as caught:
        assess(original, avatars, metrics=[LINKABILITY])
    assert "only in original.csv: income, only in avatars.csv: score" in str(caught.value)
    found = assess(original, avatars, metrics=[LINKABILITY], on_mismatch="intersect")
    reordered = assess(
        original, avatars[["age", "city"]], metrics=[LINKABILITY], on_mismatch="intersect"
    )
    assert found[LINKABILITY].score == reordered[LINKABILITY].score
    assert "columns_differ" in [note.code for note in found.release.notes]
    assert "income" in html(found)


def test_avatars_that_are_the_originals_get_the_worst_scores_and_a_warning(assess: Assess) -> None:
    table = pd.DataFrame(
        {
            "p": range(1, 40, 3),
            "q": [100 - 1.7 * n for n in range(13)],
            "r": [2 + n * n for n in range(13)],
            "s": range(5000, 5480, 37),
        }
    )
    found = assess(table, table, table + 1, metrics=[LINKABILITY, "row_direct_match_protection"])
    assert found[LINKABILITY].score == 0
    assert "copy" in [note.code for note in found.release.notes]
    low, high = found[LINKABILITY].interval
    assert 0 <= low <= high <= 100


def test_codes_in_whole_numbers_have_one_type_whatever_their_number(assess: Assess) -> None:
    original = pd.DataFrame({"room": [*range(101, 113), 101], "age": [*AGES, 34]})
    avatars = pd.DataFrame({"room": [*range(101, 107)] * 2, "age": AGES})
    kinds = {
        tuple(one.type for one in assess(*pair, metrics=[LINKABILITY]).release.variables)
        for pair in ((original, avatars), (avatars, original))
    }
    assert kinds == {("numeric", "numeric")}
    told = assess(original, avatars, metrics=[LINKABILITY], categorical=["room"])
    assert [one.type for one in told.release.variables] == ["categorical", "numeric"]


def test_a_column_of_row_numbers_in_one_table_only_is_dropped(assess: Assess) -> None:
    table = pd.DataFrame({"age": AGES, "weight": WEIGHTS})
    numbered = table.set_axis(range(1, 13)).to_csv(index=True)
    found = assess(table, numbered, metrics=[LINKABILITY])
    assert [one.name for one in found.release.variables] == ["age", "weight"]
    assert "index_column_dropped" in [note.code for note in found.release.notes]
    assert (
        found[LINKABILITY].score == assess(table, table, metrics=[LINKABILITY])[LINKABILITY].score
    )


def test_markup_in_names_and_cells_is_text_everywhere(assess: Assess) -> None:
    names = ["<script>alert(1)</script>", "R&D", '5 < x "ok"', "$x$ \\frac{1}{2}", "😀 年"]
    cells = ["a<b", "<img src=x onerror=alert(2)>", "c&d", "a<b"]
    table = pd.DataFrame(dict.fromkeys(names, cells * 6) | {"n": range(0, 48, 2)})
    found = assess(table, table.iloc[::-1], metrics=[CORRELATIONS, LINKABILITY])
    page = html(found)
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&amp;amp;" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_every_form_of_true_is_one_level_and_digits_are_said(assess: Assess) -> None:
    original = "smoker,n\nTrue,0\nFalse,1\nTrue,2\n,3\nFalse,4\nFalse,5\nTrue,6\nFalse,7\n"
    avatars = "smoker,n\ntrue,0\nfalse,1\nTRUE,2\nfalse,3\n1,4\n0,5\nfalse,6\n0,7\n"
    found = assess(original, avatars, metrics=[LINKABILITY])
    assert "3 cells" in notes(found, "smoker")["levels_matched"]
    (smoker,) = [one for one in found.release.variables if one.name == "smoker"]
    assert (smoker.type, smoker.missing_share) == ("boolean", 0.125)


def test_one_row_is_a_report_in_which_nothing_is_made_up(assess: Assess) -> None:
    found = assess("a,b\n1,x\n", "a,b\n2,x\n", metrics=[CORRELATIONS, LINKABILITY, "hidden_rate"])
    assert found[CORRELATIONS].status == "not applicable"
    assert found[CORRELATIONS].reason is not None
    assert not re.search(r"\bnan\b", html(found), re.IGNORECASE)
    with pytest.raises(InputError, match="has no rows"):
        assess("a,b\n", "a,b\n2,x\n", metrics=[LINKABILITY])


def test_a_holdout_of_ten_rows_is_computed_with_a_warning(assess: Assess) -> None:
    rng = np.random.default_rng(3)
    original, holdout, avatars = (
        pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc")) for rows in (60, 10, 60)
    )
    for table in (original, holdout):
        table["b"] += table["a"]
    found = assess(original, avatars, holdout, metrics=[CORRELATIONS])
    result = found[CORRELATIONS]
    assert result.status == "measured"
    assert "small_holdout" in [one.code for one in result.warnings]
    low, high = result.interval
    assert high - low > 5


def test_an_empty_column_lifts_no_mean(assess: Assess) -> None:
    table = pd.DataFrame({"age": AGES, "weight": WEIGHTS})
    other = pd.DataFrame({"age": [a + 3 for a in AGES], "weight": WEIGHTS[::-1]})
    names = [CORRELATIONS, LINKABILITY, "missingness"]
    plain = assess(table, other, metrics=names)
    padded = assess(table.assign(gone=None), other.assign(gone=None), metrics=names)
    for name in names:
        assert plain[name].score == padded[name].score
    assert "empty_left_out" in notes(padded, "gone")
