"""What the columns are: name, type, order; never their data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from evalkit.messages import Message

TYPES = ("numeric", "categorical", "boolean", "datetime", "text", "empty")
NUMBER_TYPES = ("numeric", "datetime")
DECLARED_TYPES = ("numeric", "categorical", "boolean", "datetime", "text")
"""Types that a user may give a column; empty is only ever found."""


@dataclass(frozen=True)
class Variable:
    """One column as every table of a release reads it.

    Attributes
    ----------
    name : str
        Name of the column.
    type : str
        One of `TYPES`; decided once, from the originals or by the user.
    used : bool
        False for text, identifiers, empty and ignored columns: no metric sees them.
    identifier : bool
        True if the values look like a key of persons.
    missing_share : float
        Share of missing cells in the originals, 0 to 1.
    levels : int
        Number of different filled values in the originals.
    notes : tuple of Message
        What was decided about this column and why.
    """

    name: str
    type: str
    used: bool = True
    identifier: bool = False
    missing_share: float = 0.0
    levels: int = 0
    notes: tuple[Message, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether distances and correlations read the column as a number."""
        return self.type in NUMBER_TYPES


@dataclass(frozen=True)
class Schema:
    """The variables of a release in the order of the originals.

    Attributes
    ----------
    variables : tuple of Variable
        All columns, the unused ones too.

    Examples
    --------
    >>> from evalkit.schema import Schema, Variable
    >>> schema = Schema((Variable("age", "numeric"), Variable("remarks", "text", used=False)))
    >>> schema.used_names()
    ('age',)
    """

    variables: tuple[Variable, ...]

    def __getitem__(self, name: str) -> Variable:
        """Return the variable called `name`; KeyError if there is none."""
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        """Return whether a column of that name exists."""
        return any(variable.name == name for variable in self.variables)

    def frame(self) -> pd.DataFrame:
        """Return one row per column of the data, in the order of the originals.

        Returns
        -------
        pandas.DataFrame
            Columns ``name``, ``type``, ``used``, ``identifier``, ``missing_share`` (0 to 1),
            ``levels`` (different filled values of the originals) and ``notes`` (text).

        Examples
        --------
        >>> from evalkit.schema import Schema, Variable
        >>> Schema((Variable("age", "numeric"),)).frame()[["name", "type", "used"]]
          name     type  used
        0  age  numeric  True
        """
        import pandas as pd

        fields = ("name", "type", "used", "identifier", "missing_share", "levels")
        rows = [
            {field: getattr(one, field) for field in fields}
            | {"notes": " ".join(note.text for note in one.notes)}
            for one in self.variables
        ]
        return pd.DataFrame(rows, columns=[*fields, "notes"])

    def _repr_html_(self) -> str:
        """Return the columns as a table for a notebook: static and escaped."""
        from evalkit.displays.inputs import schema_card

        return schema_card(self).html()

    def __repr__(self) -> str:
        from evalkit.displays.inputs import schema_card

        return schema_card(self).text()

    def used_names(self) -> tuple[str, ...]:
        """Return the names of the columns that metrics see, in the originals' order.

        Returns
        -------
        tuple of str

        Examples
        --------
        >>> from evalkit.schema import Schema, Variable
        >>> Schema((Variable("age", "numeric"), Variable("id", "text", used=False))).used_names()
        ('age',)
        """
        return tuple(variable.name for variable in self.variables if variable.used)

    def number_names(self, among: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the used columns that are read as numbers.

        Parameters
        ----------
        among : iterable of str, optional
            Only those; default every used column.

        Returns
        -------
        tuple of str

        Raises
        ------
        KeyError
            If a name of `among` is no column.

        Examples
        --------
        >>> from evalkit.schema import Schema, Variable
        >>> Schema((Variable("age", "numeric"), Variable("sex", "categorical"))).number_names()
        ('age',)
        """
        chosen = self.used_names() if among is None else tuple(among)
        return tuple(name for name in chosen if self[name].is_number)
