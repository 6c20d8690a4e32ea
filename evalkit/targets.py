"""Target profiles: values that somebody set, read from YAML, hashed, and judged against."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from evalkit.errors import InputError
from evalkit.given_values import shown, text
from evalkit.messages import say
from evalkit.records import ProfileRecord, Target
from evalkit.resources import folder
from evalkit.yaml_file import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.messages import Message

NO_PROFILE = "none"


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One target as a profile file states it."""

    metric: str
    operator: Literal[">=", ">"]
    value: float
    definition: Literal["same", "similar", "by analogy"]
    unit: str | None = None


class _ProfileFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A profile file; every field that a reviewer asks for is required."""

    name: str
    issuer: str
    issuer_role: Literal["vendor", "study", "authority", "controller"]
    date: str
    status: Literal["published", "superseded", "example", "internal"]
    targets: list[_Entry]
    title: dict[str, str] = {}
    context: dict[str, Any] = {}
    source: dict[str, Any] = {}
    caveat: dict[str, str] = {}
    approved_by: str = ""
    approved_on: str = ""
    reasons: str = ""


@dataclass(frozen=True)
class Profile:
    """A target profile.

    Attributes
    ----------
    record : ProfileRecord
        Who set it, when, for whom; with the SHA-256 of the file.
    targets : dict
        Slug to target, of the metrics that this version has; a metric that is absent has no
        target.
    """

    record: ProfileRecord
    targets: Mapping[str, Target]

    def used_for(self, contexts: Sequence[str | None]) -> ProfileRecord:
        """Return the record of the profile, with a warning where it was made for others.

        Parameters
        ----------
        contexts : sequence of str or None
            Recipients of the scenarios; None where none was named.

        Returns
        -------
        ProfileRecord
        """
        warning = other_recipient(self.record, contexts)
        found = [*self.record.warnings, *([warning] if warning else [])]
        return msgspec.structs.replace(self.record, warnings=found)


def other_recipient(record: ProfileRecord, contexts: Sequence[str | None]) -> Message | None:
    """Return that a profile was made for another recipient, or nothing.

    Parameters
    ----------
    record : ProfileRecord
        Its context may name a ``recipient``, in words or as in `evalkit.scenario.CONTEXTS`.
    contexts : sequence of str or None
        Recipients of the scenarios.

    Returns
    -------
    Message or None
        None too where the profile names no recipient.
    """
    recipient = record.context.get("recipient")
    if not recipient:
        return None
    meant = _as_code(str(recipient))
    others = sorted({context for context in contexts if context and _as_code(context) != meant})
    if others:
        return say(
            "other_recipient",
            "The targets of {profile} were set for this recipient: {recipient}. Here they judge "
            "a release to another one: {others}.",
            profile=record.name,
            recipient=str(recipient),
            others=others,
        )
    if all(contexts):
        return None
    return say(
        "recipient_not_named",
        "The targets of {profile} were set for this recipient: {recipient}. Name the recipient "
        "of this release with --context.",
        profile=record.name,
        recipient=str(recipient),
    )


def _as_code(recipient: str) -> str:
    """Return a recipient as the contexts are written: in lower case, with hyphens."""
    return "-".join(recipient.lower().replace("_", " ").replace("-", " ").split())


def read_profile(name: str | Profile) -> Profile | None:
    """Return the profile called `name`, or the one in the file `name`.

    Parameters
    ----------
    name : str or Profile
        ``"none"``, the name of a shipped profile, or the path of a YAML file; a profile that was
        read before comes back as it is.

    Returns
    -------
    Profile or None
        None for ``"none"``: nobody set a target.

    Raises
    ------
    evalkit.InputError
        If there is no such profile or the file is not one.

    Examples
    --------
    >>> from evalkit.targets import read_profile
    >>> read_profile("none") is None
    True
    """
    if isinstance(name, Profile):
        return name
    if text("profile", name) == NO_PROFILE:
        return None
    shipped = folder("report_templates") / "targets"
    of_the_user = Path(name).suffix in {".yaml", ".yml"}
    names = sorted(path.stem for path in shipped.glob("*.yaml"))
    if not of_the_user and name not in names:
        listed = ", ".join([NO_PROFILE, *names])
        message = f"profile: {shown(name)} is unknown; use one of: {listed}, or a .yaml file."
        raise InputError(message)
    path = Path(name) if of_the_user else shipped / f"{name}.yaml"
    content, fields = parse_yaml(path, "target profile")
    return _profile(content, fields, path.name, strict=of_the_user)


def _profile(content: bytes, fields: dict[str, Any], file_name: str, *, strict: bool) -> Profile:
    """Return the profile in a parsed file; a strict one may name no metric that is not here."""
    try:
        file = msgspec.convert(fields, _ProfileFile)
    except msgspec.ValidationError as error:
        message = f"{file_name}: not a target profile ({error})."
        raise InputError(message) from None
    unmeasured = _unknown_metrics(file, file_name)
    if unmeasured and strict:
        message = (
            f"{file_name}: there is no metric {unmeasured[0]!r}; 'evalkit metrics' lists their "
            "names."
        )
        raise InputError(message)
    targets = {
        entry.metric: Target(
            operator=entry.operator,
            value=entry.value,
            issuer=file.issuer,
            definition=entry.definition,
        )
        for entry in file.targets
    }
    record = ProfileRecord(
        name=file.name,
        issuer=file.issuer,
        issuer_role=file.issuer_role,
        date=file.date,
        status=file.status,
        caveat=file.caveat.get("en", ""),
        caveats={code: said for code, said in file.caveat.items() if code != "en"},
        context=file.context,
        sha256=hashlib.sha256(content).hexdigest(),
        source=file.source,
        targets=targets,
        unmeasured=unmeasured,
    )
    return Profile(record, {slug: targets[slug] for slug in targets if slug not in unmeasured})


def _slugs() -> list[str]:
    """Return the slugs of all metrics, sorted."""
    from evalkit import metrics

    return sorted(metric.slug for metric in metrics.all())


def _unknown_metrics(file: _ProfileFile, file_name: str) -> list[str]:
    """Return the metrics that this version does not have; refuse two targets for one metric."""
    slugs = [entry.metric for entry in file.targets]
    for slug in slugs:
        if slugs.count(slug) > 1:
            message = f"{file_name}: metric {slug!r} has two targets; keep one."
            raise InputError(message)
    known = set(_slugs())
    for entry in file.targets:
        if entry.metric in known:
            _check_unit(entry, file_name)
    return [slug for slug in slugs if slug not in known]


def _check_unit(entry: _Entry, file_name: str) -> None:
    """Refuse a target in another unit than that of its metric."""
    from evalkit import metrics

    unit = metrics.get(entry.metric).unit
    if entry.unit not in {None, unit}:
        message = f"{file_name}: {entry.metric} is measured in {unit!r}, not in {entry.unit!r}."
        raise InputError(message)


def meets(value: float, target: Target) -> bool:
    """Return whether `value` meets the target.

    Examples
    --------
    >>> from evalkit.records import Target
    >>> from evalkit.targets import meets
    >>> at_least_80 = Target(operator=">=", value=80.0, issuer="us", definition="same")
    >>> meets(80.0, at_least_80), meets(79.9, at_least_80)
    (True, False)
    """
    return value >= target.value if target.operator == ">=" else value > target.value


def cannot_tell(section: str, facts: Mapping[str, Any], target: Target) -> Message | None:
    """Return why the target cannot tell good from bad, or nothing (metrics.md, section 6).

    Parameters
    ----------
    section : str
        ``"privacy"`` or ``"utility"``.
    facts : dict
        With the scores of known cases where they exist.
    target : Target
        The value set.

    Returns
    -------
    Message or None
    """
    worthless, case = (
        (facts.get("self_score"), "a perfect copy of the originals")
        if section == "privacy"
        else (facts.get("floor_score"), "columns without any relation")
    )
    if worthless is not None and meets(worthless, target):
        return say(
            "target_met_by_worthless",
            "The target cannot tell: {case} would meet it with {known_score:.1f}.",
            case=case,
            known_score=worthless,
        )
    real = facts.get("real_score", facts.get("holdout_score"))
    if real is not None and not meets(real, target):
        return say(
            "target_missed_by_real",
            "The target cannot tell: unseen real rows would miss it with {known_score:.1f}.",
            known_score=real,
        )
    return None
