"""Names as one line of safe text, measured in the house font without drawing it."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from evalkit.figures.style import TEXT_PT

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.ft2font import FT2Font

WIDE_CHARACTER_EM = 3.4
"""Width taken for an emoji or an ideograph that the house font lacks: the PDF spells it U+4E2D."""
MOST_CHARACTERS = 400
"""No name is looked at beyond this: none can be shown at that length anyway."""
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    r"""Return `text` as one line of characters that every output can hold.

    Parameters
    ----------
    text : str
        A name from data, or words of the report.

    Returns
    -------
    str
        Control characters, lone surrogates and direction overrides become U+FFFD, since XML
        forbids the first two and the third would turn the words that follow.

    Examples
    --------
    >>> from evalkit.figures.lettering import plain
    >>> plain("blood\npressure")
    'blood pressure'
    """
    one_line = " ".join(str(text).split())
    return "".join("\ufffd" if _unprintable(character) else character for character in one_line)


def _unprintable(character: str) -> bool:
    """Return whether a character cannot stand in a drawing."""
    return (
        unicodedata.category(character) in {"Cc", "Cs"}
        or character in _OVERRIDES
        or character in "\ufffe\uffff"
    )


@cache
def font_path(*, bold: bool = False) -> Path:
    """Return the file of the house font; matplotlib's own where the folder has none."""
    from matplotlib import font_manager

    from evalkit.resources import folder

    weight = "SemiBold" if bold else "Regular"
    found = sorted((folder("report_templates") / "fonts").glob(f"SourceSans3*{weight}.ttf"))
    if found:
        return found[0]
    from pathlib import Path

    return Path(font_manager.findfont("DejaVu Sans"))


@cache
def _font(*, bold: bool) -> FT2Font:
    """Return the open font that widths are taken from."""
    from matplotlib.font_manager import get_font

    return get_font(str(font_path(bold=bold)))


@cache
def _character_em(character: str, *, bold: bool) -> float:
    """Return the width of one character in em."""
    from matplotlib.ft2font import LoadFlags

    font = _font(bold=bold)
    if font.get_char_index(ord(character)):
        glyph = font.load_char(ord(character), flags=LoadFlags.NO_SCALE)
        return float(glyph.horiAdvance) / float(font.units_per_EM)
    if unicodedata.east_asian_width(character) in "WF":
        return WIDE_CHARACTER_EM
    return 0.0 if unicodedata.combining(character) else 0.6


def width_pt(text: str, size_pt: float = TEXT_PT, *, bold: bool = False) -> float:
    """Return the width of `text` in points, in the house font.

    Parameters
    ----------
    text : str
        One line.
    size_pt : float
        Size of the font.
    bold : bool
        Whether the heavier face is meant.

    Returns
    -------
    float

    Examples
    --------
    >>> from evalkit.figures.lettering import width_pt
    >>> width_pt("") == 0.0 and width_pt("aa") == 2 * width_pt("a")
    True
    """
    return size_pt * sum(_character_em(character, bold=bold) for character in text)


def shortened(text: str, most_pt: float, size_pt: float = TEXT_PT) -> str:
    """Return `text`, its middle replaced by an ellipsis where it is wider than `most_pt`.

    The middle goes because long names of columns often differ only at the end.

    Parameters
    ----------
    text : str
        One line.
    most_pt : float
        Room in points.
    size_pt : float
        Size of the font.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures.lettering import shortened
    >>> shortened("age", 100.0)
    'age'
    """
    whole = shown = plain(text)[:MOST_CHARACTERS]
    kept = len(whole)
    while kept > 1 and width_pt(shown, size_pt) > most_pt:
        kept -= 1
        head = (kept + 1) // 2
        shown = f"{whole[:head]}…{whole[len(whole) - (kept - head) :]}"
    return shown


def wrapped(text: str, most_pt: float) -> list[str]:
    """Return `text` as lines, each at most `most_pt` wide, broken at spaces."""
    lines: list[str] = []
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_pt(longer) <= most_pt:
            lines[-1] = longer
        else:
            lines.append(word)
    return [shortened(line, most_pt) for line in lines]
