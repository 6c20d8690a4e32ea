"""What a report is about: one assessment, its words and pages, and the few things all parts ask."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import date as calendar_date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from evalkit.errors import InputError
from evalkit.report import formats
from evalkit.report.blocks import fill
from evalkit.report.declared import field_key
from evalkit.report.findings import CHANCE, Finding, findings_of
from evalkit.report.sentences import message_words
from evalkit.report.wording import headline, joined, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.messages import Message
    from evalkit.records import Assessment, Result, ScenarioRecord, VariableRecord
    from evalkit.report.pages import Page, Pages
    from evalkit.report.words import Words

CRITERIA: Final = ("singling out", "linkability", "inference", "membership", "utility")
"""The rows of the verdict table and sections 8 to 12, in this order."""
FIRST_CRITERION_SECTION: Final = 8
SHORT_DIGEST: Final = 8
LONGEST_HEAD: Final = 60
SHOWN_NAMES: Final = 3
COPY_CODES: Final = ("copy", "all_avatars_are_originals")
"""Notes of a release after which nothing else comes first."""
SHARED_IDENTIFIER: Final = "identifier_shared"
"""Note of a column whose values, those of a key of persons, occur among the avatars."""
JUDGED: Final = frozenset({"met", "not met"})
_VERDICT_ORDER: Final = ("not met", "met", "no target", "not applicable")
_BASIS_ORDER: Final = ("attack", "matches", "distances", "comparison")


class Entry(NamedTuple):
    """One result with its measure, its scenario, and what it shows among the others there."""

    scenario: ScenarioRecord
    slug: str
    result: Result
    finding: Finding = Finding()


@dataclass(frozen=True)
class Subject:
    """An assessment beside everything needed to write about it.

    Attributes
    ----------
    assessment : Assessment
        The archived records.
    content : bytes
        Its JSON, as it is attached.
    words : dict
        Words of the language.
    pages : Pages
        Pages of the metrics.
    filled_pages : dict
        Pages already filled, by slug and scenario.
    """

    assessment: Assessment
    content: bytes
    words: Words
    pages: Pages
    filled_pages: dict[tuple[str, str], Page] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the JSON, 64 hexadecimal digits."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def entries(self) -> list[Entry]:
        """Return every result of every scenario, the first scenario first."""
        return [
            Entry(one.scenario, slug, one.results[slug], finding)
            for one in self.assessment.scenarios()
            for slug, finding in findings_of(one.results).items()
        ]

    @property
    def several_scenarios(self) -> bool:
        """Return whether there is more than the first scenario."""
        return bool(self.assessment.more_scenarios)

    def of_criterion(self, criterion: str) -> list[Entry]:
        """Return the results of one row of the verdict table, the one that leads first.

        An attack with an excess leads, one that may be chance after one that stands; then what
        missed its target, then attacks; among equals the lowest score.
        """
        found = [entry for entry in self.entries if criterion_of(entry.result) == criterion]
        return sorted(found, key=_rank)

    def of_measure(self, slug: str) -> list[Entry]:
        """Return the results of one measure over the scenarios, the one that leads first."""
        return sorted((entry for entry in self.entries if entry.slug == slug), key=_rank)

    def by_scenario(self, slug: str) -> bool:
        """Return whether a measure differs from scenario to scenario: it uses what is known."""
        return self.several_scenarios and self._uses_known(slug)

    def scenario_name(self, entry: Entry, longest: int) -> str:
        """Return the scenario of a result, or that it is the same in any."""
        used = self._uses_known(entry.slug)
        return shortened(entry.scenario.name, longest) if used else self.label("any_scenario")

    def _uses_known(self, slug: str) -> bool:
        from evalkit import metrics

        known = {metric.slug: metric.uses_known for metric in metrics.all()}
        return known.get(slug, True)  # A measure of another version was computed for a scenario.

    @cached_property
    def copy(self) -> str:
        """Return the code of the note that the avatars are originals, or the empty text."""
        codes = [message.code for message in self.assessment.release.notes]
        return next((code for code in COPY_CODES if code in codes), "")

    def say(self, message: Message | None) -> str:
        """Return a reason, warning or note in the report's language; empty for None."""
        return message_words(message, self.words)

    def type_of(self, variable: VariableRecord) -> str:
        """Return what a column was read as, and whether it looks like an identifier."""
        kind = self.words["labels"]["types"].get(variable.type, variable.type)
        return self.label("identifier_of", type=kind) if variable.identifier else str(kind)

    def name(self, slug: str) -> str:
        """Return the plain name of a measure."""
        return self.pages.name(slug)

    def label(self, key: str, **values: Any) -> str:
        """Return one of the labels, filled."""
        return fill(str(self.words["labels"][key]), **values)

    def text(self, key: str) -> Any:
        """Return a text of the sections: one template, or a list of paragraphs."""
        return self.words["texts"][key]

    def heading(self, key: str) -> str:
        """Return a heading inside a section."""
        return str(self.words["labels"]["sections"][key])

    def head(self, key: str) -> list[str]:
        """Return the heads of a table's columns."""
        return [str(word) for word in self.words["labels"][f"{key}_head"]]

    def criterion_name(self, criterion: str) -> str:
        """Return a criterion as its row and its section call it."""
        return str(self.words["labels"]["criteria"].get(criterion, criterion))

    def declared(self, key: str) -> str:
        """Return what was declared under `key` as text, or the words for nothing."""
        return declared_text(self.declarations.get(key)) or self.label("not_declared")

    @cached_property
    def declarations(self) -> dict[str, Any]:
        """Return what was declared, by the keys of ``context.yaml``."""
        return by_key(self.assessment.declared)

    def names(self, names: Sequence[str], shown: int = SHOWN_NAMES, longest: int = 30) -> str:
        """Return names in words, long lists and long names cut."""
        short = [shortened(name, longest) for name in names]
        if len(short) <= shown:
            return joined(short, self.words)
        return self.label("and_more", names=", ".join(short[:shown]), count=len(short) - shown)

    @property
    def left_out(self) -> list[str]:
        """Return the names of the columns that no measure saw."""
        return [one.name for one in self.assessment.release.variables if not one.used]

    @cached_property
    def not_run(self) -> list[str]:
        """Return the names of the privacy criteria without any measure."""
        return [self.criterion_name(one) for one in CRITERIA[:-1] if not self.of_criterion(one)]

    @cached_property
    def unmeasured(self) -> list[str]:
        """Return the privacy criteria without a measured result, whatever was asked for."""
        measured = {
            criterion_of(one.result) for one in self.entries if one.result.status == "measured"
        }
        return [one for one in CRITERIA[:-1] if one not in measured]

    @cached_property
    def unjudged_targets(self) -> list[str]:
        """Return the slugs for which a target was set that judged no result of theirs."""
        set_for = [one.slug for one in self.entries if one.result.target is not None]
        judged = {one.slug for one in self.entries if one.result.verdict in JUDGED}
        profile = self.assessment.profile
        known = [one for one in dict.fromkeys(set_for) if one not in judged]
        return [*known, *(profile.unmeasured if profile else [])]

    @cached_property
    def shared_identifiers(self) -> list[Message]:
        """Return the notes on identifiers whose values occur among the avatars, worst first."""
        notes = [
            message
            for one in self.assessment.release.variables
            for message in one.notes
            if message.code == SHARED_IDENTIFIER
        ]
        return sorted(notes, key=lambda one: -int(one.values.get("shared", 0)))

    @property
    def title(self) -> str:
        """Return the title of the report, shortened for its running head."""
        return shortened(self.assessment.title, LONGEST_HEAD)


def with_scenario_names(assessment: Assessment, words: Words) -> Assessment:
    """Return `assessment` with the names that scenarios have by default in the report's words."""
    names = words["labels"]["scenario_names"]

    def named(record: ScenarioRecord) -> ScenarioRecord:
        return replace(record, name=names.get(record.name, record.name))

    return replace(
        assessment,
        scenario=named(assessment.scenario),
        more_scenarios=[
            replace(one, scenario=named(one.scenario)) for one in assessment.more_scenarios
        ],
    )


def criterion_of(result: Result) -> str:
    """Return the row of the verdict table that a result belongs to."""
    return "utility" if result.section == "utility" else str(result.criterion)


def section_of(criterion: str) -> str:
    """Return the number of a criterion's section."""
    return str(FIRST_CRITERION_SECTION + CRITERIA.index(criterion))


def day_of(created: str) -> calendar_date:
    """Return the day of the run; a file made by hand may hold anything there."""
    try:
        return calendar_date.fromisoformat(created[:10])
    except ValueError:
        message = "assessment.json: 'created' is not a date such as 2026-11-29T19:00:00Z."
        raise InputError(message) from None


def by_key(fields: Any, only_field: str = "") -> dict[str, Any]:
    """Return declared fields by their keys; what is no mapping counts as `only_field`."""
    if isinstance(fields, dict):
        return {field_key(name): value for name, value in fields.items()}
    return {only_field: fields}


def declared_text(value: Any) -> str:
    """Return a declared value, of any JSON form, as one line of text."""
    if value is None or value == "":
        return ""
    if isinstance(value, dict):
        return formats.listed(
            formats.labelled(key, declared_text(one)) for key, one in value.items()
        )
    if isinstance(value, list):
        return formats.listed(declared_text(one) for one in value)
    return str(value)


def _rank(entry: Entry) -> tuple[bool, int, int, int, float]:
    result = entry.result
    verdict = _VERDICT_ORDER.index(result.verdict) if result.verdict in _VERDICT_ORDER else 0
    basis = _BASIS_ORDER.index(result.basis) if result.basis in _BASIS_ORDER else 0
    measured = result.status == "measured"
    # A count of avatars is on no common scale with percentages: it comes after them.
    lowest_first = (headline(result) or 0.0) if result.unit == "%" else float("inf")
    excess = {"excess": 0, CHANCE: 1}.get(str(entry.finding.key), 2)
    return (not measured, excess, verdict, basis, lowest_first)
