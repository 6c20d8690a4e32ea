"""Records that look for others in a large table: all of them, or a sample that can be afforded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalkit.engine import limits
from evalkit.quantities_order import order_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.persons import Persons
    from evalkit.release import Release


@dataclass(frozen=True, eq=False)
class Asked:
    """Rows of a table, and whose they are.

    Attributes
    ----------
    table : DataFrame
        A table of a release.
    places : range or ndarray of intp, shape (k,)
        Which of its rows.
    persons : Persons
        Whose these rows are.
    """

    table: pd.DataFrame
    places: range | NDArray[np.intp]
    persons: Persons

    @classmethod
    def of(cls, release: Release, table: Literal["original", "working", "reference"]) -> Asked:
        """Return all rows of a table of a release."""
        frame = getattr(release, table)
        return cls(frame, range(len(frame)), release.persons_of(table))

    def affordable(self, targets: int, rng: np.random.Generator) -> Asked:
        """Return all rows, or a sample where to look among so many targets would take days."""
        return self._drawn(limits().queries(len(self.table), targets), rng)

    def sample(self, most: int, rng: np.random.Generator) -> Asked:
        """Return all rows, or about `most` drawn whatever their order in the file.

        Where nothing may be sampled to save time, all of them.
        """
        return self if limits().exact else self._drawn(most, rng)

    def _drawn(self, most: int, rng: np.random.Generator) -> Asked:
        if len(self.table) <= most:
            return self
        order = order_of(self.table, tuple(self.table.columns))
        rows = np.sort(self.persons.drawn(order, most, rng))
        return Asked(self.table, rows, self.persons.part(rows))
