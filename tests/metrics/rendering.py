"""People made up for tests, and a page rendered as the report does it."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np
import pandas as pd

import evalkit
from evalkit.figures import ENGLISH
from evalkit.prose import plain, to_html, to_typst
from evalkit.report.pages import PARTS, Pages

LONGEST_TITLE = 55
FORBIDDEN = re.compile(
    r"\b(anonymous|anonymised (data|avatars|table)|safe|secure|no risk|zero risk|guaranteed"
    r"|certified|compliant|GDPR-proof|approved|cannot be re-identified|significant)\b",
    re.IGNORECASE,
)
ONE_LINE = re.compile(r"[a-z)][.?] [A-Z]")


def people(rows: int, seed: int) -> pd.DataFrame:
    """Return people with five columns of every kind, related to each other."""
    rng = np.random.default_rng(seed)
    health = rng.normal(size=rows)
    return pd.DataFrame(
        {
            "age": (50 + 12 * health + rng.normal(scale=8, size=rows)).round().astype(int),
            "pressure": (120 + 9 * health + rng.normal(scale=6, size=rows)).round(1),
            "weight": (70 + 5 * health + rng.normal(scale=12, size=rows)).round(1),
            "town": rng.choice(["Aix", "Brest", "Caen", "Dole"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "smoker": np.where(rng.random(rows) < 0.3, "yes", "no"),
        }
    )


def page_text(
    slug: str, result: evalkit.Result, *, holdout_kind: str = "real", **changes: Any
) -> str:
    """Return all that a page says about a result; it must be right in form for every output."""
    plain_result = msgspec.to_builtins(result) | changes
    page = Pages("en").render(
        slug,
        {
            "result": plain_result,
            "facts": plain_result["facts"],
            "release": {"holdout_kind": holdout_kind, "individual": None},
            "scenario": {"name": "all columns"},
            "words": {},
        },
    )
    assert 0 < len(page.title) <= LONGEST_TITLE
    texts = [page.title]
    for heading in ("Question", "Story", "Verdict", *PARTS, "Example", "Advantages"):
        prose = page.part(heading)
        if prose is not None:
            texts.append(plain(prose.markdown, prose.values))
            assert to_html(prose.markdown, prose.values)
            assert to_typst(prose.markdown, prose.values)
    texts += [plain(one.markdown, one.values) for pair in page.facts for one in pair]
    captions = page.captions(iter(f"Figure {n}." for n in range(9)))
    for narrow in (False, True):
        drawings = evalkit.metrics.get(slug).draw(plain_result, ENGLISH, narrow)
        assert len(captions) == len(drawings)
    texts += [plain(one.markdown, one.values) for one in captions]
    said = "\n".join(texts)
    assert FORBIDDEN.search(said) is None
    assert "{%" not in said
    return said.replace("\u202f", " ")


def assert_one_sentence_a_line(slug: str) -> None:
    """Hold a page to the form of its source: a sentence a line."""
    for line in evalkit.metrics.get(slug).page().splitlines():
        words = re.sub(r"\{[{%].*?[%}]\}", "", line)
        if not words.startswith(("#", "- **", "  ")):
            assert ONE_LINE.search(words) is None, line
