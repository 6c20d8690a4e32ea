r"""Distinguishability: whether a model can tell the avatars from the originals.

A gradient-boosted classifier learns WO against WA on two thirds of both tables and guesses the
rest; its area under the curve AUC is the mean over three folds and five divisions into folds:

    score = 100 * (1 - max(0, 2 * AUC - 1))

The same for HO against WO stands beside it. The variables that give the avatars away are ranked by
permutation on rows that the model did not see. A copy scores 100: no privacy metric. Where people
have several rows, all of a person are in one fold and each person counts once in AUC; avatars
without a row link have no persons.

Source: classifier two-sample tests (Lopez-Paz & Oquab 2017); model, folds and chance limit are
our own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from evalkit.figures import Drawing
    from evalkit.quantities_apart import Contrast, Tables
    from evalkit.release import Release
    from evalkit.scenario import Scenario
    from evalkit.steps import Steps

SLUG = "distinguishability"
REPEATS = 5
SHUFFLES = 3
FEWEST_ROWS = 20
MOST_VARIABLES = 10
SMALLEST_LOSS = 0.001
AVATARS, HOLDOUT = 1, 2  # places of the tables, after WO


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, the holdout's beside it, and the variables that tell."""
    from evalkit.quantities_apart import FOLDS, chance_area, tables
    from evalkit.steps import Steps

    del scenario  # every used column is compared
    frames = (release.working, release.working_avatars, release.reference)
    roles = ("working", "working_avatars", "reference")
    persons = [release.persons_of(role) for role in roles]
    if min(one.count for one in persons[:2]) < FEWEST_ROWS:
        return _too_few(persons[0].count, persons[1].count)
    ready = tables(release.schema, frames, persons, rng)
    if not ready.names:
        return NotApplicable(_nothing_to_tell_by())
    steps = Steps(2 * REPEATS + SHUFFLES + 2)
    areas = _areas(ready.contrast(AVATARS), rng, steps)
    area = _mean(areas)
    n_avatars = max(1, round(ready.persons[AVATARS].count * release.avatar_worth))
    limit = chance_area(ready.persons[0].count, n_avatars)
    facts = {
        "auc": area,
        "auc_low": min(areas),
        "auc_high": max(areas),
        "chance_auc": limit,
        "chance_score": score_of(limit),
        **_holdout(ready, rng, steps),
        **_anchors(ready, rng, steps),
        "repeats": REPEATS,
        "folds": FOLDS,
        **_rows(frames, [len(ranks) for ranks in ready.ranks]),
        "n_variables": len(ready.names),
        "left_out": list(ready.left_out),
        "variables": _variables(ready, rng) if area > limit else [],
    }
    return Outcome(
        score=score_of(area),
        interval=(score_of(max(areas)), score_of(min(areas))),
        interval_method="repeats",
        facts=facts,
    )


def score_of(area: float) -> float:
    """Return the score of an area under the curve, 0 to 100.

    Parameters
    ----------
    area : float
        0 to 1.

    Returns
    -------
    float

    Examples
    --------
    >>> from evalkit.metrics.distinguishability import score_of
    >>> score_of(0.75), score_of(0.4), score_of(1.0)
    (50.0, 100.0, 0.0)
    """
    return 100 * (1 - max(0.0, 2 * area - 1))


def _areas(contrast: Contrast, rng: np.random.Generator, steps: Steps) -> list[float]:
    """Return the area of each of five divisions into folds."""
    found = []
    for _ in range(REPEATS):
        found.append(contrast.area(rng))
        steps.advance()
    return found


def _mean(values: Sequence[float]) -> float:
    """Return the mean, the same for any order."""
    return math.fsum(values) / len(values)


def _holdout(ready: Tables, rng: np.random.Generator, steps: Steps) -> dict[str, Any]:
    """Return what the same model makes of other real people; nulls with too few of them."""
    if ready.persons[HOLDOUT].count < FEWEST_ROWS:
        names = ("holdout_score", "holdout_auc", "holdout_auc_low", "holdout_auc_high")
        return dict.fromkeys(names)
    areas = _areas(ready.contrast(HOLDOUT), rng, steps)
    return {
        "holdout_score": score_of(_mean(areas)),
        "holdout_auc": _mean(areas),
        "holdout_auc_low": min(areas),
        "holdout_auc_high": max(areas),
    }


def _anchors(ready: Tables, rng: np.random.Generator, steps: Steps) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns."""
    import numpy as np

    from evalkit.persons import Persons
    from evalkit.quantities_apart import Contrast

    working, avatars = ready.ranks[0], np.sort(ready.ranks[AVATARS], axis=0)
    whose = ready.persons[0]
    copied = Contrast(working, working, ready.categorical, (whose, whose)).area(rng)
    shuffled = []
    for _ in range(SHUFFLES):
        mixed = rng.permuted(avatars, axis=0)
        nobody = Persons.one_row_each(len(mixed))  # a shuffled row is made of many people
        shuffled.append(Contrast(working, mixed, ready.categorical, (whose, nobody)).area(rng))
        steps.advance()
    return {
        "self_score": score_of(copied),
        "floor_score": score_of(_mean(shuffled)),
        "floor_shuffles": SHUFFLES,
    }


def _rows(frames: Sequence[Any], sizes: Sequence[int]) -> dict[str, Any]:
    """Return the rows of the tables and how many of them the models saw."""
    names = ("working", "avatars", "holdout")
    return {
        **{f"n_{name}": len(frame) for name, frame in zip(names, frames, strict=True)},
        **{f"n_{name}_sampled": size for name, size in zip(names, sizes, strict=True)},
        "sampled": any(len(frame) > size for frame, size in zip(frames, sizes, strict=True)),
    }


def _variables(ready: Tables, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return up to ten variables without which the model tells less, the most telling first."""
    losses = ready.contrast(AVATARS).losses(rng)
    ranked = sorted(zip(losses.tolist(), ready.names, strict=True), key=lambda one: -one[0])
    return [
        {"variable": name, "loss": loss}
        for loss, name in ranked[:MOST_VARIABLES]
        if loss >= SMALLEST_LOSS
    ]


def _too_few(working: int, avatars: int) -> NotApplicable:
    """Return the outcome where a model could learn nothing."""
    reason = say(
        "too_few_to_tell_apart",
        "A model learns nothing from so few rows: {working} originals and {avatars} avatars are "
        "compared, and at least {fewest} of each are needed. Give larger tables.",
        working=working,
        avatars=avatars,
        fewest=FEWEST_ROWS,
    )
    return NotApplicable(reason, {"n_working": working, "n_avatars": avatars})


def _nothing_to_tell_by() -> Any:
    """Return the reason why there is nothing to compare."""
    return say(
        "nothing_to_tell_by",
        "No used column varies among originals and avatars: there is nothing to tell them apart "
        "by. Use more columns.",
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figures of the report from the plain result."""
    from evalkit.figures import apart_drawings

    return apart_drawings(result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    basis=Basis.COMPARISON,
    level="multivariate",
    compute=compute,
    draw=draw,
    needs=frozenset({Need.HOLDOUT}),
    by_person=True,
    copy_score=100.0,
)
