"""House style and a handful of drawings, from plain numbers to SVG. Alone imports matplotlib.

Each primitive returns a `Drawing` whose figure is of natural size, holds its text as text and
uses the light house colours. `html_svg` and `typst_svg` dress it for an output.
"""

from __future__ import annotations

from evalkit.figures.apart import apart_drawings, ranked_dots
from evalkit.figures.attacks import interval_dots
from evalkit.figures.coefficients import coefficients
from evalkit.figures.curve import Target, curve
from evalkit.figures.distributions import small_multiples
from evalkit.figures.frontier import frontier
from evalkit.figures.groups import broken_rules, group_drawing
from evalkit.figures.heat import heat_pair
from evalkit.figures.matrix import matrix_pair
from evalkit.figures.pairs import worst_pairs
from evalkit.figures.sets import (
    attack_drawings,
    correlation_drawings,
    linkability_drawings,
    model_drawings,
    outcome_drawings,
)
from evalkit.figures.sheet import Drawing
from evalkit.figures.spread_groups import group_spread
from evalkit.figures.style import colour_css, heat_css
from evalkit.figures.svg import html_svg, svg, typst_svg
from evalkit.figures.variables import worst_variables
from evalkit.figures.words import ENGLISH

__all__ = [
    "ENGLISH",
    "Drawing",
    "Target",
    "apart_drawings",
    "attack_drawings",
    "broken_rules",
    "coefficients",
    "colour_css",
    "correlation_drawings",
    "curve",
    "frontier",
    "group_drawing",
    "group_spread",
    "heat_css",
    "heat_pair",
    "html_svg",
    "interval_dots",
    "linkability_drawings",
    "matrix_pair",
    "model_drawings",
    "outcome_drawings",
    "ranked_dots",
    "small_multiples",
    "svg",
    "typst_svg",
    "worst_pairs",
    "worst_variables",
]
