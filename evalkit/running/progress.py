"""Progress of a run, from the notebook's process to the one that waits for it.

The notebook appends one line per step to a file that the waiting process reads. A message through
the notebook itself would stay in the executed notebook.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from evalkit.engine import DASHBOARD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tqdm import tqdm

    Progress = Callable[[int, int, str], None]

VARIABLE = "EVALKIT_PROGRESS_FILE"
_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_BETWEEN_TICKS = 1.0
_TICKS_OF_A_LONG_STEP = 5
_USUAL_WIDTH, _USUAL_ROWS = 80, 20


def report_step(done: int, total: int, label: str) -> None:
    """Tell a waiting process that `done` of `total` steps are done and `label` comes next.

    Nothing happens where nobody waits, as in a notebook that was opened by hand.

    Parameters
    ----------
    done, total : int
        Steps.
    label : str
        What is being done, in a few words.

    Examples
    --------
    >>> from evalkit.running.progress import report_step
    >>> report_step(0, 3, "Reading the tables")
    """
    path = os.environ.get(VARIABLE)
    if path:
        with open(path, "a", encoding="utf-8") as lines:  # noqa: PTH123 - one short append
            lines.write(json.dumps([done, total, label]) + "\n")


class Watcher:
    """Calls `progress` for every line that the notebook writes, while the block runs.

    Parameters
    ----------
    path : pathlib.Path
        The file of the lines.
    progress : callable, optional
        ``progress(done, total, label)``, called from a thread of its own.

    Attributes
    ----------
    total : int
        Steps in all, as the last line said; 0 before the first.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from evalkit.running.progress import VARIABLE, Watcher, report_step
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "steps"
    ...     os.environ[VARIABLE] = str(path)
    ...     with Watcher(path, print):
    ...         report_step(1, 2, "Writing")
    ...     del os.environ[VARIABLE]
    1 2 Writing
    """

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._path = path
        self._progress = progress
        self._seen = 0
        self.total = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Start to watch."""
        if self._progress is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Pass on the last lines and stop."""
        self._over.set()
        if self._progress is not None:
            self._thread.join()

    def _watch(self) -> None:
        """Look for new lines until the block is over, then once more."""
        over = False
        while not over:
            over = self._over.wait(_SECONDS_BETWEEN_LOOKS)
            self._pass_on()

    def _pass_on(self) -> None:
        """Call `progress` for the whole lines that are new."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError:
            return
        for line in text[self._seen : text.rfind("\n") + 1].splitlines():
            assert self._progress is not None
            done, self.total, label = json.loads(line)
            self._progress(done, self.total, label)
        self._seen = text.rfind("\n") + 1


class TerminalProgress:
    """Shows steps on the error stream: a bar on a terminal, plain lines elsewhere.

    The clock of the bar goes on while a step takes its time. Plain lines start after the first
    step, or during it where it takes longer than most faults need to be found: with bad input one
    line, the reason, is all. A label with an address is a line of its own that stays.

    Examples
    --------
    >>> from evalkit.running.progress import TerminalProgress
    >>> with TerminalProgress() as show:
    ...     show(0, 2, "Reading the tables")
    """

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._held_back: str | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        """Start to show."""
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the clock and leave the line of the bar."""
        self._over.set()
        self._clock.join()
        if self._bar is not None:
            self._bar.close()

    def __call__(self, done: int, total: int, label: str) -> None:
        """Show that `done` of `total` steps are done and what comes next."""
        with self._lock:
            if not sys.stderr.isatty():
                self._print_line(done, f"[{done}/{total}] {label}")
                return
            bar = self._bar = self._bar or _new_bar(total)
            bar.total, bar.n = total, done
            if stays(label):
                bar.write(label, file=sys.stderr)
            else:
                bar.set_description_str(label)

    def _print_line(self, done: int, line: str) -> None:
        """Print a line, the first one only if the step turns out to be long."""
        if done == 0:
            self._held_back = line
            return
        self._held_back = None
        print(line, file=sys.stderr, flush=True)  # noqa: T201

    def _tick(self) -> None:
        """Draw the bar anew every second; print the line that was held back after some."""
        seconds = 0
        while not self._over.wait(_SECONDS_BETWEEN_TICKS):
            seconds += 1
            with self._lock, suppress(OSError, ValueError):  # Nobody may be left to be shown.
                if self._bar is not None:
                    self._bar.ncols = _width()
                    self._bar.refresh()
                elif self._held_back and seconds >= _TICKS_OF_A_LONG_STEP:
                    self._print_line(1, self._held_back)


def stays(label: str) -> bool:
    """Return whether a label is news that must stand in full, not the name of a step.

    Examples
    --------
    >>> from evalkit.running.progress import stays
    >>> stays("Dask dashboard at http://127.0.0.1:8787/status"), stays("hellinger")
    (True, False)
    """
    return label.startswith(DASHBOARD)


def _new_bar(total: int) -> tqdm[Any]:
    """Return a bar on the error stream that disappears when it is closed."""
    from tqdm import tqdm

    shape = "{desc:<44.44} {bar} {n_fmt}/{total_fmt} {elapsed}"
    return tqdm(
        total=total,
        file=sys.stderr,
        bar_format=shape,
        leave=False,
        ncols=_width(),
        # A terminal of no rows, as recorders of sessions have, would be shown nothing.
        nrows=_USUAL_ROWS,
    )


def _width() -> int:
    """Return the width of the terminal in columns, a usual one if it does not say."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH
