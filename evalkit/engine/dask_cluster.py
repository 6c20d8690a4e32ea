"""A client of Dask: of a cluster on this machine, or of a scheduler somewhere else.

Nothing outside this package imports Dask.
"""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from evalkit.engine.dask_local import close_quietly, local_cluster, processors
from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client

PORT: Final = 8786
LAST_PORT: Final = 65535
SECONDS_TO_CONNECT: Final = 10
_VERSION: Final = "__import__('evalkit').__version__"
_CAN_DRAW: Final = "'bokeh' in __import__('sys').modules"
_TALKERS: Final = ("distributed", "tornado", "asyncio", "bokeh")
_CONFIG: Final = {
    "distributed.comm.timeouts.connect": f"{SECONDS_TO_CONNECT}s",
    # A forked process inherits locks that nobody there will open.
    "distributed.worker.multiprocessing-method": "spawn",
    # Pieces travel inside the tasks, a bounded number of them.
    "distributed.admin.large-graph-warning-threshold": "1TB",
}


def check_installed() -> None:
    """Refuse to go on without Dask.

    Raises
    ------
    evalkit.InputError
        Naming what to install.
    """
    if find_spec("distributed") is None or find_spec("dask") is None:
        message = 'engine: Dask is not installed; run: pip install "evalkit[dask]"'
        raise InputError(message)


def full_address(text: str) -> str:
    """Return the address of a scheduler as Dask writes it.

    Parameters
    ----------
    text : str
        ``host``, ``host:8786`` or ``tcp://host:8786``; ``tls://`` too.

    Returns
    -------
    str

    Raises
    ------
    evalkit.InputError
        If it is no address.

    Examples
    --------
    >>> from evalkit.engine.dask_cluster import full_address
    >>> full_address("cluster.example")
    'tcp://cluster.example:8786'
    """
    found = re.fullmatch(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:]+\]|[\w.-]+)(?::([0-9]{1,5}))?/?", text)
    if not found or not 0 < int(found[3] or PORT) <= LAST_PORT:
        message = "engine: no address of a scheduler; give one as in dask://host:8786."
        raise InputError(message)
    return f"{found[1] or 'tcp'}://{found[2]}:{found[3] or PORT}"


@contextmanager
def connected(address: str | None, workers: int | None = None) -> Iterator[Client]:
    """Open a client, and close it and a cluster of its own at the end.

    Parameters
    ----------
    address : str, optional
        From `full_address`; None starts a cluster of processes on this machine.
    workers : int, optional
        Processes of a cluster on this machine; default one for each processor.

    Yields
    ------
    distributed.Client
        Every worker has evalkit in this very version.

    Raises
    ------
    evalkit.InputError
        If the scheduler cannot be reached, there is no worker, or evalkit is missing there.
    """
    check_installed()
    import dask
    import distributed

    _refuse_clear_text(address)
    with ExitStack() as stack:
        stack.enter_context(_silence())
        stack.enter_context(dask.config.set(_CONFIG))
        cluster: Any = address
        if address is None:
            folder = TemporaryDirectory(prefix="evalkit-", ignore_cleanup_errors=True)
            cluster = local_cluster(stack, stack.enter_context(folder), workers or processors())
        client = _client(distributed.Client, cluster)
        stack.callback(close_quietly, client)
        _check_workers(client)
        yield client


def dashboard_of(client: Client) -> str:
    """Return the address of the dashboard, or nothing where there is none."""
    with suppress(Exception):  # Words on a screen: never a reason to fail.
        # A scheduler has an address for it even where nothing can be drawn.
        if client.run_on_scheduler(eval, _CAN_DRAW):
            return str(client.dashboard_link or "")
    return ""


def _refuse_clear_text(address: str | None) -> None:
    """Say at once that Dask, which is set to encrypt, would talk to no address without it."""
    import dask

    if dask.config.get("distributed.comm.require-encryption") and not (
        address and address.startswith("tls://")
    ):
        message = (
            "engine: the configuration of Dask requires encryption; use local, or an address such "
            "as dask://tls://host:8786."
        )
        raise InputError(message)


def _client(make: Any, cluster: Any) -> Client:
    """Return a client that is connected."""
    certificates = _certificates() if isinstance(cluster, str) else {}
    try:
        if isinstance(cluster, str):
            _ask(cluster, certificates)
        client: Client = make(
            cluster,
            timeout=SECONDS_TO_CONNECT,
            set_as_default=False,
            direct_to_workers=None if isinstance(cluster, str) else True,
        )
    except TypeError:  # what Dask raises of an encrypted address without a certificate
        message = (
            f"engine: {cluster} needs certificates; name them in the configuration of Dask, under "
            "distributed.comm.tls."
        )
        raise InputError(message) from None
    except (OSError, TimeoutError, ValueError, RuntimeError):
        what = "the address or the certificates" if "tls://" in str(cluster) else "the address"
        message = f"engine: no Dask scheduler answers at {cluster}; start it or correct {what}."
        raise InputError(message) from None
    return client


def _certificates() -> dict[str, Any]:
    """Return what a connection needs to be encrypted, as the configuration of Dask names it."""
    import distributed

    try:
        found: dict[str, Any] = distributed.Security().get_connection_args("client")
    except OSError:  # of a file that is not there, or holds something else
        message = (
            "engine: the certificates that the configuration of Dask names under "
            "distributed.comm.tls cannot be read; correct their paths."
        )
        raise InputError(message) from None
    return found


def _ask(address: str, certificates: dict[str, Any]) -> None:
    """Ask a scheduler who it is: a client would wait without end for a server of another kind."""
    import distributed

    async def asked() -> None:
        async with distributed.rpc(address, connection_args=certificates) as scheduler:
            await asyncio.wait_for(scheduler.identity(), SECONDS_TO_CONNECT)

    # In a thread: a notebook has a loop of its own, which a second one may not enter.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, asked()).result()


def _check_workers(client: Client) -> None:
    """Refuse a cluster without workers, or with another evalkit or none."""
    import evalkit

    place = client.scheduler.address if client.scheduler else ""
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
        found = dict(client.run(eval, _VERSION, on_error="return"))
        found["scheduler"] = client.run_on_scheduler(eval, _VERSION)
    except TimeoutError:
        raise InputError(f"engine: the Dask cluster at {place} has no worker.") from None
    except Exception as error:  # noqa: BLE001 - the scheduler's own, of any kind
        found = {"scheduler": error}
    for name, version in found.items():
        if version == evalkit.__version__:
            continue
        where = "scheduler" if name == "scheduler" else "a worker"
        has = "cannot import evalkit" if isinstance(version, Exception) else f"has {version}"
        message = (
            f"engine: {where} of the Dask cluster {has}; "
            f"install evalkit {evalkit.__version__} there."
        )
        raise InputError(message)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the notices of Dask off the error stream: what a reader needs is said in one line."""
    import distributed  # noqa: F401 - sets levels of its own when it is imported

    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _TALKERS]
    loggers = [logging.getLogger(name) for name in {*names, *_TALKERS}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            # Different versions of Python or NumPy there, a port that is taken, and the like.
            warnings.filterwarnings("ignore", module=r"distributed(\..*)?")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
