"""Sections 15 to F: who answers for the report, what it rests on, and how to check it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from evalkit.prose import clean_text
from evalkit.report import formats
from evalkit.report.blocks import beside, fill, heading, items, note, prose, table, text
from evalkit.report.subject import SHORT_DIGEST, criterion_of
from evalkit.report.typography import typeset
from evalkit.report.view_distributions import distribution_blocks
from evalkit.report.view_front import ROWS_SHOWN, VARIABLES_SHOWN, files, variable_table
from evalkit.report.view_reading import reading_blocks
from evalkit.report.view_subgroups import full_subgroup_blocks
from evalkit.report.wording import (
    COMPARED,
    aim_words,
    attack_finding,
    interval_words,
    score_words,
    sentence,
    shortened,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.records import ProfileRecord
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Entry, Subject

LONGEST_NAME: Final = 60
NAMES_ACROSS: Final = 4
TIMES: Final = "\u00d7"


def signoff_blocks(subject: Subject) -> list[Block]:
    """Return section 15: the form."""
    words, assessment = subject.words["signoff"], subject.assessment
    avatars = assessment.release.avatars.sha256 or formats.NO_VALUE
    foot = fill(
        words["foot"],
        digest=subject.digest[:SHORT_DIGEST],
        avatars=avatars[:SHORT_DIGEST],
        version=assessment.evalkit,
        schema=assessment.schema_version,
        date=formats.date(assessment.created),
    )
    form = {
        "kind": "form",
        "heads": words["head"],
        "entries": words["entries"],
        "boxes": [{"label": label, "options": options} for label, options in words["boxes"]],
        "decision": subject.heading("decision"),
        "signatures": subject.heading("signatures"),
        "blank_head": words["blank_head"],
        "signature_rows": words["signature_rows"],
        "signatories": words["signatories"],
        "foot": foot,
    }
    checklist = {
        "kind": "checklist",
        "title": words["checklist_title"],
        "items": [prose(one, inline=True) for one in words["checklist"]],
    }
    main = [text(prose(one)) for one in subject.text("signoff")]
    return [
        beside(main, note(subject.text("signoff_aside"), subject.heading("decision"))),
        form,
        checklist,
    ]


def target_blocks(subject: Subject) -> list[Block]:
    """Return annex A: who set which value, when, and what came of it."""
    profile = subject.assessment.profile
    intro = [text(prose(one)) for one in subject.text("targets")]
    rows = [_target_row(entry, subject) for entry in subject.entries if entry.result.target]
    found = [table(subject.head("target"), (44, 24, 28, 24, 40), rows)] if rows else []
    if profile is None:
        return [*intro, text(subject.text("no_profile")), *found]
    names = subject.words["labels"]["profile_fields"]
    role = subject.words["labels"]["issuer_roles"].get(profile.issuer_role, profile.issuer_role)
    entries = [
        (names["name"], profile.name),
        (names["issuer"], f"{profile.issuer} ({role})"),
        (names["date"], formats.date(profile.date)),
        (names["status"], names["statuses"].get(profile.status, profile.status)),
        (
            names["caveat"],
            _caveat(profile, subject.pages.language) or formats.NO_VALUE,
        ),
        (names["context"], _listed(profile.context, subject)),
        (names["source"], _listed(profile.source, subject)),
        *((names["remark"], sentence(subject.say(message))) for message in profile.warnings),
        *([(names["unmeasured"], ", ".join(profile.unmeasured))] if profile.unmeasured else []),
        ("SHA-256", profile.sha256),
    ]
    return [*intro, table(subject.head("entry"), (38, 122), entries), *found]


def method_blocks(subject: Subject) -> list[Block]:
    """Return annex B: where each definition comes from."""
    labels = subject.words["labels"]
    slugs = list(dict.fromkeys(entry.slug for entry in subject.entries))
    rows = []
    for slug in slugs:
        result = next(entry.result for entry in subject.entries if entry.slug == slug)
        method = labels["interval_methods"].get(result.interval_method, result.interval_method)
        source = subject.text("founding" if slug in subject.words["methods"] else "other_source")
        rows.append(
            (subject.name(slug), str(result.version), method or labels["no_interval"], source)
        )
    compared = sum(attack_finding(entry.result) in COMPARED for entry in subject.entries)
    counted = fill(subject.text("tests_counted"), count=compared)
    return [
        *(text(prose(one)) for one in subject.text("methods")),
        table(subject.head("method"), (46, 16, 40, 58), rows),
        *([text(counted)] if compared else []),
        heading(subject.heading("references")),
        items([prose(one, inline=True) for one in subject.words["references"]["entries"]]),
    ]


def provenance_blocks(subject: Subject) -> list[Block]:
    """Return annex C: hashes, versions, options, and what the report leaves out on purpose."""
    assessment = subject.assessment
    json_file = ("assessment.json", f"{len(subject.content):,}", "", subject.digest)
    hashes = [(*row[:1], "", "", row[3]) for row in files(subject)]
    rows = [(name, digest) for name, _, _, digest in (json_file, *hashes)]
    versions = [("evalkit", assessment.evalkit), *sorted(assessment.versions.items())]
    options = [(name, _plain(value)) for name, value in sorted(assessment.options.items())]
    min_count = assessment.scenario.min_count
    protection = subject.text("protection")
    return [
        *(text(prose(one)) for one in subject.text("provenance")),
        table([subject.head("file")[0], "SHA-256"], (56, 104), rows),
        heading(subject.heading("versions")),
        table(subject.head("entry"), (62, 98), versions),
        heading(subject.heading("options")),
        table(subject.head("entry"), (62, 98), options[:ROWS_SHOWN])
        if options
        else text(subject.label("none")),
        heading(subject.heading("protection")),
        *(text(prose(one, min_count=min_count)) for one in protection),
    ]


def glossary_blocks(subject: Subject) -> list[Block]:
    """Return annex D."""
    entries = [tuple(entry) for entry in subject.text("glossary")]
    return [table(subject.head("glossary"), (46, 114), entries)]


def full_blocks(subject: Subject) -> list[Block]:
    """Return annex E: what was cut short above."""
    variables = subject.assessment.release.variables
    known = [
        (shortened(one.scenario.name, LONGEST_NAME), ", ".join(one.scenario.known))
        for one in subject.assessment.scenarios()
    ]
    blocks = [
        heading(subject.heading("scores")),
        table(subject.head("scores"), (42, 28, 14, 26, 34, 16), _score_rows(subject)),
        heading(subject.heading("known")),
        table(subject.head("known"), (40, 120), known),
    ]
    if len(variables) > VARIABLES_SHOWN:
        count = len(variables)
        cut = subject.label("table_cut", shown=ROWS_SHOWN, count=count)
        rows = variable_table(subject, variables[:ROWS_SHOWN], cut if count > ROWS_SHOWN else "")
        blocks += [heading(subject.heading("variables")), rows]
    return [
        *blocks,
        *_pair_tables(subject),
        *_matrix_names(subject),
        *full_subgroup_blocks(subject),
        *distribution_blocks(subject),
        *reading_blocks(subject),
    ]


def attachment_blocks(subject: Subject) -> list[Block]:
    """Return annex F: the archived form itself."""
    size = formats.number(len(subject.content))
    return [
        *(text(prose(one, size=size)) for one in subject.text("attachment")),
        {
            "kind": "attachment",
            "pdf": subject.text("attachment_pdf"),
            "html": subject.text("attachment_html"),
            "open": subject.text("attachment_open"),
            "lines": _json_lines(subject.content.decode("utf-8")),
        },
    ]


def _json_lines(content: str) -> list[str]:
    """Return JSON line by line; what no output may carry as it is stands there as an escape."""
    for character in set(content) - {"\n"}:
        if clean_text(character) != character:
            content = content.replace(character, json.dumps(character)[1:-1])
    return content.splitlines()


def _target_row(entry: Entry, subject: Subject) -> Sequence[Any]:
    target = entry.result.target
    labels = subject.words["labels"]
    name = (subject.name(entry.slug), subject.scenario_name(entry, LONGEST_NAME))
    definition = labels["definition_words"].get(target.definition) if target else ""
    words = aim_words(target, subject.words, entry.result.unit) if target else ""
    issuer = target.issuer if target else ""
    return (name, words, issuer, definition, verdict_words(entry.result, subject.words))


def _score_rows(subject: Subject) -> list[Sequence[Any]]:
    return [
        (
            (subject.name(entry.slug), subject.criterion_name(criterion_of(entry.result))),
            subject.scenario_name(entry, LONGEST_NAME),
            score_words(entry.result, subject.words),
            interval_words(entry.result, subject.words),
            subject.words["verdicts"]["brief"].get(entry.result.verdict, entry.result.verdict),
            formats.number(entry.result.seconds, 2),
        )
        for entry in subject.entries[:ROWS_SHOWN]
    ]


def _pair_tables(subject: Subject) -> list[Block]:
    """Return the pairs of variables that changed most, in numbers."""
    blocks: list[Block] = []
    for entry in subject.entries:
        pairs = entry.result.facts.get("worst_pairs")
        if not pairs:
            continue
        rows = [
            (
                f"{shortened(str(one['first']), 30)} {TIMES} {shortened(str(one['second']), 30)}",
                *(formats.number(one.get(key), 2) for key in ("working", "avatars", "holdout")),
                formats.number(one.get("change"), 2),
            )
            for one in pairs
        ]
        title = fill(subject.heading("pairs"), name=subject.name(entry.slug))
        blocks += [heading(title), table(subject.head("pairs"), (80, 20, 20, 20, 20), rows)]
    return blocks


def _matrix_names(subject: Subject) -> list[Block]:
    """Return the names of the variables that a picture shows by their numbers only."""
    from evalkit.figures.matrix import MOST_NAMED

    blocks: list[Block] = []
    for entry in subject.entries:
        names = entry.result.facts.get("matrix_variables") or []
        if len(names) <= MOST_NAMED:
            continue
        numbered = [f"{place}  {shortened(str(name), 30)}" for place, name in enumerate(names, 1)]
        down = math.ceil(len(numbered) / NAMES_ACROSS)
        rows = [
            [*numbered[row::down], *[""] * (NAMES_ACROSS - len(numbered[row::down]))]
            for row in range(down)
        ]
        title = fill(subject.heading("matrix_names"), name=subject.name(entry.slug))
        names_table = table(subject.head("matrix_names"), (40,) * NAMES_ACROSS, rows)
        blocks += [heading(title), names_table]
    return blocks


def _listed(values: dict[str, Any], subject: Subject) -> str:
    """Return the filled fields of a profile as one line: "recipient: …; data type: …"."""
    labels = subject.words["labels"]
    names = labels["profile_fields"]["keys"]
    parts = [
        formats.labelled(
            names.get(key, key.replace("_", " ")),
            formats.date(value) if key == "read" else _known_value(value, labels),
        )
        for key, value in values.items()
        if value not in (None, "")
    ]
    return formats.listed(parts) or formats.NO_VALUE


def _caveat(profile: ProfileRecord, language: str) -> str:
    """Return what a profile says against itself, in English where it says no more."""
    said = profile.caveats.get(language)
    return typeset(said, language) if said else profile.caveat


def _known_value(value: Any, labels: dict[str, Any]) -> str:
    """Return a value of a profile, a recipient in the words of the report."""
    text = _plain(value)
    return str(labels["contexts"].get(text.lower().replace(" ", "-"), text))


def _plain(value: Any) -> str:
    """Return an option as one line of text."""
    if value is None or value in ("", [], {}):
        return formats.NO_VALUE
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
