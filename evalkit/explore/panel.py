"""What a cell of an exploration notebook shows: a finding, sentences, a table, drawings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.figures import Drawing

_PREFIXES = count()


@dataclass(frozen=True, eq=False)
class Panel:
    """A small page, static in every output: every text in it is escaped.

    Attributes
    ----------
    title : str
        The finding, or what is shown.
    sentences : tuple of str
        Below the title.
    head : tuple of str
        Names of the columns of the table; empty for none.
    rows : tuple of tuple of str
        Its rows, a text for each column.
    drawings : tuple of Drawing
        Below the table.
    note : str
        The small line at the foot.

    Examples
    --------
    >>> from evalkit.explore.panel import Panel
    >>> Panel("Two tables", head=("table", "rows"), rows=(("avatars", "20"),))
    Two tables
    table    rows
    avatars  20
    """

    title: str
    sentences: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    drawings: tuple[Drawing, ...] = ()
    note: str = ""

    def _repr_html_(self) -> str:
        """Return the panel for a notebook and its exported form: no script, no address."""
        from evalkit.figures import typst_svg
        from evalkit.report.blocks import Picture
        from evalkit.report.layout import render_notebook

        pictures = [
            Picture(typst_svg(one, f"explore{next(_PREFIXES)}-", on_paper=True), "", one.alt, 0.0)
            for one in self.drawings
        ]
        view = {
            "title": self.title,
            "sentences": self.sentences,
            "head": self.head,
            "rows": self.rows,
            "pictures": pictures,
            "note": self.note,
        }
        return render_notebook(view, "exploration.html.j2")

    def __repr__(self) -> str:
        from evalkit.displays.card import aligned

        table = aligned([self.head, *self.rows]) if self.head else []
        spoken = [one.alt for one in self.drawings]
        lines = [self.title, *self.sentences, *table, *spoken, self.note]
        return "\n".join(line for line in lines if line)


def score_text(score: float | None) -> str:
    """Return a score with one decimal, or a dash.

    Examples
    --------
    >>> from evalkit.explore.panel import score_text
    >>> score_text(84.94), score_text(None)
    ('84.9', '–')
    """
    return "–" if score is None else f"{score:.1f}"


def interval_text(interval: tuple[float, float] | list[float] | None) -> str:
    """Return an interval in words, or nothing.

    Examples
    --------
    >>> from evalkit.explore.panel import interval_text
    >>> interval_text((81.45, 87.87))
    '81.5 to 87.9'
    """
    return "" if interval is None else signed(f"{interval[0]:.1f} to {interval[1]:.1f}")


def signed(text: str) -> str:
    """Return numbers with a true minus.

    Examples
    --------
    >>> from evalkit.explore.panel import signed
    >>> signed("-0.3 to 0.8")
    '−0.3 to 0.8'
    """
    return text.replace("-", "−")
