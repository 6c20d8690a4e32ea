"""The one error that a caller can meet by design."""

from __future__ import annotations


class InputError(ValueError):
    """Bad data or a bad parameter: one clear line that says what, where and what to do.

    The message names the table, the column, the row number and the form of a cell, with digits
    as 9 and letters as a. It never holds the cell itself, so it can be logged and shown.
    The command line prints it and exits with 2.
    A name of a file or a column may hold line breaks and commands to a terminal; the message does
    not.

    Parameters
    ----------
    message : str

    Examples
    --------
    >>> from evalkit import InputError
    >>> raise InputError("avatars.csv has no rows; give a table with at least one row.")
    Traceback (most recent call last):
    evalkit.errors.InputError: avatars.csv has no rows; give a table with at least one row.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(str(message)))


def one_line(text: str) -> str:
    r"""Return a text as a terminal may show it: one line, no control characters.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Blanks and line breaks in a row become one blank, what cannot be printed becomes ``?``.

    Examples
    --------
    >>> from evalkit.errors import one_line
    >>> one_line("town\x1b[2J\n is missing")
    'town?[2J is missing'
    """
    return "".join(one if one.isprintable() else "?" for one in " ".join(text.split()))
