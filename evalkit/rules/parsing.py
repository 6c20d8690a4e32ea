"""Read a rule into a tree of a few fixed forms, by a grammar of our own.

rule        = either ["->" rule]
either      = both {"or" both}
both        = denied {"and" denied}
denied      = "not" denied | comparison
comparison  = sum {operator sum} ["±" sum] | sum ["not"] "in" set | sum "is" ["not"] "missing"
sum         = product {("+" | "-") product}
product     = factor {("*" | "/") factor}
factor      = ("+" | "-") factor | power
power       = atom ["**" number]
atom        = number [unit] | date | text | column | "abs" "(" rule ")" | "(" rule ")"
set         = sum ".." sum | ("[" | "{" | "(") value {"," value} ("]" | "}" | ")")
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.tokens import Reader, seen, tokens

if TYPE_CHECKING:
    from evalkit.tokens import Place, Token

DEEPEST = 40
LARGEST_EXPONENT = 10.0
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
WORDS = ("and", "or", "not", "in", "is", "missing", "true", "false", "abs", "implies")
SECONDS = {
    "second": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": 86400.0,
    "week": 604800.0,
}
"""Seconds in one unit of time; a plural means the same."""
ALLOWED = (
    "a rule compares columns, numbers, dates and texts with < <= > >= == != in, "
    "calculates with + - * / ** abs(), and joins with and, or, not, ->"
)
_SIGNS = {*COMPARISONS, *"+-*/()[]{},&|~", "**", "->", "±", "..", "="}
_SIGNS -= {"="}
_CLOSING = {"[": "]", "{": "}", "(": ")"}


@dataclass(frozen=True)
class Node:
    """One form of a rule and where it begins.

    Attributes
    ----------
    form : str
        ``"number"``, ``"duration"``, ``"date"``, ``"text"``, ``"truth"``, ``"column"``, ``"abs"``,
        ``"minus"``, ``"not"``, one of ``+ - * / **``, a comparison, ``"chain"``, ``"in"``,
        ``"range"``, ``"missing"``, ``"and"``, ``"or"`` or ``"->"``.
    parts : tuple of Node
        What it is made of.
    value : str
        Name of the column, the text, or the number as it was written.
    number : float
        The value of a number, in seconds for a duration; the tolerance of a comparison.
    position : int
        From 1.
    """

    form: str
    position: int
    parts: tuple[Node, ...] = ()
    value: str = ""
    number: float = 0.0


def parse_rule(text: str, place: Place) -> Node:
    """Return the tree of a rule; names of columns are not looked up.

    Parameters
    ----------
    text : str
        What the user wrote.
    place : Place
        Where it stands, for messages.

    Returns
    -------
    Node

    Raises
    ------
    evalkit.InputError
        Naming the position and what may stand there.

    Examples
    --------
    >>> from evalkit.rules import parse_rule
    >>> from evalkit.tokens import Place
    >>> tree = parse_rule("0 <= age <= 120", Place("rule 1"))
    >>> tree.form, [part.form for part in tree.parts]
    ('and', ['<=', '<='])
    """
    reader = _Grammar(tokens(text, place, _SIGNS), place)
    if reader.token.kind == "end":
        raise place.refusal(f"the rule is empty; {ALLOWED}.")
    tree = reader.rule()
    if reader.token.kind != "end":
        raise reader.refusal(f"{seen(reader.token)} cannot follow what stands before; {ALLOWED}.")
    return tree


class _Grammar(Reader):
    """One method to a line of the grammar above."""

    depth = 0

    def rule(self) -> Node:
        """Read an implication; the depth of nesting is counted here and in `factor`."""
        self.deeper()
        left, token = self.either(), self.token
        if self.takes("->", "implies"):
            left = Node("->", token.position, (left, self.rule()))
        self.depth -= 1
        return left

    def deeper(self) -> None:
        """Count one level of nesting."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refusal(f"nested over {DEEPEST} levels deep; write several rules.")

    def either(self) -> Node:
        """Read what is joined by or."""
        return self.joined("or", self.both, "or", "|")

    def both(self) -> Node:
        """Read what is joined by and."""
        return self.joined("and", self.denied, "and", "&")

    def joined(self, form: str, inner: _Inner, *signs: str) -> Node:
        """Read a list joined by one of `signs`, from left to right."""
        parts, token = [inner()], self.token
        while self.takes(*signs):
            parts.append(inner())
        return Node(form, token.position, tuple(parts)) if len(parts) > 1 else parts[0]

    def denied(self) -> Node:
        """Read a negation."""
        token = self.token
        if not self.takes("not", "~"):
            return self.comparison()
        self.deeper()
        found = Node("not", token.position, (self.denied(),))
        self.depth -= 1
        return found

    def comparison(self) -> Node:
        """Read one or several comparisons in a chain, a membership, or a test for missing."""
        parts, operators = [self.sum()], []
        if self.meets("in", "not", "is"):
            return self.of_set(parts[0])
        while self.meets(*COMPARISONS):
            operators.append(self.take())
            parts.append(self.sum())
        if not operators:
            return parts[0]
        tolerance = self.tolerance(operators)
        pairs = [
            Node(sign.value, sign.position, (left, right, *tolerance))
            for sign, left, right in zip(operators, parts, parts[1:], strict=False)
        ]
        return pairs[0] if len(pairs) == 1 else Node("and", operators[0].position, tuple(pairs))

    def tolerance(self, operators: list[Token]) -> tuple[Node, ...]:
        """Read what follows ±, which belongs to one == or !=."""
        token = self.token
        if not self.takes("±"):
            return ()
        if len(operators) != 1 or operators[0].value not in {"==", "!="}:
            raise self.refusal("± belongs to a single == or !=, as in a == b ± 0.1.", token)
        return (self.sum(),)

    def of_set(self, left: Node) -> Node:
        """Read what follows a value: in, not in, is missing, is not missing."""
        token = self.token
        if self.takes("is"):
            denied = self.takes("not")
            if not self.takes("missing"):
                raise self.refusal(f"{seen(self.token)} stands where missing must, after is.")
            found = Node("missing", token.position, (left,))
        else:
            denied = self.takes("not")
            if not self.takes("in"):
                raise self.refusal(f"{seen(self.token)} stands where in must, after not.")
            found = self.members(left, token)
        return Node("not", token.position, (found,)) if denied else found

    def members(self, left: Node, token: Token) -> Node:
        """Read a range such as 18..65, or a list of values in brackets."""
        opening = self.token.value if self.meets("[", "{", "(") else ""
        if opening in {"", "("}:
            start = self.at
            low = self.sum() if not opening else self.low_end()
            if low is not None and self.takes(".."):
                return Node("range", token.position, (left, low, self.sum()))
            self.at = start
        if not opening:
            fault = f"{seen(self.token)} cannot follow in; write in [1, 2, 3] or in 18..65."
            raise self.refusal(fault)
        self.take()
        values = [self.sum()]
        while self.takes(",") and not self.meets(_CLOSING[opening]):
            values.append(self.sum())
        self.expect(_CLOSING[opening], "to close the list")
        return Node("in", token.position, (left, *values))

    def low_end(self) -> Node | None:
        """Return the lower end of a range that begins with a bracket, if that is what it is."""
        start, level = self.at, 0
        while self.token.kind != "end":
            level += self.meets("(") - self.meets(")")
            self.take()
            if level == 0:
                break
        is_range = self.meets("..", "+", "-", "*", "/", "**")
        self.at = start
        return self.sum() if is_range else None

    def sum(self) -> Node:
        """Read additions and subtractions from left to right."""
        return self.calculated(self.product, "+", "-")

    def product(self) -> Node:
        """Read multiplications and divisions from left to right."""
        return self.calculated(self.factor, "*", "/")

    def calculated(self, inner: _Inner, *signs: str) -> Node:
        """Read values joined by signs of one rank."""
        left = inner()
        while self.meets(*signs):
            sign = self.take()
            left = Node(sign.value, sign.position, (left, inner()))
        return left

    def factor(self) -> Node:
        """Read a sign before a value."""
        token = self.token
        if not self.takes("-", "+"):
            return self.power()
        self.deeper()
        inner = self.factor()
        self.depth -= 1
        return Node("minus", token.position, (inner,)) if token.value == "-" else inner

    def power(self) -> Node:
        """Read a power, whose exponent is a number written out."""
        left, token = self.atom(), self.token
        if not self.takes("**"):
            return left
        sign = -1.0 if self.takes("-") else 1.0
        exponent = self.take()
        if exponent.kind != "number" or abs(float(exponent.value)) > LARGEST_EXPONENT:
            fault = f"the exponent must be a number of at most {LARGEST_EXPONENT:g} after **."
            raise self.refusal(fault, exponent)
        if self.meets("**"):
            raise self.refusal("a power of a power is not read; use brackets.")
        return Node("**", token.position, (left,), number=sign * float(exponent.value))

    def atom(self) -> Node:
        """Read a value that holds no sign, or anything in brackets."""
        token = self.take()
        if token.kind == "number":
            return self.measured(token)
        if token.kind in {"date", "text"}:
            return Node(token.kind, token.position, value=token.value)
        if token.kind == "quoted" or (token.kind == "name" and token.value not in WORDS):
            return self.column(token)
        if token.kind == "name" and token.value in {"true", "false"}:
            return Node("truth", token.position, value=token.value)
        if token.kind == "name" and token.value == "abs":
            self.expect("(", "after abs")
            return Node("abs", token.position, (self.closed(),))
        if token.kind == "sign" and token.value == "(":
            return self.closed()
        raise self.refusal(f"{seen(token)} stands where a value must; {ALLOWED}.", token)

    def column(self, token: Token) -> Node:
        """Return a column; what looks like a call of a function is refused."""
        if token.kind == "name" and self.meets("("):
            fault = f"{seen(token)} cannot be called; abs is the one function of a rule."
            raise self.refusal(fault, token)
        return Node("column", token.position, value=token.value)

    def closed(self) -> Node:
        """Read what stands in brackets, the opening one being read."""
        inner = self.rule()
        self.expect(")", "to close the bracket")
        return inner

    def measured(self, token: Token) -> Node:
        """Return a number, or a duration if a unit of time follows."""
        number = float(token.value)
        if not math.isfinite(number):
            raise self.refusal("the number is too large.", token)
        unit = self.token.value.removesuffix("s") if self.token.kind == "name" else ""
        if unit not in SECONDS:
            return Node("number", token.position, value=token.value, number=number)
        self.take()
        return Node("duration", token.position, value=unit, number=number * SECONDS[unit])


if TYPE_CHECKING:
    from collections.abc import Callable

    _Inner = Callable[[], Node]
