"""Section 1: the answer on one page, from the records alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evalkit import formats
from evalkit.blocks import beside, facts, fill, prose, text
from evalkit.subject import CRITERIA, SHORT_DIGEST, criterion_of, declared_text
from evalkit.view_rows import verdict_row
from evalkit.wording import (
    attack_finding,
    comparable,
    grade,
    headline,
    joined,
    sentence,
    shortened,
    worst_pair,
)

if TYPE_CHECKING:
    from evalkit.blocks import Block
    from evalkit.subject import Entry, Subject

LONGEST_ENTRY: Final = 90
LONGEST_NAME: Final = 34
LONGEST_REASON: Final = 150


def verdict_title(subject: Subject) -> str:
    """Return the finding of the whole report in one line."""
    titles = subject.words["verdicts"]["title"]
    verdicts = [entry.result.verdict for entry in subject.entries]
    met, missed = verdicts.count("met"), verdicts.count("not met")
    if not any(entry.result.status == "measured" for entry in subject.entries):
        return str(titles["nothing_measured"])
    if set(verdicts) == {"not applicable"}:
        return str(titles["nothing_judged"])
    form = "mixed" if met and missed else "all_met" if met else "all_missed" if missed else ""
    targets = fill(
        titles[form or "no_target"],
        Met=_targets(met, subject).capitalize(),
        missed=formats.count_word(missed),
        Missed=_targets(missed, subject).capitalize(),
    )
    finding = _title_finding(subject)
    return fill(titles["joined"], targets=targets, finding=finding) if finding else targets


def verdict_blocks(subject: Subject) -> list[Block]:
    """Return the blocks of page 1."""
    fixed = prose(f"*{subject.words['verdicts']['fixed_sentence']}*")
    main = [*(text(one) for one in plain_sentences(subject)), text(fixed)]
    key = {
        "title": subject.label("verdict_key_title"),
        "text": subject.label("verdict_key"),
        "heads": subject.head("verdict"),
        "rows": [verdict_row(criterion, subject) for criterion in CRITERIA],
        "not_tested_title": subject.label("not_tested"),
        "not_tested": not_tested(subject),
    }
    side = facts(_identification(subject), subject.label("identification"))
    return [beside(main, side), {"kind": "verdict", **key}]


def plain_sentences(subject: Subject) -> list[str]:
    """Return three sentences in plain words: privacy, what was not measured, utility."""
    attacks = [
        _attack_sentence(entry, subject)
        for criterion in CRITERIA[:-1]
        for entry in subject.of_criterion(criterion)[:1]
    ]
    missing = _not_measured_sentence(subject)
    return [*filter(None, attacks), *filter(None, [missing]), _utility_sentence(subject)]


def not_tested(subject: Subject) -> list[str]:
    """Return the points that this assessment did not look at, one line each."""
    points = [subject.label("not_tested_generator"), subject.label("not_tested_draws")]
    if subject.not_run:
        criteria = joined([name.lower() for name in subject.not_run], subject.words)
        points.append(subject.label("not_tested_criteria", Criteria=sentence(criteria)[:-1]))
    if subject.left_out:
        key = "not_tested_columns" if len(subject.left_out) > 1 else "not_tested_column"
        points.append(subject.label(key, columns=subject.names(subject.left_out)))
    if not declared_text(subject.declarations.get("intruder")):
        points.append(subject.label("not_tested_intruder"))
    return points


def control_words(subject: Subject) -> str:
    """Return what kind of control there is, with the caveat of an approximate one."""
    release = subject.assessment.release
    key = "control_real" if release.holdout_kind == "real" else "control_approximate"
    return subject.label(key, n=formats.number(release.n_holdout))


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


def _targets(count: int, subject: Subject) -> str:
    titles = subject.words["verdicts"]["title"]
    key = "one_target" if count == 1 else "targets"
    return fill(titles[key], count=formats.count_word(count))


def _title_finding(subject: Subject) -> str:
    """Return what the attack that leads shows, in a few words."""
    words = subject.words["verdicts"]["attack_title"]
    found = [
        (criterion_of(entry.result), attack_finding(entry.result))
        for criterion in CRITERIA[:-1]
        for entry in subject.of_criterion(criterion)[:1]
    ]
    for wanted in words:
        hits = [criterion for criterion, finding in found if finding == wanted]
        if hits:
            names = [subject.criterion_name(hit).lower() for hit in hits]
            return fill(words[wanted], criterion=joined(names, subject.words))
    return ""


def _attack_sentence(entry: Entry, subject: Subject) -> str:
    result, plain = entry.result, subject.words["verdicts"]["plain"]
    share = result.facts.get("success_share")
    if result.status != "measured" or result.basis != "attack" or share is None:
        return ""
    control = result.facts.get("control_share") if comparable(result) else None
    # Two files are joined only by the attack that cuts the known variables in two.
    forms = plain["linkability" if "known_b" in result.facts else "attack"]
    words = fill(
        forms["alone" if control is None else "control"],
        criterion=subject.criterion_name(str(result.criterion)).lower(),
        known=_known_words(entry, subject),
        share=formats.share(share),
        n=formats.number(result.facts.get("attempts")),
        control=formats.share(control),
        m=formats.number(result.facts.get("control_attempts")),
    )
    return f"{words} {_unjudged(entry, subject)}".strip()


def _unjudged(entry: Entry, subject: Subject) -> str:
    """Return that a number is not judged, and why, or the empty text."""
    if grade(entry.result) != "not_judged" or entry.result.reason is None:
        return ""
    reason = shortened(entry.result.reason.text, LONGEST_REASON)
    return fill(subject.words["verdicts"]["plain"]["not_judged"], reason=reason)


def _known_words(entry: Entry, subject: Subject) -> str:
    plain = subject.words["verdicts"]["plain"]
    used = [one for one in subject.assessment.release.variables if one.used]
    count = len(entry.scenario.known)
    key = "known_all" if count >= len(used) else "known_some"
    return fill(plain[key], count=formats.count_word(count))


def _not_measured_sentence(subject: Subject) -> str:
    plain = subject.words["verdicts"]["plain"]
    unmeasured = [
        subject.criterion_name(criterion).lower()
        for criterion in CRITERIA[:-1]
        if not any(one.result.status == "measured" for one in subject.of_criterion(criterion))
    ]
    key = "not_measured_one" if len(unmeasured) == 1 else "not_measured"
    criteria = sentence(joined(unmeasured, subject.words))[:-1]
    return fill(plain[key], Criteria=criteria) if unmeasured else ""


def _utility_sentence(subject: Subject) -> str:
    plain = subject.words["verdicts"]["plain"]
    found = subject.of_criterion("utility")
    if not found:
        return str(plain["no_utility"])
    entry = found[0]
    score, values = headline(entry.result), entry.result.facts
    if score is None:
        reason = entry.result.reason.text if entry.result.reason else ""
        return fill(plain["utility_no_reference"], reason=shortened(reason, LONGEST_REASON))
    pair, reference = worst_pair(values), values.get("reference_difference")
    if pair and reference and not _unjudged(entry, subject):
        shown = {key: shortened(str(pair[key]), LONGEST_NAME) for key in ("first", "second")}
        factor = formats.number(values["avatar_difference"] / reference, 1)
        ends = {key: formats.number(pair[key], 2) for key in ("working", "avatars")}
        kind = subject.assessment.release.holdout_kind
        form = plain["pairs_real" if kind == "real" else "pairs_approximate"]
        return fill(form, factor=factor, **shown, **ends)
    interval = formats.interval(entry.result.interval)
    key = "score" if entry.result.interval else "score_alone"
    name = subject.name(entry.slug)
    words = fill(plain[key], name=name, score=formats.score(score), interval=interval)
    return f"{words} {_unjudged(entry, subject)}".strip()
