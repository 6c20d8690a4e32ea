"""The way in from a terminal: what has to be right before anything else is imported.

Ctrl-C can come at any moment, a stream can be closed, a letter can be one that the terminal
does not have. Each of these ends in one line, without a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FrameType

ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""The signals that ask a process to end."""
_SIGNALLED: Final = 128
_SECONDS_TO_TIDY_UP: Final = 5.0
_LINE: Final = b"evalkit: interrupted\n"


class Interrupted(BaseException):
    """The process was asked to end; carries the exit code.

    It is no `KeyboardInterrupt`, for which libraries have ways of their own.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.code = _SIGNALLED + number


def main() -> int:
    """Run the command line as a process of its own and return its exit code.

    Returns
    -------
    int
        That of `evalkit.cli.main`; 130, 143 or 129 after Ctrl-C, SIGTERM or SIGHUP.
    """
    _complete_streams()
    _answer_with(_leave_at_once)
    from evalkit import cli

    try:
        _answer_with(_ask_to_end)
        code = cli.main()
    except Interrupted as interruption:
        code = _told(interruption)
    # What is left of the process takes no time; a signal would only change its exit code.
    _answer_with(signal.SIG_IGN)
    return code


def _complete_streams() -> None:
    """Open what was closed, and let every letter be written somehow."""
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            # Else the next file that is opened would become the output.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)
        stream.reconfigure(errors="backslashreplace")


def _answer_with(answer: Any) -> None:
    """Set the answer to the signals that end a process, but for those that are to be ignored."""
    for number in ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, answer)


def _leave_at_once(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - Python's form
    """End while nothing has been made yet."""
    os.write(2, _LINE)
    os._exit(_SIGNALLED + number)


def _ask_to_end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the same
    """Let everything that was begun be taken back, once."""
    began = time.monotonic()

    def insist(again: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the same
        if time.monotonic() - began > _SECONDS_TO_TIDY_UP:
            _leave_at_once(again, None)

    _answer_with(insist)
    raise Interrupted(number)


def _told(interruption: Interrupted) -> int:
    os.write(2, _LINE)
    return interruption.code
