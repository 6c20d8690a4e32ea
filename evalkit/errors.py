"""The one error that a caller can meet by design."""

from __future__ import annotations


class InputError(ValueError):
    """Bad data or a bad parameter: one clear line that says what, where and what to do.

    The message names the table, the column, the row number and the form of a cell, with digits
    as 9 and letters as a. It never holds the cell itself, so it can be logged and shown.
    The command line prints it and exits with 2.

    Examples
    --------
    >>> from evalkit import InputError
    >>> raise InputError("avatars.csv has no rows; give a table with at least one row.")
    Traceback (most recent call last):
    evalkit.errors.InputError: avatars.csv has no rows; give a table with at least one row.
    """
