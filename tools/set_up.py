"""Make `.venv` and install in it exactly what `requirements/` pins.

    python3 -I tools/set_up.py run     what `make demo` needs
    python3 -I tools/set_up.py test    the same and the test tools

Nothing but the standard library is used, and no syntax that an old Python 3 cannot read: an old
Python has to come as far as the message that says it is too old.

State, all of it inside `.venv`:
    .made-by        who made it; written once the environment stands
    .unfinished     there while an installation runs, and after one that was cut off
    .stamp-<kind>   hash of all that the installation followed; written last
"""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.14")
KINDS = ("run", "test")
# What may still steer pip from outside: where packages come from. Every other PIP_ variable could
# put them elsewhere, change the pins or refuse the virtual environment.
KEPT_PIP_VARIABLES = (
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_KEYRING_PROVIDER",
    "PIP_NO_CACHE_DIR",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TRUSTED_HOST",
)
DROPPED_BEGINNINGS = ("PIP_", "PYTHON", "VIRTUAL_ENV", "__PYVENV")
# No PYTHON variable, no user packages, no module of the current folder; and UTF-8 in any locale,
# because the link from `.venv` to the checkout is a path written in UTF-8.
ISOLATED = ("-I", "-X", "utf8")
STILL_WORKING_SECONDS = 30
UNUSABLE = 2
INTERRUPTED = 130

NO_VENV = """\
this Python cannot make a virtual environment, and neither pip nor uv is here to help.
Debian or Ubuntu: sudo apt install python3-venv
Then run the same command again."""
NOT_INSTALLED = """\
the installation failed; the reason stands above.
The pinned packages have wheels for CPython 3.11 to 3.14 on Linux (glibc), Windows (x86-64) and
macOS (Apple processors). On other machines: pip install ."""


class SetUpError(Exception):
    """What stops the set-up, in words for the person at the terminal."""


class Checkout:
    """The paths of one copy of the source, links resolved."""

    def __init__(self, root: Path):
        self.root = Path(os.path.realpath(str(root)))
        self.venv = self.root / ".venv"
        self.made_by = self.venv / ".made-by"
        self.unfinished = self.venv / ".unfinished"
        self.python = self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def requirements(self, kind: str) -> Path:
        """Give the file of pinned packages."""
        return self.root / "requirements" / (kind + ".txt")

    def stamp(self, kind: str) -> Path:
        """Give the file that tells which pins are installed."""
        return self.venv / (".stamp-" + kind)


def say(text: str) -> None:
    """Write to standard error, which never fails on a character the terminal cannot show."""
    sys.stderr.write("set-up: " + text + "\n")
    sys.stderr.flush()


def read(path: Path) -> str:
    """Give a file's text, empty if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def write(path: Path, text: str) -> None:
    """Write a small file."""
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def version_complaint(version: tuple, executable: str) -> str:
    """Say what is wrong with a Python that is too old; empty if it will do."""
    if tuple(version[:2]) >= OLDEST_PYTHON:
        return ""
    newer = [name for name in NEWER_PYTHONS if shutil.which(name)]
    return (
        "evalkit needs Python {}.{} or newer; {} is {}.{}.\n"
        "Name a newer one, for example: make demo PYTHON={}"
    ).format(*OLDEST_PYTHON, executable, *version[:2], newer[0] if newer else "python3.12")


def base_python() -> str:
    """Give the Python behind an environment: ours may be removed while it runs this script."""
    return getattr(sys, "_base_executable", None) or sys.executable


def maker(checkout: Checkout) -> str:
    """Give what ties an environment to its place and its Python."""
    return "\n".join([str(checkout.venv), os.path.realpath(base_python()), sys.version])


def fingerprint(checkout: Checkout, kind: str) -> str:
    """Give the hash of all that an installation of this kind follows."""
    lines = read(checkout.root / "evalkit" / "__init__.py").splitlines()
    followed = [
        kind,
        maker(checkout),
        read(checkout.requirements(kind)),
        read(checkout.root / "pyproject.toml"),
        *[line for line in lines if line.startswith("__version__")],
    ]
    return hashlib.sha256("\0".join(followed).encode("utf-8", "surrogateescape")).hexdigest()


def is_current(checkout: Checkout, kind: str) -> bool:
    """Tell whether nothing is left to install."""
    stamp = read(checkout.stamp(kind))
    return checkout.python.exists() and stamp == fingerprint(checkout, kind)


def is_usable(checkout: Checkout) -> bool:
    """Tell whether `.venv` was made whole, in this place, by this Python."""
    return not checkout.unfinished.exists() and read(checkout.made_by) == maker(checkout)


@contextlib.contextmanager
def lock(checkout: Checkout):
    """Keep a second set-up of the same checkout waiting.

    The system frees the lock when the last process that holds it ends. Child processes inherit
    it, so that a pip that outlives a killed set-up is waited for as well.
    """
    with (checkout.root / ".venv.lock").open("a") as file:
        os.set_inheritable(file.fileno(), True)  # noqa: FBT003 - takes no name
        if not is_taken(file):
            say("another set-up is at work in this folder; waiting for it")
            while not is_taken(file):
                time.sleep(0.5)
        yield


def is_taken(file) -> bool:
    """Try to take the lock, and tell whether it is ours."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        say("this file system has no locks: do not start two set-ups at once")
    return True


def clean_environment() -> dict:
    """Give the environment for child processes: it must not say what to install, or where."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in KEPT_PIP_VARIABLES or not name.startswith(DROPPED_BEGINNINGS)
    }


def run(command: list, quiet: bool = False) -> bool:
    """Run a command to its end, tell whether it succeeded, and say so if it takes long."""
    output = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(
        [str(word) for word in command],
        env=clean_environment(),
        stdout=output,
        stderr=output,
        close_fds=False,
    )
    started = time.time()
    while True:
        try:
            return process.wait(STILL_WORKING_SECONDS) == 0
        except subprocess.TimeoutExpired:
            say("still at work after {:.0f} s".format(time.time() - started))


def ways_to_make(checkout: Checkout) -> list:
    """List the ways to make an environment, the usual one first, each as its commands."""
    python = [base_python(), *ISOLATED]
    ways = [
        [[*python, "-m", "venv", checkout.venv]],
        # Debian parts `venv` from the pip it brings along; a pip from outside will do.
        [
            [*python, "-m", "venv", "--without-pip", checkout.venv],
            [*python, "-m", "pip", "--python", checkout.python, "--version"],
        ],
        [["uv", "venv", "--quiet", "--seed", "--python", base_python(), checkout.venv]],
    ]
    return ways if importlib.util.find_spec("ensurepip") else ways[1:]


def make_environment(checkout: Checkout) -> None:
    """Make `.venv` from nothing."""
    if os.path.lexists(str(checkout.venv)):
        say(".venv is half-made, was moved, or is another Python's: making it again")
        remove(checkout.venv)
    say("making .venv with Python {}.{}.{}".format(*sys.version_info[:3]))
    for commands in ways_to_make(checkout):
        if all(shutil.which(command[0]) and run(command, quiet=True) for command in commands):
            write(checkout.made_by, maker(checkout))
            return
        remove(checkout.venv)
    raise SetUpError(NO_VENV)


def remove(path: Path) -> None:
    """Remove a folder with what is in it; of a link, only the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(str(path))
    elif os.path.lexists(str(path)):
        path.unlink()


def pip_install(checkout: Checkout, *arguments: object) -> bool:
    """Let the environment's own pip install, or else this Python's from outside."""
    pip = [checkout.python, *ISOLATED, "-m", "pip"]
    if not run([*pip, "--version"], quiet=True):
        pip = [base_python(), *ISOLATED, "-m", "pip", "--python", checkout.python]
    options = ["--quiet", "--no-input", "--disable-pip-version-check"]
    # `--no-user` answers a pip configuration that says `user = true`.
    return run([*pip, *options, "install", "--no-user", *arguments])


def install_pins(checkout: Checkout, kind: str) -> bool:
    """Install the pinned packages and nothing else, each checked against its hash."""
    say("installing the pinned packages, about 1 GB: a minute or two")
    hashed = ["--require-hashes", "--only-binary", ":all:", "-r", checkout.requirements(kind)]
    return pip_install(checkout, *hashed)


def install_evalkit(checkout: Checkout) -> bool:
    """Link evalkit itself into the environment.

    A call of its own, because `--require-hashes` refuses a local folder. The build tool is one of
    the pinned packages: without isolation, nothing unpinned is fetched.
    """
    options = ["--no-deps", "--no-build-isolation", "--editable"]
    if not pip_install(checkout, *options, checkout.root):
        return False
    return run([checkout.python, *ISOLATED, "-c", "import evalkit"])


def install(checkout: Checkout, kind: str) -> None:
    """Install what is missing for a kind; a kind that already stands is left alone."""
    # A demo may be running on what stands: evalkit is not taken away under it.
    run_stands = kind == "test" and is_current(checkout, "run")
    for invalid in KINDS[1:] if run_stands else KINDS:
        remove(checkout.stamp(invalid))
    write(checkout.unfinished, kind)
    done = install_pins(checkout, kind) and (run_stands or install_evalkit(checkout))
    if done or run_stands:
        # Without a network `make test` fails, and `make demo` goes on working.
        checkout.unfinished.unlink()
    if not done:
        raise SetUpError(NOT_INSTALLED)
    for standing in KINDS[: KINDS.index(kind) + 1]:
        write(checkout.stamp(standing), fingerprint(checkout, standing))
    say("ready")


def set_up(checkout: Checkout, kind: str) -> None:
    """Bring `.venv` to what a kind needs, one process at a time."""
    with lock(checkout):
        if is_current(checkout, kind):
            return
        if not is_usable(checkout):
            make_environment(checkout)
        install(checkout, kind)


def main(arguments: list) -> int:
    """Run the set-up and give the exit code."""
    complaint = version_complaint(sys.version_info, sys.executable)
    if complaint or len(arguments) != 1 or arguments[0] not in KINDS:
        say(complaint or "usage: python3 tools/set_up.py run|test")
        return UNUSABLE
    try:
        set_up(Checkout(Path(__file__).parent.parent), arguments[0])
    except (SetUpError, OSError) as error:
        say(str(error))
        return UNUSABLE
    except KeyboardInterrupt:
        say("interrupted; the next set-up starts again")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
