"""Sections 6 and 7: what the control is worth, and which attacker each number belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import beside, facts, figure, heading, prose, table, text
from evalkit.report.diagram import holdout_diagram
from evalkit.report.subject import by_key, declared_text
from evalkit.report.view_front import declared_rows
from evalkit.report.view_verdict import recipient_words
from evalkit.report.wording import sentence, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalkit.report.blocks import Block
    from evalkit.report.subject import Subject

ADVISED_HOLDOUT_FROM_ROWS: Final = 500
OVERLAP_CODES: Final = frozenset(
    {"holdout_overlap", "holdout_equals_original", "persons_in_holdout"}
)
LONGEST_NAME: Final = 60
KNOWN_SHOWN: Final = 6


def holdout_blocks(subject: Subject, labels: Iterator[str]) -> list[Block]:
    """Return section 6: what the control is worth."""
    release = subject.assessment.release
    kind = "real" if release.holdout_kind == "real" else "approximate"
    counts: dict[str, Any] = {
        "n": formats.number(release.n_holdout),
        "w": formats.number(release.n_working),
    }
    made = declared_text(subject.declarations.get("holdout_made"))
    paragraphs = [text(prose(one, **counts)) for one in subject.text(f"holdout_{kind}")]
    if kind == "real":
        given = subject.text("holdout_set_aside" if made else "holdout_taken_as_given")
        paragraphs.insert(0, text(prose(given, **counts)))
        overlap = [text(subject.say(one)) for one in release.notes if one.code in OVERLAP_CODES]
        paragraphs += overlap or [text(prose(subject.text("holdout_overlap_none")))]
        paragraphs += _exchange_words(subject)
    shared = any(one.code == "persons_in_holdout" for one in release.notes)
    if release.individual is not None and not shared:
        by_person = "holdout_by_person" if kind == "real" else "holdout_halves_by_person"
        column = shortened(release.individual, LONGEST_NAME)
        paragraphs.append(text(prose(subject.text(by_person), column=column)))
    if kind != "real" and release.original.rows >= ADVISED_HOLDOUT_FROM_ROWS:
        paragraphs.append(text(prose(subject.text("holdout_advice"))))
    caption = prose(subject.text(f"diagram_caption_{kind}"), inline=True, figure=next(labels))
    diagram = figure([holdout_diagram(subject)], [caption], full_width=False)
    rows = [
        (subject.words["context"]["kind"], subject.words["context"][kind]),
        (subject.words["context"]["made"], made or subject.label("not_declared")),
        (subject.words["context"]["row_link"], subject.label(_row_link_key(subject))),
    ]
    return [beside([*paragraphs, diagram], facts(rows, subject.heading("control")))]


def _exchange_words(subject: Subject) -> list[Block]:
    """Return whether the holdout is a sample of the same people, with the figures behind it."""
    found = subject.assessment.release.exchange
    if found is None:
        return [text(prose(subject.text("exchange_untested")))]
    words = [subject.text("exchange_differs" if found.differs else "exchange_alike")]
    words.append(subject.text("exchange_area"))
    words += [subject.text("exchange_rank")] if found.rank is not None else []
    values: dict[str, Any] = {
        "area": formats.number(found.area, 2),
        "count": formats.number(round((found.rank or 0.0) * found.deals)),
        "deals": formats.number(found.deals),
        "n": formats.number(found.rows_original),
        "m": formats.number(found.rows_holdout),
    }
    return [text(prose(" ".join(words), **values))]


def _row_link_key(subject: Subject) -> str:
    return "declared" if subject.assessment.release.row_link else "not_declared"


def scenario_blocks(subject: Subject) -> list[Block]:
    """Return section 7: which attacker each number belongs to."""
    scenarios = [one.scenario for one in subject.assessment.scenarios()]
    declared = subject.declarations.get("scenarios")
    names = subject.words["labels"]["scenario_names"]
    given = declared if isinstance(declared, dict) else {}
    reasons = {names.get(name, name): why for name, why in given.items()}
    rows = [
        (
            shortened(one.name, LONGEST_NAME),
            (_known(one.known, subject), _reason(reasons.get(one.name), subject)),
            one.sensitive or subject.label("none"),
            subject.words["labels"]["contexts"].get(one.context) or recipient_words(subject),
            str(one.seed),
        )
        for one in scenarios
    ]
    intruder = subject.declarations.get("intruder")
    done = bool(declared_text(intruder))
    form = declared_rows(subject, "intruder", by_key(intruder, "conclusion")) if done else []
    undone = prose(f"**{sentence(subject.words['context']['not_done'])}**")
    return [
        *(text(prose(one)) for one in subject.text("scenarios")),
        *([] if subject.several_scenarios else [text(prose(subject.text("scenarios_one")))]),
        table(subject.head("scenario"), (28, 60, 22, 30, 20), rows),
        heading(subject.heading("intruder")),
        *(text(prose(one)) for one in subject.text("intruder")),
        table(subject.head("entry"), (62, 98), form) if done else text(undone),
    ]


def _reason(declared: Any, subject: Subject) -> str:
    """Return why an attacker is plausible, as declared."""
    words = declared_text(declared) or subject.label("not_declared")
    return formats.labelled(subject.words["context"]["why_plausible"], words)


def _known(names: list[str], subject: Subject) -> str:
    used = [one for one in subject.assessment.release.variables if one.used]
    listed = subject.names(names, KNOWN_SHOWN)
    if len(names) >= len(used):
        return formats.labelled(subject.label("scenario_all", count=len(names)), listed)
    return listed
