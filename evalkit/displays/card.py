"""A card: kicker, title, sentences, facts, tables and notes, as HTML and as text."""

from __future__ import annotations

import textwrap
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

TEMPLATE: Final = "display.html.j2"
MOST_ROWS: Final = 30
"""Rows of a table that a card shows; the rest is counted, and `frame()` has all."""
MOST_NOTES: Final = 12
MOST_TEXT_ROWS: Final = 12
"""The same in a terminal."""
LONGEST_LINE: Final = 120
TEXT_WIDTH: Final = 100


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    head : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        As many texts as the head has.
    whole : str
        What shows the rows that are cut, such as ``"schema.frame()"``.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    whole: str = ""

    def cut(self, most: int) -> str:
        """Return the words for what is left out beyond `most` rows; empty where nothing is."""
        left = len(self.rows) - most
        return f"and {left:,} more: {self.whole or 'not shown'}" if left > 0 else ""


@dataclass(frozen=True)
class Drawn:
    """A drawing with its finding in words.

    It is shown as a picture that is part of the HTML: where a notebook is not trusted, its
    viewer takes the tags of an inline drawing away and leaves the words behind, in no order.

    Attributes
    ----------
    svg : str
        Complete, with its name space.
    alt : str
    width, height : int
        Pixels.
    """

    svg: str
    alt: str
    width: int
    height: int

    @property
    def source(self) -> str:
        """Return the picture as an address that holds it."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode('ascii')}"


@dataclass(frozen=True)
class Card:
    """What one value shows of itself.

    Attributes
    ----------
    kicker : str
        What kind of thing it is.
    title : str
        The one line that matters.
    texts : tuple of str
        Sentences below the title.
    strip, figure : Drawn, optional
        Shown in HTML only; what they say stands in the facts too.
    facts : tuple of (str, str)
        Label and value.
    tables : tuple of Table
    notes : tuple of str
        Remarks, one line each.
    hint : str
        What to call for more.
    language : str
        Of the words.
    """

    kicker: str
    title: str
    texts: tuple[str, ...] = ()
    strip: Drawn | None = None
    figure: Drawn | None = None
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    hint: str = ""
    language: str = "en"

    def html(self) -> str:
        """Return the card for a notebook: every text escaped, no script, no outside address.

        Examples
        --------
        >>> from evalkit.displays.card import Card
        >>> "a &lt; b" in Card("Schema", "a < b").html()
        True
        """
        return _template().render(
            card=self,
            tables=[
                {"head": one.head, "rows": one.rows[:MOST_ROWS], "cut": one.cut(MOST_ROWS)}
                for one in self.tables
            ],
            notes=_some(self.notes, MOST_NOTES),
        )

    def text(self) -> str:
        """Return the card for a terminal: short lines, control characters left out.

        Examples
        --------
        >>> from evalkit.displays.card import Card, Table
        >>> print(Card("Schema", "1 column", tables=(Table(("column",), (("age",),)),)).text())
        Schema: 1 column
          column
          age
        """
        lines = [f"{self.kicker}: {self.title}"]
        for one in self.texts:
            lines += textwrap.wrap(one, TEXT_WIDTH, initial_indent="  ", subsequent_indent="  ")
        lines += [f"  {label}: {value}" for label, value in self.facts]
        for table in self.tables:
            shown = [table.head, *table.rows[:MOST_TEXT_ROWS]]
            lines += [f"  {line}" for line in aligned([[*map(one_line, row)] for row in shown])]
            lines += [f"  {cut}" for cut in [table.cut(MOST_TEXT_ROWS)] if cut]
        lines += [f"  note: {note}" for note in _some(self.notes, MOST_NOTES)]
        return "\n".join(map(_short, lines))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines with aligned columns.

    Examples
    --------
    >>> from evalkit.displays.card import aligned
    >>> aligned([("a", "b"), ("long", "c")])
    ['a     b', 'long  c']
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def one_line(text: str) -> str:
    r"""Return a text as one line of printable characters.

    Examples
    --------
    >>> from evalkit.displays.card import one_line
    >>> one_line("a\nb\x1b[2J")
    'a b�[2J'
    """
    return "".join(one if one.isprintable() else "\ufffd" for one in " ".join(text.split()))


def _short(line: str) -> str:
    """Return one line of a card without what would move a terminal's cursor, cut if too long."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    kept = "".join(one if one.isprintable() else "\ufffd" for one in line.strip())
    room = LONGEST_LINE - len(indent)
    return indent + (kept if len(kept) <= room else kept[: room - 1] + "…")


def _some(notes: tuple[str, ...], most: int) -> list[str]:
    """Return the first notes and how many more there are."""
    left = len(notes) - most
    return [*notes[:most], *([f"and {left} more"] if left > 0 else [])]


@cache
def _template() -> Template:
    """Return the template of a card; every value that it writes is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from evalkit.resources import folder

    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(folder("report_templates") / "technical_assessment"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template(TEMPLATE)
