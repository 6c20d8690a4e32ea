"""Hot loops: arrays in, arrays out. NumPy and compiled code only, nothing of the rest."""

from evalkit.kernels.columns import Column
from evalkit.kernels.linking import LinkProbability, link_probability
from evalkit.kernels.search import nearest
from evalkit.kernels.sets import NearestSets

__all__ = ["Column", "LinkProbability", "NearestSets", "link_probability", "nearest"]
