"""Make the archived records of a run: tables, columns, scenario, time and versions."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evalkit.errors import InputError
from evalkit.records import (
    ExchangeRecord,
    InputRecord,
    LedgerRecord,
    ReleaseRecord,
    ScenarioRecord,
    VariableRecord,
)

if TYPE_CHECKING:
    from evalkit.quantities_exchange import Exchange
    from evalkit.release import InputTable, Release
    from evalkit.scenario import Scenario
    from evalkit.schema import Variable

LEVEL_BANDS = ((2, "1 to 2"), (5, "3 to 5"), (10, "6 to 10"), (50, "11 to 50"), (200, "51 to 200"))
SHOWN_VERSIONS = ("numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "typst")


def release_record(release: Release, scenario: Scenario, alike: Exchange | None) -> ReleaseRecord:
    """Return sizes, hashes and columns of a release, and what its holdout is worth."""
    holdout = release.inputs.get("holdout")
    return ReleaseRecord(
        original=_input_record(release.inputs["original"]),
        avatars=_input_record(release.inputs["avatars"]),
        holdout=_input_record(holdout) if holdout else None,
        holdout_kind=release.holdout_kind,
        row_link=release.row_link,
        axes=release.axes,
        seed=release.seed,
        n_working=len(release.working),
        n_working_avatars=len(release.working_avatars),
        n_holdout=len(release.reference),
        variables=[_variable_record(one, scenario) for one in release.schema.variables],
        notes=list(release.notes),
        exchange=_exchange_record(alike) if alike else None,
        ledger=[LedgerRecord(**asdict(line)) for line in release.ledger],
        individual=release.individual,
    )


def _exchange_record(alike: Exchange) -> ExchangeRecord:
    """Return the record of what two tests say on originals and holdout."""
    return ExchangeRecord(
        differs=alike.differs,
        area=alike.area,
        rank=alike.rank,
        deals=alike.deals,
        rows_original=alike.rows_original,
        rows_holdout=alike.rows_holdout,
    )


def _input_record(table: InputTable) -> InputRecord:
    """Return the record of one input table."""
    return InputRecord(
        name=table.name,
        rows=table.rows,
        columns=table.columns,
        sha256=table.sha256,
        individuals=table.individuals,
    )


def _variable_record(variable: Variable, scenario: Scenario) -> VariableRecord:
    """Return the record of one column."""
    role = "known" if variable.name in (scenario.known or ()) else "other"
    return VariableRecord(
        name=variable.name,
        type=variable.type,
        role="sensitive" if variable.name == scenario.sensitive else role,
        used=variable.used,
        missing_share=round(variable.missing_share, 4),
        level_band="" if variable.is_number else _level_band(variable.levels),
        identifier=variable.identifier,
        notes=list(variable.notes),
    )


def _level_band(levels: int) -> str:
    """Return a coarse band for the number of levels."""
    if levels == 0:
        return ""
    return next((band for end, band in LEVEL_BANDS if levels <= end), "over 200")


def scenario_record(scenario: Scenario) -> ScenarioRecord:
    """Return the record of one scenario."""
    return ScenarioRecord(
        name=scenario.name,
        known=list(scenario.known or ()),
        sensitive=scenario.sensitive,
        context=scenario.context,
        seed=scenario.seed,
        min_count=scenario.min_count,
    )


def fixed_time() -> str | None:
    """Return the fixed time that a reproducible build asks for."""
    return os.environ.get("SOURCE_DATE_EPOCH")


def created() -> str:
    """Return the time of the run in UTC, or that of a reproducible build."""
    epoch = fixed_time()
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        message = "SOURCE_DATE_EPOCH is not a whole number of seconds; correct or unset it."
        raise InputError(message) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def evalkit_version() -> str:
    """Return the version of this package."""
    import evalkit

    return evalkit.__version__


def versions() -> dict[str, str]:
    """Return the versions of what the numbers and pages depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in SHOWN_VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
