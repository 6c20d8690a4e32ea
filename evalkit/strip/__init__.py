"""The score strip: one line from 0 to 100, the target above it, the score on it, known cases below.

The geometry is worked out once, x in percent of the line and y in points, and written in two
skins. In HTML the line stretches with its column while words and dots keep their size; in Typst
the size is fixed.
"""

from __future__ import annotations

from evalkit.strip.layout import Anchor, Reading, known_cases, page_strip, table_strip
from evalkit.strip.marks import Strip

__all__ = ["Anchor", "Reading", "Strip", "known_cases", "page_strip", "table_strip"]
