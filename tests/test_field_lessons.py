"""Seven wrong or misleading results of other tools, each of which must not come from this one."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import page_text
from test_contract import (
    HIGHEST_SCORES,
    METRICS,
    NEEDS_GAPS,
    comparable,
    every_metric,
    linked,
    people,
)

import evalkit
from evalkit.metric import Basis, Need
from evalkit.report.document import Report
from evalkit.report.wording import attack_words
from evalkit.report.words import load_words

TESTS = Path(__file__).resolve().parent
SLUGS = [one.slug for one in METRICS]
KNOWN = ["age", "visits", "town", "smoker"]
SENSITIVE = "pressure"
LARGEST_SPREAD = 3.0  # points over six seeds; ten cuts of the rows move a ratio of models by 2.4
# The tables below have no missing cell, and without one some measures have nothing to compare.
every_slug = pytest.mark.parametrize("slug", [one for one in SLUGS if one not in NEEDS_GAPS])


def assessed(
    original: pd.DataFrame,
    avatars: pd.DataFrame,
    holdout: pd.DataFrame | None,
    slugs: list[str] = SLUGS,
    *,
    row_link: bool = True,
    **changes: Any,
) -> evalkit.Assessment:
    rules = {"rules": ["age < 60", "visits <= age / 4"]} if "visits" in original else None
    release = evalkit.load(original, avatars, holdout, row_link=row_link, schema=rules)
    settings: dict[str, Any] = {"sensitive": SENSITIVE, "known": KNOWN} | changes
    profile = settings.pop("profile", "none")
    scenario = evalkit.Scenario(**settings)
    return evalkit.assess(release, scenario, metrics=slugs, profile=profile)


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    original = people(300, 1)
    return original, linked(original, 4), people(300, 3)


@cache
def as_given() -> evalkit.Assessment:
    return assessed(*tables())


def assert_as_given(found: evalkit.Result, slug: str) -> None:
    given = as_given()[slug]
    assert given.status == found.status == "measured"
    assert comparable(found) == pytest.approx(comparable(given), abs=1e-9)
    assert found.interval == pytest.approx(given.interval, abs=1e-9)


# 1. A share that depends on the sizes of the two tables


@cache
def unseen(n_holdout: int) -> evalkit.Assessment:
    holdout = people(1000, 33).head(n_holdout)
    return assessed(people(1000, 31), people(1000, 32), holdout)


HAS_EXCESS = [
    slug for slug in SLUGS if slug not in {"outlier_protection", "inference_accuracy_ratio"}
]


@pytest.mark.slow
@pytest.mark.parametrize("slug", HAS_EXCESS)
def test_a_quarter_of_the_holdout_shows_no_more_than_the_whole(slug: str) -> None:
    whole, quarter = (unseen(rows)[slug] for rows in (1000, 250))
    excess = quarter.facts.get("excess")
    if excess is not None:
        # A plain share of rows nearer to the originals moves by some 30 points here.
        allowed = quarter.facts["detectable_excess"] or 0.05
        assert abs(excess - whole.facts["excess"]) <= allowed
    elif slug == "correlation_difference_ratio":
        warned = {one.code for one in quarter.warnings}
        assert "small_holdout" in warned
        assert quarter.facts["score_at_equal_sizes"] < quarter.score
    elif slug == "multivariate_hellinger":
        # Fewer rows mean a coarser grid: real rows are read on the same one.
        apart = [one.score - one.facts["real_score"] for one in (whole, quarter)]
        assert apart[1] == pytest.approx(apart[0], abs=3)
    elif slug in {"mutual_information_ratio", "predictive_ratio"}:
        # All tables are cut to the smallest, or tested on it: the interval widens and holds both.
        (low, high), (quarter_low, quarter_high) = whole.interval, quarter.interval
        assert max(low, quarter_low) <= min(high, quarter_high)
    else:
        assert quarter.score == pytest.approx(whole.score, abs=5 if quarter.unit == "%" else 15)


# 2. Reordered columns change a score


@cache
def avatars_turned() -> evalkit.Assessment:
    original, avatars, holdout = tables()
    return assessed(original, avatars[avatars.columns[::-1]], holdout[sorted(holdout)])


@every_slug
def test_columns_of_one_table_in_another_order_change_nothing(slug: str) -> None:
    assert_as_given(avatars_turned()[slug], slug)


# 3. A perfect copy gets no risk, or a part of it


@cache
def distinct() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return originals, distinct in each column, and other people near to them."""
    rng = np.random.default_rng(0)
    original = pd.DataFrame({name: rng.permutation(240) for name in "abcd"})
    holdout = (original + rng.integers(0, 3, original.shape)).assign(d=rng.permutation(240))
    return original, holdout


COPIES = [one for one in METRICS if one.copy_score == 0 and one.slug != "categorical_hidden_rate"]


@pytest.mark.parametrize("with_holdout", [True, False])
@pytest.mark.parametrize("metric", COPIES, ids=lambda metric: metric.slug)
def test_a_copy_is_seen_whether_or_not_it_is_the_same_object(
    metric: Any, with_holdout: bool
) -> None:
    original, holdout = distinct()
    link = Need.ROW_LINK in metric.needs
    other = original.copy(deep=True)[list("dbca")]
    for avatars in (original, other if link else other.sample(frac=1, random_state=1)):
        found = assessed(
            original,
            avatars,
            holdout if with_holdout else None,
            [metric.slug],
            row_link=link,
            sensitive="d",
            known=list("abc"),
        )[metric.slug]
        if found.status == "measured":
            assert comparable(found) == 0
        else:
            assert not with_holdout
            assert found.reason.code == "no_real_holdout"


def test_exact_matches_are_counted_in_all_rows_and_not_in_a_sample() -> None:
    rows = 25_000
    rng = np.random.default_rng(2)
    original = pd.DataFrame({name: 2 * rng.permutation(rows) for name in "abc"})
    avatars = original + 1
    avatars.iloc[::100] = original.iloc[::100]
    for published, share in ((original, 1.0), (avatars, 0.01)):
        for slug in ("row_direct_match_protection", "column_direct_match_protection"):
            found = evalkit.measure(slug, original, published, numeric=list("abc"))
            assert found.score == pytest.approx(100 * (1 - share), abs=1e-9)


# 4. Empty tables score, constant columns lift a mean, columns vanish


@pytest.mark.parametrize("empty", ["original", "avatars", "holdout"])
def test_a_table_without_rows_is_refused_by_name(empty: str) -> None:
    given = dict(zip(("original", "avatars", "holdout"), tables(), strict=True))
    given[empty] = given[empty].head(0)
    with pytest.raises(evalkit.InputError, match=f"{empty}: has no rows"):
        assessed(**given)


@cache
def with_more(kind: str) -> evalkit.Assessment:
    added = {"empty": {"void": np.nan, "hollow": None}, "constant": {"country": "F", "dose": 4}}
    given = [table.assign(**added[kind]) for table in tables()]
    return assessed(*given)


@pytest.mark.parametrize("kind", ["empty", "constant"])
@every_slug
def test_empty_and_constant_columns_in_all_tables_move_no_score(slug: str, kind: str) -> None:
    found = with_more(kind)[slug]
    assert comparable(found) == pytest.approx(comparable(as_given()[slug]), abs=1e-9)


RUINED = [
    (slug, kind) for slug in SLUGS if slug not in NEEDS_GAPS for kind in ("empty", "constant")
]


@pytest.mark.parametrize(("slug", "kind"), RUINED)
def test_a_column_ruined_in_the_avatars_alone_lifts_no_utility_and_stops_no_run(
    slug: str, kind: str
) -> None:
    original, avatars, holdout = tables()
    avatars = avatars.assign(age=None if kind == "empty" else 50)
    found = assessed(original, avatars, holdout, [slug])[slug]
    if found.status == "not applicable":
        assert found.reason is not None
        return
    assert 0 <= comparable(found) <= HIGHEST_SCORES.get(slug, 100 if found.unit == "%" else np.inf)
    # A constant may keep the user's rules: that measure counts nothing else.
    if found.section == "utility" and slug != "rule_consistency":
        assert comparable(found) < comparable(as_given()[slug])


@cache
def numbers_as_text() -> evalkit.Assessment:
    original, avatars, holdout = tables()
    wrong = avatars.assign(age=avatars["age"].astype(str), pressure=avatars["pressure"].map(str))
    return assessed(original, wrong, holdout)


@every_slug
def test_a_column_of_the_wrong_type_is_read_as_what_it_is(slug: str) -> None:
    assert_as_given(numbers_as_text()[slug], slug)


@pytest.mark.parametrize("mismatch", ["error", "intersect"])
def test_a_column_that_no_type_fits_is_an_error_and_never_vanishes(mismatch: str) -> None:
    original, avatars, holdout = tables()
    words = avatars["age"].astype(str).mask(avatars.index == 6, "forty")
    with pytest.raises(evalkit.InputError, match="age") as caught:
        evalkit.load(original, avatars.assign(age=words), holdout, on_mismatch=mismatch)
    assert "avatars" in str(caught.value)
    assert "forty" not in str(caught.value)


# 5. The same seed gives two numbers, six runs give six

ELSEWHERE = """
import sys
sys.path[:0] = sys.argv[1:]
from test_field_lessons import assessed, tables
sys.stdout.buffer.write(assessed(*tables()).json())
"""


def in_a_process(hash_seed: int, threads: int) -> bytes:
    settings = {"PYTHONHASHSEED": str(hash_seed), "SOURCE_DATE_EPOCH": "1700000000"}
    settings |= {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(TESTS.parent), str(TESTS)],
        env={**os.environ, **settings},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.slow
def test_two_processes_give_the_same_bytes_for_the_same_seed() -> None:
    first, second = in_a_process(1, 1), in_a_process(2, 2)
    assert b"linkability_protection_rate" in first
    assert first == second


@cache
def under_seeds() -> list[evalkit.Assessment]:
    """Return six runs on a holdout of its own size, so that models have rows to draw."""
    original, avatars, holdout = tables()
    return [assessed(original, avatars, holdout.head(240), seed=seed) for seed in range(6)]


@pytest.mark.slow
@every_slug
def test_six_seeds_give_nearly_the_same_number(slug: str) -> None:
    found = [one[slug] for one in under_seeds()]
    assert all(one.status == "measured" for one in found)
    scores = [comparable(one) for one in found]
    if slug == "linkability_protection_rate":
        # The seed cuts the known variables in two: every run prints what other cuts would give.
        for one in found:
            assert one.facts["split_worst"] == found[0].facts["split_worst"]
            assert one.facts["split_worst"] - 1e-9 <= min(scores)
    elif slug == "mutual_information_ratio":
        # Twenty cuts of three hundred rows to the holdout's: the interval says how much that moves.
        for one in found:
            assert one.interval[0] <= min(scores) <= max(scores) <= one.interval[1]
    else:
        assert max(scores) - min(scores) <= LARGEST_SPREAD


# 6. One row is a result, and failed measures are missing


@pytest.fixture(scope="module")
def everything_has_a_target(tmp_path_factory: pytest.TempPathFactory) -> str:
    targets = "\n".join(
        f"  - {{metric: {one.slug}, operator: '>=', value: 0, unit: '{one.unit}', "
        "definition: same}"
        for one in METRICS
    )
    path = tmp_path_factory.mktemp("profile") / "all.yaml"
    path.write_text(
        "name: all\nissuer: us\nissuer_role: controller\ndate: 2026-11-03\nstatus: internal\n"
        f"source: {{title: none}}\ncaveat: {{en: none}}\ntargets:\n{targets}\n",
        encoding="utf-8",
    )
    return str(path)


MARKS = re.compile(r"<(style|script)\b.*?</\1>|<[^>]+>", re.DOTALL)


def said_in(assessment: evalkit.Assessment) -> str:
    """Return the text of the report, without its marks and the attached file."""
    page, attached, _ = Report(assessment).html().partition('<details class="json"')
    assert attached  # the file itself, in which every reason would be found
    return " ".join(html.unescape(MARKS.sub(" ", page)).split())


@pytest.mark.parametrize(("n_original", "n_avatars"), [(1, 1), (1, 200), (200, 1)])
def test_one_row_is_never_judged(
    n_original: int, n_avatars: int, everything_has_a_target: str
) -> None:
    original, _, holdout = tables()
    avatars = people(n_avatars, 5)
    assessment = assessed(
        original.head(n_original),
        avatars,
        holdout,
        row_link=n_original == n_avatars,
        profile=everything_has_a_target,
    )
    assert sorted(assessment.results) == sorted(SLUGS)
    for slug, found in assessment.results.items():
        assert found.verdict == "not applicable", slug
        assert found.reason is not None
    said = said_in(assessment)
    assert "nothing could be judged" in said
    assert "Too few rows to judge" in said
    assert re.search(r": (not )?met\b", said) is None


def test_what_was_not_measured_is_listed_with_its_reason() -> None:
    original, avatars, _ = tables()
    assessment = assessed(original, avatars, None, row_link=False, sensitive=None, known=None)
    said = said_in(assessment)
    assert sorted(assessment.results) == sorted(SLUGS)
    missing = {slug: one for slug, one in assessment.results.items() if one.score is None}
    assert len(missing) > 5
    for slug, found in missing.items():
        assert found.status == found.verdict == "not applicable"
        assert " ".join(found.reason.text.split()) in said, slug
        name = re.search(r"## Name\n\n(.+)", evalkit.metrics.get(slug).page())
        assert name is not None
        assert name[1] in said, slug


def test_a_measure_that_breaks_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        raise ZeroDivisionError

    first, *others = METRICS
    changed = [replace(first, compute=broken, needs=frozenset()), *others]
    monkeypatch.setattr(evalkit.metrics, "all", lambda: changed)
    with pytest.raises(ZeroDivisionError):
        assessed(*tables(), [first.slug])


# 7. Without a control, utility is sold as risk

NO_CONTROL = re.compile(
    r"cannot be told apart|has no control|nothing shows how often|were anonymised too"
    r"|is a comparison of distances, not an attack"
)


@cache
def without_control(row_link: bool) -> evalkit.Assessment:
    original, avatars, _ = tables()
    return assessed(original, avatars, None, row_link=row_link)


@every_metric
@pytest.mark.parametrize("row_link", [True, False])
def test_without_a_control_no_page_tells_a_leak(metric: Any, row_link: bool) -> None:
    found = without_control(row_link)[metric.slug]
    if Need.REAL_HOLDOUT in metric.needs:
        assert found.reason.code == "no_real_holdout"
    if found.status != "measured":
        return
    said = page_text(metric.slug, found, holdout_kind="approximate")
    if metric.slug != "rule_consistency":  # The originals are what a rule's share stands beside.
        assert NO_CONTROL.search(said)
    assert "Evidence of an excess" not in said
    if metric.basis == Basis.ATTACK:
        assert found.facts.get("excess") is None
        assert attack_words(found, load_words("en")) == (
            "No control: leak and general knowledge cannot be told apart."
        )


def test_the_report_says_that_leak_and_general_knowledge_cannot_be_told_apart() -> None:
    original, avatars, holdout = tables()
    words = "leak and general knowledge cannot be told apart"
    slugs = ["linkability_protection_rate"]
    assert words in said_in(assessed(original, avatars, None, slugs, row_link=False))
    assert words not in said_in(assessed(original, avatars, holdout, slugs, row_link=False))
