r"""Predictive ratio: whether a model that learnt from the avatars works on real people.

A model (gradient boosting) predicts the outcome, the sensitive variable, from the known variables
K. It is trained on WA and, for comparison, on WO, both cut to the same number of rows, and tested
on HO. With c levels in the test, BA the balanced accuracy:

    levels:  skill = max(0, (BA - 1 / c) / (1 - 1 / c))
    numbers: skill = max(0, R^2)
    score = 100 * min(1, skill(WA) / skill(WO))

not applicable where skill(WO) < 0.05. Where people have several rows, tables are cut, redrawn and
dealt by whole persons to one number of people, a model learns from all their rows, and each person
of HO counts once; avatars without a row link count for as many people as there are.
Source: "train on synthetic, test on real" (Esteban, Hyland & Rätsch 2017); model, skill and
interval are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities_outcome import Rows
    from evalkit.release import Release
    from evalkit.scenario import Scenario
    from evalkit.steps import Steps

SLUG = "predictive_ratio"
CUTS = 5
SHUFFLES = 3
DEALS = 3
REFITS = 6
TESTS_OF_A_REFIT = 25
STUDENT = 2.571  # 97.5 % quantile of Student's t with REFITS - 1 degrees of freedom
LEAST_SKILL = 0.05
FEWEST_ROWS = 20
MOST_ROWS = 20_000
MOST_CELLS = 1_000_000  # of a table: with over 50 columns fewer rows do


@dataclass(frozen=True, eq=False)
class Trial:
    """The tables of the comparison, and how a guess is judged."""

    working: Rows  # WO
    avatars: Rows  # WA
    tested: Rows  # HO
    categorical: tuple[bool, ...]
    of_levels: bool

    @property
    def size(self) -> int:
        """Return the people, rows if each is one, on whom every model is trained."""
        most = most_rows(len(self.categorical))
        # Without a single filled outcome the avatars teach nothing, and nothing is cut for them.
        tables = (self.avatars, self.working) if len(self.avatars) else (self.working,)
        return min(min(one.people, one.people_of(most)) for one in tables)

    def cut(self, table: Rows, seed: int) -> Rows:
        """Return as many people of a table as every model gets: tables alike are cut alike."""
        import numpy as np

        return table.sampled(self.size, np.random.default_rng(seed))

    def guesses(self, training: Rows) -> NDArray[Any] | None:
        """Return what one model guesses for HO, or nothing where it had no row to learn from."""
        from evalkit.quantities_models import predicted

        if not len(training):
            return None
        return predicted(
            training.known,
            training.sensitive,
            self.tested.known,
            self.categorical,
            of_levels=self.of_levels,
        )

    def skill(self, guessed: NDArray[Any] | None, rows: NDArray[np.intp] | None = None) -> float:
        """Return the skill of guesses for HO, or for some of its rows; below 0 if worse than none.

        No guesses at all have no skill.
        """
        from evalkit.quantities_outcome import skill_of_levels, skill_of_numbers

        if guessed is None:
            return 0.0
        truth, weights = self.tested.sensitive, self.tested.weights
        if rows is not None:
            truth, guessed = truth[rows], guessed[rows]
            weights = None if weights is None else weights[rows]
        return (skill_of_levels if self.of_levels else skill_of_numbers)(truth, guessed, weights)


def most_rows(columns: int) -> int:
    """Return on how many rows a model is trained at most: fewer with more than 50 columns.

    Examples
    --------
    >>> from evalkit.metrics.predictive_ratio import most_rows
    >>> most_rows(14), most_rows(299)
    (20000, 3344)
    """
    return min(MOST_ROWS, MOST_CELLS // max(1, columns))


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its interval and anchors, and what each kind of model achieves."""
    from evalkit.steps import Steps

    outcome = str(scenario.sensitive)
    known = tuple(name for name in scenario.known or () if name != outcome)
    if not known:
        return NotApplicable(_nothing_known(outcome))
    trial, counts = _trial(release, known, outcome, rng)
    reason = _cannot_be_tried(trial, outcome)
    if reason:
        return NotApplicable(reason)
    steps = Steps(2 * CUTS + 2 * REFITS + SHUFFLES + 2 * DEALS)
    seeds = [int(seed) for seed in rng.integers(2**31, size=CUTS)]
    avatars, originals = (
        _mean(_skills(trial, table, seeds, steps)) for table in (trial.avatars, trial.working)
    )
    facts = {
        "outcome": outcome,
        "outcome_is_number": not trial.of_levels,
        "n_known": len(known),
        "known": list(known),
        "n_trained": trial.size,
        "cuts": CUTS,
        **counts,
        "skill_avatars": max(0.0, avatars),
        "skill_originals": max(0.0, originals),
    }
    if originals < LEAST_SKILL:
        return NotApplicable(_no_skill(outcome, trial.size), facts)
    return Outcome(
        score=score_of(avatars, originals),
        interval=_interval(trial, avatars, originals, rng, steps),
        interval_method="bootstrap",
        warnings=_warnings(outcome, counts),
        facts=facts | _anchors(trial, originals, rng, steps) | {"refits": REFITS},
    )


def score_of(avatars: float, originals: float) -> float:
    """Return the score of two skills, 0 to 100.

    Parameters
    ----------
    avatars, originals : float
        At most 1, the second over 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from evalkit.metrics.predictive_ratio import score_of
    >>> score_of(0.45, 0.5), score_of(-0.2, 0.5), score_of(0.6, 0.5)
    (90.0, 0.0, 100.0)
    """
    return 100 * min(1.0, max(0.0, avatars) / originals)


def _trial(
    release: Release, known: Sequence[str], outcome: str, rng: np.random.Generator
) -> tuple[Trial, dict[str, int | None]]:
    """Return the tables made ready, and what was left out of them."""
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_models import by_content, coarse, column_ranks, features
    from evalkit.quantities_order import cut_from, prepared
    from evalkit.quantities_outcome import filled_rows

    schema = release.schema
    frames = (release.working, release.working_avatars, release.reference)
    persons = [release.persons_of(name) for name in ("working", "working_avatars", "reference")]
    of_levels = not schema[outcome].is_number
    if of_levels:
        targets, counts = _levels(column_ranks(schema, frames, outcome), persons[0])
    else:
        targets = [cells(frame, schema, outcome).astype(np.float64) for frame in frames]
        counts = {"levels": None, "avatar_levels": None}
    left_out = {
        f"n_{name}_left_out": int(np.isnan(target).sum())
        for name, target in zip(("working", "avatars", "holdout"), targets, strict=True)
    }
    ready = [
        prepared(frame, whose, rng, target)
        for frame, whose, target in zip(frames, persons, targets, strict=True)
    ]
    found = coarse(by_content(features(schema, [one.frame for one in ready], known))[0])
    worths = 1.0, release.avatar_worth, 1.0
    working, avatars, tested = (
        filled_rows(ranks, target[one.rows], one.persons, worth)
        for ranks, target, one, worth in zip(found.tables, targets, ready, worths, strict=True)
    )
    tested = tested.sampled(tested.people_of(MOST_ROWS), rng)
    counts |= left_out | {"n_tested": tested.people} | cut_from(ready, frames)
    return Trial(working, avatars, tested, found.categorical, of_levels), counts


def _levels(
    ranks: Sequence[NDArray[np.integer]], persons: Persons
) -> tuple[list[NDArray[np.float64]], dict[str, int | None]]:
    """Return the levels as numbers, NaN where fewer than 10 originals carry them altogether."""
    import numpy as np

    from evalkit.quantities_outcome import FEWEST_OF_LEVEL, joined_levels
    from evalkit.quantities_rows import holders

    joined = joined_levels(ranks, persons)
    size = 1 + max(int(one.max(initial=0)) for one in joined)
    counts = holders(joined[0], persons.code, size)
    kept = counts >= FEWEST_OF_LEVEL
    targets = [np.where(kept[one], one, np.nan) for one in joined]
    occur = [len(np.unique(one[kept[one]])) for one in joined]
    return targets, {"levels": occur[0], "avatar_levels": occur[1]}


def _skills(trial: Trial, table: Rows, seeds: Sequence[int], steps: Steps) -> list[float]:
    """Return the skill of a model from each cut of `table`; one where nothing is cut."""
    found = []
    for seed in seeds if trial.size < table.people else seeds[:1]:
        found.append(trial.skill(trial.guesses(trial.cut(table, seed))))
        steps.advance()
    return found


def _mean(values: Sequence[float]) -> float:
    """Return the mean, the same for any order."""
    return math.fsum(values) / len(values)


def _interval(
    trial: Trial, avatars: float, originals: float, rng: np.random.Generator, steps: Steps
) -> tuple[float, float]:
    """Return the 95 % interval of the score: delta method, variance from redrawn rows.

    Both models are fitted anew on people redrawn with repeats, and tested on redrawn ones of HO.
    """
    import numpy as np

    ratio = avatars / originals
    spread = []
    for _ in range(REFITS):
        guessed = []
        for table in (trial.avatars, trial.working):
            cut = trial.cut(table, int(rng.integers(2**31)))
            guessed.append(trial.guesses(cut.redrawn(rng) if len(cut) else cut))
            steps.advance()
        for _ in range(TESTS_OF_A_REFIT):
            rows = trial.tested.redrawn_places(rng)
            first, second = (trial.skill(one, rows) for one in guessed)
            spread.append(first - ratio * second)
    half = STUDENT * float(np.std(spread, ddof=1)) / originals
    low, high = (100 * min(1.0, max(0.0, end)) for end in (ratio - half, ratio + half))
    return low, high


def _anchors(
    trial: Trial, originals: float, rng: np.random.Generator, steps: Steps
) -> dict[str, Any]:
    """Return the scores of a copy, of shuffled columns and of real rows in the avatars' place."""
    shuffled = []
    for _ in range(SHUFFLES if len(trial.avatars) else 0):
        mixed = trial.cut(trial.avatars.shuffled(rng), int(rng.integers(2**31)))
        shuffled.append(score_of(trial.skill(trial.guesses(mixed)), originals))
        steps.advance()
    real = []
    for _ in range(DEALS):
        halves = trial.working.halves(rng)
        skills = [trial.skill(trial.guesses(trial.cut(part, 0))) for part in halves]
        if min(skills) >= LEAST_SKILL:
            real += [score_of(skills[0], skills[1]), score_of(skills[1], skills[0])]
        steps.advance()
    return {
        # The same rows, cut alike, make the same model.
        "self_score": 100.0,
        "floor_score": _mean(shuffled) if shuffled else 0.0,
        "floor_shuffles": SHUFFLES,
        "real_score": _mean(real) if real else None,
        "real_deals": DEALS,
    }


def _cannot_be_tried(trial: Trial, outcome: str) -> Message | None:
    """Return why there is nothing to predict, or nothing."""
    import numpy as np

    fewest = min(trial.working.people, trial.tested.people)
    if fewest < FEWEST_ROWS:
        return say(
            "too_few_outcomes",
            "{outcome} is filled in {rows} rows of originals or holdout, levels of fewer than ten "
            "originals left out; at least {fewest} are needed in each. Name another column with "
            "--sensitive.",
            outcome=outcome,
            rows=fewest,
            fewest=FEWEST_ROWS,
        )
    if min(len(np.unique(one.sensitive)) for one in (trial.working, trial.tested)) < 2:  # noqa: PLR2004 - one value needs no model
        return say(
            "nothing_to_predict",
            "{outcome} has one value only among the originals or in the holdout, levels of fewer "
            "than ten originals left out: there is nothing to predict. Name another column with "
            "--sensitive.",
            outcome=outcome,
        )
    return None


def _warnings(outcome: str, counts: Mapping[str, int | None]) -> tuple[Message, ...]:
    """Return what the reader must know of levels that the avatars lack."""
    levels, present = counts["levels"], counts["avatar_levels"]
    if levels is None or present is None or present >= levels:
        return ()
    return (
        say(
            "avatars_lack_levels",
            "The avatars lack {missing} of the {levels} levels of {outcome}, so a model from them "
            "never predicts these.",
            missing=levels - present,
            levels=levels,
            outcome=outcome,
        ),
    )


def _nothing_known(outcome: str) -> Message:
    """Return the reason why nothing can be learnt."""
    return say(
        "nothing_to_predict_from",
        "A model needs something to predict {outcome} from. Give other columns with --known.",
        outcome=outcome,
    )


def _no_skill(outcome: str, rows: int) -> Message:
    """Return the reason why there is no reference."""
    return say(
        "no_skill",
        "A model from {rows:,} originals hardly predicts {outcome} in the holdout (skill under "
        "{least}), so there is nothing to be kept. Name another column with --sensitive, or give "
        "more columns with --known.",
        rows=rows,
        outcome=outcome,
        least=LEAST_SKILL,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import outcome_drawings

    return outcome_drawings(result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    basis=Basis.COMPARISON,
    level="multivariate",
    compute=compute,
    draw=draw,
    needs=frozenset({Need.HOLDOUT, Need.SENSITIVE}),
    by_person=True,
    uses_known=True,
)
