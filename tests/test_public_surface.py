"""The public names: all there, lazily, with the arguments that are promised."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import evalkit

ROOT = Path(__file__).resolve().parent.parent
HEAVY = [
    "pandas",
    "numpy",
    "scipy",
    "sklearn",
    "pyarrow",
    "matplotlib",
    "papermill",
    "nbformat",
    "jupyter_client",
    "typst",
    "numba",
    "jinja2",
    "markdown_it",
    "tqdm",
]
NAMES = [
    "Assessment",
    "InputError",
    "Release",
    "Report",
    "Result",
    "Scenario",
    "assess",
    "compare",
    "demo",
    "load",
    "measure",
    "metrics",
    "split",
]
ARGUMENTS = {
    "load": "original avatars holdout * schema categorical numeric datetime ignore missing "
    "delimiter encoding decimal row_link axes on_mismatch individual seed memory",
    "Scenario": "name known sensitive context min_count seed",
    "assess": "release scenario * metrics profile by title assessor reviewer declared language "
    "options analyses engine exact progress",
    "measure": "slug original avatars holdout * known sensitive seed engine exact **",
    "Report": "assessment language templates",
    "split": "frame share seed * individual",
}


def shown(parameters: list[inspect.Parameter]) -> str:
    """Return the names of parameters, a star before those that must be named."""
    names = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and "*" not in names:
            names.append("*")
        names.append("**" if one.kind is one.VAR_KEYWORD else one.name)
    return " ".join(names)


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh Python has after a statement."""
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{statement}\n"
        "print('MODULES', *{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("MODULES")[2].split())


def test_the_public_names_are_these() -> None:
    assert evalkit.__all__ == NAMES
    assert all(getattr(evalkit, name) is not None for name in NAMES)


def test_a_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from evalkit import *", names)  # noqa: S102 - the only way to write it in a function
    assert set(NAMES) <= set(names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'evaluate'"):
        _ = evalkit.evaluate


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_the_arguments_are_those_that_are_promised(name: str) -> None:
    parameters = list(inspect.signature(getattr(evalkit, name)).parameters.values())
    assert shown(parameters) == ARGUMENTS[name]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"demo", "metrics"}))
def test_every_public_name_is_documented_with_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(evalkit, name)) or ""
    assert text
    if name not in {"Release", "Result"}:
        assert ">>> " in text


def test_the_package_tells_type_checkers_that_it_is_typed() -> None:
    assert (ROOT / "evalkit" / "py.typed").is_file()


@pytest.mark.parametrize(
    "statement",
    [
        "import evalkit; evalkit.InputError; evalkit.__version__",
        "from evalkit.cli import main; main(['--help']); main(['--version']); main(['oops'])",
        "from evalkit.cli import main; main(['assess', '--help']); main(['split', '--help'])",
    ],
)
def test_the_package_and_its_help_import_nothing_heavy(statement: str) -> None:
    assert not modules_after(statement) & set(HEAVY)


def test_an_input_error_is_a_value_error() -> None:
    assert issubclass(evalkit.InputError, ValueError)
