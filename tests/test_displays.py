"""How values show themselves: in a notebook, in a terminal, as frames and as figures."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import msgspec
import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient
from sample_assessment import HOSTILE, not_applicable, sample

import evalkit
from evalkit.displays.card import MOST_NOTES, MOST_ROWS, MOST_TEXT_ROWS, Card, Table
from evalkit.errors import InputError
from evalkit.figures.house import HouseFigure
from evalkit.inspecting import inspect
from evalkit.schema import Schema, Variable

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "Quetzalcoatl"
"""A cell that nothing may show."""


def people(rows: int = 40) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": range(20, 20 + rows),
            "size": [value * value % 17 for value in range(rows)],
            "town": [SECRET if row == 0 else "Nice" for row in range(rows)],
        }
    )


@pytest.fixture(scope="module")
def release() -> evalkit.Release:
    return evalkit.load(people(), people(30), holdout=people(20))


@pytest.fixture(scope="module")
def shown(release: evalkit.Release) -> dict[str, Any]:
    """Give one value of each kind that displays itself."""
    assessment = sample()
    return {
        "release": release,
        "schema": release.schema,
        "inspection": inspect([people(), people(30)]),
        "scenario": evalkit.Scenario(known=["age"], sensitive="town"),
        "assessment": assessment,
        "result": assessment["linkability_protection_rate"],
        "report": evalkit.Report(assessment),
        "metric": evalkit.metrics.get("hidden_rate"),
        "comparison": evalkit.compare([assessment, assessment]),
    }


KINDS = [
    "release",
    "schema",
    "inspection",
    "scenario",
    "assessment",
    "result",
    "report",
    "metric",
    "comparison",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_shows_itself_without_script_or_address(
    kind: str, shown: dict[str, Any]
) -> None:
    html = shown[kind]._repr_html_()
    assert html.count('class="evalkit-report"') == 1
    assert "http" not in html
    assert not re.search(r"<script|\son\w+=|javascript:|@import|<link|url\((?!#)", html)


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_is_short_in_a_terminal(kind: str, shown: dict[str, Any]) -> None:
    text = repr(shown[kind])
    assert text
    assert str(shown[kind]) == text
    assert len(text.splitlines()) < 30
    assert "object at 0x" not in text


@pytest.mark.parametrize("kind", ["release", "schema", "inspection", "scenario"])
def test_no_cell_of_a_table_is_shown(kind: str, shown: dict[str, Any]) -> None:
    everything = shown[kind]._repr_html_() + repr(shown[kind])
    assert SECRET not in everything
    assert "Nice" not in everything


def test_a_release_tells_sizes_hashes_and_how_its_rows_are_tied(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people().to_csv(file, index=False)
    text = repr(evalkit.load(file, people(), row_link=True))
    assert "40 originals, 40 avatars" in text
    assert "3 of 3 columns used: 2 numeric, 1 categorical" in text
    assert re.search(r"original  people.csv +40 +3 +[0-9a-f]{12}\n", text)
    assert "approximate: half of the originals" in text
    assert "avatar i was made from original i" in text
    assert str(tmp_path) not in text


def test_a_part_of_a_release_tells_its_own_size(release: evalkit.Release) -> None:
    rows = {"original": release.original["age"] < 35, "avatars": release.avatars["age"] < 30}
    part = release.part({role: one.to_numpy() for role, one in rows.items()}, without="size")
    assert repr(part).startswith("Release: 15 originals, 10 avatars\n")


def test_a_metric_without_a_page_shows_its_slug() -> None:
    metric = dataclasses.replace(evalkit.metrics.get("hidden_rate"), slug="mine")
    assert repr(metric).startswith("Metric: mine (mine)\n")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    schema = Schema((Variable(name, "numeric"), Variable("b\x1b[2J\nc", "text", used=False)))
    html, text = schema._repr_html_(), repr(schema)
    assert "<script>alert" not in html
    assert "49" not in html
    assert "\x1b" not in text
    assert len(text.splitlines()) == 4


def test_a_hostile_assessment_stays_text() -> None:
    assessment = msgspec.structs.replace(sample(names=[*HOSTILE, "age"]), title=HOSTILE[0])
    everything = [assessment, *assessment.results.values(), evalkit.Report(assessment)]
    for one in everything:
        assert "<script" not in one._repr_html_()


def test_long_lists_are_cut_and_counted() -> None:
    rows = tuple((f"column {row}",) for row in range(100))
    card = Card("Kind", "title", tables=(Table(("name",), rows, "frame()"),), notes=("a",) * 20)
    assert f"and {100 - MOST_ROWS} more: frame()" in card.html()
    assert f"and {100 - MOST_TEXT_ROWS} more: frame()" in card.text()
    assert f"and {20 - MOST_NOTES} more" in card.html()
    assert f"column {MOST_ROWS}<" not in card.html()


def test_a_schema_is_a_frame_with_one_row_per_column(release: evalkit.Release) -> None:
    frame = release.schema.frame()
    assert frame["name"].tolist() == ["age", "size", "town"]
    assert frame["type"].tolist() == ["numeric", "numeric", "categorical"]
    assert frame["levels"].tolist() == [40, 9, 2]


def test_a_release_is_a_frame_of_how_each_column_was_read(release: evalkit.Release) -> None:
    frame = release.frame()
    assert len(frame) == 9
    assert set(frame["table"]) == {"original", "avatars", "holdout"}
    assert frame.groupby("table")["filled"].max().to_dict() == {
        "avatars": 30,
        "holdout": 20,
        "original": 40,
    }


def test_the_facts_of_a_result_are_a_frame_and_so_is_a_table_among_them() -> None:
    result = sample()["linkability_protection_rate"]
    facts = result.frame().set_index("fact")["value"]
    assert facts["n_original"] == result.facts["n_original"]
    assert result.frame("curve")["known"].tolist() == [
        point["known"] for point in result.facts["curve"]
    ]
    with pytest.raises(InputError, match=r"'n_original' is no table; tables: curve\."):
        result.frame("n_original")


def test_a_result_knows_its_metric_after_reading_and_replacing(tmp_path: Path) -> None:
    read = evalkit.Assessment.read(sample().save(tmp_path / "assessment.json"))
    assert {slug: one.slug for slug, one in read.results.items()} == {
        slug: slug for slug in read.results
    }
    further = [one.results for one in read.more_scenarios]
    assert all(one.slug == slug for results in further for slug, one in results.items())
    assert b"slug_given" not in read.json()
    assert read == sample()


@pytest.mark.parametrize("slug", ["linkability_protection_rate", "correlation_difference_ratio"])
def test_a_plot_is_the_figure_of_the_report_from_the_file_alone(slug: str, tmp_path: Path) -> None:
    read = evalkit.Assessment.read(sample().save(tmp_path / "assessment.json"))
    plots = read[slug].plots()
    assert plots
    first = read[slug].plot()
    assert isinstance(first, HouseFigure)
    assert first.alt == next(iter(plots.values())).alt != ""
    html = evalkit.Report(read).html()
    widths = {round(float(one)) for one in re.findall(r'<svg [^>]*width="([\d.]+)"', html)}
    for figure in plots.values():
        width, _ = figure.get_size_inches()
        assert round(width * 72 * 1.625) in widths
        assert f'aria-label="{figure.alt[:20]}' in html


def test_a_plot_can_be_restyled_and_shows_itself_with_its_words() -> None:
    figure = sample()["linkability_protection_rate"].plot()
    before, metadata = figure._repr_png_()
    figure.text(0.5, 0.5, "mine", family="Source Sans 3")
    after, _ = figure._repr_png_()
    assert before.startswith(b"\x89PNG")
    assert before != after
    assert metadata["alt"] == figure.alt
    assert metadata["width"] == round(figure.get_size_inches()[0] * 72 * 1.625)


def test_what_cannot_be_plotted_says_why() -> None:
    assessment = sample()
    result = assessment["linkability_protection_rate"]
    with pytest.raises(InputError, match=r"no figure 'pie'; use one of: curve\."):
        result.plot("pie")
    with pytest.raises(InputError, match="belongs to no assessment"):
        msgspec.structs.replace(result).plot()
    unmeasured = not_applicable()
    unmeasured.bind("hidden_rate", "en")
    assert unmeasured.plots() == {}
    with pytest.raises(InputError, match="there is no figure of"):
        unmeasured.plot()
    broken = msgspec.structs.replace(result, facts={})
    broken.bind("linkability_protection_rate", "en")
    with pytest.raises(InputError, match="does not hold what its figures need"):
        broken.plot()
    assert "evalkit-title" in broken._repr_html_()


def test_a_result_speaks_the_language_of_its_assessment() -> None:
    english = sample()
    french = msgspec.structs.replace(english, language="fr")
    result, same = (one["linkability_protection_rate"] for one in (french, english))
    assert 'lang="fr"' in result._repr_html_()
    assert 'lang="en"' in same._repr_html_()
    assert result.plot().alt != same.plot().alt
    assert result == same


def test_the_tab_key_finds_results_metrics_and_public_names() -> None:
    keys = sample()._ipython_key_completions_()
    assert keys[: len(sample().results)] == list(sample().results)
    assert all(sample()[key] for key in keys)
    assert dir(evalkit) == evalkit.__all__
    slugs = [metric.slug for metric in evalkit.metrics.all()]
    assert dir(evalkit.metrics) == sorted(["all", "get", *slugs])
    assert evalkit.metrics.hidden_rate.METRIC is evalkit.metrics.get("hidden_rate")
    with pytest.raises(AttributeError, match="no attribute 'hidden'"):
        _ = evalkit.metrics.hidden


def test_what_matters_is_still_there_where_a_notebook_strips_styles_and_drawings(
    shown: dict[str, Any],
) -> None:
    for kind, words in (("release", "40 originals"), ("result", "84."), ("schema", "categorical")):
        # Of a drawing that stands in the line a viewer would leave the words, in no order.
        assert "<svg" not in shown[kind]._repr_html_()
        bare = re.sub(r"<style\b.*?</style>", "", shown[kind]._repr_html_(), flags=re.DOTALL)
        text = re.sub(r"<[^>]+>", " ", bare)
        assert words in text
        assert "{" not in text


def test_values_show_themselves_in_a_kernel() -> None:
    source = [
        "import evalkit",
        "import pandas as pd",
        "ages = range(20, 60)",
        "table = pd.DataFrame({'age': ages, 'size': [(age * 7) % 11 for age in ages]})",
        "release = evalkit.load(table, table, holdout=table)",
        "release",
    ]
    completion = [
        "get_ipython().Completer.use_jedi = False",
        "print(get_ipython().complete('', 'found[\"corr', 11)[1])",
        "print(get_ipython().complete('', 'evalkit.metrics.hidden', 22)[1])",
    ]
    slug = "correlation_difference_ratio"
    cells = [
        "\n".join(source),
        f"found = evalkit.assess(release, metrics=['{slug}'])\nfound['{slug}']",
        f"found['{slug}'].plot()",
        f"%matplotlib inline\nfound['{slug}'].plot()",
        "\n".join(completion),
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(
        book, timeout=120, kernel_name="python3", extra_arguments=["--IPKernelApp.log_level=50"]
    ).execute()
    shown = [cell.outputs[0] for cell in book.cells]
    assert "40 originals" in shown[0].data["text/html"]
    assert shown[0].data["text/plain"].startswith("Release: 40 originals")
    assert shown[1].data["text/html"].count('<img class="evalkit-drawing"') == 2
    assert "image/png" in shown[2].data
    assert shown[2].metadata["image/png"]["alt"].startswith("Dot plot")
    assert shown[3].data == shown[2].data
    assert shown[3].metadata == shown[2].metadata
    assert slug in shown[4].text
    assert ".hidden_rate'" in shown[4].text
