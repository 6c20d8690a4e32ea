"""The figure that a drawing is made on: matplotlib's own, which shows itself and says its finding.

Import it inside a function: it needs matplotlib.
"""

from __future__ import annotations

import io
from functools import cache
from typing import Any, Final

from matplotlib.figure import Figure

from evalkit.figures.lettering import font_path
from evalkit.figures.style import HTML_TEXT_SCALE

POINTS_PER_INCH: Final = 72
SHARPNESS: Final = 2.0
"""Pixels of the picture to a pixel of the page: screens have two by now."""


class HouseFigure(Figure):
    """A matplotlib figure of natural size with a text alternative.

    Attributes
    ----------
    alt : str
        What it shows, in words and numbers; empty until a drawing is made of it.

    Examples
    --------
    >>> from evalkit.figures.house import HouseFigure
    >>> HouseFigure(figsize=(2, 1)).alt
    ''
    """

    alt: str = ""

    def _ipython_display_(self) -> None:
        """Show the figure with its words; matplotlib's own way, once on, would drop them."""
        from IPython.display import display

        picture, about = self._repr_png_()
        words = f"Figure: {self.alt}" if self.alt else repr(self)
        shown = {"image/png": picture, "text/plain": words}
        display(shown, metadata={"image/png": about}, raw=True)  # type: ignore[no-untyped-call]

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the figure as it is now for a notebook, text at 13 px as in the report."""
        target = io.BytesIO()
        dots = POINTS_PER_INCH * HTML_TEXT_SCALE
        self.savefig(target, format="png", dpi=dots * SHARPNESS, metadata={"Software": None})
        width, height = (round(float(side) * dots) for side in self.get_size_inches())
        return target.getvalue(), {"width": width, "height": height, "alt": self.alt}


@cache
def register_fonts() -> None:
    """Make the house fonts known to matplotlib by name, for words that the user adds.

    The drawings name the files of theirs and need no registering.
    """
    from matplotlib import font_manager

    for bold in (False, True):
        font_manager.fontManager.addfont(font_path(bold=bold))
