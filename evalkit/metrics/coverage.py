r"""Coverage: whether all kinds of values are still there.

For each variable v that is not constant in the originals, with L_v its levels of at least
min_count originals, and [a, b] from the 5 % to the 95 % quantile of the originals, [c, d] of the
avatars,

    K_v = #{levels of L_v among the avatars} / #L_v                  (categories)
    K_v = length of the part in common / length of both together     (numbers)

    score = 100 * mean of K_v

Levels of the avatars that the originals do not know are counted beside it. Where people have
several rows, min_count counts people, quantiles are those of the rows, and whole persons are
dealt. Source: category and range coverage as in published tools for synthetic data; the range
between quantiles, which no single person sets, is our own choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from evalkit.messages import say
from evalkit.metric import Basis, Metric, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities import Cells
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    # The share covered of each variable in each deal, and what there is to say of the deals.
    Dealt = tuple[Iterable[Sequence[float | None]], dict[str, Any]]

SLUG = "coverage"
LOW, HIGH = 0.05, 0.95
ROUNDING = 1e-9
SHOWN_VARIABLES = 10
SHOWN_LEVELS = 5


def common_part(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the length that two ranges have in common over that of both together, 0 to 1.

    Two ranges of a single value count 1 if it is the same, else 0.

    Examples
    --------
    >>> from evalkit.metrics.coverage import common_part
    >>> common_part((0, 10), (5, 15)), common_part((0, 1), (2, 3)), common_part((4, 4), (4, 4))
    (0.3333333333333333, 0.0, 1.0)
    """
    if first == second:
        return 1.0
    common = max(0.0, min(first[1], second[1]) - max(first[0], second[0]))
    both = (first[1] - first[0]) + (second[1] - second[0]) - common
    return common / both if both > 0 else 0.0


def middle_range(values: Cells) -> tuple[float, float] | None:
    """Return the 5 % and the 95 % quantile of the filled cells, None where none is filled.

    A quantile is the least value of the column that the share of its cells does not pass.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.coverage import middle_range
    >>> middle_range(np.arange(1, 101))
    (5.0, 95.0)
    """
    import numpy as np

    from evalkit.quantities_univariate import missing_cells

    filled = values[~missing_cells(values)] if values.dtype.kind == "f" else values
    if not len(filled):
        return None
    places = [max(0, math.ceil(share * len(filled) - ROUNDING) - 1) for share in (LOW, HIGH)]
    found = np.partition(filled, places)
    return float(found[places[0]]), float(found[places[1]])


@dataclass(frozen=True)
class _Variable:
    """One variable that counts, in originals, avatars and perhaps a holdout.

    Its cells are read when they are asked for, so that one column is in memory at a time.
    """

    name: str
    is_number: bool
    tables: tuple[pd.DataFrame, ...]
    labels: tuple[str, ...]
    persons: Persons  # of the originals

    def cells(self, table: int) -> Cells:
        """Return the column of one table: numbers, or the codes of levels as they are kept."""
        column = self.tables[table][self.name]
        return cast("Cells", column.to_numpy() if self.is_number else column.cat.codes.to_numpy())

    def covered(self, table: int, min_count: int) -> float | None:
        """Return the share of the originals that another table covers; None if no level counts."""
        if self.is_number:
            return _ranges_covered(middle_range(self.cells(0)), middle_range(self.cells(table)))
        return _levels_covered(self.carriers(), self.levels(table), min_count)

    def carriers(self) -> NDArray[np.int64]:
        """Return how many people of the originals carry each level in some row, shape (levels,)."""
        from evalkit.quantities_rows import holders

        if self.persons.are_rows:
            return self.levels(0).astype("int64")
        codes = self.cells(0)
        filled = codes >= 0
        owner = self.persons.code[filled]
        return holders(codes[filled].astype("int64"), owner, len(self.labels))

    def people(self) -> NDArray[np.float64]:
        """Return how many originals carry each level, a person once however many rows it has."""
        import numpy as np

        if self.persons.are_rows:
            return self.levels(0).astype(np.float64)
        codes = self.cells(0)
        filled = codes >= 0
        worth = self.persons.weights[filled]
        sums = np.bincount(codes[filled], worth, minlength=len(self.labels))
        people: NDArray[np.float64] = np.floor(sums + ROUNDING)
        return people

    def levels(self, table: int) -> NDArray[np.intp]:
        """Return how many cells of a table carry each level, shape (levels,)."""
        import numpy as np

        codes = self.cells(table)
        return np.bincount(codes[codes >= 0], minlength=len(self.labels))


class _Pool:
    """All real cells of one variable in the order of the pool, ready for many deals."""

    def __init__(self, one: _Variable, cells: Cells, persons: Persons) -> None:
        import numpy as np

        from evalkit.quantities_univariate import missing_cells

        self._one = one
        if one.is_number:
            filled = np.flatnonzero(~missing_cells(cells))
            # Sorted once: what a deal holds of each cell then gives its quantiles by adding up.
            self._places = filled[np.argsort(cells[filled], kind="stable")]
            self._values = cells[self._places]
        else:
            # One row of each person for each of its levels: a deal then counts people.
            filled = np.flatnonzero(cells >= 0)
            carried = persons.code[filled] * len(one.labels) + cells[filled].astype(np.int64)
            self._places = filled[np.unique(carried, return_index=True)[1]]
            self._values = cells[self._places]

    def covered(self, first: _Deal, second: _Deal, min_count: int) -> float | None:
        """Return the share of the first sample that the second covers."""
        if self._one.is_number:
            return _ranges_covered(self._range(first.times), self._range(second.times))
        levels = [self._carriers(deal.times) for deal in (first, second)]
        return _levels_covered(levels[0], levels[1], min_count)

    def _carriers(self, times: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how many of the people dealt carry each level, shape (levels,)."""
        import numpy as np

        dealt = times[self._places].astype(np.float64)
        return np.bincount(self._values, dealt, len(self._one.labels)).astype(np.float64)

    def _range(self, times: NDArray[np.intp]) -> tuple[float, float] | None:
        """Return the quantiles of `middle_range`, each cell counted as often as it was dealt."""
        import numpy as np

        passed = np.cumsum(times[self._places])  # (filled cells,)
        if not len(passed) or not passed[-1]:
            return None
        wanted = [max(1, math.ceil(share * int(passed[-1]) - ROUNDING)) for share in (LOW, HIGH)]
        low, high = self._values[np.searchsorted(passed, wanted)]
        return float(low), float(high)


@dataclass(frozen=True)
class _Deal:
    """One sample of the pool: how often each place was drawn."""

    times: NDArray[np.intp]


def _ranges_covered(first: tuple[float, float] | None, second: tuple[float, float] | None) -> float:
    """Return the part in common of two ranges; none is covered where a table has no cell."""
    return common_part(first, second) if first and second else 0.0


def _levels_covered(first: NDArray[Any], second: NDArray[Any], min_count: int) -> float | None:
    """Return the share of the levels of enough people that the second table has."""
    wanted = first >= min_count
    return float((wanted & (second > 0)).sum() / wanted.sum()) if wanted.any() else None


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, the variables that lost most, and levels that nobody has."""
    variables, left_out = _variables(release)
    rows = [_row(one, scenario.min_count) for one in variables]
    rare = [row["variable"] for row in rows if row["score"] is None]
    counted = [one for one, row in zip(variables, rows, strict=True) if row["score"] is not None]
    rows = [row for row in rows if row["score"] is not None]
    if not rows:
        return NotApplicable(_nothing_to_cover(), {"left_out": left_out, "rare": rare})
    real = _unseen(release, counted, scenario.min_count, rng)
    for row, one in zip(rows, real.pop("by_variable"), strict=True):
        row["real"] = one
    worst = sorted(rows, key=lambda row: (row["score"], row["variable"]))
    return Outcome(
        score=_mean([row["score"] for row in rows]),
        facts={
            "n_original": len(release.original),
            "n_avatars": len(release.avatars),
            "n_holdout": None if release.holdout is None else len(release.holdout),
            "min_count": scenario.min_count,
            "n_variables": len(rows),
            "n_categorical": sum(row["levels"] is not None for row in rows),
            "n_levels": sum(row["levels"] or 0 for row in rows),
            "n_lost": sum(row["n_lost"] for row in rows),
            "n_unknown": sum(row["unknown"] for row in rows),
            "left_out": left_out,
            "rare": rare,
            "self_score": 100.0,
            "holdout_score": None
            if release.holdout is None
            else _mean([row["holdout"] for row in rows]),
            **real,
            "worst_variables": worst[:SHOWN_VARIABLES],
        },
    )


def _variables(release: Release) -> tuple[list[_Variable], list[str]]:
    """Return the variables that vary in the originals, and the names of the others."""
    import numpy as np

    from evalkit.quantities_univariate import missing_cells

    tables = [release.original, release.avatars]
    tables += [] if release.holdout is None else [release.holdout]
    persons = release.persons_of("original")
    found, constant = [], []
    for name in sorted(release.schema.used_names()):
        is_number = release.schema[name].is_number
        labels = () if is_number else tuple(map(str, release.original[name].cat.categories))
        one = _Variable(name, is_number, tuple(tables), labels, persons)
        column = one.cells(0)
        filled = column[~(missing_cells(column) if is_number else column < 0)]
        if not len(filled) or bool(np.all(filled == filled[0])):
            constant.append(name)
        else:
            found.append(one)
    return found, constant


def _row(one: _Variable, min_count: int) -> dict[str, Any]:
    """Return what is known of one variable."""
    holdout = one.covered(2, min_count) if one.tables[2:] else None
    share = one.covered(1, min_count)
    row: dict[str, Any] = {
        "variable": one.name,
        "score": None if share is None else 100 * share,
        "holdout": None if holdout is None else 100 * holdout,
        "levels": None,
        "n_lost": 0,
        "lost": [],
        "unknown": 0,
    }
    if one.is_number:
        return row
    original, avatars = one.carriers(), one.levels(1)
    people = one.people()
    lost = [k for k in range(len(original)) if original[k] >= min_count and not avatars[k]]
    lost.sort(key=lambda k: (-int(original[k]), one.labels[k]))
    return row | {
        "levels": int((original >= min_count).sum()),
        "n_lost": len(lost),
        "lost": [one.labels[k] for k in lost if people[k] >= min_count][:SHOWN_LEVELS],
        "unknown": int(((original == 0) & (avatars > 0)).sum()),
    }


def _unseen(
    release: Release, variables: Sequence[_Variable], min_count: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Return what real rows score in place of the avatars, over deals of all real records."""
    import numpy as np

    from evalkit.quantities_dealt_groups import is_large
    from evalkit.quantities_univariate import dealt_people, mean_and_band

    persons, n_avatars = dealt_people(release, halves=False)
    large = is_large(sum(one.count for one in persons))
    deals = _dealt_groups if large else _dealt_rows
    dealt, facts = deals(release, variables, (persons, n_avatars), min_count, rng)
    scores: list[float] = []
    total, seen = np.zeros(len(variables)), np.zeros(len(variables))
    for shares in dealt:
        known = np.array([share is not None for share in shares])
        values = np.array([100 * (share or 0.0) for share in shares])
        total, seen = total + values, seen + known
        if known.any():
            scores.append(_mean(values[known]))
    mean, band = mean_and_band(scores)
    return {
        "real_score": mean,
        "real_band": band,
        "deals": len(scores),
        "by_variable": [
            float(value / count) if count else None
            for value, count in zip(total, seen, strict=True)
        ],
        **facts,
    }


def _dealt_rows(
    release: Release,
    variables: Sequence[_Variable],
    people: tuple[Sequence[Persons], int],
    min_count: int,
    rng: np.random.Generator,
) -> Dealt:
    """Return the share of one sample that a second covers, of each variable, deal by deal."""
    import numpy as np

    from evalkit.quantities import cells, content_order
    from evalkit.quantities_univariate import deals, ordered_persons

    persons, n_avatars = people
    tables = [release.original, *([] if release.holdout is None else [release.holdout])]
    parts = [
        np.concatenate([cells(table, release.schema, one.name) for table in tables])
        for one in variables
    ]
    order = content_order(parts)
    whose = ordered_persons(persons, order)
    pools = [_Pool(one, part[order], whose) for one, part in zip(variables, parts, strict=True)]
    drawn = deals(whose, persons[0].count, n_avatars, len(pools), rng)
    samples = ([_Deal(np.bincount(one, minlength=len(order))) for one in pair] for pair in drawn)
    return (
        [pool.covered(first, second, min_count) for pool in pools] for first, second in samples
    ), {}


def _dealt_groups(
    release: Release,
    variables: Sequence[_Variable],
    people: tuple[Sequence[Persons], int],
    min_count: int,
    rng: np.random.Generator,
) -> Dealt:
    """Return what `_dealt_rows` does, of random groups of people instead of people."""
    from evalkit.quantities_dealt_cells import Pool
    from evalkit.quantities_dealt_groups import dealt_groups
    from evalkit.quantities_univariate import DEALS

    persons, n_avatars = people
    roles = ("original", "holdout")[: len(persons)]
    wide = max([1, *(len(one.labels) for one in variables)])
    groups = dealt_groups(release, roles, (persons[0].count, n_avatars), rng, wide)
    pool = Pool([getattr(release, role) for role in roles], persons, release.schema, groups)
    samples = groups.deals(DEALS, rng)
    shares: list[list[float | None]] = []
    for one in variables:
        if one.is_number:
            ranges = pool.ranges(one.name, samples, (LOW, HIGH))
            shares.append([_ranges_covered(*pair) for pair in _pairs(*ranges)])
        else:
            held = pool.carriers(one.name, len(one.labels))
            first, second = (times @ held for times in samples)
            pairs = zip(first, second, strict=True)
            shares.append([_levels_covered(*pair, min_count) for pair in pairs])
    return zip(*shares, strict=True), {"deal_groups": groups.equal}


def _pairs(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> Iterator[list[tuple[float, float] | None]]:
    """Yield the ranges of both samples of each deal, None for a sample without a filled cell."""
    for pair in zip(first.tolist(), second.tolist(), strict=True):
        yield [None if math.isnan(low) else (low, high) for low, high in pair]


def _mean(values: Sequence[float]) -> float:
    """Return the mean; any order of variables sums alike."""
    return math.fsum(values) / len(values)


def _nothing_to_cover() -> Message:
    """Return the reason why no variable counts."""
    return say(
        "nothing_to_cover",
        "No used column of the originals varies and has a level that enough people carry; give "
        "columns that vary, or type codes with many values with --numeric.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import worst_variables

    return (worst_variables(result["facts"]["worst_variables"], narrow=narrow, words=words),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    level="univariate",
    basis=Basis.COMPARISON,
    compute=compute,
    draw=draw,
    by_person=True,
    copy_score=100.0,
)
