"""Sections 2 to 5: to what the findings apply, as recorded and as declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import beside, heading, note, prose, table, text
from evalkit.report.declared import field_key
from evalkit.report.subject import by_key, declared_text
from evalkit.report.view_verdict import control_words, profile_words, recipient_words
from evalkit.report.wording import sentence, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.messages import Message
    from evalkit.records import InputRecord, VariableRecord
    from evalkit.report.blocks import Block, Prose
    from evalkit.report.subject import Subject

VARIABLES_SHOWN: Final = 40
ROWS_SHOWN: Final = 300
LONGEST_NAME: Final = 60
_ELSEWHERE: Final = frozenset({"treatment", "intruder", "scenarios"})


def scope_blocks(subject: Subject) -> list[Block]:
    """Return section 2: files, people, validity."""
    assessment = subject.assessment
    schema = assessment.schema_version
    people = {role: name for role, name in assessment.people.items() if name}
    entries = [
        (subject.label("id_date"), formats.date(assessment.created)),
        (subject.label("id_control"), control_words(subject)),
        (subject.label("id_recipient"), recipient_words(subject)),
        (subject.label("id_profile"), profile_words(subject)),
        ("evalkit", subject.label("id_version", version=assessment.evalkit, schema=schema)),
        (subject.label("fact_seed"), _seeds(subject)),
        *declared_rows(subject, "people", subject.declarations | people),
        *declared_rows(subject, "administration", subject.declarations),
    ]
    return [
        *(text(prose(one)) for one in subject.text("scope")),
        *_persons_against_rows(subject),
        heading(subject.heading("files")),
        table(subject.head("file"), (25, 18, 17, 100), files(subject)),
        heading(subject.heading("validity")),
        table(subject.head("entry"), (62, 98), entries),
    ]


def _seeds(subject: Subject) -> str:
    """Return each seed with what it draws: the halves only where there is no real holdout."""
    scenarios = [one.scenario for one in subject.assessment.scenarios()]
    key = "seed_scenarios" if subject.several_scenarios else "seed_scenario"
    drawn = [
        subject.label(key, name=shortened(one.name, LONGEST_NAME), seed=one.seed)
        for one in scenarios
    ]
    release = subject.assessment.release
    if release.holdout_kind != "real":
        drawn.append(subject.label("seed_halves", seed=release.seed))
    return ", ".join(drawn)


def _persons_against_rows(subject: Subject) -> list[Block]:
    """Return whether persons were counted or rows, and how many of both there are."""
    release = subject.assessment.release
    if release.individual is None:
        return [text(prose(subject.text("scope_rows")))]
    words = []
    tables = {"scope_persons": release.original, "scope_persons_holdout": release.holdout}
    for key, one in tables.items():
        if one is not None and one.individuals:
            values: dict[str, Any] = {
                "persons": formats.number(one.individuals),
                "rows": formats.number(one.rows),
                "each": formats.number(one.rows / one.individuals, 1),
                "column": shortened(release.individual, LONGEST_NAME),
            }
            words.append(text(prose(subject.text(key), **values)))
    return words


def context_blocks(subject: Subject) -> list[Block]:
    """Return section 3: what the controller declared, and what was left open."""
    rows = declared_rows(subject, "context", subject.declarations | _recipient(subject))
    listed = {key for group in subject.words["context"].values() for key in _keys(group)}
    others = [
        (shortened(key, LONGEST_NAME), declared_text(value))
        for key, value in subject.assessment.declared.items()
        if field_key(key) not in listed | _ELSEWHERE
    ]
    main = [text(prose(one)) for one in subject.text("context")]
    side = note(subject.text("context_aside"), subject.heading("people"))
    return [
        beside(main, side, sticky=True),
        table(subject.head("entry"), (62, 98), [*rows, *others]),
    ]


def data_blocks(subject: Subject) -> list[Block]:
    """Return section 4: the columns, no values."""
    variables = subject.assessment.release.variables
    caption = ""
    if len(variables) > VARIABLES_SHOWN:
        caption = subject.label("variables_cut", shown=VARIABLES_SHOWN, count=len(variables))
    intro = [text(prose(one)) for one in subject.text("data")]
    return [*intro, variable_table(subject, variables[:VARIABLES_SHOWN], caption)]


def treatment_blocks(subject: Subject) -> list[Block]:
    """Return section 5: how the avatars were made, as declared."""
    fields = by_key(subject.declarations.get("treatment"), "method")
    main = [text(prose(one)) for one in subject.text("treatment")]
    side = note(subject.text("treatment_aside"), subject.heading("treatment"))
    rows = declared_rows(subject, "treatment", fields)
    return [beside(main, side, sticky=True), table(subject.head("entry"), (62, 98), rows)]


def declared_rows(subject: Subject, group: str, values: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return label and declared value of each field of a group; open ones say so in bold."""
    missing = prose(f"**{subject.label('not_declared')}**", inline=True)
    return [
        (str(label), declared_text(values.get(key)) or missing)
        for key, label in subject.words["context"][group]
    ]


def files(subject: Subject) -> list[Sequence[Any]]:
    """Return one row per input table: name, rows, columns, hash."""
    release = subject.assessment.release
    tables = {
        "originals": release.original,
        "avatars": release.avatars,
        "holdout": release.holdout,
    }
    return [_file_row(one, subject.label(role), subject) for role, one in tables.items() if one]


def variable_table(
    subject: Subject, variables: Sequence[VariableRecord], caption: Prose | str
) -> Block:
    """Return the table of columns."""
    rows = [_variable_row(one, subject) for one in variables]
    return table(subject.head("variable"), (33, 18, 15, 14, 15, 16, 49), rows, caption=caption)


def _file_row(one: InputRecord, role: str, subject: Subject) -> Sequence[Any]:
    digest = one.sha256 or subject.label("from_dataframe")
    name = (shortened(one.name, LONGEST_NAME), role)
    rows: Any = formats.number(one.rows)
    if one.individuals is not None:
        persons = subject.label("persons_counted", count=formats.number(one.individuals))
        rows = (rows, persons)
    return (name, rows, formats.number(one.columns), digest)


def _variable_row(one: VariableRecord, subject: Subject) -> Sequence[Any]:
    return (
        shortened(one.name, LONGEST_NAME),
        subject.type_of(one),
        subject.words["labels"]["roles"].get(one.role, one.role),
        subject.label("is_used" if one.used else "is_left_out"),
        formats.share(one.missing_share),
        subject.words["labels"]["level_bands"].get(one.level_band, one.level_band)
        or formats.NO_VALUE,
        " ".join(_note(subject, one.name, message) for message in one.notes) or formats.NO_VALUE,
    )


def _note(subject: Subject, column: str, message: Message) -> str:
    """Return a note as a sentence; the row names the column already."""
    return sentence(subject.say(message).removeprefix(subject.label("column_named", column=column)))


def _recipient(subject: Subject) -> dict[str, str]:
    """Return the recipient of the scenario where none was declared in words."""
    words = recipient_words(subject)
    return {} if words == subject.label("not_declared") else {"recipient": words}


def _keys(group: Any) -> list[str]:
    return [str(field[0]) for field in group] if isinstance(group, list) else []
