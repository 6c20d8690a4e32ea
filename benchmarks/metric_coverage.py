"""How often the intervals of whole metrics hold the truth, where a known part of people leaks.

Every run draws a population's originals, holdout and avatars anew; some avatars are copies of
originals, all others unseen people. The truth is the score at the mean shares of all runs (the
expectation of what the metric estimates), not cut at 100 before the mean is taken. Run it to print
the tables of docs/intervals.md: ``python benchmarks/metric_coverage.py --runs 1000``, and with
``--sampled`` that of searches by a sample, as if the tables were too large for all to search.
"""

from __future__ import annotations

import argparse
import math
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pandas as pd

import evalkit
from evalkit.engine import Limits
from evalkit.metric import NotApplicable
from evalkit.randomness import stream

if TYPE_CHECKING:
    from collections.abc import Callable

KNOWN = ("age", "visits", "town", "smoker")


@dataclass(frozen=True)
class Setting:
    """One population and how much of it leaks.

    Attributes
    ----------
    name : str
    rows : tuple of int
        Originals, holdout, avatars.
    leaked : float
        Share of the avatars that are copies of originals.
    common : float
        Share of the commoner level of the sensitive variable.
    repeated : tuple of int
        How many of the unseen avatars stand there more than once, and how often.
    """

    name: str
    rows: tuple[int, int, int]
    leaked: float
    common: float = 0.7
    repeated: tuple[int, int] = (0, 1)

    def tables(self, rng: np.random.Generator) -> tuple[pd.DataFrame, ...]:
        """Return originals, avatars and holdout."""
        n, n_holdout, m = self.rows
        original, holdout = people(n, self.common, rng), people(n_holdout, self.common, rng)
        leaked = original.iloc[rng.choice(n, round(self.leaked * m), replace=False)]
        rows, times = self.repeated
        unseen = people(m - len(leaked) - rows * (times - 1), self.common, rng)
        leaked = pd.concat([leaked, unseen.iloc[np.repeat(np.arange(rows), times - 1)]])
        return original, pd.concat([leaked, unseen], ignore_index=True), holdout


SETTINGS = (
    Setting("no leak, 300 / 300 / 300", (300, 300, 300), 0.0),
    Setting("2 % copied, 400 / 400 / 400", (400, 400, 400), 0.02),
    Setting("20 % copied, 400 / 100 / 400", (400, 100, 400), 0.2),
    Setting("5 % copied, pi near its ceiling, 450 / 50 / 450", (450, 50, 450), 0.05, 0.97),
    Setting("5 % copied, attack near its ceiling, 450 / 450 / 450", (450, 450, 450), 0.05, 0.96),
    Setting("no leak, 20 % are 10 rows repeated 8 times", (400, 400, 400), 0.0, repeated=(10, 8)),
)


def people(rows: int, common: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of one made-up population: numbers, levels, relations, rare levels."""
    health = rng.normal(size=rows)
    towns = 1.5 ** -np.arange(12.0)
    return pd.DataFrame(
        {
            "age": (50 + 12 * health + rng.normal(scale=8, size=rows)).round(),
            "pressure": (120 + 9 * health + rng.normal(scale=6, size=rows)).round(1),
            "visits": rng.poisson(np.exp(0.5 + 0.3 * health)),
            "town": rng.choice([f"town {k}" for k in range(12)], rows, p=towns / towns.sum()),
            "smoker": rng.choice(["yes", "no"], rows, p=[0.3, 0.7]),
            "ill": np.where(health + rng.normal(size=rows) > _border(common), "yes", "no"),
        }
    )


def _border(common: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(common) * math.sqrt(2))


@dataclass(frozen=True)
class Estimator:
    """What a metric averages over people or avatars, and the score that belongs to it.

    Where a metric has no interval, `ends` names the facts of the range that it prints instead.
    """

    slug: str
    parts: tuple[str, ...]
    score: Callable[..., float]
    sensitive: str | None = None
    ends: tuple[str, str] | None = None


def pooled(share: float, other: float) -> float:
    """Return the score of a share beside the pool's, or beside a control's."""
    return 100 * min(1.0, (1 - share) / (1 - other))


ESTIMATORS = (
    Estimator("singling_out_protection", ("success_share", "naive_share"), pooled),
    Estimator("closest_to_training_share", ("success_share", "naive_share"), pooled),
    Estimator("replicated_uniques", ("success_share", "control_share"), pooled),
    Estimator("inference_protection", ("success_share", "control_share"), pooled, "ill"),
    Estimator("attribute_disclosure", ("success_share", "control_share"), pooled, "ill"),
    Estimator("linkability_protection_rate", ("success_share",), lambda share: 100 * (1 - share)),
    Estimator(
        "membership_inference_protection",
        ("success_share",),
        lambda area: 100 * min(1.0, 2 * (1 - area)),
    ),
    Estimator(
        "outlier_protection", ("success_share",), lambda area: 100 * min(1.0, 2 * (1 - area))
    ),
    Estimator(
        "distance_to_closest",
        ("median_distance", "holdout_median_distance", "success_share", "control_share"),
        lambda own, other, near, strangers: min(
            100 * min(1.0, own / other), pooled(near, strangers)
        ),
    ),
    Estimator(
        "closest_distances_ratio",
        ("median_ratio", "holdout_median_ratio"),
        lambda own, other: 100 * min(1.0, own / other),
    ),
)


LINKED = (
    Estimator("hidden_rate", ("success_share",), lambda share: 100 * (1 - share)),
    Estimator("local_cloaking", ("score",), lambda score: score),
    Estimator("categorical_hidden_rate", ("success_share",), lambda share: 100 * (1 - share)),
    Estimator("correlation_protection_rate", ("success_share",), lambda share: 100 * (1 - share)),
)
"""Metrics that need the row link; each avatar is made from its original by some noise."""
SAMPLED = (
    *(
        one
        for one in ESTIMATORS
        if one.slug
        in {
            "linkability_protection_rate",
            "inference_protection",
            "closest_to_training_share",
            "distance_to_closest",
            "closest_distances_ratio",
        }
    ),
    *LINKED,
)
"""Metrics whose searches are made by a sample where the tables are large."""
SEARCHING, LARGE_ROWS = 0.15, (1600, 1400, 1600)
"""The part of the originals that searches in `simulate_sampled`, and the rows of the tables."""
MIXED = 0.3
"""The part of the avatars whose levels come from others."""
RANGES = (
    Estimator(
        "inference_accuracy_ratio", ("score",), lambda score: score, "ill", ("cut_low", "cut_high")
    ),
)
"""Fitted models: slow, and only run where they are asked for by name."""


@dataclass
class Runs:
    """What one metric gave in the runs of one setting."""

    estimator: Estimator
    facts: list[dict[str, Any]] = field(default_factory=list)
    intervals: list[tuple[float, float]] = field(default_factory=list)

    def truth(self) -> float:
        """Return the score at the mean shares."""
        parts = self.estimator.parts
        return self.estimator.score(*(np.mean([one[part] for one in self.facts]) for part in parts))

    def covered(self) -> tuple[float, float | None]:
        """Return how often the score's interval holds the truth, and the excess's."""
        truth = self.truth()
        score = np.mean(
            [low <= truth + 1e-9 and truth - 1e-9 <= high for low, high in self.intervals]
        )
        excesses = [one["excess"] for one in self.facts if one.get("excess_interval")]
        if not excesses:
            return float(score), None
        excess = np.mean(excesses)
        ends = [one["excess_interval"] for one in self.facts]
        return float(score), float(np.mean([low <= excess <= high for low, high in ends]))


def simulate(setting: Setting, runs: int, seed: int, slugs: tuple[str, ...] = ()) -> list[Runs]:
    """Return what each metric gave in so many runs of a setting."""
    rng = np.random.default_rng(seed)
    every = (*ESTIMATORS, *RANGES)
    chosen = [one for one in every if one.slug in slugs] if slugs else list(ESTIMATORS)
    found = {one.slug: Runs(one) for one in chosen}
    # The known cases cost nine tenths of the time and belong to no interval.
    patches = [mock.patch(f"evalkit.metrics.{one.slug}.SHUFFLES", 1, create=True) for one in chosen]
    patches.append(mock.patch("evalkit.quantities_closeness.SHUFFLES", 1))
    for patch in patches:
        patch.start()
    for _ in range(runs):
        original, avatars, holdout = setting.tables(rng)
        release = evalkit.load(original, avatars, holdout)
        for one in chosen:
            scenario = evalkit.Scenario(known=list(KNOWN), sensitive=one.sensitive)
            outcome = evalkit.metrics.get(one.slug).compute(release, scenario, stream(0, one.slug))
            if isinstance(outcome, NotApplicable):
                continue
            facts = outcome.facts | {"score": outcome.score}
            ends = outcome.interval or (one.ends and tuple(facts[end] for end in one.ends))
            found[one.slug].facts.append(facts)
            found[one.slug].intervals.append(ends)
    for patch in patches:
        patch.stop()
    return list(found.values())


def linked_tables(rng: np.random.Generator) -> tuple[pd.DataFrame, ...]:
    """Return originals, an avatar of each, and holdout.

    Avatars are near in numbers; the levels of three in ten come from others.
    """
    rows, n_holdout, _ = LARGE_ROWS
    common = Setting.common
    original, holdout = people(rows, common, rng), people(n_holdout, common, rng)
    avatars = original.copy()
    avatars["age"] = (avatars["age"] + rng.normal(scale=3, size=rows)).round()
    avatars["pressure"] = (avatars["pressure"] + rng.normal(scale=2, size=rows)).round(1)
    mixed = rng.random(rows) < MIXED
    for name in ("town", "smoker", "ill", "visits"):
        cells = avatars[name].to_numpy().copy()
        cells[mixed] = rng.permutation(cells[mixed])
        avatars[name] = cells
    return original, avatars, holdout


def _few_search() -> list[Any]:
    """Return what lets a part of the originals search only."""
    n, _, m = LARGE_ROWS
    most, few = int(SEARCHING * n * m), int(SEARCHING * n)
    attacker = "evalkit.metrics.linkability_protection_rate._Attacker.cost"
    return [
        mock.patch.object(Limits.queries, "__defaults__", (most,)),
        mock.patch(attacker, lambda self, _: len(self.release.avatars)),
        mock.patch("evalkit.quantities_linked.LARGEST_SEARCH", most),
        mock.patch("evalkit.quantities_linked.FEWEST_SAMPLED", few),
        mock.patch("evalkit.quantities_closeness.MOST_BETWEEN", few),
    ]


def _known_cases_left_out() -> list[Any]:
    """Return what leaves out the dear known cases, which belong to no interval."""
    linkability = "evalkit.metrics.linkability_protection_rate"
    kinds = "floor_score", "self_score", "distinct_score", "original_range_score"
    scores = dict.fromkeys(kinds, 0.0)
    return [
        mock.patch("evalkit.quantities_closeness.SHUFFLES", 1),
        mock.patch("evalkit.quantities_linked.SHUFFLES", 1),
        mock.patch(f"{linkability}._anchors", return_value=scores),
        mock.patch(f"{linkability}._splits", return_value={}),
        mock.patch(f"{linkability}._curve", return_value={}),
        mock.patch(f"{linkability}._warnings", return_value=[]),
        mock.patch("evalkit.metrics.inference_protection._anchors", return_value={}),
    ]


def simulate_sampled(one: Estimator, runs: int, seed: int) -> tuple[Runs, list[float], list[float]]:
    """Return runs with a sample, and the scores of the whole tables and of the samples."""
    rng, linked, found = np.random.default_rng(seed), one in LINKED, Runs(one)
    setting = Setting("10 % copied", LARGE_ROWS, 0.1)
    whole: list[float] = []
    part: list[float] = []
    with ExitStack() as left_out:
        for patch in _known_cases_left_out():
            left_out.enter_context(patch)
        for run in range(runs):
            original, avatars, holdout = linked_tables(rng) if linked else setting.tables(rng)
            scenario = evalkit.Scenario(known=list(KNOWN), sensitive=one.sensitive, seed=run)
            for few, scores in ((False, whole), (True, part)):
                release = evalkit.load(original, avatars, holdout, row_link=linked)
                with ExitStack() as stack:
                    for patch in _few_search() if few else []:
                        stack.enter_context(patch)
                    compute = evalkit.metrics.get(one.slug).compute
                    outcome = compute(release, scenario, stream(run, one.slug))
                judged = outcome.judged_value
                scores.append(outcome.score if judged is None else judged)
                if few:
                    found.intervals.append(outcome.interval)
                else:
                    found.facts.append(outcome.facts | {"score": outcome.score})
    return found, whole, part


def print_sampled(runs: int, seed: int, slugs: list[str]) -> None:
    """Print the table of samples."""
    print("| metric | runs | true score | sample less whole | holds the whole's | the true one |")
    print("|---|---|---|---|---|---|")
    for one in SAMPLED:
        if slugs and one.slug not in slugs:
            continue
        found, whole, part = simulate_sampled(one, runs, seed)
        # The median of a few whole numbers is one of them, and no mean of such medians.
        truth = float(np.median(whole)) if one.slug == "local_cloaking" else found.truth()
        pairs = zip(whole, found.intervals, strict=True)
        holds = np.mean([low - 1e-9 <= score <= high + 1e-9 for score, (low, high) in pairs])
        covers = np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in found.intervals])
        gaps = np.subtract(part, whole)
        error = gaps.std(ddof=1) / math.sqrt(runs)
        cells = one.slug, runs, f"{truth:.1f}", f"{gaps.mean():+.2f} (error {error:.2f})"
        shown = f"{100 * holds:.1f} % | {100 * covers:.1f} %"
        print(f"| {' | '.join(map(str, cells))} | {shown} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--settings", type=int, nargs="*", default=list(range(len(SETTINGS))))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--metrics", nargs="*", default=[])
    parser.add_argument("--sampled", action="store_true")
    given = parser.parse_args()
    if given.sampled:
        print_sampled(given.runs, given.seed, given.metrics)
        return
    print("| setting | metric | runs | true score | score's interval | excess's interval |")
    print("|---|---|---|---|---|---|")
    for number in given.settings:
        setting = SETTINGS[number]
        for one in simulate(setting, given.runs, given.seed + number, tuple(given.metrics)):
            if not one.facts:
                print(f"| {setting.name} | {one.estimator.slug} | 0 | | | |", flush=True)
                continue
            score, excess = one.covered()
            shown = "" if excess is None else f"{100 * excess:.1f} %"
            cells = (setting.name, one.estimator.slug, len(one.facts), f"{one.truth():.1f}")
            print(f"| {' | '.join(map(str, cells))} | {100 * score:.1f} % | {shown} |", flush=True)


if __name__ == "__main__":
    main()
