from __future__ import annotations

import math
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from metrics.rendering import people

import evalkit
from evalkit.analyses import analysis_list, check_packages, compare_analysis
from evalkit.analyses.comparing import overlap
from evalkit.analyses.designs import settled_levels
from evalkit.errors import InputError
from evalkit.record_parts import Estimate

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.record_parts import AnalysisRecord

ODD = 'it\'s `odd` "name"'


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = people(rows, seed)
    hazard = np.exp((frame["age"] - 50) / 20)
    return frame.assign(
        time=(rng.exponential(1 / hazard) + 0.01).round(3),
        dead=np.where(rng.random(rows) < 0.6, "yes", "no"),
        seen=pd.date_range("2020-01-01", periods=rows).strftime("%Y-%m-%d"),
        **{"âge réel": frame["age"] + rng.integers(0, 3, rows), ODD: rng.normal(size=rows)},
    )


@cache
def release() -> evalkit.Release:
    return evalkit.load(table(400, 1), table(380, 2), table(300, 3))


def made(entry: dict[str, Any], loaded: evalkit.Release | None = None) -> AnalysisRecord:
    loaded = loaded or release()
    [analysis] = analysis_list([entry], loaded.schema)
    return compare_analysis(analysis, loaded, 11)


def linear(formula: str, loaded: evalkit.Release | None = None) -> AnalysisRecord:
    return made({"kind": "linear", "formula": formula}, loaded)


def estimates(record: AnalysisRecord, role: str) -> list[tuple[float, float, float]]:
    assert record.status == "measured", record.reason
    found = [getattr(term, role) for term in record.terms]
    return [(one.value, one.low, one.high) for one in found]


def by_formula(model: str, formula: str, frame: pd.DataFrame) -> list[tuple[float, float, float]]:
    """Return the same from the formulas of the package itself, without the intercept."""
    import statsmodels.formula.api as smf

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = getattr(smf, model)(formula, frame).fit(**({"disp": 0} if model == "logit" else {}))
    limits = fit.conf_int()
    names = [name for name in fit.params.index if name != "Intercept"]
    return [(fit.params[name], *limits.loc[name]) for name in names]


@pytest.mark.parametrize(
    "formula",
    [
        "pressure ~ age",
        "pressure ~ age + weight",
        "pressure ~ C(town) + age",
        "pressure ~ age * weight",
        "pressure ~ town * smoker",
        "pressure ~ age:weight + age + weight",
        "pressure ~ 0 + C(town) + age",
        "pressure ~ age - 1",
        "pressure ~ age * weight * visits_",
    ],
)
def test_a_linear_model_is_that_of_the_package(formula: str) -> None:
    plain = formula.replace("visits_", "time")
    found = linear(plain)
    tables = {"original": table(400, 1), "avatars": table(380, 2), "holdout": table(300, 3)}
    for role, frame in tables.items():
        wanted = sorted(by_formula("ols", plain, frame))
        assert np.allclose(sorted(estimates(found, role)), wanted, rtol=2e-3, atol=1e-6), role


def test_a_logarithm_is_that_of_the_package() -> None:
    found = linear("pressure ~ log(weight)")
    wanted = by_formula("ols", "pressure ~ np.log(weight)", table(400, 1))
    assert np.allclose(estimates(found, "original"), wanted, rtol=2e-3)
    assert found.terms[0].name == "log(weight)"


@pytest.mark.parametrize("terms", ["age", "age + C(town)", "age * weight"])
def test_a_logistic_model_is_that_of_the_package(terms: str) -> None:
    found = made({"kind": "logistic", "formula": f"smoker ~ {terms}"})
    frame = table(400, 1)
    frame["smoker"] = (frame["smoker"] == "yes").astype(int)
    wanted = sorted(by_formula("logit", f"smoker ~ {terms}", frame))
    assert np.allclose(sorted(estimates(found, "original")), wanted, rtol=2e-3, atol=1e-6)
    other = made({"kind": "logistic", "formula": f'smoker == "no" ~ {terms}'})
    assert [one[0] for one in estimates(other, "original")] == pytest.approx(
        [-one[0] for one in estimates(found, "original")], rel=1e-3
    )


def test_a_cox_model_maximises_the_partial_likelihood() -> None:
    """By hand: without ties the log likelihood is a sum over the dead, of one coefficient."""
    from scipy.optimize import minimize_scalar

    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=200).round(4)})
    frame["time"] = (rng.exponential(np.exp(-frame["x"])) + np.arange(200) * 1e-7).round(9)
    frame["dead"] = np.where(rng.random(200) < 0.7, 1, 0)
    loaded = evalkit.load(frame, frame, frame.copy(), numeric=["x", "time", "dead"])
    found = made({"kind": "cox", "formula": "Surv(time, dead) ~ x"}, loaded)
    ordered = frame.sort_values("time")
    x, dead = ordered["x"].to_numpy(), ordered["dead"].to_numpy() == 1

    def minus_likelihood(beta: float) -> float:
        at_risk = np.log(np.cumsum(np.exp(beta * x)[::-1])[::-1])
        return float(-(beta * x - at_risk)[dead].sum())

    best = float(minimize_scalar(minus_likelihood, bounds=(-3, 3), method="bounded").x)
    assert estimates(found, "original")[0][0] == pytest.approx(best, rel=2e-3)
    keys = {"kind": "cox", "duration": "time", "event": "dead == 1", "formula": "x"}
    again = made(keys, loaded)
    assert again.formula == "Surv(time, dead == 1) ~ x"
    assert again.terms == found.terms


def test_means_of_groups_have_welchs_interval() -> None:
    from scipy import stats

    frame = table(400, 1)
    parts = [frame.loc[frame["smoker"] == level, "pressure"] for level in ("yes", "no")]
    wanted = stats.ttest_ind(*parts, equal_var=False)
    found = made({"kind": "groups", "formula": "pressure by smoker"}).terms[0]
    assert found.name == "smoker = yes (vs no)"
    assert found.original is not None
    assert found.original.value == pytest.approx(parts[0].mean() - parts[1].mean(), rel=1e-3)
    assert found.original.p_value == pytest.approx(wanted.pvalue, rel=1e-3)
    limits = wanted.confidence_interval(0.95)
    assert (found.original.low, found.original.high) == pytest.approx(tuple(limits), rel=1e-3)


def test_shares_of_groups_have_newcombes_interval() -> None:
    from evalkit import intervals

    frame = table(400, 1)
    counts = frame.groupby("town")["smoker"].agg([lambda cells: (cells == "yes").sum(), "count"])
    found = made({"kind": "groups", "outcome": "smoker", "group": "town"})
    assert found.formula == "smoker by town"
    (k0, n0), (k1, n1) = counts.loc["Aix"], counts.loc["Brest"]
    wanted = intervals.newcombe_difference(int(k1), int(n1), int(k0), int(n0))
    assert found.terms[0].original is not None
    assert found.terms[0].original.value == pytest.approx(k1 / n1 - k0 / n0, rel=1e-3)
    low, high = found.terms[0].original.low, found.terms[0].original.high
    assert (low, high) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ((0.0, 2.0), (0.0, 2.0), 1.0),
        ((0.0, 2.0), (1.0, 5.0), (1 / 2 + 1 / 4) / 2),
        ((0.0, 4.0), (1.0, 2.0), (1 / 4 + 1) / 2),
        ((0.0, 1.0), (2.0, 3.0), 0.0),
        ((0.0, 1.0), (1.0, 2.0), 0.0),
    ],
)
def test_the_overlap_is_worked_out_by_hand(
    first: tuple[float, float], second: tuple[float, float], wanted: float
) -> None:
    one, other = (
        Estimate(value=sum(ends) / 2, low=ends[0], high=ends[1]) for ends in (first, second)
    )
    assert overlap(one, other) == wanted == overlap(other, one)
    assert overlap(one, None) is None


def test_a_copy_has_full_overlap_and_the_same_findings() -> None:
    frame = table(300, 1)
    found = linear("pressure ~ age + town", evalkit.load(frame, frame, table(200, 2)))
    for term in found.terms:
        assert (term.overlap, term.same_sign, term.same_finding) == (1.0, True, True)
    assert found.rows == {"original": 300, "avatars": 300, "holdout": 200}


def test_a_finding_that_the_avatars_lost_is_told() -> None:
    frame, shuffled = table(300, 1), table(300, 1)
    shuffled["age"] = np.random.default_rng(0).permutation(shuffled["age"])
    [term] = linear("pressure ~ age", evalkit.load(frame, shuffled, table(300, 2))).terms
    assert term.same_finding is False
    assert term.holdout_same_finding is True


@pytest.mark.parametrize(
    "formula",
    [
        "`âge réel` ~ age",
        "pressure ~ `âge réel`",
        'pressure ~ `it\'s ``odd`` "name"`',
        "pressure ~ seen",
        "pressure ~ C(`âge réel`)",
    ],
)
def test_any_name_of_a_column_can_be_written(formula: str) -> None:
    assert linear(formula).status == "measured"


HOSTILE = [
    ("__import__('os').system('x') ~ age", "has no meaning here|cannot"),
    ("pressure ~ __import__('os')", "cannot be called"),
    ("pressure ~ age.__class__", "no column 'age.__class__'"),
    ("pressure ~ eval(age)", "'eval' cannot be called"),
    ("pressure ~ I(age + 1)", "'I' cannot be called"),
    ("pressure ~ np.log(age)", "'np.log' cannot be called"),
    ("pressure ~ C(age, levels=[1])", "has no meaning here"),
    ("pressure ~ C(log(age))", "stands where|must"),
    ("pressure ~ lambda: 0", "no column 'lambda'|stands where"),
    ("pressure ~ {age}", "has no meaning here"),
    ("pressure ~ age**10**10", "has no meaning here"),
    ("pressure ~ 10", "only numbers of a formula"),
    ("pressure ~ age - weight", "only 1 can be taken away"),
    ("pressure ~ (age + weight)", "stands where a column must"),
    ("pressure ~ " + "C(" * 60 + "age" + ")" * 60, "stands where a column must|must"),
    ("pressure ~ " + "age + " * 200 + "age", "over 1,000 characters"),
    ("pressure ~ " + "age:" * 20 + "age", "different columns"),
    ("pressure ~ " + "age*weight*time*town", "at most 3"),
    ("pressure ~ age:age", "different columns"),
    ("pressure ~ x" + "y" * 100_000, "over 1,000 characters"),
    ("pressure ~ agee", "did you mean 'age'"),
    ("pressure ~ pressure", "both sides"),
    ("pressure ~", "stands where a column must"),
    ("~ age", "no outcome"),
    ("age", "no outcome"),
    ("", "stands where a column must"),
    ("pressure ~ age ~ weight", "cannot follow"),
    ("pressure ~ `age", "not closed"),
    ("pressure ~ 1", "no term"),
    ("town ~ age", "must be a column of numbers"),
    ("C(pressure) ~ age", "belongs to the terms"),
    ("pressure ~ log(town)", "log needs numbers"),
    ("pressure ~ age:town", "write a\\*b"),
    ("Surv(time, dead) ~ age", "belongs to the kind cox"),
    ("pressure == 3 ~ age", "must be a column of numbers"),
]


@pytest.mark.parametrize(("formula", "words"), HOSTILE)
def test_what_is_no_formula_is_refused_with_its_place(formula: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        linear(formula)
    assert str(error.value).startswith("analyses, analysis 1")
    assert len(str(error.value)) < 600
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("pressure ~ age", "give a mapping"),
        ({"kind": "linear", "formula": "pressure ~ age", "run": "x"}, "give a mapping"),
        ({"formula": "pressure ~ age"}, "kind is ''"),
        ({"kind": "tree", "formula": "pressure ~ age"}, "use one of: linear"),
        ({"kind": "linear", "formula": 3}, "formula: 3 is no text"),
        ({"kind": "linear", "formula": "pressure ~ age", "event": "dead"}, "does not belong"),
        ({"kind": "cox", "formula": "time ~ age"}, "write Surv"),
        ({"kind": "cox", "formula": "age", "duration": "time"}, "write Surv"),
        ({"kind": "cox", "formula": "Surv(time) ~ age"}, "between time and event"),
        ({"kind": "cox", "formula": "Surv(seen, dead) ~ age"}, "duration"),
        ({"kind": "cox", "formula": "age", "duration": "time", "event": "dead()"}, "no meaning"),
        ({"kind": "groups", "formula": "pressure by town + age"}, "written as outcome by group"),
        ({"kind": "groups", "outcome": "pressure"}, "character"),
        ({"kind": "logistic", "formula": "smoker == ~ age"}, "must follow =="),
    ],
)
def test_what_is_no_analysis_is_refused(entry: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        made(entry)


def test_analyses_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    entry = "- {name: A, kind: logistic, formula: 'smoker == \"yes\" ~ age'}\n"
    for content in (entry, f"analyses:\n  {entry}"):
        path.write_text(content, encoding="utf-8")
        assert [one.name for one in analysis_list(path, release().schema)] == ["A"]
    path.write_text(entry + entry, encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.yaml, analysis 2: another analysis"):
        analysis_list(str(path), release().schema)
    for content in ("A: B\n", "just text\n"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="give a list of analyses"):
            analysis_list(path, release().schema)


def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalkit.analyses.listing.find_spec", lambda _: None)
    schema = release().schema
    models = analysis_list([{"kind": "linear", "formula": "pressure ~ age"}], schema)
    with pytest.raises(InputError, match=r"pip install 'evalkit\[analysis\]'"):
        check_packages(models)
    with pytest.raises(InputError, match="statsmodels"):
        evalkit.assess(release(), analyses=[{"kind": "linear", "formula": "pressure ~ age"}])
    check_packages(analysis_list([{"kind": "groups", "formula": "age by town"}], schema))


def test_rare_levels_are_joined_and_other_never_stands_for_one() -> None:
    texts = np.repeat(list("abcde"), [50, 40, 20, 12, 5])
    assert settled_levels(texts, 11).names == ("a", "b", "c")
    assert settled_levels(texts, 11).joined == ("d", "e")
    assert settled_levels(np.repeat(list("abc"), [50, 40, 20]), 11).joined == ()
    assert settled_levels(np.repeat(list("ab"), [50, 3]), 11) == settled_levels(
        np.repeat(list("ba"), [3, 50]), 11
    )
    assert settled_levels(np.repeat(list("ab"), [50, 3]), 11).names == ()


def test_no_level_of_few_originals_and_no_product_of_few_has_a_coefficient() -> None:
    original, avatars, holdout = table(400, 1), table(400, 2), table(300, 3)
    for frame in (original, avatars, holdout):
        frame.loc[:4, "town"] = "Zyx"
        frame.loc[:4, "pressure"] = 500.0
        frame["flag"] = (np.arange(len(frame)) < 7).astype(int)
    loaded = evalkit.load(original, avatars, holdout, numeric=["flag"])
    found = linear("pressure ~ town * smoker + flag", loaded)
    said = str(found)
    assert "Zyx" not in said
    assert "flag" not in [term.name for term in found.terms]
    assert {"analysis_joined", "analysis_dropped"} <= {note.code for note in found.warnings}


def test_a_holdout_with_few_of_a_level_shows_none_of_it() -> None:
    holdout = table(300, 3)
    towns = np.where(np.arange(300) < 5, "Brest", "Aix")
    holdout["town"] = towns
    found = linear("pressure ~ town", evalkit.load(table(400, 1), table(400, 2), holdout))
    brest = next(term for term in found.terms if "Brest" in term.name)
    assert brest.avatars is not None
    assert brest.holdout is None
    assert brest.holdout_overlap is None


@pytest.mark.parametrize(
    ("formula", "change", "code"),
    [
        ("pressure ~ age + twice", {}, "analysis_dependent"),
        ("twice ~ age", {}, "analysis_exact"),
        ("pressure ~ constant", {}, "analysis_no_term"),
        ("pressure ~ age + weight", {"weight": np.nan}, "analysis_few_rows"),
    ],
)
def test_what_cannot_be_fitted_says_why(formula: str, change: dict[str, Any], code: str) -> None:
    frames = []
    for seed in (1, 2, 3):
        frame = table(200, seed).assign(constant=3)
        frame["twice"] = 2 * frame["age"]
        for name, value in change.items():
            frame.loc[25:, name] = value
        frames.append(frame)
    found = linear(formula, evalkit.load(*frames, numeric=["constant", "weight"]))
    assert found.status == "not applicable"
    assert found.reason is not None
    assert found.reason.code == code
    assert found.terms == []


def test_separated_outcomes_say_so_and_raise_no_warning() -> None:
    frames = []
    for seed in (1, 2, 3):
        frame = table(200, seed)
        frame["old"] = np.where(frame["age"] > 50, "yes", "no")
        frames.append(frame)
    loaded = evalkit.load(*frames)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for formula in ("old ~ age", "old ~ age + town", "old ~ age * smoker"):
            found = made({"kind": "logistic", "formula": formula}, loaded)
            assert found.reason is not None
            assert found.reason.code in {"analysis_separated", "analysis_not_converged"}, formula


def test_avatars_without_the_outcome_are_a_reason_and_no_crash() -> None:
    avatars = table(200, 2).assign(smoker="no", dead="no")
    loaded = evalkit.load(table(200, 1), avatars, table(200, 3))
    for entry in (
        {"kind": "logistic", "formula": "smoker ~ age"},
        {"kind": "cox", "formula": "Surv(time, dead) ~ age"},
    ):
        found = made(entry, loaded)
        assert found.reason is not None
        assert found.reason.text.startswith("Table avatars: the outcome is the same")
    shares = made({"kind": "groups", "formula": "smoker by town"}, loaded)
    assert shares.status == "measured"


def test_rows_that_lack_a_cell_are_left_out() -> None:
    frame = table(300, 1)
    frame.loc[:49, "age"] = np.nan
    frame.loc[50:59, "weight"] = -1.0
    found = linear("pressure ~ age + log(weight)", evalkit.load(frame, table(300, 2)))
    assert found.status == "measured"
    loaded = evalkit.load(frame, table(300, 2), table(300, 3))
    assert linear("pressure ~ age + log(weight)", loaded).rows["original"] == 240


def test_every_number_that_leaves_is_finite_and_short() -> None:
    found = linear("pressure ~ age * town")
    for term in found.terms:
        for one in (term.original, term.avatars, term.holdout):
            assert one is not None
            for value in (one.value, one.low, one.high):
                assert math.isfinite(value)
                assert value == float(f"{value:.4g}")


def test_an_assessment_keeps_its_analyses_and_their_order() -> None:
    given = [
        {"name": "b", "kind": "groups", "formula": "pressure by town"},
        {"name": "a", "kind": "linear", "formula": "pressure ~ age"},
    ]
    steps: list[tuple[int, int, str]] = []
    found = evalkit.assess(
        release(),
        metrics=["correlation_difference_ratio"],
        analyses=given,
        progress=lambda *step: steps.append(step),
    )
    assert [one.name for one in found.analyses] == ["b", "a"]
    assert steps[-1] == (3, 3, "done")
    assert (2, 3, "analysis 2") in steps
    again = evalkit.records.decode(found.json(), "assessment.json")
    assert again.analyses == found.analyses


def test_persons_are_counted_behind_every_coefficient() -> None:
    original, avatars, holdout = table(400, 1), table(400, 2), table(300, 3)
    for frame in (original, avatars, holdout):
        frame.loc[:19, "town"] = "Zyx"
    alone = evalkit.load(original, avatars, holdout)
    assert "Zyx" in str(linear("pressure ~ town", alone).terms)
    for frame in (original, holdout):
        frame["person"] = np.arange(len(frame)) // 4  # Five persons of Zyx.
    loaded = evalkit.load(original, avatars, holdout, individual="person")
    found = linear("pressure ~ town", loaded)
    assert "Zyx" not in str(found)
    assert "analysis_counts_rows" in {note.code for note in found.warnings}


def test_no_complete_row_is_a_reason() -> None:
    original = table(200, 1)
    original.loc[::2, "age"] = np.nan
    original.loc[1::2, "weight"] = np.nan
    for formula in ("pressure ~ age + weight", "pressure ~ age + weight + town"):
        found = linear(formula, evalkit.load(original, table(200, 2), table(200, 3)))
        assert found.reason is not None
        assert found.reason.code == "analysis_no_rows"
