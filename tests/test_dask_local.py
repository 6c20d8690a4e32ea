"""A cluster of this machine leaves nothing behind, and Ctrl-C is for the one who started it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from multiprocessing import active_children
from typing import TYPE_CHECKING, Any

import distributed
import pytest

from evalkit.engine.dask_engine import DaskEngine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ on Windows")
def test_workers_hear_nothing_of_ctrl_c_and_their_folder_goes_with_them(temporary: Path) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with DaskEngine(workers=1) as engine:
        assert engine._client is not None
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
        (pid,) = engine._client.run(os.getpid).values()
        (held,) = engine._client.run(signal.pthread_sigmask, signal.SIG_BLOCK, ()).values()
        assert held == {signal.SIGINT}
        os.kill(pid, signal.SIGINT)
        assert list(engine._client.run(os.getpid).values()) == [pid]
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_an_interruption_while_the_workers_start_leaves_nothing(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {*active_children()}
    sync = distributed.LocalCluster.sync

    def interrupted(self: Any, function: Any, *given: Any, **named: Any) -> Any:
        if function.__name__ != "_correct_state":
            return sync(self, function, *given, **named)
        self.loop.add_callback(function)
        while not {*active_children()} - others:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(distributed.LocalCluster, "sync", interrupted)
    with pytest.raises(KeyboardInterrupt), DaskEngine(workers=1):
        pass
    assert {*active_children()} == others
    assert list(temporary.iterdir()) == []
