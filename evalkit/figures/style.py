"""The house colours, light and dark, and the rules of style that carry them in HTML.

A drawing holds the light colours. They are placeholders too: each light colour has one meaning,
so the HTML skin can put a custom property in its place and the dark scheme applies.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FONT = "Source Sans 3"
TEXT_PT = 8.0
SMALL_PT = 7.5
"""The floor: numbers in cells and letters under strips."""

HTML_TEXT_SCALE = 1.625
"""Pixels to a point in HTML: text of 8 pt becomes 13 px."""
HTML_STROKE_SCALE = 1.25
"""The same for strokes, which would look heavy if they grew with the text."""

_LIGHT_BASE = {
    "paper": "#ffffff",
    "ink": "#1c1f23",
    "mute": "#565c64",
    "axis": "#858b93",
    "rule": "#aab0b7",
    "orig": "#3b3f45",
    "ava": "#0b6fa4",
    "hold": "#b87a00",
    "holdtx": "#855800",
    "floor": "#747a82",
}
_DARK_BASE = {
    "paper": "#14171a",
    "ink": "#e2e4e7",
    "mute": "#a3a9b1",
    "axis": "#6c737c",
    "rule": "#4c525a",
    "orig": "#c9cdd2",
    "ava": "#62b4e6",
    "hold": "#dfa63a",
    "holdtx": "#dfa63a",
    "floor": "#8d949d",
}
# Tints are solid mixes with the paper, never opacity: what lies below must not show through.
_TINTS = {
    "hair": ("rule", 0.50),
    "avaA": ("ava", 0.20),
    "avaT": ("ava", 0.33),
    "holdT": ("hold", 0.33),
    "origT": ("orig", 0.33),
}
HEAT_SERIES = ("orig", "ava", "hold")
HEAT_TOP_STEP = 7
_HEAT_SHARES_LIGHT = (0.0, 0.07, 0.14, 0.21, 0.29, 0.38, 0.47, 0.56)
_HEAT_SHARES_DARK = (0.0, 0.06, 0.12, 0.17, 0.23, 0.29, 0.36, 0.43)


def mix(colour: str, paper: str, share: float) -> str:
    """Return `share` of `colour` mixed with the rest of `paper`, all as ``#rrggbb``.

    Parameters
    ----------
    colour, paper : str
        Six hexadecimal digits after ``#``.
    share : float
        0 to 1.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.figures.style import mix
    >>> mix("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    channels = (
        round(int(colour[at : at + 2], 16) * share + int(paper[at : at + 2], 16) * (1 - share))
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def _with_tints(base: Mapping[str, str]) -> Mapping[str, str]:
    """Return the colours of a scheme with its tints."""
    tints = {
        name: mix(base[series], base["paper"], share) for name, (series, share) in _TINTS.items()
    }
    return MappingProxyType({**base, **tints})


LIGHT = _with_tints(_LIGHT_BASE)
"""Colour by meaning on white paper; also the placeholders in a drawing."""
DARK = _with_tints(_DARK_BASE)
"""Colour by meaning in the dark scheme."""


def heat(series: str, step: int, *, dark: bool = False) -> str:
    """Return the colour of a heat cell.

    Parameters
    ----------
    series : str
        One of `HEAT_SERIES`.
    step : int
        0 (paper) to `HEAT_TOP_STEP`.
    dark : bool
        Whether the dark scheme is meant.

    Returns
    -------
    str
        ``#rrggbb``.

    Examples
    --------
    >>> from evalkit.figures.style import heat
    >>> heat("ava", 7)
    '#76aecc'
    """
    scheme, shares = (DARK, _HEAT_SHARES_DARK) if dark else (LIGHT, _HEAT_SHARES_LIGHT)
    return mix(scheme[series], scheme["paper"], shares[step])


def heat_class(series: str, step: int) -> str:
    """Return the class of a heat cell in HTML, such as ``h-ava-3``."""
    return f"h-{series}-{step}"


def _heat_rules(*, dark: bool) -> str:
    """Return one rule for each step above the paper."""
    return "".join(
        f".{heat_class(series, step)}{{fill:{heat(series, step, dark=dark)}}}"
        for series in HEAT_SERIES
        for step in range(1, HEAT_TOP_STEP + 1)
    )


def heat_css() -> str:
    """Return the rules of the heat cells, light and dark, for the report's style.

    The dark rules hold for screens only: a printed page is light.

    Returns
    -------
    str
        Style rules for 21 classes ``h-<series>-<step>``, series orig, ava, hold, step 1 to 7.

    Examples
    --------
    >>> from evalkit.figures.style import heat_css
    >>> heat_css().startswith(".h-orig-1{fill:#f1f2f2}")
    True
    """
    dark = _heat_rules(dark=True)
    return f"{_heat_rules(dark=False)}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def colour_css() -> str:
    """Return the custom properties ``--ava`` and so on, light and dark, for the report's style.

    Returns
    -------
    str
        A ``:root`` rule and its dark twin for screens.

    Examples
    --------
    >>> from evalkit.figures.style import colour_css
    >>> "--ava:#0b6fa4" in colour_css()
    True
    """
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in scheme.items())
        for scheme in (LIGHT, DARK)
    )
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
