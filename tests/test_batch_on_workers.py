"""A batch spread over the workers of a cluster: same reports, same summary, same reasons."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from test_contract import people

from evalkit import cli
from evalkit.batch import Job, elsewhere, run_all, running
from evalkit.batch.elsewhere import Made, Order, assess_there
from evalkit.engine import LocalEngine
from evalkit.engine.dask_engine import DaskEngine
from evalkit.errors import InputError
from evalkit.records import Assessment
from evalkit.running.kernel_process import import_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

METRICS = ["hellinger"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Write tables; give the options of an assessment of them."""
    folder = tmp_path_factory.mktemp("tables")
    names = ("original", "avatars", "holdout")
    for number, name in enumerate(names):
        people(60, number).to_csv(folder / f"{name}.csv", index=False)
    paths = {name: str(folder / f"{name}.csv") for name in names}
    return {**paths, "metrics": METRICS, "formats": ["html"]}


@pytest.fixture(scope="module")
def made(tables: dict[str, Any]) -> Made:
    """Make one assessment as a worker does."""
    return assess_there(Order("k5", tables))


def test_a_worker_gives_back_the_files_of_the_report(made: Made) -> None:
    assert (made.code, set(made.files)) == (0, {"assessment.json", "technical_assessment.html"})


def test_a_worker_leaves_nothing_of_a_bad_input_but_its_reason() -> None:
    found = assess_there(Order("k5", {"original": "/gone.csv", "avatars": "/gone.csv"}))
    assert (found.code, found.files) == (2, {})
    assert found.said.startswith("evalkit: gone.csv: cannot be read")


def test_an_assessment_ends_when_its_worker_does() -> None:
    boot = elsewhere._BOOT.format(path=import_path()).replace(
        "from evalkit.start import main", "import time; print('began', flush=True); time.sleep(60)"
    )
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-I", "-c", boot], **streams) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        process.stdin.close()
        assert process.wait(timeout=50) != 0


class _Engine(LocalEngine):
    """Works here, and fails as a cluster does."""

    def __init__(self, failing: str = "", *, lost: bool = False) -> None:
        self.failing, self.lost = failing, lost

    def states(self, partial: Any, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        for one in pieces:
            if one.name == self.failing:
                raise InputError("engine: lost.")
            yield partial(one, shared)


@pytest.fixture
def asked(made: Made, monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    """Let every order be answered with the same files; give the list of orders."""
    orders: list[Order] = []

    def answer(order: Order, _: object) -> Made:
        orders.append(order)
        return made if order.name != "bad" else Made(2, "evalkit: a.csv: is empty")

    monkeypatch.setattr(running, "assess_there", answer)
    return orders


def test_reports_are_written_here_and_kept_the_next_time(
    tables: dict[str, Any], asked: list[Order], tmp_path: Path
) -> None:
    jobs = [Job(name, tables) for name in ("k5", "bad", "k20")]
    for outcome, orders in (("made", ["k5", "bad", "k20"]), ("unchanged", ["bad"])):
        asked.clear()
        told: list[str] = []
        done = run_all(jobs, tmp_path, engine=_Engine(), tell=told.append)
        assert [one.outcome for one in done] == [outcome, "failed", outcome]
        assert [one.name for one in asked] == orders
        assert any(line.endswith("bad failed: a.csv: is empty") for line in told)
    found = Assessment.read(tmp_path / "k20" / "assessment.json")
    assert found.options["metrics"] == METRICS
    assert not (tmp_path / "bad").exists()


def test_one_that_no_worker_survives_does_not_stop_the_others(
    tables: dict[str, Any], asked: list[Order], tmp_path: Path
) -> None:
    jobs = [Job(name, tables) for name in ("k5", "heavy", "k20")]
    done = run_all(jobs, tmp_path, engine=_Engine("heavy"))
    assert [one.outcome for one in done] == ["made", "failed", "made"]
    assert done[1].reason == "engine: lost."
    assert [one.name for one in asked] == ["k5", "k20"]


def test_a_cluster_that_is_lost_ends_the_batch_and_keeps_what_is_made(
    tables: dict[str, Any], asked: list[Order], tmp_path: Path
) -> None:
    jobs = [Job(name, tables) for name in ("k5", "k20", "k50")]
    with pytest.raises(InputError, match="lost"):
        run_all(jobs, tmp_path, engine=_Engine("k20", lost=True))
    assert [one.name for one in asked] == ["k5"]
    assert [path.name for path in tmp_path.iterdir()] == ["k5"]


def test_nobody_works_for_a_folder_that_cannot_take_the_report(
    tables: dict[str, Any], asked: list[Order], tmp_path: Path
) -> None:
    (tmp_path / "k5").mkdir()
    (tmp_path / "k5" / "assessment.json").write_text("mine")
    (done,) = run_all([Job("k5", tables)], tmp_path, engine=_Engine())
    assert done.outcome == "failed"
    assert asked == []
    assert (tmp_path / "k5" / "assessment.json").read_text() == "mine"


def test_a_worker_of_dask_says_why_an_assessment_failed(tmp_path: Path) -> None:
    jobs = [Job("a", {"original": "gone.csv", "avatars": "gone.csv"})]
    with DaskEngine(workers=1) as engine:
        (done,) = run_all(jobs, tmp_path, engine=engine)
    assert done.outcome == "failed"
    assert done.reason.startswith("gone.csv: cannot be read")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "spark"], "use local, dask"),
        (["--engine", "dask", "--jobs", "2"], "--jobs is for this machine alone"),
    ],
)
def test_what_a_batch_cannot_do_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert cli.main(["batch", "list.yaml", "-o", str(tmp_path / "out"), *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
