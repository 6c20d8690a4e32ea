"""One run in a process of its own: read the tables, then the asked stages, a line of JSON each.

Started by `scale.py`. The lines come as the stages end, so that a run that is stopped has still
told what it did.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from watching import Watch  # noqa: E402

import evalkit  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from watching import Taken

    from evalkit.release import Release

FOUNDING = ("linkability_protection_rate", "correlation_difference_ratio")
LOADING = "libraries and compiled code"
FEW_KNOWN = 6
"""More than that and `attribute_disclosure` is not applicable."""


@dataclass(frozen=True)
class Run:
    """What one process does.

    Attributes
    ----------
    table : str
        Its name in the tables that are printed.
    rows : int
        Of originals and avatars.
    folder : str
        With a folder or file of each table.
    stages : list of str
        `search` (all originals among all avatars, on two halves), slugs of metrics, `founding`,
        `all`, `report`.
    sensitive : str
        Its name; default the last categorical column.
    engine, memory : str
        As the options of evalkit have them; empty for the default.
    exact : bool
        Whether nothing is sampled.
    """

    table: str
    rows: int
    folder: str
    stages: list[str] = field(default_factory=list)
    sensitive: str = ""
    engine: str = ""
    memory: str = ""
    exact: bool = False


class Teller:
    """Writes a line for each stage."""

    def __init__(self, run: Run, say: Callable[[dict[str, Any]], None]) -> None:
        self._run, self._say = run, say
        self._watch = Watch().start()
        self._open: Any = None

    def begin(self, name: str) -> None:
        """End the stage at hand and begin another."""
        self.end()
        stage = self._watch.stage()
        self._open = name, stage, stage.__enter__()

    def end(self) -> None:
        """End the stage at hand, if there is one."""
        if self._open:
            name, stage, taken = self._open
            stage.__exit__(None, None, None)
            self._tell(name, taken)
        self._open = None

    def _tell(self, name: str, taken: Taken) -> None:
        run = self._run
        given = {"table": run.table, "rows": run.rows, "engine": run.engine or "local"}
        self._say({**given, "stage": name, **taken})


def table(folder: str, role: str) -> Any:
    """Return the folder of the parts of a table; None where there is none."""
    place = Path(folder) / role
    return str(place) if place.is_dir() else None


def read(run: Run) -> Release:
    """Return the release; avatar i is made from original i."""
    tables = [table(run.folder, role) for role in ("original", "avatars", "holdout")]
    given: dict[str, Any] = {"memory": run.memory} if run.memory else {}
    rules = {"rules": [a_rule(run.folder)]}
    release: Release = evalkit.load(*tables, row_link=True, schema=rules, **given)
    return release


def a_rule(folder: str) -> str:
    """Return a rule on the first two number columns: without one, no row is looked at."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (first, *_) = sorted((Path(folder) / "original").glob("*.parquet"))
    numbers = [one.name for one in pq.read_schema(first) if not pa.types.is_dictionary(one.type)]
    return f"{numbers[0]} <= {numbers[1]} + 40"


def load_code() -> None:
    """Load libraries and compiled code, so that the smallest table does not seem slow."""
    import numpy as np
    import pandas as pd

    from evalkit.kernels import Column, link_probability, nearest

    some = np.random.default_rng(0).integers(0, 10_008, (6, 2, 4_000))
    columns = [Column(one[0], one[1], numeric=True, low=0, high=10_007) for one in some]
    link_probability(*(nearest(half, path="compiled") for half in (columns[:3], columns[3:])))
    evalkit.load(*(pd.DataFrame({"a": side}) for side in some[0]))


def search(release: Release, tell: Teller) -> None:
    """Link all originals with all avatars: avatars made ready, then searched on both halves."""
    from evalkit.quantities import ranges
    from evalkit.quantities_searching import Search
    from evalkit.quantities_two_searches import linked

    names = sorted(release.schema.used_names())
    tell.begin("avatars made ready")
    together = ranges(release.schema, (release.original, release.avatars), names)
    found = Search(release.schema, [release.original], release.avatars, together)
    halves = names[::2], names[1::2]
    for half in halves:
        found.ready(half)
    tell.begin("search and expectation")
    linked(found, *halves)
    tell.end()


def slugs_of(stages: list[str]) -> list[str]:
    """Return the metrics that are asked for, in the order of the registry."""
    every = [one.slug for one in evalkit.metrics.all()]
    asked = {"all": every, "founding": FOUNDING}
    wanted = {slug for stage in stages for slug in asked.get(stage, [stage])}
    return [slug for slug in every if slug in wanted]


def measure(release: Release, run: Run, tell: Teller) -> evalkit.Assessment:
    """Assess the release, each metric a stage."""
    names = release.schema.used_names()
    levels = [name for name in names if not release.schema[name].is_number]
    sensitive = run.sensitive or levels[-1]
    few = [name for name in names if name != sensitive][:FEW_KNOWN]
    given: dict[str, Any] = {"engine": run.engine} if run.engine else {}
    given |= {"exact": True} if run.exact else {}
    seen = ["checks before"]

    def progress(done: int, total: int, label: str) -> None:  # noqa: ARG001 - the caller's signature
        stage = label.split(",", maxsplit=1)[0]
        if stage != seen[-1]:
            seen.append(stage)
            tell.begin(stage) if stage != "done" else tell.end()

    slugs = slugs_of(run.stages)
    disclosure = "attribute_disclosure"
    tell.begin(seen[0])
    assessment = evalkit.assess(
        release,
        evalkit.Scenario(sensitive=sensitive),
        metrics=[slug for slug in slugs if slug != disclosure or slugs == [disclosure]],
        progress=progress,
        **given,
    )
    if disclosure in slugs:
        tell.begin(disclosure)
        few_known = evalkit.Scenario(known=few, sensitive=sensitive)
        evalkit.assess(release, few_known, metrics=[disclosure], **given)
    tell.end()
    return assessment


def write(assessment: evalkit.Assessment, tell: Teller) -> None:
    """Write what a run leaves, without a file."""
    tell.begin("JSON")
    assessment.json()
    report = evalkit.Report(assessment)
    tell.begin("HTML")
    report.html()
    tell.begin("PDF")
    report.pdf()
    tell.end()


def work(run: Run, say: Callable[[dict[str, Any]], None]) -> None:
    """Do the stages of a run."""
    tell = Teller(run, say)
    if "search" in run.stages:
        tell.begin(LOADING)
        load_code()
    tell.begin("reading")
    release = read(run)
    tell.end()
    if "search" in run.stages:
        from evalkit.engine import make_engine, working_on

        with make_engine(run.engine or "local") as engine, working_on(engine):
            search(release, tell)
    if slugs_of(run.stages):
        assessment = measure(release, run, tell)
        if "report" in run.stages:
            write(assessment, tell)


def command(run: Run) -> list[str]:
    """Return the command that does a run in a process of its own."""
    return [sys.executable, str(Path(__file__).resolve()), json.dumps(asdict(run))]


if __name__ == "__main__":
    # Dask's worker processes import this file again: only the first one works.
    work(Run(**json.loads(sys.argv[1])), lambda line: print(json.dumps(line), flush=True))
