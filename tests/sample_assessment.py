"""Assessments made by hand, for tests of the report: no data are read, nothing is computed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import msgspec

from evalkit.messages import say
from evalkit.records import (
    Assessment,
    InputRecord,
    ProfileRecord,
    ReleaseRecord,
    Result,
    ScenarioRecord,
    ScenarioResults,
    Target,
    VariableRecord,
)

if TYPE_CHECKING:
    from evalkit.messages import Message

NAMES = [
    "age",
    "height",
    "weight",
    "bmi",
    "systolic_bp",
    "diastolic_bp",
    "glucose",
    "hba1c",
    "ldl",
    "creatinine",
    "visits",
    "stay_days",
]
HOSTILE = ['<script>alert("x")</script>', '#eval("1") $x$ \\', "{{ 7 * 7 }} \ue0000\ue001"]
N_ORIGINAL, N_HOLDOUT = 4812, 1204


def sample(*, holdout_kind: str = "real", names: list[str] | None = None) -> Assessment:
    """Return an assessment with one missed target, one met, and three criteria not measured."""
    used = names or NAMES
    return Assessment(
        schema_version=2,
        evalkit="0.1.0",
        created="2026-11-29T19:00:00Z",
        title="Northern cohort, release 2026-11",
        language="en",
        versions={"python": "3.11.7", "numpy": "2.1.0", "pandas": "2.2.3"},
        people={"assessor": "A. Assessor", "reviewer": ""},
        declared={
            "purpose": "method development for length-of-stay models",
            "recipient": "university team, under contract",
            "distribution": "internal",
            "treatment": {"method": "neighbour-based, k = 20"},
        },
        options={"missing": ["-99"], "on_mismatch": "error"},
        release=_release(holdout_kind, used),
        scenario=_scenario("all columns", used),
        profile=_profile(),
        results={
            "linkability_protection_rate": linkability(holdout_kind, used),
            "correlation_difference_ratio": correlation(holdout_kind, used),
        },
        more_scenarios=[
            ScenarioResults(
                scenario=_scenario("register office", used[:3]),
                results={"linkability_protection_rate": not_applicable()},
            )
        ],
    )


def bare() -> Assessment:
    """Return an assessment in which nothing was declared, set or measured; quickly rendered."""
    return msgspec.structs.replace(
        sample(),
        declared={},
        profile=None,
        results={"linkability_protection_rate": not_applicable()},
        more_scenarios=[],
        title="",
    )


def with_result(assessment: Assessment, slug: str, **changes: Any) -> Assessment:
    """Return `assessment` with some fields of one result changed."""
    changed = msgspec.structs.replace(assessment.results[slug], **changes)
    results = assessment.results | {slug: changed}
    return msgspec.structs.replace(assessment, results=results)


def linkability(holdout_kind: str, names: list[str]) -> Result:
    """Return a linkability result with an excess of 0.4 to 4.7 points over the control."""
    half = (len(names) + 1) // 2
    facts = {
        "n_original": N_ORIGINAL,
        "n_avatars": N_ORIGINAL,
        "n_known": len(names),
        "n_linked": 746,
        "known_a": names[:half],
        "known_b": names[half:],
        "expected_score": 84.6,
        "self_score": 3.1,
        "floor_score": 99.6,
        "holdout_score": 87.2,
        "distinct_score": 84.5,
        "original_range_score": 84.6,
        "split_low": 81.9,
        "split_high": 88.0,
        "split_worst": 81.2,
        "split_count": 100,
        "split_total": 462,
        "split_sample": N_ORIGINAL,
        "curve_sample": 500,
        "curve_control_sample": 500,
        "curve_orders": 20,
        "mean_tie_set_a": 1.0,
        "mean_tie_set_b": 1.1,
        "certain_links": 702,
        "possible_links": 788,
        "attempts": N_ORIGINAL,
        "success_share": 0.154,
        "naive_share": 0.0002,
        "control_attempts": N_HOLDOUT,
        "control_share": 0.128,
        "excess": 0.026,
        "excess_interval": [0.004, 0.047],
        "detectable_excess": 0.031,
        "curve": [_curve_point(known, len(names)) for known in range(2, len(names) + 1)],
    }
    if holdout_kind != "real":
        missing = ("holdout_score", "control_attempts", "control_share", "excess")
        facts |= dict.fromkeys((*missing, "excess_interval", "detectable_excess"))
        for point in facts["curve"]:
            point["holdout"] = None
    return _result(
        section="privacy",
        criterion="linkability",
        basis="attack",
        score=84.5,
        interval=(83.6, 85.6),
        interval_method="wilson",
        target=Target(operator=">=", value=80.0, issuer="data controller", definition="same"),
        verdict="met",
        facts=facts,
    )


def correlation(holdout_kind: str, names: list[str]) -> Result:
    """Return a correlation result under its target, with the target inside the interval."""
    shown = names[:12]
    matrices = _matrices(len(shown))
    facts = {
        "reference_difference": 0.71,
        "avatar_difference": 1.67,
        "kappa": 1.55,
        "n_working": N_ORIGINAL,
        "n_holdout": N_HOLDOUT,
        "n_working_avatars": N_ORIGINAL,
        "variables": names,
        "left_out": [],
        "collapsed": [],
        "floor_score": 4.1,
        "real_score": 98.7,
        "score_at_equal_sizes": 60.4,
        "split_low": None if holdout_kind == "real" else 52.1,
        "split_high": None if holdout_kind == "real" else 71.3,
        "split_count": None if holdout_kind == "real" else 50,
        "worst_pairs": _worst_pairs(names),
        "matrix_variables": shown,
        "matrix_working": matrices[0],
        "matrix_avatars": matrices[1],
        "matrix_holdout": matrices[2],
        "self_score": 100.0,
    }
    warning = say(
        "small_holdout",
        "The holdout has {n} rows, under half of the originals: the score may flatter.",
        n=N_HOLDOUT,
    )
    return _result(
        section="utility",
        level="bivariate",
        basis="comparison",
        score=65.8,
        interval=(58.9, 73.6),
        interval_method="redeal",
        target=Target(operator=">", value=70.0, issuer="software vendor", definition="similar"),
        verdict="not met",
        warnings=[warning],
        facts=facts,
    )


def not_applicable() -> Result:
    """Return a linkability result that could not be measured, with its reason."""
    reason = say("too_few_known", "fewer than two known variables; name two or more.")
    return _result(
        section="privacy",
        criterion="linkability",
        basis="attack",
        status="not applicable",
        reason=reason,
        score=None,
        verdict="not applicable",
        facts={"n_known": 1},
    )


def _result(**fields: Any) -> Result:
    blank: dict[str, Any] = {
        "version": 1,
        "criterion": None,
        "level": None,
        "status": "measured",
        "reason": None,
        "unit": "%",
        "direction": "higher",
        "interval": None,
        "interval_method": None,
        "target": None,
        "warnings": [],
        "seconds": 0.4,
    }
    return Result(**blank | fields)


def _release(holdout_kind: str, names: list[str]) -> ReleaseRecord:
    real = holdout_kind == "real"
    notes = [say("missing_mark", "{mark} was read as missing.", mark="-99")]
    return ReleaseRecord(
        original=_input("original.csv", N_ORIGINAL, "1a2b3c4d"),
        avatars=_input("avatars_2026-11.csv", N_ORIGINAL, "5b70c9e2"),
        holdout=_input("holdout.csv", N_HOLDOUT, "0f1e2d3c") if real else None,
        holdout_kind=holdout_kind,
        row_link=False,
        axes=5,
        seed=0,
        n_working=N_ORIGINAL if real else N_ORIGINAL // 2,
        n_working_avatars=N_ORIGINAL if real else N_ORIGINAL // 2,
        n_holdout=N_HOLDOUT if real else N_ORIGINAL // 2,
        variables=[*(_variable(name) for name in names), _left_out()],
        notes=notes,
    )


def _input(name: str, rows: int, start: str) -> InputRecord:
    return InputRecord(name=name, rows=rows, columns=13, sha256=start * 8)


def _variable(name: str, notes: tuple[Message, ...] = ()) -> VariableRecord:
    return VariableRecord(
        name=name,
        type="numeric",
        role="known",
        used=True,
        missing_share=0.012,
        level_band="",
        identifier=False,
        notes=list(notes),
    )


def _left_out() -> VariableRecord:
    note = say("left_out_text", "Text: nearly all filled cells differ.")
    blank = _variable("remarks", (note,))
    return msgspec.structs.replace(blank, type="text", role="other", used=False)


def _scenario(name: str, known: list[str]) -> ScenarioRecord:
    return ScenarioRecord(
        name=name,
        known=known,
        sensitive=None,
        context="contractual-third-party",
        seed=20261103,
        min_count=11,
    )


def _profile() -> ProfileRecord:
    return ProfileRecord(
        name="northern-2026",
        issuer="data controller",
        issuer_role="controller",
        date="2026-11-03",
        status="internal",
        caveat="Set for this release; not published.",
        context={"recipient": "contractual third party"},
        sha256="ab12cd34" * 8,
    )


def _curve_point(known: int, total: int) -> dict[str, float]:
    fall = 12.5 * (known - 2) / max(total - 2, 1)
    return {
        "known": known,
        "score": round(97.1 - fall, 1),
        "low": round(96.0 - 1.13 * fall, 1),
        "high": round(98.3 - 0.82 * fall, 1),
        "holdout": round(97.3 - 0.8 * fall, 1),
        "floor": 99.6,
    }


def _matrices(size: int) -> list[list[list[float | None]]]:
    """Return three symmetric matrices that differ a little, the avatars most."""
    tables = []
    for shift in (0.0, 0.06, 0.02):
        table: list[list[float | None]] = [[1.0] * size for _ in range(size)]
        for row, column in itertools.combinations(range(size), 2):
            base = ((row * 7 + column * 11) % 19 - 9) / 11
            table[row][column] = table[column][row] = round(base - shift * ((column % 4) - 1), 3)
        tables.append(table)
    return tables


def _worst_pairs(names: list[str]) -> list[dict[str, Any]]:
    pairs = list(itertools.combinations(names, 2))[-10:]
    return [
        {
            "first": first,
            "second": second,
            "working": round(0.87 - 0.17 * place, 2),
            "avatars": round(0.68 - 0.15 * place, 2),
            "holdout": round(0.86 - 0.17 * place, 2),
            "change": round(-0.19 + 0.02 * place, 2),
        }
        for place, (first, second) in enumerate(pairs)
    ]
