"""How often the 95 % intervals hold the truth, in simulations where the truth is known.

Run it to print the table of docs/intervals.md: ``python benchmarks/interval_coverage.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm, rankdata

from evalkit import intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[np.random.Generator], tuple[float, float]]

RUNS = 1000


@dataclass(frozen=True)
class Simulation:
    """One setting: what is estimated, its true value, and one simulated interval."""

    kind: str
    setting: str
    truth: float
    run: Run

    def coverage(self, runs: int, seed: int) -> float:
        """Return the share of intervals that hold the truth."""
        rng = np.random.default_rng(seed)
        found = [self.run(rng) for _ in range(runs)]
        return float(np.mean([low <= self.truth <= high for low, high in found]))


def share(p: float, n: int) -> Simulation:
    """Return a simulation of one share, Wilson."""
    return Simulation(
        "share, Wilson",
        f"p = {p:g}, n = {n}",
        p,
        lambda rng: intervals.wilson(int(rng.binomial(n, p)), n),
    )


def difference(p: float, control: float, n: int, m: int) -> Simulation:
    """Return a simulation of the difference of two shares, Newcombe."""
    return Simulation(
        "difference, Newcombe",
        f"{p:g} against {control:g}, n = {n} and {m}",
        p - control,
        lambda rng: intervals.newcombe_difference(
            int(rng.binomial(n, p)), n, int(rng.binomial(m, control)), m
        ),
    )


def complement_ratio(p: float, control: float, n: int, m: int) -> Simulation:
    """Return a simulation of the ratio of two shares of failures, MOVER."""
    return Simulation(
        "ratio of complements, MOVER",
        f"{p:g} against {control:g}, n = {n} and {m}",
        (1 - p) / (1 - control),
        lambda rng: intervals.complement_ratio(
            int(rng.binomial(n, p)), n, int(rng.binomial(m, control)), m
        ),
    )


def mann_whitney(members: np.ndarray, others: np.ndarray) -> float:
    """Return the area under the ROC curve, ties counting one half."""
    ranks = rankdata(np.concatenate([members, others]))
    n = len(members)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * len(others)))


def shifted_area(area: float, n: int, m: int) -> Simulation:
    """Return a simulation of an area where all members are a little more exposed."""
    shift = float(norm.ppf(area)) * np.sqrt(2)

    def run(rng: np.random.Generator) -> tuple[float, float]:
        found = mann_whitney(rng.normal(shift, 1, n), rng.normal(0, 1, m))
        return intervals.area_under_curve(found, n, m)

    return Simulation("area, Newcombe 5", f"shift, area {area:g}, n = {n} and {m}", area, run)


def rare_leak_area(leaked: float, n: int, m: int) -> Simulation:
    """Return a simulation of an area where few members are copied and all others are not."""

    def run(rng: np.random.Generator) -> tuple[float, float]:
        copied = rng.random(n) < leaked
        members = np.where(copied, 10.0, rng.normal(0, 1, n))
        return intervals.area_under_curve(mann_whitney(members, rng.normal(0, 1, m)), n, m)

    area = 0.5 + leaked / 2
    return Simulation("area, Newcombe 5", f"{leaked:.0%} copied, n = {n} and {m}", area, run)


SIMULATIONS = (
    share(0.002, 500),
    share(0.02, 300),
    share(0.2, 100),
    share(0.98, 200),
    difference(0.01, 0.005, 500, 500),
    difference(0.05, 0.05, 500, 125),
    difference(0.3, 0.1, 200, 50),
    difference(0.98, 0.95, 300, 100),
    complement_ratio(0.02, 0.01, 500, 500),
    complement_ratio(0.3, 0.1, 200, 50),
    complement_ratio(0.6, 0.6, 500, 125),
    complement_ratio(0.97, 0.95, 500, 250),
    shifted_area(0.5, 500, 125),
    shifted_area(0.6, 200, 200),
    shifted_area(0.75, 100, 50),
    shifted_area(0.95, 200, 100),
    rare_leak_area(0.02, 500, 500),
    rare_leak_area(0.1, 500, 125),
)


def main() -> None:
    """Print the table."""
    print("| interval | setting | covers |\n|---|---|---|")
    for number, simulation in enumerate(SIMULATIONS):
        covers = simulation.coverage(RUNS, number)
        print(f"| {simulation.kind} | {simulation.setting} | {100 * covers:.1f} % |")


if __name__ == "__main__":
    main()
