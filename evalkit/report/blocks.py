"""The pieces that a report is made of: plain values, the same for HTML and PDF.

A section of the view is a list of blocks. Each block is a dict with its `kind`, which is the
name of the template part that sets it, and what that part needs. Texts that hold emphasis or
values are `Prose`, drawings are `Picture`; the writer of each output turns them into its own
language, so no template has to.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

Block = dict[str, Any]

NARROW_COLUMNS: Final = 2
FULL_WIDTH_MM: Final = 160.0
LETTER_WIDTH_MM: Final = 1.5
LINE_HEIGHT_MM: Final = 3.9
ROW_AIR_MM: Final = 2.9
TALLEST_WHOLE_MM: Final = 150.0
"""A table up to this height is not parted by the end of a page; a page has 247 mm."""
TALLEST_WHOLE_ROW_MM: Final = 120.0
"""Nor are rows, unless one is so high that it might fit on no page below the head."""
_NAME: Final = re.compile(r"\{(\w+)\}")
_PLACE: Final = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True)
class Prose:
    """Markdown with placeholders, and the values that go there as text.

    Attributes
    ----------
    markdown : str
        Holds U+E000, an index, U+E001 wherever a value belongs.
    values : tuple
        The values by index.
    inline : bool
        One paragraph whose outer mark-up is left out, for cells, captions and facts.
    """

    markdown: str
    values: tuple[Any, ...] = ()
    inline: bool = False


@dataclass(frozen=True)
class Picture:
    """One drawing, ready for both outputs.

    Attributes
    ----------
    html : str
        Inline SVG, wide and narrow.
    typst : str
        SVG for Typst, colours fixed.
    alt : str
        The finding in words.
    width_pt : float
        Natural width in points.
    """

    html: str
    typst: str
    alt: str
    width_pt: float


def prose(template: str, *, inline: bool = False, **values: Any) -> Prose:
    """Return `template` as `Prose`: each ``{name}`` becomes a placeholder of that value.

    Parameters
    ----------
    template : str
        Markdown of the report's words. A name without a value stays as it is.
    inline : bool
        See `Prose`.
    **values
        Anything; shown as its text, never as mark-up.

    Returns
    -------
    Prose

    Examples
    --------
    >>> prose("**{n}** rows", n="4,812").values
    ('4,812',)
    """
    used: list[Any] = []

    def placeholder(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        used.append(values[match[1]])
        return f"\ue000{len(used) - 1}\ue001"

    markdown = _NAME.sub(placeholder, template)
    return Prose(markdown, tuple(used), inline)


def fill(template: str, **values: Any) -> str:
    """Return `template` as plain text, each ``{name}`` replaced by that value.

    Unlike `str.format` it reads no attribute of a value: templates may come from a user.

    Examples
    --------
    >>> fill("{n} rows of {missing}", n=3)
    '3 rows of {missing}'
    """
    return _NAME.sub(lambda match: str(values.get(match[1], match[0])), template)


def text(content: Prose | str) -> Block:
    """Return a block of paragraphs."""
    return {"kind": "text", "text": content, "sticky": False, "titled": False}


def formula_text(content: Prose) -> list[Block]:
    r"""Return a text whose first paragraph leads to a formula: no page parts the two.

    Examples
    --------
    >>> from evalkit.report.blocks import Prose, formula_text
    >>> [block["sticky"] for block in formula_text(Prose("In it:\n\n\ue0000\ue001", ("x = 1",)))]
    [True, False]
    """
    first, _, rest = content.markdown.partition("\n\n")
    if not rest:
        return [text(content)]
    leading = text(Prose(first, content.values)) | {"sticky": True, "titled": True}
    return [leading, text(Prose(rest, content.values))]


def kept_together(blocks: Sequence[Block]) -> list[Block]:
    """Return `blocks`, the paragraphs before a table bound to it: no page parts them.

    Examples
    --------
    >>> from evalkit.report.blocks import items, kept_together, text
    >>> kept_together([text("Why."), text("How."), items([])])[1]["sticky"]
    False
    >>> kept_together([text("Why."), {"kind": "table"}])[0]["sticky"]
    True
    """
    kept: list[Block] = []
    bound = False
    for block in reversed(blocks):
        bound = block["kind"] == "table" or (bound and block["kind"] == "text")
        kept.append(block | {"sticky": True} if bound and block["kind"] == "text" else block)
    return kept[::-1]


def heading(words: str, level: int = 2) -> Block:
    """Return a heading inside a section, of level 2 (below the section's own) or 3."""
    return {"kind": "heading", "text": words, "level": level, "tag": f"h{level + 1}"}


def measure(name: str, title: str, *, new_page: bool) -> Block:
    """Return the finding of one of several measures of a section, as its title."""
    return {"kind": "measure", "kicker": name, "text": title, "new_page": new_page}


def facts(rows: Sequence[tuple[Any, Any]], label: str) -> Block:
    """Return labels with their values, for the margin; `label` names the group for listeners."""
    return {"kind": "facts", "rows": [{"label": name, "value": value} for name, value in rows]} | {
        "label": label
    }


def beside(
    main: Sequence[Block],
    side: Block,
    *,
    sticky: bool = False,
    whole: bool = False,
    dense: bool = False,
) -> Block:
    """Return text with facts or a note in the margin.

    `sticky` keeps it with what follows, `whole` on one page; `dense` sets the text smaller.
    """
    titled = bool(main) and main[0]["kind"] == "heading"
    return {"kind": "beside", "main": list(main), "side": side} | {
        "sticky": sticky,
        "titled": titled,
        "whole": whole,
        "dense": dense,
    }


def note(content: Prose | str, label: str, title: str = "") -> Block:
    """Return a short note for the margin; `label` names it for listeners."""
    return {"kind": "note", "text": content, "label": label, "title": title}


def items(entries: Sequence[Any]) -> Block:
    """Return a dashed list."""
    return {"kind": "items", "items": list(entries)}


def table(
    heads: Sequence[str],
    widths: Sequence[float],
    rows: Sequence[Sequence[Any]],
    *,
    caption: Prose | str = "",
) -> Block:
    """Return a table whose first column names its rows.

    Parameters
    ----------
    heads : sequence of str
        Heads of the columns.
    widths : sequence of float
        Shares of the full width.
    rows : sequence of sequences
        Cells: text, `Prose`, or ``(text, second line in the second voice)``.
    caption : Prose or str
        Below the table; may be empty.

    Returns
    -------
    dict
    """
    total = sum(widths)
    columns = [
        {"head": head, "share": f"{width:g}", "percent": f"{100 * width / total:.4g}"}
        for head, width in zip(heads, widths, strict=True)
    ]
    body = [
        [_cell(value) | {"head": head} for value, head in zip(row, heads, strict=True)]
        for row in rows
    ]
    # Two columns fit on a phone; more may be scrolled there.
    shape = "narrow" if len(columns) <= NARROW_COLUMNS else "wide"
    heights = [_row_height_mm(row, widths, total) for row in rows]
    return {"kind": "table", "columns": columns, "rows": body, "caption": caption} | {
        "class": shape,
        "whole": sum(heights) <= TALLEST_WHOLE_MM,
        "whole_rows": max(heights, default=0.0) <= TALLEST_WHOLE_ROW_MM,
    }


def figure(pictures: Sequence[Picture], captions: Sequence[Prose], *, full_width: bool) -> Block:
    """Return one figure, or several that stand side by side, each with its caption."""
    pairs = [
        {"picture": picture, "caption": caption}
        for picture, caption in zip(pictures, captions, strict=True)
    ]
    return {"kind": "figure", "figures": pairs, "full_width": full_width}


def _row_height_mm(row: Sequence[Any], widths: Sequence[float], total: float) -> float:
    """Return about how high a row is in the PDF, rather too high than too low."""
    lines = 1
    for value, width in zip(row, widths, strict=True):
        letters = FULL_WIDTH_MM * width / total / LETTER_WIDTH_MM
        parts = value if isinstance(value, tuple) else (value,)
        texts = [line for one in parts for line in _written_lines(one)]
        lines = max(lines, sum(max(1, math.ceil(len(one) / letters)) for one in texts))
    return lines * LINE_HEIGHT_MM + ROW_AIR_MM


def _written_lines(value: Any) -> list[str]:
    """Return the lines of a cell with the values in their places."""
    if not isinstance(value, Prose):
        return [str(value)]
    filled = _PLACE.sub(lambda place: str(value.values[int(place[1])]), value.markdown)
    return filled.split("\\\n")


def _cell(value: Any) -> dict[str, Any]:
    if isinstance(value, tuple):
        return {"text": value[0], "second": value[1]}
    return {"text": value, "second": ""}
