"""The scenario: what an attacker is taken to hold, checked at the border."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.given_values import name_list, shown, text, whole_number

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalkit.schema import Schema, Variable

CONTEXTS = (
    "internal",
    "trusted-third-party",
    "contractual-third-party",
    "outside-eu",
    "public",
)
LARGEST_SEED = 2**63 - 1
EVERY_COLUMN = "all"


@dataclass(frozen=True)
class Scenario:
    """The question that an assessment answers, fixed before the run.

    Attributes
    ----------
    name : str
        Shown in the report; empty stands for "all columns" or "known columns".
    known : sequence of str, optional
        Columns that an attacker is taken to hold about a person; None stands for every used
        column, and so does ``"all"``, which declares it, unless a column has this very name.
    sensitive : str, optional
        The column whose inference is tested.
    context : str, optional
        The recipient: one of `CONTEXTS`.
    min_count : int
        A level or a bar is shown only if at least so many originals carry it; 2 or more.
    known_declared : bool
        Whether the user named the known variables; set by the class.
    seed : int
        Every random draw of the metrics follows from it; 0 or more.

    Raises
    ------
    evalkit.InputError
        If a value has the wrong form.

    Examples
    --------
    >>> import evalkit
    >>> evalkit.Scenario(known=["age", "sex"]).known
    ('age', 'sex')
    """

    name: str = ""
    known: Sequence[str] | str | None = None
    sensitive: str | None = None
    context: str | None = None
    min_count: int = 11
    seed: int = 0
    known_declared: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Check the untyped values that notebooks and the command line hand over."""
        text("name", self.name)
        if self.known == EVERY_COLUMN:
            object.__setattr__(self, "known", (EVERY_COLUMN,))
        if isinstance(self.known, str):
            message = f"known: give a list of column names, not the text {shown(self.known)}."
            raise InputError(message)
        if self.known is not None:
            object.__setattr__(self, "known", name_list("known", self.known))
            object.__setattr__(self, "known_declared", True)
        if self.sensitive is not None:
            text("sensitive", self.sensitive)
        if self.context is not None and self.context not in CONTEXTS:
            choices = ", ".join(CONTEXTS)
            message = f"context: {shown(self.context)} is unknown; use one of: {choices}."
            raise InputError(message)
        object.__setattr__(self, "min_count", whole_number("min_count", self.min_count, 2, 10**9))
        object.__setattr__(self, "seed", whole_number("seed", self.seed, 0, LARGEST_SEED))

    def _repr_html_(self) -> str:
        """Return the question for a notebook: what the attacker is taken to hold."""
        from evalkit.displays.inputs import scenario_card

        return scenario_card(self).html()

    def settled(self, schema: Schema) -> Scenario:
        """Return the scenario with its known variables spelt out and checked against `schema`.

        Parameters
        ----------
        schema : Schema
            Columns of the release.

        Returns
        -------
        Scenario
            `known` sorted as in the schema, `name` filled.

        Raises
        ------
        evalkit.InputError
            If a known or sensitive column does not exist or was left out.

        Examples
        --------
        >>> import evalkit
        >>> from evalkit.schema import Schema, Variable
        >>> schema = Schema((Variable("age", "numeric"), Variable("sex", "categorical")))
        >>> evalkit.Scenario().settled(schema).known
        ('age', 'sex')
        """
        used = schema.used_names()
        everything = self.known is None or (
            tuple(self.known) == (EVERY_COLUMN,) and EVERY_COLUMN not in schema
        )
        if not everything:
            check_columns("--known", tuple(self.known or ()), schema)
        if self.sensitive is not None:
            check_columns("--sensitive", (self.sensitive,), schema)
        known = used if everything else tuple(n for n in used if n in set(self.known or ()))
        name = self.name or ("all columns" if everything else "known columns")
        settled = replace(self, known=known, name=name)
        object.__setattr__(settled, "known_declared", self.known_declared)
        return settled

    def without(self, names: Collection[str]) -> Scenario:
        """Return a settled scenario in which some columns are neither known nor sensitive.

        Parameters
        ----------
        names : collection of str

        Returns
        -------
        Scenario

        Examples
        --------
        >>> import evalkit
        >>> evalkit.Scenario(known=["age", "sex"], sensitive="sex").without({"sex"}).known
        ('age',)
        """
        known = None if self.known is None else [name for name in self.known if name not in names]
        sensitive = None if self.sensitive in names else self.sensitive
        found = replace(self, known=known, sensitive=sensitive)
        object.__setattr__(found, "known_declared", self.known_declared)
        return found


def check_columns(option: str, names: tuple[str, ...], schema: Schema) -> None:
    """Refuse names that are no columns or that no metric sees.

    Parameters
    ----------
    option : str
        Where they were given, for the message.
    names : tuple of str
    schema : Schema

    Raises
    ------
    evalkit.InputError
        Naming the first of them, and the column that may have been meant.
    """
    for name in names:
        if name not in schema:
            import difflib

            columns = [variable.name for variable in schema.variables]
            near = difflib.get_close_matches(name, columns, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"columns: {', '.join(columns[:20])}."
            message = f"{option}: there is no column {shown(name)}; {hint}"
            raise InputError(message)
        if not schema[name].used:
            raise InputError(f"{option}: {_why_unused(schema[name])}.")


def _why_unused(variable: Variable) -> str:
    """Return why no metric sees a column, and what to do to have it used."""
    name = shown(variable.name)
    if any(note.code == "personal_key" for note in variable.notes):
        return f"column {name} is the personal key (--individual), which no metric sees"
    if any(note.code == "ignored" for note in variable.notes):
        return f"column {name} is ignored, as asked; choose another or take it out of --ignore"
    reason = "identifier" if variable.identifier else variable.type
    if reason == "empty":
        return f"column {name} was left out (empty); choose another"
    return (
        f"column {name} was left out ({reason}); choose another or give its type with --numeric, "
        "--categorical or --datetime"
    )
