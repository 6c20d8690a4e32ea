"""A holdout set aside before the anonymisation, from a frame or a file."""

from __future__ import annotations

from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import shown, whole_number
from evalkit.halves import ranks_of
from evalkit.messages import say
from evalkit.persons import Persons, numbered
from evalkit.randomness import content_order, stream
from evalkit.reading import (
    file_bytes,
    is_folder,
    packed_like,
    parquet_table,
    read_table,
    stored_form,
    unpacked,
)
from evalkit.reading.arrow_columns import as_text
from evalkit.reading.options import reading_options
from evalkit.reading.personal_key import check_personal_key, person_keys
from evalkit.reading.text_files import records, text_file
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    from evalkit.messages import Message
    from evalkit.reading import TextTable
    from evalkit.reading.arrow_columns import TextColumn
    from evalkit.reading.options import ReadingOptions
    from evalkit.reading.text_files import TextFile

_PACKED_ENDINGS = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
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
) -> tuple[Path, Path, tuple[Message, ...]]:
    """Write the rows to anonymise and the rows held back as two files of the input's form.

    Parameters
    ----------
    path : str or pathlib.Path
        CSV or Parquet file, plain or compressed with gzip, at most 4 GiB when unpacked.
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

    Returns
    -------
    working_path, holdout_path : pathlib.Path
        ``working`` and ``holdout`` with the ending of the input. Records of a text file are
        written as they were.
    notes : tuple of Message
        How the file was read, and a warning under 500 rows or persons.

    Raises
    ------
    evalkit.InputError
        If the file cannot be read or cut, or one of the two not written; then neither is.
    """
    options = reading_options(individual=individual, delimiter=delimiter, encoding=encoding)
    if is_folder(Path(path)):
        name = Path(path).name
        message = f"{name}: a folder cannot be split; put its files into one file and split that."
        raise InputError(message)
    table = read_table(path, "original", options)
    kept, held, persons = _drawn(table, options, share, seed)
    content = file_bytes(path)
    plain = unpacked(content, Path(path).name)
    form = stored_form(plain)
    if form == "parquet":
        parts = _parquet_parts(parquet_table(plain, table.name), (kept, held))
    elif form:
        message = f"{table.name}: a file of this form cannot be split; save it as CSV or Parquet."
        raise InputError(message)
    else:
        file = text_file(plain, table.name, options)
        parts = _text_parts(file, table, (kept, held))
    if plain is not content:
        parts = [packed_like(content, part, Path(path).stem) for part in parts]
    working, holdout = _write(Path(path), Path(output_dir), parts)
    notes = _size_notes(table.rows) if individual is None else _person_notes(persons, kept, held)
    return working, holdout, (*table.notes, *notes)


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


def _text_parts(
    file: TextFile, table: TextTable, places: Sequence[npt.NDArray[np.intp]]
) -> list[bytes]:
    """Return the header and the chosen records of a text file, once for each set of places."""
    lines = _records(file.text)
    if len(lines) != table.rows + 1:
        lines = _rewritten(file, table.name)
    parts = []
    for chosen in places:
        text = b"".join([lines[0], *(lines[place + 1] for place in chosen)])
        parts.append(text.decode().encode(file.encoding))
    return parts


def _records(text: bytes) -> list[bytes]:
    """Return the records of a text as they are, each with its line end; empty lines are left out.

    A line end inside quotation marks is part of a cell: before it, their number is odd.
    """
    import numpy as np

    letters = np.frombuffer(text, dtype=np.uint8)
    outside = ~np.logical_xor.accumulate(letters == ord('"'))
    feeds = letters == ord("\n")
    returns = (letters == ord("\r")) & ~np.append(feeds[1:], False)
    ends = np.flatnonzero((feeds | returns) & outside) + 1
    cuts = [0, *ends.tolist(), len(text)]
    lines = [text[start:end] for start, end in pairwise(cuts)]
    line_end = b"\r\n" if b"\r\n" in text else b"\n" if b"\n" in text else b"\r"
    filled = [line for line in lines if line.strip(b"\r\n")]
    return [line if line[-1:] in b"\r\n" else line + line_end for line in filled]


def _rewritten(file: TextFile, name: str) -> list[bytes]:
    """Return the records of a text whose quotation marks follow no rule, written by the rules."""
    import csv
    import io

    lines = []
    columns = [column.to_pylist() for column in records(file, name).columns]
    for cells in zip(*columns, strict=True):
        line = io.StringIO(newline="")
        csv.writer(line, delimiter=file.delimiter, lineterminator="\n").writerow(cells)
        lines.append(line.getvalue().encode())
    return lines


def _parquet_parts(table: pa.Table, places: Sequence[npt.NDArray[np.intp]]) -> list[bytes]:
    """Return the chosen rows as Parquet files with the schema of the input."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = []
    for chosen in places:
        sink = pa.BufferOutputStream()
        pq.write_table(table.take(pa.array(chosen)), sink)
        parts.append(sink.getvalue().to_pybytes())
    return parts


def _write(source: Path, folder: Path, parts: Sequence[bytes]) -> tuple[Path, Path]:
    """Write the two parts and return their paths; the input is never written over."""
    packed = source.suffix.lower() in _PACKED_ENDINGS
    ending = "".join(source.suffixes[-2:]) if packed else source.suffix
    paths = folder / f"working{ending}", folder / f"holdout{ending}"
    if source.resolve() in {path.resolve() for path in paths}:
        message = f"{source.name}: would be written over; choose another folder."
        raise InputError(message)
    try:
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
