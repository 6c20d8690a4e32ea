"""Utility while one looks: variable by variable, pair by pair, group by group."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evalkit.errors import InputError
from evalkit.explore.live import Choice, Live
from evalkit.explore.panel import Panel, interval_text, score_text
from evalkit.metrics.hellinger import number_of_bins
from evalkit.metrics.mutual_information_ratio import bins_for
from evalkit.quantities import correlations, number_matrix, varying
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalkit.quantities_information import Information
    from evalkit.quantities_levels import LevelTables
    from evalkit.release import Release

VARIABLE: Final = "variable"
FIRST, SECOND, GROUP = "first", "second", "group"
SHOWN_PAIRS: Final = 15
GROUP_METRICS: Final = ("hellinger", "correlation_difference_ratio")
TABLES: Final = ("working originals", "avatars", "holdout")


class UtilityBench:
    """A release made ready for many looks at its distributions and relations.

    Parameters
    ----------
    release : Release
        The tables.
    min_count : int
        Fewest originals in a bar that is shown.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.explore import UtilityBench
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 20, "size": [1, 3, 2, 4] * 20})
    >>> UtilityBench(evalkit.load(table, table, table)).scores["age"][0]
    100.0
    """

    def __init__(self, release: Release, min_count: int = 11) -> None:
        self.release = release
        self.min_count = min_count

    @cached_property
    def frames(self) -> tuple[Any, Any, Any]:
        """Return working originals, their avatars and the holdout: what the report compares."""
        release = self.release
        return release.working, release.working_avatars, release.reference

    @cached_property
    def scores(self) -> dict[str, tuple[float, float]]:
        """Return the Hellinger score of each variable, of avatars and of holdout, worst first."""
        from evalkit.quantities_bins import Bins

        bins = number_of_bins(len(self.frames[0]), len(self.frames[1]))
        schema = self.release.schema
        binned = Bins.of(schema, schema.used_names(), self.frames[0], bins)
        shares = [binned.shares(binned.counts(frame, schema)) for frame in self.frames]
        found = [100 * (1 - binned.distances(shares[0], one)) for one in shares[1:]]
        order = sorted(range(len(binned.names)), key=lambda k: (found[0][k], binned.names[k]))
        return {binned.names[k]: (float(found[0][k]), float(found[1][k])) for k in order}

    def all_variables(self) -> Panel:
        """Return one line for each variable, the most changed first."""
        worst = next(iter(self.scores))
        rows = tuple(
            (name, self.release.schema[name].type, score_text(avatars), score_text(holdout))
            for name, (avatars, holdout) in self.scores.items()
        )
        return Panel(
            f"The distribution of {worst} changed most",
            ("100 is an equal distribution; the holdout shows what another sample would give.",),
            ("variable", "type", "avatars", "holdout"),
            rows,
        )

    def variable(self, name: str) -> Panel:
        """Return the distribution of one variable in every table, on bins that may be shown."""
        from evalkit.figures import ENGLISH, small_multiples
        from evalkit.quantities_distributions import distribution

        found = distribution(self.release, name, self.min_count)
        avatars, holdout = self.scores[name]
        title = f"{name}: {avatars:.1f} of 100; the holdout has {holdout:.1f}"
        if found.hidden == "all":
            few = f"No two bars hold at least {self.min_count} originals each; nothing is drawn."
            return Panel(title, (few,))
        drawing = small_multiples([found.plain()], narrow=False, words=ENGLISH)
        return Panel(title, drawings=(drawing,))

    @cached_property
    def _levels(self) -> LevelTables:
        from evalkit.quantities_levels import level_tables

        rows = min(len(frame) for frame in self.frames)
        return level_tables(self.release.schema, self.frames, bins_for(rows))

    @cached_property
    def _relations(self) -> Information:
        """Return normalised mutual information of all pairs, each table cut once."""
        from evalkit.quantities_information import information

        return information(self._levels, stream(0, "explore relations"), cuts=1, shuffles=0)

    @cached_property
    def _correlations(self) -> tuple[tuple[str, ...], list[Any]]:
        """Return the varying number columns and their correlations in each table."""
        numbers = sorted(self.release.schema.number_names())
        names = varying(self.frames[0], numbers)
        if len(names) < 2:  # noqa: PLR2004 - a pair
            return (), []
        return names, [correlations(number_matrix(frame, names)) for frame in self.frames]

    @property
    def paired(self) -> tuple[str, ...]:
        """Return the variables that have relations: those that vary."""
        return self._levels.names

    def all_pairs(self) -> Panel:
        """Return the pairs whose relation moved most, of any two types of variables."""
        if len(self.paired) < 2:  # noqa: PLR2004 - a pair
            return Panel("No pair of variables varies")
        found = self._relations
        moved = np.abs(found.avatars - found.working)
        order = np.argsort(-moved, kind="stable")[:SHOWN_PAIRS]
        rows = tuple(
            (
                f"{self.paired[found.pairs[0][k]]} and {self.paired[found.pairs[1][k]]}",
                *(f"{table[k]:.2f}" for table in (found.working, found.avatars, found.holdout)),
            )
            for k in order
        )
        return Panel(
            f"The relation of {rows[0][0]} moved most",
            ("Mutual information, normalised: 0 is no relation, 1 a complete one, of any shape.",),
            ("pair", *TABLES),
            rows,
            note=f"The {len(rows)} pairs that moved most, of {len(moved)}.",
        )

    def pair(self, first: str, second: str) -> Panel:
        """Return how two variables hang together in each table.

        Raises
        ------
        evalkit.InputError
            If a variable is not among `paired`.
        """
        for name in (first, second):
            if name not in self.paired:
                raise InputError(f"pair: {name!r} is no used column that varies; choose another.")
        if first == second:
            return Panel("Choose two different variables")
        places = sorted(self.paired.index(name) for name in (first, second))
        found = self._relations
        k = int(np.flatnonzero((found.pairs[0] == places[0]) & (found.pairs[1] == places[1]))[0])
        shares = [float(table[k]) for table in (found.working, found.avatars, found.holdout)]
        rows = [("mutual information, normalised", *(f"{one:.2f}" for one in shares))]
        names, matrices = self._correlations
        if {first, second} <= set(names):
            at = names.index(first), names.index(second)
            rows.append(("correlation", *(f"{matrix[at]:.2f}" for matrix in matrices)))
        title = f"{first} and {second}: {shares[0]:.2f} in originals, {shares[1]:.2f} in avatars"
        return Panel(title, head=("relation", *TABLES), rows=tuple(rows))

    def variables(self, name: str = "", *, controls: bool = True) -> Live:
        """Return the distribution of one variable, with a menu where it can be live."""
        names = tuple(self.scores)
        chosen = name or names[0]
        if chosen not in names:
            raise InputError(f"variable: {chosen!r} is no used column; choose another.")
        choice = Choice(VARIABLE, names, (chosen,))
        return Live(lambda read: (self.variable(read[VARIABLE][0]),), (choice,), controls)

    def pairs(self, pair: Sequence[str] = (), *, controls: bool = True) -> Live:
        """Return the relation of two variables, with two menus where it can be live."""
        if len(self.paired) < 2:  # noqa: PLR2004 - a pair
            return Live(lambda _: (Panel("No pair of variables varies"),), (), controls)
        if pair and len(pair) != 2:  # noqa: PLR2004 - a pair
            raise InputError("pair: name two columns, or none.")
        first, second = pair or self._most_moved()
        self.pair(first, second)
        choices = (
            Choice(FIRST, self.paired, (first,)),
            Choice(SECOND, self.paired, (second,)),
        )
        return Live(lambda read: (self.pair(read[FIRST][0], read[SECOND][0]),), choices, controls)

    def _most_moved(self) -> tuple[str, str]:
        found = self._relations
        k = int(np.argmax(np.abs(found.avatars - found.working)))
        return self.paired[found.pairs[0][k]], self.paired[found.pairs[1][k]]


def utility(release: Release, *, min_count: int = 11) -> UtilityBench:
    """Return a release made ready for many looks at its utility.

    Parameters
    ----------
    release : Release
        The tables.
    min_count : int
        Fewest originals in a bar that is shown.

    Returns
    -------
    UtilityBench

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit import explore
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 25, "size": [1, 3, 2, 4] * 25})
    >>> bench = explore.utility(evalkit.load(table, table, table))
    >>> print(str(bench.pair("age", "size")).splitlines()[0])
    age and size: 0.65 in originals, 0.65 in avatars
    """
    return UtilityBench(release, min_count)


def groups(
    release: Release,
    by: str = "",
    *,
    metrics: Sequence[str] = (),
    min_count: int = 11,
    controls: bool = True,
) -> Live:
    """Return scores among the people of each level of a column, with a menu where it can be live.

    Parameters
    ----------
    release : Release
        The tables.
    by : str
        Column of the groups; empty until one is chosen.
    metrics : sequence of str
        Slugs; empty for distributions and correlations.
    min_count : int
        Fewest originals in a group that is shown.
    controls : bool
        Whether controls are wanted.

    Returns
    -------
    Live

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit import explore
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50] * 30, "sex": ["f", "m"] * 60})
    >>> shown = explore.groups(evalkit.load(table, table, table), "sex", metrics=["hellinger"])
    >>> print(str(shown).splitlines()[0])
    Scores by sex
    """
    from evalkit.metrics import get

    slugs = [get(slug).slug for slug in metrics or GROUP_METRICS]
    names = ("", *release.schema.used_names())
    if by not in names:
        raise InputError(f"by: {by!r} is no used column; choose another.")

    def look(read: Mapping[str, tuple[str, ...]]) -> Iterator[Panel]:
        yield _by_group(release, read[GROUP][0], slugs, min_count)

    return Live(look, (Choice(GROUP, names, (by,)),), controls)


def _by_group(release: Release, by: str, slugs: list[str], min_count: int) -> Panel:
    """Return the scores of each group of one column, beside those of everybody."""
    from evalkit.assessment import assess
    from evalkit.report.view_subgroups import name_in
    from evalkit.report.words import load_words
    from evalkit.scenario import Scenario

    if not by:
        return Panel("No column of groups is chosen", ("Name one with `by`, or choose it above.",))
    try:
        found = assess(release, Scenario(min_count=min_count), metrics=slugs, by=by)
    except InputError as error:
        return Panel(f"No scores by {by}", (str(error),))
    assert found.subgroups is not None
    words = load_words("en")["labels"]["subgroups"]
    everybody = [(score_text(one.headline), one.interval) for one in found.results.values()]
    rows = [("everybody", f"{len(release.original):,}", *map(_with_interval, everybody))]
    for group in found.subgroups.groups:
        cells = [(score_text(one.score), one.interval) for one in group.results.values()]
        start = name_in(group, words), f"{group.rows_original:,}"
        rows.append((*start, *map(_with_interval, cells)))
    names = [slug.replace("_", " ") for slug in found.results]
    notes = tuple(note.text for note in found.subgroups.notes)
    return Panel(f"Scores by {by}", notes, (by, "originals", *names), tuple(rows))


def _with_interval(cell: tuple[str, Any]) -> str:
    score, interval = cell
    return f"{score} ({interval_text(interval)})" if interval else score
