"""Three small tables to try evalkit on: originals, their avatars, and a holdout.

The originals and the holdout are 2,000 adults each, drawn without overlap from *Adult*: Becker, B.
and Kohavi, R. (1996), Adult [data set], UCI Machine Learning Repository,
https://doi.org/10.24432/C5XW20, under the Creative Commons Attribution 4.0 International licence
(CC BY 4.0). Changed here: fewer rows, 13 of the columns, readable names, an empty cell where the
source has a question mark. The avatars were made from the originals by sequential trees; no row is
linked to an avatar. ``ATTRIBUTION.md`` says more, ``provenance.json`` which rows were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["DECLARED", "TITLE", "DemoPaths", "paths"]


@dataclass(frozen=True)
class DemoPaths:
    """Where the three embedded tables are.

    Parameters
    ----------
    original, avatars, holdout : Path
        Compressed CSV files: commas, UTF-8, one head row, an empty cell where a value is missing.

    """

    original: Path
    avatars: Path
    holdout: Path


def paths() -> DemoPaths:
    """Return the paths of the embedded originals, avatars and holdout.

    Returns
    -------
    DemoPaths
        Real files, 2,000 rows and 13 columns each.

    Examples
    --------
    >>> paths().avatars.name
    'avatars.csv.gz'

    """
    folder = Path(__file__).resolve().parent
    return DemoPaths(
        original=folder / "original.csv.gz",
        avatars=folder / "avatars.csv.gz",
        holdout=folder / "holdout.csv.gz",
    )


TITLE = "Demonstration: an extract of a census"

DECLARED = {
    "purpose": "to show what a report looks like",
    "recipient": "anybody",
    "release_model": "open file",
    "subjects": "adults of the 1994 census of the United States",
    "holdout_made": "2,000 other rows of the same table, drawn before the avatars were made",
    "source_of_the_data": (
        "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository, "
        "doi 10.24432/C5XW20, licensed CC BY 4.0; rows were drawn, two columns left out, "
        "question marks made empty"
    ),
    "method": "sequential decision trees: each column is drawn from the leaf of the earlier ones",
    "parameters": "smallest leaf 20, seed fixed",
}
"""What the demonstration declares of itself: the attribution that the licence asks for, too."""
