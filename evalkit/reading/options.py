"""How tables are to be read: the options of `load`, checked at the border."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import InputError
from evalkit.given_values import name_list, shown, text
from evalkit.rules.listing import rule_list
from evalkit.schema import DECLARED_TYPES

if TYPE_CHECKING:
    from evalkit.rules.listing import Rule

MOST_KEYS = 3
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
    individual : str, optional
        Column of the personal key; no metric sees it.
    rules : tuple of Rule
        What rows should obey, as the schema gives it; not read yet.
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
    individual: str | None = None
    rules: tuple[Rule, ...] = ()
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
        ``delimiter``, ``encoding``, ``decimal``, ``on_mismatch`` and ``individual`` as
        `evalkit.load` takes them.

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
    content = _schema_content(given.get("schema"))
    columns = _schema_columns(content)
    rules = rule_list(content.get("rules"), _schema_name(given.get("schema")))
    types = {name: entry["type"] for name, entry in columns.items() if "type" in entry}
    use = {name: entry["use"] for name, entry in columns.items() if "use" in entry}
    for type_ in SHORT_TYPES:
        for name in names[type_]:
            if types.setdefault(name, type_) != type_:
                other = types[name]
                message = f"--{type_}: column {shown(name)} was given the type {other} as well."
                raise InputError(message)
    use |= dict.fromkeys(names["ignore"], False)
    individual = _personal_key(given.get("individual"), names["ignore"], use)
    dialect = {
        "delimiter": _delimiter(given.get("delimiter")),
        "encoding": _encoding(given.get("encoding")),
        "decimal": _one_of("decimal", given.get("decimal"), (None, ".", ",")),
        "on_mismatch": _one_of("on-mismatch", given.get("on_mismatch", "error"), MISMATCHES),
    }
    recorded = {
        "schema": _recorded_schema(columns, rules),
        **{key: list(value) for key, value in names.items()},
        **dialect,
        "individual": individual,
    }
    missing = frozenset(mark.strip() for mark in names["missing"])
    return ReadingOptions(
        types=types,
        use=use,
        missing=missing,
        individual=individual,
        rules=rules,
        recorded=recorded,
        **dialect,
    )


def _personal_key(value: object, ignore: tuple[str, ...], use: dict[str, bool]) -> str | None:
    """Return the column of the personal key, and put down that no metric uses it."""
    if value is None:
        return None
    name = text("individual", value)
    if name in ignore:
        message = (
            f"--individual and --ignore both name column {shown(name)}; leave it out of --ignore: "
            "no metric sees the personal key anyway."
        )
        raise InputError(message)
    if use.get(name):
        message = (
            f"schema: column {shown(name)} is to be used, and --individual names it as the "
            "personal key, which no metric sees; say one of the two."
        )
        raise InputError(message)
    use[name] = False
    return name


def _one_of(option: str, value: object, choices: tuple[object, ...]) -> Any:
    """Return `value` if it is one of `choices`."""
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices if choice is not None)
        message = f"{option}: {shown(value)} is unknown; use one of: {known}."
        raise InputError(message)
    return value


def _delimiter(value: Any) -> str | None:
    r"""Return the delimiter as one character; ``tab`` and ``\t`` stand for the tabulator."""
    if value is None:
        return None
    mark = {"tab": "\t", "\\t": "\t"}.get(value, value) if isinstance(value, str) else ""
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        message = f"delimiter: {shown(value)} is not one character; use , ; | or tab."
        raise InputError(message)
    return mark


def _encoding(value: object) -> str | None:
    """Return the name of an encoding of texts that Python knows."""
    if value is None:
        return None
    name = text("encoding", value)
    try:
        "a".encode(name)
    except (LookupError, ValueError, OSError):
        message = f"encoding: {shown(name)} is unknown; use utf-8 or windows-1252, for example."
        raise InputError(message) from None
    return name


def _schema_content(schema: object) -> dict[str, Any]:
    """Return what a schema file or mapping holds: columns and rules."""
    if schema is None:
        return {}
    content = schema if isinstance(schema, dict) else _schema_file(schema)
    unknown = [shown(key) for key in content if key not in {"columns", "rules"}]
    if unknown:
        message = (
            f"schema: unknown key {', '.join(unknown[:MOST_KEYS])}; give "
            'columns: {name: {type: numeric, use: true}} and rules: ["start <= end"].'
        )
        raise InputError(message)
    return content


def _schema_name(schema: object) -> str:
    """Return how messages on a rule call the schema: by its file, without the folder."""
    return Path(schema).name if isinstance(schema, str | Path) else "schema"


def _recorded_schema(
    columns: dict[str, dict[str, Any]], rules: tuple[Rule, ...]
) -> dict[str, Any] | None:
    """Return the schema for the record; the key that was not used is left out."""
    listed = [{"name": one.name, "rule": one.text} for one in rules]
    found = {"columns": columns, "rules": listed}
    return {key: value for key, value in found.items() if value} or None


def _schema_columns(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the checked column entries of a schema."""
    columns = content.get("columns") or {}
    if not isinstance(columns, dict):
        message = "schema: columns is not a mapping of column names to type and use."
        raise InputError(message)
    return {
        text("schema", name if isinstance(name, str) else shown(name)): _schema_entry(
            shown(name), entry or {}
        )
        for name, entry in columns.items()
    }


def _schema_entry(name: str, entry: object) -> dict[str, Any]:
    """Return one checked entry: ``type`` and ``use``, either may be absent."""
    if not isinstance(entry, dict) or set(entry) - {"type", "use"}:
        message = f"schema: column {name} may hold type and use, nothing else."
        raise InputError(message)
    if "type" in entry:
        _one_of(f"schema: type of column {name}", entry["type"], DECLARED_TYPES)
    if "use" in entry and not isinstance(entry["use"], bool):
        message = f"schema: use of column {name} is not true or false."
        raise InputError(message)
    if entry.get("use") is True and entry.get("type") == "text":
        message = f"schema: column {name} cannot be used as text; give the type categorical."
        raise InputError(message)
    return dict(entry)


def _schema_file(source: object) -> dict[str, Any]:
    """Return what a YAML file holds; it may come from anyone, so only plain values are read."""
    from evalkit.yaml_file import parse_yaml

    if not isinstance(source, str | Path):
        message = "schema: give the path of a YAML file or a dict."
        raise InputError(message)
    return parse_yaml(Path(source), "schema")[1]
