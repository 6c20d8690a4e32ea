"""Target profiles: values that somebody set, read from YAML, hashed, and judged against."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from evalkit.errors import InputError
from evalkit.messages import say
from evalkit.records import ProfileRecord, Target
from evalkit.resources import folder
from evalkit.yaml_file import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalkit.messages import Message

NO_PROFILE = "none"


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One target as a profile file states it."""

    metric: str
    operator: Literal[">=", ">"]
    value: float
    definition: Literal["same", "similar", "by analogy"]
    unit: str = "%"


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
        Slug to target; a metric that is absent has no target.
    """

    record: ProfileRecord
    targets: Mapping[str, Target]


def read_profile(name: str) -> Profile | None:
    """Return the profile called `name`, or the one in the file `name`.

    Parameters
    ----------
    name : str
        ``"none"``, the name of a shipped profile, or the path of a YAML file.

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
    if name == NO_PROFILE:
        return None
    shipped = folder("report_templates") / "targets"
    path = Path(name)
    if path.suffix not in {".yaml", ".yml"}:
        path = shipped / f"{name}.yaml"
        if path.parent != shipped or not path.is_file():
            names = [NO_PROFILE, *sorted(found.stem for found in shipped.glob("*.yaml"))]
            message = (
                f"profile: {name!r} is unknown; use one of: {', '.join(names)}, or a .yaml file."
            )
            raise InputError(message)
    return _profile(*parse_yaml(path, "target profile"), path.name)


def _profile(content: bytes, fields: dict[str, Any], file_name: str) -> Profile:
    """Return the profile in a parsed file."""
    try:
        file = msgspec.convert(_plain(fields), _ProfileFile)
    except msgspec.ValidationError as error:
        message = f"{file_name}: not a target profile ({error})."
        raise InputError(message) from None
    _check_metrics(file, file_name)
    record = ProfileRecord(
        name=file.name,
        issuer=file.issuer,
        issuer_role=file.issuer_role,
        date=file.date,
        status=file.status,
        caveat=file.caveat.get("en", ""),
        context=file.context,
        sha256=hashlib.sha256(content).hexdigest(),
    )
    targets = {
        entry.metric: Target(
            operator=entry.operator,
            value=entry.value,
            issuer=file.issuer,
            definition=entry.definition,
        )
        for entry in file.targets
    }
    return Profile(record, targets)


def _plain(value: Any) -> Any:
    """Return YAML values with dates as text, so that they can be archived as JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _check_metrics(file: _ProfileFile, file_name: str) -> None:
    """Refuse targets for metrics that do not exist or that are named twice."""
    from evalkit import metrics

    known = {metric.slug for metric in metrics.all()}
    seen: set[str] = set()
    for entry in file.targets:
        if entry.metric not in known:
            message = (
                f"{file_name}: there is no metric {entry.metric!r}; metrics: "
                f"{', '.join(sorted(known))}."
            )
            raise InputError(message)
        if entry.metric in seen:
            message = f"{file_name}: metric {entry.metric!r} has two targets; keep one."
            raise InputError(message)
        seen.add(entry.metric)


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
