"""What a reader must know about the tables of a release as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from evalkit.messages import Message

HOLDOUT_ADVISED_ROWS = 500
PIECE_ROWS = 2**16


def release_notes(
    frames: Mapping[str, pd.DataFrame], keys: Mapping[str, npt.NDArray[np.int64]] | None = None
) -> list[Message]:
    """Return notes on copies, on people in two tables and on the size of the holdout.

    Parameters
    ----------
    frames : mapping of role to pandas.DataFrame
        The used columns of each table.
    keys : mapping of role to numpy.ndarray of int64, optional
        A number for the personal key of each row.

    Returns
    -------
    list of Message

    Examples
    --------
    >>> import pandas as pd
    >>> from evalkit.release_notes import release_notes
    >>> table = pd.DataFrame({"age": [20, 31]})
    >>> [note.code for note in release_notes({"original": table, "avatars": table})]
    ['copy', 'few_rows_for_holdout']
    """
    rows = {role: _row_hashes(frame) for role, frame in frames.items()}
    keys = keys or {}
    return [*_copies(rows), *_holdout_sizes(rows, keys), *_overlap(rows), *_persons(keys)]


def shared_persons(keys: Mapping[str, npt.NDArray[np.int64]]) -> int:
    """Return how many persons of the originals are in the holdout too.

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.release_notes import shared_persons
    >>> shared_persons({"original": np.array([3, 3, 8]), "holdout": np.array([3, 9])})
    1
    """
    import numpy as np

    if "holdout" not in keys:
        return 0
    return len(np.intersect1d(keys["original"], keys["holdout"]))


def _persons(keys: Mapping[str, npt.NDArray[np.int64]]) -> list[Message]:
    """Return that persons are counted, and which of them are in two tables."""
    import numpy as np

    notes = []
    for role, key in keys.items():
        persons, most = len(np.unique(key)), int(np.bincount(key).max())
        template = "The {table} holds {persons:,} persons in {rows:,} rows"
        if role == "original":
            template = "The originals hold {persons:,} persons in {rows:,} rows"
        code = "persons_counted" if most > 1 else "persons_are_rows"
        template += "; persons are counted, not rows." if most > 1 else ": one row each."
        notes.append(say(code, template, table=role, persons=persons, rows=len(key)))
    shared = shared_persons(keys)
    return [*notes, *([persons_shared(shared)] if shared else [])]


def persons_shared(shared: int) -> Message:
    """Return the warning that the holdout is no control, as people in it were anonymised."""
    return say(
        "persons_in_holdout",
        "{shared:,} persons of the originals are in the holdout too, by their personal key: they "
        "were anonymised, so the holdout is no independent control and nothing is judged against "
        "it. Take them out of the holdout, or draw one by person with evalkit split --individual.",
        shared=shared,
    )


def _row_hashes(frame: pd.DataFrame) -> npt.NDArray[np.uint64]:
    """Return a hash of each row, sorted; missing equals missing."""
    import numpy as np
    import pandas as pd

    return np.sort(pd.util.hash_pandas_object(frame, index=False).to_numpy())


def _held(
    some: npt.NDArray[np.uint64], others: npt.NDArray[np.uint64]
) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield piece by piece which of some numbers are among others, both of them sorted."""
    import numpy as np

    for start in range(0, len(some), PIECE_ROWS):
        piece = some[start : start + PIECE_ROWS]
        places = np.minimum(others.searchsorted(piece), len(others) - 1)
        yield others[places] == piece


def _all_held(some: npt.NDArray[np.uint64], others: npt.NDArray[np.uint64]) -> bool:
    """Return whether all numbers are among others, both sorted; the first that is not ends it."""
    return all(held.all() for held in _held(some, others))


def _copies(rows: Mapping[str, npt.NDArray[np.uint64]]) -> list[Message]:
    """Return the warning on avatars that are originals."""
    import numpy as np

    original, avatars = rows["original"], rows["avatars"]
    if np.array_equal(original, avatars):
        template = "The avatars equal the originals row for row: this is a copy of the data."
        return [say("copy", template, rows=len(avatars))]
    if _all_held(avatars, original):
        template = "Each of the {rows:,} avatars equals an original in every used column."
        return [say("all_avatars_are_originals", template, rows=len(avatars))]
    return []


def _holdout_sizes(
    rows: Mapping[str, npt.NDArray[np.uint64]], keys: Mapping[str, npt.NDArray[np.int64]]
) -> list[Message]:
    """Return the advice on a holdout set aside before the anonymisation."""
    count = len(set(keys["original"].tolist())) if keys else len(rows["original"])
    if "holdout" in rows:
        return []
    if count >= HOLDOUT_ADVISED_ROWS:
        template = (
            "No holdout was given, so the originals are split in two halves when the metrics are "
            "computed. With {rows:,} originals a holdout set aside before the anonymisation is "
            "advised (evalkit split)."
        )
        return [say("holdout_advised", template, rows=count)]
    template = (
        "No holdout was given, so the originals are split in two halves when the metrics are "
        "computed. A holdout of their own is advised from {fewest:,} rows up; there are {rows:,}."
    )
    return [say("few_rows_for_holdout", template, rows=count, fewest=HOLDOUT_ADVISED_ROWS)]


def _overlap(rows: Mapping[str, npt.NDArray[np.uint64]]) -> list[Message]:
    """Return how many rows of the holdout equal an original."""
    import numpy as np

    if "holdout" not in rows:
        return []
    holdout, original = rows["holdout"], rows["original"]
    if np.array_equal(holdout, original):
        template = "The holdout equals the originals: it is no independent reference."
        return [say("holdout_equals_original", template, rows=len(holdout))]
    shared = sum(int(held.sum()) for held in _held(holdout, original))
    if not shared:
        return []
    template = "{shared:,} of {rows:,} holdout rows equal an original in every used column."
    return [say("holdout_overlap", template, shared=shared, rows=len(holdout))]
