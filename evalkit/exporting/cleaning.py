"""HTML of unknown origin to HTML that can neither run, load, nor point anywhere.

An output says nothing reliable of who wrote it, so nothing is trusted: what evalkit shows passes
through the same list of what may stay as what anybody else shows.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

# Both come with nbconvert, which requires them.
from bs4 import BeautifulSoup
from nbconvert.preprocessors.sanitize import SanitizeHTML

if TYPE_CHECKING:
    from collections.abc import Callable

    from bs4.element import Tag

_DROPPED_WHOLE: Final = (
    *("script", "style", "template", "noscript", "iframe", "object", "embed", "textarea"),
    *("title", "noembed", "noframes", "xmp", "plaintext", "select", "math", "foreignobject"),
)
"""Elements whose text is no text to read, or that could hide mark-up from the cleaning."""
_TEXT_TAGS: Final = (
    *("p", "div", "span", "b", "strong", "i", "em", "u", "s", "code", "pre", "br", "hr", "small"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "blockquote"),
    *("table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "colgroup", "col"),
    *("sub", "sup", "figure", "figcaption"),
)
_DRAWING_TAGS: Final = (
    *("svg", "g", "path", "rect", "circle", "line", "polyline", "polygon", "text", "tspan"),
    *("defs", "clipPath"),
)
_TEXT_ATTRIBUTES: Final = frozenset(
    ("class", "style", "lang", "dir", "scope", "colspan", "rowspan", "start", "role", "aria-label")
)
_DRAWING_ATTRIBUTES: Final = frozenset(
    (
        *("id", "viewBox", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r"),
        *("rx", "ry", "d", "points", "transform", "fill", "fill-opacity", "fill-rule", "stroke"),
        *("stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap"),
        *("stroke-linejoin", "stroke-miterlimit", "opacity", "clip-path", "text-anchor"),
        *("font-size", "font-weight", "font-style", "dx", "dy"),
    )
)
_STYLES: Final = (
    *("text-align", "vertical-align", "white-space", "width", "max-width", "font-weight"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "color"),
)
_INNER_REFERENCE: Final = re.compile(r"url\(#[\w-]+\)")
_REACHES_OUT: Final = re.compile(r"url|\\|://|javascript", re.IGNORECASE)


class Cleaned(NamedTuple):
    """HTML that may be shown, and whether a script was left out of it."""

    html: str
    had_script: bool


def cleaned(html: str) -> Cleaned:
    """Return the parts of some HTML that can only be read.

    Parameters
    ----------
    html : str
        Of anybody.

    Returns
    -------
    Cleaned
        Tags, attributes and styles of a short list; no link, image, script, style sheet or form.

    Examples
    --------
    >>> from evalkit.exporting.cleaning import cleaned
    >>> cleaned('<p onclick="x()">a<script>b</script><a href="https://c.d">e</a></p>')
    Cleaned(html='<p>ae</p>', had_script=True)
    """
    soup = BeautifulSoup(html, "html.parser")
    for picture in soup.find_all("img", class_="evalkit-drawing"):
        _set_inline(picture)
    had_script = soup.find("script") is not None
    for element in soup.find_all(_DROPPED_WHOLE):
        element.decompose()
    return Cleaned(_sanitizer()(str(soup)), had_script)


def _set_inline(picture: Tag) -> None:
    """Put the drawing that a picture of ours holds in its place, so that it has the page's fonts.

    Whoever made it, it is cleaned with all else.
    """
    kind, _, data = str(picture.get("src", "")).partition(",")
    if kind != "data:image/svg+xml;base64":
        return
    try:
        svg = base64.b64decode(data, validate=True).decode("utf-8")
    except ValueError:
        return
    drawing = BeautifulSoup(svg, "html.parser").find("svg")
    if drawing is None:
        return
    alt, sides = str(picture.get("alt", "")), ("width", "height")
    drawing.attrs |= {"class": "evalkit-drawing", "role": "img", "aria-label": alt}
    drawing.attrs |= {side: str(picture[side]) for side in sides if picture.get(side)}
    picture.replace_with(drawing)


@cache
def _sanitizer() -> Callable[[str], str]:
    sanitizer = SanitizeHTML(  # type: ignore[no-untyped-call]
        attributes=_may_stay,
        styles=list(_STYLES),
        tags=[*_TEXT_TAGS, *_DRAWING_TAGS],
        strip=True,
        strip_comments=True,
    )
    found: Callable[[str], str] = sanitizer.sanitize_html_tags
    return found


def _may_stay(tag: str, name: str, value: str) -> bool:
    """Return whether an attribute of an allowed element may stay."""
    if name not in _TEXT_ATTRIBUTES and not (tag in _DRAWING_TAGS and name in _DRAWING_ATTRIBUTES):
        return False
    return bool(_INNER_REFERENCE.fullmatch(value)) or not _REACHES_OUT.search(value)
