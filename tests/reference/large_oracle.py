"""Scores of whole tables from the formulas, record by record; nothing of the package is used.

A table is a dict of columns, each a list of numbers or of levels with None for a missing cell.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np

Table = dict[str, list[Any]]
TIE = 1e-9


def rows_of(table: Table, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the records of a table."""
    return list(zip(*(table[name] for name in names), strict=True))


def joined(first: Table, second: Table) -> Table:
    """Return the records of both tables."""
    return {name: first[name] + second[name] for name in first}


def numbers(column: list[Any]) -> np.ndarray:
    """Return a column as numbers, NaN where a cell is missing."""
    return np.array([math.nan if value is None else value for value in column], dtype=float)


def ends(*columns: list[Any]) -> tuple[float, float]:
    """Return the least and the largest filled cell of some columns."""
    values = [value for column in columns for value in column if value is not None]
    return min(values), max(values)


class Distances:
    """Gower's distance from one record to all records of a table, column after column."""

    def __init__(self, table: Table, spans: dict[str, float | None], *, capped: bool) -> None:
        self.spans, self.capped = spans, capped
        self.columns = {
            name: np.array(table[name], dtype=object) if span is None else numbers(table[name])
            for name, span in spans.items()
        }

    def of(self, record: dict[str, Any]) -> np.ndarray:
        """Return G(record, y) for all y."""
        total = sum(self._column(name, record[name]) for name in self.spans)
        return np.asarray(total, dtype=float) / len(self.spans)

    def nearest(self, record: dict[str, Any]) -> tuple[float, np.ndarray]:
        """Return the least distance, and who is within the tie threshold of it."""
        found = self.of(record)
        return float(found.min()), np.flatnonzero(found <= found.min() + TIE)

    def _column(self, name: str, value: Any) -> np.ndarray:
        column, span = self.columns[name], self.spans[name]
        if span is None:
            return np.array([float(other != value) for other in column])
        missing = np.isnan(column)
        if value is None:
            return np.where(missing, 0.0, 1.0)
        gap = np.abs(column - value)
        if span == 0:
            found = (gap > 0).astype(float) if self.capped else np.zeros(len(column))
        else:
            found = np.minimum(gap / span, 1.0) if self.capped else gap / span
        return np.where(missing, 1.0, found)


def spans_of(names: list[str], numeric: set[str], *tables: Table) -> dict[str, float | None]:
    """Return max - min of each number column over some tables, None for levels."""
    found: dict[str, float | None] = {}
    for name in names:
        low, high = ends(*(table[name] for table in tables)) if name in numeric else (0.0, 0.0)
        found[name] = high - low if name in numeric else None
    return found


def records(table: Table) -> list[dict[str, Any]]:
    """Return the records of a table by name."""
    return [dict(zip(table, row, strict=True)) for row in rows_of(table, list(table))]


def linkability(
    original: Table, avatars: Table, halves: tuple[list[str], list[str]], numeric: set[str]
) -> float:
    """Return 100 (1 - mean P(linked)), ties broken independently."""
    searches = [
        Distances(avatars, spans_of(half, numeric, original, avatars), capped=False)
        for half in halves
    ]
    linked = []
    for one in records(original):
        a, b = (set(search.nearest(one)[1].tolist()) for search in searches)
        linked.append(len(a & b) / (len(a) * len(b)))
    return 100 * (1 - math.fsum(linked) / len(linked))


def distance_to_closest(
    working: Table, avatars: Table, holdout: Table, names: list[str], numeric: set[str]
) -> float:
    """Return 100 min(1, ratio of medians, 1 - e)."""
    search = Distances(working, spans_of(names, numeric, working, holdout), capped=True)
    a, b = (
        sorted(search.nearest(one)[0] for one in records(table)) for table in (avatars, holdout)
    )
    q = b[math.ceil(0.05 * len(b)) - 1]
    near, strangers = (sum(d <= q + TIE for d in each) / len(each) for each in (a, b))
    parts = [1.0, 1 - (near - strangers) / (1 - strangers)]
    if np.median(b):
        parts.append(float(np.median(a) / np.median(b)))
    return 100 * min(parts)


def closest_to_training_share(
    working: Table, avatars: Table, holdout: Table, names: list[str], numeric: set[str]
) -> float:
    """Return 100 min(1, (1 - share) / (1 - pi))."""
    n, m = (len(next(iter(table.values()))) for table in (working, holdout))
    search = Distances(
        joined(working, holdout), spans_of(names, numeric, working, holdout), capped=True
    )
    shares = [float((search.nearest(one)[1] < n).mean()) for one in records(avatars)]
    return 100 * min(1.0, (1 - math.fsum(shares) / len(shares)) / (1 - n / (n + m)))


def inference_protection(
    working: Table,
    avatars: Table,
    holdout: Table,
    known: list[str],
    sensitive: str,
    numeric: set[str],
) -> float:
    """Return 100 (1 - max(0, risk)) of copying the sensitive value of the nearest avatar."""
    search = Distances(avatars, spans_of(known, numeric, working, holdout), capped=True)
    low, high = np.nanquantile(numbers(working[sensitive]), [0.05, 0.95])
    reach = 0.05 * (high - low) * (1 + 1e-9)
    guesses = numbers(avatars[sensitive])

    def right(one: dict[str, Any]) -> float:
        nearest = guesses[search.nearest(one)[1]]
        if one[sensitive] is None:
            return float(np.isnan(nearest).mean())
        return float((np.abs(nearest - one[sensitive]) <= reach).mean())

    found, control = (
        math.fsum(right(one) for one in records(table)) / len(records(table))
        for table in (working, holdout)
    )
    return 100 * (1 - max(0.0, (found - control) / (1 - control)))


def row_direct_match_protection(original: Table, avatars: Table, names: list[str]) -> float:
    """Return 100 (1 - share of avatars that equal an original)."""
    real, made = set(rows_of(original, names)), rows_of(avatars, names)
    return 100 * (1 - sum(row in real for row in made) / len(made))


def replicated_uniques(
    working: Table, avatars: Table, holdout: Table, names: list[str]
) -> tuple[float, float]:
    """Return which share of the unique people used, and never used, is among the avatars."""
    count = Counter(rows_of(joined(working, holdout), names))
    made = set(rows_of(avatars, names))
    found = []
    for table in (working, holdout):
        unique = [row for row in rows_of(table, names) if count[row] == 1]
        found.append(sum(row in made for row in unique) / len(unique))
    return found[0], found[1]


def attribute_disclosure(
    working: Table, avatars: Table, holdout: Table, known: list[str], sensitive: str
) -> float:
    """Return 100 (1 - max(0, risk)) for a sensitive level."""
    held = defaultdict(set)
    for key, value in zip(rows_of(avatars, known), avatars[sensitive], strict=True):
        held[key].add(value)
    shares = []
    for table in (working, holdout):
        pairs = list(zip(rows_of(table, known), table[sensitive], strict=True))
        shares.append(sum(held.get(key) == {value} for key, value in pairs) / len(pairs))
    return 100 * (1 - max(0.0, (shares[0] - shares[1]) / (1 - shares[1])))


def correlation_difference(first: Table, second: Table, names: list[str]) -> float:
    """Return Delta of the Pearson matrices of two tables, in percent."""
    gaps = []
    for k, one in enumerate(names):
        for other in names[:k]:
            pair = (_pearson(table[one], table[other]) for table in (first, second))
            gaps.append(abs(next(pair) - next(pair)))
    return 100 * math.fsum(gaps) / 2 / len(gaps)


def _pearson(first: list[Any], second: list[Any]) -> float:
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    if len(pairs) < 2 or any(len({pair[side] for pair in pairs}) == 1 for side in (0, 1)):
        return 0.0
    means = [math.fsum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1)]
    x, y = ([pair[side] - means[side] for pair in pairs] for side in (0, 1))
    product = math.fsum(a * b for a, b in zip(x, y, strict=True))
    return product / math.sqrt(math.fsum(a * a for a in x) * math.fsum(b * b for b in y))


def information_difference(
    working: Table, other: Table, names: list[str], numeric: set[str]
) -> float:
    """Return Delta of the normalised information of two tables of one length, in percent."""
    n = len(working[names[0]])
    bins = min(10, max(3, math.isqrt(n // 10)))
    coded = [{}, {}]  # of both tables
    for name in names:
        place = _levels(working[name], bins, numeric=name in numeric)
        for table, codes in zip((working, other), coded, strict=True):
            codes[name] = [place(value) for value in table[name]]
    gaps = [
        abs(_nmi(coded[0][one], coded[0][two]) - _nmi(coded[1][one], coded[1][two]))
        for one, two in itertools.combinations(names, 2)
    ]
    return 100 * math.fsum(gaps) / len(gaps)


def _levels(column: list[Any], bins: int, *, numeric: bool) -> Any:
    if numeric:
        ordered = sorted(value for value in column if value is not None)
        cuts = sorted({ordered[k * len(ordered) // bins] for k in range(1, bins)} - {ordered[0]})
        if not cuts and ordered[0] < ordered[-1]:
            cuts = [next(value for value in ordered if value > ordered[0])]
        return lambda value: None if value is None else sum(value >= cut for cut in cuts)
    frequent = {level for level, count in Counter(column).items() if count >= 10}
    return lambda value: value if value is None or value in frequent else "rare"


def _nmi(first: list[Any], second: list[Any]) -> float:
    n, joint = len(first), Counter(zip(first, second, strict=True))
    one, two = Counter(first), Counter(second)
    information = math.fsum(
        count / n * math.log(count * n / (one[x] * two[y])) for (x, y), count in joint.items()
    )
    information = max(0.0, information - (len(one) - 1) * (len(two) - 1) / (2 * n))
    entropies = [
        -math.fsum(count / n * math.log(count / n) for count in each.values())
        for each in (one, two)
    ]
    return information / math.sqrt(entropies[0] * entropies[1]) if all(entropies) else 0.0


def hellinger(working: Table, avatars: Table, names: list[str], numeric: set[str]) -> float:
    """Return 100 (1 - mean H) over the variables that vary in one of the tables."""
    n, m = len(working[names[0]]), len(avatars[names[0]])
    bins, found = min(20, max(2, min(n, m) // 10)), []
    for name in names:
        place = _bin(working[name], bins, numeric=name in numeric)
        p, q = (Counter(map(place, table[name])) for table in (working, avatars))
        if len({*p, *q}) > 1:
            overlap = math.fsum(math.sqrt(p[b] / n * q[b] / m) for b in p)
            found.append(math.sqrt(max(0.0, 1 - overlap)))
    return 100 * (1 - math.fsum(found) / len(found))


def _bin(column: list[Any], bins: int, *, numeric: bool) -> Any:
    if not numeric:
        return lambda value: value
    ordered = sorted(value for value in column if value is not None)
    edges = sorted({ordered[-(-k * len(ordered) // bins) - 1] for k in range(1, bins)})

    def place(value: Any) -> Any:
        if value is None:
            return None
        if edges[0] == ordered[0] and value < edges[0]:
            return "below"
        return sum(value > edge for edge in edges)

    return place


def coverage(original: Table, avatars: Table, names: list[str], numeric: set[str]) -> float:
    """Return 100 times the mean share covered, of the variables that vary in the originals."""
    found = []
    for name in names:
        filled = [[value for value in t[name] if value is not None] for t in (original, avatars)]
        if len(set(filled[0])) < 2:
            continue
        if name in numeric:
            (a, b), (c, d) = (
                [sorted(each)[math.ceil(s * len(each) - 1e-9) - 1] for s in (0.05, 0.95)]
                for each in filled
            )
            common = max(0.0, min(b, d) - max(a, c))
            found.append(common / (b - a + d - c - common))
        else:
            levels = [level for level, count in Counter(filled[0]).items() if count >= 11]
            found.append(sum(level in set(filled[1]) for level in levels) / len(levels))
    return 100 * math.fsum(found) / len(found)


def missingness(original: Table, avatars: Table, names: list[str]) -> float:
    """Return 100 (1 - mean difference of the missing shares)."""
    shares = [
        [sum(value is None for value in table[name]) / len(table[name]) for name in names]
        for table in (original, avatars)
    ]
    gaps = [abs(p - q) for p, q in zip(*shares, strict=True) if p or q]
    return 100 * (1 - math.fsum(gaps) / len(gaps))
