"""Distributions, rules and persons of large tables: any pieces in any order count alike."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.rendering import page_text, people

import evalkit
from evalkit import quantities_order
from evalkit.distributions import distribution_records
from evalkit.engine import Limits, working_on
from evalkit.metrics import rule_consistency
from evalkit.persons import Persons, numbered
from evalkit.quantities_distributions import counts_of_piece
from evalkit.quantities_order import some_of
from evalkit.quantities_pieces import pieces
from evalkit.quantities_tables import table_pieces
from evalkit.rules import apply_rule, checked_rule, merged_kept

RULES = ["start <= end", "end is missing or end < 9", "size in ['s', 'm'] -> start > 2"]
ENDS = st.lists(st.integers(0, 90), max_size=5)


def release() -> evalkit.Release:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "start": rng.integers(0, 9, 90),
            "end": np.where(rng.random(90) < 0.2, np.nan, rng.integers(0, 12, 90)),
            "size": rng.choice(["s", "m", "l", None], 90),
        }
    )
    columns = {"size": {"type": "categorical"}}
    return evalkit.load(table, table, schema={"columns": columns, "rules": RULES})


@settings(max_examples=25, deadline=None)
@given(ends=ENDS, order=st.randoms(use_true_random=False))
def test_bins_hold_as_many_for_any_pieces_in_any_order(ends: list[int], order: object) -> None:
    loaded = release()
    worth = Persons(np.arange(90) % 30, 30).weights
    for name, edges, size in (("end", np.array([2.0, 5.0]), 3), ("size", None, 3)):
        parts = []
        for start, stop in zip([0, *sorted(ends)], [*sorted(ends), 90], strict=True):
            frame = loaded.original.iloc[start:stop]
            parts += pieces(frame, loaded.schema, [name], beside=worth[start:stop])
        order.shuffle(parts)  # type: ignore[attr-defined]
        (whole,) = pieces(loaded.original, loaded.schema, [name], beside=worth)
        found = reduce(np.add, [counts_of_piece(piece, (name, edges, size)) for piece in parts])
        expected = counts_of_piece(whole, (name, edges, size))
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(ends=ENDS, order=st.randoms(use_true_random=False), by_person=st.booleans())
def test_a_rule_is_kept_as_often_for_any_pieces_in_any_order(
    ends: list[int], order: object, by_person: bool
) -> None:
    loaded = release()
    person = np.arange(90) % 40 if by_person else None
    for rule in loaded.rules:
        tree = checked_rule(rule, loaded.schema)
        parts = []
        for start, stop in zip([0, *sorted(ends)], [*sorted(ends), 90], strict=True):
            owner = None if person is None else person[start:stop]
            frame = loaded.original.iloc[start:stop]
            parts += table_pieces(frame, list(frame.columns), owner)
        order.shuffle(parts)  # type: ignore[attr-defined]
        found = [rule_consistency.kept_of_piece(one, (tree, loaded.schema)) for one in parts]
        expected = apply_rule(tree, loaded.original, loaded.schema, person)
        assert merged_kept(found) == expected


def test_records_are_the_same_however_long_a_piece_is(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [people(400, seed).assign(person=np.arange(400) // 2) for seed in (1, 2)]
    loaded = evalkit.load(*tables, individual="person", row_link=True)
    expected = distribution_records(loaded, 11)
    monkeypatch.setattr(pieces, "__defaults__", (None, 37))
    assert distribution_records(loaded, 11) == expected


def test_rules_are_kept_as_often_however_long_a_piece_is(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = evalkit.assess(release(), metrics=["rule_consistency"]).results["rule_consistency"]
    monkeypatch.setattr(table_pieces, "__defaults__", (None, 13))
    found = evalkit.assess(release(), metrics=["rule_consistency"]).results["rule_consistency"]
    assert (found.score, found.facts) == (expected.score, expected.facts)


def test_many_avatars_are_not_all_shuffled_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = evalkit.assess(release(), metrics=["rule_consistency"]).results["rule_consistency"]
    monkeypatch.setattr(rule_consistency, "FLOOR_ROWS", 60)
    some = evalkit.assess(release(), metrics=["rule_consistency"]).results["rule_consistency"]
    assert some.score == whole.score
    assert some.facts["floor_rows"] == 60
    assert "floor_rows" not in whole.facts
    assert some.facts["floor_score"] == pytest.approx(whole.facts["floor_score"], abs=8)
    assert "60 of them" in page_text("rule_consistency", some)
    assert "were shuffled" not in page_text("rule_consistency", whole)


def test_nothing_is_drawn_where_nothing_may_be_sampled() -> None:
    order, rng = np.arange(50), np.random.default_rng(0)
    assert len(some_of(order, 10, rng)) == 10
    with working_on(limits=Limits(exact=True)):
        assert some_of(order, 10, rng) is order


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), min_size=1, max_size=40))
def test_persons_are_numbered_by_their_rows_as_words_in_a_dictionary(
    rows: list[tuple[int, int]],
) -> None:
    keys, content = np.array(rows).T
    found = numbered(keys, content)
    written = {key: tuple(sorted(content[keys == key].tolist())) for key in set(keys.tolist())}
    places = {key: found.code[keys == key][0] for key in written}
    assert sorted(places.values()) == list(range(found.count))
    for key, place in places.items():
        for other, later in places.items():
            assert place >= later or written[key] <= written[other]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_a_part_of_persons_is_numbered_in_the_same_order(codes: list[int], rng: object) -> None:
    code = np.unique(codes, return_inverse=True)[1]
    persons = Persons(code, int(code.max()) + 1)
    rows = np.array([rng.random() < 0.5 for _ in codes])  # type: ignore[attr-defined]
    kept, expected = np.unique(code[rows], return_inverse=True)
    for some in (rows, np.flatnonzero(rows)):
        part = persons.part(some)
        assert (part.code.tolist(), part.count) == (expected.tolist(), len(kept))
    assert persons.count_of(rows) == len(kept)


@pytest.mark.parametrize("kind", ["linear", "groups"])
def test_an_analysis_of_large_tables_looks_at_a_sample_and_says_so(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    formula = {"linear": "weight ~ age + smoker", "groups": "weight by smoker"}[kind]
    analyses = [{"kind": kind, "formula": formula}]
    tables = [people(rows, seed) for rows, seed in ((900, 1), (800, 2), (300, 3))]
    loaded = evalkit.load(*tables)

    def analysed(one: evalkit.Release, **options: bool) -> evalkit.records.AnalysisRecord:
        found = evalkit.assess(one, metrics=["missingness"], analyses=analyses, **options).analyses
        return found[0]

    whole = analysed(loaded)
    monkeypatch.setattr(quantities_order, "MOST_ANALYSED", 400)
    some = analysed(loaded)
    mixed = [one.sample(frac=1.0, random_state=4) for one in tables]
    assert analysed(evalkit.load(*mixed)) == some
    assert (whole.rows["original"], some.rows) == (
        900,
        {"original": 400, "avatars": 400, "holdout": 300},
    )
    assert "analysis_sampled" in {note.code for note in some.warnings}
    assert "analysis_sampled" not in {note.code for note in whole.warnings}
    assert some.terms[0].original.value == pytest.approx(whole.terms[0].original.value, abs=4)
    assert analysed(loaded, exact=True) == whole
