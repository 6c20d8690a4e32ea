"""The embedded tables are what their papers say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from evalkit import demo

FOLDER = Path(demo.__file__).parent
NAMES = ("original", "avatars", "holdout")
COLUMNS = [
    "age",
    "sex",
    "race",
    "native_country",
    "marital_status",
    "relationship",
    "education_years",
    "work_class",
    "occupation",
    "hours_per_week",
    "capital_gain",
    "capital_loss",
    "income",
]


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return {name: pd.read_csv(getattr(demo.paths(), name)) for name in NAMES}


@pytest.fixture(scope="module")
def provenance() -> dict[str, dict[str, list[int]]]:
    return json.loads((FOLDER / "provenance.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_table_has_two_thousand_rows_and_the_same_columns(
    tables: dict[str, pd.DataFrame], name: str
) -> None:
    assert tables[name].shape == (2_000, 13)
    assert list(tables[name]) == COLUMNS
    kinds = [pd.api.types.is_integer_dtype(tables[name][column]) for column in COLUMNS]
    assert kinds == [pd.api.types.is_integer_dtype(tables["original"][name]) for name in COLUMNS]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_the_one_whose_digest_is_recorded(
    provenance: dict[str, dict[str, str]], name: str
) -> None:
    content = getattr(demo.paths(), name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == provenance["sha256"][f"{name}.csv.gz"]
    assert content[4:8] == bytes(4)  # no time of making in the head of the compressed file


def test_originals_and_holdout_are_different_rows_of_the_source(
    provenance: dict[str, dict[str, list[int]]],
) -> None:
    original, holdout = (set(provenance["source_rows"][name]) for name in ("original", "holdout"))
    assert len(original) == len(holdout) == 2_000
    assert not original & holdout


def test_missing_values_are_empty_cells_and_stand_in_three_columns(
    tables: dict[str, pd.DataFrame],
) -> None:
    for table in tables.values():
        missing = table.isna().sum()
        assert (missing[["work_class", "occupation", "native_country"]] > 0).all()
        assert missing.drop(["work_class", "occupation", "native_country"]).sum() == 0
        assert not table.isin(["?", "(missing)"]).any().any()


def test_avatars_hold_known_levels_and_stay_within_the_ranges(
    tables: dict[str, pd.DataFrame],
) -> None:
    original, avatars = tables["original"], tables["avatars"]
    for column in COLUMNS:
        if pd.api.types.is_numeric_dtype(original[column]):
            assert avatars[column].between(original[column].min(), original[column].max()).all()
        else:
            assert set(avatars[column].dropna()) <= set(original[column].dropna())


def test_avatars_repeat_originals_hardly_more_often_than_strangers_do(
    tables: dict[str, pd.DataFrame],
) -> None:
    rows = {
        name: [tuple(row) for row in table.astype(str).to_numpy()] for name, table in tables.items()
    }
    known = set(rows["original"])
    repeated = {name: sum(row in known for row in rows[name]) for name in NAMES}
    assert repeated["original"] == 2_000
    assert repeated["avatars"] < 1.5 * repeated["holdout"]
    attribution = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert f"{repeated['avatars']} of the 2,000 avatars" in attribution
    assert f"{repeated['holdout']} of the 2,000 people of the holdout" in attribution


def test_the_source_and_its_licence_are_named_where_the_data_are() -> None:
    attribution = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for text in (attribution, str(demo.__doc__)):
        assert "Becker, B." in text
        assert "10.24432/C5XW20" in text
        assert "CC BY 4.0" in text
    assert "tools/build_demo_data.py" in attribution


def test_the_embedded_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 300_000


def test_the_attribution_goes_with_the_report() -> None:
    from evalkit import demo

    source = demo.DECLARED["source_of_the_data"]
    for part in ("Becker", "Kohavi", "UCI", "CC BY 4.0", "10.24432/C5XW20"):
        assert part in source
