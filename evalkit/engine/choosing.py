"""From the option `--engine` to an engine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalkit.engine.engines import LocalEngine
from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalkit.engine.engines import Engine

_SCHEME = "dask://"


def check_engine(given: object) -> None:
    """Refuse what cannot be the option `engine`; nothing is started.

    Parameters
    ----------
    given : object
        ``"local"``, ``"dask"``, ``"dask://host:8786"``, or an `Engine` that is open.

    Raises
    ------
    evalkit.InputError
        If it is none of these.

    Examples
    --------
    >>> from evalkit.engine import check_engine
    >>> check_engine("spark")
    Traceback (most recent call last):
    evalkit.errors.InputError: engine: use local, dask, or dask://host:8786 for a scheduler.
    """
    if given in {"local", "dask"} if isinstance(given, str) else hasattr(given, "states"):
        return
    if not isinstance(given, str) or not given.startswith(_SCHEME):
        raise InputError("engine: use local, dask, or dask://host:8786 for a scheduler.")
    from evalkit.engine.dask_cluster import full_address

    full_address(given.removeprefix(_SCHEME))


@contextmanager
def make_engine(given: str | Engine) -> Iterator[Engine]:
    """Open an engine for a block; close its client, and a cluster of its own, after it.

    Parameters
    ----------
    given : str or Engine
        ``"local"``; ``"dask"`` for a cluster of processes on this machine; ``"dask://host:8786"``
        for the scheduler of a cluster that is there. An engine that is open is yielded as it is,
        and stays open.

    Yields
    ------
    Engine

    Raises
    ------
    evalkit.InputError
        If it is none of these, Dask is not installed, or the cluster cannot be used.

    Examples
    --------
    >>> from evalkit.engine import make_engine
    >>> with make_engine("local") as engine:
    ...     engine.name
    'local'
    """
    check_engine(given)
    if not isinstance(given, str) or given == "local":
        yield LocalEngine() if isinstance(given, str) else given
        return
    from evalkit.engine.dask_engine import DaskEngine

    with DaskEngine(given.partition("://")[2] or None) as engine:
        yield engine
