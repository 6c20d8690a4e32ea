"""From matplotlib's SVG to a small tree of plain elements.

Only the elements and properties named here are copied: nothing in the result can style anything
outside the drawing, point anywhere, or run.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from evalkit.figures.sheet import Drawing

SVG_SPACE = "http://www.w3.org/2000/svg"
LINK_SPACE = "http://www.w3.org/1999/xlink"

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
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NO_TURN = re.compile(r"^rotate\(-?0 ")
_STEP = re.compile(r"([MLz])(?: (-?[\d.]+) (-?[\d.]+))?(?: |$)")
_STRAIGHT = re.compile(r"(?:[ML] -?[\d.]+ -?[\d.]+(?: |$)|z(?: |$))+")
_REFERENCE = re.compile(r"url\(#")
# Text is written as text: whether matplotlib's own font has the sign does not matter.
_GLYPH_WARNING = r"(?s)Glyph \d+|Matplotlib currently does not support"


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


def tree(drawing: Drawing, prefix: str) -> ET.Element:
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
    found = {
        name: _REFERENCE.sub(f"url(#{prefix}", _rounded(value)) for name, value in kept.items()
    }
    if "d" in found:
        found["d"] = _terse(found["d"])
    return found


def _rounded(value: str) -> str:
    """Return a value with its numbers at two decimals, and paths on one line."""
    return _NUMBER.sub(lambda found: short(float(found.group())), " ".join(value.split()))


def _terse(path: str) -> str:
    """Return a path of straight lines with level and upright ones as H and V.

    A square of a hundred variables has thousands of cells, and this halves them.
    """
    if not _STRAIGHT.fullmatch(path):
        return path
    x = y = ""
    steps = []
    for found in _STEP.finditer(path):
        kind, across, down = found.groups()
        if kind == "z":
            steps.append("z")
            continue
        if kind == "L" and down == y:
            steps.append(f"H{across}")
        elif kind == "L" and across == x:
            steps.append(f"V{down}")
        else:
            steps.append(f"{kind}{across} {down}")
        x, y = across, down
    return "".join(steps)


def short(number: float) -> str:
    """Return a number with at most two decimals and no minus before zero."""
    return (
        f"{round(number, 2) + 0.0:g}"
        if abs(number) < 1
        else f"{number:.2f}".rstrip("0").rstrip(".")
    )
