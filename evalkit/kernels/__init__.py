"""Hot loops: arrays in, arrays out. NumPy and compiled code only, nothing of the rest."""

from evalkit.kernels.columns import Column
from evalkit.kernels.euclidean import Closest, closest
from evalkit.kernels.linking import LinkProbability, link_probability
from evalkit.kernels.own import own_distances
from evalkit.kernels.own_ranks import OwnRank, own_rank
from evalkit.kernels.search import nearest
from evalkit.kernels.sets import NearestSets

__all__ = [
    "Closest",
    "Column",
    "LinkProbability",
    "NearestSets",
    "OwnRank",
    "closest",
    "link_probability",
    "nearest",
    "own_distances",
    "own_rank",
]
