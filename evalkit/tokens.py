"""The small pieces of a rule or formula that a user wrote: names, numbers, texts, signs.

Nothing a user writes is ever run as Python. A text is cut into pieces here, and a parser with a
fixed list of forms reads them; whatever is not on the list is refused with its position.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.given_values import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_TEXT = 1000
MOST_TOKENS = 300
LONGEST_NUMBER = 30
LONGEST_SHOWN = 40
SHOWN_NAMES = 20
END = "end"

_PIECES = re.compile(
    r"""(?P<space>\s+)
    |(?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?!\w|\.\d))
    |(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w]))
    |(?P<name>[^\W\d]\w*(?:\.\w+)*)
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<text>"(?:[^"]|"")*"|'(?:[^']|'')*')
    |(?P<sign>->|=>|→|\.\.|\+/-|\+-|±|\*\*|==|!=|<=|>=|<>|≤|≥|≠|&&|\|\||[-+*/<>()\[\]{},~:&|=])
    """,
    re.VERBOSE,
)
_SAME_SIGN = {
    "=>": "->",
    "→": "->",
    "+/-": "±",
    "+-": "±",
    "<>": "!=",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "&&": "&",
    "||": "|",
}


@dataclass(frozen=True)
class Token:
    """One piece of a text.

    Attributes
    ----------
    kind : str
        ``"name"``, ``"number"``, ``"date"``, ``"text"``, ``"sign"`` or ``"end"``. A name in
        backticks is of the kind ``"quoted"``: it is a column whatever it is called.
    value : str
        Without quotation marks or backticks; signs of equal meaning are one.
    position : int
        Of its first character, from 1.
    """

    kind: str
    value: str
    position: int


@dataclass(frozen=True)
class Place:
    """Where a text stands, for messages: "schema.yaml, rule 2"."""

    words: str

    def refusal(self, fault: str, position: int | None = None) -> InputError:
        """Return the error that names the place and the position.

        Examples
        --------
        >>> from evalkit.tokens import Place
        >>> str(Place("schema.yaml, rule 2").refusal("there is nothing to compare.", 7))
        'schema.yaml, rule 2, character 7: there is nothing to compare.'
        """
        at = f", character {position}" if position else ""
        return InputError(f"{self.words}{at}: {fault}")

    def no_column(self, name: str, position: int, columns: Sequence[str]) -> InputError:
        """Return the error for a name that is no column, with the nearest one that is."""
        near = difflib.get_close_matches(name, columns, n=1)
        known = ", ".join(columns[:SHOWN_NAMES])
        hint = f"did you mean {near[0]!r}?" if near else f"columns: {known}."
        return self.refusal(f"there is no column {shown(name)}; {hint}", position)


def tokens(text: str, place: Place, signs: Iterable[str]) -> list[Token]:
    """Return the pieces of a text, the last one of the kind ``"end"``.

    Parameters
    ----------
    text : str
        What the user wrote.
    place : Place
        Where it stands.
    signs : iterable of str
        The signs that may occur; others are refused.

    Returns
    -------
    list of Token

    Raises
    ------
    evalkit.InputError
        If the text is longer than 1,000 characters or 300 pieces, a number is longer than 30
        characters, a quotation is not closed, or a character has no meaning.

    Examples
    --------
    >>> from evalkit.tokens import Place, tokens
    >>> found = tokens("`blood pressure` >= 12.5", Place("rule 1"), {">="})
    >>> [(one.kind, one.value) for one in found[:3]]
    [('quoted', 'blood pressure'), ('sign', '>='), ('number', '12.5')]
    """
    if len(text) > LONGEST_TEXT:
        fault = f"the text has {len(text):,} characters; at most {LONGEST_TEXT:,} are read."
        raise place.refusal(fault)
    allowed = set(signs)
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _PIECES.match(text, at)
        token = _token(text, at, match, place, allowed)
        if token is not None:
            found.append(token)
        at = match.end() if match else len(text)
        if len(found) > MOST_TOKENS:
            raise place.refusal(f"there are over {MOST_TOKENS} words and signs; write it shorter.")
    return [*found, Token(END, "", len(text) + 1)]


def _token(
    text: str, at: int, match: re.Match[str] | None, place: Place, allowed: set[str]
) -> Token | None:
    """Return the piece that begins at `at`, or nothing for white space."""
    position = at + 1
    if match is None:
        raise place.refusal(_meaningless(text[at]), position)
    kind, value = str(match.lastgroup), match.group()
    if kind == "space":
        return None
    if kind in {"quoted", "text"}:
        mark = value[0]
        value = value[1:-1].replace(mark * 2, mark)
    elif kind == "number" and len(value) > LONGEST_NUMBER:
        raise place.refusal(f"a number has over {LONGEST_NUMBER} characters.", position)
    elif kind == "sign":
        value = _SAME_SIGN.get(value, value)
        if value not in allowed:
            raise place.refusal(_no_sign(value, allowed), position)
    return Token(kind, value, position)


def _meaningless(character: str) -> str:
    """Return what is wrong with a character that begins no piece."""
    if character in "\"'`":
        return f"the quotation that begins with {character} is not closed."
    return (
        f"{shown(character)} has no meaning here; a name with special characters needs backticks."
    )


def _no_sign(value: str, allowed: set[str]) -> str:
    """Return what is wrong with a sign that may not occur."""
    if value == "=" and "==" in allowed:
        return "one = has no meaning here; write == to compare."
    return f"{value} has no meaning here; signs that may be used: {' '.join(sorted(allowed))}"


def seen(token: Token) -> str:
    """Return a piece as a message may repeat it.

    Examples
    --------
    >>> from evalkit.tokens import Token, seen
    >>> seen(Token("end", "", 9)), seen(Token("sign", ")", 3))
    ('the end', "')'")
    """
    if token.kind == END:
        return "the end"
    cut = token.value[:LONGEST_SHOWN]
    return repr(cut if cut == token.value else f"{cut}...")


class Reader:
    """A list of pieces that is read from left to right.

    Parameters
    ----------
    found : list of Token
        From `tokens`.
    place : Place
        Where the text stands.
    """

    def __init__(self, found: list[Token], place: Place) -> None:
        self.found = found
        self.place = place
        self.at = 0

    @property
    def token(self) -> Token:
        """The piece that is read next."""
        return self.found[self.at]

    def take(self) -> Token:
        """Return the next piece and go on; the end is never passed."""
        token = self.token
        self.at += token.kind != END
        return token

    def meets(self, *values: str) -> bool:
        """Return whether the next piece is one of these signs or bare words."""
        return self.token.kind in {"sign", "name"} and self.token.value in values

    def takes(self, *values: str) -> bool:
        """Return whether the next piece is one of these, and go on if so."""
        found = self.meets(*values)
        if found:
            self.take()
        return found

    def expect(self, value: str, why: str) -> None:
        """Go on past a sign that must stand here."""
        if not self.takes(value):
            raise self.refusal(f"{seen(self.token)} stands where {value} must, {why}.")

    def refusal(self, fault: str, token: Token | None = None) -> InputError:
        """Return the error at a piece; default the next one."""
        return self.place.refusal(fault, (token or self.token).position)
