"""Assess a release: the only loop over metrics."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalkit.analyses import analysis_list, check_packages, compare_analysis
from evalkit.distributions import check_annex, distribution_records
from evalkit.engine import check_engine, dashboard_words, limits, make_engine, working_on
from evalkit.errors import InputError
from evalkit.given_values import flag, name_list, plain_fields, shown, text
from evalkit.grouping import check_by, groups_of
from evalkit.messages import say
from evalkit.metric import Need, NotApplicable, Outcome
from evalkit.recording import (
    created,
    evalkit_version,
    fixed_time,
    release_record,
    scenario_record,
    versions,
)
from evalkit.records import (
    DEFAULT_TITLE,
    SCHEMA_VERSION,
    Assessment,
    Result,
    ScenarioResults,
)
from evalkit.resources import check_language
from evalkit.scenario import Scenario
from evalkit.steps import listening
from evalkit.subgroups import subgroups_record
from evalkit.targets import cannot_tell, meets, read_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.engine import Engine
    from evalkit.messages import Message
    from evalkit.metric import Metric
    from evalkit.quantities_exchange import Exchange
    from evalkit.records import Target
    from evalkit.release import Release
    from evalkit.targets import Profile

    Progress = Callable[[int, int, str], None]

EVERY_METRIC = "all"
FEWEST_ORIGINALS, FEWEST_AVATARS = 10, 20


def assess(  # noqa: PLR0913 - the public call: every argument but the first has a default
    release: Release,
    scenario: Scenario | Sequence[Scenario] | None = None,
    *,
    metrics: Iterable[str] | None = None,
    profile: str | Profile = "none",
    by: str = "",
    title: str = "",
    assessor: str = "",
    reviewer: str = "",
    declared: dict[str, Any] | None = None,
    language: str = "en",
    options: dict[str, Any] | None = None,
    analyses: object = None,
    engine: str | Engine = "local",
    exact: bool = False,
    progress: Progress | None = None,
) -> Assessment:
    """Return the assessment of a release under one or more scenarios.

    Parameters
    ----------
    release : Release
        From `evalkit.load`.
    scenario : Scenario or list of Scenario, optional
        What the attacker is taken to hold. The first carries all metrics, each further one only
        those that depend on known or sensitive variables. Default: every used column is known.
    metrics : iterable of str, optional
        Slugs; default all but those that run only where they are asked for by name or by a target.
        ``"all"``, alone or in a list, stands for these too.
    profile : str or evalkit.targets.Profile
        Target profile by name or file; ``"none"`` sets no targets.
    by : str
        A column: the scores of the first scenario are repeated for each of its levels that at
        least `min_count` originals carry, the rarer ones together, or for quartiles of a number.
    title, assessor, reviewer : str
        Printed in the report.
    declared : dict, optional
        What the controller declares, such as ``{"purpose": "…"}``; printed, not verified.
    language : str
        Default language of the report.
    options : dict, optional
        Options as used, recorded in the JSON beside those of the release. ``annex_variables`` is
        how many distributions the report's annex draws, default 60.
    analyses : path or list, optional
        Analyses to make on originals, avatars and holdout: a YAML file, or a list of mappings
        such as ``{"kind": "linear", "formula": "income ~ age + C(town)"}``; see
        docs/rules_and_analyses.md.
    engine : str or evalkit.engine.Engine
        Where the work on large tables runs: ``"local"``, in this process; ``"dask"``, on a cluster
        of processes on this machine; ``"dask://host:8786"``, on the cluster of that scheduler. The
        numbers are the same.
    exact : bool
        Whether nothing may be sampled to save time, however long it takes.
    progress : callable, optional
        Called as ``progress(done, total, label)`` before each metric or analysis and at the end.

    Returns
    -------
    Assessment
        Holds no cell of any table. The same inputs, options and seed give the same numbers.

    Raises
    ------
    evalkit.InputError
        If a column, metric, profile or language does not exist, an analysis cannot be read, or a
        cluster cannot be used.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> assessment = evalkit.assess(evalkit.load(table, table, holdout=table))
    >>> assessment["linkability_protection_rate"].verdict
    'not applicable'
    """
    check_language(text("language", language))
    _check_release(release)
    people = {"assessor": text("assessor", assessor), "reviewer": text("reviewer", reviewer)}
    title = text("title", title) or DEFAULT_TITLE
    declared, options = plain_fields("declared", declared), plain_fields("options", options)
    check_annex(options)
    check_engine(engine)
    limit = replace(limits(), exact=flag("exact", exact))
    scenarios = _settled(scenario, release)
    targets = read_profile(profile)
    # Any iterable will do, but a text is one of letters: it is refused as a whole.
    if isinstance(metrics, Iterable) and not isinstance(metrics, str):
        metrics = list(metrics)
    chosen = _chosen(metrics, targets)
    own = analysis_list(analyses, release.schema)
    check_packages(own)
    plan = [
        (one, metric)
        for index, one in enumerate(scenarios)
        for metric in chosen
        if index == 0 or metric.uses_known
    ]
    column = check_by(by, release)
    groups, notes = groups_of(release, column, scenarios[0].min_count) if column else ((), ())
    total = len(plan) + len(groups) * len(chosen) + len(own)
    with make_engine(engine) as opened, working_on(opened, limit):
        if progress and (where := dashboard_words(opened)):
            progress(0, total, where)
        alike = _exchange(release, scenarios[0], {metric for _, metric in plan})
        unlike = _shared(release) or (alike.warning if alike else None)
        results: list[dict[str, Result]] = [{} for _ in scenarios]
        for done, (one, metric) in enumerate(plan):
            with listening(_teller(progress, done, total, metric.slug)):
                found = _measured(metric, release, one, targets, unlike)
                results[scenarios.index(one)][metric.slug] = found
        steps = iter(range(len(plan), total))

        def before(metric: Metric, place: int) -> None:
            if progress:
                progress(next(steps), total, f"{metric.slug}, group {place + 1} of {len(groups)}")

        def measure_part(metric: Metric, part: Release, one: Scenario) -> Result:
            return _measured(metric, part, one, None, unlike)

        by_group = (
            subgroups_record(
                release,
                scenarios[0],
                column,
                groups,
                chosen,
                measure=measure_part,
                before=before,
                notes=notes,
            )
            if column
            else None
        )
        compared = []
        drawn = _analysed_rows(release, scenarios[0]) if own else {}
        for analysis in own:
            _teller(progress, next(steps), total, f"analysis {analysis.number}")
            few = scenarios[0].min_count
            compared.append(compare_analysis(analysis, release, few, unlike, drawn))
        if progress:
            progress(total, total, "done")
        return Assessment(
            schema_version=SCHEMA_VERSION,
            evalkit=evalkit_version(),
            created=created(),
            title=title,
            language=language,
            versions=versions(),
            people=people,
            declared=declared,
            options={**release.options, **options, "engine": opened.name, "exact": limit.exact},
            release=release_record(release, scenarios[0], alike),
            scenario=scenario_record(scenarios[0]),
            profile=targets.used_for([one.context for one in scenarios]) if targets else None,
            results=results[0],
            more_scenarios=[
                ScenarioResults(scenario=scenario_record(one), results=found)
                for one, found in zip(scenarios[1:], results[1:], strict=True)
            ],
            subgroups=by_group,
            distributions=distribution_records(release, scenarios[0].min_count),
            analyses=compared,
        )


def measure(  # noqa: PLR0913 - the one-call form of load and assess
    slug: str,
    original: Any,
    avatars: Any,
    holdout: Any = None,
    *,
    known: Sequence[str] | None = None,
    sensitive: str | None = None,
    seed: int = 0,
    engine: str | Engine = "local",
    exact: bool = False,
    **load_options: Any,
) -> Result:
    """Return one metric's result from files or DataFrames in one call.

    Parameters
    ----------
    slug : str
        Such as ``"correlation_difference_ratio"``.
    original, avatars, holdout : path or DataFrame
        The tables; the holdout may be left out.
    known : list of str, optional
        Columns that an attacker is taken to hold; default every used column.
    sensitive : str, optional
        The column whose inference is tested.
    seed : int
        Of the metric's draws and of an approximate holdout.
    engine, exact
        As for `assess`.
    **load_options
        Those of `evalkit.load`.

    Returns
    -------
    Result

    Raises
    ------
    evalkit.InputError
        If the data or a parameter is bad.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 3, 2, 4]})
    >>> evalkit.measure("correlation_difference_ratio", table, table, table).score
    100.0
    """
    from evalkit.release import load

    scenario = Scenario(known=known, sensitive=sensitive, seed=seed)
    release = load(original, avatars, holdout, seed=seed, **load_options)
    found = assess(release, scenario, metrics=[slug], engine=engine, exact=exact)
    return found.results[_chosen([slug])[0].slug]


def _teller(
    progress: Progress | None, done: int, total: int, slug: str
) -> Callable[[float | str], None] | None:
    """Say that a metric begins, and return what says how far it is."""
    if progress is None:
        return None
    progress(done, total, slug)

    def tell(far: float | str) -> None:
        progress(done, total, f"{slug}, {far if isinstance(far, str) else f'{far:.0%}'}")

    return tell


def _check_release(release: object) -> None:
    """Refuse what `evalkit.load` did not return."""
    from evalkit.release import Release

    if not isinstance(release, Release):
        raise InputError(f"release: {shown(release)} is none; give what evalkit.load returns.")


def _settled(scenario: Scenario | Sequence[Scenario] | None, release: Release) -> list[Scenario]:
    """Return the scenarios with their columns checked; their names must differ."""
    given = [scenario] if isinstance(scenario, Scenario) else scenario or [Scenario()]
    if not isinstance(given, list | tuple) or not all(isinstance(one, Scenario) for one in given):
        message = f"scenario: {shown(scenario)} is neither a Scenario nor a list of them."
        raise InputError(message)
    settled = _numbered([one.settled(release.schema) for one in given], given)
    names = [one.name for one in settled]
    if len(set(names)) < len(names):
        message = "Two scenarios have the same name; name them, as in --known clinic=age,sex."
        raise InputError(message)
    return settled


def _numbered(settled: list[Scenario], given: Sequence[Scenario]) -> list[Scenario]:
    """Return the scenarios with a number behind the second and further default names."""
    seen: dict[str, int] = {}
    found = []
    for one, asked in zip(settled, given, strict=True):
        seen[one.name] = seen.get(one.name, 0) + 1
        again = not asked.name and seen[one.name] > 1
        found.append(replace(one, name=f"{one.name} {seen[one.name]}") if again else one)
    return found


def _chosen(slugs: Iterable[str] | None, profile: Profile | None = None) -> list[Metric]:
    """Return the metrics in the order of the registry; legacy ones only if they are asked for."""
    from evalkit import metrics

    if slugs is None:
        asked = profile.targets if profile else {}
        return [one for one in metrics.all() if not one.legacy or one.slug in asked]
    names = name_list("metrics", [slugs] if slugs == EVERY_METRIC else slugs)
    if EVERY_METRIC in names:
        return list(metrics.all())
    wanted = {metrics.get(slug).slug for slug in names}
    if not wanted:
        message = "metrics: the list is empty; name at least one metric or leave the option out."
        raise InputError(message)
    return [metric for metric in metrics.all() if metric.slug in wanted]


def _exchange(release: Release, scenario: Scenario, chosen: set[Metric]) -> Exchange | None:
    """Return whether the holdout is like the originals, where a metric may look at it."""
    from evalkit.quantities_exchange import exchange

    if all(Need.ROW_LINK in metric.needs for metric in chosen):
        return None
    return exchange(release, scenario.seed)


def _analysed_rows(release: Release, scenario: Scenario) -> dict[str, NDArray[np.intp]]:
    """Return which rows of large tables the user's own analyses look at."""
    from evalkit.quantities_order import analysed_rows

    return analysed_rows(release, scenario.seed)


def _shared(release: Release) -> Message | None:
    """Return that people of the holdout were anonymised, where their personal keys say so."""
    from evalkit.release_notes import persons_shared

    return persons_shared(release.shared) if release.shared else None


def _measured(
    metric: Metric,
    release: Release,
    scenario: Scenario,
    profile: Profile | None,
    unlike: Message | None,
) -> Result:
    """Return one metric's result; what it needs is checked first."""
    from evalkit.randomness import stream

    started = time.perf_counter()
    missing = _unmet_need(metric, release, scenario)
    if missing:
        outcome: Outcome | NotApplicable = NotApplicable(missing)
    else:
        outcome = metric.compute(release, scenario, stream(scenario.seed, metric.slug))
    seconds = None if fixed_time() else round(time.perf_counter() - started, 3)
    target = profile.targets.get(metric.slug) if profile else None
    unjudged = _too_few_rows(release)
    if metric.needs & {Need.HOLDOUT, Need.REAL_HOLDOUT}:
        unjudged = unjudged or unlike
    elif unlike and isinstance(outcome, Outcome) and _beside_holdout(outcome.facts):
        # The score stands without the holdout; only the comparison with it says nothing.
        outcome = replace(outcome, warnings=(*outcome.warnings, unlike))
    if release.individual is not None and isinstance(outcome, Outcome) and not metric.by_person:
        outcome = replace(outcome, warnings=(*outcome.warnings, _counts_rows()))
    return _result(metric, outcome, target, unjudged, seconds)


def _beside_holdout(facts: dict[str, Any]) -> bool:
    """Return whether a score that needs no holdout is printed beside what the holdout shows."""
    return bool(facts.get("excess_interval") or facts.get("real_band"))


def _result(
    metric: Metric,
    outcome: Outcome | NotApplicable,
    target: Target | None,
    unjudged: Message | None,
    seconds: float | None,
) -> Result:
    """Return the record of an outcome, with its verdict."""
    measured: dict[str, Any] = {
        "status": "not applicable",
        "score": None,
        "interval": None,
        "interval_method": None,
        "verdict": "not applicable",
        "warnings": [],
    }
    if isinstance(outcome, NotApplicable):
        reason: Message | None = outcome.reason
    else:
        reason = _unjudged(metric, outcome, target, unjudged)
        measured = {
            "status": "measured",
            "score": outcome.score,
            "interval": outcome.interval,
            "interval_method": outcome.interval_method,
            "verdict": "not applicable" if reason else _verdict(outcome, target),
            "warnings": [*outcome.warnings, *([reason] if reason else [])],
        }
    return Result(
        version=metric.version,
        section=metric.section.value,
        criterion=metric.criterion,
        level=metric.level,
        basis=metric.basis.value,
        unit=metric.unit,
        direction=metric.direction,
        reason=reason,
        target=target,
        facts=outcome.facts,
        seconds=seconds,
        **measured,
    )


def _unjudged(
    metric: Metric, outcome: Outcome, target: Target | None, unjudged: Message | None
) -> Message | None:
    """Return why a measured score may have no verdict, or nothing."""
    reason = unjudged or outcome.unjudged
    if reason or target is None:
        return reason
    return cannot_tell(metric.section.value, outcome.facts, target)


def _verdict(outcome: Outcome, target: Target | None) -> str:
    """Return the verdict by the estimate; the words beside it are graded by the interval."""
    if target is None:
        return "no target"
    value = outcome.score if outcome.judged_value is None else outcome.judged_value
    return "met" if meets(value, target) else "not met"


def _unmet_need(metric: Metric, release: Release, scenario: Scenario) -> Message | None:
    """Return what is missing before the metric can be computed, or nothing."""
    if Need.ROW_LINK in metric.needs and not release.row_link:
        return say(
            "no_row_link",
            "This needs to know which avatar was made from which original. Declare it with "
            "--row-link if row i of the avatars comes from row i of the originals.",
        )
    if Need.REAL_HOLDOUT in metric.needs and release.holdout_kind != "real":
        return say(
            "no_real_holdout",
            "This needs people who were never anonymised. Give them with --holdout.",
        )
    if Need.SENSITIVE in metric.needs and scenario.sensitive is None:
        return say(
            "no_sensitive",
            "This tests the inference of one column. Name it with --sensitive.",
        )
    return None


def _too_few_rows(release: Release) -> Message | None:
    """Return why nothing can be judged on so few rows, or nothing (metrics.md, rule 12)."""
    n_original, n_avatars = release.persons_of("original").count, len(release.avatars)
    if n_original >= FEWEST_ORIGINALS and n_avatars >= FEWEST_AVATARS:
        return None
    if release.individual is not None:
        return say(
            "too_few_persons",
            "Too few to judge: {n_original} persons and {n_avatars} avatars; at least "
            "{fewest_originals} and {fewest_avatars} are needed.",
            n_original=n_original,
            n_avatars=n_avatars,
            fewest_originals=FEWEST_ORIGINALS,
            fewest_avatars=FEWEST_AVATARS,
        )
    return say(
        "too_few_rows",
        "Too few rows to judge: {n_original} originals and {n_avatars} avatars; at least "
        "{fewest_originals} and {fewest_avatars} are needed.",
        n_original=n_original,
        n_avatars=n_avatars,
        fewest_originals=FEWEST_ORIGINALS,
        fewest_avatars=FEWEST_AVATARS,
    )


def _counts_rows() -> Message:
    """Return the warning on a measure that knows no persons."""
    return say(
        "counts_rows",
        "This measure counts rows, not persons, although --individual was given: a person with "
        "many rows weighs like many people, and the interval, if there is one, is too narrow.",
    )
