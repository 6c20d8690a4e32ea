"""Progress of a run, from the notebook's process to the one that waits for it.

The notebook appends one line per step to a file that the waiting process reads. A message through
the notebook itself would stay in the executed notebook.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tqdm import tqdm

    Progress = Callable[[int, int, str], None]

VARIABLE = "EVALKIT_PROGRESS_FILE"
_SECONDS_BETWEEN_LOOKS = 0.1


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

    Plain lines start after the first step.

    Examples
    --------
    >>> from evalkit.running.progress import TerminalProgress
    >>> with TerminalProgress() as show:
    ...     show(0, 2, "Reading the tables")
    """

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Self:
        """Start to show."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the line of the bar."""
        if self._bar is not None:
            self._bar.close()

    def __call__(self, done: int, total: int, label: str) -> None:
        """Show that `done` of `total` steps are done and what comes next."""
        if not sys.stderr.isatty():
            if done == 0:
                # Most bad input is found while reading: then one line, the reason, is all.
                return
            print(f"[{done}/{total}] {label}", file=sys.stderr, flush=True)  # noqa: T201
            return
        bar = self._bar = self._bar or _new_bar(total)
        bar.total, bar.n = total, done
        bar.set_description_str(label)


def _new_bar(total: int) -> tqdm[Any]:
    """Return a bar on the error stream that disappears when it is closed."""
    from tqdm import tqdm

    shape = "{desc:<36.36} {bar} {n_fmt}/{total_fmt} {elapsed}"
    return tqdm(total=total, file=sys.stderr, bar_format=shape, leave=False)
