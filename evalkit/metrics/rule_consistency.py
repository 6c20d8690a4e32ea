r"""Rule consistency: avatars held against the rules that the user wrote down.

    s_r = #{j : avatar j keeps rule r} / #{j : rule r can be looked at in avatar j}

    score = 100 * 1/R * sum_r s_r

over the R rules of the schema file that can be looked at in at least ten avatars. A row with a
missing cell among those that a rule needs is left out of both counts. All avatars and all
originals are used. Source: our own choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evalkit import intervals
from evalkit.messages import say
from evalkit.metric import Basis, Metric, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.messages import Message
    from evalkit.quantities_tables import TablePiece
    from evalkit.release import Release
    from evalkit.rules import Kept, KeptRows
    from evalkit.rules.parsing import Node
    from evalkit.scenario import Scenario
    from evalkit.schema import Schema

SLUG = "rule_consistency"
FEWEST_ROWS = 10
SHUFFLES = 5
FLOOR_ROWS = 200_000  # avatars that are shuffled: their score is then known to a tenth of a point
SHOWN_RULES = 10
MOSTLY_MISSING = 0.5


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the mean share of avatars that keep a rule, and each rule, the worst first."""
    from evalkit.rules import checked_rule

    if not release.rules:
        return NotApplicable(_no_rules())
    schema = release.schema
    trees = [checked_rule(rule, schema) for rule in release.rules]
    kept = [_kept(tree, release.avatars, schema) for tree in trees]
    scored = [place for place, one in enumerate(kept) if one.rows >= FEWEST_ROWS]
    if not scored:
        return NotApplicable(_too_few_rows(len(trees)), {"n_rules": len(trees)})
    rules = _by_table(release, trees, kept, scenario.min_count)
    shown = [rules[place] for place in scored]
    shares = [kept[place].kept / kept[place].rows for place in scored]
    score = 100 * math.fsum(shares) / len(shares)
    low, high = _interval([kept[place] for place in scored])
    worst_first = sorted(scored, key=lambda place: (shares[scored.index(place)], place))
    facts: dict[str, Any] = {
        "n_rules": len(trees),
        "n_scored": len(scored),
        "n_original": len(release.original),
        "n_avatars": len(release.avatars),
        "n_holdout": None if release.holdout is None else len(release.holdout),
        "fewest_shown": scenario.min_count,
        "fewest_rows": FEWEST_ROWS,
        "rules": [rules[place] for place in worst_first],
        "unscored": [rules[k]["name"] for k in range(len(trees)) if k not in scored],
        "n_always_kept": sum(share == 1 for share in shares),
        "self_score": _mean_share(shown, "original"),
        "holdout_score": _mean_share(shown, "holdout"),
        **_floor([trees[place] for place in scored], release, rng),
    }
    return Outcome(
        score=score,
        interval=(min(low, score), max(high, score)),
        interval_method="wilson" if len(scored) == 1 else "mean_wilson",
        warnings=tuple(_warnings(facts, kept, release)),
        facts=facts,
    )


def _kept(
    tree: Node, frame: pd.DataFrame, schema: Schema, person: NDArray[np.int64] | None = None
) -> Kept:
    """Return how many rows of a table keep a rule, looked at piece by piece."""
    from evalkit.quantities_tables import gathered
    from evalkit.rules import merged_kept
    from evalkit.rules.checking import columns_of

    names = sorted(columns_of(tree))
    return merged_kept(gathered(kept_of_piece, frame, names, (tree, schema), person))


def kept_of_piece(piece: TablePiece, shared: tuple[Node, Schema]) -> KeptRows:
    """Return what a rule finds in a piece of a table: a partial."""
    from evalkit.rules import kept_of

    tree, schema = shared
    return kept_of(tree, piece.frame, schema, piece.beside)


def _by_table(
    release: Release, trees: Sequence[Node], kept: Sequence[Kept], min_count: int
) -> list[dict[str, Any]]:
    """Return each rule with its shares among avatars, originals and holdout."""

    def among(tree: Node, role: str) -> dict[str, Any] | None:
        frame = release.original if role == "original" else release.holdout
        if frame is None:
            return None
        persons = release.persons_of(role)
        person = None if persons.are_rows else persons.code
        return _of_people(_kept(tree, frame, release.schema, person), min_count)

    return [
        {
            "number": rule.number,
            "name": rule.name,
            "rule": rule.text,
            **_of_avatars(one),
            "original": among(tree, "original"),
            "holdout": among(tree, "holdout"),
        }
        for rule, tree, one in zip(release.rules, trees, kept, strict=True)
    ]


def _of_avatars(kept: Kept) -> dict[str, Any]:
    """Return the counts of one rule among the avatars, which are to be published anyway."""
    share = kept.kept / kept.rows if kept.rows else None
    return {
        "share": share,
        "interval": list(intervals.wilson(kept.kept, kept.rows)) if kept.rows else None,
        "broken": kept.rows - kept.kept,
        "rows": kept.rows,
        "left_out": kept.left_out,
    }


def _of_people(kept: Kept, min_count: int) -> dict[str, Any]:
    """Return the share of one rule among real people, no count of fewer than `min_count`.

    Where fewer break the rule, or fewer keep it, a bound stands for the share; nothing does where
    these few have many rows.
    """
    broken, few = kept.rows - kept.kept, min_count - 1
    by_row = kept.people_kept + kept.people_broken == kept.rows
    found: dict[str, Any] = {
        "share": None,
        "at_least": None,
        "at_most": None,
        "left_out": kept.left_out if by_row and kept.left_out >= min_count else None,
    }
    if kept.rows < 2 * min_count:
        return found
    if broken < min_count:
        return found | {"at_least": math.floor(1000 * (1 - few / kept.rows)) / 1000}
    if kept.kept < min_count:
        return found | {"at_most": math.ceil(1000 * few / kept.rows) / 1000}
    if min(kept.people_broken, kept.people_kept) < min_count:
        return found
    return found | {"share": round(kept.kept / kept.rows, 4)}


def _mean_share(rules: Sequence[Mapping[str, Any]], role: str) -> float | None:
    """Return 100 times the mean share of a table; None if one of them may not be shown."""
    shares = [rule[role]["share"] for rule in rules if rule[role] is not None]
    if len(shares) < len(rules) or None in shares:
        return None
    return 100 * math.fsum(shares) / len(shares)


def _interval(kept: Sequence[Kept]) -> tuple[float, float]:
    """Return the mean of the rules' Wilson limits.

    One row may break several rules. The mean of the limits is the interval for rules that are
    always broken together, the widest case; for all others it is too long, never too short.
    """
    limits = [intervals.wilson(one.kept, one.rows) for one in kept]
    low, high = (math.fsum(ends) / len(limits) for ends in zip(*limits, strict=True))
    return 100 * low, 100 * high


def _floor(
    trees: Sequence[Node], release: Release, rng: np.random.Generator
) -> dict[str, float | int | None]:
    """Return the mean score of avatars whose columns are shuffled independently.

    None if no rule joins two columns: shuffling moves no value out of its column. Of many avatars
    some are shuffled, and how many is said.
    """
    from evalkit.quantities import in_content_order
    from evalkit.quantities_order import some_of
    from evalkit.rules import apply_rule
    from evalkit.rules.checking import columns_of

    if all(len(columns_of(tree)) == 1 for tree in trees):
        return {"floor_score": None}
    names = sorted({name for tree in trees for name in columns_of(tree)})
    order = in_content_order(release.avatars, release.schema, names)
    some = some_of(order, FLOOR_ROWS, rng)
    ordered = release.avatars[names].take(some)
    shares = []
    for _ in range(SHUFFLES):
        mixed = _shuffled(ordered, rng)
        found = [apply_rule(tree, mixed, release.schema) for tree in trees]
        shares += [one.kept / one.rows for one in found if one.rows]
    drawn = {"floor_rows": len(some)} if len(some) < len(order) else {}
    return {"floor_score": 100 * math.fsum(shares) / len(shares), **drawn}


def _shuffled(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table with each column in an order of its own."""
    import pandas as pd

    return pd.DataFrame(
        {name: frame[name].array.take(rng.permutation(len(frame))) for name in frame}
    )


def _warnings(facts: Mapping[str, Any], kept: Sequence[Kept], release: Release) -> list[Message]:
    """Return what the reader must know beside the score."""
    found = [
        say(
            "rule_unknown_level",
            "Rule {rule} names the text {level}, which its column holds in no table: check how it "
            "is written.",
            rule=rule.name,
            level=level,
        )
        for rule, one in zip(release.rules, kept, strict=True)
        for level in one.unknown_levels
    ]
    found += [
        say(
            "rule_mostly_missing",
            "Rule {rule} could be looked at in {rows:,} of {all:,} avatars only: a cell that it "
            "needs is missing in the others.",
            rule=one["name"],
            rows=one["rows"],
            all=facts["n_avatars"],
        )
        for one in facts["rules"]
        if one["rows"] < MOSTLY_MISSING * facts["n_avatars"]
    ]
    if facts["unscored"]:
        found.append(
            say(
                "rules_unscored",
                "Not scored, since fewer than {fewest} avatars have all cells that the rule needs: "
                "{rules}.",
                fewest=FEWEST_ROWS,
                rules=facts["unscored"],
            )
        )
    return found


def _no_rules() -> Message:
    """Return the reason where the user wrote no rule."""
    return say(
        "no_rules",
        "No rule was given. Write rules in the schema file, as in rules: [start <= end], and give "
        "the file with --schema.",
    )


def _too_few_rows(n_rules: int) -> Message:
    """Return the reason where no rule can be looked at in enough avatars."""
    return say(
        "rules_not_testable",
        "None of the {n_rules} rules can be looked at in {fewest} avatars or more: cells are "
        "missing or the avatars are few.",
        n_rules=n_rules,
        fewest=FEWEST_ROWS,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result: the rules broken most."""
    from evalkit.figures import broken_rules

    return (broken_rules(result["facts"]["rules"][:SHOWN_RULES], narrow=narrow, words=words),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    level="individual",
    basis=Basis.COMPARISON,
    compute=compute,
    draw=draw,
)
