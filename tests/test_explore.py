"""What the exploration notebooks show: the report's numbers, live, and no record in any file."""

from __future__ import annotations

import ast
import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from test_contract import people

import evalkit
from evalkit import demo, explore
from evalkit.explore import live
from evalkit.explore.candidates import Candidates, sets_in
from evalkit.explore.linkability import SAMPLE_ROWS
from evalkit.explore.live import Choice, Live
from evalkit.explore.panel import Panel
from evalkit.running.progress import VARIABLE

ROOT = Path(__file__).resolve().parent.parent
EXPLORATIONS = ["explore_linkability", "explore_utility", "choose_k", "compare_releases"]
SLUG = "linkability_protection_rate"
RARE = "Zzyzx-on-Sea"


@cache
def release() -> evalkit.Release:
    return evalkit.load(people(200, 1), people(210, 2), people(190, 3))


@cache
def copied() -> evalkit.Release:
    """Return a release whose avatars are the originals: everybody is at risk."""
    table = people(60, 1).assign(
        height=np.linspace(150.25, 190.75, 60), weight=np.random.default_rng(0).permutation(60)
    )
    table.loc[5, "town"] = RARE
    return evalkit.load(table, table)


# Linkability


@pytest.mark.parametrize("known", [(), ("age", "town"), ("age", "town", "smoker", "visits")])
def test_a_look_at_all_rows_gives_the_numbers_of_the_report(known: tuple[str, ...]) -> None:
    scenario = evalkit.Scenario(known=list(known) or None, seed=3)
    facts = evalkit.assess(release(), scenario, metrics=[SLUG]).results[SLUG].facts
    look = explore.LinkabilityBench(release(), seed=3).look(known)
    assert look.score == facts["expected_score"]
    assert look.halves == (tuple(facts["known_a"]), tuple(facts["known_b"]))
    assert look.control is not None
    assert look.control.score == facts["holdout_score"]
    assert look.people.size_a.mean() == facts["mean_tie_set_a"]
    assert look.people.size_b.mean() == facts["mean_tie_set_b"]
    assert look.excess is not None
    assert np.allclose(
        look.excess, [100 * one for one in (facts["excess"], *facts["excess_interval"])]
    )
    assert abs(look.floor - facts["floor_score"]) < 5


def test_a_large_table_answers_from_a_sample_first_and_says_so() -> None:
    large = evalkit.load(people(SAMPLE_ROWS + 500, 1), people(300, 2))
    bench = explore.LinkabilityBench(large)
    quick = bench.quick_look(bench.names)
    assert quick is not None
    assert f"A sample of {SAMPLE_ROWS:,} originals" in str(quick.panel)
    whole = bench.look(bench.names)
    assert f"All {SAMPLE_ROWS + 500:,} originals" in str(whole.panel)
    assert abs(quick.score - whole.score) < 3
    shown = explore.linkability(large)
    assert len(list(shown.look({"known": bench.names}))) == 2
    assert str(shown).splitlines()[0] == str(whole.panel).splitlines()[0]


def test_a_small_table_answers_at_once_from_all_rows() -> None:
    assert explore.LinkabilityBench(release()).quick_look(["age", "town"]) is None


def test_a_look_does_not_depend_on_the_order_of_rows() -> None:
    tables = people(SAMPLE_ROWS + 100, 1), people(300, 2)
    mixed = [one.sample(frac=1, random_state=4) for one in tables]
    looks = [
        explore.LinkabilityBench(evalkit.load(*pair)).quick_look(["age", "town", "visits"])
        for pair in (tables, mixed)
    ]
    assert looks[0] is not None
    assert looks[1] is not None
    assert looks[0].score == looks[1].score
    assert looks[0].floor == looks[1].floor


def test_each_variable_is_left_out_once() -> None:
    bench = explore.LinkabilityBench(release())
    panel = bench.without_each(["age", "town", "visits"])
    assert sorted(row[0] for row in panel.rows) == ["age", "town", "visits"]
    first, second = bench.halves(["age", "town", "visits"])
    left = bench.originals.attack((first[:-1], second)).score
    (row,) = [row for row in panel.rows if row[0] == first[-1]]
    assert row[1] == f"{left:.1f}"
    assert "three" in bench.without_each(["age", "town"]).title


def test_every_column_may_be_a_half_of_its_own() -> None:
    bench = explore.LinkabilityBench(release())
    panel = bench.without_each(["age", "town", "visits"])  # halves of two and one
    assert len(panel.rows) == 3


@pytest.mark.parametrize(
    ("known", "message"), [(["age"], "two known variables"), (["age", "twon"], "no column 'twon'")]
)
def test_known_columns_that_cannot_be_are_refused(known: list[str], message: str) -> None:
    with pytest.raises(evalkit.InputError, match=message):
        explore.linkability(release(), known)


def test_too_few_boxes_are_answered_with_a_word() -> None:
    shown = explore.linkability(release(), ["age", "town"])
    (panel,) = shown.look({"known": ("age",)})
    assert panel.title == "Choose two known variables or more"


# The records at risk


def test_records_at_risk_are_counted_for_everybody_and_shown_to_nobody() -> None:
    found = explore.records_at_risk(copied(), ["height", "weight"])
    assert len(found) == 60
    for text in (found._repr_html_(), repr(found)):
        assert "60 of 60" in text
        assert RARE not in text
        assert "150.25" not in text
    with pytest.raises(evalkit.InputError, match="hidden"):
        found.frame()


def test_records_are_shown_to_the_controller_on_request() -> None:
    found = explore.records_at_risk(copied(), ["height", "town"], controllers_eyes=True)
    frame = found.frame()
    assert list(frame.columns)[-2:] == ["height", "town"]
    assert frame.set_index("row").loc[6, "town"] == RARE  # the sixth row of the file
    assert RARE not in found._repr_html_() + repr(found) + str(found)


def test_records_at_risk_are_not_pickled() -> None:
    found = explore.records_at_risk(copied(), controllers_eyes=True)
    with pytest.raises(TypeError, match="not saved"):
        pickle.dumps(found)


def test_an_executed_notebook_is_refused_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "steps")
    with pytest.raises(evalkit.InputError, match="in an open notebook, never in an executed one"):
        explore.records_at_risk(copied(), controllers_eyes=True)
    assert len(explore.records_at_risk(copied(), ["height", "weight"])) == 60


@pytest.mark.parametrize("share", [0, -0.1, 1.1])
def test_a_probability_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(evalkit.InputError, match="at_least"):
        explore.records_at_risk(copied(), at_least=share)


def test_the_state_of_the_button_holds_no_record() -> None:
    pytest.importorskip("anywidget", reason="the extra 'explore' is not installed")
    found = explore.records_at_risk(copied(), ["height", "town"], controllers_eyes=True)
    button = found._button()
    sent: list[Any] = []
    button.send = sent.append
    button._handle_custom_msg({"ask": "records"}, [])
    assert RARE in json.dumps(sent)
    assert all(isinstance(cell, str) for row in sent[0]["rows"] for cell in row)
    assert RARE not in str(button.get_state())
    assert "150.25" not in str(button.get_state())
    assert not any("records" in str(mime) for mime in button._repr_mimebundle_())


# Utility


def test_the_scores_of_the_variables_are_those_of_the_report() -> None:
    facts = evalkit.assess(release(), metrics=["hellinger"]).results["hellinger"].facts
    found = explore.utility(release()).scores
    for row in facts["worst_variables"]:
        assert found[row["variable"]] == pytest.approx((row["score"], row["holdout"]))
    assert list(found) == [row["variable"] for row in facts["worst_variables"]]


def test_a_distribution_shows_no_rare_level() -> None:
    bench = explore.utility(copied())
    assert RARE not in bench.variable("town")._repr_html_() + str(bench.variable("town"))


def test_a_pair_shows_its_relations_in_every_table() -> None:
    bench = explore.utility(release())
    both = bench.pair("pressure", "age")
    assert [row[0] for row in both.rows] == ["mutual information, normalised", "correlation"]
    expected = release().working[["age", "pressure"]].corr(method="pearson").iloc[0, 1]
    assert abs(float(both.rows[1][1]) - expected) < 0.1
    assert len(bench.pair("town", "age").rows) == 1
    assert "different" in bench.pair("age", "age").title
    with pytest.raises(evalkit.InputError, match="pair"):
        bench.pairs(["age", "nothing"])
    with pytest.raises(evalkit.InputError, match="two columns"):
        bench.pairs(["age"])


def test_groups_have_the_scores_of_an_assessment_by_that_column() -> None:
    shown = str(explore.groups(release(), "smoker", metrics=["hellinger"]))
    found = evalkit.assess(release(), metrics=["hellinger"], by="smoker").subgroups
    assert found is not None
    for group in found.groups:
        assert f"{group.results['hellinger'].score:.1f}" in shown
    assert "No column" in str(explore.groups(release()))
    ranges = [row[0] for row in explore.groups(release(), "age", metrics=["hellinger"]).panel.rows]
    assert ranges[0] == "everybody"
    assert ranges[1].startswith("under ")
    with pytest.raises(evalkit.InputError, match="by"):
        explore.groups(release(), "nothing")


# Choosing among sets


@cache
def candidates(folder: Path, **given: Any) -> Candidates:
    """Return the candidates among a noisy, an equal and an unrelated set."""
    original = people(150, 1)
    original.to_csv(folder / "original.csv", index=False)
    people(140, 9).to_csv(folder / "holdout.csv", index=False)
    (folder / "sets").mkdir()
    rng = np.random.default_rng(0)
    shuffled = original.apply(lambda column: rng.permutation(column.to_numpy()))
    for name, table in (("k2", original), ("k10", people(150, 5)), ("k9", shuffled)):
        table.to_csv(folder / "sets" / f"{name}.csv", index=False)
    tables = str(folder / "original.csv"), str(folder / "sets"), str(folder / "holdout.csv")
    return explore.candidate_sets(*tables, **given)


def test_the_sets_of_a_folder_are_held_against_targets(tmp_path: Path) -> None:
    found = candidates(tmp_path, privacy_target=60.0, utility_target=50.0)
    assert [one.name for one in found.sets] == ["k2.csv", "k9.csv", "k10.csv"]
    table = found.frame().set_index("name")
    assert table.loc["k2.csv", "utility"] == 100
    assert table.loc["k2.csv", "privacy"] < 60 < table.loc["k9.csv", "privacy"]
    assert found.meeting == ("C",)
    assert "The targets are met by: C." in found._repr_html_()
    assert set(found.unbeaten) == {"B", "C"}
    (drawing,) = found.panel.drawings
    assert "k9.csv" in str(found)
    assert "B: " in drawing.alt
    wanting = Candidates(found.sets, (100.0, 100.0))
    assert "No set meets the targets." in str(wanting)
    assert "No target is set" in str(Candidates(found.sets, (None, None)))


def test_a_folder_without_or_with_too_many_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(evalkit.InputError, match="holds 0 tables"):
        sets_in(tmp_path)
    for number in range(27):
        (tmp_path / f"{number}.csv").write_text("a\n1\n")
    with pytest.raises(evalkit.InputError, match="holds 27 tables"):
        sets_in(tmp_path)
    with pytest.raises(evalkit.InputError, match="no table is given"):
        explore.candidate_sets(avatars=str(tmp_path))


# What is shown


def test_every_text_of_a_panel_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    shown = Panel(evil, (evil,), (evil,), ((evil,),), note=evil)._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 5


def test_names_of_columns_are_escaped_wherever_they_stand() -> None:
    table = people(120, 1).rename(columns={"age": "<b>age</b>"})
    found = evalkit.load(table, table, table)
    bench, name = explore.utility(found), "<b>age</b>"
    panels = [
        explore.linkability(found),
        explore.LinkabilityBench(found).without_each([]),
        bench.all_variables(),
        bench.variables(name),
        bench.all_pairs(),
        bench.pairs([name, "town"]),
        explore.records_at_risk(found),
    ]
    for panel in panels:
        shown = panel._repr_html_()
        assert "<b>age" not in shown
        assert "&lt;b&gt;age" in shown
    assert "<b>age" not in explore.LinkabilityBench(found).curve([])._repr_html_()


def test_without_the_extra_the_panel_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda *given, **_: shown.extend(given))
    monkeypatch.setattr(live, "find_spec", lambda _: None)
    explore.linkability(release())._ipython_display_()
    (panel,) = shown
    assert isinstance(panel, Panel)


@pytest.mark.parametrize("quiet", ["controls", "run"])
def test_controls_can_be_left_out(monkeypatch: pytest.MonkeyPatch, quiet: str) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda *given, **_: shown.extend(given))
    monkeypatch.setattr(live, "find_spec", lambda _: object())
    if quiet == "run":
        monkeypatch.setenv(VARIABLE, "steps")
    explore.linkability(release(), controls=quiet != "controls")._ipython_display_()
    assert [type(one) for one in shown] == [Panel]


class Handle:
    """Stands in for the handle of an output that can be shown again."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def update(self, panel: Any) -> None:
        """Note what is shown in the place of the output."""
        self.shown.append(panel)


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], Handle]:
    pytest.importorskip("ipywidgets", reason="the extra 'explore' is not installed")
    monkeypatch.delenv(VARIABLE, raising=False)
    shown: list[Any] = []
    handle = Handle()

    def display(one: Any, *, display_id: bool = False) -> Handle | None:
        shown.append(one)
        return handle if display_id else None

    monkeypatch.setattr("IPython.display.display", display)
    return shown, handle


def test_a_moved_control_changes_the_output_in_its_place(
    displayed: tuple[list[Any], Handle],
) -> None:
    shown, handle = displayed
    explore.linkability(release(), ["age", "town", "visits"])._ipython_display_()
    controls, panel = shown
    assert "with 3 known variables" in panel.title
    (grid,) = controls.children
    boxes = {box.description: box for box in grid.children}
    boxes["town"].value = False
    assert "with 2 known variables" in handle.shown[-1].title
    boxes["smoker"].value = True
    assert (
        handle.shown[-1].title
        == explore.LinkabilityBench(release()).look(["age", "visits", "smoker"]).panel.title
    )


def test_a_menu_and_a_long_list_are_controls_too(displayed: tuple[list[Any], Handle]) -> None:
    shown, handle = displayed
    names = tuple(f"column {number}" for number in range(live.MOST_BOXES + 1))
    choices = (Choice("one", ("a", "b"), ("a",)), Choice("many", names, names[:2], several=True))
    Live(lambda read: [Panel(f"{read['one']} {len(read['many'])}")], choices)._ipython_display_()
    controls, panel = shown
    assert panel.title == "('a',) 2"
    menu, listed = controls.children
    menu.value, listed.value = "b", names[:5]
    assert handle.shown[-1].title == "('b',) 5"


# The notebooks as they are


@pytest.fixture
def small_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the first rows of the embedded tables in the place of all."""
    paths = demo.paths()
    made = {}
    for name in ("original", "avatars", "holdout"):
        made[name] = tmp_path / f"{name}.csv"
        pd.read_csv(getattr(paths, name)).head(150).to_csv(made[name], index=False)
    monkeypatch.setattr(demo, "paths", lambda: demo.DemoPaths(**made))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown_by(source: str, names: dict[str, Any]) -> Any:
    """Return the value of the last line of a cell, as Jupyter displays it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - what Jupyter does with it
    return last and eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@pytest.mark.usefixtures("small_demo")
@pytest.mark.parametrize("name", EXPLORATIONS)
def test_an_exploration_runs_as_it_is_on_the_embedded_tables(name: str) -> None:
    node = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    names: dict[str, Any] = {}
    shown = [shown_by(one.source, names) for one in node.cells if one.cell_type == "code"]
    texts = [one._repr_html_() for one in shown if one is not None]
    assert len(texts) >= 2
    for text in texts:
        assert "http" not in text.replace("http://www.w3.org/", "")
        assert "<script" not in text
    assert sorted(path.name for path in Path().iterdir()) == [
        "avatars.csv",
        "holdout.csv",
        "original.csv",
    ]


def test_every_exploration_is_opened_by_the_command() -> None:
    from evalkit.explore.workplace import NOTEBOOKS

    there = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert there - {"technical_assessment"} == set(NOTEBOOKS) == set(EXPLORATIONS)
