"""The exploration notebooks as programs run them: other parameters, and no cell of any table."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from test_contract import people
from test_no_leak import EXTREME, FOLDER, KEY, RARE_LEVEL, RARE_TEXT, planted

import evalkit
from evalkit.exporting import TechnicalAssessmentExporter
from evalkit.running import run

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
PLANTED = [RARE_LEVEL, RARE_TEXT, KEY, "Quillfeather", f"{EXTREME:.0f}", f"{EXTREME:,.0f}"]
SLUGS = ["linkability_protection_rate", "hellinger"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with planted tables, two avatar sets and two assessments."""
    folder = tmp_path_factory.mktemp("explore") / FOLDER
    (folder / "sets").mkdir(parents=True)
    planted(120, 1).to_csv(folder / "original.csv", index=False)
    planted(110, 3).to_csv(folder / "holdout.csv", index=False)
    # The originals themselves, so that the planted record is at risk.
    for name, table in (("k2", planted(120, 1)), ("k20", people(120, 4))):
        planted(120, 2).assign(**table).to_csv(folder / "sets" / f"{name}.csv", index=False)
        found = evalkit.assess(
            evalkit.load(
                folder / "original.csv", folder / "sets" / f"{name}.csv", folder / "holdout.csv"
            ),
            metrics=SLUGS,
        )
        found.save(folder / f"{name}.json")
    return folder


def parameters(notebook: str, folder: Path) -> dict[str, Any]:
    """Return parameters of a notebook that are not its own."""
    if notebook == "compare_releases":
        return {"assessments": [str(folder / "k2.json"), str(folder / "k20.json")]}
    avatars = folder / "sets" if notebook == "choose_k" else folder / "sets" / "k2.csv"
    given: dict[str, Any] = {
        "original": str(folder / "original.csv"),
        "avatars": str(avatars),
        "holdout": str(folder / "holdout.csv"),
        "ignore": ["remarks"],
    }
    own = {
        "explore_linkability": {"known": ["age", "pressure", "town", "visits"]},
        "explore_utility": {"variable": "town", "pair": ["town", "pressure"], "by": "town"},
        "choose_k": {"known": ["age", "pressure", "town"], "privacy_target": 90.0},
    }
    return given | own[notebook]


def outputs(path: Path) -> str:
    """Return everything in an executed notebook, as text."""
    node = nbformat.read(path, as_version=4)
    assert any(cell.get("outputs") for cell in node.cells)
    return html.unescape(json.dumps(node, ensure_ascii=False))


@pytest.mark.parametrize(
    ("notebook", "told"),
    [
        ("explore_linkability", "Linkability with 4 known variables"),
        ("explore_utility", "Scores by town"),
        ("choose_k", "k20.csv"),
        ("compare_releases", "Comparison of assessments"),
    ],
)
def test_an_exploration_runs_with_other_parameters_and_shows_no_cell(
    tables: Path, tmp_path: Path, notebook: str, told: str
) -> None:
    path = run(parameters(notebook, tables), notebook=notebook, output=tmp_path, quiet=True)
    text = outputs(path)
    assert told in text
    for cell in PLANTED:
        assert cell not in text, cell
    assert FOLDER not in text
    assert "http" not in text.replace("http://www.w3.org/", "")
    assert "widget" not in text
    page, _ = TechnicalAssessmentExporter().from_filename(str(path))
    assert told in html.unescape(page)
    assert not re.findall(r"""(?:src|href|url\()\s*=?\s*["']?\s*(?:https?:)?//""", page)
    if notebook == "compare_releases":
        assert (tmp_path / "comparison.pdf").exists()


def test_a_run_refuses_to_show_records(tables: Path, tmp_path: Path) -> None:
    given = parameters("explore_linkability", tables) | {"controllers_eyes": True}
    with pytest.raises(evalkit.InputError, match="never in an executed one"):
        run(given, notebook="explore_linkability", output=tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_papermill_by_itself_keeps_no_record_either(tables: Path, tmp_path: Path) -> None:
    # Nobody presses the button, and a widget's state holds none; with the extra or without.
    given = parameters("explore_linkability", tables) | {"controllers_eyes": True}
    script = (
        "import json, sys, papermill; source, target, given = sys.argv[1:]; "
        "papermill.execute_notebook(source, target, json.loads(given), progress_bar=False)"
    )
    source, target = ROOT / "notebooks" / "explore_linkability.ipynb", tmp_path / "executed.ipynb"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, source, target, json.dumps(given)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = outputs(target)
    assert "originals are linked with a probability" in text
    for cell in PLANTED:
        assert cell not in text, cell


def test_nbmake_runs_an_exploration(tmp_path: Path) -> None:
    pytest.importorskip("nbmake", reason="nbmake is not installed")
    target = tmp_path / "explore_utility.ipynb"
    target.write_bytes((ROOT / "notebooks" / target.name).read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbmake", "-p", "no:cacheprovider", target.name],
        cwd=tmp_path,
        env=environment({"PYTHONPATH": str(ROOT)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return this environment without what pytest left for its own workers."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return own | dict(more)
