"""The option ``--sign``: the key is read before the work, the PDF is signed before it is shown."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

PDF = "technical_assessment.pdf"


def signer_for(key: str | None, formats: Collection[str]) -> Callable[[Path], None]:
    """Return what signs the PDF in a folder; it does nothing without a key.

    Parameters
    ----------
    key : str or None
        Path of a PKCS #12 file, as given with ``--sign``.
    formats : collection of str
        What the report is made as; a key needs ``pdf`` among them.

    Returns
    -------
    callable
        Takes the folder of the finished files.

    Raises
    ------
    evalkit.InputError
        If there is no PDF to sign, or the key cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evalkit.commands.signed import signer_for
    >>> signer_for(None, ["html"])(Path("reports"))
    """
    if not key:
        return lambda _: None
    if "pdf" not in formats:
        raise InputError("--sign signs the PDF, and none is asked for; add pdf to --formats.")
    from evalkit.running.plain_values import check_path

    check_path("sign", key)
    signer = _read(Path(key))

    def sign(folder: Path) -> None:
        from evalkit.signing import sign_pdf

        path = folder / PDF
        path.write_bytes(sign_pdf(path.read_bytes(), signer))

    return sign


def _read(path: Path) -> Any:
    """Return the signer; its password comes from the environment, else from the terminal."""
    from evalkit.signing import PASSWORD_VARIABLE, read_key

    # Taken out of the environment: the process of the notebook inherits the rest.
    password = os.environ.pop(PASSWORD_VARIABLE, None)
    if password is not None:
        return read_key(path, password)
    try:
        return read_key(path, None)
    except InputError:
        if not (path.is_file() and sys.stdin.isatty()):
            raise
    asked = click.prompt(f"Password of {path.name}", hide_input=True, default="", err=True)
    return read_key(path, asked)
