"""Drawing to SVG: one tree, two skins.

HTML gets custom properties and classes, so that the dark scheme applies; Typst gets the light
colours. In both, text stays text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from evalkit.figures.style import (
    FONT,
    HEAT_SERIES,
    HEAT_TOP_STEP,
    HTML_STROKE_SCALE,
    HTML_TEXT_SCALE,
    LIGHT,
    heat,
    heat_class,
)
from evalkit.figures.svg_tree import short, tree

if TYPE_CHECKING:
    from evalkit.figures.sheet import Drawing

HTML_FONTS = "'Evalkit Label', 'Source Sans 3', system-ui, sans-serif"
TYPST_FONTS = f"'{FONT}'"
"""A family name that holds a digit needs quotes of its own, else it is not found."""

_ROLES = {colour: f"var(--{name})" for name, colour in LIGHT.items()}
_HEAT_CLASSES = {
    heat(series, step): heat_class(series, step)
    for series in HEAT_SERIES
    for step in range(1, HEAT_TOP_STEP + 1)
}


def svg(drawing: Drawing, prefix: str) -> str:
    """Return the drawing as SVG with text as text, in the light colours as placeholders.

    Parameters
    ----------
    drawing : Drawing
        What a metric's `draw` returned.
    prefix : str
        Put before every id, so that ids of several drawings on a page differ.

    Returns
    -------
    str
        An ``<svg>`` element of natural size in points; the same bytes for the same drawing.

    Examples
    --------
    >>> from evalkit.figures import Drawing, svg
    >>> from evalkit.figures.sheet import Sheet
    >>> sheet = Sheet(100, 20)
    >>> sheet.text(0, 10, "a < b")
    >>> "a &lt; b" in svg(Drawing("one", sheet.figure, "A text.", False), "f1-")
    True
    """
    return _written(tree(drawing, prefix))


def typst_svg(drawing: Drawing, prefix: str = "", *, on_paper: bool = False) -> str:
    """Return the drawing for Typst or a notebook: light colours, the family in its own quotes.

    Parameters
    ----------
    drawing : Drawing
        The drawing.
    prefix : str
        Put before every id.
    on_paper : bool
        Whether a ground in paper colour is laid below.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures import Drawing, typst_svg
    >>> from evalkit.figures.sheet import Sheet
    >>> text = typst_svg(Drawing("one", Sheet(100, 20).figure, "Nothing.", False))
    >>> 'width="100pt"' in text, "'Source Sans 3'" in text
    (True, True)
    """
    root = tree(drawing, prefix)
    root.set("font-family", TYPST_FONTS)
    if on_paper:
        # A notebook may lack the font, and would take one with serifs.
        root.set("font-family", f"{TYPST_FONTS}, sans-serif")
        ground = ET.Element("rect", width="100%", height="100%", fill=LIGHT["paper"])
        root.insert(0, ground)
    return _written(root)


def html_svg(drawing: Drawing, prefix: str, classes: str = "fig") -> str:
    """Return the drawing for HTML: custom properties, heat classes, text of 13 px.

    Parameters
    ----------
    drawing : Drawing
        The drawing.
    prefix : str
        Put before every id.
    classes : str
        Classes of the ``<svg>`` element, such as ``"fig w"`` for the wide twin.

    Returns
    -------
    str
        An ``<svg role="img">`` element whose label is the drawing's text alternative.

    Examples
    --------
    >>> from evalkit.figures import Drawing, html_svg
    >>> from evalkit.figures.sheet import Sheet
    >>> sheet = Sheet(100, 20)
    >>> sheet.line((0, 10), (100, 10), "ava", 1.0)
    >>> "var(--ava)" in html_svg(Drawing("one", sheet.figure, "A line.", False), "f1-")
    True
    """
    root = tree(drawing, prefix)
    for element in root.iter():
        _dress_for_html(element)
    root.attrib = {
        "class": classes,
        "role": "img",
        "aria-label": drawing.alt,
        "font-family": HTML_FONTS,
        **root.attrib,
    }
    for side in ("width", "height"):
        points = float(root.get(side, "0").removesuffix("pt"))
        root.set(side, short(points * HTML_TEXT_SCALE))
    return _written(root)


def _dress_for_html(element: ET.Element) -> None:
    """Give an element the colours of the page and the strokes of the screen."""
    style = []
    for name in ("fill", "stroke"):
        colour = element.attrib.get(name, "").lower()
        if name == "fill" and colour in _HEAT_CLASSES:
            element.set("class", _HEAT_CLASSES[colour])
            del element.attrib[name]
        elif colour in _ROLES:
            style.append(f"{name}:{_ROLES[colour]}")
            del element.attrib[name]
    if style:
        element.set("style", ";".join(style))
    shrink = HTML_STROKE_SCALE / HTML_TEXT_SCALE
    for name in ("stroke-width", "stroke-dasharray"):
        if name in element.attrib:
            lengths = re.split(r"[ ,]+", element.attrib[name].strip())
            element.set(name, " ".join(short(float(length) * shrink) for length in lengths))


def _written(root: ET.Element) -> str:
    """Return the tree as text, every character of data escaped."""
    return ET.tostring(root, encoding="unicode")
