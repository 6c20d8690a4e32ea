"""Running times of the nearest-avatar search beside those of its peers, in one run.

    python benchmarks/nearest.py [--original FILE --avatars FILE] [--quick]

Contestants take turns, each in a process of its own, so that a busy machine slows all of them.
Every answer is compared with ours. Figures go to standard output as Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from set_up import PLACE, python_of, set_up
from tables import census, continuous, from_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from tables import Pair

HERE = Path(__file__).resolve().parent
IN_PEER = {
    "faiss flat L1": "faiss",
    "gower": "gower",
    "gower, strings coded beforehand": "gower",
    "anonymeter": "anonymeter",
}
FEWEST = 2  # values; a column of two is no test
CLOSE = 2e-6  # distances of peers that count in float32


@dataclass(frozen=True, eq=False)
class Case:
    """One pair of tables and who searches it: name, runs to warm up, runs that count."""

    pair: Pair
    contestants: dict[str, tuple[int, int]]
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the tables hold."""
        return describe(self.pair)

    @property
    def comparisons(self) -> int:
        """Rows of one table times rows of the other."""
        return prod(sizes(self.pair))


def sizes(pair: Pair) -> tuple[int, int]:
    """Rows of both tables."""
    return len(next(iter(pair.x.values()))), len(next(iter(pair.y.values())))


def describe(pair: Pair) -> str:
    """Name a pair by its size and its kinds of columns."""
    n, m = sizes(pair)
    categorical = len(pair.levels)
    return f"{n:,} × {m:,}, {len(pair.x) - categorical} numeric + {categorical} categorical"


class Contestant:
    """A process that runs a search whenever it is told to."""

    def __init__(self, name: str, data: Path, out: Path) -> None:
        python = python_of(IN_PEER[name]) if name in IN_PEER else Path(sys.executable)
        command = [str(python), str(HERE / "contestants.py"), name, str(data), str(out)]
        self.process = subprocess.Popen(  # noqa: S603 - the command is made here
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.name, self.out = name, out
        self.expect("ready")

    def expect(self, word: str = "") -> str:
        """Read one line."""
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().strip()
        if not answer or (word and answer != word):
            raise RuntimeError(f"{self.name} gave up")
        return answer

    def run(self) -> float:
        """Run once; the seconds it took."""
        assert self.process.stdin is not None
        self.process.stdin.write("run\n")
        return float(self.expect())

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compete(case: Case, folder: Path) -> None:
    """Let all contestants of a case take turns, and hold their answers to ours."""
    data = folder / "pair.npz"
    case.pair.save(data)
    outs = {name: folder / f"{k}.npy" for k, name in enumerate(case.contestants)}
    running = [Contestant(name, data, out) for name, out in outs.items()]
    for turn in range(max(warm + runs for warm, runs in case.contestants.values())):
        for contestant in running:
            warm, runs = case.contestants[contestant.name]
            if turn < warm + runs:
                seconds = contestant.run()
                if turn >= warm:
                    case.seconds.setdefault(contestant.name, []).append(seconds)
    for contestant in running:
        contestant.stop()
    ours = np.load(outs["evalkit"])
    for name, out in outs.items():
        gap = float(np.abs(np.load(out) - ours).max())
        if gap > CLOSE:
            raise SystemExit(f"{name} disagrees with evalkit by {gap:.2g} in case {case.name}")


def report(case: Case) -> None:
    """Print one table: best time, and how many times ours, turn by turn."""
    print(
        f"\n### {case.name}\n\n| contestant | best, s | times ours (turn by turn) |\n|---|---|---|"
    )
    ours = case.seconds["evalkit"]
    for name in case.contestants:
        seconds = case.seconds[name]
        ratios = [a / b for a, b in zip(seconds, ours, strict=False)]
        spread = f"{min(ratios):.3g} to {max(ratios):.3g}" if len(ratios) > 1 else "one turn"
        print(f"| {name} | {min(seconds):.3g} | {median(ratios):.3g} ({spread}) |", flush=True)


def report_extrapolated(small: Case, full: Case) -> None:
    """Print what slow peers would need at full size, by the number of comparisons."""
    growth = full.comparisons / small.comparisons
    ours = min(full.seconds["evalkit"])
    print(
        f"\nExtrapolated by n·m from {small.name} (times {growth:.3g}):\n\n"
        "| contestant | measured, s | extrapolated, s | times ours |\n|---|---|---|---|"
    )
    for name, seconds in small.seconds.items():
        if name != "evalkit":
            all_rows = min(seconds) * growth
            print(f"| {name} | {min(seconds):.3g} | {all_rows:.3g} | {all_rows / ours:.3g} |")


def alone(name: str, data: Path, **settings: str) -> dict[str, float]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, str(HERE / "alone.py"), name, str(data)]
    done = subprocess.run(  # noqa: S603 - the command is made here
        command, check=True, capture_output=True, text=True, env=os.environ | settings
    )
    facts: dict[str, float] = json.loads(done.stdout)
    return facts


def report_alone(pairs: list[Pair], folder: Path) -> None:
    """Print what needs a process of its own."""
    data = folder / "pair.npz"
    print("\n### Alone\n\n| measurement | seconds | of the processors | |\n|---|---|---|---|")

    def row(label: str, facts: dict[str, float], remark: str) -> None:
        times = f"{facts['seconds']:.3g} | {facts['processor']:.3g}"
        print(f"| {label} | {times} | {remark} |", flush=True)

    for pair in pairs:
        pair.save(data)
        facts = alone("million", data)
        row(f"{describe(pair)}, expectation", facts, f"{facts['gigabytes']:.2f} GB over the input")
    cache = folder / "cache"
    facts = alone("first_small", data)
    loaded = "numba imported" if facts["numba"] else "numba not imported"
    row("1,000 × 1,000, 20 columns, first call", facts, loaded)
    for remark in ("nothing in the cache", "from the cache"):
        facts = alone("first_compiled", data, NUMBA_CACHE_DIR=str(cache))
        row("first compiled call, numba's import included", facts, remark)
    for name, remark in (("key_that_nobody_shares", "a key nobody shares"), ("line", "a line")):
        row("every avatar ties, 8,000 × 8,000", alone(name, data), remark)


def machine() -> str:
    """Say what was measured on."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text("utf-8").splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}, load {load}"


def contests(people: Callable[[int, int], Pair], scale: int, peers: list[str]) -> list[Case]:
    """Say who competes on what; the last case is for peers that are too slow for the first."""
    medium = people(32_000, 32_000)
    wanted = [
        (
            medium.columns(half_of(medium)),
            {
                "evalkit": (1, 9),
                "scipy cKDTree": (1, 9),
                "scikit-learn kd_tree": (0, 1),
                "scikit-learn brute": (0, 1),
            },
        ),
        (
            medium.columns(discrete_of(medium)[:3]),
            {"evalkit": (1, 9), "scipy cKDTree": (1, 9), "scikit-learn kd_tree": (0, 1)},
        ),
        (
            continuous(16_000 // scale, 16_000 // scale),
            {
                "evalkit": (1, 7),
                "evalkit, plain scan": (1, 7),
                "faiss flat L1": (1, 7),
                "scipy cKDTree": (0, 1),
                "scikit-learn brute": (0, 1),
            },
        ),
        (
            people(8_000, 8_100).columns(half_of(medium)),
            {
                "evalkit": (1, 1),
                "anonymeter": (1, 1),
                "gower": (0, 1),
                "gower, strings coded beforehand": (0, 1),
            },
        ),
    ]
    return [
        Case(pair, {k: v for k, v in who.items() if IN_PEER.get(k) in {None, *peers}})
        for pair, who in wanted
    ]


def half_of(pair: Pair) -> list[str]:
    """Names of four numeric and three categorical columns."""
    numeric = [name for name in pair.x if name not in pair.levels]
    return numeric[:4] + list(pair.levels)[:3]


def discrete_of(pair: Pair) -> list[str]:
    """Names of six columns with few values, but more than two."""
    values = {name: len(np.unique(cells[:5_000])) for name, cells in pair.x.items()}
    return [name for name in sorted(values, key=values.__getitem__) if values[name] > FEWEST][:6]


def mixed_of(pair: Pair) -> list[str]:
    """Names of fourteen columns, numeric and categorical in turn."""
    numeric = [name for name in pair.x if name not in pair.levels]
    turns = [name for names in zip(numeric, pair.levels, strict=False) for name in names]
    return (turns + [name for name in pair.x if name not in turns])[:14]


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--original", type=Path, help="a CSV file to resample instead")
    parser.add_argument("--avatars", type=Path, help="its avatars")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, to try it out")
    options = parser.parse_args()
    scale = 10 if options.quick else 1

    def people(n: int, m: int) -> Pair:
        if options.original:
            return from_files(options.original, options.avatars, n // scale, m // scale)
        return census(n // scale, m // scale)

    cases = contests(people, scale, set_up())
    print(f"Machine at the start: {machine()}", flush=True)
    with tempfile.TemporaryDirectory(dir=PLACE) as place:
        folder = Path(place)
        for case in cases:
            compete(case, folder)
            report(case)
        report_extrapolated(cases[-1], cases[0])
        table = people(1_000_000, 1_000_000)
        halves = [table.columns(discrete_of(table)), table.columns(mixed_of(table))]
        report_alone(halves, folder)
    print(f"\nMachine at the end: {machine()}")


if __name__ == "__main__":
    main()
