"""One comparison of a verification and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SAME: Final = "same"
DIFFERS: Final = "DIFFERS"
NOT_COMPARED: Final = "not compared"


@dataclass(frozen=True)
class Check:
    """One comparison.

    Attributes
    ----------
    outcome : str
        ``SAME``, ``DIFFERS`` or ``NOT_COMPARED``.
    what : str
        What was compared, and where it differs or why it was not compared; one line, no cell.
    """

    outcome: str
    what: str

    def __str__(self) -> str:
        """Return the line that is printed."""
        return f"{self.outcome}: {self.what}"
