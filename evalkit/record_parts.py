"""The parts that an assessment is made of: frozen records of plain values, no cell of any table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from evalkit.errors import InputError
from evalkit.messages import Message  # noqa: TC001 - the fields are read at run time

if TYPE_CHECKING:
    import pandas as pd

    from evalkit.figures.house import HouseFigure


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A frozen record that refuses unknown fields."""


class InputRecord(Record, frozen=True, kw_only=True):
    """One input table as it was read: base name, size and SHA-256 of the file.

    Attributes
    ----------
    individuals : int, optional
        Number of persons, where a personal key was declared and the table carries it.
    """

    name: str
    rows: int
    columns: int
    sha256: str | None
    individuals: int | None = None


class VariableRecord(Record, frozen=True, kw_only=True):
    """One column: what it was read as and whether the metrics saw it."""

    name: str
    type: str
    role: str
    used: bool
    missing_share: float
    level_band: str
    identifier: bool
    notes: list[Message]


class LedgerRecord(Record, frozen=True, kw_only=True):
    """How one column of one table was read: its type, its cells, and what was taken as missing.

    Attributes
    ----------
    table : str
        ``"original"``, ``"avatars"`` or ``"holdout"``.
    read_as : str
        Type of its cells; ``"absent"`` where the table lacks the column.
    missing : dict
        Mark to the number of cells taken as missing because of it; ``"empty"`` and ``"blanks"``
        stand for marks that cannot be written down.
    unknown_cells : int
        Cells of a category that no original has.
    """

    column: str
    table: str
    read_as: str
    used: bool
    rows: int
    filled: int
    distinct: int
    missing: dict[str, int]
    unknown_cells: int


class ExchangeRecord(Record, frozen=True, kw_only=True):
    """Whether a real holdout is a sample of the same people as the originals.

    Attributes
    ----------
    differs : bool
        If so, nothing is judged against the holdout.
    area : float
        Cross-validated area under the curve of a classifier that tells the two apart; 0.5 is
        chance.
    rank : float, optional
        Share of the re-deals of all real records whose two parts differ less in their
        correlations; None with fewer than two numeric variables.
    """

    differs: bool
    area: float
    rank: float | None
    deals: int
    rows_original: int
    rows_holdout: int


class ReleaseRecord(Record, frozen=True, kw_only=True):
    """The tables of a release: sizes, hashes and columns, no cells."""

    original: InputRecord
    avatars: InputRecord
    holdout: InputRecord | None
    holdout_kind: str
    row_link: bool
    axes: int
    seed: int
    n_working: int
    n_working_avatars: int
    n_holdout: int
    variables: list[VariableRecord]
    notes: list[Message]
    exchange: ExchangeRecord | None = None
    individual: str | None = None
    ledger: list[LedgerRecord] = []


class ScenarioRecord(Record, frozen=True, kw_only=True):
    """What an attacker was taken to hold, and the seed of every draw."""

    name: str
    known: list[str]
    sensitive: str | None
    context: str | None
    seed: int
    min_count: int


class Target(Record, frozen=True, kw_only=True):
    """A value that somebody set for a metric."""

    operator: str
    value: float
    issuer: str
    definition: str


class ProfileRecord(Record, frozen=True, kw_only=True):
    """The target profile that was used: who set it, when, for whom.

    Attributes
    ----------
    caveat : str
        In English.
    caveats : dict
        The same in other languages, by their codes.
    targets : dict
        Slug to target, as the profile states them, whatever was measured.
    unmeasured : list of str
        Those of them that are no metric of the version that assessed.
    warnings : list of Message
        What the reader must know of the profile in this run, such as another recipient.
    """

    name: str
    issuer: str
    issuer_role: str
    date: str
    status: str
    caveat: str
    caveats: dict[str, str] = {}
    context: dict[str, Any]
    sha256: str
    source: dict[str, Any] = {}
    targets: dict[str, Target] = {}
    unmeasured: list[str] = []
    warnings: list[Message] = []


class Result(Record, frozen=True, kw_only=True, dict=True):
    """One metric's outcome with its verdict; it displays itself in a notebook.

    Attributes
    ----------
    version : int
        Of the metric; raised when the numbers of the same data change.
    section, criterion, level, basis : str
        What the metric belongs to and the kind of its evidence, as in `evalkit.metric.Metric`.
    status : str
        ``"measured"`` or ``"not applicable"``.
    reason : Message, optional
        Why nothing was measured or judged, with the remedy.
    verdict : str
        ``"met"``, ``"not met"``, ``"no target"`` or ``"not applicable"``.
    score : float, optional
        In `unit`; None when the metric is not applicable.
    unit, direction : str
        ``"%"``, 0 to 100, or ``"avatars"``; ``"higher"`` is better.
    interval : tuple of two float, optional
        95 % interval in the unit of the score.
    interval_method : str, optional
        Code of the method, such as ``"wilson"``.
    target : Target, optional
        The value that a profile sets.
    warnings : list of Message
        What the reader must know beside the score.
    facts : dict
        Plain numbers behind the score, described on the metric's page.
    seconds : float, optional
        How long the measuring took.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> evalkit.measure("correlation_difference_ratio", table, table, table)
    Result: correlation_difference_ratio 100.0 %, 95 % interval 100.0 to 100.0, not judged
    """

    version: int
    section: str
    criterion: str | None
    level: str | None
    basis: str
    status: str
    reason: Message | None
    score: float | None
    unit: str
    direction: str
    interval: tuple[float, float] | None
    interval_method: str | None
    target: Target | None
    verdict: str
    warnings: list[Message]
    facts: dict[str, Any]
    seconds: float | None

    @property
    def headline(self) -> float | None:
        """Return the number that stands for the result: the average over ties where there is one.

        It is the one that its interval belongs to.
        """
        expected = self.facts.get("expected_score")
        return self.score if expected is None or self.score is None else float(expected)

    @property
    def slug(self) -> str:
        """Return the slug of the metric; empty for a result that belongs to no assessment.

        It is the key in the archived form, so it is no field: the assessment hands it on.
        """
        return str(self.__dict__.get("slug_given", ""))

    @property
    def language(self) -> str:
        """Return the language of the assessment, in which the result shows itself."""
        return str(self.__dict__.get("language_given", "en"))

    def bind(self, slug: str, language: str) -> None:
        """Tell a result which metric it is of; an assessment does this to its own.

        Parameters
        ----------
        slug : str
            The key of the result.
        language : str
            Language of the assessment.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> result = evalkit.measure("correlation_difference_ratio", table, table, table)
        >>> result.bind("correlation_difference_ratio", "fr")
        >>> result.language
        'fr'
        """
        self.__dict__["slug_given"], self.__dict__["language_given"] = slug, language

    def plot(self, name: str | None = None) -> HouseFigure:
        """Return a figure of the report, in its natural size and with the house fonts, to restyle.

        Parameters
        ----------
        name : str, optional
            One of the names that `plots` gives; default the first.

        Returns
        -------
        evalkit.figures.house.HouseFigure
            A `matplotlib.figure.Figure`; ``.alt`` holds what it shows in words.

        Raises
        ------
        evalkit.InputError
            If there is no figure, or none of that name.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": range(40), "size": [age * 7 % 11 for age in range(40)]})
        >>> result = evalkit.measure("correlation_difference_ratio", table, table, table)
        >>> result.plot().alt.startswith("Dot plot of 1 pairs.")
        True
        """
        from evalkit.report.plots import one_plot

        return one_plot(self, name)

    def plots(self) -> dict[str, HouseFigure]:
        """Return every figure of the report for this result, by name.

        Returns
        -------
        dict of str to evalkit.figures.house.HouseFigure
            In the order of the report; empty for a result that was not measured.

        Raises
        ------
        evalkit.InputError
            If the result belongs to no assessment, or does not hold what its figures need.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": range(40), "size": [age * 7 % 11 for age in range(40)]})
        >>> result = evalkit.measure("correlation_difference_ratio", table, table, table)
        >>> list(result.plots())
        ['worst_pairs']
        """
        from evalkit.report.plots import all_plots

        return all_plots(self)

    def frame(self, fact: str | None = None) -> pd.DataFrame:
        """Return the facts behind the score as a table, or one fact that is a table itself.

        Parameters
        ----------
        fact : str, optional
            A fact that is a list of mappings, such as ``"curve"``; default all facts, one a row.

        Returns
        -------
        pandas.DataFrame
            Columns ``fact`` and ``value``, or those of the table that was asked for.

        Raises
        ------
        evalkit.InputError
            If there is no such fact, or it is no table.

        Examples
        --------
        >>> import pandas as pd, evalkit
        >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
        >>> result = evalkit.measure("correlation_difference_ratio", table, table, table)
        >>> result.frame().set_index("fact").loc["n_working", "value"]
        4
        """
        import pandas as pd

        if fact is None:
            return pd.DataFrame(list(self.facts.items()), columns=["fact", "value"], dtype=object)
        rows = self.facts.get(fact)
        if isinstance(rows, list) and rows and all(isinstance(one, dict) for one in rows):
            return pd.DataFrame(rows)
        tables = [
            name
            for name, value in self.facts.items()
            if isinstance(value, list) and value and isinstance(value[0], dict)
        ]
        choices = f"tables: {', '.join(tables)}" if tables else "this result has no table"
        raise InputError(f"frame: fact {fact!r} is no table; {choices}.")

    def _repr_html_(self) -> str:
        """Return score, interval, verdict and first figure for a notebook: static and escaped."""
        from evalkit.report.cards import result_card

        return result_card(self).html()

    def __repr__(self) -> str:
        from evalkit.report.cards import result_line

        return f"Result: {result_line(self)}"


class ScenarioResults(Record, frozen=True, kw_only=True):
    """A further scenario with the results that depend on it."""

    scenario: ScenarioRecord
    results: dict[str, Result]


class DistributionRecord(Record, frozen=True, kw_only=True):
    """One variable in all tables on the same bins or levels, small counts suppressed.

    Attributes
    ----------
    name, type : str
        The variable.
    bins : list of str
        Levels by frequency, the empty text for the rest taken together, or ranges in words.
    edges : list of float, optional
        Inner edges of numbers (dates in seconds); a bin holds its upper edge. None for levels.
    original, avatars, holdout : list of float, optional
        Share of the filled cells in each bin, 0 to 1; None where nothing may be shown.
    original_missing, avatars_missing, holdout_missing : float, optional
        Share of missing cells, 0 to 1.
    """

    name: str
    type: str
    bins: list[str]
    edges: list[float] | None
    original: list[float] | None
    avatars: list[float] | None
    holdout: list[float] | None
    original_missing: float
    avatars_missing: float
    holdout_missing: float | None
    reason: Message | None = None


class SubgroupScore(Record, frozen=True, kw_only=True):
    """The headline number of one metric among the people of one subgroup."""

    status: str
    reason: Message | None
    score: float | None
    unit: str
    interval: tuple[float, float] | None
    interval_method: str | None
    warnings: list[Message] = []


class Subgroup(Record, frozen=True, kw_only=True):
    """Headline scores among the people of one level, or of rare levels taken together.

    Attributes
    ----------
    kind : str
        ``"level"``, ``"range"`` of numbers, ``"missing"`` cells, or ``"rest"``: rare levels taken
        together.
    label : str
        The level; empty for the other kinds.
    levels : int
        How many levels it holds.
    low, high : float, optional
        Of a range: from `low` to under `high`; None where it is open.
    rows_holdout : int, optional
        None without a real holdout, and where the number is too small to be told.
    """

    kind: str = "level"
    label: str
    levels: int
    low: float | None = None
    high: float | None = None
    rows_original: int
    rows_avatars: int
    rows_holdout: int | None
    results: dict[str, SubgroupScore]


class SubgroupsRecord(Record, frozen=True, kw_only=True):
    """Headline scores for each level of one variable."""

    by: str
    groups: list[Subgroup]
    notes: list[Message] = []


class Estimate(Record, frozen=True, kw_only=True):
    """One coefficient or difference as fitted on one table, with its 95 % interval."""

    value: float
    low: float
    high: float
    p_value: float | None = None


class AnalysisTerm(Record, frozen=True, kw_only=True):
    """One term of an analysis on originals, avatars and holdout.

    Attributes
    ----------
    overlap, holdout_overlap : float, optional
        Mean share of the two intervals, originals' and avatars' (or holdout's), that they have
        in common, 0 to 1.
    """

    name: str
    original: Estimate | None
    avatars: Estimate | None
    holdout: Estimate | None
    overlap: float | None
    holdout_overlap: float | None
    same_sign: bool | None
    same_finding: bool | None
    holdout_same_sign: bool | None = None
    holdout_same_finding: bool | None = None


class AnalysisRecord(Record, frozen=True, kw_only=True):
    """One analysis of the user, fitted on each table, term by term.

    Attributes
    ----------
    kind : str
        Such as ``"linear"``, ``"logistic"``, ``"cox"`` or ``"groups"``.
    rows : dict
        Table to the number of rows that the fit could use.
    """

    name: str
    kind: str
    formula: str
    status: str
    reason: Message | None
    rows: dict[str, int]
    terms: list[AnalysisTerm]
    warnings: list[Message] = []
