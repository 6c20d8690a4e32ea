"""Text as text: any value made harmless for HTML and for Typst.

What comes from data is never markup. Each function here takes any text and gives an expression of
the output language that shows that text and can do nothing else.
"""

from __future__ import annotations

import html
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLACEHOLDER_OPEN: Final = "\ue000"
PLACEHOLDER_CLOSE: Final = "\ue001"

# Apple's last-resort font draws a box for every code point: it shows that a glyph is missing.
_NOT_A_REAL_FONT: Final = "LastResort"
_FONT_SUFFIXES: Final = frozenset({".ttf", ".otf"})
_REPLACEMENT: Final = "\ufffd"


def _translation() -> dict[int, str | None]:
    """Build the table of characters that no output may carry as they are."""
    table: dict[int, str | None] = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)])
    table.update(dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
    # Line ends and tabs part words: dropped, they would glue two words together.
    table.update(dict.fromkeys([0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], " "))
    # Half surrogates and non-characters cannot be written to a file; the two marks are ours.
    unwritable = [*range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0)]
    unwritable += [plane * 0x10000 + end for plane in range(17) for end in (0xFFFE, 0xFFFF)]
    marks = [ord(PLACEHOLDER_OPEN), ord(PLACEHOLDER_CLOSE)]
    table.update(dict.fromkeys([*unwritable, *marks], _REPLACEMENT))
    return table


_TRANSLATION: Final = _translation()


def clean_text(value: object) -> str:
    r"""Return the text of a value, without what could steer a reader's screen or a parser.

    Control characters and the characters that reverse the direction of writing are left out; line
    ends and tabs become a space each; half surrogates, non-characters and the two marks of a
    placeholder become U+FFFD.

    Parameters
    ----------
    value : object
        Anything; ``str(value)`` is used.

    Returns
    -------
    str
        One line of text that can be encoded as UTF-8. Empty for an empty text.

    Examples
    --------
    >>> clean_text("first\nsecond\x00 third")
    'first second third'

    """
    return str(value).translate(_TRANSLATION)


def html_text(value: object) -> str:
    """Return a value as HTML text, safe also inside a quoted attribute.

    Parameters
    ----------
    value : object
        Anything; cleaned as `clean_text` does.

    Returns
    -------
    str
        HTML without any tag.

    Examples
    --------
    >>> html_text("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'

    """
    return html.escape(clean_text(value), quote=True)


def typst_string(value: object) -> str:
    r"""Return a value as a Typst string literal, quotes included.

    Parameters
    ----------
    value : object
        Anything; cleaned as `clean_text` does.

    Returns
    -------
    str
        A Typst expression. Write ``#`` before it in markup.

    Examples
    --------
    >>> print(typst_string('#eval("1") \\ $x$'))
    "#eval(\"1\") \\ $x$"

    """
    escaped = clean_text(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def typst_text(value: object, covered: frozenset[int] | None) -> str:
    """Return a value as a Typst string literal in which every character has a glyph.

    A character that no font has is written as its code point, so that nothing is dropped and the
    PDF stays within its standard.

    Parameters
    ----------
    value : object
        Anything; cleaned as `clean_text` does.
    covered : frozenset of int or None
        Code points that have a glyph, see `covered_characters`. None: all are taken to have one.

    Returns
    -------
    str
        A Typst expression.

    Examples
    --------
    >>> typst_text("a中文", frozenset({ord("a")}))
    '"a U+4E2D U+6587 "'

    """
    text = clean_text(value)
    return typst_string(text if covered is None else _spelled(text, covered))


def _spelled(text: str, covered: frozenset[int]) -> str:
    missing = {ord(letter) for letter in set(text)} - covered - {0x20}
    if not missing:
        return text
    # The spaces keep neighbours apart: "U+4E2DU+6587" could be read as one long number.
    spelled = text.translate({code: f" U+{code:04X} " for code in missing})
    return spelled.replace("  ", " ")


def covered_characters(font_dirs: Sequence[Path]) -> frozenset[int]:
    """Return the code points for which some font in the folders has a glyph.

    Parameters
    ----------
    font_dirs : sequence of Path
        Folders with TTF or OTF files; sub-folders are not read. A missing folder counts as empty.
        Fonts of last resort, which draw a box for everything, are left out.

    Returns
    -------
    frozenset of int
        Code points, 0 to 0x10FFFF. Kept in memory per list of folders.

    Examples
    --------
    >>> covered_characters([])
    frozenset()

    """
    return _covered(tuple(Path(folder) for folder in font_dirs))


@lru_cache(maxsize=8)
def _covered(font_dirs: tuple[Path, ...]) -> frozenset[int]:
    return frozenset().union(*(_charmap(path) for path in _font_files(font_dirs)))


def _font_files(font_dirs: Iterable[Path]) -> list[Path]:
    files = [path for folder in font_dirs if folder.is_dir() for path in sorted(folder.iterdir())]
    return [
        path
        for path in files
        if path.suffix.lower() in _FONT_SUFFIXES and not path.name.startswith(_NOT_A_REAL_FONT)
    ]


def _charmap(path: Path) -> frozenset[int]:
    # Its reader of character maps is already installed, and a font tool is not.
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(path)).get_charmap())
