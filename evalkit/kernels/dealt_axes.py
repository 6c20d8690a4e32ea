"""Principal axes of one part of a table, for many ways to deal its rows.

The columns are coded once. What depends on the part, means, spreads and shares, is a linear map of
these codes, so that no part is coded anew; and only the leading axes are sought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evalkit.kernels.axes import ColumnCells

    Single = NDArray[np.float32]
    Double = NDArray[np.float64]

SPARE = 10  # directions that are followed beside the axes wanted: the axes settle sooner
FIRST_STEPS, STEPS = 12, 3
ROUNDING = 1e-6  # a variance below is that of single precision: the part does not vary


class DealtAxes:
    """Coordinates of all rows of a table in the axes of a part of them.

    The axes are those of `evalkit.kernels.axes`, found by subspace iteration in single precision;
    enough to say how a cloud of real rows lies along its own axes.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (rows,)
        Numbers with NaN for missing, or level codes with -1 for missing.
    numeric : sequence of bool
        Which of them are numbers.
    count : int
        Axes wanted.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.kernels.dealt_axes import DealtAxes
    >>> line = np.array([0.0, 1.0, 2.0, 3.0])
    >>> axes = DealtAxes([line, 2 * line], [True, True], 1)
    >>> np.abs(axes.coordinates(np.full(4, True))).round(2).ravel().tolist()
    [1.9, 0.63, 0.63, 1.9]
    """

    def __init__(self, columns: Sequence[ColumnCells], numeric: Sequence[bool], count: int) -> None:
        parts: list[Single] = []
        pairs: list[tuple[int, int]] = []  # numeric column and its indicator of missing cells
        self._numbers: list[int] = []
        for cells, is_number in zip(columns, numeric, strict=True):
            coded = _number(cells) if is_number else _levels(cells)
            if is_number and coded:
                self._numbers.append(len(parts))
                pairs += [(len(parts), len(parts) + 1)] * (len(coded) > 1)
            parts += coded
        rows = len(columns[0])
        self._codes = np.column_stack(parts) if parts else np.zeros((rows, 0), np.float32)
        self._filled, self._missing = np.array(pairs, np.intp).reshape(-1, 2).T
        width = self._codes.shape[1]
        self._count = min(count, width)
        follow = min(width, count + SPARE)
        start = np.random.default_rng(0).normal(size=(width, follow)).astype(np.float32)
        self._start = self._directions(_Part.of(self, self._codes), start, FIRST_STEPS)

    def coordinates(self, dealt: NDArray[np.bool_]) -> Double:
        """Return the coordinates of all rows in the axes of the `dealt` ones, (rows, axes)."""
        part = _Part.of(self, self._codes[dealt])
        directions = self._directions(part, self._start, STEPS)[:, : self._count]
        return part.along(self._codes, directions).astype(np.float64)

    @property
    def numbers(self) -> list[int]:
        """Coded columns that are numbers."""
        return self._numbers

    @property
    def missing(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers with missing cells, and the coded columns that mark these."""
        return self._filled, self._missing

    @staticmethod
    def _directions(part: _Part, start: Single, steps: int) -> Single:
        """Return orthonormal directions of the part, that of the largest variance first."""
        if not start.size:
            return start
        found = start
        for _ in range(steps):
            found = np.linalg.qr(part.back(part.along(part.codes, found)))[0].astype(np.float32)
        along = part.along(part.codes, found)
        _, turn = np.linalg.eigh((along.T @ along).astype(np.float64))
        directions: Single = (found @ turn[:, ::-1]).astype(np.float32)
        return directions


class _Part:
    """The coded rows of a part, with the centre and the scale of each column on them."""

    def __init__(self, codes: Single, centre: Single, weight: Single, table: DealtAxes) -> None:
        self.codes = codes  # (n, q)
        self._centre, self._weight = centre, weight  # (q,)
        self._filled, self._missing = table.missing

    @classmethod
    def of(cls, table: DealtAxes, codes: Single) -> _Part:
        """Return the part with mean and deviation of numbers, share p and sqrt(p) of levels."""
        n, numbers = len(codes), table.numbers
        filled, missing = table.missing
        totals = codes.sum(axis=0, dtype=np.float64)
        known = np.full(len(totals), float(n))
        known[filled] -= totals[missing]
        centre = totals / np.maximum(known, 1.0)
        square = centre.copy()  # of a level: its share
        values = codes[:, numbers]
        mean_square = np.einsum("ij,ij->j", values, values, dtype=np.float64) / np.maximum(
            known[numbers], 1.0
        )
        square[numbers] = mean_square - centre[numbers] ** 2
        weight = np.where(square > ROUNDING, 1 / np.sqrt(np.maximum(square, ROUNDING)), 0.0)
        return cls(codes, centre.astype(np.float32), weight.astype(np.float32), table)

    def along(self, codes: Single, directions: Single) -> Single:
        """Return X V, with X the rows of `codes` centred and scaled as this part."""
        turned = directions * self._weight[:, None]  # (q, k)
        shift = self._centre @ turned
        # A missing number lies at the centre.
        turned[self._missing] += self._centre[self._filled, None] * turned[self._filled]
        return codes @ turned - shift

    def back(self, along: Single) -> Single:
        """Return X' Y for the rows of this part."""
        found = self.codes.T @ along
        found[self._filled] += self._centre[self._filled, None] * found[self._missing]
        centred: Single = (found - np.outer(self._centre, along.sum(axis=0))) * self._weight[
            :, None
        ]
        return centred


def _number(cells: ColumnCells) -> list[Single]:
    """Return a number standardised over the table, and where it is missing if it ever is."""
    values = cells.astype(np.float64)
    missing = np.isnan(values)
    filled = values[~missing]
    if not filled.size or filled.min() == filled.max():
        return []
    # Divided by the largest first: sums of squares of huge values stay finite.
    largest = float(np.abs(filled).max())
    scaled = np.where(missing, 0.0, values / largest)
    mean, deviation = float((filled / largest).mean()), float((filled / largest).std())
    coded = np.where(missing, 0.0, (scaled - mean) / deviation).astype(np.float32)
    return [coded, missing.astype(np.float32)] if missing.any() else [coded]


def _levels(cells: ColumnCells) -> list[Single]:
    """Return one column of 0 and 1 for each level."""
    return [(cells == level).astype(np.float32) for level in np.unique(cells)]
