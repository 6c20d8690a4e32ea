"""The SHA-256 that an HTML report carries of itself, taken with its own field blanked."""

from __future__ import annotations

import hashlib
import re
from typing import Final

BLANK: Final = "0" * 64
_FIELD: Final = re.compile(r'(<meta name="evalkit-sha256" content=")([0-9a-f]{64})(">)')


def sealed(html: str) -> str:
    """Return a report with its own SHA-256 in the field that the template left blank.

    Parameters
    ----------
    html : str
        With 64 zeros in ``<meta name="evalkit-sha256">``; a template of the user may have no such
        field, and nothing is changed then.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.report.sealing import BLANK, seal_of, sealed
    >>> html = sealed(f'<meta name="evalkit-sha256" content="{BLANK}"><p>84.6</p>')
    >>> seal_of(html), seal_of(html.replace("84.6", "94.6"))
    (True, False)
    """
    return _FIELD.sub(rf"\g<1>{_digest(html)}\g<3>", html, count=1)


def seal_of(html: str) -> bool | None:
    """Return whether a report is what its own SHA-256 was taken of; None without one."""
    found = _FIELD.search(html)
    if found is None:
        return None
    return found[2] == _digest(_FIELD.sub(rf"\g<1>{BLANK}\g<3>", html, count=1))


def _digest(html: str) -> str:
    return hashlib.sha256(html.encode("utf-8", "surrogatepass")).hexdigest()
