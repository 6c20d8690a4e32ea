"""The analyses that a user asks for, from a YAML file or a list, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.analyses.formulas import Formula, Value, parse_event, parse_formula
from evalkit.errors import InputError
from evalkit.given_values import shown, text
from evalkit.tokens import LONGEST_TEXT, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalkit.schema import Schema

KINDS = ("linear", "logistic", "cox", "groups")
KEYS = ("name", "kind", "formula", "outcome", "group", "duration", "event")
MOST_ANALYSES = 50
LONGEST_NAME = 120
EXAMPLE = '- {name: Income, kind: linear, formula: "income ~ age + C(town)"}'


@dataclass(frozen=True)
class Analysis:
    """One analysis as the user wrote it, its formula read.

    Attributes
    ----------
    number : int
        Its place in the list, from 1.
    name, kind : str
        `kind` is one of `KINDS`.
    text : str
        The formula as the report prints it.
    formula : Formula
        With an outcome, and with an event where the kind is ``"cox"``.
    place : Place
        Where it stands, for messages.
    """

    number: int
    name: str
    kind: str
    text: str
    formula: Formula
    place: Place


def analysis_list(given: object, schema: Schema) -> tuple[Analysis, ...]:
    """Return the analyses of a file or list, their columns looked up.

    Parameters
    ----------
    given : object
        Path of a YAML file, or a list of mappings with ``name``, ``kind`` and ``formula``; None
        for none.
    schema : Schema
        Columns of the release.

    Returns
    -------
    tuple of Analysis

    Raises
    ------
    evalkit.InputError
        Naming the file, the number of the analysis, the position and what is allowed.

    Examples
    --------
    >>> from evalkit.analyses import analysis_list
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"), Variable("town", "categorical")))
    >>> given = [{"kind": "groups", "formula": "age by town"}]
    >>> analysis_list(given, schema)[0].name
    'age by town'
    """
    entries, source = _entries(given)
    if len(entries) > MOST_ANALYSES:
        message = f"{source}: there are {len(entries)} analyses; at most {MOST_ANALYSES} are made."
        raise InputError(message)
    found = tuple(_analysis(entry, number, source) for number, entry in enumerate(entries, 1))
    names: set[str] = set()
    for one in found:
        _check_columns(one, schema)
        if one.name in names:
            raise one.place.refusal(f"another analysis is called {shown(one.name)}; rename one.")
        names.add(one.name)
    return found


def check_packages(analyses: Iterable[Analysis]) -> None:
    """Refuse analyses whose package is not installed.

    Raises
    ------
    evalkit.InputError
        Saying what to install.
    """
    models = sorted({one.kind for one in analyses} - {"groups"})
    if models and find_spec("statsmodels") is None:
        message = (
            f"Analyses of the kind {', '.join(models)} need the package statsmodels, which is not "
            "installed. Install it with: pip install 'evalkit[analysis]'"
        )
        raise InputError(message)


def _entries(given: object) -> tuple[Sequence[Any], str]:
    """Return the entries of a file or list, and what messages call it."""
    source = "analyses"
    content = given
    if isinstance(given, str | Path):
        from evalkit.yaml_file import parse_yaml_value

        source = Path(given).name
        content = parse_yaml_value(Path(given), "file of analyses")[1]
        if isinstance(content, dict) and set(content) == {"analyses"}:
            content = content["analyses"]
    if content is None:
        return (), source
    if not isinstance(content, list | tuple):
        raise InputError(f"{source}: give a list of analyses, such as {EXAMPLE}")
    return content, source


def _analysis(entry: Any, number: int, source: str) -> Analysis:
    """Return one checked analysis."""
    place = Place(f"{source}, analysis {number}")
    if not isinstance(entry, dict) or set(entry) - set(KEYS):
        fault = f"give a mapping of {', '.join(KEYS)}, such as {EXAMPLE}"
        raise place.refusal(fault)
    words = {key: _words(place, key, value) for key, value in entry.items() if value is not None}
    kind = words.get("kind", "")
    if kind not in KINDS:
        raise place.refusal(f"kind is {shown(kind)}; use one of: {', '.join(KINDS)}.")
    formula, said = _formula(kind, words, place)
    name = words.get("name") or said
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}…"
    return Analysis(number, name, kind, said, formula, place)


def _words(place: Place, key: str, value: object) -> str:
    """Return a field as one line of text."""
    found = " ".join(text(f"{place.words}, {key}", value).split())
    if len(found) > LONGEST_TEXT:
        raise place.refusal(f"{key} has over {LONGEST_TEXT:,} characters; shorten it.")
    return found


def _formula(kind: str, words: dict[str, str], place: Place) -> tuple[Formula, str]:
    """Return the formula with its outcome, and how it is printed."""
    said = words.get("formula", "")
    allowed = {"groups": {"outcome", "group"}, "cox": {"duration", "event"}}.get(kind, set())
    odd = {"outcome", "group", "duration", "event"} & set(words) - allowed
    if odd:
        raise place.refusal(f"{min(odd)} does not belong to the kind {kind}.")
    if kind == "groups":
        said = said or f"{words.get('outcome', '')} by {words.get('group', '')}"
        return _groups(said, place), said
    formula = parse_formula(said, place)
    if kind == "cox" and formula.event is None:
        if "duration" not in words or "event" not in words or formula.outcome:
            fault = "write Surv(time, event) ~ age, or give duration: and event: with formula: age."
            raise place.refusal(fault)
        time = parse_event(words["duration"], place)
        formula = Formula(time, parse_event(words["event"], place), formula.terms)
        said = f"Surv({words['duration']}, {words['event']}) ~ {said.removeprefix('~').strip()}"
    if formula.outcome is None:
        raise place.refusal("there is no outcome; write it before ~, as in income ~ age.")
    if kind != "cox" and formula.event is not None:
        raise place.refusal("Surv(time, event) belongs to the kind cox.")
    return formula, said


def _groups(said: str, place: Place) -> Formula:
    """Return the formula of a comparison of groups: ``outcome by group`` or ``outcome ~ group``."""
    formula = parse_formula(_with_tilde(said), place)
    [*terms] = formula.terms
    if formula.outcome is None or len(terms) != 1 or len(terms[0]) != 1:
        raise place.refusal("a comparison of groups is written as outcome by group.")
    group = terms[0][0]
    return Formula(formula.outcome, None, ((Value(group.column, "C", None, group.position),),))


def _with_tilde(said: str) -> str:
    """Return the text with its bare word ``by`` as ~; a name in backticks stays as it is."""
    parts = said.split("`")
    outside = [part.replace(" by ", " ~  ") if k % 2 == 0 else part for k, part in enumerate(parts)]
    return "`".join(outside)


def _check_columns(analysis: Analysis, schema: Schema) -> None:
    """Refuse columns that do not exist or do not fit what is asked of them."""
    formula, place = analysis.formula, analysis.place
    values = [value for term in formula.terms for value in term]
    for value in (formula.outcome, formula.event, *values):
        if value is not None:
            _check_value(value, schema, place)
    outcome, event = formula.outcome, formula.event
    explained = {one.column for one in (outcome, event) if one is not None}
    for value in values:
        if value.column in explained:
            fault = f"{shown(value.column)} stands on both sides of the formula."
            raise place.refusal(fault, value.position)
    _check_outcome(analysis, schema)
    mains = {(term[0].column, term[0].function) for term in formula.terms if len(term) == 1}
    for term in formula.terms:
        if len(term) > 1 and any(is_category(one, schema) for one in term):
            _check_margins(term, mains, place)


def _check_value(value: Value, schema: Schema, place: Place) -> None:
    """Refuse a column that is unknown or left out, or a logarithm of no number."""
    if value.column not in schema:
        names = [variable.name for variable in schema.variables]
        raise place.no_column(value.column, value.position, names)
    variable = schema[value.column]
    if not variable.used:
        why = "identifier" if variable.identifier else variable.type
        fault = f"column {shown(value.column)} was left out ({why} or ignored)."
        raise place.refusal(fault, value.position)
    if value.function == "log" and variable.type != "numeric":
        fault = f"log needs numbers, and {shown(value.column)} holds none."
        raise place.refusal(fault, value.position)


def _check_outcome(analysis: Analysis, schema: Schema) -> None:
    """Refuse an outcome of the wrong type for the kind of analysis."""
    outcome, place = analysis.formula.outcome, analysis.place
    if outcome is None:
        return
    type_ = schema[outcome.column].type
    number = type_ == "numeric" or (type_ == "datetime" and analysis.kind != "cox")
    if outcome.function == "C":
        raise place.refusal("C() belongs to the terms, not to the outcome.", outcome.position)
    if analysis.kind in {"linear", "cox"} and (not number or outcome.level is not None):
        what = "outcome" if analysis.kind == "linear" else "duration"
        fault = f"the {what} of the kind {analysis.kind} must be a column of numbers."
        raise place.refusal(fault, outcome.position)
    if analysis.kind == "logistic" and outcome.function == "log":
        raise place.refusal("a logistic outcome has no logarithm.", outcome.position)


def _check_margins(term: tuple[Value, ...], mains: set[tuple[str, str]], place: Place) -> None:
    """Refuse a product with categories whose parts are no terms of their own."""
    for one in term:
        if (one.column, one.function) not in mains:
            fault = (
                f"a product with categories needs {shown(one.column)} as a term of its own; write "
                "a*b in place of a:b."
            )
            raise place.refusal(fault, one.position)


def is_category(value: Value, schema: Schema) -> bool:
    """Return whether a value enters a design by its levels."""
    return value.function == "C" or not schema[value.column].is_number
