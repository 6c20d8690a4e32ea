"""Read a formula such as ``y ~ age + C(town)`` by a small grammar; nothing of it is ever run.

formula  = outcome "~" terms
outcome  = value ["==" level] | "Surv" "(" column "," column ["==" level] ")"
terms    = ["-"] part {("+" | "-") part}
part     = "0" | "1" | product
product  = joined {"*" joined}                 a*b is a + b + a:b
joined   = value {":" value}
value    = column | "C" "(" column ")" | "log" "(" column ")"
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from evalkit.tokens import Reader, seen, tokens

if TYPE_CHECKING:
    from evalkit.tokens import Place, Token

MOST_TERMS = 40
MOST_FACTORS = 3
FUNCTIONS = ("C", "log")
ALLOWED = (
    "a formula is written as outcome ~ age + C(town) + log(income) + age:sex, with a*b for "
    "a + b + a:b and 0 for no intercept"
)
_SIGNS = {"~", "+", "-", "*", ":", "(", ")", ",", "=="}


@dataclass(frozen=True)
class Value:
    """A column in a formula and what is done to it.

    Attributes
    ----------
    column : str
    function : str
        ``"C"`` for categories, ``"log"`` for the natural logarithm, else empty.
    level : str, optional
        Of an outcome: the level that counts as 1.
    position : int
        From 1.
    """

    column: str
    function: str = ""
    level: str | None = None
    position: int = 1


@dataclass(frozen=True)
class Formula:
    """What is explained by what.

    Attributes
    ----------
    outcome : Value, optional
        None where only terms were given.
    event : Value, optional
        Of ``Surv(time, event)``, whose time is the outcome.
    terms : tuple of tuple of Value
        Each a product of one or several columns.
    intercept : bool
    """

    outcome: Value | None
    event: Value | None
    terms: tuple[tuple[Value, ...], ...]
    intercept: bool = True


def parse_formula(text: str, place: Place) -> Formula:
    """Return the parts of a formula; names of columns are not looked up.

    Parameters
    ----------
    text : str
        What the user wrote.
    place : Place
        Where it stands, for messages.

    Returns
    -------
    Formula

    Raises
    ------
    evalkit.InputError
        Naming the position and what may stand there.

    Examples
    --------
    >>> from evalkit.analyses.formulas import parse_formula
    >>> from evalkit.tokens import Place
    >>> found = parse_formula("income ~ age * C(town)", Place("analysis 1"))
    >>> [[value.column for value in term] for term in found.terms]
    [['age'], ['town'], ['age', 'town']]
    """
    reader = _Grammar(tokens(text, place, _SIGNS), place)
    outcome = event = None
    if any(token.value == "~" and token.kind == "sign" for token in reader.found):
        if not reader.meets("~"):
            outcome, event = reader.outcome()
        reader.expect("~", "between outcome and terms")
    terms, intercept = reader.terms()
    return Formula(outcome, event, terms, intercept)


def parse_event(text: str, place: Place) -> Value:
    """Return a column, perhaps with the level that counts as 1, as in ``status == "dead"``."""
    reader = _Grammar(tokens(text, place, {"=="}), place)
    found = reader.levelled(reader.column())
    reader.ends()
    return found


class _Grammar(Reader):
    """One method to a line of the grammar above."""

    def outcome(self) -> tuple[Value, Value | None]:
        """Read what stands before ~."""
        token = self.token
        if not (token.kind == "name" and token.value == "Surv"):
            return self.levelled(self.value()), None
        self.take()
        self.expect("(", "after Surv")
        time = self.column()
        self.expect(",", "between time and event")
        event = self.levelled(self.column())
        self.expect(")", "to close Surv")
        return time, event

    def levelled(self, value: Value) -> Value:
        """Read the level that counts as 1, if one follows."""
        if not self.takes("=="):
            return value
        token = self.take()
        if token.kind not in {"text", "number"} and token.value not in {"true", "false"}:
            raise self.refusal("a level in quotation marks or a number must follow ==.", token)
        return Value(value.column, value.function, token.value, value.position)

    def terms(self) -> tuple[tuple[tuple[Value, ...], ...], bool]:
        """Read the terms and whether there is an intercept."""
        found: dict[tuple[tuple[str, str], ...], tuple[Value, ...]] = {}
        intercept, sign = True, "-" if self.takes("-") else "+"
        while True:
            if self.token.kind == "number":
                intercept = self.number(sign, intercept=intercept)
            elif sign == "-":
                raise self.refusal("only 1 can be taken away, for a fit without intercept.")
            else:
                for term in self.product():
                    found[tuple(sorted((one.column, one.function) for one in term))] = term
            if not self.meets("+", "-"):
                break
            sign = self.take().value
        self.ends()
        if len(found) > MOST_TERMS:
            raise self.place.refusal(f"there are {len(found)} terms; at most {MOST_TERMS}.")
        if not found:
            raise self.place.refusal(f"there is no term; {ALLOWED}.")
        # Single columns first, as everywhere else.
        return tuple(sorted(found.values(), key=len)), intercept

    def number(self, sign: str, *, intercept: bool) -> bool:
        """Read a 0 or 1 and return whether there is an intercept."""
        token = self.take()
        if token.value not in {"0", "1"}:
            raise self.refusal("the only numbers of a formula are 0 and 1.", token)
        if token.value == "1":
            return sign == "+"
        return intercept if sign == "-" else False

    def product(self) -> list[tuple[Value, ...]]:
        """Read columns joined by * and return every product of some of them."""
        parts = [self.joined()]
        while self.takes("*"):
            parts.append(self.joined())
            if len(parts) > MOST_FACTORS:
                raise self.refusal(f"at most {MOST_FACTORS} columns are multiplied.")
        chosen = [some for size in range(1, len(parts) + 1) for some in combinations(parts, size)]
        terms = [tuple(value for part in some for value in part) for some in chosen]
        for term in terms:
            if len({one.column for one in term}) < len(term) or len(term) > MOST_FACTORS:
                fault = f"a product joins two or {MOST_FACTORS} different columns."
                raise self.place.refusal(fault, term[0].position)
        return terms

    def joined(self) -> tuple[Value, ...]:
        """Read columns joined by a colon."""
        parts = [self.value()]
        while self.takes(":"):
            parts.append(self.value())
        return tuple(parts)

    def value(self) -> Value:
        """Read a column, alone or within C() or log()."""
        token = self.token
        following = self.found[min(self.at + 1, len(self.found) - 1)]
        if token.kind != "name" or following.value != "(" or following.kind != "sign":
            return self.column()
        if token.value not in FUNCTIONS:
            raise self.refusal(f"{seen(token)} cannot be called; C and log can; {ALLOWED}.")
        self.take()
        self.take()
        inner = self.column()
        self.expect(")", f"to close {token.value}")
        return Value(inner.column, token.value, position=inner.position)

    def column(self) -> Value:
        """Read the name of a column."""
        token: Token = self.take()
        if token.kind not in {"name", "quoted"}:
            raise self.refusal(f"{seen(token)} stands where a column must; {ALLOWED}.", token)
        return Value(token.value, position=token.position)

    def ends(self) -> None:
        """Refuse what follows a complete formula."""
        if self.token.kind != "end":
            raise self.refusal(f"{seen(self.token)} cannot follow here; {ALLOWED}.")
