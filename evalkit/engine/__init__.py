"""Where the work runs: in this process, or on a cluster of Dask workers.

A quantity that grows with the rows is written as three plain functions: `partial(piece, shared)`
gives the state of one piece of a table, `merge(first, second)` that of two pieces together, and
what the caller does with the last state is the finish. An engine decides where the partials run.
"""

from evalkit.engine.announced import Announced
from evalkit.engine.choosing import check_engine, make_engine
from evalkit.engine.engines import DASHBOARD, Engine, LocalEngine, dashboard_words
from evalkit.engine.limits import LARGEST_SEARCH, Limits, memory_bytes
from evalkit.engine.place import fold, gather, limits, working_on

__all__ = [
    "DASHBOARD",
    "LARGEST_SEARCH",
    "Announced",
    "Engine",
    "Limits",
    "LocalEngine",
    "check_engine",
    "dashboard_words",
    "fold",
    "gather",
    "limits",
    "make_engine",
    "memory_bytes",
    "working_on",
]
