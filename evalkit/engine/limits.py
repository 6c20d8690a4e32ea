"""What a run may cost: memory, and comparisons before records are sampled."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalkit.errors import InputError

LARGEST_SEARCH = 10**12  # comparisons of two records before a sample of originals is taken
SMALLEST_MEMORY = 2**28
_FORM = re.compile(
    r"\s*([0-9]{1,20}(?:[.,][0-9]{1,20})?)\s*([KMGT]?)(?:I?B)?\s*", re.IGNORECASE | re.ASCII
)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Limits:
    """What a run may cost.

    Attributes
    ----------
    memory : int, optional
        Bytes that tables may take before they are kept on disk; None: half of the machine's.
    exact : bool
        Whether nothing may be sampled to save time.
    """

    memory: int | None = None
    exact: bool = False

    def queries(self, queries: int, targets: int, most: int = LARGEST_SEARCH) -> int:
        """Return how many of the queries may look through all targets.

        Parameters
        ----------
        queries, targets : int
            Rows, or distinct rows, of the two tables.
        most : int
            Comparisons that are worth their time.

        Returns
        -------
        int
            All of them, or as many as `most` comparisons allow, at least 1.

        Examples
        --------
        >>> from evalkit.engine import Limits
        >>> Limits().queries(10_000_000, 10_000_000), Limits(exact=True).queries(10**7, 10**7)
        (100000, 10000000)
        """
        if self.exact or queries * targets <= most:
            return queries
        return max(1, most // max(1, targets))


def memory_bytes(text: object) -> int | None:
    """Return how many bytes a text such as ``4GB`` says, None where nothing was given.

    Parameters
    ----------
    text : str, int or None
        A number with KB, MB, GB or TB (of 1,024 each); a bare number counts bytes. An empty text
        is no amount: a variable that was never set must not pass for the default.

    Returns
    -------
    int or None

    Raises
    ------
    evalkit.InputError
        If it is no amount of memory, or less than 256 MB.

    Examples
    --------
    >>> from evalkit.engine import memory_bytes
    >>> memory_bytes("4GB") == 4 * 2**30
    True
    """
    if text is None:
        return None
    found = None if isinstance(text, bool) else _FORM.fullmatch(str(text))
    if not found:
        message = "memory: give an amount such as 4GB."
        raise InputError(message)
    amount = int(float(found[1].replace(",", ".")) * _UNITS[found[2].upper()])
    if amount < SMALLEST_MEMORY:
        message = "memory: at least 256MB are needed."
        raise InputError(message)
    return amount
