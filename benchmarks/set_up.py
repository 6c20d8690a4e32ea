"""Make an environment for each peer whose pins could clash with ours, under `.benchmarks/`."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".benchmarks"
PEERS = {
    "anonymeter": ["anonymeter==1.1.0"],
    "faiss": ["faiss-cpu==1.15.1"],
    "gower": ["gower==0.1.2", "pandas==3.1.1"],
}


def python_of(peer: str) -> Path:
    """Path of a peer's interpreter."""
    folder = PLACE / peer
    windows = folder / "Scripts" / "python.exe"
    return windows if windows.exists() else folder / "bin" / "python"


def set_up() -> list[str]:
    """Make what is missing and return the peers that could be installed."""
    return [peer for peer in PEERS if _ready(peer)]


def _ready(peer: str) -> bool:
    done = PLACE / peer / "installed"
    wanted = "\n".join(PEERS[peer])
    if done.exists() and done.read_text("utf-8") == wanted:
        return True
    print(f"installing {peer} ...", file=sys.stderr)
    venv.create(PLACE / peer, with_pip=True, clear=True)
    command = [str(python_of(peer)), "-m", "pip", "install", "--quiet", *PEERS[peer]]
    done_well = subprocess.run(command, check=False, stderr=subprocess.DEVNULL)  # noqa: S603 - made here
    if done_well.returncode != 0:
        print(f"{peer} cannot be installed here; it is left out", file=sys.stderr)
        return False
    done.write_text(wanted, "utf-8")
    return True


if __name__ == "__main__":
    print("ready:", ", ".join(set_up()))
