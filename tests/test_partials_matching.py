"""Equal rows and descriptions of rows: however tables are cut, and against slow code."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import singling_out_oracle as oracle

import evalkit
from evalkit.kernels import equal_rows as kernel
from evalkit.kernels.boxes import Boxes, SortedRows, merged
from evalkit.metrics import singling_out_protection
from evalkit.quantities_boxes import Asked, OwnedRows, ends_of_piece
from evalkit.quantities_pieces import pieces
from evalkit.quantities_predicates import matrix_tables
from evalkit.quantities_predicates_large import LargeTables
from evalkit.quantities_rows import RowIndex, hashes_of_piece, holders, row_keys
from evalkit.quantities_shuffled import ShuffledTable, shuffled_samples

NUMERIC = ["age", "income"]
NAMES = ("age", "income", "town")


def people(rows: int, seed: int, *, missing: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 24, rows),
            "income": rng.integers(-2, 3, rows) / 2,
            "town": rng.choice(["Aix", "Brest", "Caen"], rows),
        }
    )
    if missing:
        table.loc[rng.random(rows) < 0.2, "income"] = np.nan
        table["town"] = table["town"].where(rng.random(rows) >= 0.2, "")
    return table


def released(seed: int, rows: int = 60) -> evalkit.Release:
    tables = (people(rows, seed), people(rows, seed + 50), people(rows // 2, seed + 90))
    return evalkit.load(*tables, numeric=NUMERIC)


def as_tuples(table: pd.DataFrame, names: tuple[str, ...] = NAMES) -> list[tuple[object, ...]]:
    cells = table[list(names)].astype(object).where(table[list(names)].notna(), None)
    return [tuple(row) for row in cells.itertuples(index=False)]


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_found_where_slow_code_finds_them(seed: int) -> None:
    release = released(seed)
    index = RowIndex([release.original, release.holdout], release.schema, NAMES)
    rows = as_tuples(release.original) + as_tuples(release.holdout)
    key = dict(zip(rows, np.concatenate(index.keys).tolist(), strict=True))
    assert index.count == len(key) == len(set(key.values()))
    assert [key[row] for row in rows] == np.concatenate(index.keys).tolist()
    found = index.find(release.avatars).tolist()
    assert found == [key.get(row, -1) for row in as_tuples(release.avatars)]
    assert -1 in found
    assert max(found) >= 0


@given(rows=st.integers(1, 7), seed=st.integers(0, 50))
@settings(max_examples=25, deadline=None)
def test_hashes_do_not_depend_on_how_a_table_is_cut(rows: int, seed: int) -> None:
    table, schema = (release := released(seed, 20)).original, release.schema
    fractions = {"age": False, "income": True, "town": False}
    take = partial(hashes_of_piece, fractions=fractions, attempt=0)
    whole = [take(one) for one in pieces(table, schema, NAMES)]
    parts = [take(one) for one in pieces(table, schema, NAMES, rows=rows)]
    assert np.concatenate(parts).tolist() == np.concatenate(whole).tolist()


def test_rows_of_one_hash_are_told_apart_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    release, real = released(1), kernel.hashes
    keys = row_keys([release.original, release.avatars], release.schema, NAMES)
    tried = []

    def poor(columns: object, rows: int, attempt: int) -> np.ndarray:
        tried.append(attempt)
        return real(columns, rows, attempt) % (3 if attempt < 2 else kernel.KEY_SPACE)

    monkeypatch.setattr("evalkit.quantities_rows.hashes", poor)
    others = row_keys([release.original, release.avatars], release.schema, NAMES)
    assert max(tried) == 2
    pairs = set(zip(np.concatenate(keys).tolist(), np.concatenate(others).tolist(), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})


def test_a_row_with_the_hash_of_another_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    release = released(1)
    one = release.original.iloc[:1]
    monkeypatch.setattr("evalkit.quantities_rows.hashes", lambda *given: np.zeros(given[1], int))
    index = RowIndex([one], release.schema, NAMES)
    equal = [row == as_tuples(one)[0] for row in as_tuples(release.avatars)]
    assert (index.find(release.avatars) == 0).tolist() == equal


def test_whole_numbers_equal_the_same_numbers_with_a_point() -> None:
    schema = released(0).schema
    whole, point = pd.DataFrame({"age": [1, -2, 0]}), pd.DataFrame({"age": [-0.0, 1.0, np.nan]})
    index = RowIndex([whole], schema, ["age"], beside=[point])
    assert index.find(point).tolist() == [index.keys[0][2], index.keys[0][0], -1]


def test_a_table_without_rows_finds_nothing() -> None:
    release = released(0)
    none = release.original.iloc[:0]
    assert RowIndex([none], release.schema, NAMES).find(release.avatars).max() == -1
    assert not RowIndex([release.avatars], release.schema, NAMES).find(none).size


def test_each_row_is_counted_with_its_likes() -> None:
    release = released(2)
    rows = as_tuples(release.original)
    (keys,) = row_keys([release.original], release.schema, NAMES)
    counts = np.bincount(keys)[keys].tolist()
    assert counts == [rows.count(row) for row in rows]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_a_person_holds_a_key_once(pairs: list[tuple[int, int]]) -> None:
    key, owner = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
    people_of = [len({one for other, one in pairs if other == place}) for place in range(6)]
    assert holders(key, owner, 6).tolist() == people_of


def shuffled_whole(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Put each column of a table in order and then in a random one, slowly."""
    columns = {}
    for name in sorted(table.columns):
        ordered = table[name].sort_values(kind="stable").reset_index(drop=True)
        columns[name] = ordered.iloc[rng.permutation(len(ordered))].reset_index(drop=True)
    return pd.DataFrame(columns)


def test_columns_are_shuffled_as_the_whole_table_is() -> None:
    release = released(3)
    rngs = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(2):
        mixed = shuffled_whole(release.avatars, rngs[0])
        table = ShuffledTable(release.avatars, release.schema, rngs[1])
        index = RowIndex([release.original], release.schema, NAMES, beside=[release.avatars])
        assert index.find(table).tolist() == index.find(mixed).tolist()
        assert index.find(table).max() >= 0
    assert rngs[0].random() == rngs[1].random()


def boxes_on(release: evalkit.Release, size: int, seed: int) -> Boxes:
    """Give boxes around cells of the originals, some of them wide."""
    rng = np.random.default_rng(seed)
    cells = next(pieces(release.original, release.schema, NAMES)).columns
    columns = np.sort(rng.permuted(np.tile(np.arange(3), (size, 1)), axis=1)[:, :2], axis=1)
    table = np.stack([kernel.words(cells[name], fractions=one) for name, one in KINDS.items()])
    low = table[columns, rng.integers(0, table.shape[1], (size, 1))]
    high = np.where(rng.random(low.shape) < 0.3, np.iinfo(np.int64).max, low)
    return Boxes(columns, low, high)


KINDS = {"age": False, "income": True, "town": False}


@given(cuts=st.lists(st.integers(1, 9), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_whose_rows_are_in_a_box_does_not_depend_on_cuts_or_order(
    cuts: list[int], seed: int
) -> None:
    release = released(seed, 40)
    owner, boxes = np.arange(40) // 2, boxes_on(release, 60, seed)
    whole = next(pieces(release.original, release.schema, NAMES, beside=owner))
    expected = ends_of_piece(whole, Asked(boxes, KINDS)).only
    rng = np.random.default_rng(seed)
    for rows in cuts:
        parts = pieces(release.original, release.schema, NAMES, beside=owner, rows=rows)
        states = [ends_of_piece(one, Asked(boxes, KINDS)) for one in parts]
        while len(states) > 1:
            first, second = (states.pop(rng.integers(len(states))) for _ in range(2))
            states.append(merged(first, second))
        assert states[0].only.tolist() == expected.tolist()
        owned = OwnedRows([release.original], [owner], release.schema, KINDS, rows)
        assert owned.only(boxes).tolist() == expected.tolist()
    cells = np.stack([kernel.words(whole.columns[name], fractions=KINDS[name]) for name in KINDS])
    assert SortedRows(cells.T, owner).only(boxes).tolist() == expected.tolist()


def large(release: evalkit.Release, rows: int = 7) -> LargeTables:
    persons = release.persons_of("working"), release.persons_of("reference")
    pool = release.working, release.reference
    return LargeTables(release.schema, release.working_avatars, pool, persons, rows)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [7, 1000])
def test_large_tables_land_where_slow_code_says(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    tables = [people(24, seed + k).assign(weight=rng.normal(70, 9, 24).round()) for k in range(3)]
    release = evalkit.load(*tables, numeric=[*NUMERIC, "weight"])
    found = large(release, rows).attack(np.random.default_rng(0))
    frames = release.avatars, release.original, release.holdout
    avatars, original, holdout = (as_tuples(frame, (*NAMES, "weight")) for frame in frames)
    for kind, predicates in (
        ("univariate", list(oracle.univariate(avatars, {0, 1, 3}))),
        ("multivariate", oracle.multivariate(avatars, {0, 1, 3}, 4)),
    ):
        kept, records = oracle.landed(predicates, avatars, original + holdout)
        assert (found[kind].tried, found[kind].kept) == (len(predicates), kept)
        assert sorted(found[kind].records.tolist()) == records
        assert records


def test_of_many_descriptions_some_are_drawn_and_none_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evalkit.quantities_predicates_large.MOST_TRIED", 40)
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc")) for _ in range(3)]
    tables_large = large(evalkit.load(*tables))
    boxes, is_kept = tables_large.univariate(np.random.default_rng(1))
    joined = tables_large.multivariate(np.random.default_rng(2))
    assert len(boxes.columns) == len(joined.columns) == 40
    assert is_kept.all()
    for one in (boxes, joined):
        rows = np.concatenate([one.columns, one.low, one.high], axis=1)
        assert len(np.unique(rows, axis=0)) == 40
    assert set(boxes.columns[:, 0].tolist()) == {0, 1, 2}


@pytest.fixture
def without_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singling_out_protection, "LARGEST_MATRIX", 500)


def wide(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return people(rows, seed).assign(
        weight=rng.normal(70, 9, rows).round(1), size=rng.normal(170, 9, rows).round()
    )


@pytest.mark.usefixtures("without_matrix")
def test_large_tables_score_as_small_ones_do() -> None:
    original, holdout = wide(400, 1), wide(200, 2)
    copied = evalkit.measure("singling_out_protection", original, original, holdout)
    assert copied.score == copied.facts["self_score"] == 0
    assert copied.facts["anchor_avatars"] + copied.facts["anchor_pool"] <= 500
    strangers = evalkit.measure("singling_out_protection", original, wide(400, 3), holdout)
    low, high = strangers.facts["excess_interval"]
    assert low <= 0 <= high


@pytest.mark.usefixtures("without_matrix")
def test_order_and_units_of_large_tables_never_matter() -> None:
    tables = wide(400, 1), wide(400, 1).iloc[:300], wide(200, 2)
    first = evalkit.measure("singling_out_protection", *tables)
    mixed = [table.sample(frac=1, random_state=0)[table.columns[::-1]] for table in tables]
    other = evalkit.measure(
        "singling_out_protection", *(table.assign(weight=table["weight"] * 2) for table in mixed)
    )
    assert first.facts == other.facts


def test_samples_of_shuffled_columns_hold_each_cell_once() -> None:
    release = released(3)
    rng = np.random.default_rng(0)
    whole = shuffled_samples(release.avatars, release.schema, NAMES, rng, (2, 60))
    few = shuffled_samples(release.avatars, release.schema, NAMES, rng, (1, 10))
    for table in whole:
        for name in NAMES:
            cells = sorted(map(str, table[name]))
            assert cells == sorted(map(str, release.avatars[name]))
    assert [len(table) for table in few] == [10]
    assert not whole[0].equals(whole[1])


@pytest.mark.usefixtures("without_matrix")
def test_large_tables_that_hold_one_value_are_too_weak_to_tell() -> None:
    tables = [pd.DataFrame({"town": ["Aix"] * 300, "age": [40] * 300}) for _ in range(3)]
    result = evalkit.measure("singling_out_protection", *tables)
    assert result.reason.code == "singling_out_too_weak"


def test_records_of_one_person_are_one_in_large_tables_too() -> None:
    tables = [wide(60, seed).assign(who=np.arange(60) // 3) for seed in range(3)]
    release = evalkit.load(*tables, individual="who")
    persons = release.persons_of("working"), release.persons_of("reference")
    frames = release.working_avatars, release.working, release.reference
    assert not persons[0].are_rows
    small = matrix_tables(release.schema, frames, persons).attack(np.random.default_rng(0))
    found = large(release).attack(np.random.default_rng(0))
    for kind, bets in small.items():
        assert (found[kind].tried, found[kind].kept) == (bets.tried, bets.kept)
        assert sorted(found[kind].records.tolist()) == sorted(bets.records.tolist())
        assert bets.records.size
