"""One way to compile for the whole package.

A module that uses these decorators is imported only where compiled code is needed, because
importing the compiler takes longer than most searches.
A compiled function calls compiled functions of its own file only: the cache on disk notices a
change in the file of a function, not in the files of those that it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")


def compiled(function: Function) -> Function:
    """Compile a function that Python calls, without holding the interpreter's lock.

    The machine code is kept on disk; where no folder can be written, only in memory.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
    """
    return _compile(function)


def internal(function: Function) -> Function:
    """Compile a function that only compiled functions of the same file call.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        It cannot be called from Python, which makes it quicker to compile.
    """
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compile(function: Function, **options: bool) -> Function:
    njit: Any = numba.njit
    try:
        return cast("Function", njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:  # numba found no folder for its cache
        return cast("Function", njit(nogil=True, **options)(function))
