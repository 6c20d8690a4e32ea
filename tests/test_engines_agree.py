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
FOR_LARGE_TABLES = {"coverage", "mutual_information_ratio"}
"""Measures that let an engine work on large tables only; the others show it on a small one."""
SLOW = {"hidden_rate"}
"""Measures that are compared on the small table alone: they share their search with another."""
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
            "income": np.round(np.exp(rng.normal(7 + age / 100 + sex / 5, 0.6)), 2),
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


def release(rows: int) -> Release:
    return evalkit.load(*tables(rows), row_link=True)


def content(found: Assessment) -> dict[str, Any]:
    """Return what an assessment holds but for the time and the name of the engine."""
    plain: dict[str, Any] = json.loads(found.json())
    plain["options"].pop("engine")
    return plain


@pytest.fixture(autouse=True, scope="module")
def _no_clock() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "0")
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


@pytest.fixture(scope="module")
def small() -> tuple[Counting, dict[str, Any]]:
    """Assess a small table by all measures, here."""
    counting = Counting()
    found = evalkit.assess(release(FEW_ROWS), SCENARIO, engine=counting, progress=counting.listen)
    return counting, content(found)


@pytest.fixture(scope="module")
def in_pieces(small: tuple[Counting, dict[str, Any]]) -> list[str]:
    """Name the measures that let an engine work, as they themselves show."""
    counting, _ = small
    slugs = {one.slug for one in evalkit.metrics.all()}
    return sorted((slugs & counting.asked.keys() | FOR_LARGE_TABLES) - SLOW)


def test_all_measures_agree_on_a_small_table(
    engine: DaskEngine, small: tuple[Counting, dict[str, Any]]
) -> None:
    found = evalkit.assess(release(FEW_ROWS), SCENARIO, engine=engine)
    assert found.options["engine"] == "dask"
    assert content(found) == small[1]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write the large tables as files."""
    folder = tmp_path_factory.mktemp("tables")
    paths = [str(folder / f"{name}.csv") for name in ("original", "avatars", "holdout")]
    for table, path in zip(tables(ROWS), paths, strict=True):
        table.to_csv(path, index=False)
    return paths


@pytest.fixture(scope="module")
def large(files: list[str], in_pieces: list[str]) -> dict[str, Any]:
    """Assess the large tables here and in memory."""
    loaded, counting = evalkit.load(*files, row_link=True), Counting()
    assert not is_on_disk(loaded.original["income"].to_numpy())
    found = evalkit.assess(
        loaded, SCENARIO, metrics=in_pieces, engine=counting, progress=counting.listen
    )
    assert counting.asked.keys() >= FOR_LARGE_TABLES
    assert found.options["engine"] == "local"
    assert found.options["exact"] is False
    return content(found)


def on_disk(files: list[str]) -> Release:
    """Read the large tables anew, as those that memory does not hold."""
    loaded = evalkit.load(*files, row_link=True, memory=1)
    assert is_on_disk(loaded.original["income"].to_numpy())
    return loaded


def test_large_tables_on_disk_agree(
    files: list[str], in_pieces: list[str], large: dict[str, Any]
) -> None:
    assert content(evalkit.assess(on_disk(files), SCENARIO, metrics=in_pieces)) == large


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
    engine: DaskEngine, files: list[str], in_pieces: list[str], large: dict[str, Any]
) -> None:
    loaded = on_disk(files)
    assert engine._client is not None
    before = set(engine._client.run(os.getpid).values())
    slugs = ["closest_to_training_share", "replicated_uniques"]
    found = evalkit.assess(
        loaded, SCENARIO, metrics=in_pieces, engine=engine, progress=killer(engine, slugs)
    )
    assert before - set(engine._client.run(os.getpid).values()), "no worker was killed"
    assert content(found) == large


def test_an_engine_that_was_given_stays_open(engine: DaskEngine) -> None:
    with choosing.make_engine(engine) as same:
        assert same is engine
    assert list(engine.states(divmod, [7], 2)) == [(3, 1)]
