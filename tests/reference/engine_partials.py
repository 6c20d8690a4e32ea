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
