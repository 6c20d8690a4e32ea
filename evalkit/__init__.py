"""Evaluate synthetic (avatar) data: privacy and utility scores and a report.

`load` the tables, `assess` them, show the `Report`. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit import demo as demo
    from evalkit import metrics as metrics
    from evalkit.assessment import assess as assess
    from evalkit.assessment import measure as measure
    from evalkit.comparing import compare as compare
    from evalkit.errors import InputError as InputError
    from evalkit.records import Assessment as Assessment
    from evalkit.records import Result as Result
    from evalkit.release import Release as Release
    from evalkit.release import load as load
    from evalkit.report.document import Report as Report
    from evalkit.scenario import Scenario as Scenario
    from evalkit.splitting import split as split

__version__ = "0.1.0"
_MODULES = {"demo": "demo", "metrics": "metrics", "assess": "assessment", "measure": "assessment"}
_MODULES |= {"InputError": "errors", "Assessment": "records", "Result": "records"}
_MODULES |= {"Release": "release", "load": "release", "split": "splitting"}
_MODULES |= {"Report": "report.document", "Scenario": "scenario", "compare": "comparing"}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - each name stands in one place
__dir__ = __all__.copy  # For the tab key, before a name is imported.


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'evalkit' has no attribute {name!r}")
    module = import_module(f"evalkit.{_MODULES[name]}")
    return module if _MODULES[name] == name else getattr(module, name)
