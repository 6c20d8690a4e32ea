"""The order of rows by content: as NumPy sorts them, found once for a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit import quantities_order
from evalkit.kernels.content import can_be_sorted, sorted_rows
from evalkit.quantities import in_content_order
from evalkit.quantities_order import drawn_rows, order_of
from evalkit.schema import Schema, Variable

KINDS = {
    "few whole numbers": lambda rng, n: rng.integers(-3, 4, n),
    "wide whole numbers": lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n),
    "ends of the range": lambda rng, n: rng.choice([-(2**63), 2**63 - 1, 0], n),
    "unsigned": lambda rng, n: rng.choice(np.array([0, 2**64 - 1, 5], np.uint64), n),
    "floats": lambda rng, n: rng.normal(size=n),
    "whole floats": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.integers(-4, 5, n)),
    "rounded floats": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.random(n).round(1)),
    "codes": lambda rng, n: rng.integers(-1, 2, n).astype(np.int8),
    "truth values": lambda rng, n: rng.random(n) < 0.5,
    "missing": lambda _, n: np.full(n, np.nan),
    "constant": lambda _, n: np.full(n, 7),
    "hostile floats": lambda rng, n: rng.choice(
        [np.inf, -np.inf, 0.0, -0.0, 1e300, np.nan, -5e-324, -(2.0**63), 2.0**53 + 2], n
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_column_is_sorted_as_numpy_sorts_it(kind: str) -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 300):
        column = KINDS[kind](rng, size)
        assert can_be_sorted([column])
        np.testing.assert_array_equal(sorted_rows([column]), np.lexsort([column]))


def test_many_columns_are_sorted_as_numpy_sorts_them_equal_rows_in_their_order() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        size, wide = int(rng.integers(1, 80)), int(rng.integers(1, 8))
        columns = [KINDS[kind](rng, size) for kind in rng.choice(list(KINDS), wide)]
        again = rng.integers(0, size, size)  # rows that stand there several times
        columns = [column[again] for column in columns]
        expected = np.lexsort(tuple(reversed(columns)))
        np.testing.assert_array_equal(sorted_rows(columns), expected)


def test_other_kinds_of_columns_are_left_to_numpy() -> None:
    assert not can_be_sorted([np.array(["a", "b"])])
    assert not can_be_sorted([np.array([1.0, 2.0], np.float32)])


def table(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "weight": rng.normal(size=rows),
            "age": rng.integers(0, 90, rows),
            "town": pd.Categorical(rng.choice(["Aix", "Brest", None], rows)),
        }
    )


def test_a_large_table_is_sorted_once_and_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(
        (Variable("weight", "numeric"), Variable("age", "numeric"), Variable("town", "categorical"))
    )
    frame = table(500, np.random.default_rng(2))
    names = ("weight", "age", "town")
    expected = in_content_order(frame, schema, names)
    monkeypatch.setattr(quantities_order, "LARGE", 100)
    first = in_content_order(frame, schema, names)
    np.testing.assert_array_equal(first, expected)
    assert in_content_order(frame, schema, ("town", "age", "weight")) is first
    assert order_of(frame, ["age"]) is not first
    assert order_of(frame.copy(), names) is not first


def test_an_order_is_forgotten_with_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantities_order, "LARGE", 100)
    before = len(quantities_order._ORDERS)
    frame = table(200, np.random.default_rng(3))
    order_of(frame, tuple(frame.columns))
    assert len(quantities_order._ORDERS) == before + 1
    del frame
    assert len(quantities_order._ORDERS) == before


def test_a_sample_holds_the_same_records_whatever_the_order_of_rows() -> None:
    frame = table(400, np.random.default_rng(4))
    mixed = frame.sample(frac=1.0, random_state=5)[["town", "weight", "age"]]
    found = []
    for one in (frame, mixed):
        release = evalkit.load(one, one)
        rows, persons = drawn_rows(release, "original", 50, np.random.default_rng(6))
        assert persons.count == 50
        found.append(release.original.iloc[rows][list(frame.columns)].reset_index(drop=True))
    pd.testing.assert_frame_equal(*found)
