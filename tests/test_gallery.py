"""Pages for readers: every picture they name is there, none is left over, all are small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
LARGEST_BYTES = 600_000


@pytest.fixture
def named() -> set[str]:
    if not DOCS.is_dir():
        pytest.skip("the archive of the source is without the pages for readers")
    pages = DOCS / "gallery.md", DOCS / "scale.md", DOCS.parent / "README.md"
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return set(re.findall(r"!\[[^\]]+\]\((?:docs/)?pictures/([\w-]+\.png)\)", text))


def test_every_picture_of_the_gallery_is_there_and_described(named: set[str]) -> None:
    assert named == {path.name for path in (DOCS / "pictures").iterdir()}


def test_the_pictures_are_small_together(named: set[str]) -> None:
    assert named
    assert sum((DOCS / "pictures" / name).stat().st_size for name in named) < LARGEST_BYTES
