"""How tables are to be read: the options of `load`, checked at the border."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.schema import DECLARED_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LARGEST_SCHEMA_BYTES = 2**20
MISMATCHES = ("error", "intersect")
SHORT_TYPES = ("categorical", "numeric", "datetime")


@dataclass(frozen=True)
class ReadingOptions:
    """What the user said about the columns and the files.

    Attributes
    ----------
    types : dict of str to str
        Type of each column that the user gave one.
    use : dict of str to bool
        Columns that the user wants used or left out.
    missing : frozenset of str
        Cells that stand for missing.
    delimiter, encoding, decimal : str, optional
        Dialect of every text file; None where it is to be found for each file.
    on_mismatch : str
        ``"error"`` or ``"intersect"``.
    recorded : dict
        The options as they were given, for the record; no paths.
    """

    types: dict[str, str] = field(default_factory=dict)
    use: dict[str, bool] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    on_mismatch: str = "error"
    recorded: dict[str, Any] = field(default_factory=dict)

    @property
    def ignored(self) -> frozenset[str]:
        """Columns that the user leaves out; they may be absent from any table."""
        return frozenset(name for name, used in self.use.items() if not used)

    @property
    def not_numbers(self) -> frozenset[str]:
        """Columns whose cells say nothing about the decimal mark."""
        others = {name for name, type_ in self.types.items() if type_ != "numeric"}
        return self.ignored | others


def reading_options(**given: Any) -> ReadingOptions:
    """Return the options of `evalkit.load`, checked.

    Parameters
    ----------
    **given
        ``schema``, ``categorical``, ``numeric``, ``datetime``, ``ignore``, ``missing``,
        ``delimiter``, ``encoding``, ``decimal`` and ``on_mismatch`` as `evalkit.load` takes them.

    Returns
    -------
    ReadingOptions

    Raises
    ------
    evalkit.InputError
        If a value has the wrong form or a column is given two types.

    Examples
    --------
    >>> from evalkit.reading.options import reading_options
    >>> reading_options(categorical=["Class"]).types
    {'Class': 'categorical'}
    """
    names = {key: name_list(key, given.get(key, ())) for key in (*SHORT_TYPES, "ignore", "missing")}
    columns = _schema_columns(given.get("schema"))
    types = {name: entry["type"] for name, entry in columns.items() if "type" in entry}
    use = {name: entry["use"] for name, entry in columns.items() if "use" in entry}
    for type_ in SHORT_TYPES:
        for name in names[type_]:
            if types.setdefault(name, type_) != type_:
                message = f"--{type_}: column {name!r} was given the type {types[name]} as well."
                raise InputError(message)
    use |= dict.fromkeys(names["ignore"], False)
    dialect = {
        "delimiter": _delimiter(given.get("delimiter")),
        "encoding": given.get("encoding"),
        "decimal": _one_of("decimal", given.get("decimal"), (None, ".", ",")),
        "on_mismatch": _one_of("on-mismatch", given.get("on_mismatch", "error"), MISMATCHES),
    }
    recorded = {
        "schema": {"columns": columns} if columns else None,
        **{key: list(value) for key, value in names.items()},
        **dialect,
    }
    missing = frozenset(mark.strip() for mark in names["missing"])
    return ReadingOptions(types=types, use=use, missing=missing, recorded=recorded, **dialect)


def name_list(option: str, value: object) -> tuple[str, ...]:
    """Return a list of texts as a tuple without repeats.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    value : object
        What the user gave; None stands for nothing.

    Returns
    -------
    tuple of str

    Raises
    ------
    evalkit.InputError
        If it is not a list of texts.

    Examples
    --------
    >>> from evalkit.reading.options import name_list
    >>> name_list("ignore", ["a", "b", "a"])
    ('a', 'b')
    """
    if value is None:
        return ()
    if not isinstance(value, list | tuple | set | frozenset) or not all(
        isinstance(one, str) for one in value
    ):
        example = f'["{value}"]' if isinstance(value, str) else '["age", "sex"]'
        message = f"{option}: give a list of texts, such as {example}."
        raise InputError(message)
    ordered: Iterable[str] = sorted(value) if isinstance(value, set | frozenset) else value
    return tuple(dict.fromkeys(ordered))


def whole_number(option: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is a whole number from `low` to `high`, else raise InputError.

    Examples
    --------
    >>> from evalkit.reading.options import whole_number
    >>> whole_number("axes", 5, 1, 1000)
    5
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        message = f"{option}: {value!r} is not a whole number from {low} to {high}."
        raise InputError(message)
    return value


def _one_of(option: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        shown = ", ".join(repr(choice) for choice in choices if choice is not None)
        message = f"{option}: {value!r} is unknown; use one of: {shown}."
        raise InputError(message)
    return value


def _delimiter(value: Any) -> str | None:
    r"""Return the delimiter as one character; ``tab`` and ``\t`` stand for the tabulator."""
    if value is None:
        return None
    mark = {"tab": "\t", "\\t": "\t"}.get(value, value)
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        message = f"delimiter: {value!r} is not one character; use , ; | or tab."
        raise InputError(message)
    return mark


def _schema_columns(schema: object) -> dict[str, dict[str, Any]]:
    """Return the checked column entries of a schema file or mapping."""
    if schema is None:
        return {}
    content = schema if isinstance(schema, dict) else _schema_file(schema)
    if not isinstance(content, dict) or set(content) - {"columns"}:
        unknown = sorted(map(str, set(content) - {"columns"})) if isinstance(content, dict) else []
        detail = f"unknown key {', '.join(unknown)}" if unknown else "not a mapping"
        message = f"schema: {detail}; give columns: {{name: {{type: numeric, use: true}}}}."
        raise InputError(message)
    columns = content.get("columns") or {}
    if not isinstance(columns, dict):
        message = "schema: columns is not a mapping of column names to type and use."
        raise InputError(message)
    return {str(name): _schema_entry(str(name), entry or {}) for name, entry in columns.items()}


def _schema_entry(name: str, entry: object) -> dict[str, Any]:
    """Return one checked entry: ``type`` and ``use``, either may be absent."""
    if not isinstance(entry, dict) or set(entry) - {"type", "use"}:
        message = f"schema: column {name!r} may hold type and use, nothing else."
        raise InputError(message)
    if "type" in entry:
        _one_of(f"schema: type of column {name!r}", entry["type"], DECLARED_TYPES)
    if "use" in entry and not isinstance(entry["use"], bool):
        message = f"schema: use of column {name!r} is not true or false."
        raise InputError(message)
    if entry.get("use") is True and entry.get("type") == "text":
        message = f"schema: column {name!r} cannot be used as text; give the type categorical."
        raise InputError(message)
    return dict(entry)


def _schema_file(source: object) -> Mapping[str, Any] | object:
    """Return what a YAML file holds; it may come from anyone, so only plain values are read."""
    import yaml

    if not isinstance(source, str | Path):
        message = "schema: give the path of a YAML file or a dict."
        raise InputError(message)
    path = Path(source)
    try:
        content = path.read_bytes()
        if len(content) > LARGEST_SCHEMA_BYTES:
            message = f"schema: {path.name} is too large for a schema."
            raise InputError(message)
        return yaml.safe_load(content)  # type: ignore[no-any-return]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"schema: {path.name} cannot be read ({reason})."
        raise InputError(message) from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        message = f"schema: {path.name} is not valid YAML."
        raise InputError(message) from None
