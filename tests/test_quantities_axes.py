"""Principal axes against a singular value decomposition of the whole coded table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from test_contract import linked, people

import evalkit
from evalkit import quantities_axes
from evalkit.quantities_axes import coordinates, working_coordinates


def with_gaps(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    missing = rng.random((2, len(table))) < 0.1
    return table.assign(
        pressure=table["pressure"].mask(missing[0]), town=table["town"].mask(missing[1])
    )


def release(**options: object) -> evalkit.Release:
    original, holdout = with_gaps(people(90, 1), 2), people(40, 3)
    avatars = linked(original, 4).astype({"pressure": float})
    avatars.loc[0, "town"] = "Evian"  # a level that no original carries
    return evalkit.load(original, avatars, holdout, row_link=True, **options)  # type: ignore[arg-type]


def coded(original: pd.DataFrame, table: pd.DataFrame) -> np.ndarray:
    """Code a table from the formula of metrics.md 5, one column at a time."""
    parts = []
    for name in sorted(original.columns):
        cells, of_table = original[name], table[name]
        if isinstance(cells.dtype, pd.CategoricalDtype):
            for level in [*cells.cat.categories, None]:
                inside, there = (
                    side.isna() if level is None else side == level for side in (cells, of_table)
                )
                share = inside.mean()
                if share:
                    parts.append((there.astype(float) - share) / np.sqrt(share))
            continue
        scaled = (of_table - cells.mean()) / cells.std(ddof=0)
        parts.append(scaled.fillna(0.0))
        share = cells.isna().mean()
        if share:
            parts.append((of_table.isna().astype(float) - share) / np.sqrt(share))
    return np.column_stack(parts)


@pytest.mark.parametrize("axes", [1, 2, 5])
def test_the_axes_are_those_of_a_singular_value_decomposition(axes: int) -> None:
    one = release(axes=axes)
    found = coordinates(one)
    matrix = coded(one.original, one.original)
    _, sizes, turned = scipy.linalg.svd(matrix, full_matrices=False)
    signs = np.sign([row[np.argmax(np.abs(row))] for row in turned])
    loadings = (turned * signs[:, None])[:axes].T
    assert one.holdout is not None
    assert found.holdout is not None
    for table, points in (
        (one.original, found.original),
        (one.avatars, found.avatars),
        (one.holdout, found.holdout),
    ):
        np.testing.assert_allclose(points, coded(one.original, table) @ loadings, atol=1e-9)
    shares = (sizes**2 / (sizes**2).sum())[:axes]
    np.testing.assert_allclose(found.axes.variance_shares, shares, atol=1e-12)
    assert found.variance_share == pytest.approx(shares.sum())


def test_parts_of_the_table_add_up_to_the_same_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = coordinates(release())
    monkeypatch.setattr(quantities_axes, "BLOCK_CELLS", 50)
    parts = coordinates(release())
    np.testing.assert_allclose(parts.avatars, whole.avatars, atol=1e-9)


def test_axes_are_as_many_as_the_table_can_hold() -> None:
    table = pd.DataFrame({"a": range(30), "b": [0, 1] * 15, "constant": 3})
    found = coordinates(evalkit.load(table, table, axes=7))
    assert found.original.shape == (30, 2)
    assert found.variance_share == pytest.approx(1.0)
    assert found.holdout is None


def test_a_table_that_does_not_vary_lies_in_one_point() -> None:
    for table in (pd.DataFrame({"a": [3] * 30, "b": ["x"] * 30}), pd.DataFrame({"a": [3] * 30})):
        found = coordinates(evalkit.load(table, table))
        assert not found.original.any()
        assert found.variance_share == 0.0


def test_the_order_of_rows_and_columns_changes_no_axis() -> None:
    original, avatars = people(80, 5), people(80, 6)
    order = np.random.default_rng(7).permutation(80)
    shuffled = original.iloc[order][list(original.columns[::-1])]
    first = coordinates(evalkit.load(original, avatars))
    second = coordinates(evalkit.load(shuffled, avatars))
    assert (second.axes.loadings == first.axes.loadings).all()
    np.testing.assert_allclose(second.original, first.original[order], atol=1e-12)


def test_axes_are_found_once_for_a_release() -> None:
    one = release()
    assert coordinates(one) is coordinates(one)
    assert working_coordinates(one) is coordinates(one)


def test_without_a_holdout_the_working_axes_are_those_of_the_working_half() -> None:
    one = evalkit.load(people(80, 5), people(80, 6))
    found = working_coordinates(one)
    assert found.original.shape == (40, 5)
    assert found.holdout is not None
    assert found.holdout.shape == (40, 5)
    np.testing.assert_allclose(found.original.mean(axis=0), 0.0, atol=1e-9)


def test_numbers_of_any_size_can_be_projected() -> None:
    rng = np.random.default_rng(8)
    table = pd.DataFrame({"a": rng.random(40) * 1e300, "b": rng.random(40) * 1e-300})
    found = coordinates(evalkit.load(table, table))
    scaled = coordinates(evalkit.load(table * [1e-300, 1e300], table * [1e-300, 1e300]))
    np.testing.assert_allclose(found.original, scaled.original, atol=1e-9)


def test_an_avatar_far_out_of_all_sizes_stays_a_point() -> None:
    table = pd.DataFrame({"a": np.linspace(0, 1, 30), "b": np.linspace(1, 0, 30) ** 2})
    avatars = table.assign(a=[1e307, -1e307] * 15)
    assert np.isfinite(coordinates(evalkit.load(table, avatars)).avatars).all()
