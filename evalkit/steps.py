"""Progress inside a metric: it says how far it is, and whoever waits may listen."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Listener = Callable[[float | str], None]
    One = TypeVar("One")

SECONDS_BETWEEN_WORDS = 2.0
SECONDS_BETWEEN_COUNTS = 10.0
"""How many pieces are done is of interest where nothing else was said for long."""

_LISTENER: ContextVar[Listener | None] = ContextVar("evalkit_steps_listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Call `listener` with the share done, 0 to 1, or words on it, while the block runs.

    Parameters
    ----------
    listener : callable, optional
        At most one call in two seconds.

    Examples
    --------
    >>> from evalkit.steps import Steps, listening
    >>> with listening(print):
    ...     Steps(2).advance()  # too soon to say anything
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class Steps:
    """Counts the steps of one metric.

    Parameters
    ----------
    total : int
        How many there will be, at least 1.

    Examples
    --------
    >>> from evalkit.steps import Steps
    >>> Steps(3).advance()
    """

    def __init__(self, total: int) -> None:
        self._total = max(1, total)
        self._done = 0
        self._spoke = time.monotonic()

    def advance(self) -> None:
        """Note that one more step is done."""
        self._done += 1
        listener = _LISTENER.get()
        now = time.monotonic()
        if listener is not None and now - self._spoke >= SECONDS_BETWEEN_WORDS:
            self._spoke = now
            listener(min(1.0, self._done / self._total))


def counted(results: Iterable[One], total: int = 0) -> Iterator[One]:
    """Yield the results of pieces; where that takes long, say how many are done.

    Parameters
    ----------
    results : iterable
        One for each piece.
    total : int
        How many there will be; 0 where that is not known.

    Examples
    --------
    >>> from evalkit.steps import counted
    >>> list(counted([3, 1]))
    [3, 1]
    """
    spoke = time.monotonic()
    for done, one in enumerate(results, start=1):
        yield one
        listener = _LISTENER.get()
        now = time.monotonic()
        if listener is not None and now - spoke >= SECONDS_BETWEEN_COUNTS:
            spoke = now
            listener(_pieces_done(done, total))


def _pieces_done(done: int, total: int) -> str:
    """Return how far the work is, in words; 0 in all stands for a number that is not known."""
    if total >= done:
        return f"{done} of {total} {'piece' if total == 1 else 'pieces'}"
    return f"{done} {'piece' if done == 1 else 'pieces'} done"
