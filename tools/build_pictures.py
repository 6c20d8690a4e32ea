"""Make the pictures of the README from a report of the embedded tables.

Needs the test tools and Chromium: ``.venv/bin/python tools/build_pictures.py``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "pictures"
SCALE = 1.3
"""Pixels to a point: readable on a page of 900 px."""
COLOURS = 128
"""Enough for ink, blue and ochre on paper; half of the bytes."""


QUESTIONS = {
    "page-linkability": "Can two files on the same person be joined",
    "page-correlation": "Are relations between numbers as close as",
}
"""What only the first page of a measure asks."""


def pages(pdf: Path) -> dict[str, int]:
    """Return which pages are shown: the verdict, and the first page of two measures."""
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as document:
        texts = [" ".join(page.get_textpage().get_text_bounded().split()) for page in document]
    found = {
        name: next(place for place, text in enumerate(texts) if question in text)
        for name, question in QUESTIONS.items()
    }
    return {"page-verdict": 0} | found


def save(picture: Image, name: str) -> None:
    """Write a picture with few colours."""
    from PIL.Image import Dither, Quantize

    TARGET.mkdir(parents=True, exist_ok=True)
    # This way of choosing keeps a colour that few pixels have, such as the ochre of the holdout.
    few = picture.convert("RGB").quantize(COLOURS, method=Quantize.FASTOCTREE, dither=Dither.NONE)
    few.save(TARGET / f"{name}.png", optimize=True)
    print(f"wrote {(TARGET / name).relative_to(ROOT)}.png")


def print_pages(pdf: Path) -> None:
    """Write the shown pages of the PDF as pictures."""
    import pypdfium2

    with pypdfium2.PdfDocument(pdf) as document:
        for name, place in pages(pdf).items():
            save(document[place].render(scale=SCALE).to_pil(), name)


def photograph(html: Path) -> None:
    """Write the first screen of the HTML, light and dark."""
    import io

    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme in ("light", "dark"):
            size = {"width": 1180, "height": 860}
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.goto(html.as_uri())
            save(Image.open(io.BytesIO(page.screenshot())), f"html-{scheme}")
        browser.close()


def main() -> None:
    """Make the report in a folder of its own and the pictures from it."""
    from evalkit.cli import main as run

    with tempfile.TemporaryDirectory(prefix="evalkit-") as place:
        if run(["demo", "-o", place]):
            sys.exit("the demonstration did not run")
        print_pages(Path(place) / "technical_assessment.pdf")
        photograph(Path(place) / "technical_assessment.html")


if __name__ == "__main__":
    main()
