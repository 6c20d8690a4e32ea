"""`evalkit explore`: notebooks with parameters filled in, and JupyterLab really opened on them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from test_contract import people

from evalkit import cli
from evalkit.explore import workplace
from evalkit.running.notebook_file import read_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 90_000  # as Playwright counts them


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with three tables and a folder of sets."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("original", "avatars", "holdout")):
        people(60, number).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "sets").mkdir()
    for name in ("k5", "k20"):
        shutil.copy(tmp_path / "avatars.csv", tmp_path / "sets" / f"{name}.csv")
    return tmp_path


def defaults(folder: Path, name: str) -> dict[str, object]:
    node = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    return {key: one.default for key, one in read_parameters(node).items()}


def test_notebooks_are_copied_with_paths_seen_from_their_folder(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["original.csv", "avatars.csv", "--holdout", "holdout.csv", "-o", "bench/one"]
    assert cli.main(["explore", *given, "--copy-only"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [Path(line).stem for line in printed] == list(workplace.NOTEBOOKS)
    found = defaults(here / "bench" / "one", "explore_linkability")
    assert found["original"] == "../../original.csv"
    assert found["avatars"] == "../../avatars.csv"
    assert found["holdout"] == "../../holdout.csv"
    assert found["known"] == []
    for path in (here / "bench" / "one").iterdir():
        assert str(here) not in path.read_text(encoding="utf-8")
    # One file of avatars is no choice of settings.
    assert defaults(here / "bench" / "one", "choose_k")["avatars"] == ""


def test_a_folder_of_sets_goes_to_the_choice_and_its_first_set_to_the_others(here: Path) -> None:
    assert cli.main(["explore", "original.csv", "sets", "-o", "bench", "--copy-only"]) == 0
    assert defaults(here / "bench", "choose_k")["avatars"] == "../sets"
    assert defaults(here / "bench", "explore_utility")["avatars"] == "../sets/k5.csv"


def test_without_tables_the_parameters_stay_as_they_are(here: Path) -> None:
    assert cli.main(["explore", "-o", "bench", "--copy-only"]) == 0
    for name in workplace.NOTEBOOKS:
        copy = (here / "bench" / f"{name}.ipynb").read_text(encoding="utf-8")
        assert json.loads(copy)["cells"][0]["source"]
        assert defaults(here / "bench", name) == defaults(ROOT / "notebooks", name)


def test_notebooks_that_are_there_are_kept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bench").mkdir()
    own = here / "bench" / "choose_k.ipynb"
    own.write_text("mine")
    assert cli.main(["explore", "-o", "bench", "--copy-only"]) == 0
    assert own.read_text() == "mine"
    assert "choose_k.ipynb: is there already and was kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["original.csv"], "both ORIGINAL and AVATARS"),
        (["original.csv", "gone.csv"], "there is no file 'gone.csv'"),
        (["postgresql://a:b@c/d", "avatars.csv"], "is not written into notebooks"),
        (["original.csv", "bench-empty"], "holds 0 tables"),
    ],
)
def test_bad_tables_are_refused_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], given: list[str], message: str
) -> None:
    (here / "bench-empty").mkdir()
    assert cli.main(["explore", *given, "-o", "bench", "--copy-only"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (here / "bench").exists()


def test_without_jupyterlab_one_line_says_what_to_install(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workplace, "find_spec", lambda _: None)
    assert cli.main(["explore", "-o", "bench"]) == 2
    said = capsys.readouterr().err
    assert "pip install 'evalkit[explore]'" in said
    assert said.count("\n") == 1
    assert not (here / "bench").exists()


@pytest.fixture
def lab(here: Path) -> Iterator[tuple[str, Path]]:
    """Give the address and the folder of a JupyterLab that the command has opened."""
    for package in ("jupyterlab", "ipywidgets", "anywidget"):
        pytest.importorskip(package, reason="the extra 'explore' is not installed")
    command = [sys.executable, "-m", "evalkit", "explore", "original.csv", "avatars.csv"]
    options = ["--holdout", "holdout.csv", "-o", "bench", "--no-browser"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(here)}
    with subprocess.Popen(
        [*command, *options], cwd=here, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            (address,) = [line for line in read_lines(process) if line.startswith("http")]
            yield address, here / "bench"
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()


def read_lines(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield what is printed up to the address."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line.strip()
        if line.startswith("http"):
            return


@pytest.fixture
def page() -> Iterator[Page]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1300, "height": 1400})
        browser.close()


def save(page: Page, path: Path) -> str:
    """Save the notebook in the page and return the file."""
    before = path.stat().st_mtime_ns
    page.get_by_role("menuitem", name="File", exact=True).click()
    page.get_by_text("Save Notebook", exact=True).click()
    ends = time.monotonic() + 20
    while path.stat().st_mtime_ns == before and time.monotonic() < ends:
        page.wait_for_timeout(100)
    return path.read_text(encoding="utf-8")


@pytest.mark.browser
def test_a_moved_control_changes_the_number_and_records_stay_in_the_page(
    lab: tuple[str, Path], page: Page
) -> None:
    address, folder = lab
    path = folder / "explore_linkability.ipynb"
    asked = path.read_text(encoding="utf-8").replace(
        "controllers_eyes: bool = False", "controllers_eyes: bool = True"
    )
    # Every record is at risk from the least probability on: the table has rows.
    path.write_text(asked.replace("at_least: float = 0.5", "at_least: float = 0.000001"))
    outside: list[str] = []
    page.on("request", lambda one: outside.append(one.url))
    page.goto(address, timeout=SECONDS)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=SECONDS)
    page.get_by_text("| Idle").first.wait_for(timeout=SECONDS)  # the notebook's process is there
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    button = page.locator(".evalkit-show-records")
    button.wait_for(timeout=SECONDS)  # the last cell has run

    title = page.locator(".evalkit-title").first
    assert title.inner_text().startswith("Linkability with 5 known variables")
    page.get_by_label("age", exact=True).click()
    page.get_by_text("Linkability with 4 known variables").first.wait_for(timeout=SECONDS)

    button.click()
    page.wait_for_selector(".evalkit-records td", timeout=SECONDS)
    assert page.locator(".evalkit-records th").first.inner_text() == "row"
    shown = page.locator(".evalkit-records td").all_inner_texts()
    pressures = [one for one in shown if "." in one and len(one) > 4]
    text = save(page, path)
    assert "Linkability with 4 known variables" in text  # the last state is in the file
    assert "widget-state" not in text
    assert pressures
    assert not [one for one in pressures if one in text]
    here = address.partition("/lab")[0]
    assert not [one for one in outside if not one.startswith((here, "data:", "blob:"))]
