"""Colours and fonts of the HTML report, to be put into the one file."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import Final

from evalkit.resources import folder

_FACES: Final = {
    "EvalkitText-Regular": ("Evalkit Text", "400", "normal"),
    "EvalkitText-Italic": ("Evalkit Text", "400", "italic"),
    "EvalkitText-SemiBold": ("Evalkit Text", "600", "normal"),
    "EvalkitLabel-Regular": ("Evalkit Label", "400", "normal"),
    "EvalkitLabel-SemiBold": ("Evalkit Label", "600", "normal"),
    "EvalkitMath-Regular": ("Evalkit Math", "400", "normal"),
}


@lru_cache(maxsize=1)
def fonts() -> tuple[dict[str, str], ...]:
    """Return the fonts of the file: family, weight, style, and the WOFF2 in base 64."""
    place = folder("report_templates") / "fonts"
    return tuple(
        {
            "family": family,
            "weight": weight,
            "style": slant,
            "data": b64encode((place / f"{stem}.woff2").read_bytes()).decode("ascii"),
        }
        for stem, (family, weight, slant) in _FACES.items()
    )


def colours() -> str:
    """Return the style rules of the house colours, light and dark."""
    from evalkit.figures.style import colour_css, heat_css

    return colour_css() + heat_css()
