"""What each part of a rule is: a number, a date, a length of time, a level, or true or false."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from evalkit.given_values import shown
from evalkit.rules.parsing import COMPARISONS

if TYPE_CHECKING:
    from evalkit.rules.listing import Rule
    from evalkit.rules.parsing import Node
    from evalkit.schema import Schema
    from evalkit.tokens import Place

NUMBER, DATE, DURATION, LEVEL, TRUTH = "a number", "a date", "a length of time", "a text", "a test"
_NAMED: Final = {"number": NUMBER, "duration": DURATION, "date": DATE, "text": LEVEL}
_NAMED_TRUTH: Final = {**_NAMED, "truth": LEVEL}
_LITERALS: Final = frozenset(_NAMED_TRUTH)
_CALCULATED: Final = {
    ("+", NUMBER, NUMBER): NUMBER,
    ("-", NUMBER, NUMBER): NUMBER,
    ("+", DATE, DURATION): DATE,
    ("+", DURATION, DATE): DATE,
    ("-", DATE, DURATION): DATE,
    ("-", DATE, DATE): DURATION,
    ("+", DURATION, DURATION): DURATION,
    ("-", DURATION, DURATION): DURATION,
    ("*", NUMBER, NUMBER): NUMBER,
    ("/", NUMBER, NUMBER): NUMBER,
    ("*", NUMBER, DURATION): DURATION,
    ("*", DURATION, NUMBER): DURATION,
    ("/", DURATION, NUMBER): DURATION,
    ("/", DURATION, DURATION): NUMBER,
}


def checked_rule(rule: Rule, schema: Schema) -> Node:
    """Return the tree of a rule whose columns exist and whose parts go together.

    Parameters
    ----------
    rule : Rule
    schema : Schema
        Columns of the release.

    Returns
    -------
    Node

    Raises
    ------
    evalkit.InputError
        Naming the rule, the position and what is allowed; the nearest column if one is unknown.

    Examples
    --------
    >>> from evalkit.rules import checked_rule, rule_list
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"),))
    >>> checked_rule(rule_list(["age >= 18"], "schema")[0], schema).form
    '>='
    """
    from evalkit.rules.parsing import parse_rule

    tree = parse_rule(rule.text, rule.place)
    found = Kinds(schema, rule.place).of(tree)
    if found != TRUTH:
        fault = f"the rule is {found} and no test; compare it with something."
        raise rule.place.refusal(fault, tree.position)
    if not columns_of(tree):
        raise rule.place.refusal("the rule names no column.", 1)
    return tree


def columns_of(node: Node, *, operands: bool = False) -> set[str]:
    """Return the columns in a tree; only those that a row must have filled if `operands`.

    Examples
    --------
    >>> from evalkit.rules import parse_rule
    >>> from evalkit.rules.checking import columns_of
    >>> from evalkit.tokens import Place
    >>> tree = parse_rule('sex == "M" -> births is missing', Place("rule 1"))
    >>> sorted(columns_of(tree)), sorted(columns_of(tree, operands=True))
    (['births', 'sex'], ['sex'])
    """
    if node.form == "column":
        return {node.value}
    if operands and node.form == "missing":
        return set()
    return set().union(*(columns_of(part, operands=operands) for part in node.parts))


class Kinds:
    """What each node of a rule is, for the columns of one schema.

    Parameters
    ----------
    schema : Schema
    place : Place
        Where the rule stands, for messages.
    """

    def __init__(self, schema: Schema, place: Place) -> None:
        self.schema = schema
        self.place = place

    def of(self, node: Node) -> str:
        """Return what a node is; refuse parts that do not go together."""
        if node.form in _NAMED_TRUTH:
            return _NAMED_TRUTH[node.form]
        checks = {
            "column": self.column,
            "in": self.membership,
            "range": self.membership,
            "missing": self.missing,
            **dict.fromkeys(COMPARISONS, self.comparison),
            **dict.fromkeys(("and", "or", "not", "->"), self.joined),
        }
        return checks.get(node.form, self.calculated)(node)

    def column(self, node: Node) -> str:
        """Return what a column holds."""
        names = [variable.name for variable in self.schema.variables]
        if node.value not in self.schema:
            error = self.place.no_column(node.value, node.position, names)
            raise type(error)(f"{error} A value goes in quotation marks.")
        variable = self.schema[node.value]
        if not variable.used:
            why = "identifier" if variable.identifier else variable.type
            fault = (
                f"column {shown(node.value)} was left out ({why} or ignored), so no rule can use "
                "it; give its type in the schema or drop the rule."
            )
            raise self.place.refusal(fault, node.position)
        return {"numeric": NUMBER, "datetime": DATE}.get(variable.type, LEVEL)

    def comparison(self, node: Node) -> str:
        """Check both sides of a comparison and its tolerance."""
        left, right, *tolerance = node.parts
        kind = self.same(left, right, node)
        if kind == LEVEL and (node.form not in {"==", "!="} or tolerance):
            fault = "texts have no order; compare them with ==, != or in."
            raise self.place.refusal(fault, node.position)
        if tolerance:
            wanted = DURATION if kind == DATE else kind
            if self.of(tolerance[0]) != wanted:
                fault = f"what follows ± must be {wanted}."
                raise self.place.refusal(fault, tolerance[0].position)
        return TRUTH

    def membership(self, node: Node) -> str:
        """Check a value against each member of a list, or both ends of a range."""
        left, *members = node.parts
        kinds = {self.same(left, member, node) for member in members}
        if node.form == "range" and LEVEL in kinds:
            raise self.place.refusal("texts have no order; list them: in [1, 2].", node.position)
        return TRUTH

    def same(self, left: Node, right: Node, node: Node) -> str:
        """Return what both sides are once a literal is read as the other side needs it."""
        first, second = self.of(left), self.of(right)
        for kind, other, literal in ((first, second, right), (second, first, left)):
            if literal.form not in _LITERALS or kind == other:
                continue
            if kind == LEVEL:
                return LEVEL
            if kind == DATE and literal.form == "text":
                date_seconds(literal, self.place)
                return DATE
        if TRUTH in {first, second}:
            raise self.place.refusal("a test cannot be compared; join tests.", node.position)
        if first != second:
            fault = f"{first} is compared with {second}; {_remedy({first, second})}"
            raise self.place.refusal(fault, node.position)
        for literal in (left, right):
            if literal.form == "date":
                date_seconds(literal, self.place)
        return first

    def missing(self, node: Node) -> str:
        """Check that a test for missing is about a column."""
        if node.parts[0].form != "column":
            raise self.place.refusal("only a column can be missing.", node.position)
        self.of(node.parts[0])
        return TRUTH

    def joined(self, node: Node) -> str:
        """Check that tests are joined."""
        for part in node.parts:
            found = self.of(part)
            if found != TRUTH:
                fault = f"{node.form} joins tests, and this is {found}; compare it with something."
                raise self.place.refusal(fault, part.position)
        return TRUTH

    def calculated(self, node: Node) -> str:
        """Return what a calculation gives."""
        kinds = [self.of(part) for part in node.parts]
        if node.form in {"abs", "minus"} and kinds[0] in {NUMBER, DURATION}:
            return kinds[0]
        if node.form == "**" and kinds[0] == NUMBER:
            return NUMBER
        found = _CALCULATED.get((node.form, *kinds)) if len(kinds) > 1 else None  # type: ignore[arg-type]
        if found is None:
            fault = f"{' and '.join(kinds)} cannot be calculated with {node.form}."
            raise self.place.refusal(fault, node.position)
        if DATE in kinds:
            for part in node.parts:
                if part.form == "date":
                    date_seconds(part, self.place)
        return found


def _remedy(kinds: set[str]) -> str:
    """Return how two sides can be made to go together."""
    if DURATION in kinds:
        return "give a number its unit, as in 30 days."
    if DATE in kinds:
        return "write a date as 2020-01-31."
    return (
        "a text in quotation marks belongs to a column of categories, a number to one of numbers."
    )


def date_seconds(node: Node, place: Place) -> float:
    """Return a written date as seconds since 1970, as the columns of dates hold them.

    Raises
    ------
    evalkit.InputError
        If it is no date of the form 2020-01-31, with a time or without.

    Examples
    --------
    >>> from evalkit.rules.checking import date_seconds
    >>> from evalkit.rules.parsing import Node
    >>> from evalkit.tokens import Place
    >>> date_seconds(Node("date", 1, value="1970-01-02"), Place("rule 1"))
    86400.0
    """
    try:
        moment = datetime.fromisoformat(node.value.strip())
    except ValueError:
        fault = f"{shown(node.value)} is no date; write one as 2020-01-31 or 2020-01-31 12:30."
        raise place.refusal(fault, node.position) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
