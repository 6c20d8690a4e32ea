"""A cluster of Dask workers on this machine, of which nothing is left however a run ends."""

from __future__ import annotations

import logging
import os
import signal
import warnings
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from multiprocessing import active_children
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

_SECONDS_TO_CLOSE: Final = 5


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def local_cluster(stack: ExitStack, folder: str, workers: int) -> Any:
    """Return a cluster of processes on this machine that only this machine can reach.

    Parameters
    ----------
    stack : contextlib.ExitStack
        Closes the cluster, also where it was interrupted half made.
    folder : str
        Where Dask and its workers may write.
    workers : int

    Returns
    -------
    distributed.LocalCluster

    Raises
    ------
    evalkit.InputError
        If no worker could be started.
    """
    import dask
    import distributed

    # The scheduler makes a folder too, which nobody would remove.
    stack.enter_context(dask.config.set({"temporary-directory": folder}))
    stack.callback(_end, {*active_children()})
    loop = _loop(stack)
    # Closed, too, where an interruption comes while it is made.
    cluster: Any = distributed.LocalCluster.__new__(distributed.LocalCluster)
    stack.callback(close_quietly, cluster)
    try:
        cluster.__init__(
            loop=loop,
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0" if find_spec("bokeh") else None,
            # Neither end a worker for its memory nor write personal data beside the tables.
            memory_limit=0,
            local_directory=folder,
            # What a worker leaves behind when it is killed goes with the folder.
            env={"TMPDIR": folder},
            silence_logs=logging.CRITICAL + 1,
        )
    except (RuntimeError, OSError, TimeoutError) as error:
        message = (
            f"engine: no Dask worker could be started on this machine ({type(error).__name__}); "
            "in a script of your own, put the call below: if __name__ == '__main__':"
        )
        raise InputError(message) from None
    return cluster


def _loop(stack: ExitStack) -> Any:
    """Return a loop of events in a thread, whose processes hear nothing of Ctrl-C.

    A terminal tells it to every process at once, and a notebook too. This one ends the others.
    """
    from distributed.utils import LoopRunner

    runner = LoopRunner()
    stack.callback(runner.stop, _SECONDS_TO_CLOSE)
    with _without_interrupt():
        runner.start()
    return runner.loop


@contextmanager
def _without_interrupt() -> Iterator[None]:
    """Hold Ctrl-C back: threads that are started now never hear of it, nor do their processes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # Started by the first process of a thread, it would let Ctrl-C through to that thread.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(others: set[Any]) -> None:
    """End the processes of workers that were still being started, but no others."""
    for process in {*active_children()} - others:
        if "Dask" in process.name:
            process.kill()
            process.join(_SECONDS_TO_CLOSE)


def close_quietly(what: Any) -> None:
    """Close a client or a cluster, whatever state it is in."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        what.close(timeout=_SECONDS_TO_CLOSE)
