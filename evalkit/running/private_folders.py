"""Folders that libraries want to write to, where the user's home cannot be written."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def matplotlib_folder(scratch: Path) -> dict[str, str]:
    """Return what to add to the environment so that matplotlib finds a folder to write to.

    Without one it writes two lines to the error stream and leaves a folder behind each time.

    Parameters
    ----------
    scratch : pathlib.Path
        Private folder that is removed in the end.

    Returns
    -------
    dict
        ``MPLCONFIGDIR``, or nothing where the variable is set or the usual folder can be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.running.private_folders import matplotlib_folder
    >>> set(matplotlib_folder(Path("scratch"))) <= {"MPLCONFIGDIR"}
    True
    """
    if os.environ.get("MPLCONFIGDIR") or _can_be_written(_usual_folder()):
        return {}
    return {"MPLCONFIGDIR": str(scratch / "matplotlib")}


def _usual_folder() -> Path | None:
    """Return the folder that matplotlib takes by default; None without a home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform.startswith(("linux", "freebsd")):
        return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "matplotlib"
    return home / ".matplotlib"


def _can_be_written(folder: Path | None) -> bool:
    """Return whether `folder` exists or could be made, and could be written to."""
    if folder is None:
        return False
    existing = folder
    while not os.path.lexists(existing):
        existing = existing.parent
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
