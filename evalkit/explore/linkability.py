"""Linkability while one looks: another choice of known variables, all its numbers at once."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from evalkit import intervals
from evalkit.errors import InputError
from evalkit.explore.live import Choice, Live
from evalkit.explore.panel import Panel, interval_text, score_text, signed
from evalkit.metrics import linkability_protection_rate as metric
from evalkit.quantities import (
    Pairing,
    in_content_order,
    link_probability,
    ranges,
    shared_pairing,
)
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import pandas as pd

    from evalkit.metrics.linkability_protection_rate import Linkage
    from evalkit.persons import Persons
    from evalkit.release import Release

    Halves = tuple[tuple[str, ...], tuple[str, ...]]

KNOWN: Final = "known"
FLOOR_SHUFFLES: Final = 2
"""The report takes 20; two answer at once and are as good for a first look."""
SAMPLE_ROWS: Final = 2_000
"""Rows of each table for the answer that comes at once, and for the floor."""
FEWEST_KNOWN: Final = 2
SLUG: Final = metric.SLUG


@dataclass(frozen=True)
class _People:
    """Tables in which people look for their nearest avatars, and whose the rows are."""

    pairing: Pairing
    persons: Persons

    def attack(self, halves: Halves) -> Linkage:
        """Return who is linked; a half that was searched before is not searched again."""
        in_a, in_b = (self.pairing.shared(half) for half in halves)
        found = link_probability(in_a, in_b)
        sizes = self.persons.means(in_a.size), self.persons.means(in_b.size)
        probability = self.persons.means(found.probability)
        return metric.Linkage(probability, *sizes, found.standard_error)


@dataclass(frozen=True)
class Look:
    """What one choice of known variables gives.

    Attributes
    ----------
    halves : tuple of two tuple of str
        The known variables as cut in two, the same cut as in the report.
    people, control : Linkage
        The attack on the originals and, with a real holdout, on people who never were in the data.
    floor : float
        Expected score where the columns of the avatars are shuffled.
    seconds : float
        What it took.
    whole : bool
        Whether all rows were looked at, as in the report, or a sample.
    """

    halves: Halves
    people: Linkage
    control: Linkage | None
    floor: float
    seconds: float
    whole: bool

    @property
    def score(self) -> float:
        """Return the expected score, 0 to 100: over all rows the headline number of the report."""
        return self.people.score

    @property
    def excess(self) -> tuple[float, float, float] | None:
        """Return links of the originals beyond those of the control, with its interval, in %."""
        if self.control is None:
            return None
        counts = (*_successes(self.people), *_successes(self.control))
        low, high = intervals.newcombe_difference(*counts)
        share = self.people.linked_share - self.control.linked_share
        return 100 * share, 100 * low, 100 * high

    @property
    def panel(self) -> Panel:
        """Return the numbers as a panel."""
        first, second = self.halves
        rows = [_row("originals", self.people)]
        rows += [] if self.control is None else [_row("holdout, never in the data", self.control)]
        rows += [("columns shuffled: the floor", score_text(self.floor), "", "", "")]
        return Panel(
            f"Linkability with {len(first) + len(second)} known variables: {self.score:.1f}",
            (f"First half: {', '.join(first)}. Second half: {', '.join(second)}.", *self._told),
            ("attacked", "score", "95 % interval", "nearest, first half", "nearest, second half"),
            tuple(rows),
            note=(
                "The last two columns give the mean number of avatars that are equally near. "
                f"{self._basis}, answered in {1000 * self.seconds:.0f} ms; floor from "
                f"{FLOOR_SHUFFLES} shuffles."
            ),
        )

    @property
    def _basis(self) -> str:
        people = len(self.people.probability)
        return f"All {people:,} originals" if self.whole else f"A sample of {people:,} originals"

    @property
    def _told(self) -> tuple[str, ...]:
        if self.excess is None:
            return ("Without a real holdout there is no control.",)
        points, low, high = self.excess
        told = (
            f"Links of originals beyond those of people who never were in the data: "
            f"{signed(f'{points:.1f}')} points, 95 % interval {interval_text((low, high))}."
        )
        return (told,)


class LinkabilityBench:
    """A release made ready for many looks at linkability: columns are encoded once.

    Parameters
    ----------
    release : Release
        The tables.
    seed : int
        As in `Scenario`; cuts the known variables as the report does.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit.explore import LinkabilityBench
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> LinkabilityBench(evalkit.load(table, table)).look(["age", "size"]).score
    0.0
    """

    def __init__(self, release: Release, seed: int = 0) -> None:
        self.release = release
        self.seed = seed
        self.names = tuple(sorted(release.schema.used_names()))

    def look(self, known: Sequence[str]) -> Look:
        """Return score, control, floor and tie sizes for the variables `known`.

        Raises
        ------
        evalkit.InputError
            If there are fewer than two, or a column is not used.
        """
        return self._look(known, self.originals, self._control, whole=True)

    def quick_look(self, known: Sequence[str]) -> Look | None:
        """Return the same on a sample of rows, or None where no table is larger than that."""
        if self._samples is None:
            return None
        return self._look(known, *self._samples, whole=False)

    def _look(
        self, known: Sequence[str], people: _People, control: _People | None, *, whole: bool
    ) -> Look:
        started = time.perf_counter()
        halves = self.halves(known)
        linked = people.attack(halves)
        chance = control.attack(halves) if control else None
        floor = [one.attack(halves).score for one in self._shuffled]
        seconds = time.perf_counter() - started
        return Look(halves, linked, chance, math.fsum(floor) / len(floor), seconds, whole)

    def halves(self, known: Sequence[str]) -> Halves:
        """Return the two halves of the known variables, as the report cuts them.

        None known stands for every used column.
        """
        from evalkit.scenario import Scenario

        settled = Scenario(known=list(known) or None, seed=self.seed).settled(self.release.schema)
        names = sorted(settled.known or ())
        if len(names) < FEWEST_KNOWN:
            raise InputError("known: linkability needs two known variables or more; name another.")
        order = stream(self.seed, SLUG).permutation(len(names))
        half = (len(names) + 1) // 2
        return tuple(names[k] for k in order[:half]), tuple(names[k] for k in order[half:])

    @cached_property
    def originals(self) -> _People:
        """Return the originals, looking for their nearest avatars."""
        pairing = shared_pairing(self.release, "original", "avatars")
        return _People(pairing, self.release.persons_of("original"))

    @cached_property
    def _control(self) -> _People | None:
        release = self.release
        if release.holdout is None:
            return None
        pairing = Pairing(release.schema, release.holdout, release.avatars, self._ranges)
        return _People(pairing, release.persons_of("holdout"))

    @cached_property
    def _ranges(self) -> Any:
        release = self.release
        return ranges(release.schema, (release.original, release.avatars), self.names)

    @cached_property
    def _samples(self) -> tuple[_People, _People | None] | None:
        """Return a sample of originals and of holdout; None where all rows are as few."""
        release = self.release
        sizes = [
            len(release.original),
            *([] if release.holdout is None else [len(release.holdout)]),
        ]
        if max(sizes) <= SAMPLE_ROWS:
            return None
        people = self._sample("original", release.avatars)
        return people, None if release.holdout is None else self._sample("holdout", release.avatars)

    @cached_property
    def _shuffled(self) -> tuple[_People, ...]:
        """Return a sample of the originals beside shuffled avatars, for the floor."""
        rng = stream(self.seed, "explore floor")
        mixed = [_shuffled(self.release.avatars, self.names, rng) for _ in range(FLOOR_SHUFFLES)]
        return tuple(self._sample("original", one) for one in mixed)

    def _sample(self, table: Literal["original", "holdout"], avatars: pd.DataFrame) -> _People:
        """Return about `SAMPLE_ROWS` rows of a table, the same ones in any order of its rows."""
        release, rng = self.release, stream(self.seed, f"explore sample of {table}")
        frame, persons = getattr(release, table), release.persons_of(table)
        rows = persons.drawn(in_content_order(frame, release.schema, self.names), SAMPLE_ROWS, rng)
        pairing = Pairing(release.schema, frame.iloc[rows], avatars, self._ranges)
        return _People(pairing, persons.part(rows))

    def without_each(self, known: Sequence[str]) -> Panel:
        """Return the score when each known variable is left out: what falls away links."""
        first, second = self.halves(known)
        names = (*first, *second)
        if len(names) <= FEWEST_KNOWN:
            return Panel("Leaving one out needs three known variables or more")
        everything = self.originals.attack((first, second))
        whole = everything.score
        found = {name: self.originals.attack(_without(first, second, name)) for name in names}
        ordered = sorted(found, key=lambda name: (-found[name].score, name))
        rows = tuple(
            # Zero is added for the sign of a change that is rounded to nothing.
            (name, score_text(score), signed(f"{round(score - whole, 1) + 0.0:+.1f}"))
            for name, score in ((name, found[name].score) for name in ordered)
        )
        told = (
            f"The score itself has a 95 % interval of {_interval(everything)}: changes that are "
            "small beside it say little."
        )
        return Panel(
            f"Which variables link: without {ordered[0]} the score is "
            f"{found[ordered[0]].score:.1f} instead of {whole:.1f}",
            ("Each line leaves one known variable out; the largest change links most.", told),
            ("left out", "score", "change"),
            rows,
        )

    def curve(self, known: Sequence[str]) -> Panel:
        """Return the expected score against the number of known variables, with its figure."""
        from evalkit.assessment import assess
        from evalkit.figures import ENGLISH, linkability_drawings
        from evalkit.scenario import Scenario

        scenario = Scenario(known=list(known) or None, seed=self.seed)
        result = assess(self.release, scenario, metrics=[SLUG]).results[SLUG]
        points = result.facts.get("curve", [])
        drawings = linkability_drawings(result.facts, None, ENGLISH, narrow=False) if points else ()
        rows = tuple(
            (str(one["known"]), *map(score_text, (one["score"], one["holdout"], one["floor"])))
            for one in points
        )
        return Panel(
            f"From 2 to {result.facts.get('n_known', len(known))} known variables",
            (f"{result.facts.get('curve_orders', 0)} random orders of the known variables.",),
            ("known variables", "originals", "holdout", "columns shuffled"),
            rows,
            drawings,
        )


def linkability(
    release: Release, known: Sequence[str] = (), *, seed: int = 0, controls: bool = True
) -> Live:
    """Return linkability for known variables, with a box for each column where it can be live.

    Parameters
    ----------
    release : Release
        The tables.
    known : sequence of str
        Columns chosen at first; empty for every used column.
    seed : int
        As in `Scenario`.
    controls : bool
        Whether controls are wanted; without the extra ``explore`` there are none.

    Returns
    -------
    Live

    Raises
    ------
    evalkit.InputError
        If a column does not exist.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit import explore
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> print(str(explore.linkability(evalkit.load(table, table))).splitlines()[0])
    Linkability with 2 known variables: 0.0
    """
    bench = LinkabilityBench(release, seed)
    chosen = tuple(known) or bench.names
    bench.halves(chosen)

    def look(read: Mapping[str, tuple[str, ...]]) -> Iterator[Panel]:
        if len(read[KNOWN]) < FEWEST_KNOWN:
            yield Panel("Choose two known variables or more")
            return
        at_once = bench.quick_look(read[KNOWN])
        if at_once is not None:
            yield at_once.panel
        yield bench.look(read[KNOWN]).panel

    return Live(look, (Choice(KNOWN, bench.names, chosen, several=True),), controls)


def _successes(found: Linkage) -> tuple[float, int]:
    return len(found.probability) * found.linked_share, len(found.probability)


def _interval(found: Linkage) -> str:
    """Return the interval of a score in words."""
    low, high = intervals.wilson(*_successes(found))
    return interval_text((100 * (1 - high), 100 * (1 - low)))


def _row(who: str, found: Linkage) -> tuple[str, ...]:
    return (
        who,
        score_text(found.score),
        _interval(found),
        f"{found.size_a.mean():.1f}",
        f"{found.size_b.mean():.1f}",
    )


def _without(first: tuple[str, ...], second: tuple[str, ...], name: str) -> Halves:
    """Return the halves without one variable; an emptied half takes one from the other."""
    left = [tuple(one for one in half if one != name) for half in (first, second)]
    if not left[1]:
        left = [left[0][:-1], left[0][-1:]]
    if not left[0]:
        left = [left[1][-1:], left[1][:-1]]
    return left[0], left[1]


def _shuffled(
    avatars: pd.DataFrame, names: Sequence[str], rng: np.random.Generator
) -> pd.DataFrame:
    """Return the avatars with each column in an order of its own, whatever the order of rows."""
    import pandas as pd

    columns = {}
    for name in names:
        ordered = avatars[name].sort_values(kind="stable").reset_index(drop=True)
        columns[name] = ordered.iloc[rng.permutation(len(ordered))].reset_index(drop=True)
    return pd.DataFrame(columns)
