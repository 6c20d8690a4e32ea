"""A long call in a thread of its own, so that this one stays free to be interrupted.

The library that runs the cells takes over the signals of the main thread while it works there;
Ctrl-C then comes out as a process that died. In another thread it leaves them alone.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_TO_END = 10.0


class _Call(threading.Thread, Generic[_Result]):
    """Calls a function once and keeps what it returned or raised."""

    def __init__(self, function: Callable[[], _Result]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self.returned: list[_Result] = []
        self.raised: BaseException | None = None

    def run(self) -> None:
        """Call, and close the event loop that the call made for this thread."""
        from jupyter_core.utils import ensure_event_loop

        try:
            self.returned.append(self._function())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.raised = error
        finally:
            ensure_event_loop().close()


def beside(function: Callable[[], _Result], end: Callable[[], None]) -> _Result:
    """Return what `function` returns, called in another thread.

    Parameters
    ----------
    function : callable
        What takes long.
    end : callable
        Makes `function` come to an end soon; called, perhaps more than once, if this thread is
        interrupted, and once at the end.

    Returns
    -------
    object

    Raises
    ------
    BaseException
        What `function` raised, or what interrupted this thread.

    Examples
    --------
    >>> from evalkit.running.beside import beside
    >>> beside(lambda: 6 * 7, lambda: None)
    42
    """
    call = _Call(function)
    try:
        call.start()
        while call.is_alive():
            call.join(_SECONDS_BETWEEN_LOOKS)
    except BaseException:
        for _ in range(int(_SECONDS_TO_END / _SECONDS_BETWEEN_LOOKS)):
            end()
            call.join(_SECONDS_BETWEEN_LOOKS)
            if not call.is_alive():
                break
        raise
    finally:
        end()
    if call.raised is not None:
        raise call.raised
    return call.returned[0]
