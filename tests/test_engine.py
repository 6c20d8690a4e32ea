"""Where work runs and what it may cost: said at every door, and recorded."""

from __future__ import annotations

from operator import length_hint
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pandas as pd
import pytest

import evalkit
from evalkit import cli, quantities_two_searches, steps
from evalkit.assessment import assess
from evalkit.engine import (
    LARGEST_SEARCH,
    Announced,
    Limits,
    LocalEngine,
    dashboard_words,
    fold,
    gather,
    limits,
    memory_bytes,
    working_on,
)
from evalkit.quantities import remembered
from evalkit.quantities_pieces import pieces
from evalkit.quantities_searching import Search
from evalkit.quantities_tables import table_pieces
from evalkit.running import parameters
from evalkit.schema import Schema, Variable
from evalkit.verifying.checks import SAME
from evalkit.verifying.results import result_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import Any

TABLE = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "size": [1, 3, 2, 4, 5] * 4})


def test_the_place_of_a_block_is_over_with_it() -> None:
    with working_on(limits=Limits(exact=True)):
        assert limits().exact
        with working_on():
            assert not limits().exact
        assert limits().exact
    assert limits() == Limits()


def test_what_may_not_be_sampled_is_not() -> None:
    assert Limits().queries(10**6, 10**6) == 10**6
    assert Limits().queries(10**7, 10**6) == LARGEST_SEARCH // 10**6
    assert Limits(exact=True).queries(10**7, 10**6) == 10**7


def test_what_was_sampled_is_not_kept_for_a_run_that_may_sample_nothing() -> None:
    release = evalkit.load(TABLE, TABLE)
    assert remembered(release, "sample", lambda: 100) == 100
    with working_on(limits=Limits(exact=True)):
        assert remembered(release, "sample", lambda: 1000) == 1000
    assert remembered(release, "sample", lambda: 0) == 100


@pytest.mark.parametrize(
    ("text", "amount"),
    [("4GB", 4 * 2**30), ("1,5 g", 3 * 2**29), ("512 MiB", 2**29), (2**30, 2**30), (None, None)],
)
def test_an_amount_of_memory_is_read(text: str | int | None, amount: int | None) -> None:
    assert memory_bytes(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        "much",
        "4XB",
        "-1GB",
        "100MB",
        True,
        1.5,
        "4GB 2",
        "",
        " ",
        "\u0664GB",
        "4\u212aB",
        "9" * 5000,
    ],
)
def test_what_is_no_amount_of_memory_is_one_line(text: object) -> None:
    with pytest.raises(evalkit.InputError, match=r"^memory: [^\n]*$"):
        memory_bytes(text)


def test_exact_and_engine_are_recorded_and_memory_is_not() -> None:
    release = parameters.open_release(memory="2GB")
    scenarios = parameters.scenarios()
    found = parameters.assess(release, scenarios, metrics=["hellinger"], exact=True)
    assert (found.options["engine"], found.options["exact"]) == ("local", True)
    assert "memory" not in found.options
    usual = evalkit.assess(release, metrics=["hellinger"])
    assert usual.options["exact"] is False


@pytest.mark.parametrize("given", [{"engine": "spark"}, {"engine": 3}, {"exact": "yes"}])
def test_another_place_is_refused_in_python(given: dict[str, Any]) -> None:
    release = evalkit.load(TABLE, TABLE)
    with pytest.raises(evalkit.InputError, match=r"^(engine|exact): [^\n]*$"):
        evalkit.assess(release, metrics=["hellinger"], **given)
    with pytest.raises(evalkit.InputError, match=r"^(engine|exact): [^\n]*$"):
        evalkit.measure("hellinger", TABLE, TABLE, **given)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--engine=spark", "engine: use local, dask"),
        ("--memory=some", "memory: give an amount"),
        ("--memory=", "memory: give an amount"),
        ("--engine=", "engine: use local, dask"),
    ],
)
def test_another_place_is_one_line_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, words: str
) -> None:
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for path in paths:
        TABLE.to_csv(path, index=False)
    assert cli.main(["assess", *paths, "-o", str(tmp_path / "out"), option]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert words in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("recorded", "exact"), [({"exact": True}, True), ({}, False)])
def test_a_report_is_verified_here_as_exactly_as_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: dict[str, Any], *, exact: bool
) -> None:
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("original", "avatars")}
    for path in paths.values():
        TABLE.assign(size=TABLE["size"] + len(path) % 2).to_csv(path, index=False)
    found = evalkit.assess(evalkit.load(**paths), metrics=["hellinger"])
    options = {name: found.options[name] for name in found.options.keys() - {"engine", "exact"}}
    old = msgspec.structs.replace(found, options=options | recorded)
    asked: list[dict[str, Any]] = []

    def spy(*given: Any, **options: Any) -> Any:
        asked.append(options)
        return assess(*given, **options)

    monkeypatch.setattr("evalkit.assessment.assess", spy)
    assert {one.outcome for one in result_checks(old, paths)} == {SAME}
    assert asked[0]["exact"] is exact
    assert "engine" not in asked[0]


class _Watched(LocalEngine):
    """Has a dashboard."""

    dashboard = "http://127.0.0.1:1/status"


def test_the_address_of_the_dashboard_is_told_once() -> None:
    heard: list[str] = []
    evalkit.assess(
        evalkit.load(TABLE, TABLE),
        metrics=["hellinger"],
        engine=_Watched(),
        progress=lambda done, total, label: heard.append(label),  # noqa: ARG005 - as assess calls
    )
    assert heard == ["Dask dashboard at http://127.0.0.1:1/status", "hellinger", "done"]


class _Blind(LocalEngine):
    """A cluster without a dashboard."""

    name = "dask"


def test_a_cluster_without_a_dashboard_says_what_one_needs() -> None:
    assert dashboard_words(_Blind()) == (
        "Dask dashboard: none; it needs bokeh where the scheduler runs (pip install bokeh)."
    )
    assert dashboard_words(_Watched()) == "Dask dashboard at http://127.0.0.1:1/status"
    assert dashboard_words(LocalEngine()) == ""


def test_a_long_fold_says_how_many_pieces_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[float | str] = []
    monkeypatch.setattr(steps, "SECONDS_BETWEEN_COUNTS", 0.0)
    with steps.listening(heard.append):
        assert fold(lambda piece, _: piece, [1, 2, 3], lambda a, b: a + b) == 6
    assert heard == ["1 of 3 pieces", "2 of 3 pieces", "3 of 3 pieces"]
    heard.clear()
    with steps.listening(heard.append):
        assert fold(lambda piece, _: piece, (one for one in (1, 2)), lambda a, b: a + b) == 3
        assert gather(lambda piece, _: piece, Announced(iter([5]), 1)) == [5]
    assert heard == ["1 piece done", "2 pieces done", "1 of 1 piece"]


def test_pieces_of_tables_and_of_searches_say_how_many_they_are() -> None:
    table = pd.DataFrame({"age": [20, 30, 40]})
    schema = Schema((Variable("age", "numeric"),))
    search = Search(schema, [table], table, {"age": (20, 40)})
    cut = [
        pieces(table, schema, ["age"], rows=2),
        table_pieces(table, ["age"], rows=2),
        quantities_two_searches._pieces_of(search, [["age"]], np.arange(3), 2),
    ]
    assert [(length_hint(one), len(list(one))) for one in cut] == [(2, 2)] * 3


class _Reversed(LocalEngine):
    """Begins with the last piece."""

    def states(
        self, partial: Callable[[Any, Any], Any], pieces: Iterable[Any], shared: Any
    ) -> Iterator[Any]:
        """Yield the states in the order of the pieces all the same."""
        found = [partial(piece, shared) for piece in reversed(list(pieces))]
        return reversed(found)


def test_states_are_merged_in_the_order_of_the_pieces() -> None:
    with working_on(_Reversed()):
        joined = fold(lambda piece, shared: piece + shared, "abc", lambda a, b: a + b, "-")
    assert joined == "a-b-c-"
