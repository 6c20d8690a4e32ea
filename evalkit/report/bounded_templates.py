"""The engine for templates that may come from a stranger: no way out, and no way to grow.

On top of Jinja's sandbox, what can make a short template write without end is counted or
refused: repeating and padding texts, powers, loops, calls, and everything that is written.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

from jinja2 import StrictUndefined, nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from evalkit.report.formats import FILTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LARGEST_OUTPUT: Final = 64_000_000
"""Characters that one rendering may write, those written twice counted twice."""
LARGEST_TEXT: Final = 1_000_000
LARGEST_NUMBER: Final = 10.0**30
_COST_OF_A_CALL: Final = 500
_COST_OF_A_ROUND: Final = 50
_GROWING: Final = frozenset(
    {"center", "expandtabs", "format", "format_map", "join", "ljust", "replace", "rjust"}
    | {"translate", "zfill"}
)
"""Methods of texts by which a short text becomes a long one."""
_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "*": operator.mul,
    "%": operator.mod,
    "**": operator.pow,
}
_HIGHEST_POWER: Final = 64
_MOST_DECIMALS: Final = 12
_SHOWN_REASON: Final = 200


class TooMuchError(SecurityError):
    """A template that would write or compute without end."""


class BoundedEnvironment(SandboxedEnvironment):
    """Sandbox with a budget for one rendering; make a new one for each.

    Parameters
    ----------
    finalize : callable
        Turns each value into text, as in `jinja2.Environment`.
    **options
        Those of `jinja2.Environment`.

    Examples
    --------
    >>> from evalkit.report.bounded_templates import BoundedEnvironment
    >>> BoundedEnvironment(str).from_string("{{ 2 * 3 }}").render()
    '6'
    >>> BoundedEnvironment(str).from_string("{{ 'x' * 10**9 }}").render()
    Traceback (most recent call last):
    evalkit.report.bounded_templates.TooMuchError: '*' may join numbers only
    """

    intercepted_binops = frozenset(_OPERATORS)

    def __init__(self, finalize: Callable[[Any], Any], **options: Any) -> None:
        def counted(value: Any) -> Any:
            written = finalize(value)
            self.spend(len(str(written)))
            return written

        super().__init__(autoescape=True, undefined=StrictUndefined, finalize=counted, **options)
        self.left = LARGEST_OUTPUT
        self.filters = {name: _with_few_decimals(one) for name, one in FILTERS.items()}
        self.filters |= {"evalkit_rounds": self._rounds, "evalkit_text": self._short}
        self.globals = {}

    def spend(self, characters: int) -> None:
        """Take what is written from the budget."""
        self.left -= characters
        if self.left < 0:
            raise TooMuchError("it writes more than a report can hold")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        """Compute with numbers; texts and lists may be added while they stay short."""
        if operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            self._short_enough(len(left) + len(right))
            return left + right
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise TooMuchError(f"{operator!r} may join numbers only")
        if operator == "**" and abs(right) > _HIGHEST_POWER:
            raise TooMuchError("the power is too high")
        found = _OPERATORS[operator](left, right)
        if isinstance(found, complex) or not abs(found) <= LARGEST_NUMBER:
            raise TooMuchError("the number is too large")
        return found

    def call(self, context: Any, function: Any, *arguments: Any, **named: Any) -> Any:
        """Call what the sandbox allows, at a price."""
        self.spend(_COST_OF_A_CALL)
        return super().call(context, function, *arguments, **named)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse the methods by which a text grows, on top of what the sandbox refuses."""
        return attr not in _GROWING and super().is_safe_attribute(obj, attr, value)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Return the tree of a template with every loop and every joining counted."""
        tree: nodes.Template = _Counting(self).visit(super()._parse(source, name, filename))
        return tree

    def _rounds(self, rows: Iterable[Any], written: int) -> Iterator[Any]:
        """Return what a loop goes over; each round pays for the text that it writes."""
        for row in rows:
            self.spend(_COST_OF_A_ROUND + written)
            yield row

    def _short(self, parts: Any) -> Any:
        """Return a joined text if it is short enough."""
        self._short_enough(len(parts))
        return parts

    @staticmethod
    def _short_enough(length: int) -> None:
        if length > LARGEST_TEXT:
            raise TooMuchError("a text or list becomes too long")


class _Counting(NodeTransformer):
    """Puts a counter around what loops go over, and around texts that are joined."""

    def __init__(self, environment: BoundedEnvironment) -> None:
        self._environment = environment

    def _through(self, name: str, node: Any, *arguments: nodes.Expr) -> nodes.Filter:
        return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)

    def visit_For(  # noqa: N802 - the name that Jinja asks for
        self, node: nodes.For
    ) -> nodes.For:
        """Count the rounds, by the fixed text that one of them writes."""
        self.generic_visit(node)
        written = sum(
            len(one.data) for part in node.body for one in part.find_all(nodes.TemplateData)
        )
        price = nodes.Const(written, lineno=node.lineno)
        node.iter = self._through("evalkit_rounds", node.iter, price)
        return node

    def visit_Concat(  # noqa: N802 - the same
        self, node: nodes.Concat
    ) -> nodes.Filter:
        """Bound a joined text."""
        self.generic_visit(node)
        return self._through("evalkit_text", node)


def _with_few_decimals(function: Any) -> Callable[..., str]:
    """Return a filter that writes no number with more decimals than anybody reads."""

    def bounded(value: Any, *settings: Any) -> str:
        if any(isinstance(one, int) and one > _MOST_DECIMALS for one in settings):
            raise TooMuchError("the number of decimals is too large")
        return str(function(value, *settings))

    return bounded


def line_in(error: BaseException, names: Iterable[str]) -> tuple[str, int] | None:
    r"""Return the template and the line in which an error arose, the innermost of `names`.

    Parameters
    ----------
    error : BaseException
        Raised while a template was read or filled.
    names : iterable of str
        File names that templates were compiled under.

    Returns
    -------
    tuple of str and int, or None
        None where the error arose in none of them.

    Examples
    --------
    >>> from evalkit.report.bounded_templates import BoundedEnvironment, line_in
    >>> try:
    ...     BoundedEnvironment(str).from_string("\n{{ 1 / 0 }}").render()
    ... except ZeroDivisionError as error:
    ...     line_in(error, ["<template>"])
    ('<template>', 2)
    """
    wanted, found = set(names), None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        found = (name, trace.tb_lineno) if name in wanted else found
        trace = trace.tb_next
    if isinstance(error, TemplateSyntaxError) and (error.name or "<template>") in wanted:
        return error.name or "<template>", error.lineno
    return found


def reason_of(error: BaseException) -> str:
    """Return what went wrong in a template in one short line.

    Examples
    --------
    >>> from evalkit.report.bounded_templates import reason_of
    >>> reason_of(ZeroDivisionError("division by zero"))
    'division by zero'
    """
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    return " ".join(str(error).split())[:_SHOWN_REASON] or type(error).__name__
