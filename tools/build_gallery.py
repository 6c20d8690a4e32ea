"""Make docs/gallery.md: what a user types on the embedded tables, and what comes out of a kernel.

Needs the test tools and Chromium: ``.venv/bin/python tools/build_gallery.py``.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nbformat
from build_pictures import ROOT, print_pages, save
from nbclient import NotebookClient
from PIL import Image
from playwright.sync_api import sync_playwright

from evalkit.cli import main as run
from evalkit.exporting import TechnicalAssessmentExporter

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTH = 800
"""Pixels of the page that is photographed: text 13 px high is read on a page of 900 px."""
AIR = 14
"""Pixels of paper around what is shown."""
LONGEST_TEXT = 20
"""Lines of an output that is shown as text."""


class Step(NamedTuple):
    """One thing that a user does.

    Attributes
    ----------
    heading : str
        Empty where the step belongs to the one before.
    words : str
        One sentence a line.
    code : str
    picture : str
        Name and description of the output's picture, apart by a colon; empty for text.
    """

    heading: str
    words: str
    code: str
    picture: str = ""


STEPS = [
    Step(
        "What was read",
        "A release shows sizes, hashes, columns and notes, and never a row.",
        "import evalkit\n\npaths = evalkit.demo.paths()\n"
        "release = evalkit.load(paths.original, paths.avatars, holdout=paths.holdout)\nrelease",
        "release: Sizes, hashes and notes of the three tables.",
    ),
    Step("", "In a terminal it is a few lines of text.", "print(release)"),
    Step(
        "",
        "Each column is a row of a frame, and so is how it was read.",
        'release.schema.frame()[["name", "type", "missing_share", "levels"]].head(6)',
    ),
    Step(
        "What was found",
        "An assessment shows the verdict of each criterion.",
        "assessment = evalkit.assess(release)\nassessment",
        "assessment: The verdict table of the embedded tables.",
    ),
    Step(
        "",
        "The tab key lists the results inside the brackets.\nOne of them shows its question, its "
        "score with known cases, its verdict and its first figure.",
        'assessment["hellinger"]',
        "result: The Hellinger score with its strip and its figure.",
    ),
    Step("", "In a terminal it is one line.", 'print(assessment["hellinger"])'),
    Step(
        "Figures to restyle",
        "`plot()` gives the figure of the report as a matplotlib figure of natural size; "
        "`plots()` gives all of a result, by name.\nIt works from the archived JSON alone.",
        'result = assessment["correlation_difference_ratio"]\nprint(*result.plots())',
    ),
    Step(
        "",
        "What is drawn can be changed and added to; `alt` keeps the finding in words.",
        'figure = result.plot("worst_pairs")\n'
        'figure.text(0.0, 0.01, "my remark", family="Source Sans 3", size=8)\nfigure',
        "plot: The pairs of columns whose correlation changed most, with a remark of the user.",
    ),
    Step(
        "",
        "A table among the facts is a frame.",
        'result.frame("worst_pairs").round(2).head(4)',
    ),
    Step(
        "What a measure asks",
        "Each measure says what it asks; a question mark behind `evalkit.metrics.hidden_rate` "
        "shows formula and source.",
        'evalkit.metrics.get("linkability_protection_rate")',
        "metric: Question, scale and needs of a measure.",
    ),
    Step(
        "Releases side by side",
        "Here the avatars are held against a copy of the originals, which nobody should release.",
        "copy = evalkit.load(paths.original, paths.original, holdout=paths.holdout)\n"
        'slugs = ["linkability_protection_rate", "correlation_difference_ratio", "hellinger"]\n'
        "evalkit.compare([evalkit.assess(one, metrics=slugs) for one in (release, copy)])",
        "comparison: The changes between two releases that go beyond their intervals.",
    ),
]
PAGES = {
    "page-verdict": "Page 1 of the report: the verdict by criterion.",
    "page-linkability": "A page of the report: linkability.",
    "page-correlation": "A page of the report: correlations.",
}
OPENING = """# Gallery

What a user types, and what comes out, on the embedded tables: an extract of a census.
`tools/build_gallery.py` makes this page from a real kernel.
"""
CLOSING = """
## The report

`evalkit.Report(assessment).save("out")` writes HTML, PDF and JSON; `evalkit assess` does the same.

{pages}

## The notebook as an annex

An executed notebook becomes one HTML file in this dress, without scripts, addresses or code:

```
jupyter nbconvert --to technical_assessment executed.ipynb
```

Every output is cleaned in the same way, whoever made it.
Live controls are named, not shown; `--TechnicalAssessmentExporter.show_code=True` adds the code.
"""


def executed() -> nbformat.NotebookNode:
    """Return the notebook of all steps as a kernel leaves it."""
    cells = [nbformat.v4.new_code_cell(step.code) for step in STEPS]
    book = nbformat.v4.new_notebook(cells=cells)
    quiet = ["--IPKernelApp.log_level=50"]
    NotebookClient(book, timeout=1800, kernel_name="python3", extra_arguments=quiet).execute()
    return book


def photograph(page: Page, cell: nbformat.NotebookNode, name: str) -> None:
    """Write the output of a cell as a picture, as the annex shows it."""
    book = nbformat.v4.new_notebook(cells=[cell])
    page.set_content(TechnicalAssessmentExporter().from_notebook_node(book)[0])
    box = page.locator(".annex-output").bounding_box()
    assert box is not None
    clip = {
        "x": box["x"] - AIR,
        "y": box["y"] - AIR,
        "width": box["width"] + 2 * AIR,
        "height": box["height"] + 2 * AIR,
    }
    shot = page.screenshot(clip=clip, full_page=True)
    save(Image.open(io.BytesIO(shot)), f"gallery-{name}")


def text_of(cell: nbformat.NotebookNode) -> str:
    """Return the output of a cell as lines of text."""
    texts = [
        output.text if output.output_type == "stream" else output.data["text/plain"]
        for output in cell.outputs
    ]
    return "\n".join("".join(texts).rstrip().splitlines()[:LONGEST_TEXT])


def pictured(name: str, words: str) -> str:
    """Return a picture in Markdown."""
    return f"![{words}](pictures/{name}.png)"


def written(step: Step, cell: nbformat.NotebookNode) -> str:
    """Return a step in Markdown."""
    lines = [f"\n## {step.heading}"] if step.heading else []
    lines += [f"\n{step.words}\n", f"```python\n{step.code}\n```\n"]
    if step.picture:
        name, _, words = step.picture.partition(": ")
        return "\n".join([*lines, pictured(f"gallery-{name}", words)])
    return "\n".join([*lines, f"```\n{text_of(cell)}\n```"])


def main() -> None:
    """Run the steps, photograph what they show, and write the page."""
    book = executed()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        for step, cell in zip(STEPS, book.cells, strict=True):
            if step.picture:
                photograph(page, cell, step.picture.partition(":")[0])
        browser.close()
    with tempfile.TemporaryDirectory(prefix="evalkit-") as place:
        if run(["demo", "-o", place, "--quiet"]):
            raise SystemExit("the demonstration did not run")
        print_pages(Path(place) / "technical_assessment.pdf")
    steps = "\n".join(written(*pair) for pair in zip(STEPS, book.cells, strict=True))
    pages = "\n".join(pictured(name, words) for name, words in PAGES.items())
    text = OPENING + steps + "\n" + CLOSING.format(pages=pages)
    (ROOT / "docs" / "gallery.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
