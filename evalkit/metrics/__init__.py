"""The metrics. One metric is one file here; the folder is the registry.

In a notebook the tab key lists them after ``evalkit.metrics.``, and a question mark behind one
shows its formula and its source.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from evalkit.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

    from evalkit.metric import Metric


def __dir__() -> list[str]:
    return ["all", "get", *_slugs()]


def __getattr__(name: str) -> ModuleType:
    if name not in _slugs():
        raise AttributeError(f"module 'evalkit.metrics' has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


@cache
def _slugs() -> tuple[str, ...]:
    """Return the names of the files, without importing one."""
    return tuple(sorted(found.name for found in iter_modules(__path__)))


@cache
def all() -> tuple[Metric, ...]:  # noqa: A001 - reads as evalkit.metrics.all()
    """Return every metric: privacy first, then utility, each by criterion or level and slug.

    Returns
    -------
    tuple of Metric

    Examples
    --------
    >>> import evalkit
    >>> sorted({metric.section.value for metric in evalkit.metrics.all()})
    ['privacy', 'utility']
    """
    modules = (import_module(f"{__name__}.{name}") for name in _slugs())
    found = [module.METRIC for module in modules]
    return tuple(sorted(found, key=lambda metric: (metric.section, metric.slug)))


def get(slug: str) -> Metric:
    """Return the metric called `slug`.

    Parameters
    ----------
    slug : str
        Such as ``"linkability_protection_rate"``; hyphens are read as underscores.

    Returns
    -------
    Metric

    Raises
    ------
    evalkit.InputError
        If there is none; the message names the nearest.

    Examples
    --------
    >>> import evalkit
    >>> evalkit.metrics.get("correlation-difference-ratio").section.value
    'utility'
    """
    known = {metric.slug: metric for metric in all()}
    name = slug.strip().replace("-", "_")
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "'evalkit metrics' lists their names."
    message = f"There is no metric {slug!r}; {hint}"
    raise InputError(message)
