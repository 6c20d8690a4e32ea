"""What is declared, pinned, packed and installed agrees."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PACKED_FOLDERS = ("notebooks", "report_templates")
# Where conda-forge splits or spells a package in its own way.
NAMES_ON_CONDA = {"jupyter-client": "jupyter_client", "matplotlib": "matplotlib-base"}
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;]+)(?P<rest>.*)$")
REPORT_FILES = {
    "assessment.json",
    "technical_assessment.html",
    "technical_assessment.ipynb",
    "technical_assessment.pdf",
}


def output_of(*command: object, folder: Path | None = None) -> str:
    """Run a command that must succeed."""
    run = subprocess.run(list(map(str, command)), cwd=folder, check=False, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode()


def pins(kind: str) -> dict[str, dict[str, str]]:
    """Map each pinned name to its versions, each with the text that follows it."""
    text = (ROOT / "requirements" / f"{kind}.txt").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for entry in text.replace("\\\n", " ").splitlines():
        match = PIN.match(entry)
        assert match, f"not a pin: {entry[:60]}"
        found.setdefault(match["name"], {})[match["version"]] = match["rest"]
    return found


def declared(kind: str) -> list[Requirement]:
    lines = (ROOT / "requirements" / "build.in").read_text(encoding="utf-8").splitlines()
    build = [line for line in lines if not line.startswith("#")]
    tools = EXTRAS["test"] if kind == "test" else []
    return [Requirement(line) for line in [*PROJECT["dependencies"], *build, *tools]]


@pytest.mark.parametrize("kind", ["run", "test"])
def test_everything_declared_is_pinned_within_its_range(kind: str) -> None:
    pinned = pins(kind)
    for requirement in declared(kind):
        versions = pinned.get(canonicalize_name(requirement.name), {})
        assert versions, f"{requirement.name} is not pinned"
        assert all(requirement.specifier.contains(version) for version in versions), requirement


@pytest.mark.parametrize("kind", ["run", "test"])
def test_every_pin_has_a_hash_and_is_no_local_build(kind: str) -> None:
    for name, versions in pins(kind).items():
        for version, rest in versions.items():
            assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", rest), name
            assert "+" not in version, name


def test_no_requirement_file_holds_an_address_or_a_path() -> None:
    for file in [*(ROOT / "requirements").iterdir(), ROOT / "environment.yml"]:
        text = file.read_text(encoding="utf-8")
        assert "://" not in text, file.name
        assert not re.search(r"(^|\s)(file:|@ |/|\.\./|--(index|extra-index|find-links))", text), (
            file.name
        )


def test_the_test_tools_change_nothing_of_what_runs() -> None:
    tested = pins("test")
    for name, versions in pins("run").items():
        assert tested[name].keys() == versions.keys(), name
        for version, rest in versions.items():
            # A tool may need on every Python what evalkit needs on some: the files are the same.
            assert hashes(tested[name][version]) == hashes(rest), name


def hashes(rest: str) -> list[str]:
    return re.findall(r"--hash=(\S+)", rest)


def test_the_build_tool_is_declared_the_same_in_both_places() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = (ROOT / "requirements" / "build.in").read_text(encoding="utf-8")
    assert project["build-system"]["requires"] == build.splitlines()[1:]


def test_the_conda_environment_is_in_step_with_the_project() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *by_conda, last = environment["dependencies"]
    listed = [*by_conda, *last["pip"]]
    wanted = ["pip", f"python{PROJECT['requires-python']}", "--editable ."]
    for line in [*PROJECT["dependencies"], *EXTRAS["explore"]]:
        name = Requirement(line).name
        wanted.append(line.replace(name, NAMES_ON_CONDA.get(name, name), 1))
    assert sorted(listed) == sorted(wanted)
    assert environment["channels"] == ["conda-forge", "nodefaults"]


def git(*arguments: str) -> list[str]:
    """List files as git sees them: what it ignores is left out, what is new is not."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("the source is not a git checkout")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = output_of(*listing, "--", *arguments, folder=ROOT).split("\0")
    return [name for name in listed if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the source in which files lie about that git ignores."""
    copy = tmp_path_factory.mktemp("source")
    for name in git():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for name in ("notebooks/a.executed.ipynb", "notebooks/.ipynb_checkpoints/a.ipynb"):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text("personal data", encoding="utf-8")
    (copy / "reports").mkdir()
    (copy / "reports" / "assessment.json").write_text("personal data", encoding="utf-8")
    return copy


def build(source: Path, target: str) -> Path:
    output_of(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", "dist", folder=source)
    (built,) = (source / "dist").glob("*.whl" if target == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return build(source, "wheel")


def test_the_wheel_holds_the_package_the_notebooks_and_the_templates(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = set(git("evalkit"))
    expected |= {f"evalkit/{name}" for name in git(*PACKED_FOLDERS)}
    assert packed == expected
    assert any(name.startswith("evalkit/notebooks/") for name in packed)
    assert any(name.startswith("evalkit/report_templates/") for name in packed)


def test_the_wheel_declares_its_command_licence_and_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            Path(name).name: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }
    assert "evalkit = evalkit.start:main" in texts["entry_points.txt"]
    exporter = "technical_assessment = evalkit.exporting:TechnicalAssessmentExporter"
    assert exporter in texts["entry_points.txt"]
    assert "License-Expression: Apache-2.0" in texts["METADATA"]
    assert texts["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_source_archive_holds_what_a_build_and_the_tests_need(source: Path) -> None:
    with tarfile.open(build(source, "sdist")) as archive:
        packed = {name.split("/", 1)[1] for name in archive.getnames()}
    folders = ("evalkit", *PACKED_FOLDERS, "requirements", "tests", "tools")
    files = {"LICENSE", "Makefile", "PKG-INFO", "README.md", "environment.yml"}
    assert packed == {*git(*folders), *files, ".gitignore", "pyproject.toml"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of programs of a fresh environment that has evalkit from the wheel.

    What evalkit needs is lent by the environment that runs the tests: nothing is downloaded.
    """
    pytest.importorskip("pip", reason="this environment was made without pip")
    fresh = tmp_path_factory.mktemp("fresh") / "environment"
    output_of(sys.executable, "-m", "venv", "--without-pip", fresh)
    programs = fresh / "bin"
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    output_of(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel)
    (packages,) = fresh.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return programs


@pytest.fixture
def clean_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in an empty folder, with an empty home and no variable that Python reads."""
    for name in list(os.environ):
        if name.startswith(("PYTHON", "JUPYTER", "IPYTHON", "XDG_", "MPL", "NUMBA")):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.usefixtures("clean_home")
def test_the_installed_command_says_its_version(installed: Path) -> None:
    found = output_of(installed / "python", "-c", "import evalkit; print(evalkit.__file__)")
    assert Path(found).is_relative_to(installed.parent)
    source = (ROOT / "evalkit" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    assert version
    assert version[1] in output_of(installed / "evalkit", "--version")


def test_the_installed_command_writes_the_demo_report(installed: Path, clean_home: Path) -> None:
    output_of(installed / "evalkit", "demo", "-o", "out")
    assert {file.name for file in (clean_home / "out").iterdir()} == REPORT_FILES
    assert json.loads((clean_home / "out" / "assessment.json").read_bytes())["results"]
    # The licence of the embedded tables asks for their source in the report.
    html = (clean_home / "out" / "technical_assessment.html").read_text(encoding="utf-8")
    assert "UCI Machine Learning Repository" in html
    assert "CC BY 4.0" in html


def test_nbconvert_finds_the_exporter_of_the_installed_package(
    installed: Path, clean_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # nbconvert's own templates lie in the environment that lends it.
    monkeypatch.setenv("JUPYTER_PATH", f"{sysconfig.get_path('data')}/share/jupyter")
    cell = {"cell_type": "markdown", "id": "one", "metadata": {}, "source": "# A finding"}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (clean_home / "run.ipynb").write_text(json.dumps(book), encoding="utf-8")
    command = [installed / "python", "-m", "nbconvert", "--to", "technical_assessment"]
    output_of(*command, "run.ipynb")
    html = (clean_home / "run.html").read_text(encoding="utf-8")
    assert "<h1>A finding</h1>" in html
    assert "font/woff2" in html
