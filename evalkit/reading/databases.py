"""Tables in databases, named by an address such as ``sqlite:///file.db?table=patients``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from evalkit.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

FORM: Final = "postgresql://user@host/database?table=schema.name"
_BLOCK_ROWS: Final = 100_000


def is_address(source: object) -> bool:
    """Return whether a source names a table in a database.

    Examples
    --------
    >>> from evalkit.reading.databases import is_address
    >>> is_address("sqlite:///file.db?table=a"), is_address("C:/data/a.csv")
    (True, False)
    """
    return isinstance(source, str) and "://" in source


def database_table(address: str) -> tuple[pd.DataFrame, str]:
    """Return a table of a database, and its name for messages and the report.

    The name holds neither user, password nor host.

    Parameters
    ----------
    address : str
        Address of a database with ``table=NAME`` or ``table=SCHEMA.NAME`` in its query. Any
        database that SQLAlchemy has a driver for; ``duckdb:///file.db`` with DuckDB alone.

    Returns
    -------
    table : pandas.DataFrame
    name : str
        The table's.

    Raises
    ------
    evalkit.InputError
        If the address names no table, or the database cannot be reached or read.
    """
    scheme, table, plain = _parts(address)
    if scheme == "duckdb":
        return _duckdb_table(plain, table), table
    return _sql_table(plain, table), table


def shown_address(address: str) -> str:
    """Return the name of the table in an address, the one part of it that may be shown.

    Examples
    --------
    >>> from evalkit.reading.databases import shown_address
    >>> shown_address("postgresql://me:secret@host/base?table=care.patients")
    'care.patients'
    """
    try:
        return _parts(address)[1]
    except InputError:
        return "table"


def absolute_address(address: str) -> str:
    """Return an address whose database file, if it has one, is found from any folder.

    Examples
    --------
    >>> from evalkit.reading.databases import absolute_address
    >>> absolute_address("postgresql://host/base?table=a")
    'postgresql://host/base?table=a'
    """
    scheme, found, rest = address.partition(":///")
    path, mark, query = rest.partition("?")
    if not found or not path or scheme.split("+")[0].lower() not in {"sqlite", "duckdb"}:
        return address
    return f"{scheme}:///{Path(path).absolute()}{mark}{query}"


def _parts(address: str) -> tuple[str, str, str]:
    """Return scheme, name of the table, and the address without it."""
    try:
        found = urlsplit(address)
        query = dict(parse_qsl(found.query, keep_blank_values=True))
    except ValueError:
        raise InputError(f"This is no address of a table; write it as {FORM}.") from None
    table = query.pop("table", "")
    if not table:
        message = f"The address of a database names no table; end it with ?table=NAME, as {FORM}."
        raise InputError(message)
    rest = "&".join(f"{key}={value}" for key, value in query.items())
    plain = f"{found.scheme}://{found.netloc}{found.path}" + (f"?{rest}" if rest else "")
    return found.scheme.lower(), table, plain


def _sql_table(address: str, table: str) -> pd.DataFrame:
    """Return every row of a table, read in blocks through SQLAlchemy."""
    import pandas as pd

    sqlalchemy = _package("sqlalchemy")
    schema, _, name = table.rpartition(".")
    errors = (sqlalchemy.exc.SQLAlchemyError, ModuleNotFoundError, OSError, ValueError)
    engine: Any = None
    try:
        engine = sqlalchemy.create_engine(address)
        if engine.url.database and engine.dialect.name == "sqlite":
            _check_file(str(engine.url.database))
        with engine.connect() as connection:
            held = sqlalchemy.Table(
                name, sqlalchemy.MetaData(), schema=schema or None, autoload_with=connection
            )
            found = connection.execution_options(stream_results=True).execute(held.select())
            names = list(found.keys())
            blocks = [
                pd.DataFrame.from_records(block, columns=names)
                for block in found.partitions(_BLOCK_ROWS)
            ]
    except InputError:
        raise
    except sqlalchemy.exc.NoSuchTableError:
        message = f"{table}: there is no such table in the database; check its name."
        raise InputError(message) from None
    except errors as error:
        raise InputError(_trouble(table, error)) from None
    finally:
        if engine is not None:
            engine.dispose()
    return pd.concat(blocks, ignore_index=True) if blocks else pd.DataFrame(columns=names)


def _duckdb_table(address: str, table: str) -> pd.DataFrame:
    """Return every row of a table in a DuckDB file, which is opened for reading only."""
    duckdb = _package("duckdb")
    path = address.removeprefix("duckdb:///")
    _check_file(path)
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))
    try:
        with duckdb.connect(path, read_only=True) as connection:
            frame: pd.DataFrame = connection.sql(f"SELECT * FROM {quoted}").df()  # noqa: S608 - quoted
    except duckdb.CatalogException:
        message = f"{table}: there is no such table in the database; check its name."
        raise InputError(message) from None
    except (duckdb.Error, OSError) as error:
        raise InputError(_trouble(table, error)) from None
    return frame


def _check_file(path: str) -> None:
    """Refuse a database file that is not there: a driver would make an empty one."""
    if not Path(path).is_file():
        message = f"{Path(path).name}: there is no such database file; check the path."
        raise InputError(message)


def _trouble(table: str, error: BaseException) -> str:
    """Return one line on why a table cannot be read; never the address: it may hold a password."""
    if isinstance(error, ModuleNotFoundError):
        return f"{table}: the driver {error.name!r} of this database is not installed; install it."
    kind = type(getattr(error, "orig", None) or error).__name__
    return f"{table}: the database cannot be reached or read ({kind}); check address and rights."


def _package(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        message = (
            f"Reading from a database needs {module}; install it with: pip install 'evalkit[sql]'."
        )
        raise InputError(message) from None
