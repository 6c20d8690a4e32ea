"""Every public name says what it gives: shapes, units, errors, and an example that runs."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import textwrap
import tomllib
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import evalkit
from evalkit.comparing import Comparison
from evalkit.inspecting import Inspection
from evalkit.metric import Metric
from evalkit.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
BESIDE = [Comparison, Inspection, Metric, Schema]
"""Classes that the public calls return."""
WITHOUT_EXAMPLE = {"InputError"}
"""It is raised, not made; its own test shows one."""


def public() -> list[Any]:
    names = [getattr(evalkit, name) for name in evalkit.__all__]
    return [one for one in names if not isinstance(one, ModuleType)] + BESIDE


def functions() -> Iterator[tuple[str, FunctionType]]:
    """Give every public function and method with its dotted name."""
    for one in public():
        if isinstance(one, FunctionType):
            yield one.__name__, one
            continue
        for name, member in vars(one).items():
            plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if isinstance(plain, FunctionType) and not name.startswith("_"):
                yield f"{one.__name__}.{name}", plain
    for module in (evalkit.metrics, evalkit.demo):
        for name, member in vars(module).items():
            inner = inspect.unwrap(member) if callable(member) else member
            own = isinstance(inner, FunctionType) and inner.__module__ == module.__name__
            if own and not name.startswith("_"):
                yield f"{module.__name__.removeprefix('evalkit.')}.{name}", inner


FUNCTIONS = dict(functions())
CLASSES = {one.__name__: one for one in public() if inspect.isclass(one)}


def sections(one: Any) -> dict[str, str]:
    """Return the numpydoc sections of a docstring; the first line under the empty name."""
    text = inspect.getdoc(one) or ""
    cut = re.split(r"^(\w+)\n-{3,}$", text, flags=re.MULTILINE)
    names = ["", *cut[1::2]]
    return dict(zip(names, [cut[0], *cut[2::2]], strict=True))


def raised(function: FunctionType) -> bool:
    """Return whether a function raises an error by itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Raise) and node.exc for node in ast.walk(tree))


def test_the_walk_finds_what_a_user_calls() -> None:
    wanted = {"load", "assess", "Assessment.frame", "Result.plot", "Report.save", "metrics.get"}
    wanted |= {"Release.frame", "Schema.frame", "Comparison.save", "Metric.page", "demo.paths"}
    assert wanted <= FUNCTIONS.keys()
    assert {"Assessment", "Result", "Release", "Schema", "Scenario"} <= CLASSES.keys()


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *CLASSES}))
def test_the_first_line_says_what_one_gets(name: str) -> None:
    first = sections(FUNCTIONS.get(name) or CLASSES[name])[""].splitlines()[0]
    assert first.endswith(".")
    assert len(first) <= 100


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_parameter_is_described(name: str) -> None:
    given = [
        one.name
        for one in inspect.signature(FUNCTIONS[name]).parameters.values()
        if one.name not in {"self", "cls"}
    ]
    described = sections(FUNCTIONS[name]).get("Parameters", "")
    heads = " ".join(re.findall(r"^(\S[^:\n]*)", described, flags=re.MULTILINE))
    assert set(given) <= set(re.findall(r"\w+", heads))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_what_comes_back_and_what_goes_wrong_is_described(name: str) -> None:
    found, function = sections(FUNCTIONS[name]), FUNCTIONS[name]
    if inspect.signature(function).return_annotation not in {None, "None"}:
        assert found.get("Returns", "").strip()
    if raised(function):
        assert found.get("Raises", "").strip()


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *CLASSES} - WITHOUT_EXAMPLE))
def test_an_example_stands_there_and_runs(name: str) -> None:
    one = FUNCTIONS.get(name) or CLASSES[name]
    examples = doctest.DocTestParser().get_examples(sections(one).get("Examples", ""))
    assert any(example.want for example in examples)
    assert not any(doctest.SKIP in example.options for example in examples)


@pytest.mark.parametrize("name", sorted(set(CLASSES) - WITHOUT_EXAMPLE))
def test_every_class_describes_what_it_holds(name: str) -> None:
    found = sections(CLASSES[name])
    described = found.get("Attributes", "") + found.get("Parameters", "")
    fields = getattr(CLASSES[name], "__dataclass_fields__", None)
    names = list(fields) if fields else getattr(CLASSES[name], "__struct_fields__", ())
    missing = [
        one for one in names if not re.search(rf"^[^\n:]*\b{one}\b", described, re.MULTILINE)
    ]
    assert not missing


def test_the_suite_runs_every_example() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pytest_options = options["tool"]["pytest"]["ini_options"]
    assert "--doctest-modules" in pytest_options["addopts"]
    assert "evalkit" in pytest_options["testpaths"]
