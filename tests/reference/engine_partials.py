"""Partials for the tests of engines: workers are other processes and find them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalkit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def moments(piece: NDArray[np.float64], shift: float | None) -> NDArray[np.float64]:
    """Return count, sum and sum of squares."""
    moved = piece - (shift or 0.0)
    return np.array([len(piece), moved.sum(), (moved**2).sum()])


def looked_up(piece: NDArray[np.int64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an entry of a common table for each row."""
    return table[piece]


def ending_once(piece: tuple[int, str], table: NDArray[np.float64]) -> float:
    """Look up; the process ends at once where a file of the piece's name is not there yet."""
    place, marker = piece
    if marker and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return float(table[place])


def refusing(piece: int, shared: Any) -> int:
    """Refuse one of the pieces as bad input."""
    if piece == shared:
        message = f"original: piece {piece} is refused."
        raise InputError(message)
    return piece


def waiting(piece: int, folder: str) -> int:
    """Say that the work began, and work for long."""
    (Path(folder) / f"began {piece}").touch()
    time.sleep(60)
    return piece


class Deadly:
    """A table that ends the process in which it arrives, once, as the so many-th copy."""

    def __init__(self, folder: str, deadly: int) -> None:
        self.folder, self.deadly = folder, deadly

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it arrive by a function."""
        return arrived, (self.folder, self.deadly)


def arrived(folder: str, deadly: int) -> Deadly:
    """Count the copy; end the process with the one that is deadly."""
    number = len(list(Path(folder).iterdir())) + 1
    (Path(folder) / str(number)).touch()
    if number == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return Deadly(folder, deadly)


def known(piece: int, shared: Deadly) -> int:
    """Return the piece, where the table has arrived."""
    return piece if shared.deadly else -1
