"""Wall time, processor time and memory of each stage on large tables.

    python benchmarks/scale.py run --table mixed --rows 100k 1M --stages search founding report
    python benchmarks/scale.py run --table adult.csv --rows 1M --stages all --engine dask
    python benchmarks/scale.py plan --file adult.csv
    python benchmarks/scale.py pages

`run` prints a table. Each table and size has a process of its own; with `--apart` each stage has
one, too. `plan` makes the runs that docs/scale.md and benchmarks/README.md tell of and keeps them
in benchmarks/scale.json; `pages` writes tables and curve anew from that file. Tables are generated
when they are not there; `--data` says where.

Stages: `search` (the searches of linkability), any metric, `founding` (the two metrics
of the founding document), `all` metrics, `report` (JSON, HTML and PDF of what was measured).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from big_tables import count, make  # noqa: E402
from scale_tables import named, stage_table, write_pages  # noqa: E402
from stages import Run, command  # noqa: E402

MEASURED = HERE / "scale.json"
SIZES = ("100k", "300k", "1M", "3M", "10M")
LARGEST_HOLDOUT = 2_000_000
LIMIT_SECONDS = 1_800
Line = dict[str, Any]


def prepared(run: Run, data: Path) -> Run:
    """Return a run whose tables are there."""
    rows = run.rows
    folder = data / f"{Path(run.table).stem}-{named(rows)}"
    make(run.table, rows, min(LARGEST_HOLDOUT, 3 * rows // 10), folder)
    name = run.table if run.table in {"discrete", "mixed"} else "resampled"
    return replace(run, table=name, folder=str(folder))


def measured(run: Run, limit: int = LIMIT_SECONDS) -> list[Line]:
    """Return what one process told of its stages; the last line says so if it did not end well."""
    started = time.perf_counter()
    # A session of its own, so that its workers end with it when it takes too long.
    process = subprocess.Popen(  # noqa: S603 - the command is made here
        command(run), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        told = process.communicate(timeout=limit)[0]
        end = "" if process.returncode == 0 else f"ended with {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        told, end = process.communicate()[0], f"stopped after {limit} s"
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    seconds = round(time.perf_counter() - started, 1)
    whole: Line = {"table": run.table, "rows": run.rows, "engine": run.engine or "local"}
    whole |= {"stage": "whole process", "seconds": seconds, "end": end}
    whole["processor"] = round(sum(one["processor"] for one in lines), 2)
    for kind in ("resident_gb", "anonymous_gb"):
        whole[kind] = max((one[kind] for one in lines), default=0.0)
    return [*lines, whole]


def several(runs: list[Run], data: Path, limit: int = LIMIT_SECONDS) -> list[Line]:
    """Return the lines of runs that are made one after the other, and print them as they come."""
    lines = []
    for run in runs:
        found = measured(prepared(run, data), limit)
        print(stage_table(found), flush=True)
        lines += found
    return lines


def apart(run: Run) -> list[Run]:
    """Return a run for each stage."""
    return [replace(run, stages=[stage]) for stage in run.stages]


def planned(file: str, sizes: Sequence[str], metrics_rows: int) -> dict[str, list[Run]]:
    """Return the runs of the pages: growth of the search, founding metrics, all metrics."""
    tables, rows = ("discrete", "mixed"), [count(size) for size in sizes]
    return {
        "growth": [Run(one, n, "", ["search"]) for one in tables for n in rows],
        "founding": [Run(table, rows[-1], "", ["founding", "report"]) for table in tables],
        "metrics": [Run(file, metrics_rows, "", ["all", "report"])],
    }


def machine() -> dict[str, str]:
    """Return on what is measured; nothing that names the machine."""
    words = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = [line.split(":")[1].strip() for line in words.splitlines() if "model name" in line]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 10**9
    return {
        "processors": f"{os.cpu_count()} × {models[0] if models else platform.machine()}",
        "memory": f"{memory:.0f} GB",
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def plan(given: argparse.Namespace) -> None:
    """Make the planned runs and keep what they told."""
    kept = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    for part, runs in planned(given.file, given.rows, given.metrics_rows).items():
        if given.only in {"", part}:
            kept |= {"machine": machine(), part: several(runs, given.data, given.limit)}
            given.out.write_text(json.dumps(kept, indent=1) + "\n")


def run(given: argparse.Namespace) -> None:
    """Make the runs that the command line names."""
    runs = [
        Run(given.table, count(rows), "", given.stages, given.sensitive, given.engine)
        for rows in given.rows
    ]
    runs = [replace(one, memory=given.memory, exact=given.exact) for one in runs]
    parts = [part for one in runs for part in (apart(one) if given.apart else [one])]
    several(parts, given.data, given.limit)


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "evalkit-scale")
    shared.add_argument("--limit", type=int, default=LIMIT_SECONDS, help="seconds of one process")
    top = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = top.add_subparsers(required=True)
    one = parts.add_parser("run", parents=[shared], help="print what some runs take")
    one.add_argument("--table", required=True, help="discrete, mixed or a CSV file")
    one.add_argument("--rows", nargs="+", default=["100k"])
    one.add_argument("--stages", nargs="+", default=["search", "founding", "report"])
    one.add_argument("--sensitive", default="")
    one.add_argument("--engine", default="", help="as the option of evalkit, such as dask")
    one.add_argument("--memory", default="", help="as the option of evalkit, such as 4GB")
    one.add_argument("--exact", action="store_true")
    one.add_argument("--apart", action="store_true", help="a process for each stage")
    one.set_defaults(work=run)
    all_runs = parts.add_parser("plan", parents=[shared], help="make the runs of the pages")
    all_runs.add_argument("--file", required=True, help="CSV file that is drawn again")
    all_runs.add_argument("--rows", nargs="+", default=SIZES)
    all_runs.add_argument("--metrics-rows", type=count, default=10**6)
    all_runs.add_argument("--only", default="", choices=["", "growth", "founding", "metrics"])
    all_runs.add_argument("--out", type=Path, default=MEASURED)
    all_runs.set_defaults(work=plan)
    again = parts.add_parser("pages", help="write tables and curve into the pages")
    again.set_defaults(work=lambda _: write_pages(MEASURED))
    return top


def main() -> None:
    """Do what the command line says."""
    given = parser().parse_args()
    given.work(given)


if __name__ == "__main__":
    main()
