"""What an engine is, and the one that works in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Partial = Callable[[Any, Any], Any]


DASHBOARD: Final = "Dask dashboard"


class Engine(Protocol):
    """Runs a function on every piece of a table.

    Attributes
    ----------
    name : str
        As the option `--engine` says it, without an address.
    dashboard : str
        Address of a page on which the work can be watched; empty where there is none.
    lost : bool
        Whether the cluster is gone, so that no further work can be sent.
    """

    name: str
    dashboard: str
    lost: bool

    def states(self, partial: Partial, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        """Yield `partial(piece, shared)` for each piece, in the order of the pieces.

        Parameters
        ----------
        partial : callable
            A function of a module, or `functools.partial` of one: it may run in another process.
        pieces : iterable
            Taken one by one, so that not all of them are in memory at once.
        shared : object
            What every piece needs; sent to a worker once.
        """
        ...


class LocalEngine:
    """Works in this process, one piece after the other; the kernels use every processor."""

    name = "local"
    dashboard = ""
    lost = False

    def states(self, partial: Partial, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
        """Yield the state of each piece, in order.

        Examples
        --------
        >>> from evalkit.engine import LocalEngine
        >>> list(LocalEngine().states(lambda piece, shared: piece + shared, [1, 2], 10))
        [11, 12]
        """
        return (partial(piece, shared) for piece in pieces)


def dashboard_words(engine: Engine) -> str:
    """Return one line on where the work can be watched, empty for work in this process.

    Examples
    --------
    >>> from evalkit.engine import LocalEngine, dashboard_words
    >>> dashboard_words(LocalEngine())
    ''
    """
    if engine.dashboard:
        return f"{DASHBOARD} at {engine.dashboard}"
    if engine.name != "dask":
        return ""
    return f"{DASHBOARD}: none; it needs bokeh where the scheduler runs (pip install bokeh)."
