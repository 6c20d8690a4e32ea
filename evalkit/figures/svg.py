"""Drawing to SVG: one tree, two skins.

HTML gets custom properties and classes, so that the dark scheme applies; Typst gets the light
colours. In both, text stays text, nothing styles anything outside the drawing, and no link or
script can be in it, because only the elements and properties named here are copied.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
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

if TYPE_CHECKING:
    from evalkit.figures.sheet import Drawing

SVG_SPACE = "http://www.w3.org/2000/svg"
LINK_SPACE = "http://www.w3.org/1999/xlink"
HTML_FONTS = "'Evalkit Label', 'Source Sans 3', system-ui, sans-serif"
TYPST_FONTS = f"'{FONT}'"
"""A family name that holds a digit needs quotes of its own, else it is not found."""

_DROPPED = ("metadata", "style", "title", "desc")
_KEPT_STYLE = frozenset(
    (
        "fill",
        "fill-opacity",
        "fill-rule",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-linecap",
        "stroke-linejoin",
        "font-size",
        "font-style",
        "font-weight",
        "text-anchor",
        "opacity",
        "clip-path",
    )
)
# What the root already says, or what no value is the same as.
_DEFAULTS = {
    ("stroke-linejoin", "round"),
    ("stroke-linecap", "butt"),
    ("stroke-dashoffset", "0"),
    ("text-anchor", "start"),
    ("stroke", "none"),
}
_KEPT_ATTRIBUTES = ("x", "y", "width", "height", "d", "points", "transform", "id", "clip-path")
_ROLES = {colour: f"var(--{name})" for name, colour in LIGHT.items()}
_HEAT_CLASSES = {
    heat(series, step): heat_class(series, step)
    for series in HEAT_SERIES
    for step in range(1, HEAT_TOP_STEP + 1)
}
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NO_TURN = re.compile(r"^rotate\(-?0 ")
_REFERENCE = re.compile(r"url\(#")
# Text is written as text: whether matplotlib's own font has the sign does not matter.
_GLYPH_WARNING = r"(?s)Glyph \d+|Matplotlib currently does not support"


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
    return _written(_tree(drawing, prefix))


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
    root = _tree(drawing, prefix)
    root.set("font-family", TYPST_FONTS)
    if on_paper:
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
    root = _tree(drawing, prefix)
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
        root.set(side, _short(points * HTML_TEXT_SCALE))
    return _written(root)


def _matplotlib_svg(drawing: Drawing) -> bytes:
    """Return what matplotlib writes, with everything that could vary held fixed."""
    from matplotlib import rc_context

    settings: dict[Any, Any] = {
        "svg.hashsalt": "evalkit",
        "svg.fonttype": "none",
        "text.usetex": False,
        "savefig.bbox": None,  # The inline backend crops figures to what is drawn.
        "path.simplify": False,
    }
    stream = io.BytesIO()
    with rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_GLYPH_WARNING, category=UserWarning)
        drawing.figure.savefig(
            stream,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None},
        )
    return stream.getvalue()


def _tree(drawing: Drawing, prefix: str) -> ET.Element:
    """Return the drawing as a small tree of plain elements."""
    # The text was written by matplotlib a line above, from one drawing; it holds no entity.
    source = ET.fromstring(_matplotlib_svg(drawing))  # noqa: S314
    root = ET.Element(
        "svg",
        {
            "xmlns": SVG_SPACE,
            "width": source.get("width", ""),
            "height": source.get("height", ""),
            "viewBox": source.get("viewBox", ""),
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
        },
    )
    needed = set(re.findall(r"#([\w.-]+)", " ".join(_references(source))))
    for child in source:
        _copy(child, root, prefix, needed)
    return root


def _references(source: ET.Element) -> list[str]:
    """Return every value that may point at an id."""
    return [
        value
        for element in source.iter()
        for name, value in element.attrib.items()
        if name.endswith("href") or "url(#" in value
    ]


def _copy(source: ET.Element, parent: ET.Element, prefix: str, needed: set[str]) -> None:
    """Copy `source` under `parent`: known attributes only, groups without effect left out."""
    name = source.tag.removeprefix(f"{{{SVG_SPACE}}}")
    if name in _DROPPED:
        return
    attributes = _attributes(source, prefix, needed)
    if name == "path" and attributes.get("fill") == "none" and "stroke" not in attributes:
        return
    target = parent
    if name not in {"g", "defs"} or attributes or (name == "defs" and len(source)):
        target = ET.SubElement(parent, name, attributes)
        target.text = source.text if name == "text" else None
    for child in source:
        _copy(child, target, prefix, needed)
    if name == "defs" and target is not parent and len(target) == 0:
        parent.remove(target)


def _attributes(source: ET.Element, prefix: str, needed: set[str]) -> dict[str, str]:
    """Return the attributes that a copy keeps, style written out as attributes."""
    kept = {name: source.attrib[name] for name in _KEPT_ATTRIBUTES if name in source.attrib}
    link = source.get(f"{{{LINK_SPACE}}}href") or source.get("href")
    if link and link.startswith("#"):
        kept["href"] = f"#{prefix}{link[1:]}"
    if "id" in kept:
        identifier = kept.pop("id")
        if identifier in needed:
            kept["id"] = prefix + identifier
    for part in source.get("style", "").split(";"):
        name, _, value = (piece.strip() for piece in part.partition(":"))
        if name in _KEPT_STYLE and (name, value) not in _DEFAULTS:
            kept[name] = value.removesuffix("px")
    if _NO_TURN.match(kept.get("transform", "")):
        del kept["transform"]
    return {name: _REFERENCE.sub(f"url(#{prefix}", _rounded(value)) for name, value in kept.items()}


def _rounded(value: str) -> str:
    """Return a value with its numbers at two decimals, and paths on one line."""
    return _NUMBER.sub(lambda found: _short(float(found.group())), " ".join(value.split()))


def _short(number: float) -> str:
    """Return a number with at most two decimals and no minus before zero."""
    return (
        f"{round(number, 2) + 0.0:g}"
        if abs(number) < 1
        else f"{number:.2f}".rstrip("0").rstrip(".")
    )


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
            element.set(name, " ".join(_short(float(length) * shrink) for length in lengths))


def _written(root: ET.Element) -> str:
    """Return the tree as text, every character of data escaped."""
    return ET.tostring(root, encoding="unicode")
