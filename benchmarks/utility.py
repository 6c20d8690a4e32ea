"""How long the whole utility part takes on a wide table, how much memory, how large the report is.

    python benchmarks/utility.py [--rows 5000] [--columns 300] [--metrics SLUG ...]

Seconds of the wall and of the processor stand side by side: on a busy machine they differ.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd

import evalkit

LEVELS = 6
OUTCOME = "c0"


def people(rows: int, columns: int, seed: int) -> pd.DataFrame:
    """Return a table of related numbers, two thirds of the columns, and levels."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 8))
    shares = np.random.default_rng(0).normal(size=(8, columns))
    values = hidden @ shares / 2 + rng.normal(size=(rows, columns))
    table = {}
    for number in range(columns):
        column = values[:, number]
        if number % 3:
            table[f"c{number}"] = column.round(2)
        else:
            edges = np.linspace(-2, 2, LEVELS - 1)
            table[f"c{number}"] = np.array(list("abcdef"))[np.digitize(column, edges)]
    return pd.DataFrame(table)


def peak_megabytes() -> float:
    """Return the largest resident memory of this process so far; 0 where nothing tells."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1024 if found else 0.0


def main() -> None:
    """Print seconds of each metric, the peak of memory and the size of JSON and HTML."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=300)
    parser.add_argument("--metrics", nargs="*")
    given = parser.parse_args()
    tables = [people(given.rows, given.columns, seed) for seed in (1, 2, 3)]
    release = evalkit.load(*tables, schema={"rules": ["c1 <= c2 + 8"]})
    slugs = given.metrics or [one.slug for one in evalkit.metrics.all() if one.section == "utility"]
    scenario = evalkit.Scenario(sensitive=OUTCOME)
    print(f"{given.rows} rows x {given.columns} columns")
    started, worked = time.perf_counter(), time.process_time()
    assessment = evalkit.assess(release, scenario, metrics=slugs)
    wall, processor = time.perf_counter() - started, time.process_time() - worked
    for slug in slugs:
        result = assessment[slug]
        score = "-" if result.score is None else f"{result.score:.1f}"
        print(f"{slug:32} {result.seconds:7.1f} s, score {score}")
    print(f"{'together':32} {wall:7.1f} s, processor {processor:.1f} s")
    page = evalkit.Report(assessment).html()
    print(f"memory {peak_megabytes():.0f} MB, JSON {len(assessment.json()) / 1e6:.2f} MB, ", end="")
    print(f"HTML {len(page.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
