"""Pieces that say how many they are before they are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

One = TypeVar("One")


class Announced(Iterator[One], Generic[One]):
    """An iterator that says beforehand how many it will yield.

    Parameters
    ----------
    items : iterable
    total : int
        How many there are.

    Examples
    --------
    >>> from operator import length_hint
    >>> from evalkit.engine import Announced
    >>> length_hint(Announced(iter("ab"), 2))
    2
    """

    def __init__(self, items: Iterable[One], total: int) -> None:
        self._items = iter(items)
        self._left = total

    def __next__(self) -> One:
        """Return the next."""
        one = next(self._items)
        self._left -= 1
        return one

    def __length_hint__(self) -> int:
        """Return how many are left."""
        return max(0, self._left)
