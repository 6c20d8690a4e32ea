"""The archived form of an assessment: plain, typed, frozen records and their JSON.

Everything right of this file works from the JSON alone, without the data.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from evalkit.errors import InputError
from evalkit.record_checks import check
from evalkit.record_parts import (
    AnalysisRecord,
    AnalysisTerm,
    DistributionRecord,
    Estimate,
    ExchangeRecord,
    InputRecord,
    LedgerRecord,
    ProfileRecord,
    Record,
    ReleaseRecord,
    Result,
    ScenarioRecord,
    ScenarioResults,
    Subgroup,
    SubgroupScore,
    SubgroupsRecord,
    Target,
    VariableRecord,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AnalysisRecord",
    "AnalysisTerm",
    "Assessment",
    "DistributionRecord",
    "Estimate",
    "ExchangeRecord",
    "InputRecord",
    "LedgerRecord",
    "ProfileRecord",
    "Record",
    "ReleaseRecord",
    "Result",
    "ScenarioRecord",
    "ScenarioResults",
    "Subgroup",
    "SubgroupScore",
    "SubgroupsRecord",
    "Target",
    "VariableRecord",
    "decode",
]

SCHEMA_VERSION = 2
DEFAULT_TITLE = "Technical assessment"
"""The title where none was given; a report writes its own words in its place."""
LARGEST_FILE_BYTES = 64 * 2**20


class Assessment(Record, frozen=True, kw_only=True, dict=True):
    """The whole run, and the file that is archived. It holds no cell of any table.

    ``assessment["slug"]`` is a `Result`, ``assessment["slug", "scenario name"]`` that of another
    scenario.

    Attributes
    ----------
    schema_version : int
        Of the archived form.
    evalkit, versions : str, dict of str to str
        Versions of evalkit, and of what it computes with.
    created : str
        Time of the run, in UTC.
    title, language, people, declared, options
        As given to `evalkit.assess`; `options` holds the reading options too.
    release : ReleaseRecord
        Sizes, hashes and columns of the tables.
    scenario, results : ScenarioRecord, dict of str to Result
        The first scenario and its results by slug.
    more_scenarios : list of ScenarioResults
        Each further scenario, with the results that depend on it.
    profile : ProfileRecord, optional
        Who set which targets.
    distributions : list of DistributionRecord
        Each column in all tables, small counts suppressed.
    subgroups : SubgroupsRecord, optional
        Scores by the levels of one column.
    analyses : list of AnalysisRecord
        Analyses of the user on every table.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> release = evalkit.load(table, table, holdout=table)
    >>> evalkit.assess(release)["linkability_protection_rate"].score
    0.0
    """

    schema_version: int
    evalkit: str
    created: str
    title: str
    language: str
    versions: dict[str, str]
    people: dict[str, str]
    declared: dict[str, Any]
    options: dict[str, Any]
    release: ReleaseRecord
    scenario: ScenarioRecord
    profile: ProfileRecord | None
    results: dict[str, Result]
    more_scenarios: list[ScenarioResults]
    distributions: list[DistributionRecord] = []  # noqa: RUF012 - msgspec copies a default
    subgroups: SubgroupsRecord | None = None
    analyses: list[AnalysisRecord] = []  # noqa: RUF012 - msgspec copies a default

    def __post_init__(self) -> None:
        """Tell each result which metric it is of, so that it can show itself."""
        msgspec.structs.force_setattr(self, "results", _bound(self.results, self.language))
        further = [
            ScenarioResults(scenario=one.scenario, results=_bound(one.results, self.language))
            for one in self.more_scenarios
        ]
        msgspec.structs.force_setattr(self, "more_scenarios", further)

    def __getitem__(self, key: str | tuple[str, str]) -> Result:
        """Return the result of a slug, or of a (slug, scenario name) pair.

        Raises
        ------
        KeyError
            Naming the slugs or the scenarios that there are.
        """
        slug, scenario_name = (key, self.scenario.name) if isinstance(key, str) else key
        by_name = {one.scenario.name: one.results for one in self.scenarios()}
        if scenario_name not in by_name:
            raise KeyError(f"no scenario {scenario_name!r}; there is: {', '.join(by_name)}")
        results = by_name[scenario_name]
        if slug not in results:
            raise KeyError(f"no result {slug!r}; there is: {', '.join(results)}")
        return results[slug]

    def _ipython_key_completions_(self) -> list[str | tuple[str, str]]:
        """Return what may stand in the brackets, for the tab key."""
        pairs = [(slug, one.scenario.name) for one in self.more_scenarios for slug in one.results]
        return [*self.results, *pairs]

    @property
    def source(self) -> str | None:
        """Name of the file that this was read from; None for the outcome of a run."""
        return self.__dict__.get("source_name")

    def scenarios(self) -> list[ScenarioResults]:
        """Return every scenario with its results, the first one first.

        Returns
        -------
        list of ScenarioResults

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> [one.scenario.name for one in assessment.scenarios()]
        ['all columns']
        """
        first = ScenarioResults(scenario=self.scenario, results=self.results)
        return [first, *self.more_scenarios]

    def frame(self) -> pd.DataFrame:
        """Return one row per metric and scenario: score, interval, target, verdict, seconds.

        Returns
        -------
        pandas.DataFrame
            ``score``, ``low`` and ``high`` are in ``unit``, 0 to 100 for "%", NaN where nothing was
            measured. The score is the headline number of the report, the one that the interval
            belongs to.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> frame = assessment.frame().set_index("metric")
        >>> float(frame.loc["correlation_difference_ratio", "score"])
        100.0
        """
        import pandas as pd

        rows = [
            _frame_row(one.scenario.name, slug, result)
            for one in self.scenarios()
            for slug, result in one.results.items()
        ]
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        from evalkit.report.cards import assessment_card

        return assessment_card(self).text()

    def _repr_html_(self) -> str:
        """Return the verdict table for a notebook: static, escaped, without an outside address."""
        from evalkit.report.document import Report

        return Report(self)._repr_html_()

    def json(self) -> bytes:
        """Return the archived form: UTF-8 JSON, indented, in the order of the fields.

        Returns
        -------
        bytes
            Equal for equal inputs, options and seed but for ``created`` and ``seconds``.

        Raises
        ------
        evalkit.InputError
            If it could not be read back: JSON has no number that is not finite, and no half of a
            character.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> b'"schema_version"' in assessment.json()
        True
        """
        try:
            content = msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"
        except (TypeError, ValueError, RecursionError, OverflowError) as error:
            message = f"The assessment cannot be stored as JSON ({type(error).__name__})."
            raise InputError(message) from None
        decode(content, "assessment.json")
        return content

    def save(self, path: str | Path) -> Path:
        """Write the JSON file to `path` in one step and return the path.

        Parameters
        ----------
        path : path
            Such as ``"assessment.json"``; a file that is there is replaced.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        evalkit.InputError
            If the path is a folder or cannot be written; what was there stays.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     assessment.save(f"{folder}/assessment.json").name
        'assessment.json'
        """
        from evalkit.whole_files import write_whole

        target = Path(path)
        try:
            return write_whole(target.parent, {target.name: self.json()})[0]
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            reason = getattr(error, "strerror", None) or "no path may hold a NUL character"
            message = f"{target.name}: the assessment cannot be written ({reason})."
            raise InputError(message) from None

    @classmethod
    def read(cls, path: str | Path) -> Assessment:
        """Read an assessment back, also on a machine that lacks the data.

        Parameters
        ----------
        path : path
            A file that `save` or the command line wrote, at most 64 MiB.

        Returns
        -------
        Assessment

        Raises
        ------
        evalkit.InputError
            If the file is missing, too large, not an assessment, or of a newer evalkit.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = assessment.save(f"{folder}/assessment.json")
        ...     evalkit.Assessment.read(path) == assessment
        True
        """
        return decode(_bytes_of(Path(path)), Path(path).name)


class _Version(msgspec.Struct):
    """The one field that is read before the rest is trusted."""

    schema_version: int


def decode(content: bytes, name: str) -> Assessment:
    """Return the assessment in `content`; `name` is the file's name for messages."""
    try:
        version = msgspec.json.decode(content, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            message = (
                f"{name}: written by a newer evalkit (schema {version}, this one reads up to "
                f"{SCHEMA_VERSION}); update evalkit."
            )
            raise InputError(message)
        found = msgspec.json.decode(content, type=Assessment)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        detail = str(error) if isinstance(error, msgspec.ValidationError) else "not valid JSON"
        message = f"{name}: not an assessment of evalkit ({detail})."
        raise InputError(message) from None
    check(found, name)
    # The one thing that is not part of the record: the error of a report names the file.
    found.__dict__["source_name"] = name
    return found


def _bound(results: dict[str, Result], language: str) -> dict[str, Result]:
    """Return results that know their metric; those of another assessment stay as they are."""
    found = {}
    for slug, result in results.items():
        free = not result.slug or (result.slug, result.language) == (slug, language)
        found[slug] = result if free else msgspec.structs.replace(result)
        found[slug].bind(slug, language)
    return found


def _bytes_of(path: Path) -> bytes:
    """Return the content of an assessment file within the size limit."""
    try:
        # A device has no size of its own, so the reading is what is limited.
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path may hold a NUL character"
        message = f"{path.name}: cannot be read ({reason}); give an assessment.json."
        raise InputError(message) from None
    if len(content) > LARGEST_FILE_BYTES:
        message = (
            f"{path.name}: more than {LARGEST_FILE_BYTES:,} bytes are too many for an assessment."
        )
        raise InputError(message)
    return content


def _frame_row(scenario_name: str, slug: str, result: Result) -> dict[str, Any]:
    """Return one row of `Assessment.frame`."""
    low, high = result.interval or (None, None)
    target = result.target
    return {
        "metric": slug,
        "scenario": scenario_name,
        "section": result.section,
        "criterion": result.criterion,
        "status": result.status,
        "score": result.headline,
        "low": low,
        "high": high,
        "unit": result.unit,
        "target": f"{target.operator} {target.value:g}" if target else None,
        "verdict": result.verdict,
        "reason": result.reason.text if result.reason else None,
        "warnings": len(result.warnings),
        "seconds": result.seconds,
    }
