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


def check_engine(text: object) -> str:
    """Return the option `engine` if it can be one; nothing is started.

    Parameters
    ----------
    text : object
        ``"local"``, ``"dask"`` or ``"dask://host:8786"``.

    Returns
    -------
    str

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
    if isinstance(text, str) and text in {"local", "dask"}:
        return text
    if isinstance(text, str) and text.startswith(_SCHEME):
        from evalkit.engine.dask_cluster import full_address

        full_address(text.removeprefix(_SCHEME))
        return text
    raise InputError("engine: use local, dask, or dask://host:8786 for a scheduler.")


@contextmanager
def make_engine(text: str) -> Iterator[Engine]:
    """Open an engine for a block; close its client, and a cluster of its own, after it.

    Parameters
    ----------
    text : str
        ``"local"``; ``"dask"`` for a cluster of processes on this machine; ``"dask://host:8786"``
        for the scheduler of a cluster that is there.

    Yields
    ------
    Engine

    Raises
    ------
    evalkit.InputError
        If the text is none of these, Dask is not installed, or the cluster cannot be used.

    Examples
    --------
    >>> from evalkit.engine import make_engine
    >>> with make_engine("local") as engine:
    ...     engine.name
    'local'
    """
    check_engine(text)
    if text == "local":
        yield LocalEngine()
        return
    from evalkit.engine.dask_engine import DaskEngine

    with DaskEngine(text.partition("://")[2] or None) as engine:
        yield engine
