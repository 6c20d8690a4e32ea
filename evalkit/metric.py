"""What a metric is: its definition, what it needs, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.release import Release
    from evalkit.scenario import Scenario


class Section(StrEnum):
    """The two halves of an assessment."""

    PRIVACY = "privacy"
    UTILITY = "utility"


class Basis(StrEnum):
    """What kind of evidence a privacy score is; the verdict table prints it."""

    ATTACK = "attack"
    MATCHES = "matches"
    DISTANCES = "distances"
    COMPARISON = "comparison"


class Need(StrEnum):
    """What must be supplied before a metric can be computed."""

    ROW_LINK = "row link"
    HOLDOUT = "holdout"
    REAL_HOLDOUT = "real holdout"
    SENSITIVE = "sensitive variable"


@dataclass(frozen=True)
class Outcome:
    """What `compute` returns: a score and the plain numbers behind it.

    Attributes
    ----------
    score : float
        In the metric's unit; for percentages 0 to 100.
    interval : tuple of two float, optional
        95 % interval of the score; None where no method is defined.
    interval_method : str, optional
        Code of the method, such as ``"wilson"`` or ``"redeal"``.
    warnings : tuple of Message
        What the reader must know beside the score.
    facts : dict
        Counts, shares, distances, names of columns: what JSON can hold, never a cell of a table.
    judged_value : float, optional
        The value compared with a target where it is not `score` itself (linkability is judged by
        the average over ties, metrics.md 3.1).
    unjudged : Message, optional
        Why no verdict may be given although a score exists, such as too few rows.
    """

    score: float
    interval: tuple[float, float] | None = None
    interval_method: str | None = None
    warnings: tuple[Message, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    judged_value: float | None = None
    unjudged: Message | None = None


@dataclass(frozen=True)
class NotApplicable:
    """An outcome without a score: why, and what to supply.

    Attributes
    ----------
    reason : Message
        In words, with the remedy.
    facts : dict
        Plain numbers that are known all the same.
    """

    reason: Message
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """Definition of one metric; it holds no state.

    Attributes
    ----------
    slug : str
        File stem, key in the JSON, anchor in the report, name of the page folder.
    version : int
        Raised when the numbers of the same data change.
    section : Section
        Privacy or utility.
    basis : Basis
        Kind of evidence.
    compute : callable
        ``compute(release, scenario, rng)`` returns `Outcome` or `NotApplicable`.
    draw : callable
        ``draw(result, words, narrow)`` returns the figures of the report from plain numbers.
    criterion, level : str, optional
        Privacy: singling out, linkability, inference or membership. Utility: univariate,
        bivariate, multivariate or individual.
    needs : frozenset of Need
        Checked before `compute` is called.
    uses_known : bool
        Whether the result depends on the known or sensitive variables: only these metrics are
        repeated for each further scenario.
    by_person : bool
        Whether persons are counted, not rows, where a personal key is named. Where not, the
        result says so in a warning.
    legacy : bool
        Off unless it is asked for by name or by a target profile.
    copy_score : float, optional
        Score of a perfect copy on rows that are distinct on every variable set used.
    unit, direction : str
        ``"%"`` or ``"avatars"``; ``"higher"`` is better.

    Examples
    --------
    >>> import evalkit
    >>> metric = evalkit.metrics.get("hidden_rate")
    >>> metric.criterion, sorted(need.value for need in metric.needs)
    ('singling out', ['row link'])
    """

    slug: str
    version: int
    section: Section
    basis: Basis
    compute: Callable[[Release, Scenario, np.random.Generator], Outcome | NotApplicable]
    draw: Callable[[Mapping[str, Any], Mapping[str, str], bool], tuple[Drawing, ...]]
    criterion: str | None = None
    level: str | None = None
    needs: frozenset[Need] = frozenset()
    uses_known: bool = False
    by_person: bool = False
    legacy: bool = False
    copy_score: float | None = None
    unit: str = "%"
    direction: str = "higher"

    def __repr__(self) -> str:
        from evalkit.report.cards import metric_card

        return metric_card(self).text()

    def _repr_html_(self) -> str:
        """Return name, question and what it measures for a notebook: static and escaped."""
        from evalkit.report.cards import metric_card

        return metric_card(self).html()

    def page(self, language: str = "en") -> str:
        """Return the metric's page as Markdown source in `language`.

        Parameters
        ----------
        language : str
            One of the report's languages.

        Returns
        -------
        str

        Raises
        ------
        evalkit.InputError
            If the page has not been translated.

        Examples
        --------
        >>> import evalkit
        >>> "Question" in evalkit.metrics.get("linkability_protection_rate").page()
        True
        """
        from evalkit.resources import metric_page

        return metric_page(self.slug, language)
