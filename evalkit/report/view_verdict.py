"""Section 1: the answer on one page, from the records alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from evalkit.report import formats
from evalkit.report.blocks import beside, facts, fill, prose, text
from evalkit.report.filled_pages import summary_of
from evalkit.report.findings import CHANCE, TOO_WEAK
from evalkit.report.subject import CRITERIA, SHORT_DIGEST, criterion_of, declared_text
from evalkit.report.view_rows import judged_measures, verdict_key, verdict_row
from evalkit.report.view_subgroups import worst_sentence
from evalkit.report.wording import (
    capitalised,
    comparable,
    grade,
    in_sentence,
    interval_words,
    joined,
    score_words,
    sentence,
    shortened,
)

if TYPE_CHECKING:
    from evalkit.report.blocks import Block
    from evalkit.report.subject import Entry, Subject

LONGEST_ENTRY: Final = 90
LONGEST_NAME: Final = 34
LONGEST_REASON: Final = 150
LETTERS_IN_LINE: Final = 68
LINES_AT_FULL_SIZE: Final = 15
"""With more lines the sentences are set smaller: page 1 stays one page."""
TOLD_IF_CLEAR: Final = ("row_direct_match_protection", "hidden_rate")
"""Avatars that equal a record, and people found by their own avatar, are on page 1 always."""
CLEAR_SHARE: Final = 0.05
EXCESSES: Final = frozenset({"excess", CHANCE})


def verdict_title(subject: Subject) -> str:
    """Return the finding of the whole report in one line."""
    titles = subject.words["verdicts"]["title"]
    if subject.copy:
        return str(titles[subject.copy])
    verdicts = {entry.result.verdict for entry in subject.entries}
    if not any(entry.result.status == "measured" for entry in subject.entries):
        return str(titles["nothing_measured"])
    if verdicts == {"not applicable"}:
        return str(titles["nothing_judged"])
    targets = _title_targets(subject)
    finding = _title_finding(subject)
    return fill(titles["joined"], targets=targets, finding=finding) if finding else targets


def verdict_blocks(subject: Subject) -> list[Block]:
    """Return the blocks of page 1."""
    fixed = prose(f"*{subject.words['verdicts']['fixed_sentence']}*")
    said = plain_sentences(subject)
    main = [*(text(one) for one in said), text(fixed)]
    key = {
        "title": subject.label("verdict_key_title"),
        "text": " ".join(filter(None, [verdict_key(subject), _choice(subject)])),
        "heads": subject.head("verdict"),
        "rows": [verdict_row(criterion, subject) for criterion in CRITERIA],
        "not_tested_title": subject.label("not_tested"),
        "not_tested": not_tested(subject),
    }
    side = facts(_identification(subject), subject.label("identification"))
    dense = sum(math.ceil(len(one) / LETTERS_IN_LINE) for one in said) > LINES_AT_FULL_SIZE
    return [beside(main, side, dense=dense), {"kind": "verdict", **key}]


def _choice(subject: Subject) -> str:
    """Return which of several measures a row shows."""
    several = any(len({one.slug for one in subject.of_criterion(key)}) > 1 for key in CRITERIA)
    return subject.label("verdict_choice") if several else ""


def plain_sentences(subject: Subject) -> list[str]:
    """Return the findings in plain words: a copy first, then each criterion, then utility."""
    plain = subject.words["verdicts"]["plain"]
    findings = [
        _finding_sentence(entry, subject)
        for criterion in CRITERIA[:-1]
        for entry in subject.of_criterion(criterion)[:1]
    ]
    said = [
        plain[subject.copy] if subject.copy else "",
        " ".join([*_shared_identifier(subject), *_hit_sentences(subject)]),
        *findings,
        _not_measured_sentence(subject),
        _utility_sentence(subject),
        worst_sentence(subject),
        *_unjudged_sentences(subject),
    ]
    return [one for one in said if one]


def not_tested(subject: Subject) -> list[str]:
    """Return the points that this assessment did not look at, one line each."""
    points = [subject.label("not_tested_generator"), subject.label("not_tested_draws")]
    run = [one for one in subject.unmeasured if subject.criterion_name(one) not in subject.not_run]
    unmeasured = [subject.criterion_name(one) for one in run]
    for key, names in {"criteria": subject.not_run, "unmeasured": unmeasured}.items():
        if names:
            criteria = joined([in_sentence(name) for name in names], subject.words)
            points.append(subject.label(f"not_tested_{key}", Criteria=capitalised(criteria)))
    if subject.left_out:
        key = "not_tested_columns" if len(subject.left_out) > 1 else "not_tested_column"
        points.append(subject.label(key, columns=subject.names(subject.left_out)))
    if not declared_text(subject.declarations.get("intruder")):
        points.append(subject.label("not_tested_intruder"))
    return points


def control_words(subject: Subject) -> str:
    """Return what kind of control there is, with the caveat of an approximate one."""
    release = subject.assessment.release
    rows = formats.number(release.n_holdout)
    if release.holdout_kind != "real":
        return subject.label("control_approximate", n=rows)
    # That nobody of it was used is known only from who set it aside.
    declared = declared_text(subject.declarations.get("holdout_made"))
    form = "" if declared else "_undeclared"
    if release.holdout is not None and release.holdout.individuals:
        people = formats.number(release.holdout.individuals)
        return subject.label(f"control_real_people{form}", n=people, rows=rows)
    return subject.label(f"control_real{form}", n=rows)


def profile_words(subject: Subject) -> str:
    """Return the target profile with its date, before or after the run."""
    profile = subject.assessment.profile
    if profile is None:
        return subject.label("profile_none")
    later = profile.date[:10] > subject.assessment.created[:10]
    dated = "profile_after" if later else "profile_before"
    key = dated if profile.date else "profile_undated"
    words = subject.label(key, name=profile.name, date=formats.date(profile.date))
    if any(message.code == "other_recipient" for message in profile.warnings):
        return subject.label("profile_other", words=words)
    return words


def short_hash(subject: Subject, table: Any) -> str:
    """Return the name of an input with the first digits of its hash."""
    if table.sha256 is None:
        return f"{shortened(table.name, LONGEST_NAME)}, {subject.label('from_dataframe')}"
    name = shortened(table.name, LONGEST_NAME)
    return subject.label("short_hash", name=name, digest=table.sha256[:SHORT_DIGEST])


def recipient_words(subject: Subject) -> str:
    """Return the recipient as declared, else the one of the scenario."""
    declared = declared_text(subject.declarations.get("recipient"))
    context = subject.assessment.scenario.context
    known = subject.words["labels"]["contexts"].get(context, context) if context else ""
    return declared or known or subject.label("not_declared")


def _identification(subject: Subject) -> list[tuple[str, str]]:
    release = subject.assessment.release
    rows = subject.label(
        "rows",
        originals=formats.number(release.original.rows),
        avatars=formats.number(release.avatars.rows),
    )
    entries = [
        ("id_date", formats.date(subject.assessment.created)),
        ("id_avatars", short_hash(subject, release.avatars)),
        ("id_recipient", _entry(recipient_words(subject), subject)),
        ("id_purpose", _entry(subject.declared("purpose"), subject)),
        ("id_control", control_words(subject)),
        ("id_rows", rows),
        ("id_profile", profile_words(subject)),
    ]
    return [(subject.label(key), value) for key, value in entries]


def _entry(text: str, subject: Subject) -> str:
    if len(text) <= LONGEST_ENTRY:
        return text
    return subject.label("cut", text=shortened(text, LONGEST_ENTRY).rstrip("…"), section="3")


def _title_targets(subject: Subject) -> str:
    """Return how many of the targets are met, missed and not judged: none is passed over."""
    met, missed = (len(one) for one in judged_measures(subject.entries))
    counts = {"met": met, "missed": missed, "unjudged": len(subject.unjudged_targets)}
    first, *others = [one for one, count in counts.items() if count] or [""]
    if not first:
        return str(subject.words["verdicts"]["title"]["no_target"])
    parts = [_targets(counts[first], first, subject).capitalize()]
    parts += [_targets(counts[one], f"{one}_too", subject) for one in others]
    return ", ".join(parts)


def _targets(count: int, outcome: str, subject: Subject) -> str:
    """Return "two targets met", in one piece: a language may bend each word of it."""
    forms = subject.words["verdicts"]["title"][outcome]
    return fill(forms["one" if count == 1 else "many"], count=formats.count_word(count))


def _title_finding(subject: Subject) -> str:
    """Return the gravest that leading attacks show; without an excess, which were too weak."""
    words = subject.words["verdicts"]["attack_title"]
    found = [
        (criterion_of(entry.result), entry.finding.key)
        for criterion in CRITERIA[:-1]
        for entry in subject.of_criterion(criterion)[:1]
    ]
    shown = [wanted for wanted in words if any(finding == wanted for _, finding in found)]
    quiet = not EXCESSES & set(shown)
    told = [*shown[:1], *(one for one in shown[1:] if quiet and one == TOO_WEAK)]
    parts = []
    for wanted in told:
        hits = [criterion for criterion, finding in found if finding == wanted]
        names = [in_sentence(subject.criterion_name(hit)) for hit in hits]
        form = words[wanted]["one" if len(hits) == 1 else "many"]
        parts.append(fill(form, criterion=joined(names, subject.words)))
    return formats.listed(parts)


def _finding_sentence(entry: Entry, subject: Subject) -> str:
    """Return what page 1 says of the result that leads a criterion, from its own page."""
    if entry.result.status != "measured":
        return ""
    if not comparable(entry.result):
        name = in_sentence(subject.criterion_name(criterion_of(entry.result)))
        return fill(subject.words["verdicts"]["plain"]["not_comparable"], criterion=name)
    if entry.finding.key == CHANCE:
        return _chance_sentence(entry, subject)
    return summary_of(entry, subject) or _score_sentence(entry, subject)


def _shared_identifier(subject: Subject) -> list[str]:
    """Return that most values of an identifier recur among the avatars, for the worst of them."""
    worst = subject.shared_identifiers[:1]
    return [sentence(shortened(subject.say(message), LONGEST_REASON)) for message in worst]


def _hit_sentences(subject: Subject) -> list[str]:
    """Return what a clear share of people or avatars shows where another measure leads."""
    if subject.copy:
        return []
    leads = {found[0].slug for one in CRITERIA if (found := subject.of_criterion(one))}
    found = [one for slug in TOLD_IF_CLEAR if slug not in leads for one in subject.of_measure(slug)]
    clear = [one for one in found if (one.result.facts.get("success_share") or 0.0) >= CLEAR_SHARE]
    return [summary_of(one, subject) for one in clear if one.result.status == "measured"]


def _chance_sentence(entry: Entry, subject: Subject) -> str:
    """Return that an excess may be chance among the attacks of its scenario."""
    low, high = entry.result.facts["excess_interval"]
    return fill(
        subject.words["verdicts"]["plain"]["chance"],
        Criterion=subject.criterion_name(criterion_of(entry.result)),
        low=formats.points(low),
        high=formats.points(high),
        count=formats.count_word(entry.finding.attacks),
    )


def _score_sentence(entry: Entry, subject: Subject) -> str:
    """Return the score alone, for a measure of another version that has no page here."""
    key = "score" if entry.result.interval else "score_alone"
    return fill(
        subject.words["verdicts"]["plain"][key],
        name=subject.name(entry.slug),
        score=score_words(entry.result, subject.words),
        interval=interval_words(entry.result, subject.words),
    )


def _unjudged_sentences(subject: Subject) -> list[str]:
    """Return once each why numbers of page 1 are not judged."""
    form = subject.words["verdicts"]["plain"]["not_judged"]
    leads = [found[0].result for one in CRITERIA if (found := subject.of_criterion(one))]
    reasons = [
        sentence(shortened(subject.say(one.reason), LONGEST_REASON))
        for one in leads
        if grade(one) == "not_judged" and comparable(one) and one.reason is not None
    ]
    return [fill(form, reason=reason) for reason in dict.fromkeys(reasons)]


def _not_measured_sentence(subject: Subject) -> str:
    plain = subject.words["verdicts"]["plain"]
    unmeasured = [
        in_sentence(subject.criterion_name(criterion))
        for criterion in CRITERIA[:-1]
        if not any(one.result.status == "measured" for one in subject.of_criterion(criterion))
    ]
    key = "not_measured_one" if len(unmeasured) == 1 else "not_measured"
    criteria = capitalised(joined(unmeasured, subject.words))
    return fill(plain[key], Criteria=criteria) if unmeasured else ""


def _utility_sentence(subject: Subject) -> str:
    plain = subject.words["verdicts"]["plain"]
    found = subject.of_criterion("utility")
    if not found:
        return str(plain["no_utility"])
    if found[0].result.status == "measured":
        return _finding_sentence(found[0], subject)
    reason = subject.say(found[0].result.reason)
    return fill(plain["utility_no_reference"], reason=shortened(reason, LONGEST_REASON))
