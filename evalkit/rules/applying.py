"""Which rows of a table keep a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.rules.checking import DATE, LEVEL, Kinds, columns_of, date_seconds
from evalkit.rules.parsing import COMPARISONS
from evalkit.tokens import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.rules.parsing import Node
    from evalkit.schema import Schema

EQUAL = 1e-9
"""Numbers that were calculated are equal if they differ by less than this part of the larger."""
EQUAL_DATES_SECONDS = 1e-3
_CALCULATIONS = frozenset({"+", "-", "*", "/", "**", "abs"})
_TRUTH_WORDS = {"true": "True", "false": "False"}


@dataclass(frozen=True)
class Kept:
    """How many rows of one table keep a rule.

    Attributes
    ----------
    rows : int
        Rows in which the rule can be looked at.
    kept : int
        Those of them that keep it.
    left_out : int
        Rows left out: a cell that the rule needs is missing, or a result is no number.
    unknown_levels : tuple of str
        Texts of the rule that its column holds in no table.
    people_kept, people_broken : int
        Who has a row that keeps the rule, and who has one that breaks it; rows where a row is a
        person.
    """

    rows: int
    kept: int
    left_out: int
    unknown_levels: tuple[str, ...] = ()
    people_kept: int = 0
    people_broken: int = 0


def apply_rule(
    tree: Node, frame: pd.DataFrame, schema: Schema, person: NDArray[np.int64] | None = None
) -> Kept:
    """Return how many rows of a table keep a rule.

    Parameters
    ----------
    tree : Node
        From `checked_rule`, for the same schema.
    frame : pandas.DataFrame
        A table of the release: numbers, dates in seconds, categories.
    schema : Schema
    person : ndarray of int64, shape (rows,), optional
        To whom each row belongs, where a person has several.

    Returns
    -------
    Kept

    Examples
    --------
    >>> import evalkit, pandas as pd
    >>> from evalkit.rules import apply_rule, checked_rule, rule_list
    >>> table = pd.DataFrame({"start": [1, 5, 3], "end": [2, 4, None]})
    >>> release = evalkit.load(table, table)
    >>> tree = checked_rule(rule_list(["start <= end"], "schema")[0], release.schema)
    >>> apply_rule(tree, release.original, release.schema)
    Kept(rows=2, kept=1, left_out=1, unknown_levels=(), people_kept=1, people_broken=1)
    """
    return merged_kept([kept_of(tree, frame, schema, person)])


@dataclass(frozen=True, eq=False)
class KeptRows:
    """What a rule finds in some rows of a table.

    Attributes
    ----------
    rows, kept, left_out, unknown_levels
        As in `Kept`.
    people : tuple of two (int or ndarray of int64)
        Those with a row that keeps the rule, and those with one that breaks it: how many rows, or
        whose they are where a person has several.
    """

    rows: int
    kept: int
    left_out: int
    unknown_levels: tuple[str, ...]
    people: tuple[int | NDArray[np.int64], int | NDArray[np.int64]]


def kept_of(
    tree: Node, frame: pd.DataFrame, schema: Schema, person: NDArray[np.int64] | None = None
) -> KeptRows:
    """Return what a rule finds in a table, or in a piece of one: arguments as for `apply_rule`."""
    import numpy as np

    reading = _Rows(frame, schema)
    with np.errstate(all="ignore"):
        kept = reading.test(tree)
    usable = reading.defined.copy()
    for name in columns_of(tree, operands=True):
        usable &= ~reading.missing(name)
    rows = int(usable.sum())
    sides = (kept & usable, ~kept & usable)
    number = int(sides[0].sum())
    behind = (
        (number, rows - number)
        if person is None
        else (np.unique(person[sides[0]]), np.unique(person[sides[1]]))
    )
    return KeptRows(rows, number, len(frame) - rows, tuple(reading.unknown), behind)


def merged_kept(pieces: Sequence[KeptRows]) -> Kept:
    """Return what a rule finds in all pieces of a table together, in any order.

    Parameters
    ----------
    pieces : sequence of KeptRows
        At least one.

    Returns
    -------
    Kept
    """
    import numpy as np

    def people(side: int) -> int:
        found = [one.people[side] for one in pieces]
        if all(isinstance(one, int) for one in found):
            return sum(int(one) for one in found)
        return len(np.unique(np.concatenate([np.atleast_1d(one) for one in found])))

    unknown = dict.fromkeys(text for one in pieces for text in one.unknown_levels)
    return Kept(
        sum(one.rows for one in pieces),
        sum(one.kept for one in pieces),
        sum(one.left_out for one in pieces),
        tuple(unknown),
        people(0),
        people(1),
    )


class _Rows:
    """The values of the nodes of a rule in each row of one table."""

    def __init__(self, frame: pd.DataFrame, schema: Schema) -> None:
        import numpy as np

        self.frame = frame
        self.kinds = Kinds(schema, Place("rule"))
        self.defined: NDArray[np.bool_] = np.ones(len(frame), dtype=bool)
        self.unknown: dict[str, None] = {}

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Return which rows have no cell in a column."""
        return self.frame[name].isna().to_numpy()

    def test(self, node: Node) -> NDArray[np.bool_]:
        """Return which rows pass a test."""
        if node.form in {"not", "->", "and", "or"}:
            return self.joined(node)
        if node.form == "missing":
            return self.missing(node.parts[0].value)
        if node.form in COMPARISONS:
            return self.compared(node.form, *node.parts)
        return self.among(*node.parts, in_range=node.form == "range")

    def joined(self, node: Node) -> NDArray[np.bool_]:
        """Return which rows pass tests that are joined."""
        passed = self.test(node.parts[0])
        if node.form == "not":
            return ~passed
        if node.form == "->":
            return ~passed | self.test(node.parts[1])
        for part in node.parts[1:]:
            other = self.test(part)
            passed = passed & other if node.form == "and" else passed | other
        return passed

    def among(self, left: Node, *members: Node, in_range: bool) -> NDArray[np.bool_]:
        """Return in which rows a value lies in a range or is one of a list."""
        if in_range:
            low, high = members
            return self.compared("<=", low, left) & self.compared("<=", left, high)
        passed = self.compared("==", left, members[0])
        for member in members[1:]:
            passed = passed | self.compared("==", left, member)
        return passed

    def compared(self, sign: str, left: Node, right: Node, *tolerance: Node) -> NDArray[np.bool_]:
        """Return which rows pass a comparison."""
        kind = self.kinds.same(left, right, left)
        if kind == LEVEL:
            same = self.same_level(left, right)
            return same if sign == "==" else ~same
        first, second = self.value(left, kind), self.value(right, kind)
        near = self.nearness(kind, (left, right), (first, second))
        if tolerance:
            near = near + abs(self.value(tolerance[0], ""))
        return self.ordered(sign, first, second, near)

    def nearness(self, kind: str, nodes: tuple[Node, Node], values: tuple[Any, Any]) -> Any:
        """Return how near two values must be to be equal: 0 unless something was calculated."""
        import numpy as np

        if not any(_calculates(node) for node in nodes):
            return 0
        if kind == DATE:
            return EQUAL_DATES_SECONDS
        return EQUAL * np.maximum(np.abs(values[0]), np.abs(values[1]))

    def ordered(self, sign: str, first: Any, second: Any, near: Any) -> NDArray[np.bool_]:
        """Compare two columns of numbers; rows in which one is no number are noted."""
        import numpy as np

        for one in (first, second, near):
            self.defined &= np.isfinite(one)
        if np.ndim(near) == 0 and near == 0:
            same = first == second
        else:
            same = np.abs(first - second) <= near
        passed = {
            "==": lambda: same,
            "!=": lambda: ~same,
            "<=": lambda: (first < second) | same,
            ">=": lambda: (first > second) | same,
            "<": lambda: (first < second) & ~same,
            ">": lambda: (first > second) & ~same,
        }[sign]()
        return np.broadcast_to(passed, len(self.frame))

    def value(self, node: Node, kind: str) -> Any:
        """Return the numbers of a node: one for each row, or one for all."""
        import numpy as np

        if node.form == "column":
            return self.frame[node.value].to_numpy()
        if node.form == "date" or (node.form == "text" and kind == DATE):
            return date_seconds(node, self.kinds.place)
        if node.form in {"number", "duration"}:
            return node.number
        values = [np.asarray(self.value(part, ""), dtype=np.float64) for part in node.parts]
        if node.form == "**":
            return values[0] ** node.number
        if node.form in {"minus", "abs"}:
            return -values[0] if node.form == "minus" else np.abs(values[0])
        first, second = values
        return {
            "+": lambda: first + second,
            "-": lambda: first - second,
            "*": lambda: first * second,
            "/": lambda: first / second,
        }[node.form]()

    def same_level(self, left: Node, right: Node) -> NDArray[np.bool_]:
        """Return in which rows two levels are the same."""
        import numpy as np

        columns = [node for node in (left, right) if node.form == "column"]
        if not columns:
            same = _plain(left.value) == _plain(right.value)
            return np.full(len(self.frame), same)
        cells = self.frame[columns[0].value].array
        codes = np.asarray(cells.codes)
        levels = [str(level) for level in cells.categories]
        if len(columns) == 1:
            wanted = right.value if left is columns[0] else left.value
            return np.isin(codes, self.places(levels, wanted))
        others = self.frame[columns[1].value].array
        index = {level: place for place, level in enumerate(levels)}
        places = np.array([*(index.get(str(one), -2) for one in others.categories), -3])
        same_code: NDArray[np.bool_] = codes == places[np.asarray(others.codes)]
        return same_code

    def places(self, levels: list[str], wanted: str) -> list[int]:
        """Return the places of the level that a text names, noting a text that names none."""
        exact = [place for place, level in enumerate(levels) if level == wanted]
        found = exact or [
            place for place, level in enumerate(levels) if _plain(level) == _plain(wanted)
        ]
        if not found:
            self.unknown[wanted] = None
        return found


def _plain(text: str) -> str:
    """Return a level without outer blanks, true and false as they are stored, numbers by value."""
    trimmed = text.strip()
    try:
        return repr(float(trimmed))
    except ValueError:
        return _TRUTH_WORDS.get(trimmed.lower(), trimmed)


def _calculates(node: Node) -> bool:
    """Return whether a value is calculated rather than read."""
    return node.form in _CALCULATIONS or any(_calculates(part) for part in node.parts)
