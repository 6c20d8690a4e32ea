"""Every metric on real tables, side by side: one line a metric, one column a set of avatars.

``python benchmarks/families.py ORIGINAL HOLDOUT AVATARS... --missing ? --sensitive income``
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import evalkit


def main() -> None:
    """Print scores with intervals, then seconds and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", help="original, holdout, then avatars")
    parser.add_argument("--missing", action="append", default=[])
    parser.add_argument("--categorical", action="append", default=[])
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("--sensitive")
    options = parser.parse_args()
    original, holdout, *sets = options.tables
    scenario = evalkit.Scenario(sensitive=options.sensitive)
    columns, seconds = {}, {}
    for avatars in sets:
        started = time.perf_counter()
        release = evalkit.load(
            original,
            avatars,
            holdout,
            missing=options.missing,
            categorical=options.categorical,
            ignore=options.ignore,
        )
        columns[Path(avatars).stem] = evalkit.assess(release, scenario)
        seconds[Path(avatars).stem] = time.perf_counter() - started
    names = list(columns)
    print("| metric |", " | ".join(names), "|\n|---|" + "---|" * len(names))
    for slug in next(iter(columns.values())).results:
        print(f"| {slug} |", " | ".join(_cell(columns[name][slug]) for name in names), "|")
    slowest = {
        name: max(one.results, key=lambda slug: one[slug].seconds or 0.0)
        for name, one in columns.items()
    }
    for name in names:
        slug = slowest[name]
        print(f"{name}: {seconds[name]:.1f} s; slowest {slug}, {columns[name][slug].seconds} s")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


def _cell(result: evalkit.Result) -> str:
    """Return score and interval of one result."""
    if result.score is None:
        return result.reason.code if result.reason else "-"
    score = result.facts.get("expected_score", result.score)
    if result.interval is None:
        return f"{score:.1f}"
    return f"{score:.1f} ({result.interval[0]:.1f} to {result.interval[1]:.1f})"


if __name__ == "__main__":
    main()
