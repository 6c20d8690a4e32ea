"""Measurements that need a process of their own: first calls, memory, a million rows."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from contestants import evalkit_columns
from tables import frames, load

from evalkit.kernels import Column, link_probability, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

Facts = dict[str, float | bool]
ROUNDS = 3


def numbers(n: int, columns: int, end: int) -> list[Column]:
    """Make integer columns whose rows are all different."""
    r = np.random.default_rng(5)
    return [
        Column(*r.integers(0, end + 1, (2, n)), numeric=True, low=0, high=end)
        for _ in range(columns)
    ]


def taken(work: Callable[[], object]) -> Facts:
    """Seconds on the clock and of the processors, all threads together."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
    }


def best(work: Callable[[], object]) -> Facts:
    """Best of some rounds, after one to warm up."""
    rounds = [taken(work) for _ in range(ROUNDS + 1)][1:]
    return {name: min(facts[name] for facts in rounds) for name in rounds[0]}


def first_small(_: Path) -> Facts:
    """Take the time of the first call on small tables."""
    columns = numbers(1_000, 20, 99)
    facts = taken(lambda: nearest(columns))
    return facts | {"numba": "numba" in sys.modules}


def first_compiled(_: Path) -> Facts:
    """Take the time of the first compiled call, the import of the compiler included."""
    columns = numbers(1_000, 7, 10_007)
    return taken(lambda: nearest(columns, path="compiled"))


def key_that_nobody_shares(_: Path) -> Facts:
    """Take the time where a key of its own makes every avatar tie for every original."""
    n = 8_000
    key = np.arange(n)
    return best(lambda: nearest([Column(key, key + n, numeric=False)]))


def line(_: Path) -> Facts:
    """Take the time where avatars on a falling line tie for every original below it."""
    n, end = 8_000, 10**7
    r = np.random.default_rng(0)
    x = np.linspace(end // 10, end, n).astype(np.int64)
    below = r.integers(0, end // 10, (2, n))
    sides = (below[0], x), (below[1], end + end // 10 - x)
    return best(lambda: nearest([Column(*side, numeric=True, low=0, high=end) for side in sides]))


def million(data: Path) -> Facts:
    """Link both halves of a pair of tables, from frames to the expected number of links."""
    pair = load(data)
    names = list(pair.x)
    x, y = frames(pair)
    del pair
    before = held("VmRSS")
    forget_peak()

    def work() -> float:
        halves = (names[: len(names) // 2], names[len(names) // 2 :])
        a, b = (nearest(evalkit_columns(x[half], y[half])) for half in halves)
        return float(link_probability(a, b).probability.sum())

    facts = best(work)
    return facts | {"gigabytes": held("VmHWM") - before}


def held(kind: str) -> float:
    """Memory in gigabytes: VmRSS, held now, or VmHWM, the most since `forget_peak`; Linux only."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    lines = (line.split() for line in status.read_text("utf-8").splitlines())
    return next(float(words[1]) for words in lines if words[0] == f"{kind}:") / 1e6


def forget_peak() -> None:
    """Let the most memory held be counted from now on."""
    switch = Path("/proc/self/clear_refs")
    if switch.exists():
        switch.write_text("5", "utf-8")


MEASUREMENTS: dict[str, Callable[[Path], Facts]] = {
    work.__name__: work
    for work in (first_small, first_compiled, key_that_nobody_shares, line, million)
}

if __name__ == "__main__":
    print(json.dumps(MEASUREMENTS[sys.argv[1]](Path(sys.argv[2]))))
