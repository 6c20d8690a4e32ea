"""The same assessment.json on every engine, whatever dies on the way, on 200,000 rows."""

from __future__ import annotations

import json
import os
import signal
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit.engine import LocalEngine, choosing
from evalkit.engine.dask_engine import DaskEngine
from evalkit.reading.stores import is_on_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalkit.records import Assessment
    from evalkit.release import Release

ROWS = 200_000
FEW_ROWS = 600
SLUGS = tuple(one.slug for one in evalkit.metrics.all())
"""All measures there are: a new one takes part without being named."""
MODELS = {"distinguishability", "inference_accuracy_ratio", "predictive_ratio"}
"""Measures that fit models on a sample, in the process that was started."""
NOT_SPREAD = MODELS | {"column_direct_match_protection", "local_cloaking", "outlier_protection"}
"""Measures that ask an engine for nothing; every other one has to.

The first of these sorts one column at a time, the other two have what a measure before them found.
"""
SMALLER = {
    "evalkit.metrics.linkability_protection_rate.ANCHOR_ROWS": 10_000,
    "evalkit.metrics.multivariate_hellinger.DEALT_PEOPLE": 4_000,
    "evalkit.metrics.multivariate_hellinger.REDEALS": 20,
    "evalkit.metrics.predictive_ratio.MOST_ROWS": 2_000,
    "evalkit.quantities.PIECE_QUERIES": 2**16,
    "evalkit.quantities_apart.MOST_ROWS": 1_000,
    "evalkit.quantities_closeness.MOST_BETWEEN": 4_000,
    "evalkit.quantities_linked.LARGEST_SEARCH": ROWS * 3_000,
    "evalkit.quantities_models.MOST_ROWS": 1_000,
    "evalkit.quantities_predicates.MOST_TRIED": 2_000,
    "evalkit.quantities_predicates_large.MOST_TRIED": 2_000,
    "evalkit.quantities_real_people.MOST_ATTACKED": 4_000,
    "evalkit.quantities_searching.PIECE_QUERIES": 2**16,
    "evalkit.quantities_two_searches.PIECE_QUERIES": 2**16,
}
"""Sizes of samples and pieces: with smaller ones a large table takes the same ways, but sooner."""
RULES = {"rules": ["age >= 20", "weight > 45 or sex == 'f'"]}
SCENARIO = evalkit.Scenario(known=["age", "sex", "town", "weight"], sensitive="income")


def originals(rows: int, seed: int) -> pd.DataFrame:
    """Return people with numbers, categories and some missing cells."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, rows), rng.integers(0, 2, rows)
    town = rng.choice(12, rows, p=np.arange(12, 0, -1) / 78)
    weight = np.round(rng.normal(60 + 12 * sex, 9), 1)
    weight[rng.random(rows) < 0.02] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "income": np.round(np.exp(rng.normal(7 + age / 100 + sex / 5, 0.3)), 2),
            "weight": weight,
            "town": np.array(list("abcdefghijkl"))[town],
            "sex": np.array(["f", "m"])[sex],
            "job": np.array(list("uvwxy"))[(town + rng.integers(0, 3, rows)) % 5],
        }
    )


def avatars(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table like another, number by number and level by level."""
    rng = np.random.default_rng(4)
    made = table.copy()
    made["age"] = np.clip(table["age"] + rng.integers(-4, 5, len(table)), 18, 89)
    made["income"] = np.round(table["income"] * rng.uniform(0.8, 1.2, len(table)), 2)
    made["weight"] = np.round(table["weight"] + rng.normal(0, 2, len(table)), 1)
    for name in ("town", "job"):
        changed = rng.random(len(table)) < 0.2
        made.loc[changed, name] = rng.permutation(table[name].to_numpy())[changed]
    return made


def tables(rows: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    table = originals(rows, 1)
    return table, avatars(table), originals(rows * 3 // 10, 3)


def release(rows: int, individual: str | None) -> Release:
    """Return small tables; with a personal key people have one to three rows each."""
    made = tables(rows)
    if individual:
        for table in made[:1] + made[2:]:
            table[individual] = np.repeat(np.arange(len(table)), 1 + np.arange(len(table)) % 3)[
                : len(table)
            ]
    return evalkit.load(*made, row_link=True, schema=RULES, individual=individual)


def content(found: Assessment, engine: str) -> str:
    """Return assessment.json without what may differ: the times and the name of the engine."""
    plain: dict[str, Any] = json.loads(found.json())
    assert plain["options"].pop("engine") == engine
    assert plain.pop("created")
    for one in plain["results"].values():
        assert one.pop("seconds") is not None
    return json.dumps(plain, indent=1)


@pytest.fixture(autouse=True, scope="module")
def _smaller() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SMALLER.items():
            patch.setattr(name, value)
        yield


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    """Start a cluster of two worker processes."""
    with DaskEngine(workers=2) as opened:
        yield opened


class Counting(LocalEngine):
    """Works here, and counts for each measure how often it was asked to."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.label = ""

    def listen(self, done: int, total: int, label: str) -> None:  # noqa: ARG002 - as assess calls
        """Note which measure is at work."""
        self.label = label.partition(",")[0]

    def states(self, partial: Any, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        """Count, and work."""
        self.asked[self.label] = self.asked.get(self.label, 0) + 1
        return super().states(partial, pieces, shared)


@pytest.mark.parametrize("individual", [None, "person"])
def test_all_measures_agree_on_a_small_table(engine: DaskEngine, individual: str | None) -> None:
    slugs = [slug for slug in SLUGS if not individual or slug not in MODELS]
    here, there = (
        evalkit.assess(release(FEW_ROWS, individual), SCENARIO, metrics=slugs, engine=one)
        for one in ("local", engine)
    )
    assert content(here, "local") == content(there, "dask")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write the large tables as files."""
    folder = tmp_path_factory.mktemp("tables")
    paths = [str(folder / f"{name}.csv") for name in ("original", "avatars", "holdout")]
    for table, path in zip(tables(ROWS), paths, strict=True):
        table.to_csv(path, index=False)
    return paths


@pytest.fixture(scope="module")
def large(files: list[str]) -> str:
    """Assess the large tables here and in memory."""
    loaded, counting = evalkit.load(*files, row_link=True, schema=RULES), Counting()
    assert not is_on_disk(loaded.original["income"].to_numpy())
    found = evalkit.assess(
        loaded, SCENARIO, metrics=SLUGS, engine=counting, progress=counting.listen
    )
    assert found.options["exact"] is False
    assert {one.status for one in found.results.values()} == {"measured"}
    assert set(SLUGS) - counting.asked.keys() == NOT_SPREAD
    return content(found, "local")


def on_disk(files: list[str]) -> Release:
    """Read the large tables anew, as those that memory does not hold."""
    loaded = evalkit.load(*files, row_link=True, schema=RULES, memory=1)
    assert is_on_disk(loaded.original["income"].to_numpy())
    return loaded


def test_large_tables_on_disk_agree(files: list[str], large: str) -> None:
    found = evalkit.assess(on_disk(files), SCENARIO, metrics=SLUGS)
    assert content(found, "local") == large


def killer(engine: DaskEngine, slugs: list[str]) -> Callable[[int, int, str], None]:
    """Return what kills a worker soon after each of some measures began."""
    waiting = list(slugs)

    def listen(done: int, total: int, label: str) -> None:  # noqa: ARG001 - as assess calls
        if label in waiting:
            waiting.remove(label)
            assert engine._client is not None
            pid = next(iter(engine._client.run(os.getpid).values()))
            threading.Timer(0.1, partial(os.kill, pid, signal.SIGKILL)).start()

    return listen


def test_large_tables_agree_though_workers_are_killed(
    engine: DaskEngine, files: list[str], large: str
) -> None:
    loaded = on_disk(files)
    assert engine._client is not None
    before = set(engine._client.run(os.getpid).values())
    slugs = ["closest_to_training_share", "replicated_uniques"]
    found = evalkit.assess(
        loaded, SCENARIO, metrics=SLUGS, engine=engine, progress=killer(engine, slugs)
    )
    assert before - set(engine._client.run(os.getpid).values()), "no worker was killed"
    assert content(found, "dask") == large


def test_an_engine_that_was_given_stays_open(engine: DaskEngine) -> None:
    with choosing.make_engine(engine) as same:
        assert same is engine
    assert list(engine.states(divmod, [7], 2)) == [(3, 1)]
