"""Typst source to PDF: archivable, accessible, with the assessment attached."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evalkit.errors import InputError
from evalkit.resources import folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typst import PDFStandard

STANDARDS: Final[list[PDFStandard]] = ["a-3a", "ua-1"]
ATTACHMENT: Final = "assessment.json"


_PRIVATE_AREAS: Final = ((0xE000, 0xF8FF), (0xF0000, 0x10FFFF))
"""PDF/A forbids them: what they mean is known to the font only."""
_SUSPECTS: Final = b"/Suspects false"
"""The default said aloud; some versions of poppler print an error. Same length, same file."""
_LAST_RESORT: Final = "LastResort"
"""Draws a box for every character: a name that no real font has is spelt instead."""


def font_folders(templates: Path | None = None) -> list[Path]:
    """Return where the PDF finds fonts: a user's, ours, matplotlib's for rare characters."""
    import matplotlib as mpl

    places = [folder("report_templates") / "fonts", Path(mpl.get_data_path()) / "fonts" / "ttf"]
    own = templates / "fonts" if templates else None
    if not own or not own.is_dir():
        return places
    for path in sorted(own.iterdir()):
        if _is_font(path):
            _check_font(path)
    return [own, *places]


def _is_font(path: Path) -> bool:
    return path.suffix.lower() in {".ttf", ".otf"} and path.is_file()


def _check_font(path: Path) -> None:
    """Refuse a user's font file that cannot be read as one."""
    from matplotlib.ft2font import FT2Font

    try:
        FT2Font(str(path))
    except (RuntimeError, OSError, ValueError, TypeError):
        message = f"fonts/{path.name}: not a font that can be read; replace or remove it."
        raise InputError(message) from None


def printable_characters(fonts: Sequence[Path]) -> frozenset[int]:
    """Return the code points that have a glyph and may stand in an archived PDF."""
    from evalkit.prose import covered_characters

    return frozenset(
        code
        for code in covered_characters(fonts)
        if not any(first <= code <= last for first, last in _PRIVATE_AREAS)
    )


def compile_pdf(
    source: str, attachment: bytes, fonts: Sequence[Path], name: str = ATTACHMENT
) -> bytes:
    """Return the PDF of a Typst source, with `attachment` inside.

    Parameters
    ----------
    source : str
        Typst markup. It can read nothing but the attachment: its root is a fresh folder.
    attachment : bytes
        The JSON of the assessment.
    fonts : sequence of Path
        Folders; fonts of the operating system are not used.
    name : str
        Name of the attachment.

    Returns
    -------
    bytes
        PDF/A-3a and PDF/UA-1.

    Raises
    ------
    evalkit.InputError
        If a user's template does not compile.
    """
    import typst

    with tempfile.TemporaryDirectory(prefix="evalkit-") as place:
        root, font_place = Path(place) / "report", Path(place) / "fonts"
        root.mkdir()
        (root / "main.typ").write_text(source, encoding="utf-8")
        (root / name).write_bytes(attachment)
        _gather_fonts(fonts, font_place)
        try:
            pdf = typst.compile(
                str(root / "main.typ"),
                root=str(root),
                font_paths=[str(font_place)],
                ignore_system_fonts=True,
                pdf_standards=STANDARDS,
                package_path=str(root),
                package_cache_path=str(root),
            )
        except typst.TypstError as error:
            hints = "; ".join(error.hints or [])
            detail = f"{error.message} ({hints})" if hints else error.message
            # The compiler names its root, a private folder that is gone by now.
            shown = " ".join(detail.replace(str(root), "").split())
            raise InputError(f"The PDF could not be set: {shown}") from error
    return bytes(pdf).replace(_SUSPECTS, b" " * len(_SUSPECTS), 1)


def _gather_fonts(places: Sequence[Path], target: Path) -> None:
    """Copy the fonts into one folder; the compiler takes folders only, and all that is in them."""
    target.mkdir()
    for number, place in enumerate(places):
        for path in sorted(place.iterdir()):
            if _is_font(path) and not path.name.startswith(_LAST_RESORT):
                shutil.copyfile(path, target / f"{number}-{path.name}")
