"""Names at the ends of lines, spread so that none covers another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from evalkit.figures.style import TEXT_PT

LINE_HEIGHT = 1.12 * TEXT_PT
ROUNDS = 50
"""Of spreading; four labels come to rest in fewer than twenty."""


@dataclass
class Label:
    """A name at the right end of a line."""

    y: float
    lines: list[str]
    colour: str
    bold: bool = False
    top: float = 0.0

    @property
    def height(self) -> float:
        """Return the height of all its lines."""
        return len(self.lines) * LINE_HEIGHT


def spread(labels: list[Label], top: float, bottom: float) -> None:
    """Set the tops of the labels near their lines so that none covers another.

    Each label wants its first line beside its line's end. Of an overlap each side gives half, so
    that a pair stays centred on its two lines.

    Parameters
    ----------
    labels : list of Label
        Sorted in place by height.
    top, bottom : float
        Where names may stand.
    """
    labels.sort(key=lambda label: label.y)
    for label in labels:
        label.top = label.y - LINE_HEIGHT / 2
    for _ in range(ROUNDS):
        for above, below in pairwise(labels):
            overlap = above.top + above.height - below.top
            if overlap > 0:
                above.top -= overlap / 2
                below.top += overlap / 2
        if labels:
            labels[0].top = max(labels[0].top, top)
            labels[-1].top = min(labels[-1].top, bottom - labels[-1].height)
