"""Cards of what is read and asked: a schema, a release, an inspection, a scenario. No cell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evalkit.displays.card import Card, Table, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.inspecting import Inspection
    from evalkit.release import InputTable, Release
    from evalkit.scenario import Scenario
    from evalkit.schema import Schema, Variable

TYPES: Final = ("numeric", "categorical", "boolean", "datetime", "text", "empty")
HASH_DIGITS: Final = 12
MOST_NAMES: Final = 8
_TITLES: Final = {"original": "originals", "avatars": "avatars", "holdout": "holdout rows"}


def schema_card(schema: Schema) -> Card:
    """Return the columns: name, type, whether used, share missing, remarks.

    Parameters
    ----------
    schema : Schema

    Returns
    -------
    Card
    """
    rows = tuple(
        (
            one.name,
            "identifier" if one.identifier else one.type,
            "yes" if one.used else "no",
            f"{one.missing_share:.1%}" if one.missing_share else "none",
            " ".join(note.text for note in one.notes),
        )
        for one in schema.variables
    )
    head = ("column", "type", "used", "missing", "remarks")
    return Card("Schema", columns_in_words(schema), tables=(Table(head, rows, "frame()"),))


def release_card(release: Release) -> Card:
    """Return sizes, kinds and hashes of the tables, the columns by type, and the notes.

    Parameters
    ----------
    release : Release

    Returns
    -------
    Card
    """
    # A part of a release has fewer rows than were read.
    tables = {"original": release.original, "avatars": release.avatars, "holdout": release.holdout}
    sizes = [f"{len(one):,} {_TITLES[role]}" for role, one in tables.items() if one is not None]
    return Card(
        "Release",
        ", ".join(sizes),
        texts=(f"{columns_in_words(release.schema)}.",),
        tables=(_inputs(release.inputs),),
        facts=(
            ("holdout", _holdout(release)),
            ("rows linked", "avatar i was made from original i" if release.row_link else "no"),
            *([("personal key", _name(release.individual))] if release.individual else []),
            *([("rules", f"{len(release.rules)}")] if release.rules else []),
            ("seed, axes", f"{release.seed}, {release.axes}"),
        ),
        notes=tuple(note.text for note in release.notes),
        hint="No row is shown. schema lists the columns, frame() how each was read.",
    )


def inspection_card(inspection: Inspection) -> Card:
    """Return what would be read as what.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    Card
    """
    sizes = [
        f"{rows:,} rows in {_name(inspection.names[role])}"
        for role, rows in inspection.rows.items()
    ]
    return Card(
        "Inspection",
        columns_in_words(inspection.schema),
        texts=(f"{', '.join(sizes)}.",),
        tables=schema_card(inspection.schema).tables,
        notes=tuple(note.text for note in inspection.notes),
        hint="frame() counts what each column holds; schema_yaml() is a schema to edit.",
    )


def scenario_card(scenario: Scenario) -> Card:
    """Return what an attacker is taken to hold.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Card
    """
    known = scenario.known
    return Card(
        "Scenario",
        _name(scenario.name) or ("all columns" if known is None else "known columns"),
        facts=(
            ("the attacker holds", "every used column" if known is None else _names(known)),
            ("sensitive column", _name(scenario.sensitive or "none")),
            ("recipient", scenario.context or "not declared"),
            ("fewest people shown", f"{scenario.min_count}"),
            ("seed", f"{scenario.seed}"),
        ),
    )


def columns_in_words(schema: Schema) -> str:
    """Return how many columns there are, how many are used, and of which types.

    Examples
    --------
    >>> from evalkit.displays.inputs import columns_in_words
    >>> from evalkit.schema import Schema, Variable
    >>> columns_in_words(Schema((Variable("age", "numeric"), Variable("remarks", "text", False))))
    '1 of 2 columns used: 1 numeric; left out: 1 text'
    """
    used = _by_type([one for one in schema.variables if one.used])
    left = _by_type([one for one in schema.variables if not one.used])
    total = len(schema.variables)
    words = f"{len(schema.used_names())} of {total} column{'' if total == 1 else 's'} used"
    return words + (f": {used}" if used else "") + (f"; left out: {left}" if left else "")


def _by_type(variables: Sequence[Variable]) -> str:
    """Return the counts of types in words."""
    counts = Counter("identifier" if one.identifier else one.type for one in variables)
    order = [kind for kind in (*TYPES, "identifier") if counts[kind]]
    return ", ".join(f"{counts[kind]} {kind}" for kind in order)


def _inputs(inputs: dict[str, InputTable]) -> Table:
    """Return name, size and the start of the SHA-256 of each table."""
    persons = any(one.individuals is not None for one in inputs.values())
    head = ("table", "file", "rows", "columns", *(["persons"] if persons else []), "SHA-256 begins")
    rows = tuple(
        (
            role,
            _name(one.name) if one.sha256 else "from a DataFrame",
            f"{one.rows:,}",
            f"{one.columns:,}",
            *([_count(one.individuals)] if persons else []),
            (one.sha256 or "none")[:HASH_DIGITS],
        )
        for role, one in inputs.items()
    )
    return Table(head, rows)


def _count(count: int | None) -> str:
    return "not told" if count is None else f"{count:,}"


def _holdout(release: Release) -> str:
    if release.holdout is not None:
        return "real: its rows were never anonymised"
    return "approximate: half of the originals stands in for one"


def _name(name: str) -> str:
    """Return a name from the data as one line."""
    return one_line(name)


def _names(names: Sequence[str]) -> str:
    """Return the first names and how many more there are."""
    left = len(names) - MOST_NAMES
    more = [f"and {left} more"] if left > 0 else []
    return ", ".join([*map(_name, names[:MOST_NAMES]), *more]) or "nothing"
