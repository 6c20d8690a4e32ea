"""The set-up of a checkout: what it makes, when it makes it again, and what it says."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "set_up.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("set_up", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


set_up = loaded()


def new_checkout(root: Path) -> "set_up.Checkout":
    for name in ("pyproject.toml", "requirements/run.txt", "requirements/test.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("numpy==2.4.6", encoding="utf-8")
    (root / "evalkit").mkdir()
    (root / "evalkit" / "__init__.py").write_text('__version__ = "0.1.0"\n', encoding="utf-8")
    return set_up.Checkout(root)


@pytest.fixture
def checkout(tmp_path: Path) -> "set_up.Checkout":
    return new_checkout(tmp_path / "a folder é")


class Commands:
    """Stand in for the running of commands: what was asked for, and what then succeeds."""

    def __init__(self, checkout: "set_up.Checkout") -> None:
        self.checkout = checkout
        self.ran: list[str] = []
        self.failing = ""

    def __call__(self, command: list[object], quiet: bool = False) -> bool:  # noqa: ARG002
        words = " ".join(map(str, command))
        self.ran.append(words)
        if self.failing and self.failing in words:
            return False
        if "venv" in command:
            self.checkout.python.parent.mkdir(parents=True)
            self.checkout.python.touch()
        return True

    def installations(self) -> list[str]:
        return [words.split(" --no-user ")[1] for words in self.ran if " --no-user " in words]


@pytest.fixture
def commands(checkout: "set_up.Checkout", monkeypatch: pytest.MonkeyPatch) -> Commands:
    stand_in = Commands(checkout)
    monkeypatch.setattr(set_up, "run", stand_in)
    return stand_in


def test_an_old_python_is_told_its_version_and_what_to_type() -> None:
    complaint = set_up.version_complaint((3, 10, 13), "/usr/bin/python3")
    assert "needs Python 3.11 or newer; /usr/bin/python3 is 3.10." in complaint
    assert "make demo PYTHON=python3." in complaint
    assert set_up.version_complaint((3, 11, 0), "/usr/bin/python3") == ""


def test_an_old_python_installs_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(set_up.sys, "version_info", (3, 9, 2, "final", 0))
    assert set_up.main(["run"]) == set_up.UNUSABLE
    assert "is 3.9." in capsys.readouterr().err


def test_an_old_python_can_read_the_script() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))


def test_a_wrong_argument_gives_the_usage() -> None:
    command = [sys.executable, "-I", str(SCRIPT), "everything"]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.returncode == set_up.UNUSABLE
    assert run.stderr == "set-up: usage: python3 tools/set_up.py run|test\n"


def test_the_pins_come_first_with_hashes_and_evalkit_after_them(commands: Commands) -> None:
    checkout = commands.checkout
    set_up.set_up(checkout, "run")
    pins, evalkit = commands.installations()
    assert pins.startswith("--require-hashes --only-binary :all: -r ")
    assert pins.endswith("run.txt")
    assert evalkit == f"--no-deps --no-build-isolation --editable {checkout.root}"
    assert set_up.is_current(checkout, "run")
    assert not set_up.is_current(checkout, "test")


def test_a_second_set_up_runs_nothing(commands: Commands) -> None:
    set_up.set_up(commands.checkout, "test")
    commands.ran.clear()
    set_up.set_up(commands.checkout, "test")
    set_up.set_up(commands.checkout, "run")
    assert commands.ran == []


def test_the_test_tools_do_not_take_evalkit_away_under_a_running_demo(commands: Commands) -> None:
    set_up.set_up(commands.checkout, "run")
    commands.ran.clear()
    set_up.set_up(commands.checkout, "test")
    (pins,) = commands.installations()
    assert pins.endswith("test.txt")


@pytest.mark.parametrize(
    "changed", ["pyproject.toml", "requirements/run.txt", "evalkit/__init__.py"]
)
def test_a_change_in_what_is_declared_is_installed(commands: Commands, changed: str) -> None:
    set_up.set_up(commands.checkout, "run")
    with (commands.checkout.root / changed).open("a", encoding="utf-8") as file:
        file.write('\n__version__ = "0.2.0"')
    assert not set_up.is_current(commands.checkout, "run")


def test_a_moved_checkout_is_made_again(commands: Commands, tmp_path: Path) -> None:
    set_up.set_up(commands.checkout, "run")
    commands.checkout.root.rename(tmp_path / "moved")
    commands.checkout = set_up.Checkout(tmp_path / "moved")
    leftover = commands.checkout.venv / "leftover"
    leftover.touch()
    assert not set_up.is_current(commands.checkout, "run")
    set_up.set_up(commands.checkout, "run")
    assert not leftover.exists()
    assert set_up.is_current(commands.checkout, "run")


def test_another_python_makes_it_again(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up.set_up(commands.checkout, "run")
    assert set_up.is_usable(commands.checkout)
    monkeypatch.setattr(set_up.sys, "version", "3.12.1 (another build)")
    assert not set_up.is_usable(commands.checkout)
    assert not set_up.is_current(commands.checkout, "run")


def test_an_installation_that_was_cut_off_starts_from_nothing(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(set_up, "install_evalkit", cut_off)
        with pytest.raises(KeyboardInterrupt):
            set_up.set_up(commands.checkout, "run")
    assert not set_up.is_usable(commands.checkout)
    commands.ran.clear()
    set_up.set_up(commands.checkout, "run")
    assert " -m venv " in commands.ran[0]
    assert set_up.is_usable(commands.checkout)


def test_a_failed_installation_of_test_tools_leaves_the_demo_working(commands: Commands) -> None:
    set_up.set_up(commands.checkout, "run")
    commands.failing = "test.txt"
    with pytest.raises(set_up.SetUpError, match="installation failed"):
        set_up.set_up(commands.checkout, "test")
    assert set_up.is_current(commands.checkout, "run")
    assert set_up.is_usable(commands.checkout)
    assert not set_up.is_current(commands.checkout, "test")


def test_a_folder_that_is_no_environment_of_ours_is_made_again(commands: Commands) -> None:
    commands.checkout.venv.mkdir()
    leftover = commands.checkout.venv / "leftover"
    leftover.touch()
    set_up.set_up(commands.checkout, "run")
    assert not leftover.exists()


def test_a_linked_environment_loses_only_the_link(commands: Commands, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    commands.checkout.venv.symlink_to(elsewhere)
    set_up.set_up(commands.checkout, "run")
    assert (elsewhere / "kept").exists()


def test_without_the_pip_that_python_brings_a_pip_from_outside_is_used(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_up.importlib.util, "find_spec", lambda _: None)
    commands.failing = f"{commands.checkout.python} -I -X utf8 -m pip"
    set_up.set_up(commands.checkout, "run")
    assert "--without-pip" in commands.ran[0]
    outside = f"{set_up.base_python()} -I -X utf8 -m pip --python {commands.checkout.python} "
    installing = [words for words in commands.ran if " install " in words]
    assert len(installing) == 2
    assert all(words.startswith(outside) for words in installing)


def test_where_no_environment_can_be_made_the_remedy_is_named(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_up.importlib.util, "find_spec", lambda _: None)
    commands.failing = "venv"
    with pytest.raises(set_up.SetUpError, match="apt install python3-venv"):
        set_up.set_up(commands.checkout, "run")
    assert not commands.checkout.venv.exists()


def is_free(checkout: "set_up.Checkout") -> bool:
    with (checkout.root / ".venv.lock").open("a") as file:
        taken: bool = set_up.is_taken(file)
        return taken


def test_only_one_set_up_at_a_time_holds_the_lock(checkout: "set_up.Checkout") -> None:
    with set_up.lock(checkout):
        assert not is_free(checkout)
    assert is_free(checkout)


def test_a_pip_that_outlives_its_set_up_keeps_the_lock(checkout: "set_up.Checkout") -> None:
    waiting = [sys.executable, "-c", "input()"]
    with set_up.lock(checkout):
        child = subprocess.Popen(waiting, stdin=subprocess.PIPE, close_fds=False)
    assert not is_free(checkout)
    child.communicate(b"\n")
    assert is_free(checkout)


def test_pip_is_not_told_where_or_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PYTHONPATH", "PIP_NO_BINARY"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PIP_PROXY", "localhost:8080")
    environment = set_up.clean_environment()
    assert environment["PATH"] == os.environ["PATH"]
    assert {name for name in environment if name.startswith(("PIP_", "PYTHON"))} <= {
        *set_up.KEPT_PIP_VARIABLES
    }
    assert environment["PIP_PROXY"] == "localhost:8080"


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_says_it_when_there_is_no_such_python(target: str) -> None:
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    command = ["make", "-C", str(ROOT), target, "PYTHON=no-such-python"]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert run.returncode == set_up.UNUSABLE
    assert "there is no no-such-python here" in run.stderr


def test_ci_can_be_run_and_runs_the_tests_as_anyone_does() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
