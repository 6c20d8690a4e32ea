"""The rules of a schema file as they were given: a list of texts or of names with texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalkit.errors import InputError
from evalkit.given_values import shown, text
from evalkit.tokens import LONGEST_TEXT, Place

MOST_RULES = 200
LONGEST_NAME = 200
LONGEST_CUT = 120


@dataclass(frozen=True)
class Rule:
    """One rule as the user wrote it.

    Attributes
    ----------
    number : int
        Its place in the list, from 1.
    name : str
        What the report calls it; the text where no name was given, a long one cut.
    text : str
        Such as ``"start <= end"``.
    source : str
        Where it stands, for messages: the name of the schema file, or ``"schema"``.
    """

    number: int
    name: str
    text: str
    source: str = "schema"

    @property
    def place(self) -> Place:
        """Where the rule stands, for messages."""
        return Place(f"{self.source}, rule {self.number}")


def rule_list(given: object, source: str) -> tuple[Rule, ...]:
    """Return the rules of a schema.

    Parameters
    ----------
    given : object
        What stands under ``rules:``, a list of texts or of ``{name: …, rule: …}``.
    source : str
        Name of the file, for messages.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    evalkit.InputError
        If it is no such list, has over 200 entries, or two rules have one name.

    Examples
    --------
    >>> from evalkit.rules.listing import rule_list
    >>> [one.name for one in rule_list(["a <= b", {"name": "age", "rule": "age >= 0"}], "s.yaml")]
    ['a <= b', 'age']
    """
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        message = f"{source}: rules is no list; write one rule a line, as in - start <= end."
        raise InputError(message)
    if len(given) > MOST_RULES:
        message = f"{source}: there are {len(given)} rules; at most {MOST_RULES} are read."
        raise InputError(message)
    found = tuple(_rule(entry, number, source) for number, entry in enumerate(given, start=1))
    names: dict[str, int] = {}
    for one in found:
        if one.name in names:
            message = f"{source}, rule {one.number}: has the name of rule {names[one.name]}."
            raise InputError(message)
        names[one.name] = one.number
    return found


def _rule(entry: Any, number: int, source: str) -> Rule:
    """Return one rule; its text is not read yet."""
    where = f"{source}, rule {number}"
    if isinstance(entry, dict):
        if set(entry) - {"name", "rule"} or "rule" not in entry:
            raise InputError(f"{where}: give a text, or name: and rule:, and nothing else.")
        name, words = entry.get("name") or "", entry["rule"]
    else:
        name, words = "", entry
    if not isinstance(words, str):
        raise InputError(f"{where}: {shown(words)} is no text; put the rule in quotation marks.")
    words = " ".join(text(where, words).split())
    name = " ".join(text(f"{where}, name", name).split())
    if len(words) > LONGEST_TEXT or len(name) > LONGEST_NAME:
        message = f"{where}: a rule has at most {LONGEST_TEXT:,} characters, a name {LONGEST_NAME}."
        raise InputError(message)
    return Rule(number, name or _short(words, number), words, source)


def _short(words: str, number: int) -> str:
    """Return what a rule without a name is called: its text, a long one cut."""
    return words if len(words) <= LONGEST_CUT else f"rule {number}: {words[:LONGEST_CUT]}…"
