"""The engine that lets the workers of a Dask cluster make the states of the pieces."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import wait
from contextlib import ExitStack
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Self

from evalkit.engine.dask_cluster import connected, dashboard_of, full_address
from evalkit.engine.dask_work import answer, packed
from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distributed import Client, Future

    from evalkit.engine.dask_work import Answer
    from evalkit.engine.engines import Partial

PIECES_A_WORKER: Final = 3
"""At once under way: one at work, one that waits, one that is being sent."""
MOST_TRIES: Final = 5
SECONDS_BETWEEN_LOOKS: Final = 5.0
SECONDS_BETWEEN_TRIES: Final = 1.0
SECONDS_WITHOUT_WORKERS: Final = 60.0
_END: Final = object()


@dataclass
class _Waiting:
    """A piece on its way, kept until its state is here."""

    content: bytes
    future: Future
    tries: int = 1


class DaskEngine:
    """Sends pieces to the workers of a cluster; states come back in the order of the pieces.

    A worker that is lost does no harm: its pieces are sent again, at most five times each. Use it
    as a context manager: at the end the client is closed, and the cluster if it is its own.

    Parameters
    ----------
    address : str, optional
        ``host:8786`` or ``tcp://host:8786``; None starts a cluster on this machine, with a
        process of one thread for each processor.
    workers : int, optional
        Processes of a cluster on this machine.

    Attributes
    ----------
    name : str
        ``"dask"``.
    dashboard : str
        Address of the page on which the work can be watched; empty where there is none.
    lost : bool
        Whether the scheduler or all workers are gone.
    """

    name = "dask"

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._address = full_address(address) if address else None
        self._workers = workers
        self._stack = ExitStack()
        self._client: Client | None = None
        self.dashboard = ""
        self.lost = False

    def __enter__(self) -> Self:
        """Connect, or start a cluster.

        Raises
        ------
        evalkit.InputError
            If that cannot be done.
        """
        self._client = self._stack.enter_context(connected(self._address, self._workers))
        self.dashboard = dashboard_of(self._client)
        return self

    def __exit__(self, *_: object) -> None:
        """Close the client, and the cluster if it was started here."""
        self._stack.close()
        self._client = None

    def states(self, partial: Partial, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        """Yield the state of each piece, in order; see `evalkit.engine.Engine`.

        Raises
        ------
        evalkit.InputError
            If the scheduler or all workers are lost, or a piece was lost five times.
        Exception
            What a partial raised, as it is.
        """
        assert self._client is not None, "used outside its with block"
        common = _Common(self._client, shared)
        rest, under_way = iter(pieces), deque[_Waiting]()
        most = PIECES_A_WORKER * max(1, self._count_workers())
        try:
            while True:
                while len(under_way) < most and (piece := next(rest, _END)) is not _END:
                    under_way.append(self._begin(packed(partial, piece), common))
                if not under_way:
                    return
                yield self._state(under_way[0], common)
                under_way.popleft().future.release()
        finally:
            for one in under_way:
                one.future.release()
            common.release()

    def _begin(self, content: bytes, common: _Common) -> _Waiting:
        return _Waiting(content, self._submit(content, common))

    def _submit(self, content: bytes, common: _Common) -> Future:
        """Send one piece on its way; a worker may be lost just when it was to get its part."""
        assert self._client is not None
        tries = 1
        while True:
            try:
                return self._client.submit(answer, content, common.sent(), pure=False)
            except Exception as error:  # noqa: BLE001 - the connection's own, of any kind
                self._check_scheduler()
                if tries >= MOST_TRIES:
                    raise self._lost(error) from None
                sleep(tries * SECONDS_BETWEEN_TRIES)
                self._await_a_worker()
                common.renew(always=True)
                tries += 1

    def _await_a_worker(self) -> None:
        """Wait until there is a worker; give up where none comes."""
        assert self._client is not None
        try:
            self._client.wait_for_workers(1, timeout=SECONDS_WITHOUT_WORKERS)
        except Exception:  # noqa: BLE001 - the connection's own, of any kind
            self._check_scheduler()
            raise self._no_worker() from None

    def _state(self, one: _Waiting, common: _Common) -> Any:
        """Return the state of a piece, sent again where its worker was lost."""
        while True:
            try:
                found = self._awaited(one.future)
            except InputError:
                raise
            except Exception as error:  # noqa: BLE001 - the cluster's own, of any kind
                self._check_scheduler()
                if one.tries >= MOST_TRIES:
                    raise self._lost(error) from None
                common.renew(always=one.tries > 1)
                one.tries += 1
                one.future = self._submit(one.content, common)
                continue
            if found.raised is not None:
                raise found.raised
            return found.state

    def _awaited(self, future: Future) -> Answer:
        """Return the answer of a worker; give up where none is left to give one."""
        idle = 0.0
        while True:
            try:
                found: Answer = future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                self._check_scheduler()
                idle = 0.0 if self._count_workers() else idle + SECONDS_BETWEEN_LOOKS
                if idle >= SECONDS_WITHOUT_WORKERS:
                    raise self._no_worker() from None
            else:
                return found

    def _count_workers(self) -> int:
        assert self._client is not None
        try:
            return len(self._client.nthreads())
        except Exception as error:  # noqa: BLE001 - the connection's own, of any kind
            raise self._lost(error) from None

    def _check_scheduler(self) -> None:
        assert self._client is not None
        if self._client.status != "running":
            raise self._lost(None)

    def _no_worker(self) -> InputError:
        self.lost = True
        return InputError("engine: the Dask cluster has no worker left; start one and run again.")

    def _lost(self, error: Exception | None) -> InputError:
        """Return the one line for a cluster that cannot go on."""
        assert self._client is not None
        if error is None or self._client.status != "running":
            self.lost = True
            place = self._address or "this machine"
            return InputError(f"engine: the Dask scheduler at {place} was lost; run again.")
        return InputError(
            f"engine: the Dask cluster lost one piece of work {MOST_TRIES} times "
            f"({type(error).__name__}); its workers may lack memory."
        )


class _Common:
    """What all pieces of a fold need, sent to every worker once, and again if it was lost."""

    def __init__(self, client: Client, value: Any) -> None:
        self._client = client
        self._value = value
        self._future: Future | None = None

    def sent(self) -> Future | None:
        """Return where the value lies; None for no value."""
        if self._value is None:
            return None
        if self._future is None:
            # In a list: of a list alone each element would go its own way.
            (self._future,) = self._client.scatter([self._value], hash=False)
            self._copy(self._future)
        return self._future

    def _copy(self, future: Future) -> None:
        """Copy the value to every other worker: a task goes where its value lies.

        Dask would wait for ever for a worker that is lost meanwhile. Whoever has no copy then
        asks for one with its first piece.
        """
        begun = self._client.nthreads()
        copying = asyncio.run_coroutine_threadsafe(
            self._client.replicate([future], asynchronous=True), self._client.loop.asyncio_loop
        )
        while not copying.done():
            wait([copying], SECONDS_BETWEEN_LOOKS)
            if not copying.done() and begun.keys() - self._client.nthreads().keys():
                copying.cancel()

    def renew(self, *, always: bool) -> None:
        """Forget where the value lies if it is lost."""
        if self._future is not None and (always or self._future.status != "finished"):
            self.release()

    def release(self) -> None:
        """Let the workers drop the value."""
        if self._future is not None:
            self._future.release()
        self._future = None
