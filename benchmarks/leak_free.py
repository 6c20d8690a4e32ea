"""How often an attack shows an excess where nothing leaks: unseen people in place of avatars.

Of tests without a leak, one in forty should show an excess by chance. Run it to print the table
of docs/intervals.md: ``python benchmarks/leak_free.py --runs 100``.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import pandas as pd

import evalkit
from evalkit.several_attacks import holm, p_value

SIZES = ((400, 400), (400, 150))
"""Originals and holdout; there are as many avatars as originals."""


def people(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of one made-up population: numbers, levels, relations, rare levels."""
    health = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "age": (50 + 12 * health + rng.normal(scale=8, size=rows)).round(),
            "pressure": (120 + 9 * health + rng.normal(scale=6, size=rows)).round(1),
            "visits": rng.poisson(np.exp(0.5 + 0.3 * health)),
            "town": rng.choice([f"town {k}" for k in range(12)], rows, p=_falling(12)),
            "smoker": rng.choice(["yes", "no"], rows, p=[0.3, 0.7]),
        }
    )


def _falling(levels: int) -> np.ndarray:
    """Return shares that fall by a third from level to level."""
    shares = 1.5 ** -np.arange(levels)
    return shares / shares.sum()


def main() -> None:
    """Print for each attack how often its excess lies above 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    rng = np.random.default_rng(0)
    scenario = evalkit.Scenario(known=["age", "visits", "town", "smoker"], sensitive="pressure")
    measured: Counter[str] = Counter()
    above: Counter[str] = Counter()
    alone, stands = 0, 0
    for run in range(runs):
        n, n_holdout = SIZES[run % len(SIZES)]
        tables = people(n, rng), people(n, rng), people(n_holdout, rng)
        release = evalkit.load(tables[0], tables[1], tables[2])
        results = evalkit.assess(release, scenario, metrics=_attacks()).results
        facts = {
            slug: one.facts for slug, one in results.items() if one.facts.get("excess_interval")
        }
        shown = {slug for slug, one in facts.items() if one["excess_interval"][0] > 0}
        measured.update(facts.keys())
        above.update(shown)
        alone += bool(shown)
        stands += any(holm([p_value(one) for one in facts.values()]))
    print("| attack | runs | an excess was shown in |\n|---|---|---|")
    shares = f"{100 * alone / runs:.1f} %, after Holm's correction {100 * stands / runs:.1f} %"
    print(f"| any of them | {runs} | {shares} |")
    for slug in sorted(measured):
        print(f"| {slug} | {measured[slug]} | {100 * above[slug] / measured[slug]:.1f} % |")


def _attacks() -> list[str]:
    """Return the metrics that are attacks."""
    return [one.slug for one in evalkit.metrics.all() if one.basis == "attack" and not one.legacy]


if __name__ == "__main__":
    main()
