"""The engine and the limits of the run at hand."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import reduce
from operator import length_hint
from typing import TYPE_CHECKING, Any, TypeVar

from evalkit.engine.engines import LocalEngine
from evalkit.engine.limits import Limits
from evalkit.steps import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalkit.engine.engines import Engine, Partial

State = TypeVar("State")


@dataclass(frozen=True)
class _Place:
    engine: Engine = field(default_factory=LocalEngine)
    limits: Limits = field(default_factory=Limits)


_PLACE: ContextVar[_Place] = ContextVar("evalkit_place", default=_Place())  # noqa: B039 - frozen


@contextmanager
def working_on(engine: Engine | None = None, limits: Limits | None = None) -> Iterator[None]:
    """Let the work of the block run on an engine within limits.

    Parameters
    ----------
    engine : Engine, optional
        Default this process.
    limits : Limits, optional
        Default none but those of the machine.

    Examples
    --------
    >>> from evalkit.engine import Limits, limits, working_on
    >>> with working_on(limits=Limits(exact=True)):
    ...     limits().exact
    True
    """
    token = _PLACE.set(_Place(engine or LocalEngine(), limits or Limits()))
    try:
        yield
    finally:
        _PLACE.reset(token)


def limits() -> Limits:
    """Return what the run at hand may cost."""
    return _PLACE.get().limits


def gather(partial: Partial, pieces: Iterable[Any], shared: Any = None) -> list[Any]:
    """Return `partial(piece, shared)` of every piece, in order.

    Parameters
    ----------
    partial, pieces, shared
        As for `Engine.states`.

    Returns
    -------
    list
        The whole of it stays in memory: for answers that are small beside their piece.
    """
    return list(_states(partial, pieces, shared))


def fold(
    partial: Partial,
    pieces: Iterable[Any],
    merge: Callable[[State, State], State],
    shared: Any = None,
) -> State:
    """Return the states of all pieces merged into one.

    They are merged in the order of the pieces on every engine, so that the last digit of a sum
    depends neither on the engine nor on which worker was first.

    Parameters
    ----------
    partial, pieces, shared
        As for `Engine.states`; at least one piece.
    merge : callable
        Associative and commutative up to rounding.

    Returns
    -------
    object

    Examples
    --------
    >>> from evalkit.engine import fold
    >>> fold(lambda piece, shared: sum(piece), [[1, 2], [3]], lambda a, b: a + b)
    6
    """
    merged: State = reduce(merge, _states(partial, pieces, shared))
    return merged


def _states(partial: Partial, pieces: Iterable[Any], shared: Any) -> Iterator[Any]:
    """Return the states on the engine of the run; who waits hears how many of them are there."""
    total = length_hint(pieces)  # Before the engine takes the first.
    return counted(_PLACE.get().engine.states(partial, pieces, shared), total)
