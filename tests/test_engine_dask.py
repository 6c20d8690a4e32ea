"""The Dask engine: the same states as in this process, whatever dies on the way."""

from __future__ import annotations

import json
import operator
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import distributed
import numpy as np
import pytest
from reference import engine_partials

from evalkit.engine import (
    choosing,
    dask_cluster,
    dask_engine,
    fold,
    gather,
    make_engine,
    working_on,
)
from evalkit.engine.dask_cluster import full_address
from evalkit.engine.dask_engine import MOST_TRIES, PIECES_A_WORKER, DaskEngine
from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
TABLE = np.random.default_rng(0).normal(size=1000)


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    """Start a cluster of two worker processes."""
    with DaskEngine(workers=2) as opened:
        yield opened


def cuts(seed: int) -> list[np.ndarray[Any, Any]]:
    """Return some numbers in pieces of any size, empty ones too."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=rng.integers(1, 5000)) * 10.0 ** rng.integers(-3, 9)
    return np.split(numbers, np.sort(rng.integers(0, len(numbers) + 1, rng.integers(0, 30))))


@pytest.mark.parametrize("seed", range(8))
def test_a_fold_on_workers_gives_the_same_bits_as_here(engine: DaskEngine, seed: int) -> None:
    here = fold(engine_partials.moments, cuts(seed), operator.add, 0.1)
    with working_on(engine):
        there = fold(engine_partials.moments, iter(cuts(seed)), operator.add, 0.1)
    assert there.tobytes() == here.tobytes()


def test_states_come_in_the_order_of_the_pieces(engine: DaskEngine) -> None:
    places = np.array_split(np.arange(1000), 37)
    with working_on(engine):
        found = gather(engine_partials.looked_up, iter(places), TABLE)
    assert np.concatenate(found).tobytes() == TABLE.tobytes()


def test_workers_leave_nothing_in_the_folder_of_everybody(engine: DaskEngine) -> None:
    assert engine._client is not None
    folders = set(engine._client.run(tempfile.gettempdir).values())
    assert not folders & {tempfile.gettempdir()}
    assert {Path(one).parent for one in folders} == {Path(tempfile.gettempdir())}


def test_nothing_shared_is_none(engine: DaskEngine) -> None:
    with working_on(engine):
        (found,) = gather(engine_partials.moments, [np.ones(3)])
    assert found.tolist() == [3.0, 3.0, 3.0]


def test_few_pieces_are_in_memory_at_once(engine: DaskEngine) -> None:
    taken = 0

    def pieces() -> Iterator[np.ndarray[Any, Any]]:
        nonlocal taken
        for _ in range(50):
            taken += 1
            yield np.ones(2)

    for done, _ in enumerate(engine.states(engine_partials.moments, pieces(), None)):
        assert taken <= done + 2 * PIECES_A_WORKER
    assert taken == 50


def test_what_a_partial_raises_comes_out_as_it_is(engine: DaskEngine) -> None:
    with working_on(engine), pytest.raises(InputError, match=r"^original: piece 3 is refused\.$"):
        gather(engine_partials.refusing, range(10), 3)
    with working_on(engine), pytest.raises(ZeroDivisionError):
        gather(divmod, [1], 0)


@pytest.mark.parametrize("killed", [(5,), (2, 9)])
def test_a_worker_that_is_killed_changes_nothing(
    engine: DaskEngine, tmp_path: Path, killed: tuple[int, ...]
) -> None:
    pieces = [(place, str(tmp_path / str(place)) if place in killed else "") for place in range(20)]
    with working_on(engine):
        found = gather(engine_partials.ending_once, iter(pieces), TABLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(str(one) for one in killed)
    assert found == TABLE[:20].tolist()


def test_what_died_with_the_only_worker_is_sent_again(tmp_path: Path) -> None:
    pieces = [(place, str(tmp_path / str(place)) if place == 1 else "") for place in range(5)]
    with DaskEngine(workers=1) as alone, working_on(alone):
        found = gather(engine_partials.ending_once, iter(pieces), TABLE)
    assert found == TABLE[:5].tolist()


@pytest.mark.parametrize("deadly", [1, 2])
def test_a_worker_may_die_while_the_common_table_is_sent(tmp_path: Path, deadly: int) -> None:
    """The first copy goes to one worker, the second from there to the other."""
    table = engine_partials.Deadly(str(tmp_path), deadly)
    with DaskEngine(workers=2) as pair, working_on(pair):
        for _ in range(2):
            assert gather(engine_partials.known, range(9), table) == list(range(9))
    assert len(list(tmp_path.iterdir())) > deadly


# A scheduler somewhere else


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and a worker as an administrator would; give address and processes."""
    path = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    environment = os.environ | {"PYTHONPATH": path, "TMPDIR": str(tmp_path)}
    started: list[subprocess.Popen[bytes]] = []

    def begin(what: str, *arguments: str) -> None:
        module = f"distributed.cli.dask_{what}"
        command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(command, cwd=tmp_path, env=environment, **silent))

    file = tmp_path / "scheduler.json"
    # A process of a scheduler listens on the machine itself only.
    here = ("--host", "127.0.0.1", "--no-dashboard")
    one = ("--nworkers", "1", "--nthreads", "1", "--local-directory", str(tmp_path))
    begin("scheduler", *here, "--port", "0", "--scheduler-file", str(file))
    begin("worker", *here, *one, "--scheduler-file", str(file))
    while not (file.exists() and b'"address"' in file.read_bytes()):
        assert started[0].poll() is None
        time.sleep(0.05)
    yield json.loads(file.read_text())["address"], started
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_cluster_that_is_there_works_and_outlives_us(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]],
) -> None:
    address, processes = scheduler
    for _ in range(2):
        with make_engine(f"dask://{address.removeprefix('tcp://')}") as there, working_on(there):
            found = gather(engine_partials.looked_up, [np.arange(5)], TABLE)
        assert found[0].tolist() == TABLE[:5].tolist()
    assert [one.poll() for one in processes] == [None, None]


def test_a_scheduler_that_dies_gives_one_line(
    scheduler: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    address, processes = scheduler

    def end_it() -> None:
        while not (tmp_path / "began 0").exists():
            time.sleep(0.02)
        processes[0].send_signal(signal.SIGKILL)

    other = threading.Thread(target=end_it)
    with make_engine(f"dask://{address}") as there, working_on(there):
        other.start()
        with pytest.raises(InputError, match=r"^engine: the Dask scheduler at tcp://.* was lost"):
            gather(engine_partials.waiting, range(3), str(tmp_path))
    other.join()
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Start a cluster that talks to holders of its certificate only; give address and files."""
    security = distributed.Security.temporary()
    named = {
        "ca-file": security.tls_ca_file,
        "client.cert": security.tls_client_cert,
        "client.key": security.tls_client_key,
    }
    config = {}
    for name, text in named.items():
        (tmp_path / name).write_text(text)
        config[f"distributed.comm.tls.{name}"] = str(tmp_path / name)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tls",
        host="127.0.0.1",
        security=security,
        dashboard_address="127.0.0.1:0",
        local_directory=str(tmp_path),
    ) as cluster:
        yield f"dask://{cluster.scheduler_address}", config


def test_an_encrypted_cluster_works_with_the_certificates_of_the_configuration(
    encrypted: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    address, config = encrypted
    with dask.config.set(config):
        with make_engine(address) as there, working_on(there):
            assert gather(operator.add, [1, 2], 3) == [4, 5]
        (tmp_path / "client.cert").write_text("no certificate")
        with pytest.raises(InputError, match=r"^engine: the certificates .* cannot be read;"):
            check_opened(address)
    other = distributed.Security.temporary()
    for name, text in (("cert", other.tls_client_cert), ("key", other.tls_client_key)):
        (tmp_path / f"client.{name}").write_text(text)
    with (
        dask.config.set(config),
        pytest.raises(InputError, match=r"^engine: no Dask scheduler .* or the certificates\."),
    ):
        check_opened(address)


def check_opened(address: str) -> None:
    with make_engine(address):
        pass


# What is refused


@pytest.mark.parametrize("address", ["dask", "dask://127.0.0.1:9"])
def test_clear_text_is_refused_where_dask_is_to_encrypt(address: str) -> None:
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(InputError, match=r"^engine: the configuration of Dask requires encrypt"),
    ):
        check_opened(address)


def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 0.2)
    with (
        pytest.raises(InputError, match=r"^engine: no Dask scheduler answers at tcp://127"),
        make_engine("dask://127.0.0.1:9"),
    ):
        pass


def test_a_server_of_another_kind_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_CONNECT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with (
            pytest.raises(InputError, match=rf"^engine: no Dask scheduler .*:{port}; [^\n]*$"),
            make_engine(f"dask://127.0.0.1:{port}"),
        ):
            pass


def test_an_encrypted_address_without_certificates_is_one_line() -> None:
    with (
        pytest.raises(InputError, match=r"^engine: tls://127.0.0.1:9 needs certificates[^\n]*$"),
        make_engine("dask://tls://127.0.0.1:9"),
    ):
        pass


@pytest.mark.parametrize(
    "text",
    [
        *("", "spark", "Dask", "dask://", "dask://a b", "dask:8786", None, " dask", "DASK"),
        *("dask://a:0", "dask://a:65536", "dask://a:\u0664", "dask://a:1\n", "dask://me:pw@a:1"),
    ],
)
def test_another_engine_is_refused(text: str | None) -> None:
    with pytest.raises(InputError, match=r"^engine: [^\n]*$"):
        choosing.check_engine(text)


def test_an_address_may_be_short() -> None:
    assert full_address("host") == "tcp://host:8786"
    assert full_address("tls://10.0.0.1:99") == "tls://10.0.0.1:99"
    assert full_address("[::1]:99/") == "tcp://[::1]:99"


def test_without_dask_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "find_spec", lambda _: None)
    with (
        pytest.raises(InputError, match=r'^engine: .* pip install "evalkit\[dask\]"$'),
        make_engine("dask"),
    ):
        pass


class _Cluster:
    """Answers as a client of a cluster whose processes have these versions of evalkit."""

    scheduler = None

    def __init__(self, there: object, worker: object) -> None:
        self.there, self.worker = there, worker

    def wait_for_workers(self, *_: object, **__: object) -> None:
        if self.worker is None:
            raise TimeoutError

    def run(self, *_: object, on_error: str) -> dict[str, object]:
        assert on_error == "return"
        return {"tcp://10.0.0.2:1": self.worker}

    def run_on_scheduler(self, *_: object) -> object:
        if isinstance(self.there, Exception):
            raise self.there
        return self.there


@pytest.mark.parametrize(
    ("there", "worker", "words"),
    [
        ("0.0.0", "same", "scheduler of the Dask cluster has 0.0.0"),
        (ModuleNotFoundError("evalkit"), "same", "scheduler of the Dask cluster cannot import"),
        ("same", ModuleNotFoundError("evalkit"), "a worker of the Dask cluster cannot import"),
        ("same", None, "has no worker"),
    ],
)
def test_a_cluster_with_another_evalkit_is_refused(there: Any, worker: Any, words: str) -> None:
    from evalkit import __version__

    versions = [__version__ if one == "same" else one for one in (there, worker)]
    with pytest.raises(InputError, match=rf"^engine: [^\n]*{words}[^\n]*$"):
        dask_cluster._check_workers(_Cluster(*versions))  # type: ignore[arg-type]


class _Losing:
    """A client of a cluster that runs and loses every piece."""

    status = "running"
    submitted = 0

    def nthreads(self) -> dict[str, int]:
        return {"tcp://10.0.0.2:1": 1}

    def submit(self, *_: object, **__: object) -> _Losing:
        self.submitted += 1
        return self

    def result(self, **_: object) -> None:
        raise ConnectionResetError

    def release(self) -> None:
        """Nothing is kept."""


def test_a_piece_that_is_always_lost_is_given_up() -> None:
    engine, client = DaskEngine("host"), _Losing()
    engine._client = client  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"^engine: [^\n]* lost one piece of work 5 times"):
        list(engine.states(divmod, [1], None))
    assert client.submitted == 5


@pytest.mark.parametrize("losses", [2, 9])
def test_a_worker_that_is_lost_while_it_gets_its_part_does_no_harm(
    engine: DaskEngine, monkeypatch: pytest.MonkeyPatch, losses: int
) -> None:
    monkeypatch.setattr(dask_engine, "SECONDS_BETWEEN_TRIES", 0.01)
    scatter, left = engine._client.scatter, [losses]  # type: ignore[union-attr]

    def losing(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise KeyError("tcp://127.0.0.1:9")  # what Dask raises of a worker that has just died
        return scatter(*given, **named)

    monkeypatch.setattr(engine._client, "scatter", losing)
    with working_on(engine):
        if losses < MOST_TRIES:
            found = gather(engine_partials.looked_up, [np.arange(5)], TABLE)
            assert found[0].tolist() == TABLE[:5].tolist()
            return
        with pytest.raises(InputError, match=r"^engine: .* lost one piece of work 5 times"):
            gather(engine_partials.looked_up, [np.arange(5)], TABLE)


class _Shown:
    """A client whose scheduler has a dashboard, or only an address for one."""

    dashboard_link = "http://10.0.0.2:8787/status"

    def __init__(self, *, drawn: bool) -> None:
        self.drawn = drawn

    def run_on_scheduler(self, *_: object) -> bool:
        return self.drawn


def test_the_dashboard_is_told_where_there_is_one() -> None:
    shown = [dask_cluster.dashboard_of(_Shown(drawn=one)) for one in (True, False)]  # type: ignore[arg-type]
    assert shown == ["http://10.0.0.2:8787/status", ""]
