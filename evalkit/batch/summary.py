"""The summary of a batch: a page, a table of scores, comparisons where the originals are one."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from evalkit.comparing import compare
from evalkit.running.output_folder import REPORT_FILES
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evalkit.batch.running import Done

PAGE, SCORES, COMPARISON = "batch.html", "batch.csv", "comparison"
HEAD: Final = (
    *("name", "outcome", "reason", "metric", "scenario"),
    *("score", "low", "high", "unit", "target", "verdict"),
)
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
FEWEST, MOST = 2, 26


def write_summary(done: Sequence[Done], folder: Path, language: str = "en") -> list[Path]:
    """Write page, scores and comparisons of a batch; return their paths.

    Parameters
    ----------
    done : sequence of Done
        From `run_all`.
    folder : pathlib.Path
        The folder of the batch.
    language : str
        Language of page and comparisons.

    Returns
    -------
    list of pathlib.Path
        ``batch.html``, ``batch.csv``, and of each comparison the HTML.
    """
    from evalkit.report.batch import batch_page

    folder.mkdir(parents=True, exist_ok=True)
    compared = []
    for place, group in enumerate(same_originals(done), start=1):
        name = COMPARISON if place == 1 else f"{COMPARISON} {place}"
        compare([one.assessment for one in group if one.assessment]).save(folder / name, language)
        compared.append((f"{name}/comparison.html", [one.job.name for one in group]))
    rows = [_line(one, folder) for one in done]
    page = batch_page(rows, compared, language)
    contents: dict[str, bytes | Path] = {
        PAGE: page.encode("utf-8"),
        # Excel reads UTF-8 only with the mark in front.
        SCORES: scores_csv(done).encode("utf-8-sig"),
    }
    return [*write_whole(folder, contents), *(folder / path for path, _ in compared)]


def same_originals(done: Sequence[Done]) -> list[list[Done]]:
    """Return the assessments of the same originals together, where there are two or more."""
    groups: dict[str, list[Done]] = {}
    for one in done:
        digest = one.assessment.release.original.sha256 if one.assessment else None
        if digest:
            groups.setdefault(digest, []).append(one)
    return [found for found in groups.values() if FEWEST <= len(found) <= MOST]


def scores_csv(done: Sequence[Done]) -> str:
    """Return one line for each score as CSV; no cell of it can be read as a formula.

    Examples
    --------
    >>> from evalkit.batch.summary import scores_csv
    >>> scores_csv([]).strip()
    'name,outcome,reason,metric,scenario,score,low,high,unit,target,verdict'
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    for one in done:
        for line in _score_lines(one):
            writer.writerow([_safe(cell) for cell in line])
    return text.getvalue()


def _score_lines(one: Done) -> Iterator[tuple[Any, ...]]:
    start = one.job.name, one.outcome
    if one.assessment is None:
        yield (*start, one.reason, *[""] * (len(HEAD) - 3))
        return
    for part in one.assessment.scenarios():
        for slug, result in part.results.items():
            low, high = result.interval or (None, None)
            target = result.target
            yield (
                *start,
                result.reason.text if result.reason else "",
                *(slug, part.scenario.name, result.headline, low, high, result.unit),
                f"{target.operator} {target.value:g}" if target else "",
                result.verdict,
            )


def _safe(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: a text gets an apostrophe."""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return "" if cell is None else cell


def _line(one: Done, folder: Path) -> dict[str, Any]:
    """Return what the page says of one assessment."""
    report = f"{one.job.name}/{REPORT_FILES[1]}"
    made = one.assessment is not None and (folder / report).is_file()
    return {
        "name": one.job.name,
        "outcome": one.outcome,
        "reason": one.reason,
        "report": report if made else "",
        "targets_missed": one.targets_missed,
        "assessment": one.assessment,
    }
