"""The view of a comparison: what changed, what is compared, every measure, how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import Prose, figure, fill, items, prose, table, text
from evalkit.report.pictures import drawn
from evalkit.report.subject import CRITERIA, SHORT_DIGEST, day_of
from evalkit.report.wording import interval_words, sampling_interval, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.comparing import Change, Comparison, Line
    from evalkit.records import Assessment, InputRecord, Result
    from evalkit.report.blocks import Block, Picture
    from evalkit.report.pages import Pages
    from evalkit.report.words import Words

LONGEST_NAME: Final = 40
MOST_PANELS: Final = 4
FALSE_ALARMS: Final = 0.05
HEADLINE_UTILITY: Final = "correlation_difference_ratio"


@dataclass(frozen=True)
class _Parts:
    """What every section asks for."""

    comparison: Comparison
    words: Words
    pages: Pages

    def said(self, *keys: str, **values: Any) -> str:
        """Return words of the comparison, filled."""
        found: Any = self.words["comparison"]
        for key in keys:
            found = found[key]
        return fill(str(found), **values)

    def name(self, line: Line) -> str:
        """Return the plain name of a measure, with its scenario where that matters."""
        measure = self.pages.name(line.slug)
        several = any(one.more_scenarios for one in self.comparison.assessments)
        if not (line.scenario and several):
            return measure
        names = self.words["labels"]["scenario_names"]
        scenario = shortened(names.get(line.scenario, line.scenario), LONGEST_NAME)
        return self.said("in_scenario", measure=measure, scenario=scenario)

    def score(self, result: Result | None) -> str:
        """Return the headline number as printed."""
        decimals = 0 if self.comparison.nearly_the_same_people else 1
        return formats.number(self.comparison.shown_score(result), decimals)


def comparison_view(
    comparison: Comparison, words: Words, pages: Pages, digest: str
) -> dict[str, Any]:
    """Return the view of a comparison, in the form of the report's.

    Parameters
    ----------
    comparison : Comparison
        From `evalkit.compare`.
    words : dict
        Words of the language.
    pages : Pages
        Names of the measures.
    digest : str
        SHA-256 of what is attached.

    Returns
    -------
    dict
        See `evalkit.report.view.build_view`.
    """
    parts = _Parts(comparison, words, pages)
    made = {
        "changed": _changed_blocks(parts),
        "compared": _compared_blocks(parts),
        "measures": [_measures_table(parts)],
        "reading": [items(words["comparison"]["reading"])],
    }
    sections = [
        _section(str(number), key, blocks, parts)
        for number, (key, blocks) in enumerate(made.items(), start=1)
    ]
    newest = max(one.created for one in comparison.assessments)
    day = day_of(newest)
    document = parts.said("document")
    release = parts.said("release", count=len(comparison.letters), last=comparison.letters[-1])
    return {
        "language": pages.language,
        "document": document,
        "release": release,
        "title": formats.labelled(document, release),
        "digest": digest,
        "short_digest": digest[:SHORT_DIGEST],
        "class": words["labels"]["class_not_declared"],
        "date": formats.date(newest),
        "year": str(day.year),
        "month": str(day.month),
        "day": str(day.day),
        "author": "evalkit",
        "labels": words["labels"],
        "opening": _opening(parts),
        "fixed_sentence": parts.said("fixed_sentence"),
        "changed": _changed_table(parts),
        "sections": sections,
        "first": sections[0],
        "rest": sections[1:],
    }


def _section(number: str, key: str, blocks: list[Block], parts: _Parts) -> dict[str, Any]:
    first = number == "1"
    return {
        "number": number,
        "anchor": f"s{number}",
        "short": parts.said("outline", key, "short"),
        "kicker": parts.said("outline", key, "short") if first else "",
        "title": _title(parts) if first else parts.said("outline", key, "title"),
        "purpose": "" if first else parts.said("outline", key, "purpose"),
        "opening": "" if first else f"{parts.said('outline', key, 'purpose')}.",
        "own_page": False,
        "blocks": blocks,
    }


def _title(parts: _Parts) -> str:
    """Return the finding in one line."""
    if parts.comparison.nearly_the_same_people:
        return parts.said("title", "hidden")
    if not parts.comparison.judged:
        return parts.said("title", "nothing")
    count = len({(line.slug, line.scenario) for line, _, _ in parts.comparison.told})
    key = "none" if not count else "one" if count == 1 else "many"
    return parts.said("title", key, Count=formats.count_word(count).capitalize())


def _opening(parts: _Parts) -> list[str]:
    """Return what was compared and what chance alone would give, in plain words."""
    letters = ", ".join(parts.comparison.letters[1:])
    if parts.comparison.nearly_the_same_people:
        fewest = max(one.scenario.min_count for one in parts.comparison.assessments)
        return [parts.said("opening", "hidden", min_count=fewest)]
    judged = parts.comparison.judged
    if not judged:
        return [parts.said("opening", "none_judged", letters=letters)]
    expected = formats.number(FALSE_ALARMS * judged, 1)
    warnings = [parts.said("warnings", key) for key in _differences(parts.comparison.assessments)]
    return [
        parts.said("opening", "basis", letters=letters, judged=formats.number(judged)),
        parts.said("opening", "chance", expected=expected, judged=formats.number(judged)),
        *warnings,
    ]


def _differences(assessments: Sequence[Assessment]) -> list[str]:
    """Return in what the assessments differ besides their avatars."""

    def digest(table: InputRecord | None) -> str | None:
        return table.sha256 if table else None

    seen: dict[str, set[str | None]] = {
        "other_originals": {digest(one.release.original) for one in assessments},
        "other_holdout": {digest(one.release.holdout) for one in assessments},
        "other_seed": {str(one.scenario.seed) for one in assessments},
        "other_profile": {one.profile.sha256 if one.profile else None for one in assessments},
    }
    return [key for key, values in seen.items() if len(values) > 1]


def _changed_blocks(parts: _Parts) -> list[Block]:
    pictures = _pictures(parts)
    changed = _changed_table(parts)
    told = [changed] if changed else []
    quiet = parts.comparison.judged and not told and not parts.comparison.nearly_the_same_people
    return [
        *(text(one) for one in _opening(parts)),
        text(prose(f"*{parts.said('fixed_sentence')}*")),
        *told,
        *([text(parts.said("none_changed"))] if quiet else []),
        *pictures,
    ]


def _changed_table(parts: _Parts) -> Block | None:
    """Return the changes beyond their intervals, the largest first."""
    told = sorted(parts.comparison.told, key=lambda one: -abs(one[2].difference or 0.0))
    if not told:
        return None
    places = {letter: place for place, letter in enumerate(parts.comparison.letters)}
    rows = [
        (
            parts.name(line),
            _with_interval(line.results[0], parts),
            (
                f"{letter} {parts.score(line.results[places[letter]])}",
                _interval(line, places[letter], parts),
            ),
            _difference(change),
            parts.said("findings", change.finding),
        )
        for line, letter, change in told
    ]
    return table(parts.words["comparison"]["changed_head"], (50, 22, 24, 30, 34), rows)


def _with_interval(result: Result | None, parts: _Parts) -> tuple[str, str]:
    said = interval_words(result, parts.words) if result and result.interval else ""
    return parts.score(result), said


def _interval(line: Line, place: int, parts: _Parts) -> str:
    result = line.results[place]
    return interval_words(result, parts.words) if result and result.interval else ""


def _difference(change: Change) -> tuple[str, str]:
    """Return the difference with its sign, and its interval below."""
    if change.difference is None:
        return formats.NO_VALUE, ""
    sign = "+" if change.difference > 0 else ""
    ends = formats.interval(change.interval) if change.interval else ""
    return f"{sign}{formats.number(change.difference, 1)}", ends


def _measures_table(parts: _Parts) -> Block:
    """Return every measure of any assessment, with each change or why there is none."""
    rows = []
    for line in parts.comparison.lines:
        scores = [
            _score_of(letter, result, parts)
            for letter, result in zip(parts.comparison.letters, line.results, strict=True)
        ]
        told = list(zip(parts.comparison.letters[1:], line.changes, strict=True))
        differences = [_difference_line(letter, one) for letter, one in told]
        rows.append((parts.name(line), _lines(scores), _lines(differences), _findings(told, parts)))
    return table(parts.words["comparison"]["measure_head"], (46, 38, 36, 40), rows)


def _score_of(letter: str, result: Result | None, parts: _Parts) -> str:
    score = parts.score(result)
    if result is None or result.target is None or result.verdict not in {"met", "not met"}:
        return parts.said("score", letter=letter, score=score)
    verdict = parts.said("target_met" if result.verdict == "met" else "target_not_met")
    return parts.said("score_with_verdict", letter=letter, score=score, verdict=verdict)


def _difference_line(letter: str, change: Change) -> str:
    number, ends = _difference(change)
    return f"{letter} {number} ({ends})" if ends else f"{letter} {number}"


def _findings(told: list[tuple[str, Change]], parts: _Parts) -> Prose:
    """Return each finding with the letters it holds for."""
    letters: dict[str, list[str]] = {}
    for letter, change in told:
        letters.setdefault(change.finding, []).append(letter)
    lines = [
        formats.labelled(", ".join(those), parts.said("findings", finding))
        for finding, those in letters.items()
    ]
    return _lines(lines)


def _lines(lines: Sequence[str]) -> Prose:
    """Return lines of plain text below each other, in one cell."""
    marks = "\\\n".join(f"\ue000{place}\ue001" for place in range(len(lines)))
    return Prose(marks, tuple(lines), inline=True)


def _compared_blocks(parts: _Parts) -> list[Block]:
    held = parts.comparison
    rows = [
        (letter, *_identity(one, digest, parts))
        for letter, one, digest in zip(held.letters, held.assessments, held.digests, strict=True)
    ]
    return [table(parts.words["comparison"]["compared_head"], (8, 42, 46, 40, 24), rows)]


def _identity(one: Assessment, digest: str, parts: _Parts) -> tuple[Any, ...]:
    def file(table: InputRecord) -> str:
        name = shortened(table.name, LONGEST_NAME)
        words = parts.said("file", name=name, rows=formats.number(table.rows))
        return f"{words}, {table.sha256[:SHORT_DIGEST]}" if table.sha256 else words

    release = one.release
    holdout = file(release.holdout) if release.holdout else parts.said("no_holdout")
    day = formats.date(one.created)
    when = parts.said("assessed", date=day, version=one.evalkit, seed=one.scenario.seed)
    profile = one.profile.name if one.profile else parts.said("no_profile")
    return (
        (file(release.avatars), shortened(one.title, LONGEST_NAME)),
        (file(release.original), holdout),
        (when, f"SHA-256 {digest[:SHORT_DIGEST]}"),
        shortened(profile, LONGEST_NAME),
    )


def _pictures(parts: _Parts) -> list[Block]:
    """Return privacy against utility, one panel for each criterion that all assessments have."""
    from evalkit.figures import frontier

    # A place on an axis would tell what whole units do not.
    panels = [] if parts.comparison.nearly_the_same_people else _panels(parts)
    if not panels:
        return []
    words = parts.words.get("figures", {})
    picture: Picture = drawn(lambda narrow: frontier(panels, narrow=narrow, words=words), "compare")
    caption = prose(
        f"**{parts.words['labels']['figure']} {parts.said('figure', 'finding')}** "
        f"{parts.said('figure', 'rest')}",
        inline=True,
        number="1",
    )
    return [figure([picture], [caption], full_width=True)]


def _panels(parts: _Parts) -> list[dict[str, Any]]:
    lines = [line for line in parts.comparison.lines if _can_be_drawn(line)]
    utilities = [line for line in lines if _first(line).section == "utility"]
    if not utilities:
        return []
    utility = next((one for one in utilities if one.slug == HEADLINE_UTILITY), utilities[0])
    leads = []
    for criterion in CRITERIA[:-1]:
        found = [line for line in lines if _first(line).criterion == criterion]
        if found:
            leads.append(
                min(found, key=lambda line: (_first(line).basis != "attack", _least(line)))
            )
    return [_panel(line, utility, parts) for line in leads[:MOST_PANELS]]


def _panel(privacy: Line, utility: Line, parts: _Parts) -> dict[str, Any]:
    releases = [
        {
            "letter": letter,
            "privacy": parts.comparison.shown_score(first),
            "utility": parts.comparison.shown_score(second),
            "privacy_interval": sampling_interval(first) if first else None,
            "utility_interval": sampling_interval(second) if second else None,
        }
        for letter, first, second in zip(
            parts.comparison.letters, privacy.results, utility.results, strict=True
        )
    ]
    return {
        "privacy": parts.name(privacy),
        "utility": parts.name(utility),
        "privacy_target": _target(privacy),
        "utility_target": _target(utility),
        "releases": releases,
    }


def _can_be_drawn(line: Line) -> bool:
    """Return whether every assessment has a percentage from 0 to 100 for a measure."""
    return all(
        one is not None and one.unit == "%" and one.headline is not None and one.headline <= 100  # noqa: PLR2004 - percent
        for one in line.results
    )


def _first(line: Line) -> Result:
    found = line.results[0]
    assert found is not None
    return found


def _least(line: Line) -> float:
    return min(one.headline or 0.0 for one in line.results if one is not None)


def _target(line: Line) -> float | None:
    """Return the target that all assessments have for a measure."""
    values = {one.target.value if one and one.target else None for one in line.results}
    return values.pop() if len(values) == 1 else None
