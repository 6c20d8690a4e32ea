"""Notebooks are thin, committed without outputs, and run as they are."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

import evalkit
from evalkit.running import notebook_view, parameters
from evalkit.running.notebook_file import read_parameters

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_CODE_CELLS = 10
LOGIC = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.If,
    ast.Try,
    ast.With,
    ast.comprehension,
)

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> NotebookNode:
    """Return a valid notebook."""
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    return node


def code(path: Path) -> list[NotebookNode]:
    """Return the code cells of a notebook."""
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def test_the_assessment_has_its_notebook() -> None:
    assert ROOT / "notebooks" / "technical_assessment.ipynb" in NOTEBOOKS


@each_notebook
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    for cell in code(path):
        assert cell.outputs == []
        assert cell.execution_count is None
        assert set(cell.metadata) <= {"tags"}


@each_notebook
def test_a_notebook_holds_calls_and_no_logic(path: Path) -> None:
    cells = code(path)
    assert len(cells) <= MOST_CODE_CELLS
    for cell in cells:
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, LOGIC), cell.source
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} == {"evalkit"}
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] == "evalkit"


@each_notebook
def test_every_parameter_says_what_it_is(path: Path) -> None:
    (cell,) = [one for one in code(path) if "parameters" in one.metadata.get("tags", [])]
    known = read_parameters(read(path))
    lines = cell.source.splitlines()
    assert len(lines) == len(known)
    for line in lines:
        assert re.fullmatch(r"\w+: \w+ = .+  # \S.+", line), line


@each_notebook
def test_every_parameter_is_used(path: Path) -> None:
    names = {
        node.id
        for cell in code(path)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert set(read_parameters(read(path))) <= names


@each_notebook
def test_the_text_has_one_sentence_on_a_line(path: Path) -> None:
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                assert not re.search(r"[a-z)`]\. [A-Z]", line), line


@each_notebook
def test_the_file_is_written_as_tools_write_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    node = json.loads(text)
    assert text == json.dumps(node, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def test_the_notebook_runs_as_it_is_on_the_embedded_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in code(ROOT / "notebooks" / "technical_assessment.ipynb"):
        exec(cell.source, names)  # noqa: S102 - what Jupyter does with it
    made = sorted(path.name for path in (tmp_path / "reports" / "notebook").iterdir())
    assert made == ["assessment.json", "technical_assessment.html", "technical_assessment.pdf"]
    assert isinstance(names["assessment"], evalkit.Assessment)


# What the cells call


@pytest.fixture(scope="module")
def release() -> evalkit.Release:
    return parameters.open_release()


@pytest.mark.parametrize(
    ("known", "names", "columns"),
    [
        ([], [""], [None]),
        (["age,sex"], [""], [("age", "sex")]),
        (["clinic=age, sex", "press=town"], ["clinic", "press"], [("age", "sex"), ("town",)]),
        (['"a=b","c,d"'], [""], [("a=b", "c,d")]),
        (['odd="c,d",e'], ["odd"], [("c,d", "e")]),
        ([["age", "sex"]], [""], [("age", "sex")]),
        (
            [{"clinic": ["age"], "press": "town,sex"}],
            ["clinic", "press"],
            [("age",), ("town", "sex")],
        ),
    ],
)
def test_known_columns_can_be_written_in_several_ways(
    known: list[object], names: list[str], columns: list[tuple[str, ...] | None]
) -> None:
    found = parameters.scenarios(known, seed=2)
    assert [one.name for one in found] == names
    assert [one.known for one in found] == columns
    assert {one.seed for one in found} == {2}


@pytest.mark.parametrize("known", [[3], [[1]], [{"clinic": None}], [""], ["clinic="]])
def test_known_columns_in_another_form_are_refused(known: list[object]) -> None:
    with pytest.raises(evalkit.InputError, match=r"^known: "):
        parameters.scenarios(known)


def test_one_table_alone_is_refused() -> None:
    with pytest.raises(evalkit.InputError, match="avatars: no table is given"):
        parameters.open_release("patients.csv")
    with pytest.raises(evalkit.InputError, match="original: no table is given"):
        parameters.open_release(holdout="control.csv")


def test_the_frames_of_the_notebook_escape_what_comes_from_data() -> None:
    import pandas as pd

    name = "<b>`a`|$x$"
    frame = pd.DataFrame({name: range(30), "b": [1, 2, 4] * 10})
    found = evalkit.load(frame, frame, frame)
    assert "<b>" not in notebook_view.columns(found)._repr_html_()
    assessment = evalkit.assess(found, evalkit.Scenario(name=name))
    shown = notebook_view.formulas(assessment)._repr_markdown_()
    assert "&lt;b&gt;&#96;a&#96;&#124;&#36;x&#36;: **" in shown
    assert "<b>" not in notebook_view.scores(assessment)._repr_html_()


def test_a_result_without_a_score_says_why_beside_its_formula() -> None:
    import pandas as pd

    frame = pd.DataFrame({"town": ["Nice", "Lyon"] * 20, "sex": ["f", "m", "m", "f"] * 10})
    shown = notebook_view.formulas(evalkit.assess(evalkit.load(frame, frame, frame))).markdown
    reason = shown.partition("### Correlation difference ratio")[2].splitlines()[-1]
    assert reason.startswith("- all columns: ")
    assert "**" not in reason
    assert len(reason) > len("- all columns: not applicable")


def test_a_release_is_described_without_its_cells(release: evalkit.Release) -> None:
    shown = repr(notebook_view.columns(release)) + notebook_view.notes(release).markdown
    for name in release.schema.used_names():
        column = release.original[name]
        if str(column.dtype) == "category":
            for level in column.cat.categories:
                assert f" {level} " not in shown
