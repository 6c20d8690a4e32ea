"""Tables in forms that carry their own types: Parquet, Feather, workbooks, SAS, SPSS, Stata.

Each becomes columns of text like any other, so that a type is still decided once for all tables.
"""

from __future__ import annotations

import io
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.messages import say
from evalkit.reading.archives import WORKBOOK_PART, ZIP_START, refuse_large

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import pyarrow as pa

    from evalkit.messages import Message

    Notes = list[Message]

PARQUET_START: Final = b"PAR1"
_STARTS: Final = {
    PARQUET_START: "parquet",
    b"ARROW1": "feather",
    b"$FL2": "sav",
    b"$FL3": "sav",
    b"<stata_dta>": "dta",
    b"\0" * 12 + b"\xc2\xea\x81\x60": "sas7bdat",
    b"HEADER RECORD*******LIB": "xpt",
}
_OLD_STATA: Final = tuple(bytes([number]) for number in (105, 108, 110, 111, 113, 114, 115))
"""First byte of Stata files before version 13: the number of their form."""
_BYTE_ORDERS: Final = (b"\1", b"\2")


def stored_form(content: bytes) -> str | None:
    """Return the form of a table that is no text, whatever its name; None for all others.

    Parameters
    ----------
    content : bytes
        The whole file, unpacked.

    Returns
    -------
    str or None
        ``parquet``, ``feather``, ``workbook``, ``sav``, ``dta``, ``sas7bdat`` or ``xpt``.

    Examples
    --------
    >>> from evalkit.reading.stored_tables import stored_form
    >>> stored_form(b"PAR1..."), stored_form(b"age,sex")
    ('parquet', None)
    """
    for start, form in _STARTS.items():
        if content.startswith(start):
            return form
    if content.startswith(ZIP_START) and WORKBOOK_PART.encode() in content:
        return "workbook"
    return "dta" if _is_old_stata(content) else None


def _is_old_stata(content: bytes) -> bool:
    """Return whether a file begins like Stata before 13: form, byte order, type 1, nothing."""
    return content[:1] in _OLD_STATA and content[1:2] in _BYTE_ORDERS and content[2:4] == b"\1\0"


def stored_table(content: bytes, form: str, name: str) -> tuple[Any, list[Message]]:
    """Return the table in a file, as an Arrow table or a DataFrame, and notes.

    Parameters
    ----------
    content : bytes
        The whole file.
    form : str
        From `stored_form`.
    name : str
        Base name of the file, for messages.

    Returns
    -------
    table : pyarrow.Table or pandas.DataFrame
    notes : list of Message

    Raises
    ------
    evalkit.InputError
        If the file is damaged, larger than 4 GiB when unpacked, or of a form that needs a package
        that is not installed.
    """
    if form == "parquet":
        return parquet_table(content, name), []
    if form == "feather":
        return _feather_table(content, name), []
    if form == "workbook":
        return _workbook_table(content, name)
    return _statistics_table(content, form, name)


def parquet_table(content: bytes, name: str) -> pa.Table:
    """Return the table in a Parquet file, at most 4 GiB of it.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        Its base name, for messages.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    evalkit.InputError
        If the file is damaged, larger when unpacked, or has a name that is no text.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read() -> pa.Table:
        file = pq.ParquetFile(pa.BufferReader(content))
        found = file.metadata
        groups = [found.row_group(place) for place in range(found.num_row_groups)]
        unpacked_bytes = sum(group.total_byte_size for group in groups)
        # A page may hold one value for millions of rows, each of which takes a place here.
        place_bytes = 4 * found.num_rows * found.num_columns
        refuse_large(max(unpacked_bytes, place_bytes), name)
        return file.read()

    return _arrow(read, "Parquet", name)


def _feather_table(content: bytes, name: str) -> pa.Table:
    """Return the table in a Feather file, batch by batch, so that no bomb gets past the limit."""
    import pyarrow as pa

    def read() -> pa.Table:
        file = pa.ipc.open_file(pa.BufferReader(content))
        batches, size = [], 0
        for place in range(file.num_record_batches):
            batch = file.get_batch(place)
            size += batch.nbytes
            refuse_large(size, name)
            batches.append(batch)
        return pa.Table.from_batches(batches, file.schema)

    return _arrow(read, "Feather", name)


def _arrow(read: Callable[[], pa.Table], form: str, name: str) -> pa.Table:
    """Return what `read` gives, or one line on what is wrong with the file."""
    import pyarrow as pa

    try:
        return read()
    except (MemoryError, InputError):
        raise
    except UnicodeDecodeError:
        message = f"{name}: a column name holds bytes that are no text; give it another name."
        raise InputError(message) from None
    except (pa.ArrowException, OSError):
        message = f"{name}: the {form} file is damaged or cut short; write it again."
        raise InputError(message) from None


def _workbook_table(content: bytes, name: str) -> tuple[pd.DataFrame, Notes]:
    """Return the first sheet of a workbook with a cell; its first filled row has the names."""
    import pandas as pd

    openpyxl = _package("openpyxl", "excel", name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # On styles and extensions that hold no cell.
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            sheets = {sheet.title: _filled_rows(sheet) for sheet in book.worksheets}
            book.close()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the reader fails in many ways on what is no workbook
        message = f"{name}: the workbook is damaged or cut short; save it again, or as CSV."
        raise InputError(message) from None
    filled = {title: rows for title, rows in sheets.items() if rows}
    if not filled:
        raise InputError(f"{name}: the workbook has no filled cell; give a table with rows.")
    title, rows = next(iter(filled.items()))
    width = max(map(len, rows))
    names, *cells = [(*row, *([None] * (width - len(row)))) for row in rows]
    # Columns by place: two may have one name, and that is refused where all names are looked at.
    columns = {
        place: pd.Series([row[place] for row in cells], dtype=object) for place in range(width)
    }
    table = pd.DataFrame(columns)
    table.columns = pd.Index(["" if one is None else one for one in names], dtype=object)
    if len(filled) == 1:
        return table, []
    template = "{table}: sheet {sheet} of {sheets} was read, the first with cells; no other."
    return table, [say("first_sheet", template, table=name, sheet=title, sheets=len(filled))]


def _filled_rows(sheet: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a sheet that hold a cell, without the error values of formulas."""
    rows = []
    for row in sheet.iter_rows():
        cells = tuple(None if one.data_type == "e" else one.value for one in row)
        if any(one is not None for one in cells):
            rows.append(cells)
    return rows


def _statistics_table(content: bytes, form: str, name: str) -> tuple[pd.DataFrame, Notes]:
    """Return the table of a SAS, SPSS or Stata file; labels stand for the values they explain."""
    pyreadstat = _package("pyreadstat", "formats", name)
    read = {
        "sav": pyreadstat.read_sav,
        "dta": pyreadstat.read_dta,
        "sas7bdat": pyreadstat.read_sas7bdat,
        "xpt": pyreadstat.read_xport,
    }[form]
    with tempfile.TemporaryDirectory(prefix="evalkit-") as folder:
        path = Path(folder) / f"table.{form}"
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table, meta = read(str(path))
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - the reader has an error class of its own for each fault
            message = f"{name}: the file is damaged or of an unknown form; save it as CSV."
            raise InputError(message) from None
    return _labelled(table, meta.variable_value_labels, name)


def _labelled(
    table: pd.DataFrame, labels: dict[str, dict[Any, str]], name: str
) -> tuple[pd.DataFrame, Notes]:
    """Put labels in the place of values, in columns where every filled value has one of its own."""
    import pandas as pd

    used, partly = [], []
    for column, meaning in labels.items():
        if column not in table:
            continue
        values = set(table[column].dropna().unique().tolist())
        if values <= set(meaning) and len({meaning[one] for one in values}) == len(values):
            table[column] = table[column].map(meaning).astype(object)
            used.append(column)
        elif values & set(meaning):
            partly.append(column)
    notes = []
    if used:
        template = "{table}: value labels stand for the values of {columns}."
        notes.append(say("labels_used", template, table=name, columns=used))
    if partly:
        template = (
            "{table}: some values of {columns} have labels and others have none; the values were "
            "kept. If a label means missing, name its value with --missing."
        )
        notes.append(say("labels_left", template, table=name, columns=partly))
    return pd.DataFrame(table), notes


def _package(module: str, extra: str, name: str) -> Any:
    """Return a package that only some forms need, or say how to get it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        message = (
            f"{name}: reading this form needs {module}; install it with: pip install "
            f"'evalkit[{extra}]', or save the table as CSV or Parquet."
        )
        raise InputError(message) from None
