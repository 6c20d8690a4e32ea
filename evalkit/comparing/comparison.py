"""A comparison of several assessments: lines of results, each against the first assessment."""

from __future__ import annotations

import hashlib
import string
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from evalkit.comparing.changes import HIDDEN, HIGHER, LOWER, TOLD, Change, Measured, change
from evalkit.errors import InputError
from evalkit.given_values import shown
from evalkit.records import Assessment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from evalkit.records import Result

LETTERS: Final = string.ascii_uppercase
FEWEST: Final = 2


class Line(NamedTuple):
    """One measure over all assessments.

    Attributes
    ----------
    slug : str
        The measure.
    scenario : str
        Name of the scenario; empty where the measure is the same in any.
    results : tuple of Result or None
        One for each assessment, None where it lacks the measure.
    changes : tuple of Change
        Against the first assessment, one for each further one.
    """

    slug: str
    scenario: str
    results: tuple[Result | None, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two or more assessments side by side; it displays itself in a notebook.

    Attributes
    ----------
    assessments : tuple of Assessment
        In the order given; the first is the one that the others are compared with.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> once = evalkit.assess(evalkit.load(table, table, holdout=table))
    >>> evalkit.compare([once, once]).told
    []
    """

    assessments: tuple[Assessment, ...]

    @cached_property
    def letters(self) -> str:
        """Return one letter for each assessment, A first."""
        return LETTERS[: len(self.assessments)]

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """Return the SHA-256 of each assessment's JSON."""
        return tuple(hashlib.sha256(one.json()).hexdigest() for one in self.assessments)

    @cached_property
    def nearly_the_same_people(self) -> bool:
        """Return whether two assessments rest on originals that differ by a few people at most.

        The difference of two such numbers could tell something of those few: it is not shown.
        """
        fewest = max(one.scenario.min_count for one in self.assessments)
        tables = [one.release.original for one in self.assessments]
        return any(
            _other_file(first.sha256, second.sha256) and abs(first.rows - second.rows) < fewest
            for place, first in enumerate(tables)
            for second in tables[:place]
        )

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Return every measure of any assessment, in the order of the first that holds it."""
        found = [_results(one) for one in self.assessments]
        keys = dict.fromkeys(key for results in found for key in results)
        return tuple(self._line(key, [results.get(key) for results in found]) for key in keys)

    def _line(self, key: tuple[str, str], found: list[Measured | None]) -> Line:
        changes = [change(found[0], one) for one in found[1:]]
        if self.nearly_the_same_people:
            changes = [Change(HIDDEN) if one.finding in TOLD else one for one in changes]
        results = tuple(one.result if one else None for one in found)
        return Line(*key, results, tuple(changes))

    @property
    def told(self) -> list[tuple[Line, str, Change]]:
        """Return the changes beyond their intervals: line, letter of the assessment, change."""
        return [
            (line, letter, one)
            for line in self.lines
            for letter, one in zip(self.letters[1:], line.changes, strict=True)
            if one.finding in {HIGHER, LOWER}
        ]

    @property
    def judged(self) -> int:
        """Return how many changes could be held against an interval."""
        return sum(one.finding in TOLD for line in self.lines for one in line.changes)

    def frame(self) -> pd.DataFrame:
        """Return one row per measure: the score of each assessment and each change.

        Returns
        -------
        pandas.DataFrame
            Columns ``metric``, ``scenario``, one letter for each assessment, then for each
            further one ``B - A``, its ``low``, ``high`` and ``finding``.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> once = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> frame = evalkit.compare([once, once]).frame().set_index("metric")
        >>> float(frame.loc["correlation_difference_ratio", "A"])
        100.0
        """
        import pandas as pd

        return pd.DataFrame([self._row(line) for line in self.lines])

    def _row(self, line: Line) -> dict[str, Any]:
        row: dict[str, Any] = {"metric": line.slug, "scenario": line.scenario}
        for letter, result in zip(self.letters, line.results, strict=True):
            row[letter] = self.shown_score(result)
        for letter, one in zip(self.letters[1:], line.changes, strict=True):
            ends = one.interval or (None, None)
            row |= {
                f"{letter} - A": one.difference,
                f"{letter} - A low": ends[0],
                f"{letter} - A high": ends[1],
                f"{letter} - A finding": one.finding,
            }
        return row

    def shown_score(self, result: Result | None) -> float | None:
        """Return the headline number; in whole units where a difference could tell of people.

        Parameters
        ----------
        result : Result, optional

        Returns
        -------
        float, optional
            None for no result, and for one that was not measured.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> once = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> comparison = evalkit.compare([once, once])
        >>> comparison.shown_score(once["correlation_difference_ratio"])
        100.0
        """
        score = result.headline if result else None
        return score if score is None or not self.nearly_the_same_people else float(round(score))

    def json(self) -> bytes:
        """Return what was compared and what was found, as it is attached to the PDF.

        Returns
        -------
        bytes
            JSON in UTF-8; each assessment by its SHA-256, no cell of any table.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> once = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> comparison = evalkit.compare([once, once])
        >>> b'"sha256"' in comparison.json()
        True
        """
        held = [
            {"letter": letter, "sha256": digest, "title": one.title, "created": one.created}
            for letter, digest, one in zip(
                self.letters, self.digests, self.assessments, strict=True
            )
        ]
        from evalkit.recording import evalkit_version

        content = {
            "evalkit": evalkit_version(),
            "assessments": held,
            "lines": [self._row(line) for line in self.lines],
        }
        return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"

    def save(
        self, folder: str | Path, language: str = "en", templates: str | Path | None = None
    ) -> tuple[Path, ...]:
        """Write ``comparison.html``, ``.pdf`` and ``.json`` into `folder`; return their paths.

        Parameters
        ----------
        folder : path
            Made if it is missing.
        language : str
            One of the report's languages.
        templates : path, optional
            A folder laid out as ours, as for `evalkit.Report`.

        Returns
        -------
        tuple of pathlib.Path

        Raises
        ------
        evalkit.InputError
            If the language does not exist or the folder cannot be used; what was there stays.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> once = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> comparison = evalkit.compare([once, once])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in comparison.save(folder)]
        ['comparison.html', 'comparison.pdf', 'comparison.json']
        """
        from evalkit.report.comparison import ComparisonReport

        return ComparisonReport(self, language, templates).save(folder)

    def __repr__(self) -> str:
        from evalkit.report.cards import comparison_card

        return comparison_card(self).text()

    def _repr_html_(self) -> str:
        """Return the table of changes for a notebook: static and escaped."""
        from evalkit.report.comparison import ComparisonReport

        return ComparisonReport(self)._repr_html_()


def compare(assessments: Sequence[Assessment | str | Path]) -> Comparison:
    """Return several assessments side by side, each against the first.

    Parameters
    ----------
    assessments : sequence of Assessment or path
        Two to twenty-six, from `evalkit.assess` or files ``assessment.json``.

    Returns
    -------
    Comparison
        `frame()` gives a table, `save(folder)` a document. Nothing is computed from data.

    Raises
    ------
    evalkit.InputError
        If there are too few or too many, if one is given twice, or if a file is no assessment.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> once = evalkit.assess(evalkit.load(table, table, holdout=table))
    >>> list(evalkit.compare([once, once]).frame().columns[:4])
    ['metric', 'scenario', 'A', 'B']
    """
    if isinstance(assessments, str | Assessment) or not hasattr(assessments, "__iter__"):
        raise InputError("compare: give a list of two or more assessments.")
    read = [one if isinstance(one, Assessment) else _read(one) for one in assessments]
    if not FEWEST <= len(read) <= len(LETTERS):
        message = f"compare: {len(read)} assessments; give {FEWEST} to {len(LETTERS)}."
        raise InputError(message)
    return Comparison(tuple(read))


def _read(path: Any) -> Assessment:
    from pathlib import Path

    if not isinstance(path, str | Path):
        raise InputError(f"compare: {shown(path)} is neither an assessment nor the path of one.")
    return Assessment.read(path)


def _results(assessment: Assessment) -> dict[tuple[str, str], Measured]:
    """Return the results by measure and by scenario, where the measure depends on it."""
    from evalkit import metrics

    uses = {metric.slug: metric.uses_known for metric in metrics.all()}
    kind = assessment.release.holdout_kind
    found = {}
    for one in assessment.scenarios():
        question = (frozenset(one.scenario.known), one.scenario.sensitive)
        for slug, result in one.results.items():
            asked = uses.get(slug, True)
            key = slug, one.scenario.name if asked else ""
            found[key] = Measured(result, question if asked else (), kind)
    return found


def _other_file(first: str | None, second: str | None) -> bool:
    """Return whether two tables are known to be different files."""
    return first is not None and second is not None and first != second
