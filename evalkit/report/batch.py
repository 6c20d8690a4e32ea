"""The page of a batch: what became of each assessment, its targets and headline scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from evalkit.report import formats
from evalkit.report.blocks import fill
from evalkit.report.languages import written_in
from evalkit.report.layout import render_html
from evalkit.report.pages import Pages
from evalkit.report.web_style import colours, fonts
from evalkit.report.words import load_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.records import Assessment

HEADLINES: Final = ("linkability_protection_rate", "correlation_difference_ratio")


def batch_page(
    lines: Sequence[Mapping[str, Any]],
    compared: Sequence[tuple[str, Sequence[str]]],
    language: str,
) -> str:
    """Return the page as one HTML file: no script, no outside address.

    Parameters
    ----------
    lines : sequence of mapping
        ``name``, ``outcome`` (made, unchanged or failed), ``reason``, ``report`` (path of its HTML
        seen from the page, or empty), ``targets_missed`` and ``assessment`` (or None).
    compared : sequence of (str, sequence of str)
        Path of each comparison and the names in it.
    language : str
        Language of the page.

    Returns
    -------
    str

    Examples
    --------
    >>> from evalkit.report.batch import batch_page
    >>> one = {"name": "k5", "outcome": "failed", "reason": "no file", "report": ""}
    >>> "no file" in batch_page([one | {"targets_missed": False, "assessment": None}], [], "en")
    True
    """
    words = load_words(language)
    said, pages = words["batch"], Pages(language)
    with written_in(language):
        counts = {key: sum(one["outcome"] == key for one in lines) for key in said["outcomes"]}
        told = [
            fill(said["count"][key], count=formats.number(count))
            for key, count in counts.items()
            if count
        ]
        view = {
            "language": language,
            "title": said["title"],
            "opening": fill(
                said["opening"], count=formats.number(len(lines)), told=formats.listed(told)
            ),
            "head": [*said["head"], *(pages.name(slug) for slug in HEADLINES)],
            "rows": [_row(one, said) for one in lines],
            "compared_words": said["compared"],
            "compared": [
                {"path": quote(path), "names": formats.listed(names)} for path, names in compared
            ],
            "note": said["note"],
            "labels": words["labels"],
            "colours": colours(),
            "fonts": fonts(),
        }
        return render_html(view, None, "batch.html.j2")


def _row(line: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    found: Assessment | None = line["assessment"]
    return {
        "name": line["name"],
        "path": quote(line["report"]),
        "outcome": said["outcomes"][line["outcome"]],
        "reason": line["reason"],
        "targets": _targets(found, said) if found else formats.NO_VALUE,
        "missed": said["missed"] if line["targets_missed"] else "",
        "scores": [_score(found, slug) for slug in HEADLINES],
    }


def _targets(found: Assessment, said: Mapping[str, Any]) -> str:
    """Return how many of the targets are met."""
    results = [one for part in found.scenarios() for one in part.results.values() if one.target]
    if not results:
        return str(said["no_targets"])
    met = sum(one.verdict == "met" for one in results)
    return fill(said["targets"], met=formats.number(met), count=formats.number(len(results)))


def _score(found: Assessment | None, slug: str) -> dict[str, str]:
    """Return a headline score with its interval, of the first scenario."""
    result = found.results.get(slug) if found else None
    interval = result.interval if result else None
    return {
        "score": formats.number(result.headline, 1) if result else formats.NO_VALUE,
        "interval": formats.interval(interval) if interval else "",
    }
