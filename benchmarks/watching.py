"""What a stage of a run takes: seconds, processor time and memory, worker processes included.

Linux only; elsewhere memory is not measured.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY_SECONDS = 0.02
GIGABYTE = 10**9
Taken = dict[str, float]


def family(process: int) -> list[int]:
    """Return a process and all that it started, directly or not."""
    found = [process]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in task.read_text().split()]
    return found


def memory(process: int) -> dict[str, int]:
    """Return bytes of a process: all that is resident, its own, and the most so far."""
    kinds = {"VmRSS:": "resident", "RssAnon:": "anonymous", "VmHWM:": "most"}
    found = dict.fromkeys(kinds.values(), 0)
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            word, *rest = line.split()
            if word in kinds:
                found[kinds[word]] = int(rest[0]) * 1024
    return found


def processor_seconds() -> float:
    """Return the processor time of this process and of those it started, ended or not."""
    used = sum(os.times()[:4])
    for child in family(os.getpid())[1:]:
        with suppress(OSError):
            fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            used += sum(int(ticks) for ticks in fields[11:13]) / os.sysconf("SC_CLK_TCK")
    return used


class Watch:
    """Looks at the memory of this process and its workers all the time, in a thread."""

    def __init__(self) -> None:
        self._most = {"resident": 0, "anonymous": 0}
        self._ended = threading.Event()

    def look(self) -> None:
        """Keep what is largest."""
        seen = [memory(one) for one in family(os.getpid())]
        for kind in self._most:
            self._most[kind] = max(self._most[kind], sum(one[kind] for one in seen))

    def _run(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            self.look()

    def start(self) -> Watch:
        """Begin to look."""
        threading.Thread(target=self._run, daemon=True).start()
        return self

    @contextmanager
    def stage(self) -> Iterator[Taken]:
        """Fill in what the block took: seconds, processor seconds and gigabytes."""
        # The kernel sees also what lasts less than the time between two looks.
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self._most = dict.fromkeys(self._most, 0)
        self.look()
        taken: Taken = {}
        clock, used = time.perf_counter(), processor_seconds()
        try:
            yield taken
        finally:
            taken["seconds"] = round(time.perf_counter() - clock, 3)
            taken["processor"] = round(processor_seconds() - used, 2)
            self.look()
            most = max(self._most["resident"], memory(os.getpid())["most"])
            taken["resident_gb"] = round(most / GIGABYTE, 3)
            taken["anonymous_gb"] = round(self._most["anonymous"] / GIGABYTE, 3)

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
