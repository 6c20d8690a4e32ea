"""Who may import whom, read from the source; names of files; thin front doors."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "evalkit"
FORBIDDEN_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "base",
    "core",
    "manager",
}
RIGHT_OF_THE_WAIST = "report.document"
"""Everything that is reached from here works from the JSON alone."""

HOLDS_RECORDS = {"release", "reading", "splitting", "assessment", "quantities", "running"}
FRONT_DOORS = {"cli", "running", "explore", "batch"}
MAY_BE_IMPORTED_BY_ALL = {"errors", "messages"}

# Each row: the modules, and what of evalkit they may import beside `MAY_BE_IMPORTED_BY_ALL`.
ROWS = {
    "errors": set(),
    "messages": set(),
    "engine": {"engine", "evalkit", "steps"},
    "displays": {"displays", "resources"},
    "schema": {"displays"},
    "given_values": set(),
    "persons": set(),
    "limited_files": set(),
    "yaml_file": {"given_values", "limited_files"},
    "tokens": {"given_values"},
    "rules": {"given_values", "rules", "schema", "tokens"},
    "analyses": {
        "analyses",
        "given_values",
        "intervals",
        "record_parts",
        "release",
        "schema",
        "tokens",
        "yaml_file",
    },
    "scenario": {"displays", "given_values", "metric", "schema"},
    "figures": {"figures", "resources"},
    "kernels": {"kernels"},
    "prose": {"prose"},
    "reading": {"given_values", "limited_files", "reading", "rules", "schema", "yaml_file"},
    "release": {
        "displays",
        "engine",
        "given_values",
        "halves",
        "persons",
        "randomness",
        "reading",
        "release_notes",
        "rules",
        "schema",
        "splitting",
    },
    "metrics": {
        "metric",
        "persons",
        "release",
        "scenario",
        "schema",
        "quantities",
        "kernels",
        "figures",
        "intervals",
        "randomness",
        "rules",
        "steps",
    },
    "quantities": {
        "quantities",
        "intervals",
        "persons",
        "schema",
        "release",
        "kernels",
        "engine",
        "randomness",
    },
}

# Each outside package has one home; the rest of evalkit goes through that.
HOMES = {
    # Both others ask it for fonts only: which letters one has, and where its own lie.
    "nbconvert": {"exporting"},
    "bs4": {"exporting"},
    "matplotlib": {"figures", "report", "prose"},
    "typst": {"prose", "report"},
    "markdown_it": {"prose"},
    "papermill": {"running"},
    "nbclient": {"running"},
    "jupyter_client": {"running"},
    "nbformat": {"running"},
    "click": {"cli", "commands"},
    "tqdm": {"running"},
    "jinja2": {"displays", "report"},
    "numba": {"kernels"},
    "statsmodels": {"analyses"},
    "dask": {"engine"},
    "distributed": {"engine"},
}


class Imports(ast.NodeVisitor):
    """Collects what a file imports when it runs, apart by where the import stands."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.at_import: set[str] = set()
        self.in_functions: set[str] = set()
        self._depth = 0

    def visit_If(self, node: ast.If) -> None:
        """Leave out what only the type checker reads."""
        if ast.unparse(node.test) == "TYPE_CHECKING":
            for one in node.orelse:
                self.visit(one)
        else:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Note that imports in here happen at the call."""
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast asks for

    def visit_Import(self, node: ast.Import) -> None:
        """Note ``import a.b``."""
        for alias in node.names:
            self._note(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Note ``from a import b``, where b may be a module."""
        assert node.level == 0, f"{self.module}: relative import"
        assert node.module is not None
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            self._note(inner if inner in modules() else node.module)

    def _note(self, name: str) -> None:
        (self.in_functions if self._depth else self.at_import).add(name)


@cache
def modules() -> dict[str, Path]:
    """Return the files of the package by dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module: str) -> Imports:
    """Return what a module of the package imports."""
    visitor = Imports(module)
    visitor.visit(ast.parse(modules()[module].read_text(encoding="utf-8")))
    return visitor


def family(module: str) -> str:
    """Return the name below evalkit that the rules speak of: the file or its folder."""
    name = module.split(".")[1] if "." in module else module
    return "quantities" if name.startswith("quantities_") else name


def own(names: set[str]) -> set[str]:
    """Return the modules of evalkit among imported names."""
    return {name for name in names if name.split(".")[0] == "evalkit"}


def reached(start: str) -> set[str]:
    """Return what runs or can run once `start` is imported.

    Imports inside functions count too, but for the metrics: their `compute` is never called there.
    """
    seen: set[str] = set()
    waiting = [f"evalkit.{start}"]
    while waiting:
        module = waiting.pop()
        if module in seen or module not in modules():
            continue
        seen.add(module)
        found = imports(module)
        computes = family(module) == "metrics" and module != "evalkit.metrics"
        waiting += own(found.at_import | (set() if computes else found.in_functions))
        if module == "evalkit.metrics":
            waiting += [name for name in modules() if name.startswith("evalkit.metrics.")]
    return seen


@pytest.mark.parametrize("row", sorted(ROWS))
def test_imports_go_downwards_only(row: str) -> None:
    members = [name for name in modules() if family(name) == row]
    assert members, f"{row} is gone: correct this table"
    for module in members:
        found = own(imports(module).at_import | imports(module).in_functions)
        allowed = ROWS[row] | (set() if row == "kernels" else MAY_BE_IMPORTED_BY_ALL)
        above = {name for name in found if name != module and family(name) not in allowed}
        above -= {"evalkit.metrics"} if row == "metrics" else set()
        assert not above, f"{module} imports {sorted(above)}"


def test_no_metric_imports_another() -> None:
    metrics = {name for name in modules() if name.startswith("evalkit.metrics.")}
    assert metrics
    for module in metrics:
        found = imports(module).at_import | imports(module).in_functions
        assert not found & (metrics - {module}), module


def test_metrics_reach_tables_only_inside_compute() -> None:
    for module in modules():
        if module.startswith("evalkit.metrics."):
            early = {family(name) for name in own(imports(module).at_import)}
            assert not early & {"release", "quantities", "kernels"}, module


def test_kernels_know_numpy_and_their_compiler_only() -> None:
    for module in modules():
        if family(module) == "kernels":
            found = imports(module).at_import | imports(module).in_functions
            outside = {name.split(".")[0] for name in found} - set(sys.stdlib_module_names)
            assert outside <= {"evalkit", "numpy", "numba"}, module


def test_the_report_cannot_reach_a_table() -> None:
    found = reached(RIGHT_OF_THE_WAIST)
    assert {"evalkit.metrics", "evalkit.figures", "evalkit.prose"} <= found
    assert not {family(name) for name in found} & (HOLDS_RECORDS | {"kernels"})


def test_the_report_never_touches_pandas() -> None:
    # These give a frame to the user who asks for one; nothing of the report asks.
    frames = {"evalkit.records", "evalkit.record_parts"}
    for module in reached(RIGHT_OF_THE_WAIST) - frames:
        names = imports(module).at_import
        names |= set() if family(module) == "metrics" else imports(module).in_functions
        heavy = {name.split(".")[0] for name in names} & {"pandas", "pyarrow", "scipy", "sklearn"}
        assert not heavy, f"{module} imports {sorted(heavy)}"
    assert not any("pandas" in imports(module).at_import for module in frames)


def test_tables_know_nothing_of_what_is_made_of_them() -> None:
    later = {"assessment", "records", "metric", "metrics", "targets", "report", *FRONT_DOORS}
    for start in ("release", "splitting", "quantities"):
        assert not {family(name) for name in reached(start)} & later, start


def test_nothing_below_imports_a_front_door() -> None:
    doors = {*FRONT_DOORS, "commands"}
    for module in modules():
        if family(module) in doors | {"__main__", "evalkit", "start"}:
            continue
        found = {family(name) for name in own(imports(module).at_import)}
        found |= {family(name) for name in own(imports(module).in_functions)}
        assert not found & doors, f"{module} imports {sorted(found & doors)}"


@pytest.mark.parametrize("outside", sorted(HOMES))
def test_each_outside_package_has_its_home(outside: str) -> None:
    users = {
        family(module)
        for module in modules()
        for name in imports(module).at_import | imports(module).in_functions
        if name.split(".")[0] == outside
    }
    assert users <= HOMES[outside]


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = {module: own(imports(module).at_import) & set(modules()) for module in modules()}
    graph = {module: found - {module, "evalkit"} for module, found in graph.items()}
    while free := {module for module, found in graph.items() if not found}:
        graph = {module: found - free for module, found in graph.items() if module not in free}
    assert graph == {}


def test_every_file_is_named_for_what_it_holds() -> None:
    for path in modules().values():
        assert not FORBIDDEN_NAMES & set(path.stem.split("_")), path.name


def test_the_public_surface_stays_short() -> None:
    assert len((PACKAGE / "__init__.py").read_text(encoding="utf-8").splitlines()) < 40
