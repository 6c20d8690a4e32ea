"""Headline scores among the people of each group: rare groups leak and degrade first.

A group is assessed as a release of its own: the originals, avatars and holdout that carry its
level, without the column of the groups, which the attacker is thereby taken to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.messages import say
from evalkit.metric import Need, Section
from evalkit.record_parts import Subgroup, SubgroupScore, SubgroupsRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.grouping import Group
    from evalkit.messages import Message
    from evalkit.metric import Metric
    from evalkit.record_parts import Result
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Measure = Callable[[Metric, Release, Scenario], Result]
    Before = Callable[[Metric, int], None]

FEWEST_KNOWN = 2


def subgroups_record(  # noqa: PLR0913 - what a run is made of
    release: Release,
    scenario: Scenario,
    by: str,
    groups: Sequence[Group],
    metrics: Sequence[Metric],
    *,
    measure: Measure,
    before: Before,
    notes: Sequence[Message] = (),
) -> SubgroupsRecord:
    """Return the headline score of every metric in every group.

    Parameters
    ----------
    release, scenario
        Of the whole; the scenario is settled.
    by : str
        Column of the groups.
    groups : sequence of Group
        From `evalkit.grouping.groups_of`.
    metrics : sequence of Metric
    measure : callable
        ``measure(metric, release, scenario)`` returns a Result; its needs are checked there.
    before : callable
        Called as ``before(metric, group)`` before each, the group counted from 0.
    notes : sequence of Message
        How the groups were made.

    Returns
    -------
    SubgroupsRecord
    """
    told = _told_holdouts(groups, scenario.min_count)
    found = []
    for place, group in enumerate(groups):
        parts = _Parts(release, scenario, by, group)
        results = {}
        for metric in metrics:
            before(metric, place)
            results[metric.slug] = parts.score(metric, measure)
        found.append(
            Subgroup(
                kind=group.kind,
                label=group.label,
                levels=group.levels,
                low=group.low,
                high=group.high,
                rows_original=int(group.rows["original"].sum()),
                rows_avatars=int(group.rows["avatars"].sum()),
                rows_holdout=told[place],
                results=results,
            )
        )
    return SubgroupsRecord(by=by, groups=found, notes=list(notes))


class _Parts:
    """One group as a release, made once for all metrics, and its rows by the row link."""

    def __init__(self, release: Release, scenario: Scenario, by: str, group: Group) -> None:
        self._release, self._group, self._by = release, group, by
        self._min_count = scenario.min_count
        self._sensitive_is_by = scenario.sensitive == by
        rows = dict(group.rows)
        if group.strangers is not None and group.strangers < scenario.min_count:
            del rows["holdout"]
        self._by_level = release.part(rows, without=by)
        self._linked = self._linked_part(rows) if release.row_link else None
        dropped = set(release.schema.used_names()) - set(self._by_level.schema.used_names())
        self._scenario = scenario.without(dropped)

    def _linked_part(self, rows: dict[str, NDArray[np.bool_]]) -> Release:
        """Return the part whose avatars are those made from the group's originals."""
        own = rows | {"avatars": rows["original"]}
        return self._release.part(own, without=self._by, linked=True)

    def score(self, metric: Metric, measure: Measure) -> SubgroupScore:
        """Return one metric's headline score here, or why there is none."""
        part = self._part_for(metric)
        reason = self._unmet(metric, part)
        if reason is not None:
            return SubgroupScore(
                status="not applicable",
                reason=reason,
                score=None,
                unit=metric.unit,
                interval=None,
                interval_method=None,
            )
        result = measure(metric, part, self._scenario)
        measured = result.status == "measured"
        return SubgroupScore(
            status=result.status,
            reason=None if measured else result.reason,
            score=result.headline,
            unit=result.unit,
            interval=result.interval,
            interval_method=result.interval_method,
            warnings=list(result.warnings),
        )

    def _part_for(self, metric: Metric) -> Release:
        """Return the linked part where a metric follows avatars to their originals."""
        if self._linked is None:
            return self._by_level
        halved = self._release.holdout is None and Need.HOLDOUT in metric.needs
        follows = Need.ROW_LINK in metric.needs or (halved and metric.section is Section.PRIVACY)
        return self._linked if follows else self._by_level

    def _unmet(self, metric: Metric, part: Release) -> Message | None:
        """Return why a metric cannot be shown in this group, or nothing."""
        if not len(part.avatars):
            return say("no_avatars_in_group", "No avatar is in this group.")
        if metric.needs & {Need.HOLDOUT, Need.REAL_HOLDOUT} and self._control_too_small(metric):
            return say(
                "few_in_group",
                "The holdout has fewer than {min_count} people of this group, and this is a "
                "comparison with them.",
                min_count=self._min_count,
            )
        if Need.SENSITIVE in metric.needs and self._sensitive_is_by:
            return say(
                "group_is_sensitive",
                "The groups are those of the sensitive variable, so there is nothing to infer.",
            )
        if metric.uses_known and len(self._scenario.known or ()) < FEWEST_KNOWN:
            return say(
                "few_known_in_group",
                "Without the column of the groups fewer than two known variables are left.",
            )
        return None

    def _control_too_small(self, metric: Metric) -> bool:
        """Return whether the holdout, or half of the group in its place, is under the count."""
        if self._group.strangers is not None:
            return self._group.strangers < self._min_count
        halved = Need.REAL_HOLDOUT not in metric.needs
        return halved and self._group.people < 2 * self._min_count


def _told_holdouts(groups: Sequence[Group], min_count: int) -> list[int | None]:
    """Return the holdout's rows of each group, None where the number must not be told.

    A single hidden number is the total minus the rest, so a second one is hidden with it.
    """
    people = [group.strangers for group in groups if group.strangers is not None]
    if not people:
        return [None] * len(groups)
    order = sorted(range(len(people)), key=lambda place: (people[place], place))
    hidden = [place for place in order if people[place] < min_count]
    for place in order[len(hidden) :]:
        enough = sum(people[one] for one in hidden) >= min_count
        if not hidden or (len(hidden) > 1 and enough):
            break
        hidden.append(place)
    rows = [int(group.rows["holdout"].sum()) for group in groups]
    return [None if place in hidden else count for place, count in enumerate(rows)]
