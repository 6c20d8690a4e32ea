"""The matrix of an analysis for each table, with the levels that the originals have.

Small groups never get a coefficient: levels that fewer than `min_count` originals carry are joined
in "other", and a column in which fewer than `min_count` originals differ from the rest is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalkit.analyses.listing import is_category
from evalkit.messages import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.analyses.formulas import Value
    from evalkit.analyses.listing import Analysis
    from evalkit.messages import Message
    from evalkit.schema import Schema

DAY_SECONDS = 86400.0
MOST_LEVELS = 50
OTHER = "(other)"
"""In the brackets, so that no level is called so and a report can translate it."""
TIMES = "\u00d7"


class NotFitted(Exception):  # noqa: N818 - an outcome with a reason, no fault of the program
    """Why an analysis cannot be made; it never leaves this package."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.text)
        self.reason = reason


@dataclass(frozen=True)
class Levels:
    """The levels of one column that get a coefficient.

    Attributes
    ----------
    names : tuple of str
        The first is the one that the others are held against.
    joined : tuple of str
        Rare levels, which are one, "other"; empty, or at least two.
    """

    names: tuple[str, ...]
    joined: tuple[str, ...]

    @property
    def all_names(self) -> tuple[str, ...]:
        """The levels in order, those joined at the end."""
        return (*self.names, OTHER) if self.joined else self.names

    def codes(self, texts: NDArray[Any]) -> NDArray[np.intp]:
        """Return the place of each text in `all_names`; -1 for a level unknown to the originals.

        Where rare levels are joined, an unknown one is one of them.
        """
        import numpy as np

        places = {name: place for place, name in enumerate(self.names)}
        unknown = len(self.names) if self.joined else -1
        different, inverse = np.unique(texts.astype(str), return_inverse=True)
        return np.array([places.get(one, unknown) for one in different], dtype=np.intp)[inverse]


@dataclass(frozen=True, eq=False)
class Design:
    """One table as an analysis sees it.

    Attributes
    ----------
    rows : int
        Rows in which every column of the analysis is filled.
    outcome : ndarray of float64, shape (rows,)
        0 and 1 where it is a level.
    event : ndarray of float64, shape (rows,), optional
    matrix : ndarray of float64, shape (rows, columns)
        Without the intercept.
    table : str
        ``"original"``, ``"avatars"`` or ``"holdout"``, for messages.
    person : ndarray of int64, shape (rows,), optional
        To whom each row belongs, where a person has several.
    """

    rows: int
    outcome: NDArray[np.float64]
    event: NDArray[np.float64] | None
    matrix: NDArray[np.float64]
    table: str = "original"
    person: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Designs:
    """The designs of an analysis for all tables.

    Attributes
    ----------
    names : tuple of str
        Of the columns of each matrix, as the report prints them.
    tables : dict of str to Design
    notes : tuple of Message
        What was joined, dropped or left out.
    """

    names: tuple[str, ...]
    tables: dict[str, Design]
    notes: tuple[Message, ...]


def designs(
    analysis: Analysis,
    tables: Mapping[str, pd.DataFrame],
    schema: Schema,
    min_count: int,
    persons: Mapping[str, NDArray[np.int64]] | None = None,
) -> Designs:
    """Return the designs of an analysis.

    Parameters
    ----------
    analysis : Analysis
    tables : mapping of str to DataFrame
        ``"original"``, whose levels hold for all, and others.
    schema : Schema
    min_count : int
        Fewest originals behind a coefficient: persons where `persons` says who they are.
    persons : mapping of str to ndarray of int64, shape (rows,), optional
        To whom each row of a table belongs; tables whose rows are persons may lack.

    Returns
    -------
    Designs

    Raises
    ------
    NotFitted
        If no column is left, or the outcome cannot be used.
    """
    persons = persons or {}
    builder = _Builder(analysis, schema, min_count)
    builder.settle(tables["original"], persons.get("original"))
    made = {role: builder.design(frame, role, persons.get(role)) for role, frame in tables.items()}
    kept = builder.kept(made["original"])
    if not kept:
        raise NotFitted(
            say(
                "analysis_no_term",
                "No term of the formula varies among at least {min_count} originals.",
                min_count=min_count,
            )
        )
    return Designs(
        names=tuple(builder.names[place] for place in kept),
        tables={role: replace(one, matrix=one.matrix[:, kept]) for role, one in made.items()},
        notes=tuple(builder.notes),
    )


class _Builder:
    """Settles levels on the originals, then makes the same matrix of any table."""

    def __init__(self, analysis: Analysis, schema: Schema, min_count: int) -> None:
        self.formula = analysis.formula
        self.kind = analysis.kind
        self.schema = schema
        self.min_count = min_count
        self.levels: dict[str, Levels] = {}
        self.ones: dict[Value, str | None] = {}
        self.names: list[str] = []
        self.notes: list[Message] = []

    @property
    def values(self) -> list[Value]:
        """Every value of the terms."""
        return list(dict.fromkeys(value for term in self.formula.terms for value in term))

    def settle(self, originals: pd.DataFrame, person: NDArray[np.int64] | None) -> None:
        """Fix what the originals decide: which levels count, and which level is 1."""
        for value in (self.formula.outcome, self.formula.event):
            if value is not None:
                self.ones[value] = self.one_level(value, originals, person)
        usable = self.filled(originals)
        if not usable.any():
            raise NotFitted(say("analysis_no_rows", "No original has every cell that is needed."))
        filled, person = originals[usable], None if person is None else person[usable]
        for value in self.values:
            if is_category(value, self.schema) and value.column not in self.levels:
                found = settled_levels(texts_of(filled[value.column]), self.min_count, person)
                self.levels[value.column] = found
                if found.joined:
                    self.notes.append(_joined(value.column, found))

    def is_binary(self, value: Value) -> bool:
        """Return whether a value counts as 0 and 1."""
        if value is self.formula.event or self.kind == "logistic" or value.level is not None:
            return True
        return self.kind == "groups" and not self.schema[value.column].is_number

    def one_level(
        self, value: Value, originals: pd.DataFrame, person: NDArray[np.int64] | None
    ) -> str | None:
        """Return the level of an outcome or event that counts as 1; None where it is a number."""
        if not self.is_binary(value):
            return None
        there = originals[value.column].notna().to_numpy()
        texts, person = texts_of(originals[value.column][there]), part_of(person, there)
        found = sorted(set(texts))
        wanted = None if value.level is None else _named(value.level, found)
        if value.level is not None and wanted is None:
            raise NotFitted(_no_such_level(value))
        if wanted is None and len(found) != 2:  # noqa: PLR2004 - yes and no
            raise NotFitted(_not_two_levels(value, len(found)))
        level = wanted or found[-1]
        sides = (texts == level, texts != level)
        if min(people(one, person) for one in sides) < self.min_count:
            raise NotFitted(_rare_outcome(value, self.min_count))
        if value.level is None:
            template = "What is counted is {column} = {level}."
            self.notes.append(say("analysis_level", template, column=value.column, level=level))
        return level

    def filled(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return the rows in which every column of the analysis can be used."""
        import numpy as np

        usable = np.ones(len(frame), dtype=bool)
        explained = [one for one in (self.formula.outcome, self.formula.event) if one is not None]
        for value in (*explained, *self.values):
            usable &= frame[value.column].notna().to_numpy()
            if value.function == "log":
                usable &= frame[value.column].to_numpy() > 0
            if value.column in self.levels and value not in explained:
                codes = self.levels[value.column].codes(texts_of(frame[value.column]))
                usable &= codes >= 0
        if self.kind == "cox" and self.formula.outcome is not None:
            usable &= frame[self.formula.outcome.column].to_numpy() >= 0
        return usable

    def design(self, frame: pd.DataFrame, role: str, person: NDArray[np.int64] | None) -> Design:
        """Return the matrix of one table; the names of its columns are noted once."""
        import numpy as np

        usable = self.filled(frame)
        frame, person = frame[usable], part_of(person, usable)
        columns: list[NDArray[np.float64]] = []
        names: list[str] = []
        full = not self.formula.intercept
        for term in self.formula.terms:
            parts = [self.part(value, frame, full=full and len(term) == 1) for value in term]
            if full and len(term) == 1 and is_category(term[0], self.schema):
                full = False  # The first column of categories stands for the intercept.
            for name, column in _product(parts):
                names.append(name)
                columns.append(column)
        self.names = names
        assert self.formula.outcome is not None
        event = self.formula.event
        return Design(
            rows=len(frame),
            outcome=self.numbers(self.formula.outcome, frame),
            event=None if event is None else self.numbers(event, frame),
            matrix=np.column_stack(columns) if columns else np.empty((len(frame), 0)),
            table=role,
            person=person,
        )

    def part(
        self, value: Value, frame: pd.DataFrame, *, full: bool
    ) -> list[tuple[str, NDArray[np.float64]]]:
        """Return the named columns of one value: itself, or one for each level but the first."""
        if not is_category(value, self.schema):
            name = f"log({value.column})" if value.function else value.column
            return [(name, self.numbers(value, frame))]
        levels = self.levels[value.column]
        codes = levels.codes(texts_of(frame[value.column]))
        names, reference = levels.all_names, levels.all_names[0]
        return [
            (
                f"{value.column} = {names[place]}" + ("" if full else f" (vs {reference})"),
                (codes == place).astype(float),
            )
            for place in range(0 if full else 1, len(names))
        ]

    def numbers(self, value: Value, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return a column as numbers; dates in days, a level as 0 and 1."""
        import numpy as np

        level = self.ones.get(value)
        if level is not None:
            is_level: NDArray[np.bool_] = texts_of(frame[value.column]) == level
            return is_level.astype(np.float64)
        numbers: NDArray[np.float64] = frame[value.column].to_numpy(dtype=np.float64)
        if value.function == "log":
            return np.log(numbers)
        is_date = self.schema[value.column].type == "datetime"
        return numbers / DAY_SECONDS if is_date else numbers

    def kept(self, originals: Design) -> list[int]:
        """Return the columns that vary among at least `min_count` originals."""
        enough = [
            told_apart(column, originals.person) >= self.min_count for column in originals.matrix.T
        ]
        dropped = [name for name, one in zip(self.names, enough, strict=True) if not one]
        if dropped:
            # A name may hold a level that few carry, so the dropped are counted only.
            template = (
                "Terms left out of the fit, since fewer than {min_count} originals tell them from "
                "the others: {count}."
            )
            count = len(dropped)
            self.notes.append(
                say("analysis_dropped", template, min_count=self.min_count, count=count)
            )
        return [place for place, one in enumerate(enough) if one]


def settled_levels(
    texts: NDArray[Any], min_count: int, person: NDArray[np.int64] | None = None
) -> Levels:
    """Return the levels that at least `min_count` rows carry, and the rare ones to be joined.

    "Other" itself reaches `min_count` and joins two levels or more, else the next rarest joins it.

    Parameters
    ----------
    texts : ndarray of str, shape (rows,)
    min_count : int
    person : ndarray of int64, shape (rows,), optional
        To whom each row belongs: persons are counted then.

    Returns
    -------
    Levels

    Raises
    ------
    NotFitted
        If over 50 levels would get a coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.analyses.designs import settled_levels
    >>> settled_levels(np.array(list("aaaaabbbbcccdd")), 3)
    Levels(names=('a', 'b'), joined=('c', 'd'))
    """
    import numpy as np

    found, codes = np.unique(texts.astype(str), return_inverse=True)
    pairs = codes if person is None else np.unique(np.stack([codes, person]), axis=1)[0]
    counts = np.bincount(pairs, minlength=len(found)).tolist()
    rarest_first = sorted(zip(counts, found.tolist(), range(len(found)), strict=True))
    joined = [one for one in rarest_first if one[0] < min_count]
    rest = rarest_first[len(joined) :]

    def is_enough() -> bool:
        # A single level would show itself.
        together = np.isin(codes, [place for _, _, place in joined])
        return len(joined) > 1 and people(together, person) >= min_count

    while joined and rest and not is_enough():
        joined.append(rest.pop(0))
    if len(rest) > MOST_LEVELS:
        template = "A column has {levels} levels; at most {most} get a coefficient."
        raise NotFitted(say("analysis_many_levels", template, levels=len(rest), most=MOST_LEVELS))
    names = tuple(sorted(name for _, name, _ in rest))
    return Levels(names, tuple(sorted(name for _, name, _ in joined)))


def texts_of(column: pd.Series[Any]) -> NDArray[Any]:
    """Return the cells of a column as texts; numbers without a needless .0."""
    import numpy as np

    if hasattr(column, "cat"):
        levels = np.array([*(str(one) for one in column.cat.categories), ""], dtype=object)
        return levels[column.cat.codes.to_numpy()]
    numbers = column.to_numpy()
    different, inverse = np.unique(numbers, return_inverse=True)
    return np.array([f"{one:.15g}" for one in different.tolist()], dtype=object)[inverse]


def part_of(person: NDArray[np.int64] | None, rows: NDArray[np.bool_]) -> Any:
    """Return to whom some of the rows belong."""
    return None if person is None else person[rows]


def people(rows: NDArray[np.bool_], person: NDArray[np.int64] | None) -> int:
    """Return how many people stand behind some rows.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.analyses.designs import people
    >>> people(np.array([True, True, False]), np.array([0, 0, 1]))
    1
    """
    import numpy as np

    return int(rows.sum()) if person is None else len(np.unique(person[rows]))


def told_apart(column: NDArray[np.float64], person: NDArray[np.int64] | None) -> int:
    """Return how many people differ from the most frequent value of a column.

    Of a column of two values it is the fewer of both sides.
    """
    import numpy as np

    values, counts = np.unique(column, return_counts=True)
    if not len(values):
        return 0
    rest = people(column != values[counts.argmax()], person)
    both = len(values) == 2  # noqa: PLR2004 - yes and no
    return min(rest, people(column == values[counts.argmax()], person)) if both else rest


def differing_rows(column: NDArray[np.float64]) -> int:
    """Return how many rows do not hold the most frequent value of a column."""
    import numpy as np

    _, counts = np.unique(column, return_counts=True)
    return int(len(column) - counts.max(initial=0))


def _product(
    parts: Sequence[list[tuple[str, NDArray[np.float64]]]],
) -> list[tuple[str, NDArray[np.float64]]]:
    """Return the products of one column of each part, with their names."""
    found = parts[0]
    for part in parts[1:]:
        found = [
            (f"{first} {TIMES} {second}", one * other)
            for first, one in found
            for second, other in part
        ]
    return found


def _named(level: str, found: Sequence[str]) -> str | None:
    """Return the level that a user's text names; true and false in any letters."""
    if level in found:
        return level
    near = [one for one in found if one.strip().lower() == level.strip().lower()]
    return near[0] if len(near) == 1 else None


def _joined(column: str, levels: Levels) -> Message:
    """Return the note on rare levels."""
    template = "{column}: {count} rare levels are taken together."
    count = len(levels.joined)
    return say("analysis_joined", template, column=column, count=count)


def _no_such_level(value: Value) -> Message:
    """Return the reason where no original has the level that was named."""
    template = "{column} holds no {level} among the originals; check how it is written."
    return say("analysis_no_level", template, column=value.column, level=value.level)


def _not_two_levels(value: Value, levels: int) -> Message:
    """Return the reason where an outcome of yes and no has another number of levels."""
    template = (
        "{column} has {levels} different values and needs two; name the one that counts, as in "
        '{column} == "yes".'
    )
    return say("analysis_not_two", template, column=value.column, levels=levels)


def _rare_outcome(value: Value, min_count: int) -> Message:
    """Return the reason where few originals have the outcome, or few have it not."""
    template = "{column}: fewer than {min_count} originals have the outcome, or lack it."
    return say("analysis_rare_outcome", template, column=value.column, min_count=min_count)
