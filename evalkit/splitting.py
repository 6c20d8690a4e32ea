"""A holdout set aside before the anonymisation, from a frame or a file."""

from __future__ import annotations

from numbers import Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown, whole_number
from evalkit.halves import ranks_of
from evalkit.messages import say
from evalkit.persons import Persons, numbered
from evalkit.randomness import content_order, stream
from evalkit.reading import is_folder, read_table
from evalkit.reading.arrow_columns import as_text
from evalkit.reading.cutting import cut_ending, cut_table
from evalkit.reading.options import reading_options
from evalkit.reading.personal_key import check_personal_key, person_keys
from evalkit.reading.sizes import store_for
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions

FEWEST_ROWS = 500
LARGEST_SEED = 2**63 - 1


def split(
    frame: pd.DataFrame, share: float = 0.5, seed: int = 0, *, individual: str | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows to anonymise and the rows held back.

    The draw follows the content of the rows: their order in the frame does not matter.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (rows, columns)
    share : float
        Share of the rows that is held back, rounded down to whole rows; between 0 and 1.
    seed : int
        0 or more.
    individual : str, optional
        Column of a personal key, filled in every row: all rows of a person stay together, and
        `share` is that of the persons, rounded down to whole persons.

    Returns
    -------
    working, holdout : pandas.DataFrame
        In the order and with the index of `frame`.

    Raises
    ------
    evalkit.InputError
        If one of the two would have no rows, two columns have one name, or a cell of the
        personal key is missing.

    Examples
    --------
    >>> import evalkit
    >>> import pandas as pd
    >>> working, holdout = evalkit.split(pd.DataFrame({"age": [20, 30, 40]}), share=0.5)
    >>> len(working), len(holdout)
    (2, 1)
    """
    if not hasattr(frame, "iloc"):
        message = f"original: {shown(frame)} is no DataFrame; a file is split by evalkit split."
        raise InputError(message)
    options = reading_options(individual=individual)
    table = read_table(frame, "original", options)
    kept, held, _ = _drawn(table, options, share, seed)
    return frame.iloc[kept], frame.iloc[held]


def split_file(  # noqa: PLR0913 - the last two are the file's dialect, by name only
    path: str | Path,
    output_dir: str | Path,
    share: float = 0.5,
    seed: int = 0,
    *,
    individual: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    memory: int | None = None,
) -> tuple[Path, Path, tuple[Message, ...]]:
    """Write the rows to anonymise and the rows held back as two files of the input's form.

    Parameters
    ----------
    path : str or pathlib.Path
        CSV or Parquet file, plain or compressed, or a folder of either, which is one table.
    output_dir : str or pathlib.Path
        Folder of the two files; made if it does not exist.
    share : float
        Share of the rows that is held back, rounded down to whole rows; between 0 and 1.
    seed : int
        0 or more.
    individual : str, optional
        Column of a personal key, as in `split`.
    delimiter, encoding : str, optional
        Dialect of a text file; found if not given.
    memory : int, optional
        Bytes that the table may take while it is read; a larger one is read in pieces. Default
        half of the machine's.

    Returns
    -------
    working_path, holdout_path : pathlib.Path
        ``working`` and ``holdout`` with the ending of the input. Records of a text file are
        written as they were. A folder becomes two files, of Parquet or of text as its files are.
    notes : tuple of Message
        How the file was read, and a warning under 500 rows or persons.

    Raises
    ------
    evalkit.InputError
        If the file cannot be read or cut, or one of the two not written; then neither is.
    """
    import numpy as np

    options = reading_options(individual=individual, delimiter=delimiter, encoding=encoding)
    table = read_table(path, "original", options, store_for([path], memory))
    kept, held, persons = _drawn(table, options, share, seed)
    is_held = np.zeros(table.rows, np.bool_)
    is_held[held] = True
    working, holdout = _cut_and_write(Path(path), Path(output_dir), options, is_held)
    notes = _size_notes(table.rows) if individual is None else _person_notes(persons, kept, held)
    return working, holdout, (*table.notes, *_one_file_note(Path(path)), *notes)


def _one_file_note(path: Path) -> list[Message]:
    """Return that a folder of files became two files."""
    if not is_folder(path):
        return []
    template = "{table}: the files of the folder were cut as one table, into one file each."
    return [say("folder_split", template, table=path.name)]


def _drawn(
    table: TextTable, options: ReadingOptions, share: object, seed: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Persons]:
    """Return the places of the rows to keep and to hold back, each in the order of the table."""
    import numpy as np

    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) < 1:
        message = f"share: {shown(share)} is not a number between 0 and 1, such as 0.5."
        raise InputError(message)
    seed = whole_number("seed", seed, 0, LARGEST_SEED)
    persons = _persons(table, options)
    # 0.29 * 100 is a little under 29; the share that was meant decides.
    count = int(persons.count * float(share) + 1e-9)
    if count == 0:
        one = "row" if options.individual is None else "person"
        message = (
            f"share: {float(share):g} of {persons.count:,} {one}s is less than one {one}; nothing "
            "to hold back."
        )
        raise InputError(message)
    is_held = np.zeros(persons.count, np.bool_)
    is_held[stream(seed, "split").permutation(persons.count)[:count]] = True
    held = is_held[persons.code]
    return np.flatnonzero(~held), np.flatnonzero(held), persons


def _persons(table: TextTable, options: ReadingOptions) -> Persons:
    """Return the persons of a table in an order of content; without a key each row is one."""
    import numpy as np

    columns = [_ranks(table.columns[name]) for name in sorted(table.columns)]
    if options.individual is None:
        place = np.empty(table.rows, np.int64)
        place[content_order(columns)] = np.arange(table.rows)
        return Persons(place, table.rows)
    tables = {"original": table.with_decimals(options)}
    check_personal_key(tables, options)
    return numbered(person_keys(tables, options)["original"], ranks_of(columns))


def _ranks(column: TextColumn) -> npt.NDArray[Any]:
    """Return the rank of each cell's text among those of its column, shape (rows,)."""
    import numpy as np
    import pyarrow.compute as pc

    order = pc.sort_indices(as_text(column.texts)).to_numpy(zero_copy_only=False)
    ranks = np.empty(len(order) + 1, dtype=np.int64)
    ranks[order] = np.arange(len(order))
    ranks[-1] = -1
    return ranks[column.codes]


def _cut_and_write(
    source: Path, folder: Path, options: ReadingOptions, held: npt.NDArray[np.bool_]
) -> tuple[Path, Path]:
    """Write the two parts and return their paths; the input is never written over."""
    ending = cut_ending(source)
    paths = folder / f"working{ending}", folder / f"holdout{ending}"
    if source.resolve() in {path.resolve() for path in paths}:
        message = f"{source.name}: would be written over; choose another folder."
        raise InputError(message)
    if is_folder(source) and folder.resolve().is_relative_to(source.resolve()):
        message = f"{source.name}: the two files would lie in the table itself; choose another."
        raise InputError(message)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Beside its place: the table may be larger than the temporary folder.
        with TemporaryDirectory(prefix=".evalkit-", dir=folder) as scratch:
            parts = cut_table(source, options, held, Path(scratch))
            write_whole(folder, {path.name: part for path, part in zip(paths, parts, strict=True)})
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        message = f"{folder.name}: cannot be written to ({reason}); choose another folder."
        raise InputError(message) from None
    return paths


def _person_notes(
    persons: Persons, kept: npt.NDArray[np.intp], held: npt.NDArray[np.intp]
) -> list[Message]:
    """Return how many persons are in either part, and the warning for too few of them."""
    parts = [persons.part(kept), persons.part(held)]
    template = (
        "Drawn by person: {working:,} persons ({working_rows:,} rows) to anonymise, {holdout:,} "
        "({holdout_rows:,} rows) held back."
    )
    notes = [
        say(
            "split_by_person",
            template,
            working=parts[0].count,
            working_rows=len(kept),
            holdout=parts[1].count,
            holdout_rows=len(held),
        )
    ]
    if persons.count < FEWEST_ROWS:
        template = (
            "The table has {persons:,} persons. A holdout is advised from {fewest:,} persons up: "
            "with fewer, both parts are small and the scores vary widely."
        )
        values = {"persons": persons.count, "fewest": FEWEST_ROWS}
        notes.append(say("few_persons_to_split", template, **values))
    return notes


def _size_notes(rows: int) -> list[Message]:
    """Return the warning for a table too small for a holdout of its own."""
    if rows >= FEWEST_ROWS:
        return []
    template = (
        "The table has {rows:,} rows. A holdout is advised from {fewest:,} rows up: with fewer, "
        "both parts are small and the scores vary widely."
    )
    return [say("few_rows_to_split", template, rows=rows, fewest=FEWEST_ROWS)]
