"""Read a report of any form and take the assessment out of it; the file may come from anyone."""

from __future__ import annotations

import html
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evalkit.errors import InputError
from evalkit.limited_files import limited_bytes
from evalkit.records import LARGEST_FILE_BYTES, decode

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.records import Assessment

LARGEST_REPORT_BYTES: Final = 256 * 2**20
_IN_HTML: Final = re.compile(r'<details class="json">.*?<pre[^>]*>(.*?)</pre>', re.DOTALL)
_IN_PDF: Final = re.compile(rb"<<([^\r\n]{0,400}/EmbeddedFile[^\r\n]{0,400})>>\s*stream\r?\n")
_LENGTH: Final = re.compile(rb"/Length (\d{1,9})\b")


@dataclass(frozen=True)
class ReportFile:
    """A report as it lies on the disk.

    Attributes
    ----------
    name : str
        Base name, for messages.
    form : str
        ``json``, ``html`` or ``pdf``.
    content : bytes
        The whole file.
    archived : bytes
        The JSON of the assessment in it.
    assessment : Assessment
        What that JSON says.
    """

    name: str
    form: str
    content: bytes
    archived: bytes
    assessment: Assessment

    @property
    def text(self) -> str:
        """Return the file as text; bytes that are none stay different from any that are."""
        return self.content.decode("utf-8", "surrogateescape")


def read_report(path: Path) -> ReportFile:
    """Return a report; its form is told by its first bytes, not by its name.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    ReportFile

    Raises
    ------
    evalkit.InputError
        If the file cannot be read, is too large, or holds no assessment.
    """
    try:
        content = limited_bytes(path, LARGEST_REPORT_BYTES)
    except OSError as error:
        reason = error.strerror or "an impossible name"
        message = f"{path.name}: cannot be read ({reason}); give a report of evalkit."
        raise InputError(message) from None
    if len(content) > LARGEST_REPORT_BYTES:
        raise InputError(f"{path.name}: over {LARGEST_REPORT_BYTES:,} bytes; this is no report.")
    form, archived = _assessment_in(content)
    if archived is None:
        message = (
            f"{path.name}: holds no assessment; give an assessment.json, or the HTML or PDF file "
            "of a Technical Assessment as evalkit wrote it."
        )
        raise InputError(message)
    if len(archived) > LARGEST_FILE_BYTES:
        raise InputError(f"{path.name}: its assessment is over {LARGEST_FILE_BYTES:,} bytes.")
    return ReportFile(path.name, form, content, archived, decode(archived, path.name))


def _assessment_in(content: bytes) -> tuple[str, bytes | None]:
    """Return the form of a file and the JSON in it, if it holds one."""
    if content.startswith(b"%PDF-"):
        return "pdf", _attached(content)
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.lower().startswith(b"<!doctype html"):
        return "html", _printed(content.decode("utf-8", "surrogateescape"))
    return "json", content if start.startswith(b"{") else None


def _printed(page: str) -> bytes | None:
    """Return the JSON that the last part of an HTML report prints in full."""
    found = _IN_HTML.search(page)
    return html.unescape(found[1]).encode("utf-8", "surrogateescape") if found else None


def _attached(pdf: bytes) -> bytes | None:
    """Return the JSON attached to a PDF as our compiler writes it: one stream, packed by zlib.

    A file that another program saved again may hold it otherwise; its bytes are then not ours
    either, and there is nothing to compare.
    """
    for found in _IN_PDF.finditer(pdf):
        length = _LENGTH.search(found[1])
        if length is None or b"/FlateDecode" not in found[1] or b"json" not in found[1]:
            continue
        packed = pdf[found.end() : found.end() + int(length[1])]
        try:
            # A few bytes can unpack to very many; no more are taken than an assessment may have.
            return zlib.decompressobj().decompress(packed, LARGEST_FILE_BYTES + 1)
        except zlib.error:
            return None
    return None
