r"""Inference accuracy ratio: models from the avatars beside models from data on other people.

A model (gradient boosting) guesses the sensitive variable from the known variables K, the
sensitive one left out. It is trained on WA and, for comparison, on HO, both cut to the same number
of rows, and tested on WO; each figure is the mean of 10 cuts. With BA the balanced accuracy and
MAE the mean absolute error:

    levels:  score = 100 * BA(HO) / BA(WA)
    numbers: score = 100 * MAE(WA) / MAE(HO)

shown up to 200. Where people have several rows, tables are cut to whole persons, and each person
of WO counts once in BA and MAE; a model learns from every row. Name and reading: published by the
vendor of the Avatar method; model, cuts and the choice of errors are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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
    from evalkit.release import Release
    from evalkit.scenario import Scenario
    from evalkit.steps import Steps

SLUG = "inference_accuracy_ratio"
CUTS = 10
ANCHOR_CUTS = 3
LARGEST_SCORE = 200.0
RANGE_QUANTILES = (0.05, 0.95)
CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class Rows:
    """One table: what is known, and what is to be guessed; in an order of content."""

    known: NDArray[np.float64]  # (rows, |K|), from `features`
    sensitive: NDArray[Any]  # (rows,): numbers, or whole numbers for levels
    persons: Persons

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.sensitive)

    def sampled(self, size: int, rng: np.random.Generator) -> Rows:
        """Return `size` rows drawn without repeats, all of them where there are no more.

        Where people have several, about `size`: those of whole persons.
        """
        import numpy as np

        if size >= len(self):
            return self
        chosen = self.persons.drawn(np.arange(len(self)), size, rng)
        return Rows(self.known[chosen], self.sensitive[chosen], self.persons.part(chosen))

    def shuffled(self, rng: np.random.Generator) -> Rows:
        """Return the table with each column in a random order of its own."""
        import numpy as np

        from evalkit.persons import Persons

        known = rng.permuted(np.sort(self.known, axis=0), axis=0)
        sensitive = rng.permutation(np.sort(self.sensitive))
        return Rows(known, sensitive, Persons.one_row_each(len(sensitive)))


@dataclass(frozen=True, eq=False)
class Contest:
    """The tables of the comparison, and how a guess is judged."""

    working: Rows  # WO
    tested: Rows  # WO, or 20,000 of its rows
    avatars: Rows  # WA
    holdout: Rows  # HO
    categorical: tuple[bool, ...]
    of_levels: bool
    drawn: Mapping[str, int] = field(default_factory=dict)  # rows that cuts are taken from

    @property
    def size(self) -> int:
        """Return the rows on which every model is trained."""
        from evalkit.quantities_models import MOST_ROWS

        return min(len(self.avatars), len(self.holdout), MOST_ROWS)

    def results(
        self, table: Rows, cuts: int, rng: np.random.Generator, steps: Steps
    ) -> list[float]:
        """Return the balanced accuracy, or the mean absolute error, of each cut of `table`."""
        different = cuts if self.size < len(table) else 1
        found = []
        for _ in range(different):
            found.append(self.result(table.sampled(self.size, rng)))
            steps.advance()
        return found * (cuts // different)

    def result(self, training: Rows) -> float:
        """Return the balanced accuracy, or the mean absolute error, of one model on WO."""
        from evalkit.quantities_models import guessed_levels, guessed_numbers

        guess = guessed_levels if self.of_levels else guessed_numbers
        guessed = guess(training.known, training.sensitive, self.tested.known, self.categorical)
        return self.judged(guessed)

    def judged(self, guessed: NDArray[Any]) -> float:
        """Return the balanced accuracy, or the mean absolute error, of guesses for WO."""
        from evalkit.quantities_outcome import balanced_accuracy

        truth, persons = self.tested.sensitive, self.tested.persons
        weights = None if persons.are_rows else persons.weights
        judge = balanced_accuracy if self.of_levels else mean_absolute_error
        return judge(truth, guessed, weights)

    def chance(self) -> float:
        """Return what a guess achieves that uses nothing known about the person."""
        import numpy as np

        if self.of_levels:
            return 1 / len(np.unique(self.tested.sensitive))
        values, persons = self.holdout.sensitive, self.holdout.persons
        middle = np.median(values) if persons.are_rows else persons.quantiles(values, (0.5,))[0]
        return self.judged(np.full(len(self.tested), middle))


def mean_absolute_error(
    truth: NDArray[Any], guessed: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the mean absolute difference, in the unit of the variable.

    Parameters
    ----------
    truth, guessed : ndarray, shape (n,)
        At least one row.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.inference_accuracy_ratio import mean_absolute_error
    >>> mean_absolute_error(np.array([1.0, 4.0]), np.array([2.0, 2.0]))
    1.5
    """
    import numpy as np

    errors = np.abs(truth - guessed)
    if weights is None:
        return math.fsum(errors) / len(errors)
    return math.fsum(errors * weights) / math.fsum(weights)


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score, its anchors and what each kind of model achieves."""
    from evalkit.steps import Steps

    sensitive = str(scenario.sensitive)
    known = tuple(name for name in scenario.known or () if name != sensitive)
    if not known:
        return NotApplicable(_nothing_known(sensitive))
    contest = _contest(release, known, sensitive, rng)
    if contest is None:
        return NotApplicable(_nothing_to_guess(sensitive))
    steps = Steps(2 * CUTS + 2 * ANCHOR_CUTS)
    avatars = contest.results(contest.avatars, CUTS, rng, steps)
    holdout = contest.results(contest.holdout, CUTS, rng, steps)
    chance = contest.chance()
    facts = {
        "sensitive": sensitive,
        "sensitive_is_number": not contest.of_levels,
        "known": list(known),
        "n_known": len(known),
        "n_trained": contest.size,
        "n_tested": len(contest.tested),
        "cuts": CUTS,
        **contest.drawn,
        **_achieved(contest, _mean(avatars), _mean(holdout), chance),
    }
    if not _beats(contest, _mean(holdout), chance):
        return NotApplicable(_no_better_than_chance(sensitive), facts)
    scores = [score_of(contest, *pair) for pair in zip(avatars, holdout, strict=True)]
    return Outcome(
        score=score_of(contest, _mean(avatars), _mean(holdout)),
        facts=facts
        | {"cut_low": min(scores), "cut_high": max(scores)}
        | _anchors(contest, _mean(holdout), rng, steps),
    )


def _contest(
    release: Release, known: Sequence[str], sensitive: str, rng: np.random.Generator
) -> Contest | None:
    """Return the tables made ready, or nothing where there is nothing to guess or to learn."""
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_models import MOST_ROWS, coarse, column_ranks, features
    from evalkit.quantities_order import cut_from, prepared
    from evalkit.quantities_outcome import joined_levels

    schema = release.schema
    frames = (release.working, release.working_avatars, release.reference)
    of_levels = not schema[sensitive].is_number
    persons = [release.persons_of(one) for one in ("working", "working_avatars", "reference")]
    targets: list[NDArray[Any]]
    if of_levels:
        targets = list(joined_levels(column_ranks(schema, frames, sensitive), persons[0]))
    else:
        targets = [cells(frame, schema, sensitive).astype(np.float64) for frame in frames]
    ready = [
        prepared(frame, whose, rng, target)
        for frame, whose, target in zip(frames, persons, targets, strict=True)
    ]
    found = features(schema, [one.frame for one in ready], known)
    drawn = cut_from(ready, frames)
    if drawn:
        found = coarse(found)
    working, avatars, holdout = (
        _in_content_order(ranks, target[one.rows], one.persons)
        for ranks, target, one in zip(found.tables, targets, ready, strict=True)
    )
    if not len(avatars) or not len(holdout) or len(np.unique(working.sensitive)) < 2:  # noqa: PLR2004 - one value needs no guess
        return None
    tested = working.sampled(MOST_ROWS, rng)
    return Contest(working, tested, avatars, holdout, found.categorical, of_levels, drawn)


def _in_content_order(
    known: NDArray[np.float64], sensitive: NDArray[Any], persons: Persons
) -> Rows:
    """Return the rows with a filled target, so that their order in the file is gone."""
    import numpy as np

    filled = np.flatnonzero(~np.isnan(sensitive))
    order = filled[np.lexsort((sensitive[filled], *known[filled].T))]
    return Rows(known[order], sensitive[order], persons.part(order))


def _mean(results: Sequence[float]) -> float:
    """Return the mean over the cuts, the same for any order of them."""
    return math.fsum(results) / len(results)


def score_of(contest: Contest, avatars: float, holdout: float) -> float:
    """Return the score of two accuracies, or of two errors, 0 to 200."""
    if contest.of_levels:
        ratio = holdout / avatars if avatars > 0 else math.inf
    else:
        ratio = avatars / holdout
    return min(LARGEST_SCORE, 100 * ratio)


def _beats(contest: Contest, holdout: float, chance: float) -> bool:
    """Return whether the model from the holdout is better than chance, and not without error."""
    return holdout > chance + CLOSE if contest.of_levels else CLOSE < holdout < chance - CLOSE


def _achieved(contest: Contest, avatars: float, holdout: float, chance: float) -> dict[str, Any]:
    """Return what the models achieve, free of units.

    For levels balanced accuracies. For numbers the part of the naive guess's error that a model
    takes away, and the errors as shares of the originals' 5 to 95 % range.
    """
    import numpy as np

    truth = contest.tested.sensitive
    if contest.of_levels:
        return {
            "classes": len(np.unique(truth)),
            "skill_avatars": avatars,
            "skill_holdout": holdout,
            "skill_chance": chance,
        }
    low, high = np.quantile(truth.astype(np.float64), RANGE_QUANTILES)
    width = float(high - low)
    errors = {"avatars": avatars, "holdout": holdout, "chance": chance}
    return {
        **{f"error_{name}": error / width if width else None for name, error in errors.items()},
        **{
            f"skill_{name}": max(0.0, 1 - error / chance) if chance else 0.0
            for name, error in errors.items()
        },
    }


def _anchors(
    contest: Contest, holdout: float, rng: np.random.Generator, steps: Steps
) -> dict[str, Any]:
    """Return the scores of a perfect copy and of avatars with shuffled columns."""
    copied = contest.results(contest.working, ANCHOR_CUTS, rng, steps)
    shuffled = []
    for _ in range(ANCHOR_CUTS):
        mixed = contest.avatars.shuffled(rng).sampled(contest.size, rng)
        shuffled.append(contest.result(mixed))
        steps.advance()
    return {
        "self_score": score_of(contest, _mean(copied), holdout),
        "floor_score": score_of(contest, _mean(shuffled), holdout),
        "anchor_cuts": ANCHOR_CUTS,
    }


def _nothing_known(sensitive: str) -> Message:
    """Return the reason why nothing can be learnt."""
    return say(
        "nothing_known",
        "The attacker must know something beside {sensitive}. Give other columns with --known.",
        sensitive=sensitive,
    )


def _nothing_to_guess(sensitive: str) -> Message:
    """Return the reason why there is nothing to guess."""
    from evalkit.quantities_outcome import FEWEST_OF_LEVEL

    return say(
        "nothing_to_guess",
        "{sensitive} has no two values that at least {fewest} originals carry, or is missing in a "
        "whole table: there is nothing to guess. Name another column with --sensitive.",
        sensitive=sensitive,
        fewest=FEWEST_OF_LEVEL,
    )


def _no_better_than_chance(sensitive: str) -> Message:
    """Return the reason why the comparison has no reference."""
    return say(
        "no_better_than_chance",
        "A model from the holdout guesses {sensitive} no better than chance, or without error: "
        "there is no reference. Give a larger holdout, or more columns with --known.",
        sensitive=sensitive,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import model_drawings

    return model_drawings(result["facts"], words, narrow)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.PRIVACY,
    criterion="inference",
    basis=Basis.COMPARISON,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.HOLDOUT, Need.SENSITIVE}),
    uses_known=True,
    by_person=True,
)
