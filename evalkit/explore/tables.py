"""The tables of an exploration notebook, and the sets made from the embedded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.running.parameters import open_release

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.release import Release

COPIED: Final = {"half copied": 0.5, "one fifth copied": 0.2}
"""Share of the rows of a made set that are originals."""
MIXED: Final = {"as embedded": 0.0, "half mixed": 0.5}
"""Share of the rows of a made set whose cells come from different avatars."""


def open_tables(original: str = "", avatars: str = "", holdout: str = "", **given: Any) -> Release:
    """Return the release of a notebook; without tables that of the embedded ones.

    Parameters
    ----------
    original, avatars, holdout : str
        Paths; all empty for the embedded tables.
    **given
        Options of `evalkit.load`; an empty text or list stands for its default.

    Returns
    -------
    Release

    Examples
    --------
    >>> from evalkit import explore
    >>> explore.open_tables().inputs["avatars"].rows
    2000
    """
    options = {name: value for name, value in given.items() if value not in ("", [])}
    return open_release(original, avatars, holdout, **options)


def made_sets() -> dict[str, pd.DataFrame]:
    """Return avatar sets made from the embedded tables, from near to far from the originals.

    They stand in for settings of an anonymisation: some rows are copies of originals, or have
    their cells mixed with those of other rows, column by column.

    Returns
    -------
    dict
        Name to table.

    Examples
    --------
    >>> from evalkit.explore.tables import made_sets
    >>> list(made_sets())
    ['half copied', 'one fifth copied', 'as embedded', 'half mixed']
    """
    import pandas as pd

    from evalkit import demo

    original, avatars = (pd.read_csv(one) for one in (demo.paths().original, demo.paths().avatars))
    copied = {name: _copied(avatars, original, share) for name, share in COPIED.items()}
    return copied | {name: _mixed(avatars, share) for name, share in MIXED.items()}


def _rows(table: pd.DataFrame, share: float) -> NDArray[np.intp]:
    """Return a share of the rows, drawn alike in every session."""
    from evalkit.randomness import stream

    return stream(0, "explore made sets").permutation(len(table))[: round(share * len(table))]


def _copied(table: pd.DataFrame, original: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return a table of which a share of the rows is taken from the originals."""
    made, rows = table.copy(), _rows(table, share)
    for name in table.columns:
        made.loc[rows, name] = original.loc[rows, name].to_numpy()
    return made


def _mixed(table: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return a table of which a share of the rows is mixed column by column."""
    from evalkit.randomness import stream

    made, rows, rng = table.copy(), _rows(table, share), stream(0, "explore mixed sets")
    for name in table.columns:
        made.loc[rows, name] = table.loc[rng.permutation(rows), name].to_numpy()
    return made
