"""Several assessments side by side: what changed beyond its interval. Works from the JSON alone."""

from __future__ import annotations

from evalkit.comparing.changes import Change, difference_interval
from evalkit.comparing.comparison import Comparison, Line, compare

__all__ = ["Change", "Comparison", "Line", "compare", "difference_interval"]
